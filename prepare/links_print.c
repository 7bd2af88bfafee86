/* SPDX-License-Identifier: Apache-2.0 */
/* What `tfprep topology --links` prints: a table of rows from, columns to, for each figure. */
#include "prepare/links_print.h"

#include <jansson.h>

#include "ladders/ladder.h"

static double latency_us(const struct tf_links_pair *pair)
{
	return pair->latency_ns / 1000;
}

static double write_gbps(const struct tf_links_pair *pair)
{
	return pair->write_gbps;
}

static double read_gbps(const struct tf_links_pair *pair)
{
	return pair->read_gbps;
}

static void print_matrix(FILE *to, const struct tf_links *links, uint32_t world, const char *title,
	double (*figure)(const struct tf_links_pair *pair))
{
	fprintf(to, "\n%s\n%6s", title, "");
	for (uint32_t b = 0; b < world; b++)
		fprintf(to, "%8u", b);
	fprintf(to, "\n");
	for (uint32_t a = 0; a < world; a++) {
		fprintf(to, "%6u", a);
		for (uint32_t b = 0; b < world; b++) {
			if (a == b)
				fprintf(to, "%8s", "X");
			else
				fprintf(to, "%8.2f", figure(&links->pairs[a][b]));
		}
		fprintf(to, "\n");
	}
}

static void print_users(FILE *to, const struct tf_links *links, uint32_t world, uint32_t resource)
{
	for (uint32_t a = 0; a < world; a++) {
		for (uint32_t b = 0; b < world; b++) {
			const struct tf_links_pair *pair = &links->pairs[a][b];

			for (uint32_t i = 0; a != b && i < pair->through_count; i++) {
				if (pair->through[i] == resource)
					fprintf(to, " %u-%u", a, b);
			}
		}
	}
}

static void print_shared(FILE *to, const struct tf_links *links, uint32_t world)
{
	fprintf(to, "\nshared by\n");
	for (uint32_t i = 0; i < links->resource_count; i++) {
		const struct tf_links_resource *resource = &links->resources[i];

		fprintf(to, "  %s: %g GB/s", resource->name, resource->gbps);
		if (resource->collapse_destinations)
			fprintf(to, ", all writes together %g GB/s while they go to %u or more root complexes",
				resource->collapsed_gbps, resource->collapse_destinations);
		fprintf(to, ":");
		print_users(to, links, world, i);
		fprintf(to, "\n");
	}
}

static void print_offer(FILE *to, uint32_t capabilities, int no_peer_access)
{
	if (no_peer_access) {
		fprintf(to, "peers      off by option: only the writer staged is legal\n");
		return;
	}
	if (!capabilities) {
		fprintf(to, "peers      not all of them reach each other\n");
		return;
	}
	fprintf(to, "peers     %s%s%s\n", capabilities & TF_LINK_PEER_READ ? " read" : "",
		capabilities & TF_LINK_PEER_WRITE ? " write" : "",
		capabilities & TF_LINK_PEER_ATOMIC ? " atomic" : "");
}

void tf_links_print_table(
	FILE *to, const struct tf_links *links, uint32_t world, int no_peer_access)
{
	const struct tf_links_device *device = &links->device;
	char hex[TF_DIGEST_HEX_BYTES];

	tf_hex(links->digest, sizeof(links->digest), hex);
	fprintf(to, "class      %s\nlinks      %s, emulated\nbecause    %s\n", links->topology,
		links->name, links->summary);
	fprintf(to, "world      %u of %u\nsha256     %s\n", world, links->world, hex);
	print_offer(to, tf_links_capabilities(links, world), no_peer_access);
	fprintf(to, "port       %g GB/s each way\n", links->port_gbps);
	fprintf(to, "device     launch %g ns, CTA %g ns, poll %g ns; a CTA of 512 stores %g GB/s,\n",
		device->launch_ns, device->cta_ns, device->poll_ns, device->cta_write_gbps);
	fprintf(to,
		"           works at home at %g GB/s, all of them %g; a thread reads %u bytes ahead\n",
		device->cta_local_gbps, device->memory_gbps, device->read_in_flight_bytes);
	fprintf(to, "jitter     %g %%, seed %llu\n", links->jitter_percent,
		(unsigned long long)links->seed);
	print_matrix(to, links, world, "latency us, from row to column", latency_us);
	print_matrix(to, links, world, "write GB/s", write_gbps);
	print_matrix(to, links, world, "read GB/s (row reads column)", read_gbps);
	if (links->resource_count)
		print_shared(to, links, world);
}

static json_t *pair_json(const struct tf_links *links, uint32_t from, uint32_t to)
{
	const struct tf_links_pair *pair = &links->pairs[from][to];
	json_t *through = json_array();

	for (uint32_t i = 0; i < pair->through_count; i++)
		json_array_append_new(through, json_string(links->resources[pair->through[i]].name));
	return json_pack("{s:i, s:i, s:f, s:f, s:f, s:b, s:b, s:b, s:o}", "from", (int)from, "to",
		(int)to, "latency_ns", pair->latency_ns, "write_gbps", pair->write_gbps, "read_gbps",
		pair->read_gbps, "peer_write", !!(pair->peer & TF_LINK_PEER_WRITE), "peer_read",
		!!(pair->peer & TF_LINK_PEER_READ), "peer_atomic", !!(pair->peer & TF_LINK_PEER_ATOMIC),
		"through", through);
}

static json_t *resources_json(const struct tf_links *links)
{
	json_t *resources = json_array();

	for (uint32_t i = 0; i < links->resource_count; i++)
		json_array_append_new(resources,
			json_pack("{s:s, s:f, s:i, s:f}", "name", links->resources[i].name, "gbps",
				links->resources[i].gbps, "collapse_at",
				(int)links->resources[i].collapse_destinations, "collapsed_gbps",
				links->resources[i].collapsed_gbps));
	return resources;
}

enum tf_status tf_links_print_json(FILE *to, const struct tf_links *links, uint32_t world,
	int no_peer_access, struct tf_error *err)
{
	char hex[TF_DIGEST_HEX_BYTES];
	json_t *pairs = json_array(), *root;
	int failed;

	tf_hex(links->digest, sizeof(links->digest), hex);
	for (uint32_t a = 0; a < world; a++) {
		for (uint32_t b = 0; b < world; b++) {
			if (a != b)
				json_array_append_new(pairs, pair_json(links, a, b));
		}
	}
	root = json_pack("{s:i, s:b, s:s, s:s, s:s, s:i, s:s, s:f, s:I, s:f, s:o, s:o}", "version", 1,
		"emulated", 1, "class", links->topology, "links", links->name, "because", links->summary,
		"world", (int)world, "sha256", hex, "port_gbps", links->port_gbps, "seed",
		(json_int_t)links->seed, "jitter_percent", links->jitter_percent, "resources",
		resources_json(links), "pairs", pairs);
	if (root && no_peer_access)
		json_object_set_new(root, "peer_access", json_string("off"));
	failed = !root || json_dumpf(root, to, JSON_INDENT(2)) || fputc('\n', to) == EOF;
	json_decref(root);
	return failed ? TF_FAIL(err, TF_E_SYSTEM, "cannot write the links as JSON") : TF_OK;
}

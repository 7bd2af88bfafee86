/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the enumerations, and the signature made of them.
 *
 * The signature holds what decides whether a package's picks carry over, and nothing that differs
 * between two machines of one kind: ranks, not buses; PCI ids, not names. Its text is compared byte
 * for byte, so it changes only with the package format.
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const class_names[TF_TOPOLOGY_CLASS_COUNT] = {
	[TF_TOPOLOGY_LOCAL] = "local",
	[TF_TOPOLOGY_SWITCHED] = "switched",
	[TF_TOPOLOGY_HOST_BRIDGE] = "host-bridge",
	[TF_TOPOLOGY_RING] = "ring",
	[TF_TOPOLOGY_FABRIC] = "fabric",
};

static const char *const link_names[TF_LINK_COUNT] = {
	[TF_LINK_SELF] = "self",
	[TF_LINK_NVLINK] = "nvlink",
	[TF_LINK_PIX] = "pix",
	[TF_LINK_PHB] = "phb",
	[TF_LINK_NODE] = "node",
	[TF_LINK_SYS] = "sys",
};

static const char *const kind_names[TF_TOPOLOGY_DEVICE_KIND_COUNT] = {
	[TF_TOPOLOGY_DEVICE_NVIDIA] = "nvidia",
	[TF_TOPOLOGY_DEVICE_AMD] = "amd",
	[TF_TOPOLOGY_DEVICE_OTHER] = "other",
	[TF_TOPOLOGY_DEVICE_HOST] = "host",
};

const char *tf_topology_class_name(enum tf_topology_class value)
{
	return (unsigned)value < TF_TOPOLOGY_CLASS_COUNT ? class_names[value] : NULL;
}

const char *tf_topology_link_name(enum tf_topology_link value)
{
	return (unsigned)value < TF_LINK_COUNT ? link_names[value] : NULL;
}

const char *tf_topology_device_kind_name(enum tf_topology_device_kind value)
{
	return (unsigned)value < TF_TOPOLOGY_DEVICE_KIND_COUNT ? kind_names[value] : NULL;
}

const char *tf_topology_nvml_name(enum tf_topology_nvml_state value)
{
	switch (value) {
	case TF_NVML_NOT_ASKED:
		return "not asked";
	case TF_NVML_ABSENT:
		return "absent";
	case TF_NVML_PRESENT:
		return "present";
	}
	return NULL;
}

int tf_topology_class_parse(const char *name)
{
	for (int i = 0; i < TF_TOPOLOGY_CLASS_COUNT; i++)
		if (!strcmp(name, class_names[i]))
			return i;
	return -1;
}

/* A text of fixed room; `cut` once something did not fit. */
struct text {
	char *to;
	size_t size;
	size_t used;
	bool cut;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *fmt, ...)
{
	va_list args;
	int wrote;

	if (text->cut)
		return;
	va_start(args, fmt);
	wrote = vsnprintf(text->to + text->used, text->size - text->used, fmt, args);
	va_end(args);
	if (wrote < 0 || (size_t)wrote >= text->size - text->used)
		text->cut = true;
	else
		text->used += (size_t)wrote;
}

static void add_link(struct text *text, const struct tf_topology_pair *pair)
{
	add(text, "%s", tf_topology_link_name(pair->link));
	if (pair->bandwidth_gbps > 0)
		add(text, "@%.0f", pair->bandwidth_gbps);
}

static void add_gpus(struct text *text, const struct tf_topology *topology, uint32_t world)
{
	add(text, ";models=");
	for (uint32_t i = 0; i < world; i++) {
		const struct tf_topology_device *d = &topology->devices[topology->rank_device[i]];

		add(text, "%s%04x:%04x", i ? "," : "", d->vendor_id, d->device_id);
	}
	/* The tree alone takes NVLink for a way through the host. */
	if (topology->nvml == TF_NVML_ABSENT)
		return;
	add(text, ";links=");
	for (uint32_t i = 0; i < world; i++) {
		for (uint32_t j = 0; j < world; j++) {
			add(text, "%s", j ? " " : i ? "/" : "");
			add_link(text, tf_topology_rank_pair(topology, i, j));
		}
	}
}

/* How many of the ranks lie on this host. */
static uint32_t local_world(
	const struct tf_topology *topology, uint32_t world, enum tf_topology_class selected)
{
	bool spread = selected == TF_TOPOLOGY_RING || selected == TF_TOPOLOGY_FABRIC;

	return spread && world > topology->rank_count ? topology->rank_count : world;
}

static void write_signature(struct text *text, const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class selected)
{
	add(text, "%s;class=%s;world=%u", topology->host ? "host" : "gpu",
		tf_topology_class_name(selected), world);
	if (topology->host)
		add(text, ";arch=%s;page=%llu", topology->architecture,
			(unsigned long long)topology->page_bytes);
	else
		add_gpus(text, topology, local_world(topology, world, selected));
}

enum tf_status tf_topology_signature(const struct tf_topology *topology, uint32_t world,
	enum tf_topology_class selected, char *out, size_t size, struct tf_error *err)
{
	struct text text = {.size = size};

	if (!tf_topology_class_name(selected))
		return TF_FAIL(err, TF_E_USAGE, "no topology class has the number %d", (int)selected);
	TF_TRY(tf_topology_check_ranks(topology, local_world(topology, world, selected), err));
	text.to = tf_calloc(size, 1);
	if (!text.to)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a signature");
	write_signature(&text, topology, world, selected);
	if (!text.cut)
		memcpy(out, text.to, text.used + 1);
	tf_free(text.to);
	if (text.cut)
		return TF_FAIL(
			err, TF_E_LIMIT, "signature of %u ranks does not fit %zu bytes", world, size);
	return TF_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Times are those of the slowest rank: the group is ready when it is. */
#include "runtime/serve/ready_report.h"

#include "base/deadline.h"
#include "runtime/serve/serve_version.h"

/* Phases in the order in which they run. */
static const enum tf_session_phase order[TF_PHASE_COUNT] = {TF_PHASE_PACKAGE, TF_PHASE_DEVICE,
	TF_PHASE_IDENTITY, TF_PHASE_WINDOW, TF_PHASE_PEERS, TF_PHASE_PROOF, TF_PHASE_LIBRARY,
	TF_PHASE_GRAPHS, TF_PHASE_PROTOCOL, TF_PHASE_PROBE};

int64_t tf_ready_phase_ns(const struct tf_supervisor *supervisor, enum tf_session_phase phase)
{
	int64_t longest = 0;

	for (uint32_t rank = 0; rank < supervisor->view.loaded.program.world; rank++) {
		if (supervisor->readies[rank].phase_ns[phase] > longest)
			longest = supervisor->readies[rank].phase_ns[phase];
	}
	return longest;
}

static int64_t links_ns(const struct tf_supervisor *supervisor)
{
	return supervisor->looked_ns ? supervisor->looked_ns - supervisor->forked_ns : 0;
}

static double ms(int64_t ns)
{
	return (double)ns / (double)TF_NS_PER_MS;
}

static const char *device_of(const struct tf_supervisor *supervisor)
{
	const char *kind = tf_program_identity(&supervisor->view.loaded.program, "device.kind");

	return kind ? kind : "unknown";
}

static void put_phases(struct tf_json *json, const struct tf_supervisor *supervisor)
{
	tf_json_object_begin(json, "load_ns");
	tf_json_int(json, "before_fork", supervisor->forked_ns - supervisor->options->begin_ns);
	for (int i = 0; i < TF_PHASE_COUNT; i++)
		tf_json_int(json, tf_session_phase_name(order[i]), tf_ready_phase_ns(supervisor, order[i]));
	tf_json_int(json, "links", links_ns(supervisor));
	tf_json_int(json, "total", supervisor->ready_ns - supervisor->options->begin_ns);
	tf_json_object_end(json);
}

static enum tf_status print_json(
	FILE *to, const struct tf_supervisor *supervisor, struct tf_error *err)
{
	const struct tf_served_package *view = &supervisor->view;
	struct tf_bytes body = {0};
	struct tf_json json = {.to = &body};

	tf_json_object_begin(&json, NULL);
	tf_json_int(&json, "version", TF_SERVE_JSON_VERSION);
	tf_json_text(&json, "state", "ready");
	tf_json_text(&json, "package", supervisor->options->path);
	tf_json_text(&json, "sha256", supervisor->digest_hex);
	tf_json_uint(&json, "world", view->loaded.program.world);
	tf_json_text(&json, "device", device_of(supervisor));
	tf_json_uint(&json, "window_base", supervisor->readies[0].base);
	tf_json_bool(&json, "relocated", (int)supervisor->readies[0].relocated);
	tf_json_text(&json, "links_not_compared",
		supervisor->machine.links_note[0] ? supervisor->machine.links_note : NULL);
	tf_json_array_begin(&json, "capacities");
	for (uint32_t i = 0; i < view->capacity_count; i++)
		tf_json_uint(&json, NULL, view->capacities[i]);
	tf_json_array_end(&json);
	put_phases(&json, supervisor);
	tf_json_int(&json, "tunings", 0);
	tf_json_int(&json, "captures", 0);
	tf_json_text(&json, "listen", supervisor->listen_text[0] ? supervisor->listen_text : NULL);
	tf_json_object_end(&json);
	return tf_report_flush_json(to, &json, &body, err);
}

static void print_capacities(FILE *to, const struct tf_served_package *view)
{
	fprintf(to, "capacities");
	for (uint32_t i = 0; i < view->capacity_count; i++)
		fprintf(to, "%s%u", i ? ", " : "  ", view->capacities[i]);
	fprintf(to, "\n");
}

static void print_times(FILE *to, const struct tf_supervisor *supervisor)
{
	fprintf(to, "ready       %.1f ms after start: before fork %.1f",
		ms(supervisor->ready_ns - supervisor->options->begin_ns),
		ms(supervisor->forked_ns - supervisor->options->begin_ns));
	for (int i = 0; i < TF_PHASE_COUNT; i++)
		fprintf(to, ", %s %.1f", tf_session_phase_name(order[i]),
			ms(tf_ready_phase_ns(supervisor, order[i])));
	if (supervisor->looked_ns)
		fprintf(to, "; links %.1f beside", ms(links_ns(supervisor)));
	fprintf(to, "\n");
}

enum tf_status tf_ready_report_print(
	FILE *to, const struct tf_supervisor *supervisor, struct tf_error *err)
{
	const struct tf_rank_ready *first = &supervisor->readies[0];

	if (supervisor->options->json)
		return print_json(to, supervisor, err);
	fprintf(to, "package     %s, %llu bytes\n", supervisor->options->path,
		(unsigned long long)supervisor->view.loaded.file_bytes);
	fprintf(to, "sha256      %s\n", supervisor->digest_hex);
	fprintf(to, "group       %u ranks, device %s, window at 0x%llx%s\n",
		supervisor->view.loaded.program.world, device_of(supervisor),
		(unsigned long long)first->base,
		first->relocated ? " (relocated: no preferred base was free)" : "");
	if (supervisor->machine.links_note[0])
		fprintf(
			to, "links       not compared with the maker's: %s\n", supervisor->machine.links_note);
	print_capacities(to, &supervisor->view);
	print_times(to, supervisor);
	fprintf(to, "tunings 0, captures 0\n");
	fprintf(to, "listening   http://%s\n", supervisor->listen_text);
	return tf_report_flush(to, err);
}

/* How the probe proved the outputs. */
static const char *proof_of(const struct tf_served_package *view, char *out, size_t size)
{
	const struct tf_program *program = &view->loaded.program;
	uint32_t rounded = 0;

	for (uint32_t g = 0; g < program->group_count; g++)
		rounded += (uint32_t)tf_program_rounds(program, g);
	if (!rounded)
		return "bytewise";
	snprintf(out, size, "bytewise but for sums of %u groups, within their roundings", rounded);
	return out;
}

enum tf_status tf_check_report_print(
	FILE *to, const struct tf_supervisor *supervisor, struct tf_error *err)
{
	const struct tf_served_package *view = &supervisor->view;
	char proof[96];

	if (supervisor->options->json)
		return print_json(to, supervisor, err);
	fprintf(to,
		"%s fits: %u ranks on device %s, %u %s up to %u proven %s in %.1f ms, tunings 0, "
		"captures 0",
		supervisor->options->path, view->loaded.program.world, device_of(supervisor),
		view->capacity_count, view->capacity_count == 1 ? "capacity" : "capacities",
		tf_served_package_largest(view), proof_of(view, proof, sizeof(proof)),
		ms(supervisor->ready_ns - supervisor->options->begin_ns));
	if (supervisor->machine.links_note[0])
		fprintf(to, "; links not compared: %s", supervisor->machine.links_note);
	fprintf(to, "\n");
	return tf_report_flush(to, err);
}

enum tf_status tf_report_flush(FILE *to, struct tf_error *err)
{
	if (fflush(to) || ferror(to))
		return TF_FAIL_ERRNO(err, "cannot write to stdout");
	return TF_OK;
}

enum tf_status tf_report_flush_json(
	FILE *to, struct tf_json *json, struct tf_bytes *body, struct tf_error *err)
{
	enum tf_status status = tf_json_finish(json, err);

	if (status == TF_OK) {
		(void)fwrite(body->data, 1, body->size, to);
		(void)fputc('\n', to);
		status = tf_report_flush(to, err);
	}
	tf_bytes_fini(body);
	return status;
}

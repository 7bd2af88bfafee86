/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check: modules, kernels and launches. Invariants afterwards:
 * 1. Words of a kernel rise in offset, do not overlap and lie inside its argument struct.
 * 2. A launch has every word of its kernel that is not nullable, in the same order, and no other;
 *    its argument bytes are zero there.
 * 3. Every address word points to a place that a graph may touch (tf_check_place).
 */
#include "catalog/program_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/program_limits.h"
#include "catalog/program_names.h"

static enum tf_status check_module_member(
	const struct tf_program *program, const struct tf_module *module, struct tf_error *err)
{
	if (module->member >= program->member_count)
		return TF_FAIL(err, TF_E_INVALID, "member is %" PRIu32 ", there are %" PRIu32,
			module->member, program->member_count);
	if (memcmp(module->digest, program->members[module->member].digest, TF_DIGEST_BYTES))
		return TF_FAIL(err, TF_E_INVALID, "digest differs from that of member '%s'",
			program->members[module->member].name);
	return TF_OK;
}

static enum tf_status check_module(
	const struct tf_program *program, const struct tf_module *module, struct tf_error *err)
{
	if (!tf_text_is_name(module->name, sizeof(module->name)))
		return TF_FAIL(err, TF_E_INVALID, "name is not a name of A-Z a-z 0-9 . _ -");
	if (!tf_module_kind_name(module->kind))
		return TF_FAIL(err, TF_E_INVALID, "kind %d is unknown", (int)module->kind);
	if (module->kind == TF_MODULE_HOST) {
		if (module->compute_capability)
			return TF_FAIL(err, TF_E_INVALID, "a host module has a compute capability");
		return module->member == TF_PROGRAM_NONE ? TF_OK
												 : check_module_member(program, module, err);
	}
	if (module->compute_capability == 0 || module->compute_capability > 999)
		return TF_FAIL(err, TF_E_INVALID, "compute_capability is %" PRIu32 ", not 1..999",
			module->compute_capability);
	return check_module_member(program, module, err);
}

static int compare_module(const void *a, const void *b, void *program)
{
	const struct tf_module *modules = ((const struct tf_program *)program)->modules;
	const struct tf_module *x = &modules[*(const uint32_t *)a], *y = &modules[*(const uint32_t *)b];

	if (x->compute_capability != y->compute_capability)
		return x->compute_capability < y->compute_capability ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_kernel(const void *a, const void *b, void *program)
{
	const struct tf_kernel *kernels = ((const struct tf_program *)program)->kernels;
	const struct tf_kernel *x = &kernels[*(const uint32_t *)a], *y = &kernels[*(const uint32_t *)b];

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return strcmp(x->name, y->name);
}

static enum tf_status check_kernel_words(
	const struct tf_program *program, const struct tf_kernel *kernel, struct tf_error *err)
{
	uint64_t free_off = 0; /* the first byte behind the words so far */

	if (kernel->words_first > program->kernel_word_count ||
		kernel->words_count > program->kernel_word_count - kernel->words_first)
		return TF_FAIL(err, TF_E_INVALID,
			"words %" PRIu32 " + %" PRIu32 " pass the %" PRIu32 " there are", kernel->words_first,
			kernel->words_count, program->kernel_word_count);
	for (uint32_t i = 0; i < kernel->words_count; i++) {
		const struct tf_kernel_word *word = &program->kernel_words[kernel->words_first + i];

		if (!tf_text_is_plain(word->name, sizeof(word->name)) || !word->name[0])
			return TF_FAIL(err, TF_E_INVALID,
				"word %" PRIu32 ": name is empty or not UTF-8 without control characters", i);
		if (!tf_word_kind_name(word->kind))
			return TF_FAIL(
				err, TF_E_INVALID, "word '%s': kind %d is unknown", word->name, (int)word->kind);
		if (word->nullable > (word->kind == TF_WORD_ADDRESS))
			return TF_FAIL(err, TF_E_INVALID, "word '%s': nullable is %u for kind %s", word->name,
				word->nullable, tf_word_kind_name(word->kind));
		if (word->arg_off < free_off)
			return TF_FAIL(err, TF_E_INVALID,
				"word '%s': arg_off %" PRIu32 " lies before or inside the word before it",
				word->name, word->arg_off);
		free_off = (uint64_t)word->arg_off + tf_word_bytes(word->kind);
		if (free_off > kernel->args_bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"word '%s': arg_off %" PRIu32 " passes the %" PRIu32 " bytes of the arguments",
				word->name, word->arg_off, kernel->args_bytes);
	}
	return TF_OK;
}

static enum tf_status check_kernel(
	const struct tf_program *program, const struct tf_kernel *kernel, struct tf_error *err)
{
	if (!tf_text_is_name(kernel->name, sizeof(kernel->name)))
		return TF_FAIL(err, TF_E_INVALID, "name is not a name of A-Z a-z 0-9 . _ -");
	if (kernel->module >= program->module_count)
		return TF_FAIL(err, TF_E_INVALID, "module is %" PRIu32 ", there are %" PRIu32,
			kernel->module, program->module_count);
	if (kernel->args_bytes > TF_KERNEL_ARGS_MAX)
		return TF_FAIL(err, TF_E_INVALID, "args_bytes is %" PRIu32 ", not 0..%d",
			kernel->args_bytes, TF_KERNEL_ARGS_MAX);
	return check_kernel_words(program, kernel, err);
}

enum tf_status tf_check_kernels(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *p = check->program;
	enum tf_status status;

	TF_TRY(tf_check_count("modules", p->modules, p->module_count, TF_MODULES_MAX, err));
	TF_TRY(tf_check_count("kernels", p->kernels, p->kernel_count, TF_KERNELS_MAX, err));
	TF_TRY(tf_check_count(
		"words of kernels", p->kernel_words, p->kernel_word_count, TF_KERNEL_WORDS_MAX, err));
	for (uint32_t i = 0; i < p->module_count; i++) {
		status = check_module(p, &p->modules[i], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "module %" PRIu32 " '%s'", i,
				tf_text_shown(p->modules[i].name, TF_NAME_BYTES));
			return status;
		}
	}
	for (uint32_t i = 0; i < p->kernel_count; i++) {
		status = check_kernel(p, &p->kernels[i], err);
		if (status != TF_OK) {
			tf_error_prefix(err, "kernel %" PRIu32 " '%s'", i,
				tf_text_shown(p->kernels[i].name, TF_NAME_BYTES));
			return status;
		}
	}
	TF_TRY(tf_check_unique(check, p->module_count, compare_module, "modules",
		"have the same name and compute capability", err));
	return tf_check_unique(
		check, p->kernel_count, compare_kernel, "kernels", "have the same module and name", err);
}

static enum tf_status check_geometry(const struct tf_launch *launch, struct tf_error *err)
{
	const uint32_t *g = launch->grid, *b = launch->block;

	if (!g[0] || !g[1] || !g[2] || g[0] > TF_GRID_MAX || g[1] > TF_GRID_YZ_MAX ||
		g[2] > TF_GRID_YZ_MAX)
		return TF_FAIL(err, TF_E_INVALID,
			"grid is (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), not from 1 to (%d, %d, %d)", g[0],
			g[1], g[2], TF_GRID_MAX, TF_GRID_YZ_MAX, TF_GRID_YZ_MAX);
	if (!b[0] || !b[1] || !b[2] || b[0] > TF_THREADS_MAX || b[1] > TF_THREADS_MAX ||
		b[2] > TF_BLOCK_Z_MAX || (uint64_t)b[0] * b[1] * b[2] > TF_THREADS_MAX)
		return TF_FAIL(err, TF_E_INVALID,
			"block is (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), not 1..%d threads", b[0], b[1], b[2],
			TF_THREADS_MAX);
	if (launch->shared_bytes > TF_SHARED_MAX)
		return TF_FAIL(err, TF_E_INVALID, "shared_bytes is %" PRIu32 ", not 0..%u",
			launch->shared_bytes, TF_SHARED_MAX);
	return TF_OK;
}

static enum tf_status check_word(const struct tf_check *check, const struct tf_kernel_word *rule,
	const struct tf_launch_word *word, struct tf_error *err)
{
	if (word->kind != rule->kind)
		return TF_FAIL(err, TF_E_INVALID, "kind is %d, not %s", (int)word->kind,
			tf_word_kind_name(rule->kind));
	if (word->kind == TF_WORD_ADDRESS)
		return tf_check_place(check, word->peer, word->segment_off, 1, err);
	if (word->peer || word->segment_off)
		return TF_FAIL(err, TF_E_INVALID, "a rank word has a peer or an offset");
	return TF_OK;
}

/* Walks the kernel's words and the launch's together. */
static enum tf_status check_launch_words(
	const struct tf_check *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_program *program = check->program;
	const struct tf_kernel *kernel = &program->kernels[launch->kernel];
	uint32_t at = 0;

	for (uint32_t i = 0; i < kernel->words_count; i++) {
		const struct tf_kernel_word *rule = &program->kernel_words[kernel->words_first + i];
		const struct tf_launch_word *word =
			at < launch->words_count ? &program->launch_words[launch->words_first + at] : NULL;
		enum tf_status status;

		if (!word || word->arg_off != rule->arg_off) {
			if (rule->nullable)
				continue;
			return TF_FAIL(err, TF_E_INVALID, "word '%s' at arg_off %" PRIu32 " is missing",
				rule->name, rule->arg_off);
		}
		status = check_word(check, rule, word, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "word '%s'", rule->name);
			return status;
		}
		at++;
	}
	if (at < launch->words_count)
		return TF_FAIL(err, TF_E_INVALID,
			"word at arg_off %" PRIu32 " is not the kernel's, or out of order",
			program->launch_words[launch->words_first + at].arg_off);
	return TF_OK;
}

static enum tf_status check_args(
	const struct tf_program *program, const struct tf_launch *launch, struct tf_error *err)
{
	static const uint8_t zero[8];
	const struct tf_kernel *kernel = &program->kernels[launch->kernel];

	if (launch->args_off > program->args.size ||
		kernel->args_bytes > program->args.size - launch->args_off)
		return TF_FAIL(err, TF_E_INVALID,
			"args_off %" PRIu64 " + %" PRIu32 " passes the %zu bytes there are", launch->args_off,
			kernel->args_bytes, program->args.size);
	for (uint32_t i = 0; i < kernel->words_count; i++) {
		const struct tf_kernel_word *word = &program->kernel_words[kernel->words_first + i];

		if (memcmp(program->args.data + launch->args_off + word->arg_off, zero,
				tf_word_bytes(word->kind)))
			return TF_FAIL(
				err, TF_E_INVALID, "argument bytes of word '%s' are not zero", word->name);
	}
	return TF_OK;
}

static enum tf_status check_launch(
	const struct tf_check *check, const struct tf_launch *launch, struct tf_error *err)
{
	const struct tf_program *program = check->program;

	if (launch->kernel >= program->kernel_count)
		return TF_FAIL(err, TF_E_INVALID, "kernel is %" PRIu32 ", there are %" PRIu32,
			launch->kernel, program->kernel_count);
	TF_TRY(check_geometry(launch, err));
	if (launch->words_first > program->launch_word_count ||
		launch->words_count > program->launch_word_count - launch->words_first)
		return TF_FAIL(err, TF_E_INVALID,
			"words %" PRIu32 " + %" PRIu32 " pass the %" PRIu32 " there are", launch->words_first,
			launch->words_count, program->launch_word_count);
	TF_TRY(check_args(program, launch, err));
	return check_launch_words(check, launch, err);
}

/* Names the first node that uses the launch: only on the way out with an error. */
static void prefix_launch(const struct tf_program *program, uint32_t launch, struct tf_error *err)
{
	uint32_t kernel = program->launches[launch].kernel;
	const char *name = kernel < program->kernel_count ? program->kernels[kernel].name : "?";

	for (uint32_t g = 0; g < program->graph_count; g++) {
		const struct tf_graph *graph = &program->graphs[g];

		for (uint32_t n = 0; graph->nodes && n < graph->node_count; n++) {
			if (graph->nodes[n].kind != TF_NODE_KERNEL || graph->nodes[n].launch != launch)
				continue;
			tf_error_prefix(err,
				"launch %" PRIu32 " of kernel '%s' (graph %" PRIu32 ", node %" PRIu32 ")", launch,
				name, g, n);
			return;
		}
	}
	tf_error_prefix(err, "launch %" PRIu32 " of kernel '%s'", launch, name);
}

enum tf_status tf_check_launches(const struct tf_check *check, struct tf_error *err)
{
	const struct tf_program *p = check->program;

	TF_TRY(tf_check_count("launches", p->launches, p->launch_count, TF_LAUNCHES_MAX, err));
	TF_TRY(tf_check_count(
		"words of launches", p->launch_words, p->launch_word_count, TF_LAUNCH_WORDS_MAX, err));
	TF_TRY(tf_check_count("argument bytes", p->args.data, p->args.size, TF_ARGS_MAX, err));
	TF_TRY(tf_check_count("graphs", p->graphs, p->graph_count, TF_GRAPHS_MAX, err));
	for (uint32_t i = 0; i < p->launch_count; i++) {
		enum tf_status status = check_launch(check, &p->launches[i], err);

		if (status != TF_OK) {
			prefix_launch(p, i, err);
			return status;
		}
	}
	return TF_OK;
}

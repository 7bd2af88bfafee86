/* SPDX-License-Identifier: Apache-2.0 */
/* Bad ladders: the exact message of every kind. Each text is refused, and writes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "ladders/ladder.h"
#include "ladders/yaml_tree.h"
#include "tests/ladders/ladder_parse_cases.h"

#define WRITERS "ll, sentinel, direct, serial, queued, pull, staged, copy_engine, nccl, wire"
#define KEYS                                                                                       \
	"algorithm, writer, threads, ctas, chunk, ops, dtypes, world, bytes, align, ctas_per_peer, "   \
	"needs, without, reason"
#define SIZES "1 to 64MiB, in bytes or KiB, MiB, GiB ('64KiB')"

struct bad {
	const char *text;
	const char *message;
};

/* The ladder is refused with exactly this message, and nothing is written to the output. */
static void refuse(const char *text, size_t size, const char *message)
{
	struct tf_ladder ladder;
	struct tf_ladder untouched;
	struct tf_error err = {0};

	memset(&ladder, 0x5a, sizeof(ladder));
	untouched = ladder;
	assert_int_equal(tf_ladder_parse(text, size, "x.yaml", &ladder, &err), TF_E_INVALID);
	assert_string_equal(err.text, message);
	assert_memory_equal(&ladder, &untouched, sizeof(ladder));
	assert_int_equal(tf_ladder_parse(text, size, "x.yaml", &ladder, NULL), TF_E_INVALID);
}

static void refuse_all(const struct bad *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		refuse(cases[i].text, strlen(cases[i].text), cases[i].message);
}

#define REFUSE_ALL(cases) refuse_all(cases, sizeof(cases) / sizeof((cases)[0]))

void refuses_keys(void **state)
{
	static const struct bad cases[] = {
		{HEAD RUNG("one_shot", "ll", ", writr: ll", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].writr: unknown key, did you mean 'writer', allowed: " KEYS},
		{HEAD RUNG("one_shot", "ll", ", colour: red", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].colour: unknown key, allowed: " KEYS},
		{"topolgy: switched\nsummary: s\nrungs:\n" GOOD,
			"x.yaml:1: topolgy: unknown key, did you mean 'topology', allowed: "
			"topology, summary, rungs"},
		{"topology: switched\nsummary: s\n", "x.yaml:1: required key 'rungs' is missing"},
		{"topology: switched\nrungs:\n" GOOD, "x.yaml:1: required key 'summary' is missing"},
		{HEAD GOOD "  - algorithm: one_shot\n    writer: ll\n",
			"x.yaml:6: rungs[1]: required key 'ops' is missing"},
		{HEAD "  - {algorithm: one_shot, writer: ll, ctas: 1, ops: [all_reduce], world: [2, 2], "
			  "bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0]: required key 'threads' is missing"},
		{HEAD "  - {algorithm: one_shot, writer: ll, threads: 32, ops: [all_reduce], "
			  "world: [2, 2], bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0]: required key 'ctas' is missing"},
		{HEAD RUNG("one_shot", "ll", ", writer: ll", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: key 'writer' is given twice, first in line 4"},
		{"? [a]\n: b\n", "x.yaml:1: a key must be a text"},
		{"'': b\n", "x.yaml:1: a key of 0 bytes, allowed: 1 to 63"},
		{"\"a\\nb\": b\n", "x.yaml:1: a key holds a blank or a control character"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

void refuses_words_and_types(void **state)
{
	static const struct bad cases[] = {
		{HEAD GOOD RUNG("one_shot", "lll", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:6: rungs[1].writer: found 'lll', allowed: " WRITERS},
		{HEAD RUNG("ring", "ll", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].algorithm: found 'ring', allowed: one_shot, two_shot, library"},
		{HEAD RUNG("one_shot", "ll", "", "[allgather]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].ops[0]: found 'allgather', allowed: "
			"all_reduce, all_gather, reduce_scatter"},
		{HEAD RUNG("one_shot", "ll", ", dtypes: [bf16, fp16]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].dtypes[1]: found 'fp16', allowed: bf16, f16, f32"},
		{HEAD RUNG("one_shot", "ll", ", needs: [peers]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].needs[0]: found 'peers', allowed: "
			"peer_write, peer_read, peer_atomic"},
		{"topology: mesh\nsummary: s\nrungs:\n" GOOD,
			"x.yaml:1: topology: found 'mesh', allowed: "
			"switched, host-bridge, ring, fabric, local"},
		{HEAD RUNG("one_shot", "3", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].writer: found '3', allowed: " WRITERS},
		{HEAD RUNG("one_shot", "ll", "", "all_reduce", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].ops: found 'all_reduce', allowed: "
			"a list of all_reduce, all_gather, reduce_scatter"},
		{HEAD RUNG("one_shot", "ll", "", "[[all_reduce]]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].ops[0]: found a list, allowed: "
			"all_reduce, all_gather, reduce_scatter"},
		{HEAD RUNG("one_shot", "[ll]", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].writer: found a list, allowed: " WRITERS},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "{min: 2}", "[1, 8]"),
			"x.yaml:5: rungs[0].world: found a mapping, allowed: [min, max]"},
		{HEAD "  - 7\n", "x.yaml:4: rungs[0]: found '7', allowed: a mapping with the keys " KEYS},
		{"- a\n",
			"x.yaml:1: found a list, allowed: a mapping with the keys "
			"topology, summary, rungs"},
		{"just a text\n",
			"x.yaml:1: found 'just a text', allowed: a mapping with the keys "
			"topology, summary, rungs"},
		{HEAD RUNG("one_shot", "ll", ", reason2: \"\"", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].reason2: unknown key, did you mean 'reason', allowed: " KEYS},
		{"topology: switched\nsummary: ''\nrungs:\n" GOOD,
			"x.yaml:2: summary: found '', allowed: a text of 1 to 1000 bytes"},
		{HEAD RUNG("one_shot", "\"a\\x1b[1mb\"", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].writer: found 'a?[1mb', allowed: " WRITERS},
		{HEAD RUNG("one_shot", "\"ll\\0junk\"", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: a text holds a zero byte, which is not allowed"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

void refuses_numbers_and_sizes(void **state)
{
	static const struct bad cases[] = {
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 64KB]"),
			"x.yaml:5: rungs[0].bytes[1]: found '64KB', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 64 k]"),
			"x.yaml:5: rungs[0].bytes[1]: found '64 k', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 64kib]"),
			"x.yaml:5: rungs[0].bytes[1]: found '64kib', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, KiB]"),
			"x.yaml:5: rungs[0].bytes[1]: found 'KiB', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[-1, 8]"),
			"x.yaml:5: rungs[0].bytes[0]: found '-1', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[0, 8]"),
			"x.yaml:5: rungs[0].bytes[0]: found '0', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 65MiB]"),
			"x.yaml:5: rungs[0].bytes[1]: found '65MiB', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 18014398509481985KiB]"),
			"x.yaml:5: rungs[0].bytes[1]: found '18014398509481985KiB', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[0x10, 8KiB]"),
			"x.yaml:5: rungs[0].bytes[0]: found '0x10', allowed: " SIZES},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[02, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].world[0]: found '02', allowed: a number from 2 to 8"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2x, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].world[0]: found '2x', allowed: a number from 2 to 8"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[0, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].world[0]: found '0', allowed: a number from 2 to 8"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[1, 9]", "[1, 8]"),
			"x.yaml:5: rungs[0].world[0]: found '1', allowed: a number from 2 to 8"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 9]", "[1, 8]"),
			"x.yaml:5: rungs[0].world[1]: found '9', allowed: a number from 2 to 8"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2]", "[1, 8]"),
			"x.yaml:5: rungs[0].world: found 1 entries, allowed: 2"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 4, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].world: found 3 entries, allowed: 2"},
		{HEAD "  - {algorithm: one_shot, writer: ll, threads: 100, ctas: 1, ops: [all_reduce], "
			  "world: [2, 8], bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0].threads: found '100', allowed: a multiple of 32 from 32 to 1024"},
		{HEAD "  - {algorithm: one_shot, writer: ll, threads: 2048, ctas: 1, ops: [all_reduce], "
			  "world: [2, 8], bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0].threads: found '2048', allowed: a multiple of 32 from 32 to 1024"},
		{HEAD "  - {algorithm: one_shot, writer: ll, threads: 32, ctas: 129, ops: [all_reduce], "
			  "world: [2, 8], bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0].ctas: found '129', allowed: a number from 1 to 128"},
		{HEAD "  - {algorithm: one_shot, writer: ll, threads: 32, ctas: [1], ops: [all_reduce], "
			  "world: [2, 8], bytes: [1, 8], reason: r}\n",
			"x.yaml:4: rungs[0].ctas: found a list, allowed: a number from 1 to 128"},
		{HEAD RUNG("one_shot", "ll", ", align: 24", "[all_reduce]", "[2, 8]", "[1, 64]"),
			"x.yaml:5: rungs[0].align: found '24', allowed: a power of two from 1 to 256"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

void refuses_contradictions(void **state)
{
	static const struct bad cases[] = {
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[9KiB, 8KiB]"),
			"x.yaml:5: rungs[0].bytes: min 9216 is above max 8192"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce]", "[8, 2]", "[1, 8]"),
			"x.yaml:5: rungs[0].world: min 8 is above max 2"},
		{HEAD RUNG("one_shot", "ll", ", align: 16", "[all_reduce]", "[2, 8]", "[17, 31]"),
			"x.yaml:5: rungs[0].bytes: no multiple of align 16 lies in 17 to 31"},
		{HEAD RUNG("two_shot", "ll", "", "[all_gather]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].algorithm: 'two_shot' does all_reduce only"},
		{HEAD RUNG("two_shot", "ll", "", "[all_reduce, all_gather]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].algorithm: 'two_shot' does all_reduce only"},
		{HEAD RUNG("one_shot", "ll", ", chunk: 1KiB", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].chunk: writer 'll' does not chunk, only 'queued' does"},
		{HEAD RUNG("one_shot", "queued", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0]: writer 'queued' needs a chunk"},
		{HEAD RUNG("one_shot", "queued", ", chunk: 1000", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].chunk: 1000 bytes, allowed: a multiple of 16 from 256 to 16777216"},
		{HEAD RUNG("one_shot", "queued", ", chunk: 1KiB", "[all_reduce]", "[2, 8]", "[1, 2MiB]"),
			"x.yaml:5: rungs[0].chunk: 1024 bytes make more than 1024 chunks of bytes max 2097152"},
		{HEAD RUNG("one_shot", "wire", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].writer: writer 'wire' does all_gather only"},
		{HEAD RUNG("two_shot", "copy_engine", "", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].algorithm: writer 'copy_engine' does 'one_shot' only"},
		{HEAD RUNG("one_shot", "pull", ", needs: [peer_write]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].needs: writer 'pull' also needs peer_read"},
		{HEAD RUNG("one_shot", "pull", ", needs: [peer_read]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].needs: writer 'pull' also needs peer_write"},
		{HEAD RUNG(
			 "one_shot", "pull", ", without: [peer_read]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].without: writer 'pull' needs peer_read"},
		{HEAD RUNG("one_shot", "ll", ", needs: [peer_read]", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].needs: writer 'll' also needs peer_write"},
		{HEAD RUNG("one_shot", "ll", "", "[]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].ops: found 0 entries, allowed: 1 or more"},
		{HEAD RUNG("one_shot", "ll", ", dtypes: []", "[all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:5: rungs[0].dtypes: found 0 entries, allowed: 1 or more"},
		{HEAD RUNG("one_shot", "ll", "", "[all_reduce, all_reduce]", "[2, 8]", "[1, 8]"),
			"x.yaml:4: rungs[0].ops: 'all_reduce' is given twice"},
		{HEAD GOOD GOOD "",
			"x.yaml:6: rungs[1]: repeats rungs[0] (one_shot/ll/t256/c1): ops, dtypes, "
			"world and bytes overlap"},
		{HEAD GOOD RUNG(
			 "one_shot", "ll", "", "[all_reduce, all_gather]", "[8, 8]", "[8KiB, 16KiB]"),
			"x.yaml:6: rungs[1]: repeats rungs[0] (one_shot/ll/t256/c1): ops, dtypes, "
			"world and bytes overlap"},
	};

	(void)state;
	REFUSE_ALL(cases);
}

void refuses_what_is_no_plain_yaml(void **state)
{
	static const struct bad cases[] = {
		{"", "x.yaml: the file is empty"},
		{"# only a comment\n", "x.yaml: the file is empty"},
		{"rungs: []\ntopology: switched\nsummary: s\n",
			"x.yaml:1: rungs: found 0 entries, allowed: 1 to 256"},
		{HEAD, "x.yaml:3: rungs: found '', allowed: a list of 1 to 256 rungs"},
		{"topology: switched: b\n",
			"x.yaml:1: not YAML: mapping values are not allowed in this context"},
		{"topology: switched\nsummary: [a\n",
			"x.yaml:3: not YAML: did not find expected ',' or ']'"},
		{"topology: switched\n\tsummary: a\n",
			"x.yaml:2: not YAML: found a tab character that violates indentation"},
		{"topology: \xff\xfe\n", "x.yaml:1: not YAML: invalid leading UTF-8 octet"},
		{"a: b\nc: \x01\n", "x.yaml:2: not YAML: control characters are not allowed"},
		{"a: &x [1, 2]\nb: [*x, *x]\n", "x.yaml:1: anchors, aliases and tags are not allowed"},
		{"a: 1\nb: *x\n", "x.yaml:2: anchors, aliases and tags are not allowed"},
		{"a: !!int 1\n", "x.yaml:1: anchors, aliases and tags are not allowed"},
		{"a: 1\n---\nb: 2\n", "x.yaml:2: a second document begins, allowed: one"},
		{"[[[[[[[[[[[[[", "x.yaml:1: nested deeper than 8 levels"},
	};

	(void)state;
	REFUSE_ALL(cases);
	refuse(NULL, 0, "x.yaml: the file is empty");
	refuse("a\0b", 3, "x.yaml:1: not YAML: control characters are not allowed");
}

static void append(struct tf_bytes *text, const char *what, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(tf_bytes_append(text, what, strlen(what), NULL), TF_OK);
}

void refuses_what_is_too_much(void **state)
{
	struct tf_bytes text = {0};
	char key[32];

	(void)state;
	append(&text, HEAD, 1);
	append(&text, GOOD, TF_LADDER_RUNGS_MAX + 1);
	refuse((char *)text.data, text.size, "x.yaml:3: rungs: found 257 entries, allowed: 1 to 256");

	text.size = 0;
	append(&text, " ", TF_YAML_BYTES_MAX + 1);
	refuse((char *)text.data, text.size, "x.yaml: 1048577 bytes, allowed: at most 1048576");

	text.size = 0;
	append(&text, "[", 1);
	append(&text, "1,", TF_YAML_NODES_MAX);
	refuse((char *)text.data, text.size, "x.yaml:1: too many values, allowed: 131072");

	text.size = 0;
	for (unsigned i = 0; i <= TF_YAML_KEYS_MAX; i++) {
		snprintf(key, sizeof(key), "k%u: 1\n", i);
		append(&text, key, 1);
	}
	refuse((char *)text.data, text.size, "x.yaml:33: more than 32 keys in a mapping");

	text.size = 0;
	append(&text, "topology: ", 1);
	append(&text, "0123456789", 10);
	refuse((char *)text.data, text.size,
		"x.yaml:1: topology: found "
		"'0123456789012345678901234567890123456789012345678901234567890123'..., allowed: "
		"switched, host-bridge, ring, fabric, local");
	tf_bytes_fini(&text);
}

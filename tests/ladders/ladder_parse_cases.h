/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of ladders, and the tests of ladder_parse_test that are not in its own file. */
#ifndef TF_TESTS_LADDERS_LADDER_PARSE_CASES_H
#define TF_TESTS_LADDERS_LADDER_PARSE_CASES_H

#ifdef __cplusplus
extern "C" {
#endif

#define HEAD "topology: switched\nsummary: for tests\nrungs:\n"
#define RUNG(algorithm, writer, more, ops, world, bytes)                                           \
	"  - {algorithm: " algorithm ", writer: " writer ", threads: 256, ctas: 1, ops: " ops ",\n"    \
	"     world: " world ", bytes: " bytes ", reason: why" more "}\n"
#define GOOD RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[1, 8KiB]")

/* ladder_parse_refusals.c */
void refuses_keys(void **state);
void refuses_words_and_types(void **state);
void refuses_numbers_and_sizes(void **state);
void refuses_contradictions(void **state);
void refuses_what_is_no_plain_yaml(void **state);
void refuses_what_is_too_much(void **state);

#ifdef __cplusplus
}
#endif
#endif

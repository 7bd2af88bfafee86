/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without libFuzzer: runs the files named on the command line, then a fixed series of made-up
 * changes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/catalog/fuzz_catalog.h"

#define INPUT_MAX (1u << 20) /* corpus files are small on purpose */
#define SERIES    600

static int replay(const char *path)
{
	uint8_t *data = malloc(INPUT_MAX);
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!data || !file) {
		fprintf(stderr, "cannot read '%s'\n", path);
		return 1;
	}
	size = fread(data, 1, INPUT_MAX, file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

/* xorshift64: the same series everywhere. */
static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

int main(int argc, char **argv)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	uint8_t changes[64];

	for (int i = 1; i < argc; i++) {
		if (replay(argv[i]))
			return 1;
	}
	for (int i = 0; i < SERIES; i++) {
		size_t size = 4 * (1 + draw(&seed) % 16);

		for (size_t k = 0; k < size; k++)
			changes[k] = (uint8_t)draw(&seed);
		LLVMFuzzerTestOneInput(changes, size);
	}
	printf("%d files, %d inputs made up\n", argc - 1, SERIES);
	return 0;
}

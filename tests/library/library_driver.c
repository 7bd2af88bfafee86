/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/library/library_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int find(void *library, const char *name, void *out)
{
	void *symbol = dlsym(library, name);

	memcpy(out, &symbol, sizeof(symbol));
	return symbol != NULL;
}

int library_driver_open(struct library_driver *out)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int found = library != NULL;

	if (!library)
		return 0;
#define FIND(member, name, parameters)                                                             \
	if (found && !(found = find(library, #name, &out->member)))                                    \
		fprintf(stderr, "the driver lacks %s\n", #name);
	LIBRARY_DRIVER_SYMBOLS(FIND)
#undef FIND
	(void)find(library, "fake_primary_retains", &out->fake_primary_retains);
	(void)find(library, "fake_stale_uses", &out->fake_stale_uses);
	(void)find(library, "fake_graph_launches", &out->fake_graph_launches);
	(void)find(library, "fake_graph_stream", &out->fake_graph_stream);
	return found && out->init(0) == 0;
}

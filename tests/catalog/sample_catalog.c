/* SPDX-License-Identifier: Apache-2.0 */
/* One catalog for a whole executable: tests copy it before they damage it. */
#include "tests/catalog/sample_catalog.h"

#include <string.h>

#include "catalog/catalog_read.h"
#include "tests/catalog/catalog_image.h"

struct tf_bytes sample_catalog;

int sample_catalog_make(void **state)
{
	(void)state;
	catalog_image_make(&sample_catalog);
	return 0;
}

int sample_catalog_drop(void **state)
{
	(void)state;
	tf_bytes_fini(&sample_catalog);
	return 0;
}

void sample_catalog_refused(const void *bytes, size_t size, enum tf_status status, const char *text)
{
	static const struct tf_program untouched;
	struct tf_program out = {0};
	struct tf_error err = {0};
	enum tf_status found =
		tf_catalog_read(bytes, size, TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &out, &err);

	if (found != status || !strstr(err.text, text))
		fail_msg("%s: '%s' lacks '%s'", tf_status_name(found), err.text, text);
	assert_int_equal(strncmp(err.text, "catalog: ", 9), 0);
	assert_memory_equal(&out, &untouched, sizeof(out));
}

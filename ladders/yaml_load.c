/* SPDX-License-Identifier: Apache-2.0 */
/* libcyaml with our allocator, our limits and our messages. */
#include "ladders/yaml_load.h"
#include "base/alloc.h"
#include "ladders/yaml_fault.h"

static void *allocate(void *user, void *block, size_t size)
{
	(void)user;
	if (size)
		return tf_reallocarray(block, size, 1);
	tf_free(block);
	return NULL;
}

static cyaml_config_t config_with(struct tf_yaml_report *report)
{
	return (cyaml_config_t){
		.log_fn = report ? tf_yaml_report_line : NULL,
		.log_ctx = report,
		.mem_fn = allocate,
		.log_level = CYAML_LOG_ERROR,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

enum tf_status tf_yaml_load(const struct tf_yaml *yaml, const char *text, size_t size,
	const struct cyaml_schema_value *schema, void **out, struct tf_error *err)
{
	struct tf_yaml_report report = {0};
	cyaml_config_t config = config_with(&report);
	cyaml_data_t *data = NULL;
	cyaml_err_t code = cyaml_load_data((const uint8_t *)text, size, &config, schema, &data, NULL);

	if (code != CYAML_OK)
		return tf_yaml_fault(yaml, schema, &report, code, err);
	*out = data;
	return TF_OK;
}

void tf_yaml_free(const struct cyaml_schema_value *schema, void *data)
{
	cyaml_config_t config = config_with(NULL);

	if (data)
		(void)cyaml_free(&config, schema, data, 0);
}

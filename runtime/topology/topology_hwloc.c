/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading hwloc's view of this machine or of an XML file.
 *
 * A file is read whole within a limit and must end as a topology does, whichever of hwloc's XML
 * parsers is installed: the built-in one takes a file that was cut. hwloc's own GPU plugins stay
 * off: they start CUDA, NVML or OpenCL, in seconds and with memory, and answer nothing that is
 * asked here. So does libpciaccess, which leaks: sysfs tells the same. hwloc's complaints on stderr
 * stay off too: the error object carries ours.
 */
#include "runtime/topology/topology_build.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XML_END "</topology>"

static const char *const unwanted_components[] = {
	"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero", "pci", NULL};

/* Reads the rest of a regular file of `size` bytes; a shorter read is an error. */
static enum tf_status read_all(
	int fd, const char *path, char *to, size_t size, struct tf_error *err)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = read(fd, to + at, size - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return TF_FAIL_ERRNO(err, "cannot read '%s'", path);
		if (got == 0)
			return TF_FAIL(err, TF_E_INVALID, "'%s' became shorter while it was read", path);
		at += (size_t)got;
	}
	return TF_OK;
}

static enum tf_status read_open_file(
	int fd, const char *path, char **out, size_t *out_size, struct tf_error *err)
{
	enum tf_status status;
	struct stat st;
	char *text;

	if (fstat(fd, &st))
		return TF_FAIL_ERRNO(err, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return TF_FAIL(err, TF_E_INVALID, "'%s' is not a regular file", path);
	if ((uint64_t)st.st_size > TF_TOPOLOGY_XML_BYTES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "'%s' has %lld bytes, at most %u are read", path,
			(long long)st.st_size, TF_TOPOLOGY_XML_BYTES_MAX);
	text = tf_calloc((size_t)st.st_size + 1, 1);
	if (!text)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for '%s'", path);
	status = read_all(fd, path, text, (size_t)st.st_size, err);
	if (status != TF_OK) {
		tf_free(text);
		return status;
	}
	*out = text;
	*out_size = (size_t)st.st_size;
	return TF_OK;
}

static enum tf_status read_file(
	const char *path, char **out, size_t *out_size, struct tf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum tf_status status;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TF_FAIL(err, TF_E_NOT_FOUND, "no file '%s'", path);
	if (fd < 0)
		return TF_FAIL_ERRNO(err, "cannot open '%s'", path);
	status = read_open_file(fd, path, out, out_size, err);
	close(fd);
	return status;
}

/* Whether a tag that ends at `end` has an attribute; `name` with a space before, ="" after it. */
static bool has_attribute(const char *tag, const char *end, const char *name)
{
	return memmem(tag, (size_t)(end - tag), name, strlen(name)) != NULL;
}

/* Whether a tag names no processors because I/O and Misc objects have none. */
static bool is_beside_processors(const char *tag, const char *end)
{
	return has_attribute(tag, end, " type=\"Bridge\"") ||
		has_attribute(tag, end, " type=\"PCIDev\"") || has_attribute(tag, end, " type=\"OSDev\"") ||
		has_attribute(tag, end, " type=\"Misc\"");
}

/*
 * Whether every object that has processors says which, and has both or none of its sets of memory:
 * hwloc reads through a null pointer where one is missing.
 */
static bool has_all_sets(const char *text)
{
	for (const char *tag = strstr(text, "<object"); tag; tag = strstr(tag + 1, "<object")) {
		const char *end = strchr(tag, '>');

		if (!end)
			return false;
		if (is_beside_processors(tag, end))
			continue;
		if (!has_attribute(tag, end, " cpuset=\"") ||
			!has_attribute(tag, end, " complete_cpuset=\"") ||
			has_attribute(tag, end, " nodeset=\"") !=
				has_attribute(tag, end, " complete_nodeset=\""))
			return false;
	}
	return true;
}

/* Rejects what no parser should be asked about. `text` ends with a zero byte after `size`. */
static enum tf_status check_xml(
	const char *path, const char *text, size_t size, struct tf_error *err)
{
	size_t end = strlen(XML_END);

	if (strlen(text) != size)
		return TF_FAIL(err, TF_E_INVALID, "'%s' is not XML: it holds a zero byte", path);
	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	if (text[0] != '<' || !strstr(text, "<topology") || !has_all_sets(text))
		return TF_FAIL(err, TF_E_INVALID, "'%s' is not a topology in hwloc's XML", path);
	if (size < end || memcmp(text + size - end, XML_END, end))
		return TF_FAIL(err, TF_E_INVALID, "'%s' is cut: it does not end in '%s'", path, XML_END);
	return TF_OK;
}

static enum tf_status use_xml(hwloc_topology_t hw, const char *path, struct tf_error *err)
{
	enum tf_status status;
	char *text = NULL;
	size_t size = 0;

	TF_TRY(read_file(path, &text, &size, err));
	status = check_xml(path, text, size, err);
	if (status == TF_OK && hwloc_topology_set_xmlbuffer(hw, text, (int)size + 1))
		status = TF_FAIL(err, TF_E_INVALID, "'%s' is not a topology in hwloc's XML", path);
	tf_free(text);
	return status;
}

static enum tf_status load(hwloc_topology_t hw, const char *xml_path, struct tf_error *err)
{
	for (const char *const *name = unwanted_components; *name; name++)
		(void)hwloc_topology_set_components(hw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, *name);
	if (hwloc_topology_set_io_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_ALL))
		return TF_FAIL_ERRNO(err, "hwloc cannot be told to keep I/O devices");
	if (xml_path)
		TF_TRY(use_xml(hw, xml_path, err));
	if (!hwloc_topology_load(hw))
		return TF_OK;
	if (xml_path)
		return TF_FAIL(err, TF_E_INVALID, "'%s' is not a topology in hwloc's XML", xml_path);
	return TF_FAIL_ERRNO(err, "hwloc cannot read this machine");
}

enum tf_status tf_topology_load_hwloc(
	const char *xml_path, hwloc_topology_t *out, struct tf_error *err)
{
	hwloc_topology_t hw;
	enum tf_status status;

	if (setenv("HWLOC_HIDE_ERRORS", "2", 0))
		return TF_FAIL_ERRNO(err, "cannot silence hwloc");
	if (hwloc_topology_init(&hw))
		return TF_FAIL_ERRNO(err, "hwloc does not start");
	status = load(hw, xml_path, err);
	if (status != TF_OK) {
		hwloc_topology_destroy(hw);
		return status;
	}
	*out = hw;
	return TF_OK;
}

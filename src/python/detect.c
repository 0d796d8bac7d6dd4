// SPDX-License-Identifier: GPL-2.0-only
#include "python/detect.h"

#include <string.h>

#include "obj/elf_symbols.h"
#include "python/eval_range.h"
#include "python/layout.h"
#include "python/old_runtime.h"
#include "python/version.h"

#define RUNTIME_NAME "_PyRuntime"
#define RUNTIME_SECTION ".PyRuntime"
/* From here on there is one. */
#define PY_SERIES_RUNTIME 0x03070000u

/* Makes "there is none" no error: *found says so. */
static struct error *absent_is_no_error(struct error *error, bool *found)
{
	*found = !error;
	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return NULL;
	}
	return error;
}

static struct error *find_runtime(struct elf_file *file, uint64_t *ret,
				  bool *found)
{
	const struct elf_section *section =
		elf_file_section(file, RUNTIME_SECTION);
	struct elf_symbol symbol;
	struct error *error = absent_is_no_error(
		elf_file_find_symbol(file, RUNTIME_NAME, &symbol), found);

	if (error)
		return error;
	if (*found)
		*ret = symbol.vaddr;
	else if (section && section->addr)
		*ret = section->addr;
	else
		return NULL;
	*found = true;
	return NULL;
}

/* Its own form of the C API has names of its own. */
static bool is_pypy(struct elf_file *file)
{
	return elf_file_exports(file, "PyPy_GetVersion");
}

bool py_detect_maybe(struct elf_file *file)
{
	uint64_t runtime;
	bool found = false;
	struct error *error = find_runtime(file, &runtime, &found);

	error_destroy(error);
	return !error && (found || py_old_runtime_maybe(file) || is_pypy(file));
}

/* Py_Version, a constant since 3.11. */
static struct error *version_of_symbol(struct elf_file *file, uint32_t *ret,
				       bool *found)
{
	struct elf_symbol symbol;
	uint8_t bytes[8];
	struct reader r = reader_init(bytes, sizeof(bytes));
	uint64_t value;
	struct error *error = absent_is_no_error(
		elf_file_find_symbol(file, "Py_Version", &symbol), found);

	if (error || !*found)
		return error;
	error = elf_file_read_image(file, symbol.vaddr, bytes, sizeof(bytes));
	if (error)
		return error;
	*found = reader_u64(&r, &value) && value && value <= UINT32_MAX;
	if (*found)
		*ret = (uint32_t)value;
	return NULL;
}

/* Its strings of bytes: PyBytes_* since Python 3. */
static bool is_python_2(struct elf_file *file)
{
	return elf_file_exports(file, "PyString_FromString");
}

static struct error *version_of_strings(struct elf_file *file, uint32_t *ret,
					bool *found)
{
	struct bytes rodata;
	struct error *error = absent_is_no_error(
		elf_file_section_by_name(file, ".rodata", NULL, &rodata),
		found);

	if (!error && *found)
		*found = is_python_2(file) ?
				 py_version_2_from_strings(rodata, ret) :
				 py_version_from_strings(rodata, ret);
	return error;
}

static struct error *find_version(struct elf_file *file, uint32_t *ret)
{
	bool found;
	struct error *error = version_of_symbol(file, ret, &found);

	if (error || found)
		return error;
	error = version_of_strings(file, ret, &found);
	if (error || found)
		return error;
	return error_create(ERROR_UNSUPPORTED,
			    "cannot find the Python version in '%s'",
			    file->path);
}

static struct error *find_layout(struct elf_file *file,
				 struct py_binary *binary)
{
	uint8_t head[PY_DEBUG_OFFSETS_MAX];
	struct bytes bytes = { head, sizeof(head) };
	uint32_t version = binary->version;
	struct error *error;

	if (PY_SERIES(version) < PY_SERIES_DEBUG_OFFSETS ||
	    !py_release_for(version, PY_FOR_WALKER)) {
		error = py_layout_find(version, &binary->layout);
		return absent_is_no_error(error, &binary->has_layout);
	}
	error = elf_file_read_image(file, binary->runtime, head, sizeof(head));
	if (error)
		return absent_is_no_error(error, &binary->has_layout);
	error = py_layout_from_debug_offsets(bytes, version, &binary->layout);
	return absent_is_no_error(error, &binary->has_layout);
}

static struct error *find_code_type(struct elf_file *file, uint64_t *ret)
{
	struct elf_symbol symbol;
	bool found;
	struct error *error = absent_is_no_error(
		elf_file_find_symbol(file, "PyCode_Type", &symbol), &found);

	if (error)
		return error;
	if (!found)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' has no symbol PyCode_Type: even its "
				    "dynamic symbols are stripped",
				    file->path);
	*ret = symbol.vaddr;
	return NULL;
}

static struct error *other_python(struct elf_file *file, const char *what)
{
	char known[PY_RELEASES_TEXT_MAX];

	py_releases_text(PY_FOR_WALKER, known);
	return error_create(ERROR_UNSUPPORTED,
			    "'%s' is %s, which is not supported, only CPython %s",
			    file->path, what, known);
}

/* Why it has neither _PyRuntime nor what CPython had before that. */
static struct error *without_runtime(struct elf_file *file)
{
	if (is_pypy(file))
		return other_python(file, "PyPy");
	return error_create(ERROR_NOT_FOUND,
			    "'%s' is not a CPython interpreter", file->path);
}

bool py_takes_trampolines(struct elf_file *file)
{
	uint32_t version = 0;
	struct error *error = find_version(file, &version);
	bool found = !error;

	error_destroy(error);
	return found && !is_pypy(file) && py_release_for(version, PY_FOR_AGENT);
}

struct error *py_detect(struct elf_file *file,
			const struct py_code_pieces *pieces,
			struct py_binary *ret)
{
	struct py_binary binary = {};
	bool found;
	struct error *error = find_runtime(file, &binary.runtime, &found);

	if (error)
		return error;
	if (!found && !py_old_runtime_maybe(file))
		return without_runtime(file);
	error = elf_file_check_native(file);
	if (error)
		return error;
	error = find_version(file, &binary.version);
	if (error)
		return error;
	if (!found && PY_SERIES(binary.version) >= PY_SERIES_RUNTIME)
		return other_python(file, "a Python without _PyRuntime");
	error = find_layout(file, &binary);
	if (!error && !found)
		error = py_old_runtime_find(file, &binary);
	if (error)
		return error;
	error = find_code_type(file, &binary.code_type);
	if (error)
		return error;
	error = py_eval_find(file, pieces, &binary);
	if (error)
		return error;
	*ret = binary;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "python/layout.h"

#include <stdio.h>
#include <string.h>

/* "3.13.0a1" */
static void version_text(uint32_t version, char *buf, size_t size)
{
	static const char *const levels[16] = {
		[0xa] = "a", [0xb] = "b", [0xc] = "rc"
	};
	const char *level = levels[version >> 4 & 15];
	int n = snprintf(buf, size, "%u.%u.%u", version >> 24,
			 PY_MINOR(version), version >> 8 & 255);

	if (level)
		snprintf(buf + n, size - (size_t)n, "%s%u", level,
			 version & 15);
}

/* Alpha and beta releases had other structures than the final ones. */
static bool is_before_candidate(uint32_t version)
{
	unsigned int level = version >> 4 & 15;

	return level == 0xa || level == 0xb;
}

static struct error *check_version(uint32_t version)
{
	char text[32], known[PY_RELEASES_TEXT_MAX];

	version_text(version, text, sizeof(text));
	py_releases_text(PY_FOR_WALKER, known);
	if (!py_release_for(version, PY_FOR_WALKER))
		return error_create(ERROR_UNSUPPORTED,
				    "Python %s is not supported, only %s", text,
				    known);
	if (is_before_candidate(version))
		return error_create(
			ERROR_UNSUPPORTED,
			"Python %s is not supported: an alpha or beta release",
			text);
	return NULL;
}

struct error *py_layout_find(uint32_t version, struct py_layout *ret)
{
	struct error *error = check_version(version);

	if (error)
		return error;
	if (PY_SERIES(version) >= PY_SERIES_DEBUG_OFFSETS)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "the layout of Python 3.%u is read from "
				    "the target",
				    PY_MINOR(version));
	*ret = py_release_find(version)->layout;
	ret->version = version;
	return NULL;
}

/* A field of struct py_layout that the debug offsets tell. */
struct debug_field {
	size_t offset;
	/* In struct py_debug_slots: its slot, and that of the size of its structure. */
	size_t slot;
	size_t size_slot;
};

#define F(field, size)                                 \
	{                                              \
		offsetof(struct py_layout, field),     \
		offsetof(struct py_debug_slots, field), \
		offsetof(struct py_debug_slots, size)  \
	}

static const struct debug_field debug_fields[] = {
	F(runtime_interpreters, runtime_size),
	F(interp_next, interp_size),
	F(interp_modules, interp_size),
	F(interp_threads, interp_size),
	F(thread_next, thread_size),
	F(thread_frame, thread_size),
	F(thread_base_frame, thread_size),
	F(thread_id, thread_size),
	F(thread_native_id, thread_size),
	F(frame_size, frame_size),
	F(frame_previous, frame_size),
	F(frame_code, frame_size),
	F(frame_instruction, frame_size),
	F(frame_owner, frame_size),
	F(code_filename, code_size),
	F(code_name, code_size),
	F(code_qualname, code_size),
	F(code_lines, code_size),
	F(code_first_line, code_size),
	F(code_adaptive, code_size),
	F(object_type, object_size),
	F(type_name, type_size),
	F(bytes_size, bytes_object_size),
	F(bytes_data, bytes_object_size),
	F(text_state, text_object_size),
	F(text_length, text_object_size),
	F(text_ascii_data, text_object_size),
	F(text_compact_data, text_object_size),
	F(frame_copy, frame_size),
	F(code_copies, code_size),
};

#define DEBUG_FIELDS (sizeof(debug_fields) / sizeof(debug_fields[0]))

static bool read_slot(struct bytes bytes, unsigned int slot, uint64_t *ret)
{
	struct reader r;

	if (!bytes.size)
		return false;
	r = reader_init(bytes.data, bytes.size);
	return reader_skip(&r, slot * sizeof(uint64_t)) && reader_u64(&r, ret);
}

static bool all_zero(struct bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		if (bytes.data[i])
			return false;
	return true;
}

/* The row of a build whose version is supported. */
static struct error *find_row(uint32_t version, bool free_threaded,
			      const struct py_release **ret)
{
	struct py_release_span span = py_releases_free_threaded();
	char text[32], known[32];

	*ret = free_threaded ? py_release_free_threaded(version) :
			       py_release_find(version);
	if (*ret)
		return NULL;
	version_text(version, text, sizeof(text));
	snprintf(known, sizeof(known),
		 span.first == span.last ? "3.%u" : "3.%u to 3.%u", span.first,
		 span.last);
	return error_create(ERROR_UNSUPPORTED,
			    "Python %s is a free-threaded build; of these only %s is supported",
			    text, known);
}

/* Cookie, version, kind of build. */
static struct error *check_debug_head(struct bytes bytes, uint32_t expected,
				      uint32_t *ret,
				      const struct py_release **row)
{
	uint64_t cookie, version, free_threaded;
	struct error *error;
	char text[32];

	if (!read_slot(bytes, PY_SLOT_COOKIE, &cookie) ||
	    !read_slot(bytes, PY_SLOT_VERSION, &version) ||
	    !read_slot(bytes, PY_SLOT_FREE_THREADED, &free_threaded))
		return error_create(ERROR_TRUNCATED,
				    "the debug offsets of _PyRuntime are cut off");
	if (all_zero((struct bytes){ bytes.data, 24 }))
		return error_create(ERROR_NOT_FOUND,
				    "the interpreter has not started yet");
	if (cookie != PY_DEBUG_COOKIE || version > UINT32_MAX)
		return error_create(ERROR_FORMAT,
				    "_PyRuntime has no debug offsets");
	error = check_version((uint32_t)version);
	if (error)
		return error;
	version_text((uint32_t)version, text, sizeof(text));
	if (PY_SERIES(version) < PY_SERIES_DEBUG_OFFSETS ||
	    (expected && version != expected))
		return error_create(ERROR_FORMAT,
				    "the debug offsets of _PyRuntime are those "
				    "of Python %s",
				    text);
	*ret = (uint32_t)version;
	return find_row(*ret, free_threaded, row);
}

static struct error *apply_slot(struct bytes bytes,
				const struct py_debug_slots *slots,
				const struct debug_field *field,
				struct py_layout *layout)
{
	unsigned int slot = ((const uint8_t *)slots)[field->slot];
	unsigned int size_slot = ((const uint8_t *)slots)[field->size_slot];
	uint64_t value, size;
	uint32_t offset;

	if (!slot)
		return NULL;
	if (!read_slot(bytes, slot, &value) ||
	    !read_slot(bytes, size_slot, &size))
		return error_create(ERROR_TRUNCATED,
				    "the debug offsets of _PyRuntime are cut off");
	if (value >= PY_OFFSET_MAX || size > PY_OFFSET_MAX || value > size)
		return error_create(ERROR_FORMAT,
				    "the debug offsets of _PyRuntime are not "
				    "valid: %llu in slot %u",
				    (unsigned long long)value, slot);
	offset = (uint32_t)value;
	memcpy((char *)layout + field->offset, &offset, sizeof(offset));
	return NULL;
}

struct error *py_layout_from_debug_offsets(struct bytes bytes,
					   uint32_t version,
					   struct py_layout *ret)
{
	const struct py_release *release;
	struct py_layout layout;
	struct error *error =
		check_debug_head(bytes, version, &version, &release);

	if (error)
		return error;
	layout = release->layout;
	layout.version = version;
	for (size_t i = 0; i < DEBUG_FIELDS; i++) {
		error = apply_slot(bytes, &release->slots, &debug_fields[i],
				   &layout);
		if (error)
			return error;
	}
	/* The line table is the last field of those that do not change. */
	layout.code_id_end = layout.code_lines + sizeof(uint64_t);
	layout.code_units = layout.bytes_size;
	*ret = layout;
	return NULL;
}

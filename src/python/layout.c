// SPDX-License-Identifier: GPL-2.0-only
#include "python/layout.h"

#include <stdio.h>
#include <string.h>

enum {
	FIRST_MINOR = 8,
	SERIES = 8,
};

/* One field of struct py_layout in each series. */
struct field_row {
	const char *name;
	size_t offset;
	uint32_t values[SERIES];
};

#define NO PY_ABSENT
#define F(field, ...)                                                \
	{                                                            \
		#field, offsetof(struct py_layout, field), { __VA_ARGS__ } \
	}

/*
 * Structures are frozen with the first release candidate of a series, hence one
 * column each; a live process is checked before a row is used. From 3.13
 * on most are overwritten by what the target says.
 */
/* clang-format off */
static const struct field_row field_rows[] = {
	/*                        3.8    3.9   3.10   3.11   3.12   3.13   3.14   3.15 */
	F(runtime_interpreters,    32,    32,    32,    40,    40,   632,   808,   936),
	F(runtime_current,       1368,   568,   568,   576,    NO,    NO,    NO,    NO),
	F(interp_next,              0,     0,     0,     0,     0,  7264,  7272,  7264),
	F(interp_threads,           8,     8,     8,    16,    72,  7344,  7344,  7336),
	F(thread_next,              8,     8,     8,     8,     8,     8,     8,     8),
	F(thread_id,              176,   176,   176,   152,   136,   152,   152,   176),
	F(thread_native_id,        NO,    NO,    NO,   160,   144,   160,   160,   184),
	F(thread_frame,            24,    24,    24,    NO,    NO,    72,    72,    72),
	F(thread_cframe,           NO,    NO,    48,    56,    56,    NO,    NO,    NO),
	F(thread_root_cframe,      NO,    NO,   264,   336,   272,    NO,    NO,    NO),
	F(thread_base_frame,       NO,    NO,    NO,    NO,    NO,    NO,    NO,    80),
	F(cframe_frame,            NO,    NO,    NO,     8,     0,    NO,    NO,    NO),
	F(cframe_previous,         NO,    NO,     8,    16,     8,    NO,    NO,    NO),
	F(frame_previous,          24,    24,    24,    48,     8,     8,     8,     8),
	F(frame_code,              32,    32,    32,    32,     0,     0,     0,     0),
	F(frame_instruction,      104,   104,    96,    56,    56,    56,    56,    56),
	F(frame_owner,             NO,    NO,    NO,    69,    70,    70,    74,    74),
	F(frame_is_entry,          NO,    NO,    NO,    68,    NO,    NO,    NO,    NO),
	F(frame_size,             368,   368,   360,    80,    80,    80,    88,    88),
	F(code_tag_mask,            0,     0,     0,     0,     0,     0,     3,     3),
	F(lasti_unit,               1,     1,     2,    NO,    NO,    NO,    NO,    NO),
	F(shim_owner,              NO,    NO,    NO,    NO,     3,     3,     3,     3),
	F(generator_owner,         NO,    NO,    NO,     1,     1,     1,     1,     1),
	F(object_type,              8,     8,     8,     8,     8,     8,     8,     8),
	F(type_name,               24,    24,    24,    24,    24,    24,    24,    24),
	F(code_filename,          104,   104,   104,   112,   112,   112,   112,   112),
	F(code_name,              112,   112,   112,   120,   120,   120,   120,   120),
	F(code_qualname,           NO,    NO,    NO,   128,   128,   128,   128,   128),
	F(code_lines,             120,   120,   120,   136,   136,   136,   136,   136),
	F(code_first_line,         40,    40,    40,    72,    68,    68,    68,    68),
	F(code_flags,              36,    36,    36,    48,    48,    48,    48,    48),
	F(code_adaptive,           NO,    NO,    NO,   184,   192,   200,   208,   208),
	F(code_bytes,              48,    48,    48,    NO,    NO,    NO,    NO,    NO),
	F(code_units,              NO,    NO,    NO,    16,    16,    16,    16,    16),
	F(code_version,            NO,    NO,    NO,    NO,    92,    92,    92,    92),
	F(code_id_start,           16,    16,    16,    24,    24,    24,    24,    24),
	F(code_id_end,            128,   128,   128,   144,   144,   144,   144,   144),
	F(code_id_hole_start,       0,     0,     0,    52,     0,     0,     0,     0),
	F(code_id_hole_end,         0,     0,     0,    56,     0,     0,     0,     0),
	F(text_length,             16,    16,    16,    16,    16,    16,    16,    16),
	F(text_state,              32,    32,    32,    32,    32,    32,    32,    32),
	F(text_ascii_data,         48,    48,    48,    48,    40,    40,    40,    40),
	F(text_compact_data,       72,    72,    72,    72,    56,    56,    56,    56),
	F(text_data_pointer,       72,    72,    72,    72,    56,    56,    56,    56),
	F(text_kind_shift,          2,     2,     2,     2,     2,     2,     2,     2),
	F(text_compact_mask,       32,    32,    32,    32,    32,    32,    32,    32),
	F(text_ascii_mask,         64,    64,    64,    64,    64,    64,    64,    64),
	F(bytes_size,              16,    16,    16,    16,    16,    16,    16,    16),
	F(bytes_data,              32,    32,    32,    32,    32,    32,    32,    32),
};
/* clang-format on */

static const uint32_t series_flags[SERIES] = {
	PY_FRAME_OBJECTS | PY_LASTI,
	PY_FRAME_OBJECTS | PY_LASTI,
	PY_FRAME_OBJECTS | PY_LASTI | PY_CFRAMES,
	PY_FRAME_VIA_CFRAME | PY_ENTRY_FLAG | PY_PREVIOUS_INSTRUCTION |
		PY_CFRAMES,
	PY_FRAME_VIA_CFRAME | PY_SHIM_FRAMES | PY_PREVIOUS_INSTRUCTION |
		PY_CFRAMES,
	PY_SHIM_FRAMES,
	PY_SHIM_FRAMES,
	PY_SHIM_FRAMES,
};

static const uint32_t series_lines[SERIES] = {
	PY_LINES_LNOTAB,    PY_LINES_LNOTAB,	PY_LINES_PAIRS,
	PY_LINES_LOCATIONS, PY_LINES_LOCATIONS, PY_LINES_LOCATIONS,
	PY_LINES_LOCATIONS, PY_LINES_LOCATIONS,
};

#define FIELD_ROWS (sizeof(field_rows) / sizeof(field_rows[0]))

static void set_field(struct py_layout *layout, size_t offset, uint32_t value)
{
	memcpy((char *)layout + offset, &value, sizeof(value));
}

uint32_t py_layout_field_value(const struct py_layout *layout, size_t offset)
{
	uint32_t value;

	memcpy(&value, (const char *)layout + offset, sizeof(value));
	return value;
}

size_t py_layout_field_count(void)
{
	return FIELD_ROWS;
}

struct py_layout_field py_layout_field_at(size_t i)
{
	return (struct py_layout_field){ field_rows[i].name,
					 field_rows[i].offset };
}

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
	char text[32];

	version_text(version, text, sizeof(text));
	if (PY_SERIES(version) < PY_SERIES_MIN ||
	    PY_SERIES(version) > PY_SERIES_MAX)
		return error_create(
			ERROR_UNSUPPORTED,
			"Python %s is not supported, only 3.%u to 3.%u", text,
			PY_MINOR(PY_SERIES_MIN), PY_MINOR(PY_SERIES_MAX));
	if (is_before_candidate(version))
		return error_create(
			ERROR_UNSUPPORTED,
			"Python %s is not supported: an alpha or beta release",
			text);
	return NULL;
}

static void fill_row(uint32_t version, struct py_layout *ret)
{
	unsigned int series = PY_MINOR(version) - FIRST_MINOR;

	_Static_assert(sizeof(*ret) == (FIELD_ROWS + 3) * sizeof(uint32_t),
		       "every field but version, flags, lines_format has a row");
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < FIELD_ROWS; i++)
		set_field(ret, field_rows[i].offset,
			  field_rows[i].values[series]);
	ret->version = version;
	ret->flags = series_flags[series];
	ret->lines_format = series_lines[series];
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
	fill_row(version, ret);
	return NULL;
}

/*
 * struct _Py_DebugOffsets as an array of u64: the place of each number that is
 * used, in 3.13, 3.14 and 3.15; 0: not there.
 */
enum {
	SLOT_COOKIE = 0,
	SLOT_VERSION = 1,
	SLOT_FREE_THREADED = 2,
	DEBUG_SERIES = 3,
};

#define DEBUG_COOKIE 0x7970677562656478ull /* "xdebugpy" */

struct debug_slot {
	/* Of the field in struct py_layout. */
	size_t offset;
	uint8_t slots[DEBUG_SERIES];
	/* The structure's own size, which bounds the offset; 0: no bound. */
	uint8_t size_slots[DEBUG_SERIES];
};

#define S(field, ...)                                     \
	{                                                 \
		offsetof(struct py_layout, field), __VA_ARGS__ \
	}

/* clang-format off */
static const struct debug_slot debug_slots[] = {
	/*                           3.13 3.14 3.15     size of */
	S(runtime_interpreters, {  5,  5,  5 }, {  3,  3,  3 }),
	S(interp_next,          {  8,  8,  8 }, {  6,  6,  6 }),
	S(interp_threads,       {  9,  9,  9 }, {  6,  6,  6 }),
	S(thread_next,          { 21, 24, 24 }, { 19, 22, 22 }),
	S(thread_frame,         { 23, 26, 26 }, { 19, 22, 22 }),
	S(thread_base_frame,    {  0,  0, 27 }, {  0,  0, 22 }),
	S(thread_id,            { 24, 27, 30 }, { 19, 22, 22 }),
	S(thread_native_id,     { 25, 28, 31 }, { 19, 22, 22 }),
	S(frame_size,           { 28, 31, 39 }, {  0,  0,  0 }),
	S(frame_previous,       { 29, 32, 40 }, { 28, 31, 39 }),
	S(frame_code,           { 30, 33, 41 }, { 28, 31, 39 }),
	S(frame_instruction,    { 31, 34, 42 }, { 28, 31, 39 }),
	S(frame_owner,          { 33, 36, 44 }, { 28, 31, 39 }),
	S(code_filename,        { 35, 40, 48 }, { 34, 39, 47 }),
	S(code_name,            { 36, 41, 49 }, { 34, 39, 47 }),
	S(code_qualname,        { 37, 42, 50 }, { 34, 39, 47 }),
	S(code_lines,           { 38, 43, 51 }, { 34, 39, 47 }),
	S(code_first_line,      { 39, 44, 52 }, { 34, 39, 47 }),
	S(code_adaptive,        { 43, 48, 56 }, { 34, 39, 47 }),
	S(object_type,          { 45, 51, 59 }, { 44, 50, 58 }),
	S(type_name,            { 47, 53, 61 }, { 46, 52, 60 }),
	S(bytes_size,           { 65, 75, 87 }, { 64, 74, 86 }),
	S(bytes_data,           { 66, 76, 88 }, { 64, 74, 86 }),
	S(text_state,           { 68, 78, 90 }, { 67, 77, 89 }),
	S(text_length,          { 69, 79, 91 }, { 67, 77, 89 }),
	S(text_ascii_data,      { 70, 80, 92 }, { 67, 77, 89 }),
	S(text_compact_data,    {  0,  0, 93 }, { 67, 77, 89 }),
};
/* clang-format on */

#define DEBUG_SLOTS (sizeof(debug_slots) / sizeof(debug_slots[0]))
/* Offsets that code reads as one piece stay below this. */
#define OFFSET_MAX (1u << 20)

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

/* Cookie, version, kind of build. */
static struct error *check_debug_head(struct bytes bytes, uint32_t expected,
				      uint32_t *ret)
{
	uint64_t cookie, version, free_threaded;
	struct error *error;
	char text[32];

	if (!read_slot(bytes, SLOT_COOKIE, &cookie) ||
	    !read_slot(bytes, SLOT_VERSION, &version) ||
	    !read_slot(bytes, SLOT_FREE_THREADED, &free_threaded))
		return error_create(ERROR_TRUNCATED,
				    "the debug offsets of _PyRuntime are cut off");
	if (all_zero((struct bytes){ bytes.data, 24 }))
		return error_create(ERROR_NOT_FOUND,
				    "the interpreter has not started yet");
	if (cookie != DEBUG_COOKIE || version > UINT32_MAX)
		return error_create(ERROR_FORMAT,
				    "_PyRuntime has no debug offsets");
	error = check_version((uint32_t)version);
	if (error)
		return error;
	version_text((uint32_t)version, text, sizeof(text));
	if (free_threaded)
		return error_create(ERROR_UNSUPPORTED,
				    "Python %s is a free-threaded build, whose "
				    "frames kaa cannot read",
				    text);
	if (PY_SERIES(version) < PY_SERIES_DEBUG_OFFSETS ||
	    (expected && version != expected))
		return error_create(ERROR_FORMAT,
				    "the debug offsets of _PyRuntime are those "
				    "of Python %s",
				    text);
	*ret = (uint32_t)version;
	return NULL;
}

static struct error *apply_slot(struct bytes bytes, unsigned int series,
				const struct debug_slot *slot,
				struct py_layout *layout)
{
	uint64_t value, size = OFFSET_MAX;

	if (!slot->slots[series])
		return NULL;
	if (!read_slot(bytes, slot->slots[series], &value) ||
	    (slot->size_slots[series] &&
	     !read_slot(bytes, slot->size_slots[series], &size)))
		return error_create(ERROR_TRUNCATED,
				    "the debug offsets of _PyRuntime are cut off");
	if (value >= OFFSET_MAX || size > OFFSET_MAX || value > size)
		return error_create(ERROR_FORMAT,
				    "the debug offsets of _PyRuntime are not "
				    "valid: %llu in slot %u",
				    (unsigned long long)value,
				    slot->slots[series]);
	set_field(layout, slot->offset, (uint32_t)value);
	return NULL;
}

struct error *py_layout_from_debug_offsets(struct bytes bytes,
					   uint32_t version,
					   struct py_layout *ret)
{
	unsigned int series;
	struct py_layout layout;
	struct error *error = check_debug_head(bytes, version, &version);

	if (error)
		return error;
	fill_row(version, &layout);
	series = PY_MINOR(version) - PY_MINOR(PY_SERIES_DEBUG_OFFSETS);
	for (size_t i = 0; i < DEBUG_SLOTS; i++) {
		error = apply_slot(bytes, series, &debug_slots[i], &layout);
		if (error)
			return error;
	}
	/* The line table is the last field of those that do not change. */
	layout.code_id_end = layout.code_lines + sizeof(uint64_t);
	layout.code_units = layout.bytes_size;
	*ret = layout;
	return NULL;
}

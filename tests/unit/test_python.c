// SPDX-License-Identifier: GPL-2.0-only
/*
 * Line tables, names, layouts and versions on small and on hostile inputs. The
 * live tests hold the same code against real interpreters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/code_name.h"
#include "python/code_version.h"
#include "python/layout.h"
#include "python/linetable.h"
#include "python/states.h"
#include "python/version.h"
#include "assert_ok.h"

#define BYTES(...)                                             \
	((struct bytes){ (const uint8_t[]){ __VA_ARGS__ },     \
			 sizeof((const uint8_t[]){ __VA_ARGS__ }) })

/* --- line tables --- */

static void test_lnotab_reaches_to_the_end(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	/* 6 bytes of line 10, 300 bytes of line 12 (in two steps), line 9. */
	assert_null(py_lines_decode(PY_LINES_LNOTAB, 10,
				    BYTES(6, 2, 255, 0, 45, 0xfd), &lines));
	assert_int_equal(py_lines_find(&lines, 0), 10);
	assert_int_equal(py_lines_find(&lines, 5), 10);
	assert_int_equal(py_lines_find(&lines, 6), 12);
	assert_int_equal(py_lines_find(&lines, 305), 12);
	assert_int_equal(py_lines_find(&lines, 306), 9);
	assert_int_equal(py_lines_find(&lines, 1000000), 9);
	assert_int_equal(py_lines_find(&lines, -1), 0);
	assert_int_equal(lines.line_count, 3);
	assert_int_equal(lines.lines[0], 9);
	assert_int_equal(py_lines_slot(&lines, 9), 1);
	assert_int_equal(py_lines_slot(&lines, 12), 3);
	assert_int_equal(py_lines_slot(&lines, 11), 0);
	assert_int_equal(py_lines_slot(&lines, 0), 0);
}

static void test_pairs_know_code_without_line(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	/* 4 bytes of line 5, 2 of none, 4 of line 6. */
	assert_null(py_lines_decode(PY_LINES_PAIRS, 5,
				    BYTES(4, 0, 2, 0x80, 4, 1), &lines));
	assert_int_equal(lines.range_count, 3);
	assert_int_equal(py_lines_find(&lines, 2), 5);
	assert_int_equal(py_lines_find(&lines, 4), 0);
	assert_int_equal(py_lines_find(&lines, 6), 6);
	assert_int_equal(py_lines_find(&lines, 10), 0);
}

static void test_none_does_not_disturb_the_running_line(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	/*
	 * ONE_LINE +2 (2 units), NONE (1), SHORT (1), LONG with -1 and columns
	 * (1), NO_COLUMNS with +70 (8).
	 */
	assert_null(py_lines_decode(PY_LINES_LOCATIONS, 100,
				    BYTES(0x80 | 12 << 3 | 1, 0, 4,
					  0x80 | 15 << 3, 0x80 | 2 << 3, 0x11,
					  0x80 | 14 << 3, 0x03, 0x01, 0x05, 0x06,
					  0x80 | 13 << 3 | 7, 0x4c, 0x02),
				    &lines));
	assert_int_equal(py_lines_find(&lines, 0), 102);
	assert_int_equal(py_lines_find(&lines, 4), 0);
	assert_int_equal(py_lines_find(&lines, 6), 102);
	assert_int_equal(py_lines_find(&lines, 8), 101);
	assert_int_equal(py_lines_find(&lines, 10), 171);
	assert_int_equal(py_lines_find(&lines, 24), 171);
	assert_int_equal(py_lines_find(&lines, 26), 0);
}

static void test_damaged_tables_are_errors(void **state)
{
	struct py_lines lines = {};

	(void)state;
	assert_fails(py_lines_decode(PY_LINES_PAIRS, 1, BYTES(4, 0, 2), &lines),
		     ERROR_TRUNCATED);
	assert_fails(py_lines_decode(PY_LINES_LOCATIONS, 1, BYTES(0x11), &lines),
		     ERROR_FORMAT);
	assert_fails(py_lines_decode(PY_LINES_LOCATIONS, 1,
				     BYTES(0x80 | 14 << 3, 0x7f, 0x7f), &lines),
		     ERROR_FORMAT);
	assert_fails(py_lines_decode(0, 1, BYTES(0), &lines),
		     ERROR_INVALID_ARGUMENT);
	assert_null(lines.ranges);
}

static void test_no_table_has_no_lines(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	assert_null(py_lines_decode(PY_LINES_LOCATIONS, 1, (struct bytes){},
				    &lines));
	assert_int_equal(lines.line_count, 0);
	assert_int_equal(py_lines_find(&lines, 0), 0);
	assert_int_equal(py_lines_slot(&lines, 1), 0);
}

static void test_lines_that_are_none_count_as_none(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	/* Line 3, then -1, then 2 again. */
	assert_null(py_lines_decode(PY_LINES_LNOTAB, 3,
				    BYTES(2, 0xfc, 2, 3), &lines));
	assert_int_equal(py_lines_find(&lines, 0), 3);
	assert_int_equal(py_lines_find(&lines, 2), 0);
	assert_int_equal(py_lines_find(&lines, 4), 2);
}

/* 2.7: no line is before the one of the bytes before. */
static void test_lines_without_a_sign(void **state)
{
	_cleanup_py_lines_ struct py_lines lines = {};

	(void)state;
	assert_null(py_lines_decode(PY_LINES_UNSIGNED, 3,
				    BYTES(3, 0xfc, 0, 2, 1, 0), &lines));
	assert_int_equal(py_lines_find(&lines, 2), 3);
	assert_int_equal(py_lines_find(&lines, 3), 3 + 0xfc + 2);
	assert_int_equal(py_lines_find(&lines, 1000), 3 + 0xfc + 2);
}

/* --- names --- */

static void expect_text(struct bytes text, unsigned int kind, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	py_text_append(&out, text, kind);
	assert_string_equal(out.data, want);
}

static void test_text_of_each_kind(void **state)
{
	(void)state;
	expect_text(BYTES('f', 'o', 'o'), 1, "foo");
	expect_text(BYTES(0xe9, 0xff), 1, "\xc3\xa9\xc3\xbf");
	expect_text(BYTES(0xac, 0x20, 'x', 0), 2, "\xe2\x82\xacx");
	expect_text(BYTES(0x0d, 0xf4, 0x01, 0), 4, "\xf0\x9f\x90\x8d");
	/* Half a character; no such kind. */
	expect_text(BYTES('a', 0, 'b'), 2, "a");
	expect_text(BYTES('a'), 3, "");
	expect_text((struct bytes){}, 1, "");
}

static void test_text_is_one_line_of_valid_utf8(void **state)
{
	(void)state;
	expect_text(BYTES('a', '\n', 0, 0x1b, 0x7f, 0x9b), 1,
		    "a\\x0a\\x00\\x1b\\x7f\\x9b");
	/* A lone surrogate, as surrogateescape makes them. */
	expect_text(BYTES(0x80, 0xdc), 2, "\\udc80");
	expect_text(BYTES(0, 0xd8, 0, 0), 4, "\\ud800");
	expect_text(BYTES(0, 0, 0x11, 0), 4, "\\U00110000");
}

static void test_text_is_cut_between_characters(void **state)
{
	static const char *const want[] = { "", ".", "..", "...", "...",
					    "\xc3\xa9...", "\xc3\xa9...",
					    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9" };

	(void)state;
	for (size_t max = 0; max <= 7; max++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		strbuf_puts(&out, "=");
		py_text_append_max(&out, BYTES(0xe9, 0xe9, 0xe9, 0xe9), 1,
				   max == 7 ? 8 : max);
		assert_string_equal(out.data + 1, want[max]);
	}
}

static void expect_utf8(struct bytes text, size_t max, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	py_text_append_utf8(&out, text, max);
	assert_string_equal(out.data, want);
}

static void test_text_that_claims_to_be_utf8(void **state)
{
	(void)state;
	expect_utf8(BYTES('a', 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x90, 0x8d), 99,
		    "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d");
	/* Controls; a byte alone; a cut character; overlong; a surrogate; beyond Unicode. */
	expect_utf8(BYTES('\n', 0xc2, 0x9b), 99, "\\x0a\\x9b");
	expect_utf8(BYTES(0x80, 'b', 0xff), 99, "\\x80b\\xff");
	expect_utf8(BYTES(0xe2, 0x82), 99, "\\xe2\\x82");
	expect_utf8(BYTES(0xc0, 0xaf), 99, "\\xc0\\xaf");
	expect_utf8(BYTES(0xed, 0xa0, 0x80), 99, "\\xed\\xa0\\x80");
	expect_utf8(BYTES(0xf4, 0x90, 0x80, 0x80), 99, "\\xf4\\x90\\x80\\x80");
	expect_utf8(BYTES('a', 'b', 'c', 'd', 'e'), 4, "a...");
	expect_utf8((struct bytes){}, 4, "");
}

static void test_internal_code(void **state)
{
	(void)state;
	assert_true(py_code_is_internal("__init__", "__init__"));
	assert_false(py_code_is_internal("/x/__init__.py", "__init__"));
	assert_false(py_code_is_internal("__init__", "A.__init__"));
}

/* --- layouts --- */

static void test_layout_of_known_releases(void **state)
{
	struct py_layout layout;

	(void)state;
	assert_null(py_layout_find(0x030801f0, &layout));
	assert_int_equal(layout.version, 0x030801f0);
	assert_int_equal(layout.thread_frame, 24);
	assert_int_equal(layout.code_qualname, PY_ABSENT);
	assert_int_equal(layout.flags, PY_FRAME_OBJECTS | PY_LASTI);
	assert_null(py_layout_find(0x030c00c1, &layout));
	assert_int_equal(layout.interp_threads, 72);
}

/* Each version from the first on, and what a row has to have for its uses. */
static void test_releases_are_whole(void **state)
{
	struct py_release_span agent = py_releases_for(PY_FOR_AGENT);
	struct py_release_span walker = py_releases_for(PY_FOR_WALKER);
	struct py_release_span activate = py_releases_for(PY_FOR_ACTIVATE);

	(void)state;
	assert_true(agent.first <= walker.first && walker.first <= activate.first);
	assert_true(agent.last == walker.last && walker.last == activate.last);
	for (unsigned int minor = agent.first; minor <= agent.last; minor++) {
		uint32_t version = 0x030000f0u | minor << 16;
		const struct py_release *r = py_release_find(version);
		bool told = version >= PY_SERIES_DEBUG_OFFSETS;

		assert_non_null(r);
		assert_true(r == py_release_for(version, PY_FOR_AGENT));
		assert_int_equal(!!(r->uses & PY_FOR_WALKER), minor >= walker.first);
		assert_int_equal(!!(r->uses & PY_FOR_ACTIVATE), minor >= activate.first);
		assert_int_equal(r->layout.version, 0);
		assert_true(r->layout.flags && r->layout.lines_format);
		assert_int_equal(r->layout.code_bytes == PY_ABSENT, minor > 10);
		/* What the walk takes for granted of all (bpf/walk.h). */
		assert_true(r->layout.code_id_start <= 24);
		assert_true(r->layout.code_id_end >= 112 && r->layout.code_id_end <= 144);
		assert_true(r->layout.code_version == PY_ABSENT ?
				    minor < 12 :
				    r->layout.code_version >= 24 &&
					    r->layout.code_version <= 96 - 4);
		assert_int_equal(!r->slots.frame_code, !told);
		assert_int_equal(r->slots.runtime_size, told ? PY_SLOT_RUNTIME_SIZE : 0);
		assert_int_equal(r->slots.runtime_interpreters,
				 told ? PY_SLOT_RUNTIME_INTERPRETERS : 0);
		assert_int_equal(!r->slots.remote_script, minor < 14);
		assert_int_equal(r->hook.interp_eval_frame == PY_ABSENT, minor > 8);
	}
	assert_null(py_release_find(0x030000f0u | (agent.first - 1) << 16));
	assert_null(py_release_find(0x030000f0u | (agent.last + 1) << 16));
	assert_null(py_release_find(0x020c01f0u));
}

/* Of Python 2 there is 2.7, for the walker. */
static void test_release_of_python_2(void **state)
{
	const struct py_release *r = py_release_for(0x020712f0u, PY_FOR_WALKER);
	char text[PY_RELEASES_TEXT_MAX], expected[PY_RELEASES_TEXT_MAX];
	struct py_release_span walker = py_releases_for(PY_FOR_WALKER);

	(void)state;
	assert_non_null(r);
	assert_null(py_release_for(0x020712f0u, PY_FOR_AGENT));
	assert_true(r->layout.code_id_start <= 24 && r->layout.code_id_end >= 112);
	py_releases_text(PY_FOR_WALKER, text);
	snprintf(expected, sizeof(expected), "2.7 and 3.%u to 3.%u",
		 walker.first, walker.last);
	assert_string_equal(text, expected);
	py_releases_text(PY_FOR_AGENT, text);
	assert_true(text[0] == '3');
}

/* What the walk takes for granted of them; 16 bytes stand before everything of an object. */
static void test_free_threaded_releases_are_whole(void **state)
{
	struct py_release_span span = py_releases_free_threaded();

	(void)state;
	assert_true(span.first >= 13 && span.first <= span.last);
	for (unsigned int minor = span.first; minor <= span.last; minor++) {
		uint32_t version = 0x030000f0u | minor << 16;
		const struct py_release *r = py_release_free_threaded(version);
		const struct py_release *gil = py_release_find(version);

		assert_non_null(r);
		assert_int_equal(r->uses, PY_FOR_WALKER);
		assert_int_equal(r->layout.flags, gil->layout.flags | PY_FREE_THREADED);
		assert_int_equal(r->layout.code_version, gil->layout.code_version + 16);
		assert_true(r->layout.code_version <= 112 - 4);
		assert_int_equal(r->layout.code_id_start, 24);
		assert_int_equal(r->layout.code_id_end, gil->layout.code_id_end + 16);
		assert_true(r->layout.code_id_end <= 160);
		assert_int_equal(r->objects.dict_keys, gil->objects.dict_keys + 16);
		assert_int_equal(!r->slots.frame_copy, minor < 14);
		assert_int_equal(!r->slots.code_copies, minor < 14);
		assert_int_equal(gil->slots.frame_copy, 0);
	}
	assert_null(py_release_free_threaded(0x030000f0u | (span.first - 1) << 16));
	assert_null(py_release_free_threaded(0x030000f0u | (span.last + 1) << 16));
}

static void test_layout_of_other_releases(void **state)
{
	struct py_layout layout;

	(void)state;
	assert_fails(py_layout_find(0x030502f0, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0x020609f0, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0x031000f0, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0x040800f0, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0x030b00a1, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0, &layout), ERROR_UNSUPPORTED);
	assert_fails(py_layout_find(0x030d00f0, &layout),
		     ERROR_INVALID_ARGUMENT);
}

static bool read_nothing(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)arg;
	(void)address;
	(void)buf;
	(void)size;
	return false;
}

/* Every word of memory is the same one. */
static bool read_same(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)address;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buf)[i] = ((const uint8_t *)arg)[i % 8];
	return true;
}

static void test_memory_that_is_no_interpreter_is_refused(void **state)
{
	static uint64_t words[] = { 0x10000, 0x656f6300ul, ~0ul,
				    0x65646f63 /* "code" */, 1 };
	struct py_memory memory = { read_nothing, NULL };
	struct py_layout layout;
	struct error *error;

	(void)state;
	assert_null(py_layout_find(0x030b02f0, &layout));
	assert_fails(py_layout_validate(&layout, &memory, 0x1000, 0x2000, NULL),
		     ERROR_FAULT);
	memory.read = read_same;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		memory.arg = &words[i];
		assert_fails(py_layout_validate(&layout, &memory, 0x1000,
						0x2000, NULL),
			     ERROR_FORMAT);
	}
	memory.arg = &(uint64_t){ 0 };
	error = py_layout_validate(&layout, &memory, 0x1000, 0x2000, NULL);
	assert_fails(error, ERROR_NOT_FOUND);
}

/* --- versions --- */

static void expect_version(const char *data, size_t size, uint32_t want)
{
	uint32_t version = 0;
	struct bytes bytes = { (const uint8_t *)data, size };

	assert_int_equal(py_version_from_strings(bytes, &version), want != 0);
	assert_int_equal(version, want);
}

#define EXPECT_VERSION(text, want) \
	expect_version(text, sizeof(text) - 1, want)

static void test_version_from_strings(void **state)
{
	(void)state;
	EXPECT_VERSION("x\0cpython-38\0003.8.18\0y", 0x030812f0);
	EXPECT_VERSION("cpython-310\0Python 3.10.0rc2\0", 0x030a00c2);
	EXPECT_VERSION("cpython-39\0003.9.2+\0", 0x030902f0);
	/* Others' versions; the series alone. */
	EXPECT_VERSION("cpython-38\00013.8.1\0002.3.8.7\0003.8.1-x\0003.40.1\0",
		       0x030800f0);
	EXPECT_VERSION("cpython-38\0003.8.1\0003.8.2\0", 0x030800f0);
	EXPECT_VERSION("cpython-38\0003.8.1", 0x030800f0);
	EXPECT_VERSION("cpython-38\0cpython-39\0003.8.1\0", 0);
	EXPECT_VERSION("cpython-3", 0);
	EXPECT_VERSION("3.8.1\0", 0);
	EXPECT_VERSION("", 0);
}

static void test_version_2_from_strings(void **state)
{
	static const char text[] = "12.7.1\0/opt/2.7.18\0002.7\0002.7.9-x\0";
	static const char two[] = "2.7.17\0002.7.18\0", six[] = "2.6.9\0";
	uint32_t version = 0;

	(void)state;
	assert_true(py_version_2_from_strings(
		(struct bytes){ (const uint8_t *)text, sizeof(text) }, &version));
	assert_int_equal(version, 0x020712f0);
	assert_false(py_version_2_from_strings(
		(struct bytes){ (const uint8_t *)two, sizeof(two) }, &version));
	assert_false(py_version_2_from_strings(
		(struct bytes){ (const uint8_t *)six, sizeof(six) }, &version));
	assert_false(py_version_2_from_strings((struct bytes){}, &version));
}

/* From 3.13 on only where no other program could begin the runtime again. */
static void test_where_versions_tell(void **state)
{
	struct py_layout layout = { .version = 0x030b00f0, .code_version = PY_ABSENT };

	(void)state;
	assert_false(py_versions_tell(&layout, "/usr/bin/python3.11"));
	layout = (struct py_layout){ .version = 0x030c01f0, .code_version = 92 };
	assert_true(py_versions_tell(&layout, "/usr/bin/python3.12"));
	assert_true(py_versions_tell(&layout, "/usr/bin/blender"));
	layout.version = 0x030d00f0;
	assert_true(py_versions_tell(&layout, "/usr/bin/python3.13"));
	assert_true(py_versions_tell(&layout, "/opt/python/bin/python"));
	assert_true(py_versions_tell(&layout, "python3.13td"));
	assert_false(py_versions_tell(&layout, "/usr/bin/blender"));
	assert_false(py_versions_tell(&layout, "/opt/python3.13/host"));
	assert_false(py_versions_tell(&layout, "/usr/bin/python-host"));
	assert_false(py_versions_tell(&layout, "/usr/bin/python3.13 (deleted)"));
	assert_false(py_versions_tell(&layout, ""));
}

/* --- threads of musl --- */

/* Three of its structs, one after the other: each begins with its own address. */
struct musl_threads {
	uint64_t at;
	uint8_t bytes[3][128];
};

static bool read_musl(void *arg, uint64_t address, void *buf, size_t size)
{
	struct musl_threads *threads = arg;

	if (address < threads->at ||
	    address + size > threads->at + sizeof(threads->bytes))
		return false;
	memcpy(buf, (uint8_t *)threads->bytes + (address - threads->at), size);
	return true;
}

static void put_musl_thread(struct musl_threads *threads, int i, size_t place,
			    int32_t tid)
{
	uint64_t self = threads->at + sizeof(threads->bytes[0]) * i;

	memcpy(threads->bytes[i], &self, sizeof(self));
	memcpy(threads->bytes[i] + place, &tid, sizeof(tid));
}

static void test_threads_of_musl(void **state)
{
	struct musl_threads threads = { .at = 0x7f0000001000 };
	const struct py_memory memory = { read_musl, &threads, NULL };
	struct py_state list[] = {
		/* Not there, glibc's, 1.2's, 1.1's. */
		{ .thread_id = 0x1000 },
		{ .thread_id = threads.at },
		{ .thread_id = threads.at + 128 },
		{ .thread_id = threads.at + 256 },
	};
	const struct py_state_list states = { .data = list, .count = 4 };

	(void)state;
	put_musl_thread(&threads, 0, 0x30, 4711);
	memset(threads.bytes[0], 0, 8);
	put_musl_thread(&threads, 1, 0x30, 4711);
	put_musl_thread(&threads, 2, 0x38, 4712);
	assert_int_equal(py_states_thread(&states, &memory, 4711),
			 threads.at + 128);
	assert_int_equal(py_states_thread(&states, &memory, 4712),
			 threads.at + 256);
	assert_int_equal(py_states_thread(&states, &memory, 4713), 0);
	assert_int_equal(py_states_thread(&states, &memory, -1), 0);
}

/* --- whose a state is, before 3.10 --- */

/* _PyRuntime, two interpreters and up to five states, of eight words each. */
enum { WORDS = 8, MAIN = 1, GUEST = 2, STATES = 3, OBJECTS = STATES + 5 };
struct made_states {
	uint64_t words[OBJECTS][WORDS];
};

static uint64_t address_of(int object)
{
	return 0x10000 + object * sizeof(uint64_t[WORDS]);
}

static bool read_made(void *arg, uint64_t address, void *buf, size_t size)
{
	const struct made_states *made = arg;

	if (address < 0x10000 || address + size > address_of(OBJECTS))
		return false;
	memcpy(buf, (const uint8_t *)made->words + (address - 0x10000), size);
	return true;
}

/* Words: the next one; what the interpreter or state has first; whose it is. */
static const struct py_layout made_layout = {
	.flags = PY_FRAME_OBJECTS,
	.runtime_interpreters = 0,
	.runtime_current = 8,
	.interp_next = 0,
	.interp_threads = 8,
	.thread_next = 0,
	.thread_frame = 8,
	.thread_id = 16,
};

/* The newest of an interpreter is its first. */
static void put_state(struct made_states *made, int state, int interp,
		      uint64_t ident, bool runs)
{
	made->words[state][0] = made->words[interp][1];
	made->words[state][1] = runs;
	made->words[state][2] = ident;
	made->words[interp][1] = address_of(state);
}

static enum py_states_tell told(struct made_states *made, uint64_t ident)
{
	const struct py_memory memory = { read_made, made, NULL };

	return py_states_tell(&made_layout, &memory, address_of(0), ident);
}

/* Threads A and B have states of the main interpreter, and A has made a guest. */
static void test_whose_states_run(void **state)
{
	enum { A = 0xa000, B = 0xb000 };
	struct made_states made = {};

	(void)state;
	put_state(&made, STATES, MAIN, A, true);
	put_state(&made, STATES + 1, MAIN, B, false);
	made.words[0][0] = address_of(MAIN);
	assert_int_equal(told(&made, A), PY_STATES_ALL);
	put_state(&made, STATES + 2, GUEST, A, false);
	made.words[0][0] = address_of(GUEST);
	made.words[GUEST][0] = address_of(MAIN);
	assert_int_equal(told(&made, A), PY_STATES_ALL);
	assert_int_equal(told(&made, B), PY_STATES_ALL);
	/* The guest runs, and nobody but A could do so. */
	made.words[STATES + 2][1] = true;
	assert_int_equal(told(&made, A), PY_STATES_INNER);
	/* B could, too. */
	made.words[STATES + 1][1] = true;
	assert_int_equal(told(&made, A), PY_STATES_NOTHING);
	assert_int_equal(told(&made, B), PY_STATES_NOTHING);
	/* Whoever has the GIL in the main interpreter does not. */
	made.words[0][1] = address_of(STATES + 1);
	assert_int_equal(told(&made, B), PY_STATES_ALL);
	assert_int_equal(told(&made, A), PY_STATES_NOTHING);
	made.words[0][1] = address_of(STATES + 2);
	assert_int_equal(told(&made, A), PY_STATES_NOTHING);
	assert_int_equal(told(&made, B), PY_STATES_NOTHING);
	/* Of both threads only the guest's state runs: A's, or A is not in it. */
	made.words[STATES][1] = false;
	assert_int_equal(told(&made, A), PY_STATES_NOTHING);
	made.words[STATES + 1][1] = false;
	assert_int_equal(told(&made, A), PY_STATES_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_states_run),
		cmocka_unit_test(test_threads_of_musl),
		cmocka_unit_test(test_lnotab_reaches_to_the_end),
		cmocka_unit_test(test_pairs_know_code_without_line),
		cmocka_unit_test(test_none_does_not_disturb_the_running_line),
		cmocka_unit_test(test_damaged_tables_are_errors),
		cmocka_unit_test(test_no_table_has_no_lines),
		cmocka_unit_test(test_lines_that_are_none_count_as_none),
		cmocka_unit_test(test_lines_without_a_sign),
		cmocka_unit_test(test_text_of_each_kind),
		cmocka_unit_test(test_text_is_one_line_of_valid_utf8),
		cmocka_unit_test(test_text_is_cut_between_characters),
		cmocka_unit_test(test_text_that_claims_to_be_utf8),
		cmocka_unit_test(test_internal_code),
		cmocka_unit_test(test_layout_of_known_releases),
		cmocka_unit_test(test_releases_are_whole),
		cmocka_unit_test(test_release_of_python_2),
		cmocka_unit_test(test_free_threaded_releases_are_whole),
		cmocka_unit_test(test_layout_of_other_releases),
		cmocka_unit_test(test_memory_that_is_no_interpreter_is_refused),
		cmocka_unit_test(test_version_from_strings),
		cmocka_unit_test(test_version_2_from_strings),
		cmocka_unit_test(test_where_versions_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

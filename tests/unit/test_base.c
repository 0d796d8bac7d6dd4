// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/map.h"
#include "base/python_command.h"
#include "base/search_path.h"
#include "base/strbuf.h"
#include "base/vec.h"

static void test_script_of_a_command(void **state)
{
	static const struct {
		const char *words[8];
		/* NULL: none. */
		const char *script;
	} cases[] = {
		{ { "python3", "jobs/run.py", "other.py" }, "jobs/run.py" },
		{ { "python3", "jobs/run", "--of=x.py" }, "jobs/run" },
		{ { "/usr/bin/python3.13t", "-m", "json.tool", "x.py" },
		  "json.tool" },
		{ { "python3", "-um", "json.tool" }, "json.tool" },
		{ { "python3", "-mjson.tool" }, "json.tool" },
		{ { "python3", "-c", "import x", "x.py" }, NULL },
		{ { "python3", "-uc", "import x", "x.py" }, NULL },
		{ { "python3", "-X", "importtime.py", "-W", "ignore.py", "run.py" },
		  "run.py" },
		{ { "python3", "-Xdev", "-Wignore", "run.py" }, "run.py" },
		{ { "python3", "-BEuX", "dev", "run.py" }, "run.py" },
		{ { "python3", "--check-hash-based-pycs", "always.py", "run.py" },
		  "run.py" },
		{ { "python3", "--", "-odd.py" }, "-odd.py" },
		{ { "python3", "-", "x.py" }, NULL },
		{ { "python3" }, NULL },
		{ { "-F", "999", "nice", "-n", "5", "python3", "-O", "run.py" },
		  "run.py" },
		{ { "./run.py", "-m", "x" }, "./run.py" },
		{ { "sleep", "3" }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const *words = cases[i].words;
		const char *script;
		size_t count = 0;

		while (count < 8 && words[count])
			count++;
		script = python_script(words, count);
		if (!script || !cases[i].script)
			assert_ptr_equal(script, cases[i].script);
		else
			assert_string_equal(script, cases[i].script);
	}
}

static void assert_percent(const char *text, uint64_t n, uint64_t of)
{
	_cleanup_strbuf_ struct strbuf buf = STRBUF_INIT;

	strbuf_percent(&buf, n, of);
	assert_string_equal(buf.data, text);
}

static void test_percent_is_read_at_once(void **state)
{
	(void)state;
	assert_percent("0 %", 0, 10093);
	assert_percent("0 %", 0, 0);
	assert_percent("94 %", 9465, 10093);
	assert_percent("100 %", 711, 711);
	assert_percent(">99 %", 8618, 8637);
	assert_percent("99 %", 99, 100);
	assert_percent("10 %", 996, 10000);
	assert_percent("9.9 %", 994, 10000);
	assert_percent("1.0 %", 996, 100000);
	assert_percent("0.99 %", 994, 100000);
	assert_percent("0.03 %", 3, 10000);
	assert_percent("<0.01 %", 1, 1000000);
	assert_percent("100 %", UINT64_MAX, UINT64_MAX);
}

/* As near as its digits go, for every share. */
static void test_percent_is_right(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 20000; n++) {
		_cleanup_strbuf_ struct strbuf buf = STRBUF_INIT;
		double share = (double)n / 200, shown, unit;

		strbuf_percent(&buf, n, 20000);
		assert_null(strpbrk(buf.data, "eE"));
		if (buf.data[0] == '>') {
			assert_true(share > 99);
			continue;
		}
		if (buf.data[0] == '<') {
			assert_true(share < 0.01);
			continue;
		}
		shown = strtod(buf.data, NULL);
		unit = share < 0.995 ? 0.01 : share < 9.95 ? 0.1 : 1;
		assert_true(shown - share <= unit / 2 + 1e-9 && share - shown <= unit / 2 + 1e-9);
	}
}

/* There is a NUL behind it, whatever stood in the memory before. */
static void test_strbuf_reads_a_file(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = STRBUF_INIT;
	int ends[2];

	(void)state;
	strbuf_fill(&buf, 'x', 20000);
	strbuf_clear(&buf);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "ffffffff", 8), 8);
	close(ends[1]);
	strbuf_putc(&buf, '0');
	assert_int_equal(strbuf_read(&buf, ends[0], 8), 0);
	assert_int_equal(buf.len, 9);
	assert_string_equal(buf.data, "0ffffffff");
	close(ends[0]);
	assert_int_equal(strbuf_read(&buf, ends[0], 8), EBADF);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "ffffffff", 8), 8);
	close(ends[1]);
	assert_int_equal(strbuf_read(&buf, ends[0], 7), EFBIG);
	close(ends[0]);
}

static void test_strbuf_grows_and_stays_terminated(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = STRBUF_INIT;

	(void)state;
	assert_string_equal(buf.data, "");
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&buf, "%d,", i);
	assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4);
	strbuf_truncate(&buf, 4);
	strbuf_fill(&buf, 'x', 3);
	assert_string_equal(buf.data, "0,1,xxx");
	assert_null(strbuf_error(&buf));
}

static void test_vec_keeps_elements_when_growing(void **state)
{
	VEC(int) v = {};
	int expected = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(vec_push(&v, i));
	vec_for_each(it, &v)
		assert_int_equal(*it, expected++);
	assert_int_equal(expected, 1000);
	vec_deinit(&v);
	vec_for_each(it, &v)
		fail();
}

static void test_vec_slots_are_zero_until_set(void **state)
{
	VEC(uint64_t) slots = {};

	(void)state;
	for (uint32_t i = 3; i < 5000; i += 7) {
		uint64_t *slot = vec_slot(&slots, i);

		assert_non_null(slot);
		assert_true(*slot == 0);
		*slot = i;
	}
	assert_int_equal(slots.count, 4994 + 1);
	for (uint32_t i = 0; i < slots.count; i++)
		assert_true(*vec_slot(&slots, i) == (i % 7 == 3 ? i : 0));
	vec_deinit(&slots);
}

/* Of any number of elements, each value once, twice, or not at all. */
static void test_vec_bounds_are_those_of_a_search_in_order(void **state)
{
	struct item {
		uint64_t key;
	};

	(void)state;
	for (size_t count = 0; count < 20; count++) {
		VEC(struct item) v = {};

		for (uint64_t i = 0; i < count; i++)
			assert_true(vec_push(&v, (struct item){ i / 2 * 3 }));
		for (uint64_t value = 0; value < 40; value++) {
			size_t below = 0, up_to = 0;

			vec_for_each(it, &v) {
				below += it->key < value;
				up_to += it->key <= value;
			}
			assert_int_equal(vec_lower_bound(&v, key, value), below);
			assert_int_equal(vec_upper_bound(&v, key, value), up_to);
			assert_ptr_equal(vec_floor(&v, key, value),
					 up_to ? &v.data[up_to - 1] : NULL);
		}
		vec_deinit(&v);
	}
}

static bool has_low_value(void *arg, const struct map_entry *entry)
{
	(void)arg;
	return entry->value < 100;
}

static void test_map_finds_what_was_inserted_only(void **state)
{
	struct map map = {};
	bool is_new;

	(void)state;
	assert_null(map_find(&map, 0));
	for (uint64_t i = 0; i < 10000; i++) {
		assert_non_null(map_insert(&map, i << 32, i, &is_new));
		assert_true(is_new);
	}
	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(*map_find(&map, i << 32), i);
		assert_null(map_find(&map, (i << 32) + 1));
	}
	assert_int_equal(*map_insert(&map, 0, 7, &is_new), 0);
	assert_false(is_new);
	assert_true(map_keep(&map, has_low_value, NULL));
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(map_find(&map, i << 32) != NULL, i < 100);
	map_clear(&map);
	assert_null(map_find(&map, 0));
	map_deinit(&map);
}

/* What is taken back is handed out again, unless something stands behind it. */
static void test_arena_shrinks_the_last_piece(void **state)
{
	struct arena arena = {};
	char *first = arena_alloc(&arena, 100), *second, *third;
	size_t used;

	(void)state;
	memset(first, 1, 100);
	second = arena_alloc(&arena, 1000);
	memset(second, 2, 1000);
	arena_shrink(&arena, first, 100, 1);
	used = arena.used;
	arena_shrink(&arena, second, 1000, 10);
	assert_true(arena.used < used);
	third = arena_alloc(&arena, 1000);
	assert_true(third > second + 9 && third < second + 100);
	memset(third, 3, 1000);
	for (int i = 0; i < 100; i++)
		assert_int_equal(first[i], 1);
	for (int i = 0; i < 10; i++)
		assert_int_equal(second[i], 2);
	arena_deinit(&arena);
}

static void test_arena_pieces_do_not_overlap(void **state)
{
	struct arena arena = {};
	char *pieces[100];

	(void)state;
	for (int i = 0; i < 100; i++) {
		size_t n = (size_t)i * i * 17;

		pieces[i] = arena_alloc(&arena, n + 1);
		assert_non_null(pieces[i]);
		memset(pieces[i], i, n + 1);
	}
	for (int i = 0; i < 100; i++) {
		assert_int_equal(pieces[i][0], i);
		assert_int_equal(pieces[i][i * i * 17], i);
	}
	arena_deinit(&arena);
}

static void test_reader_stops_at_the_end(void **state)
{
	const uint8_t data[] = { 1, 2, 0, 3, 0, 0, 0, 'h', 'i', 0, 'x' };
	struct reader r = reader_init(data, sizeof(data));
	_cleanup_error_ struct error *error = NULL;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	size_t len;

	(void)state;
	assert_true(reader_u8(&r, &u8) && u8 == 1);
	assert_true(reader_u16(&r, &u16) && u16 == 2);
	assert_true(reader_u32(&r, &u32) && u32 == 3);
	assert_string_equal(reader_cstr(&r, &len), "hi");
	assert_int_equal(len, 2);
	assert_null(reader_cstr(&r, &len));
	assert_true(r.failed);
	assert_false(reader_u8(&r, &u8));
	error = reader_error(&r, "a record");
	assert_int_equal(error->code, ERROR_TRUNCATED);
	assert_int_equal(error->offset, 10);
}

static void test_string_of_a_table(void **state)
{
	const uint8_t data[] = { 0, 'l', 'o', 'n', 'g', 0, 'x' };
	const struct bytes table = { data, sizeof(data) };

	(void)state;
	assert_string_equal(bytes_cstr(table, 0, 1), "");
	assert_string_equal(bytes_cstr(table, 1, 5), "long");
	assert_string_equal(bytes_cstr(table, 4, SIZE_MAX), "g");
	assert_null(bytes_cstr(table, 1, 4));
	assert_null(bytes_cstr(table, 0, 0));
	assert_null(bytes_cstr(table, 6, SIZE_MAX));
	assert_null(bytes_cstr(table, 7, SIZE_MAX));
	assert_null(bytes_cstr(table, UINT64_MAX, SIZE_MAX));
	assert_null(bytes_cstr((struct bytes){}, 0, SIZE_MAX));
}

static void test_reader_leb128(void **state)
{
	const uint8_t data[] = { 0xe5, 0x8e, 0x26, 0xc0, 0xbb, 0x78, 0x7f };
	const uint8_t max[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
				0xff, 0xff, 0xff, 0xff, 0x01 };
	const uint8_t over[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
				 0xff, 0xff, 0xff, 0xff, 0x02 };
	struct reader r = reader_init(data, sizeof(data));
	uint64_t u;
	int64_t s;

	(void)state;
	assert_true(reader_uleb128(&r, &u) && u == 624485);
	assert_true(reader_sleb128(&r, &s) && s == -123456);
	assert_true(reader_sleb128(&r, &s) && s == -1);
	r = reader_init(max, sizeof(max));
	assert_true(reader_uleb128(&r, &u) && u == UINT64_MAX);
	r = reader_init(over, sizeof(over));
	assert_false(reader_uleb128(&r, &u));
}

static void test_error_formats_subject_first(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = STRBUF_INIT;
	_cleanup_error_ struct error *error =
		error_at(ERROR_FORMAT, "a.data", 16, "bad %s", "magic");

	(void)state;
	error_format(error, &buf);
	assert_string_equal(buf.data, "'a.data' at offset 0x10: bad magic");
	assert_false(error_is_os(error, 2));
}

/* As `xxh128sum` prints them. */
static void test_content_hash(void **state)
{
	static const uint8_t nothing[] = { 0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
					   0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f };
	struct content_hash a = content_hash_of("a", 1), b = content_hash_of("b", 1);
	struct content_hash none = content_hash_of("", 0);

	(void)state;
	assert_memory_equal(none.bytes, nothing, sizeof(nothing));
	assert_memory_not_equal(a.bytes, b.bytes, sizeof(a.bytes));
	assert_memory_not_equal(a.bytes, nothing, sizeof(a.bytes));
}

static void test_a_path_is_searched_in_order(void **state)
{
	static const char *const expected[] = { "/bin/x", "./x", "a b/x", "./x" };
	const char *path = "/bin::a b:/too/long/folder:", *none = NULL, *here = "";
	char file[16] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_true(search_path_next(&path, "x", file, sizeof(file)));
		assert_string_equal(file, expected[i]);
	}
	assert_null(path);
	assert_false(search_path_next(&path, "x", file, sizeof(file)));
	assert_false(search_path_next(&none, "x", file, sizeof(file)));
	assert_true(search_path_next(&here, "x", file, sizeof(file)));
	assert_string_equal(file, "./x");
	/* With its end it just fits. */
	path = "/4567";
	assert_true(search_path_next(&path, "x", file, sizeof("/4567/x")));
	path = "/4567";
	assert_false(search_path_next(&path, "x", file, sizeof("/4567/x") - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strbuf_reads_a_file),
		cmocka_unit_test(test_strbuf_grows_and_stays_terminated),
		cmocka_unit_test(test_a_path_is_searched_in_order),
		cmocka_unit_test(test_percent_is_read_at_once),
		cmocka_unit_test(test_percent_is_right),
		cmocka_unit_test(test_vec_keeps_elements_when_growing),
		cmocka_unit_test(test_vec_slots_are_zero_until_set),
		cmocka_unit_test(test_vec_bounds_are_those_of_a_search_in_order),
		cmocka_unit_test(test_map_finds_what_was_inserted_only),
		cmocka_unit_test(test_arena_pieces_do_not_overlap),
		cmocka_unit_test(test_arena_shrinks_the_last_piece),
		cmocka_unit_test(test_reader_stops_at_the_end),
		cmocka_unit_test(test_string_of_a_table),
		cmocka_unit_test(test_reader_leb128),
		cmocka_unit_test(test_script_of_a_command),
		cmocka_unit_test(test_content_hash),
		cmocka_unit_test(test_error_formats_subject_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

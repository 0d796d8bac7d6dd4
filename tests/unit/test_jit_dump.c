// SPDX-License-Identifier: GPL-2.0-only
/* Which code a dump has at an address at a time, and which files are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "symbolize/jit_table.h"

#define FOREVER UINT64_MAX
#define SECOND 1000000000ull

static char folder[] = "/tmp/kaa-jit-XXXXXX";
static char path[128];

static void put32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put64(struct strbuf *out, uint64_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_header(struct strbuf *out, uint64_t timestamp, uint64_t flags)
{
	const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, 12 };

	strbuf_append(out, words, sizeof(words));
	put64(out, timestamp);
	put64(out, flags);
}

static void put_load(struct strbuf *out, uint64_t time, uint64_t address,
		     uint64_t size, const char *name, uint64_t index)
{
	put32(out, JITDUMP_LOAD);
	put32(out, (uint32_t)(16 + 40 + strlen(name) + 1 + size));
	put64(out, time);
	put32(out, 12);
	put32(out, 13);
	put64(out, address);
	put64(out, address);
	put64(out, size);
	put64(out, index);
	strbuf_append(out, name, strlen(name) + 1);
	strbuf_fill(out, 'c', size);
}

static void put_move(struct strbuf *out, uint64_t time, uint64_t from,
		     uint64_t to, uint64_t index)
{
	put32(out, JITDUMP_MOVE);
	put32(out, 16 + 48);
	put64(out, time);
	put32(out, 12);
	put32(out, 13);
	put64(out, to);
	put64(out, from);
	put64(out, to);
	put64(out, 16);
	put64(out, index);
}

static void write_file(const struct strbuf *bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
	assert_int_equal(fclose(file), 0);
}

static struct error *open_it(const struct jit_marker *more,
			     struct jit_dump **ret)
{
	const struct jit_dump_options options = { .room = UINT64_MAX };
	struct jit_marker marker = *more;

	marker.path = path;
	if (!marker.pid)
		marker.pid = 12;
	return jit_dump_open(&options, &marker, ret);
}

/* Writes the bytes, which it frees, and reads them. */
static struct jit_dump *make(struct strbuf *bytes, const struct jit_clock *clock)
{
	const struct jit_marker marker = {};
	struct jit_dump *dump = NULL;

	write_file(bytes);
	strbuf_deinit(bytes);
	assert_null(open_it(&marker, &dump));
	assert_null(jit_dump_fill(dump, clock));
	return dump;
}

static const struct jit_clock same;

/* Of lines in any order the last one at or before an address, sorted once. */
static void test_lines(void **state)
{
	enum { LINES = 60, SIZE = 50, AT = 0x1000 };
	struct strbuf b = STRBUF_INIT;
	uint64_t addresses[LINES];
	unsigned int seed = 5;
	struct jit_dump *dump;
	struct jit_code *code;

	(void)state;
	put_header(&b, 1 * SECOND, 0);
	put32(&b, JITDUMP_DEBUG_INFO);
	put32(&b, 16 + 16 + LINES * (16 + 3));
	put64(&b, 1 * SECOND);
	put64(&b, AT);
	put64(&b, LINES);
	for (uint32_t i = 0; i < LINES; i++) {
		addresses[i] = AT + 5 + (unsigned int)rand_r(&seed) % 40;
		put64(&b, addresses[i]);
		put32(&b, i + 1);
		put32(&b, 0);
		strbuf_append(&b, i % 2 ? "/b" : "/a", 3);
	}
	put_load(&b, 2 * SECOND, AT, SIZE, "f", 1);
	put_load(&b, 2 * SECOND, 2 * AT, SIZE, "without", 2);
	dump = make(&b, &same);
	assert_int_equal(dump->codes.count, 2);
	code = &dump->codes.data[0];
	for (uint64_t at = AT; at < AT + SIZE; at++) {
		const struct jit_line *line = jit_code_line(code, at);
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < LINES; i++)
			if (addresses[i] <= at &&
			    (best == UINT32_MAX || addresses[i] >= addresses[best]))
				best = i;
		assert_int_equal(line ? line->line : 0, best + 1);
		if (line)
			assert_string_equal(line->file, best % 2 ? "/b" : "/a");
		assert_int_equal(code->sorted_lines.count, LINES);
	}
	assert_null(jit_code_line(&dump->codes.data[1], 2 * AT));
	jit_dump_destroy(dump);
}

static void expect(struct jit_dump *dump, uint64_t address, uint64_t time,
		   const char *name, uint64_t from, uint64_t to)
{
	uint64_t valid_from, valid_to;
	struct jit_code *code = jit_dump_find(dump, address, time, &valid_from,
					      &valid_to);

	assert_string_equal(code ? code->name : "nothing", name);
	assert_int_equal(valid_from, from);
	assert_int_equal(valid_to, to);
}

static void test_reuse(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct jit_dump *dump;

	(void)state;
	put_header(&out, 100, 0);
	put_load(&out, 1000, 0x1000, 32, "a", 1);
	put_load(&out, 1500, 0x8000, 16, "far", 2);
	/* The middle of a, then all of it. */
	put_load(&out, 2000, 0x1008, 8, "b", 3);
	put_load(&out, 3000, 0x1000, 32, "c\n", 4);
	dump = make(&out, &same);
	assert_true(dump->overlaps);
	expect(dump, 0x1000, 999, "nothing", 999, 1000);
	expect(dump, 0x1000, 1000, "a", 1000, 3000);
	expect(dump, 0x1008, 1999, "a", 1000, 2000);
	expect(dump, 0x100f, 2000, "b", 2000, 3000);
	expect(dump, 0x1010, 2500, "a", 1000, 3000);
	expect(dump, 0x1008, 3000, "c?", 3000, FOREVER);
	expect(dump, 0x1020, 5000, "nothing", 5000, FOREVER);
	expect(dump, 0x8000, 5000, "far", 1500, FOREVER);
	expect(dump, 0xfff, 5000, "nothing", 5000, FOREVER);
	assert_int_equal(jit_dump_count_at(dump, 999), 0);
	assert_int_equal(jit_dump_count_at(dump, 2000), 3);
	assert_int_equal(jit_dump_count_at(dump, FOREVER), 4);
	assert_true(jit_dump_has_code(dump, 0, FOREVER));
	assert_true(jit_dump_has_code(dump, 0x101f, 0x1020));
	assert_true(jit_dump_has_code(dump, 0, 0x1001));
	assert_true(jit_dump_has_code(dump, 0x800f, FOREVER));
	assert_false(jit_dump_has_code(dump, 0, 0x1000));
	assert_false(jit_dump_has_code(dump, 0x1020, 0x8000));
	assert_false(jit_dump_has_code(dump, 0x8010, FOREVER));
	assert_false(jit_dump_has_code(dump, 0x1010, 0x1000));
	jit_dump_destroy(dump);
}

static void test_move(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct jit_dump *dump;

	(void)state;
	put_header(&out, 100, 0);
	put_load(&out, 1000, 0x1000, 16, "a", 7);
	put_move(&out, 2000, 0x1000, 0x2000, 7);
	put_move(&out, 3000, 0x2000, 0x1000, 7);
	/* Of unknown code, and not from where it is. */
	put_move(&out, 3000, 0x2000, 0x3000, 8);
	put_move(&out, 3000, 0x2000, 0x3000, 7);
	dump = make(&out, &same);
	expect(dump, 0x1000, 1999, "a", 1000, 2000);
	expect(dump, 0x1000, 2000, "nothing", 2000, 3000);
	expect(dump, 0x2000, 2000, "a", 2000, 3000);
	expect(dump, 0x2000, 3000, "nothing", 3000, FOREVER);
	expect(dump, 0x100f, 3000, "a", 3000, FOREVER);
	expect(dump, 0x3000, 4000, "nothing", 4000, FOREVER);
	assert_int_equal(dump->left_out, 2);
	jit_dump_destroy(dump);
}

static void test_clocks(void **state)
{
	const struct jit_clock counter = { .is_counter = true,
					   .shift = 1,
					   .mult = 3,
					   .zero = 10 };
	const struct jit_clock offset = { .offset = -400 };
	struct strbuf out = STRBUF_INIT, again = STRBUF_INIT;
	struct jit_dump *dump;

	(void)state;
	put_header(&out, 100, 1);
	put_load(&out, 1000, 0x1000, 16, "a", 1);
	dump = make(&out, &counter);
	assert_true(dump->header.arch_timestamp);
	expect(dump, 0x1000, 1510, "a", 1510, FOREVER);
	jit_dump_destroy(dump);
	put_header(&again, 100, 0);
	put_load(&again, 1000, 0x1000, 16, "a", 1);
	dump = make(&again, &offset);
	expect(dump, 0x1000, 600, "a", 600, FOREVER);
	jit_dump_destroy(dump);
}

/* What takes an address first is dated earlier, what takes it over is not. */
static void test_drift(void **state)
{
	const struct jit_clock clock = { .offset = (int64_t)SECOND,
					 .drifts = true,
					 .aligned = 1000 };
	struct strbuf out = STRBUF_INIT;
	struct jit_dump *dump;
	uint64_t at = 1000 + 11 * SECOND;

	(void)state;
	put_header(&out, 1000, 0);
	put_load(&out, 1000 + 10 * SECOND, 0x1000, 16, "a", 1);
	put_load(&out, 1000 + 20 * SECOND, 0x1000, 16, "b", 2);
	put_load(&out, 1000 + 1000, 0x2000, 16, "soon", 3);
	dump = make(&out, &clock);
	/* A millisecond, and a thousandth of ten seconds. */
	expect(dump, 0x1000, at, "a", at - 11000000, at + 10 * SECOND);
	expect(dump, 0x1000, at + 10 * SECOND, "b", at + 10 * SECOND, FOREVER);
	expect(dump, 0x2000, at, "soon", 1000 + SECOND, FOREVER);
	jit_dump_destroy(dump);
}

static uint64_t begun(uint64_t header, uint64_t record)
{
	struct strbuf out = STRBUF_INIT;
	struct jit_dump *dump;
	uint64_t ret;

	put_header(&out, header, 0);
	if (record)
		put_load(&out, record, 0x1000, 16, "a", 1);
	dump = make(&out, &same);
	ret = dump->begun;
	jit_dump_destroy(dump);
	return ret;
}

/* CPython's header has microseconds of the wall clock. */
static void test_begin(void **state)
{
	(void)state;
	assert_int_equal(begun(5 * SECOND, 6 * SECOND), 5 * SECOND);
	assert_int_equal(begun(1795290286427378, 6 * SECOND), 6 * SECOND);
	assert_int_equal(begun(7, 10000 * SECOND), 10000 * SECOND);
	assert_int_equal(begun(7, 0), 7);
}

static void refuse(const struct jit_marker *marker, enum error_code code)
{
	struct jit_dump *dump = NULL;
	struct error *error = open_it(marker, &dump);

	assert_non_null(error);
	assert_int_equal(error->code, code);
	error_destroy(error);
	assert_null(dump);
}

/* A file that is younger than the marker is another process's, if it is not the marked one. */
static void test_files(void **state)
{
	struct jit_marker marker = { .time = SECOND, .monotonic = true };
	struct strbuf out = STRBUF_INIT;
	struct jit_dump *dump;
	struct stat st;

	(void)state;
	put_header(&out, 100 * SECOND, 0);
	write_file(&out);
	strbuf_deinit(&out);
	refuse(&marker, ERROR_PERMISSION);
	assert_int_equal(stat(path, &st), 0);
	marker.inode = st.st_ino;
	marker.major = major(st.st_dev);
	marker.minor = minor(st.st_dev);
	assert_null(open_it(&marker, &dump));
	jit_dump_destroy(dump);
	/* Another file, of a name that means another process here. */
	marker.time = 100 * SECOND;
	marker.inode++;
	assert_null(open_it(&marker, &dump));
	jit_dump_destroy(dump);
	marker.pid = 4711;
	refuse(&marker, ERROR_PERMISSION);
	marker.inode--;
	assert_null(open_it(&marker, &dump));
	jit_dump_destroy(dump);
	assert_int_equal(unlink(path), 0);
	refuse(&marker, ERROR_NOT_FOUND);
	assert_int_equal(mkdir(path, 0700), 0);
	refuse(&marker, ERROR_UNSUPPORTED);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuse(&marker, ERROR_OS);
	assert_int_equal(unlink(path), 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/jit-12.dump", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_reuse),  cmocka_unit_test(test_move),
		cmocka_unit_test(test_clocks), cmocka_unit_test(test_drift),
		cmocka_unit_test(test_begin),  cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

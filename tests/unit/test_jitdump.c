// SPDX-License-Identifier: GPL-2.0-only
/*
 * The jitdump reader: dumps made here field by field, as the specification in the
 * kernel's tools/perf has them, in both byte orders, whole, cut off and wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "obj/jitdump.h"

/* A dump in the making. */
struct maker {
	struct strbuf out;
	bool swap;
	/* Where the record begins. */
	size_t record;
};

static void put32(struct maker *m, uint32_t value)
{
	value = m->swap ? __builtin_bswap32(value) : value;
	strbuf_append(&m->out, &value, sizeof(value));
}

static void put64(struct maker *m, uint64_t value)
{
	value = m->swap ? __builtin_bswap64(value) : value;
	strbuf_append(&m->out, &value, sizeof(value));
}

static void put_header(struct maker *m, uint32_t version, uint32_t size,
		       uint64_t flags)
{
	put32(m, 0x4a695444);
	put32(m, version);
	put32(m, size);
	put32(m, 62);
	put32(m, 0);
	put32(m, 4711);
	put64(m, 1000);
	put64(m, flags);
	strbuf_fill(&m->out, 'x', size > 40 ? size - 40 : 0);
}

static void begin(struct maker *m, uint32_t id, uint64_t time)
{
	m->record = m->out.len;
	put32(m, id);
	put32(m, 0);
	put64(m, time);
}

static void end(struct maker *m)
{
	uint32_t size = (uint32_t)(m->out.len - m->record);

	size = m->swap ? __builtin_bswap32(size) : size;
	memcpy(m->out.data + m->record + 4, &size, sizeof(size));
}

static void put_load(struct maker *m, uint64_t time, uint64_t address,
		     const char *name, const char *code, uint64_t index)
{
	begin(m, JITDUMP_LOAD, time);
	put32(m, 4711);
	put32(m, 4712);
	put64(m, address);
	put64(m, address);
	put64(m, strlen(code));
	put64(m, index);
	strbuf_append(&m->out, name, strlen(name) + 1);
	strbuf_append(&m->out, code, strlen(code));
	end(m);
}

static void put_lines(struct maker *m, uint64_t address, uint64_t count)
{
	static const char *const files[] = { "/a.js", "\xff", "/b.js" };

	begin(m, JITDUMP_DEBUG_INFO, 1);
	put64(m, address);
	put64(m, count);
	for (unsigned int i = 0; i < 3; i++) {
		put64(m, address + i * 4);
		put32(m, i == 2 ? (uint32_t)-5 : 10 + i);
		put32(m, i);
		strbuf_append(&m->out, files[i], strlen(files[i]) + 1);
	}
	end(m);
}

static void put_unwinding(struct maker *m, uint64_t size, uint64_t header_size)
{
	begin(m, JITDUMP_UNWINDING_INFO, 1);
	put64(m, size);
	put64(m, header_size);
	put64(m, 24);
	strbuf_puts(&m->out, "FRAMEFRAMEHEADER");
	/* Padding. */
	strbuf_fill(&m->out, '\0', 8);
	end(m);
}

static void put_move(struct maker *m, uint64_t from, uint64_t to)
{
	begin(m, JITDUMP_MOVE, 5000);
	put32(m, 4711);
	put32(m, 4712);
	put64(m, to);
	put64(m, from);
	put64(m, to);
	put64(m, 4);
	put64(m, 7);
	end(m);
}

static struct error *open_dump(const struct maker *m, struct jitdump *ret)
{
	return jitdump_init(ret, m->out.data, m->out.len, "jit-4711.dump");
}

static void check_lines(struct jitdump_lines lines)
{
	struct jitdump_line line;

	assert_true(jitdump_next_line(&lines, &line));
	assert_int_equal(line.address, 0x1000);
	assert_int_equal(line.line, 10);
	assert_string_equal(line.file, "/a.js");
	assert_true(jitdump_next_line(&lines, &line));
	assert_int_equal(line.address, 0x1004);
	assert_int_equal(line.discriminator, 1);
	assert_string_equal(line.file, "/a.js");
	assert_true(jitdump_next_line(&lines, &line));
	assert_int_equal(line.line, 0);
	assert_string_equal(line.file, "/b.js");
	assert_false(jitdump_next_line(&lines, &line));
	assert_false(jitdump_next_line(&lines, &line));
}

static void check_all(bool swap, uint32_t header_size)
{
	struct maker m = { .out = STRBUF_INIT, .swap = swap };
	struct jitdump_record r;
	struct jitdump dump;

	put_header(&m, 1, header_size, 1);
	put_lines(&m, 0x1000, 3);
	put_unwinding(&m, 16, 6);
	put_load(&m, 2000, 0x1000, "py::f:/x.py", "codecode", 7);
	begin(&m, 99, 1);
	end(&m);
	put_load(&m, 2001, 0x2000, "g", "", 8);
	put_move(&m, 0x1000, 0x3000);
	begin(&m, JITDUMP_CLOSE, 6000);
	end(&m);
	assert_null(open_dump(&m, &dump));
	assert_int_equal(dump.pid, 4711);
	assert_int_equal(dump.machine, 62);
	assert_int_equal(dump.timestamp, 1000);
	assert_true(dump.arch_timestamp);
	assert_int_equal(dump.big_endian, swap);

	assert_true(jitdump_next(&dump, &r));
	assert_int_equal(r.type, JITDUMP_LOAD);
	assert_int_equal(r.time, 2000);
	assert_int_equal(r.tid, 4712);
	assert_int_equal(r.address, 0x1000);
	assert_int_equal(r.index, 7);
	assert_string_equal(r.name, "py::f:/x.py");
	assert_int_equal(r.code.size, 8);
	assert_memory_equal(r.code.data, "codecode", 8);
	assert_int_equal(r.unwinding.eh_frame.size, 10);
	assert_memory_equal(r.unwinding.eh_frame.data, "FRAMEFRAME", 10);
	assert_memory_equal(r.unwinding.eh_frame_hdr.data, "HEADER", 6);
	assert_int_equal(r.unwinding.mapped_size, 24);
	check_lines(r.lines);

	/* What was told of the load before is not of this one. */
	assert_true(jitdump_next(&dump, &r));
	assert_string_equal(r.name, "g");
	assert_int_equal(r.size, 0);
	assert_int_equal(r.lines.left, 0);
	assert_int_equal(r.unwinding.eh_frame.size, 0);

	assert_true(jitdump_next(&dump, &r));
	assert_int_equal(r.type, JITDUMP_MOVE);
	assert_int_equal(r.old_address, 0x1000);
	assert_int_equal(r.address, 0x3000);
	assert_int_equal(r.index, 7);
	assert_true(jitdump_next(&dump, &r));
	assert_int_equal(r.type, JITDUMP_CLOSE);
	assert_false(jitdump_next(&dump, &r));
	assert_int_equal(dump.unknown, 1);
	assert_int_equal(dump.broken, 0);
	assert_int_equal(dump.truncated_bytes, 0);
	strbuf_deinit(&m.out);
}

static void test_all_records(void **state)
{
	(void)state;
	check_all(false, 40);
	check_all(true, 40);
	check_all(false, 56);
}

/* Cut off at every byte: what is whole is read, and nothing else. */
static void test_truncated(void **state)
{
	struct maker m = { .out = STRBUF_INIT };
	size_t first;

	(void)state;
	put_header(&m, 1, 40, 0);
	put_load(&m, 1, 0x1000, "f", "code", 1);
	first = m.out.len;
	put_load(&m, 2, 0x2000, "g", "code", 2);
	for (size_t size = 0; size <= m.out.len; size++) {
		struct jitdump_record r;
		struct jitdump dump;
		size_t count = 0;
		struct error *error =
			jitdump_init(&dump, m.out.data, size, NULL);

		assert_int_equal(!error, size >= 40);
		error_destroy(error);
		if (size < 40)
			continue;
		while (jitdump_next(&dump, &r))
			count++;
		assert_int_equal(count, (size >= first) +
						(size == m.out.len));
		assert_int_equal(dump.truncated_bytes,
				 size == m.out.len ? 0 :
				 size >= first	   ? size - first :
						     size - 40);
	}
	strbuf_deinit(&m.out);
}

static void refuse(uint32_t version, uint32_t size, uint64_t flags,
		   enum error_code code)
{
	struct maker m = { .out = STRBUF_INIT };
	struct jitdump dump;
	struct error *error;

	put_header(&m, version, size, flags);
	error = open_dump(&m, &dump);
	assert_non_null(error);
	assert_int_equal(error->code, code);
	error_destroy(error);
	strbuf_deinit(&m.out);
}

static void test_headers_refused(void **state)
{
	struct jitdump dump;
	struct error *error = jitdump_init(&dump, "\x7f" "ELF....", 8, "x");

	(void)state;
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_FORMAT);
	error_destroy(error);
	refuse(2, 40, 0, ERROR_UNSUPPORTED);
	refuse(1, 40, 2, ERROR_UNSUPPORTED);
	refuse(1, 39, 0, ERROR_TRUNCATED);
}

/* Sizes and counts that promise more than there is. */
static void test_broken_records(void **state)
{
	struct maker m = { .out = STRBUF_INIT };
	struct jitdump_line line;
	struct jitdump_record r;
	struct jitdump dump;
	uint64_t huge = UINT64_MAX;

	(void)state;
	put_header(&m, 1, 40, 0);
	put_unwinding(&m, UINT64_MAX, 6);
	put_unwinding(&m, 6, 7);
	put_load(&m, 1, 0x1000, "f", "code", 1);
	/* code_size */
	memcpy(m.out.data + m.record + 16 + 24, &huge, sizeof(huge));
	put_load(&m, 1, UINT64_MAX - 2, "f", "code", 1);
	put_lines(&m, 0x1000, UINT64_MAX);
	put_load(&m, 2, 0x1000, "g", "codecode", 2);
	/* Lines of other code than that which follows. */
	put_lines(&m, 0x9000, 3);
	put_load(&m, 3, 0x1000, "h", "code", 3);
	assert_null(open_dump(&m, &dump));
	assert_true(jitdump_next(&dump, &r));
	assert_string_equal(r.name, "g");
	assert_int_equal(r.unwinding.eh_frame.size, 0);
	/* More lines promised than there are. */
	assert_false(jitdump_next_line(&r.lines, &line));
	assert_true(jitdump_next(&dump, &r));
	assert_string_equal(r.name, "h");
	assert_false(jitdump_next_line(&r.lines, &line));
	assert_false(jitdump_next(&dump, &r));
	assert_int_equal(dump.broken, 4);
	assert_int_equal(dump.broken_lines, 1);
	strbuf_deinit(&m.out);
}

static uint64_t lines_of_code(const char *name, const char *file,
			      uint64_t offset)
{
	struct maker m = { .out = STRBUF_INIT };
	struct jitdump_record r;
	struct jitdump dump;

	put_header(&m, 1, 40, 0);
	begin(&m, JITDUMP_DEBUG_INFO, 1);
	put64(&m, 0x1000);
	put64(&m, 1);
	put64(&m, 0x1000 + offset);
	put64(&m, 1);
	strbuf_append(&m.out, file, strlen(file) + 1);
	end(&m);
	put_load(&m, 1, 0x1000, name, "code", 1);
	assert_null(open_dump(&m, &dump));
	assert_true(jitdump_next(&dump, &r));
	assert_int_equal(dump.broken_lines, !r.lines.left);
	strbuf_deinit(&m.out);
	return r.lines.left;
}

static uint64_t lines_of(const char *file, uint64_t offset)
{
	return lines_of_code("f", file, offset);
}

/* Lines that a broken writer leaves. */
static void test_lines_that_fit(void **state)
{
	(void)state;
	assert_int_equal(lines_of("/a.py", 0), 1);
	assert_int_equal(lines_of("/\xc3\xa4\xf0\x9f\x90\x8d.py", 4), 1);
	assert_int_equal(lines_of("/a.py", 5), 0);
	assert_int_equal(lines_of_code("JS:*f /a.js", "/a.js", 0x44), 1);
	assert_int_equal(lines_of_code("JS:*f /a.js", "/a.js", 0x45), 0);
	assert_int_equal(lines_of_code("JS:*f /a.js", "/a.js", 0x3f), 0);
	assert_int_equal(lines_of("/a.py", (uint64_t)-1), 0);
	assert_int_equal(lines_of("", 0), 0);
	assert_int_equal(lines_of("\x8cG\x03", 0), 0);
	assert_int_equal(lines_of("a\nb", 0), 0);
	assert_int_equal(lines_of("a\xc3", 0), 0);
	assert_int_equal(lines_of("\xc3""a", 0), 0);
}

/* Entries that take over a name cost nothing for it. */
static void test_one_name_of_many_lines(void **state)
{
	enum { COUNT = 1000 };
	struct maker m = { .out = STRBUF_INIT };
	struct jitdump_record r;
	struct jitdump dump;

	(void)state;
	put_header(&m, 1, 40, 0);
	begin(&m, JITDUMP_DEBUG_INFO, 1);
	put64(&m, 0x1000);
	put64(&m, COUNT);
	for (int i = 0; i < COUNT; i++) {
		put64(&m, 0x1000);
		put64(&m, 1);
		strbuf_append(&m.out, i % (COUNT / 2) ? "\xff" : "/a", i % (COUNT / 2) ? 2 : 3);
	}
	end(&m);
	put_load(&m, 1, 0x1000, "f", "code", 1);
	assert_null(open_dump(&m, &dump));
	assert_true(jitdump_next(&dump, &r));
	assert_int_equal(r.lines.left, COUNT);
	assert_int_equal(dump.names, 2);
	strbuf_deinit(&m.out);
}

/* A size below that of a record's head leads nowhere. */
static void test_no_endless_loop(void **state)
{
	struct maker m = { .out = STRBUF_INIT };
	struct jitdump_record r;
	struct jitdump dump;

	(void)state;
	put_header(&m, 1, 40, 0);
	begin(&m, JITDUMP_CLOSE, 1);
	strbuf_fill(&m.out, '\0', 64);
	assert_null(open_dump(&m, &dump));
	assert_false(jitdump_next(&dump, &r));
	assert_int_equal(dump.truncated_bytes, 80);
	strbuf_deinit(&m.out);
}

static void test_names(void **state)
{
	uint32_t pid = 0;

	(void)state;
	assert_true(jitdump_name("/tmp/jit-12.dump", &pid));
	assert_int_equal(pid, 12);
	assert_true(jitdump_name("/a/b/.debug/jit/x/jit-4711.dump", &pid));
	assert_int_equal(pid, 4711);
	assert_false(jitdump_name("/tmp/jit-12.dump.old", &pid));
	assert_false(jitdump_name("/tmp/jit-.dump", &pid));
	assert_false(jitdump_name("/tmp/jit--1.dump", &pid));
	assert_false(jitdump_name("/tmp/jit-99999999999999999999.dump", &pid));
	assert_false(jitdump_name("/tmp/jit-12.dump/x", &pid));
	assert_false(jitdump_name("//anon", &pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_records),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_headers_refused),
		cmocka_unit_test(test_broken_records),
		cmocka_unit_test(test_lines_that_fit),
		cmocka_unit_test(test_one_name_of_many_lines),
		cmocka_unit_test(test_no_endless_loop),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfdata/kaa_stream.h"
#include "assert_ok.h"

#define STRING(s) { s, sizeof(s) - 1 }

static void assert_string(const struct kaa_string *s, const char *expected)
{
	assert_int_equal(s->len, strlen(expected));
	assert_memory_equal(s->data, expected, s->len);
}

static const uint32_t lines[] = { 10, 9, 300, 1, 4000000000u, 0 };

static const struct kaa_code code = {
	.start = KAA_FIRST_SPAN,
	.slots = 7,
	.first_line = 10,
	.filename = STRING("/srv/a.py"),
	.qualname = STRING("f.<locals>.g"),
	.lines = lines,
};

/* The table of docs/formats/kaa-stream.md, written out by hand. */
static void test_code_layout(void **state)
{
	static const uint8_t expected[] = {
		'k', 'a', 'a', '1', 1, 0, 0, 0,
		0x00, 0x10, 0, 0, 0x61, 0x6b, 0, 0,
		3, 0, 0, 0,
		10, 0, 0, 0,
		4, 0, 'x', '.', 'p', 'y',
		1, 0, 'f',
		/* 10 -> 10 -> 9 */
		0x00, 0x7f,
	};
	struct kaa_code small = { .start = KAA_FIRST_SPAN,
				  .slots = 3,
				  .first_line = 10,
				  .filename = STRING("x.py"),
				  .qualname = STRING("f"),
				  .lines = lines };
	struct strbuf out = STRBUF_INIT;
	uint32_t slots;

	(void)state;
	assert_ok(kaa_encode_code(&small, &out, &slots));
	assert_int_equal(slots, 3);
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	strbuf_deinit(&out);
}

static void test_code(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;
	uint32_t slots;
	uint32_t got[6];

	(void)state;
	assert_ok(kaa_encode_code(&code, &out, &slots));
	assert_int_equal(slots, 7);
	/* Whatever pads the payload is left alone. */
	strbuf_fill(&out, '\xff', 5);
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_CODE);
	assert_int_equal(p.code.start, KAA_FIRST_SPAN);
	assert_int_equal(p.code.slots, 7);
	assert_int_equal(p.code.first_line, 10);
	assert_string(&p.code.filename, "/srv/a.py");
	assert_string(&p.code.qualname, "f.<locals>.g");
	assert_ok(kaa_code_lines(&p.code, got));
	assert_memory_equal(got, lines, sizeof(lines));
	strbuf_deinit(&out);
}

/* More lines than a payload holds: the next record goes on where it ended. */
static void test_long_code(void **state)
{
	enum { SLOTS = 50000 };
	uint32_t *many = calloc(SLOTS, sizeof(*many));
	uint32_t *got = calloc(SLOTS, sizeof(*got));
	struct kaa_code rest = code;
	uint32_t done = 0;
	size_t records = 0;

	(void)state;
	for (uint32_t i = 0; i < SLOTS; i++)
		many[i] = i % 2 ? 5 : 100000 + i;
	rest.slots = SLOTS + 1;
	rest.lines = many;
	while (done < SLOTS) {
		struct strbuf out = STRBUF_INIT;
		struct kaa_payload p;
		uint32_t slots;

		rest.slots = SLOTS - done + 1;
		rest.lines = many + done;
		assert_ok(kaa_encode_code(&rest, &out, &slots));
		assert_true(out.len <= KAA_STREAM_MAX);
		assert_ok(kaa_stream_decode(out.data, out.len, &p));
		assert_int_equal(p.code.slots, slots);
		assert_int_equal(p.code.start, rest.start);
		assert_ok(kaa_code_lines(&p.code, got + done));
		done += slots - 1;
		rest.start += KAA_SLOT_SIZE * (uint64_t)slots;
		records++;
		strbuf_deinit(&out);
	}
	assert_true(records > 1);
	assert_memory_equal(got, many, SLOTS * sizeof(*many));
	free(many);
	free(got);
}

static void test_hostile_code(void **state)
{
	static const struct {
		uint64_t start;
		uint32_t slots;
	} spans[] = {
		{ 0, 1 },
		{ KAA_BASE - 2, 1 },
		{ KAA_BASE + KAA_RANGE_SIZE, 1 },
		{ KAA_BASE + KAA_RANGE_SIZE - 2, 2 },
		{ KAA_FIRST_SPAN + 1, 1 },
		{ KAA_FIRST_SPAN, 0 },
		{ KAA_FIRST_SPAN, UINT32_MAX },
	};
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;
	uint32_t slots, got[6];

	(void)state;
	assert_ok(kaa_encode_code(&code, &out, &slots));
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		memcpy(out.data + 8, &spans[i].start, 8);
		memcpy(out.data + 16, &spans[i].slots, 4);
		assert_fails(kaa_stream_decode(out.data, out.len, &p),
			     ERROR_FORMAT);
	}
	/* More slots than lines that follow. */
	memcpy(out.data + 8, &code.start, 8);
	slots = 60000;
	memcpy(out.data + 16, &slots, 4);
	assert_fails(kaa_stream_decode(out.data, out.len, &p), ERROR_TRUNCATED);
	/* A line below 0: the difference to the first line is -1. */
	slots = 7;
	memcpy(out.data + 16, &slots, 4);
	memset(out.data + 20, 0, 4);
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_fails(kaa_code_lines(&p.code, got), ERROR_FORMAT);
	strbuf_deinit(&out);
}

static void test_symbol_and_python(void **state)
{
	const struct kaa_symbol symbol = {
		.pid = 7, .kind = KAA_SYMBOL_PERF_MAP, .start = 0x7f00,
		.size = 0x40, .valid_from = 5, .valid_to = UINT64_MAX,
		.dso = STRING("/tmp/perf-7.map"), .name = STRING("py::f:/x.py"),
	};
	const struct kaa_python python = {
		.pid = 7, .version = 0x030c01f0, .valid_from = 9,
		.eval_start = 0x1000, .eval_size = 0x2000,
		.path = STRING("/usr/bin/python3.12"),
		.script = STRING("app.py"),
	};
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;
	size_t old;

	(void)state;
	assert_ok(kaa_encode_symbol(&symbol, &out));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_SYMBOL);
	assert_int_equal(p.symbol.pid, 7);
	assert_int_equal(p.symbol.kind, KAA_SYMBOL_PERF_MAP);
	assert_int_equal(p.symbol.size, 0x40);
	assert_int_equal(p.symbol.valid_to, UINT64_MAX);
	assert_string(&p.symbol.dso, "/tmp/perf-7.map");
	assert_string(&p.symbol.name, "py::f:/x.py");

	strbuf_clear(&out);
	assert_ok(kaa_encode_python(&python, &out));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_PYTHON);
	assert_int_equal(p.python.version, 0x030c01f0);
	assert_int_equal(p.python.eval_size, 0x2000);
	assert_string(&p.python.path, "/usr/bin/python3.12");
	assert_string(&p.python.script, "app.py");
	/* Those of older recordings end with the path, and with zeros. */
	old = out.len - strlen("app.py") - sizeof(uint16_t);
	memset(out.data + old, 0, out.len - old);
	for (size_t padding = 0; padding < 8; padding++) {
		assert_ok(kaa_stream_decode(out.data, old + padding, &p));
		assert_string(&p.python.path, "/usr/bin/python3.12");
		assert_int_equal(p.python.script.len, 0);
	}
	strbuf_deinit(&out);
}

static void test_thread(void **state)
{
	static const uint8_t expected[] = {
		'k', 'a', 'a', '1', 5, 0, 0, 0,
		1, 0, 0, 0, 2, 1, 0, 0,
		3, 0, 0, 0, 0, 0, 0, 1,
		3, 0, 'w', '-', '1',
	};
	const struct kaa_thread thread = { .pid = 1, .tid = 258, .valid_from = (1ull << 56) + 3,
					   .name = STRING("w-1") };
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_encode_thread(&thread, &out));
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_THREAD);
	assert_int_equal(p.thread.pid, 1);
	assert_int_equal(p.thread.tid, 258);
	assert_int_equal(p.thread.valid_from, thread.valid_from);
	assert_string(&p.thread.name, "w-1");
	for (size_t i = 0; i < out.len; i++)
		assert_fails(kaa_stream_decode(out.data, i, &p), ERROR_TRUNCATED);
	strbuf_deinit(&out);
}

static void test_vdso(void **state)
{
	static const uint8_t expected[] = {
		'k', 'a', 'a', '1', 6, 0, 0, 0, 4, 0, 0, 0, 0x7f, 'E', 'L', 'F',
	};
	static const uint8_t large[KAA_STREAM_MAX];
	const struct kaa_vdso vdso = { { (const uint8_t *)"\177ELF", 4 } };
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_encode_vdso(&vdso, &out));
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_VDSO);
	assert_int_equal(p.vdso.image.size, 4);
	assert_memory_equal(p.vdso.image.data, "\177ELF", 4);
	for (size_t i = 0; i < out.len; i++)
		assert_fails(kaa_stream_decode(out.data, i, &p), ERROR_TRUNCATED);
	assert_fails(kaa_encode_vdso(&(struct kaa_vdso){ { large, sizeof(large) } }, &out),
		     ERROR_LIMIT);
	assert_int_equal(out.len, sizeof(expected));
	strbuf_deinit(&out);
}

static void test_file_symbol(void **state)
{
	static const uint8_t expected[] = {
		'k', 'a', 'a', '1', 7, 0, 0, 0,
		0x10, 0x20, 0, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 0xab, 0xcd, 2, 0, '/', 'x', 1, 0, 'f',
	};
	const struct kaa_file_symbol symbol = {
		.offset = 0x2010,
		.size = 0x30,
		.build_id = STRING("\xab\xcd"),
		.path = STRING("/x"),
		.name = STRING("f"),
	};
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_encode_file_symbol(&symbol, &out));
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_FILE_SYMBOL);
	assert_true(p.file_symbol.offset == 0x2010 && p.file_symbol.size == 0x30);
	assert_int_equal(p.file_symbol.build_id.len, 2);
	assert_memory_equal(p.file_symbol.build_id.data, "\xab\xcd", 2);
	assert_int_equal(p.file_symbol.path.len, 2);
	assert_int_equal(p.file_symbol.name.len, 1);
	assert_int_equal(p.file_symbol.name.data[0], 'f');
	for (size_t i = 0; i < out.len; i++)
		assert_fails(kaa_stream_decode(out.data, i, &p), ERROR_TRUNCATED);
	strbuf_deinit(&out);
}

static void test_source(void **state)
{
	static const uint8_t expected[] = {
		'k', 'a', 'a', '1', 8, 0, 0, 0,
		0x10, 0x20, 0, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0x80,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 0, '/', 'x',
	};
	const struct kaa_source source = {
		.size = 0x2010,
		.modified = INT64_MIN + 0x30,
		.hash = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
		.path = STRING("/x"),
	};
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_encode_source(&source, &out));
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_int_equal(p.type, KAA_SOURCE);
	assert_true(p.source.size == source.size && p.source.modified == source.modified);
	assert_memory_equal(&p.source.hash, &source.hash, sizeof(source.hash));
	assert_int_equal(p.source.path.len, 2);
	for (size_t i = 0; i < out.len; i++)
		assert_fails(kaa_stream_decode(out.data, i, &p), ERROR_TRUNCATED);
	strbuf_deinit(&out);
}

static void test_summary(void **state)
{
	const struct kaa_counter counters[] = {
		{ STRING("samples"), 12 },
		{ STRING("incomplete"), UINT64_MAX },
	};
	struct strbuf out = STRBUF_INIT;
	struct kaa_counter counter;
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_encode_summary(counters, 2, &out));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_true(kaa_summary_next(&p.summary, &counter));
	assert_string(&counter.name, "samples");
	assert_int_equal(counter.value, 12);
	assert_true(kaa_summary_next(&p.summary, &counter));
	assert_int_equal(counter.value, UINT64_MAX);
	assert_false(kaa_summary_next(&p.summary, &counter));
	strbuf_deinit(&out);
}

/* Names are cut between characters, not inside one. */
static void test_long_names(void **state)
{
	char *name = malloc(100001);
	struct kaa_symbol symbol = {};
	struct strbuf out = STRBUF_INIT;
	struct kaa_payload p;

	(void)state;
	name[0] = 'x';
	for (size_t i = 1; i < 100001; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	symbol.name = (struct kaa_string){ name, 100001 };
	assert_ok(kaa_encode_symbol(&symbol, &out));
	assert_ok(kaa_stream_decode(out.data, out.len, &p));
	assert_in_range(p.symbol.name.len, 20000, KAA_STREAM_MAX);
	assert_int_equal(p.symbol.name.len % 2, 1);
	strbuf_deinit(&out);
	free(name);
}

static void test_foreign_payloads(void **state)
{
	static const uint8_t unknown[] = { 'k', 'a', 'a', '1', 99, 0, 0, 0 };
	struct kaa_payload p;

	(void)state;
	assert_ok(kaa_stream_decode(unknown, sizeof(unknown), &p));
	assert_int_equal(p.type, 99);
	assert_fails(kaa_stream_decode("other program", 13, &p), ERROR_FORMAT);
}

/* Every shorter payload is refused, without a read past its end. */
static void test_truncation(void **state)
{
	struct strbuf out = STRBUF_INIT;
	uint32_t slots;

	(void)state;
	assert_ok(kaa_encode_code(&code, &out, &slots));
	for (size_t n = 0; n < out.len; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		struct kaa_payload p;

		memcpy(copy, out.data, n);
		assert_fails(kaa_stream_decode(copy, n, &p), ERROR_TRUNCATED);
		free(copy);
	}
	strbuf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_layout),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_long_code),
		cmocka_unit_test(test_hostile_code),
		cmocka_unit_test(test_symbol_and_python),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_file_symbol),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_foreign_payloads),
		cmocka_unit_test(test_truncation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

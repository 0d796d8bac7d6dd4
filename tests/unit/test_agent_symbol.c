// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of Python functions. What is no printable text must come out as Python's
 * own backslashreplace has it: tests/live asks CPython itself, here are the
 * answers that its documentation of codecs gives, and hostile bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent/symbol.h"

static char out[AGENT_SYMBOL_SIZE];

static const char *symbol(const char *qualname, const char *filename)
{
	size_t size = agent_symbol_write(qualname, strlen(qualname), filename,
					 strlen(filename), out);

	assert_int_equal(size, strlen(out));
	return out;
}

static void test_plain_names_stay(void **state)
{
	(void)state;
	assert_string_equal(symbol("A.<locals>.f", "/tmp/a b.py"),
			    "py::A.<locals>.f:/tmp/a b.py");
	assert_string_equal(symbol("<module>", "<frozen importlib._bootstrap>"),
			    "py::<module>:<frozen importlib._bootstrap>");
	assert_string_equal(symbol("", ""), "py:::");
	assert_string_equal(symbol("größe.名前.𝔉", "C:\\x\\n.py"),
			    "py::größe.名前.𝔉:C:\\x\\n.py");
}

static void test_control_characters_are_escaped(void **state)
{
	(void)state;
	assert_string_equal(symbol("a\nb\tc\rd", "x\033[31m\177y"),
			    "py::a\\nb\\tc\\rd:x\\x1b[31m\\x7fy");
	/* U+0085, U+009B, U+00A0, U+2028, U+2029 */
	assert_string_equal(symbol("\302\205\302\233\302\240",
				   "\342\200\250\342\200\251"),
			    "py::\\x85\\x9b\302\240:\\u2028\\u2029");
	agent_symbol_write("a\0b", 3, "c\0", 2, out);
	assert_string_equal(out, "py::a\\x00b:c\\x00");
}

static void test_what_is_no_utf8_is_escaped(void **state)
{
	(void)state;
	/* Lone surrogates, as surrogatepass encodes U+DCFF and U+D800. */
	assert_string_equal(symbol("f", "/\355\263\277/\355\240\200"),
			    "py::f:/\\udcff/\\ud800");
	/* Latin-1, a sequence cut short, an overlong NUL, beyond U+10FFFF. */
	assert_string_equal(symbol("\351t\351", "\342\202"),
			    "py::\\xe9t\\xe9:\\xe2\\x82");
	assert_string_equal(symbol("\300\200", "\364\220\200\200"),
			    "py::\\xc0\\x80:\\xf4\\x90\\x80\\x80");
	assert_string_equal(symbol("\340\200\200", "\360\200\200\200"),
			    "py::\\xe0\\x80\\x80:\\xf0\\x80\\x80\\x80");
}

static void test_long_names_are_cut_between_characters(void **state)
{
	static char name[20000];
	size_t size;

	(void)state;
	/* Three bytes each: the last one that fits ends below the limit. */
	for (size_t i = 0; i < sizeof(name) - 2; i += 3)
		memcpy(name + i, "\342\202\254", 3);
	size = agent_symbol_write(name, 19998, name, 19998, out);
	assert_true(size < AGENT_SYMBOL_SIZE);
	assert_int_equal(strlen(out), size);
	assert_int_equal(size, 4 + 1020 + 3 + 1 + 4092 + 3);
	assert_memory_equal(out + 4 + 1020, "...:\342\202\254", 7);
	assert_memory_equal(out + size - 6, "\342\202\254...", 6);
	memset(name, 'x', AGENT_QUALNAME_MAX);
	size = agent_symbol_write(name, AGENT_QUALNAME_MAX, "f", 1, out);
	assert_int_equal(size, 4 + AGENT_QUALNAME_MAX + 2);
	memset(name, '\n', sizeof(name));
	size = agent_symbol_write(name, sizeof(name), name, sizeof(name), out);
	assert_int_equal(size, 4 + 1020 + 3 + 1 + 4092 + 3);
}

/* Whatever comes in: it fits, and nothing in it can break a line. */
static void test_any_bytes_make_one_line(void **state)
{
	char qualname[2000], filename[6000];

	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		size_t n = (size_t)rand() % sizeof(qualname);
		size_t m = (size_t)rand() % sizeof(filename);
		size_t size;

		for (size_t i = 0; i < n; i++)
			qualname[i] = (char)rand();
		for (size_t i = 0; i < m; i++)
			filename[i] = (char)rand();
		size = agent_symbol_write(qualname, n, filename, m, out);
		assert_true(size < AGENT_SYMBOL_SIZE);
		assert_int_equal(strlen(out), size);
		for (size_t i = 0; i < size; i++)
			assert_true((uint8_t)out[i] >= 0x20 && out[i] != 0x7f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names_stay),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_what_is_no_utf8_is_escaped),
		cmocka_unit_test(test_long_names_are_cut_between_characters),
		cmocka_unit_test(test_any_bytes_make_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

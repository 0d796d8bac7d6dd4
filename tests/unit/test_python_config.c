// SPDX-License-Identifier: GPL-2.0-only
/* _sysconfigdata*.py, as pprint (up to 3.14) and json (3.15) write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_tree.h"
#include "python/look/facts.h"
#include "python/look/look.h"

static struct python_config parse(const char *text)
{
	struct python_config config = {};

	assert_null(python_config_parse(
		(struct bytes){ (const uint8_t *)text, strlen(text) },
		&config));
	return config;
}

static void test_build_with_everything(void **state)
{
	struct python_config config = parse(
		"# system configuration generated and used by the sysconfig module\n"
		"build_time_vars = {'ABIFLAGS': 't',\n"
		" 'CONFIG_ARGS': \"'--enable-shared' \"\n"
		"                \"'--enable-experimental-jit=yes-off'\",\n"
		" 'PY_CFLAGS': '-Wall '\n"
		"              '-fno-omit-frame-pointer',\n"
		" 'PY_HAVE_PERF_TRAMPOLINE': 1,\n"
		" 'Py_GIL_DISABLED': 1}\n");

	(void)state;
	assert_true(config.known);
	assert_int_equal(config.perf_trampoline, ANSWER_YES);
	assert_int_equal(config.free_threaded, ANSWER_YES);
	assert_int_equal(config.jit, ANSWER_YES);
	assert_string_equal(config.frame_pointer_variable, "PY_CFLAGS");
	python_config_deinit(&config);
}

static void test_build_with_nothing(void **state)
{
	struct python_config config = parse(
		"build_time_vars = {\n"
		"    'CONFIG_ARGS': '--enable-experimental-jit=no',\n"
		"    'CFLAGS': '-fomit-frame-pointer',\n"
		"    'PY_HAVE_PERF_TRAMPOLINE': 0,\n"
		"    'Py_GIL_DISABLED': '0',\n"
		"}\n");

	(void)state;
	assert_true(config.known);
	assert_int_equal(config.perf_trampoline, ANSWER_NO);
	assert_int_equal(config.free_threaded, ANSWER_NO);
	assert_int_equal(config.jit, ANSWER_NO);
	assert_null(config.frame_pointer_variable);
	python_config_deinit(&config);
}

static void test_the_jit_interpreter_is_no_jit(void **state)
{
	struct python_config config = parse(
		" 'CONFIG_ARGS': '--enable-experimental-jit=interpreter',\n");

	(void)state;
	assert_int_equal(config.jit, ANSWER_NO);
	config = parse(" 'CONFIG_ARGS': '--enable-experimental-jit',\n");
	assert_int_equal(config.jit, ANSWER_YES);
}

static void test_odd_text(void **state)
{
	static const char *const texts[] = {
		"",	"\n\n",	 "'",	 "'\n",	       "'a\n", "'a'\n",
		"'a':", "{'a':", "\"'", "'PY_HAVE_PERF_TRAMPOLINE':",
		"no-omit-frame-pointer",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct python_config config = parse(texts[i]);

		assert_int_equal(config.perf_trampoline, ANSWER_NO);
		python_config_deinit(&config);
	}
}

#define FRAME_POINTERS "{'CFLAGS': '-fno-omit-frame-pointer', 'CONFIG_ARGS': ''}"
#define NONE "{'CFLAGS': '-O2', 'CONFIG_ARGS': ''}"
#define FOLDER "/usr/lib/python3.13/"

/* Of the program that runs, whichever the folder lists first. */
static void test_debug_build_beside_the_other(void **state)
{
	static const struct fake_file files[] = {
		{ "/usr/bin/python3.13", "" },
		{ FOLDER "_sysconfigdata__x86_64-linux-gnu.py", NONE },
		{ FOLDER "_sysconfigdata_d_x86_64-linux-gnu.py",
		  FRAME_POINTERS },
	};
	static const char *const programs[] = { "/usr/bin/python3.13",
						"/usr/bin/python3.13d" };
	char root[] = "/tmp/test-python-config-XXXXXX";

	(void)state;
	fake_tree_make(root, files, sizeof(files) / sizeof(*files));
	for (int debug = 0; debug < 2; debug++) {
		char program[64];
		char version[] = "3.13.5";
		struct python_facts facts = { .program = program,
					      .version = version };

		strcpy(program, programs[debug]);
		assert_null(python_look_at_sysconfig(root, &facts));
		assert_true(facts.config.known);
		assert_int_equal(facts.config.frame_pointer_variable != NULL,
				 debug);
		python_config_deinit(&facts.config);
	}
	fake_tree_remove(root);
}

static void test_prologues(void **state)
{
	struct prologue_count few = { 10, 10 };
	/* Debian's 3.14 and 3.15. */
	struct prologue_count without = { 609, 16 };
	struct prologue_count with = { 700, 432 };

	(void)state;
	assert_int_equal(prologue_answer(&few), ANSWER_UNKNOWN);
	assert_int_equal(prologue_answer(&without), ANSWER_NO);
	assert_int_equal(prologue_answer(&with), ANSWER_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_with_everything),
		cmocka_unit_test(test_build_with_nothing),
		cmocka_unit_test(test_the_jit_interpreter_is_no_jit),
		cmocka_unit_test(test_odd_text),
		cmocka_unit_test(test_debug_build_beside_the_other),
		cmocka_unit_test(test_prologues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

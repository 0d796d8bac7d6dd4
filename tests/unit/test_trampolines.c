// SPDX-License-Identifier: GPL-2.0-only
/* The perf map of a process as the recorder reads it while it grows. The process is this one. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/trampolines.h"

struct fixture {
	char path[64];
	struct code_table codes;
	struct trampolines *trampolines;
	uint64_t round;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){};
	snprintf(f.path, sizeof(f.path), "/tmp/perf-%d.map", (int)getpid());
	unlink(f.path);
	code_table_init(&f.codes);
	assert_null(trampolines_create((uint32_t)getpid(), getuid(),
				       &f.trampolines));
	trampolines_set_parent(f.trampolines, NULL);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	trampolines_destroy(f->trampolines);
	code_table_deinit(&f->codes);
	unlink(f->path);
	return 0;
}

static void append(const struct fixture *f, const char *text)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct code *find(struct fixture *f, uint64_t address)
{
	struct code *code;

	assert_null(trampolines_find(f->trampolines, address, f->round,
				     &f->codes, &code));
	return code;
}

static void expect(struct fixture *f, uint64_t address, const char *qualname,
		   const char *filename)
{
	const struct code *code = find(f, address);

	assert_non_null(code);
	assert_string_equal(code->qualname, qualname);
	assert_string_equal(code->filename, filename);
	assert_int_equal(code->first_line, 0);
	assert_true(code->no_lines);
}

static void test_grows(void **state)
{
	struct fixture *f = *state;

	f->round = 1;
	assert_null(find(f, 0x1000));
	append(f, "1000 b py::C.f:/x.py\n100b b py::<module>:/x.py\n1016 b py::ha");
	/* Not read again in the same round. */
	assert_null(find(f, 0x1000));
	f->round = 2;
	expect(f, 0x1000, "C.f", "/x.py");
	expect(f, 0x100a, "C.f", "/x.py");
	expect(f, 0x100b, "<module>", "/x.py");
	assert_null(find(f, 0x1016));
	append(f, "lf:/y.py\n2000 20 py::a:b:c\n");
	f->round = 3;
	expect(f, 0x1016, "half", "/y.py");
	expect(f, 0x2010, "a", "b:c");
	assert_null(find(f, 0x2020));
	/* Another function's code object of the same name is the same. */
	assert_ptr_equal(find(f, 0x1000), find(f, 0x1005));
}

static void test_what_is_no_trampoline(void **state)
{
	struct fixture *f = *state;

	f->round = 1;
	append(f, "1000 10 LazyCompile:~foo\n2000 10 py::\n3000 10 py::nameless\nrubbish\n"
		  "ffffffffffffffff 1 py::f:x\n4000 0 py::g:x\n\n5000 10 py::h:x\n");
	assert_null(find(f, 0x1000));
	expect(f, 0x2000, "", "");
	expect(f, 0x3000, "nameless", "");
	assert_null(find(f, 0x4000));
	expect(f, 0x5000, "h", "x");
}

static void test_names_are_text(void **state)
{
	struct fixture *f = *state;

	f->round = 1;
	append(f, "1000 10 py::na\xc3\xafve:/\xff\x80\xed\xa0\x80.py\n2000 10 py::a\xc2\x9b:b\n");
	expect(f, 0x1000, "na\xc3\xafve", "/\\xff\\x80\\xed\\xa0\\x80.py");
	expect(f, 0x2000, "a\\x9b", "b");
}

static void test_the_last_line_counts(void **state)
{
	struct fixture *f = *state;

	f->round = 1;
	append(f, "1000 20 py::old:x\n1010 20 py::mid:x\n");
	expect(f, 0x1000, "old", "x");
	expect(f, 0x1010, "mid", "x");
	/* A later piece of the map, over both. */
	append(f, "1008 10 py::new:x\n9000 10 py::other:x\n");
	f->round = 2;
	expect(f, 0x9000, "other", "x");
	expect(f, 0x1008, "new", "x");
	expect(f, 0x1017, "new", "x");
	expect(f, 0x1018, "mid", "x");
}

/* Many rounds: the pieces are put together, and the last line still counts. */
static void test_many_pieces(void **state)
{
	struct fixture *f = *state;
	char line[128];

	for (unsigned int i = 1; i <= 100; i++) {
		snprintf(line, sizeof(line),
			 "%x 10 py::f%u:x\n500 10 py::last%u:x\n", 0x1000 * i,
			 i, i);
		append(f, line);
		f->round = i;
		snprintf(line, sizeof(line), "f%u", i);
		expect(f, 0x1000 * i, line, "x");
		snprintf(line, sizeof(line), "last%u", i);
		expect(f, 0x500, line, "x");
	}
	assert_true(f->trampolines->pieces.count < 20);
	expect(f, 0x1000, "f1", "x");
	expect(f, 0x32000, "f50", "x");
}

static void test_made_anew(void **state)
{
	struct fixture *f = *state;

	f->round = 1;
	append(f, "1000 10 py::of_an_earlier_process:x\n2000 10 py::stale:x\n");
	expect(f, 0x1000, "of_an_earlier_process", "x");
	unlink(f->path);
	append(f, "1000 10 py::mine:x\n3000 10 py::too:x\n");
	f->round = 2;
	expect(f, 0x3000, "too", "x");
	expect(f, 0x1000, "mine", "x");
	assert_null(find(f, 0x2000));
	/* Cut. */
	assert_int_equal(truncate(f->path, 0), 0);
	append(f, "4000 10 py::x:y\n");
	f->round = 3;
	expect(f, 0x4000, "x", "y");
	assert_null(find(f, 0x1000));
}

static void test_frozen(void **state)
{
	struct fixture *f = *state;

	append(f, "1000 10 py::before:x\n");
	assert_null(trampolines_freeze(f->trampolines));
	append(f, "1000 10 py::after:x\n2000 10 py::after:x\n");
	f->round = 7;
	expect(f, 0x1000, "before", "x");
	assert_null(find(f, 0x2000));
}

static void test_files_that_are_none(void **state)
{
	struct fixture *f = *state;
	char target[] = "/tmp/kaa-test-XXXXXX";
	int fd = mkstemp(target);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1000 10 py::f:x\n", 16), 16);
	close(fd);
	assert_int_equal(symlink(target, f->path), 0);
	f->round = 1;
	assert_null(find(f, 0x1000));
	unlink(f->path);
	/* Opening this must not wait for a writer. */
	assert_int_equal(mkfifo(f->path, 0600), 0);
	f->round = 2;
	assert_null(find(f, 0x1000));
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	f->round = 3;
	assert_null(find(f, 0x1000));
	rmdir(f->path);
	unlink(target);
}

static void test_line_without_end(void **state)
{
	struct fixture *f = *state;
	size_t size = 3 << 20;
	char *text = malloc(size + 1);

	assert_non_null(text);
	memset(text, 'a', size);
	text[size] = '\0';
	append(f, "1000 10 py::f:x\n");
	append(f, text);
	append(f, "\n2000 10 py::g:x\n");
	free(text);
	f->round = 1;
	expect(f, 0x1000, "f", "x");
	expect(f, 0x2000, "g", "x");
}

/* A child asks its parent for what it did not announce itself. */
static void test_parents(void **state)
{
	struct fixture *f = *state;
	struct trampolines *child;
	struct code *code;

	assert_null(trampolines_create(1u << 30, getuid(), &child));
	trampolines_set_parent(child, f->trampolines);
	append(f, "1000 10 py::inherited [forked]:x\n");
	assert_null(trampolines_find(child, 0x1000, 1, &f->codes, &code));
	assert_non_null(code);
	assert_string_equal(code->qualname, "inherited");
	assert_null(trampolines_find(child, 0x2000, 1, &f->codes, &code));
	assert_null(code);
	trampolines_destroy(child);
}

/* Of a process that was there before: by its parent in /proc. */
static void test_parent_that_is_not_recorded(void **state)
{
	struct fixture *f = *state;
	struct trampolines *child;
	struct code *code;
	int gate[2];
	pid_t pid;
	char byte;

	append(f, "1000 10 py::master:x\n");
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	assert_null(trampolines_create((uint32_t)pid, getuid(), &child));
	assert_null(trampolines_find(child, 0x1008, 1, &f->codes, &code));
	assert_non_null(code);
	assert_string_equal(code->qualname, "master");
	close(gate[0]);
	close(gate[1]);
	waitpid(pid, NULL, 0);
	trampolines_destroy(child);
}

static void test_code_of_the_dead(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5,
					0xff, 0xd1, 0x5d, 0xc3 };
	static const uint8_t want[] = { 0,    0,    0x55, 0x48, 0x89, 0xe5, 0xff,
					0xd1, 0x5d, 0xc3, 0,	0,    0x55 };
	struct fixture *f = *state;
	uint8_t buf[sizeof(want)];

	f->round = 1;
	append(f, "1000 8 py::f:x\n100a 8 py::g:x\n2000 8 not_python\n");
	assert_non_null(find(f, 0x1000));
	assert_false(trampolines_read_code(f->trampolines, 0x1000, buf, 8));
	trampolines_set_code(f->trampolines, code, sizeof(code));
	assert_true(trampolines_read_code(f->trampolines, 0xffe, buf,
					  sizeof(buf)));
	assert_memory_equal(buf, want, sizeof(want));
	assert_false(trampolines_read_code(f->trampolines, 0x2000, buf, 8));
	assert_false(trampolines_read_code(f->trampolines, 0x3000, buf, 8));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_grows),
		TEST(test_what_is_no_trampoline),
		TEST(test_names_are_text),
		TEST(test_the_last_line_counts),
		TEST(test_many_pieces),
		TEST(test_made_anew),
		TEST(test_frozen),
		TEST(test_files_that_are_none),
		TEST(test_line_without_end),
		TEST(test_parents),
		TEST(test_parent_that_is_not_recorded),
		TEST(test_code_of_the_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

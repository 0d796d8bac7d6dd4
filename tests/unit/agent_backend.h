/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the agent's three backends share: a folder of the test's
 * own as KAA_TRAMPOLINE_DIR, functions with names, children.
 *
 * Include it first, it brings cmocka.
 */
#ifndef KAA_TESTS_AGENT_BACKEND_H
#define KAA_TESTS_AGENT_BACKEND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend.h"
#include "agent/symbol.h"
#include "fake_tree.h"

typedef void *test_evaluator(void *a, void *b, long c);
typedef void *test_trampoline(void *a, void *b, long c,
			      test_evaluator *evaluator);

static char test_dir[] = "/tmp/kaa-test-agent-XXXXXX";

static inline int make_test_dir(void **state)
{
	(void)state;
	if (!mkdtemp(test_dir))
		return -1;
	return setenv("KAA_TRAMPOLINE_DIR", test_dir, 1);
}

static inline int remove_test_dir(void **state)
{
	(void)state;
	return fake_tree_remove(test_dir);
}

/* The file's bytes, to be freed, with a NUL behind them. */
static inline char *read_whole(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *bytes;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = calloc(1, (size_t)status.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size),
			 status.st_size);
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes;
}

/* The symbol of function n of some file: "py::function_7:/src/module.py". */
static inline const char *function_name(int n)
{
	static char name[64];

	snprintf(name, sizeof(name), "py::function_%d:/src/module.py", n);
	return name;
}

static inline int announce_as(const struct agent_backend *backend,
			      const void *slot, const char *name, int line)
{
	struct agent_symbol symbol = {
		.name = name,
		.name_size = strlen(name),
		.filename = "/src/module.py",
		.first_line = line,
	};

	return backend->announce(slot, &symbol);
}

/* Takes a slot and announces it as function n, with n as its line. */
static inline void *take_function(const struct agent_backend *backend, int n)
{
	void *slot = backend->take();

	assert_non_null(slot);
	assert_int_equal(announce_as(backend, slot, function_name(n), n), 0);
	return slot;
}

static inline void *test_evaluate(void *a, void *b, long c)
{
	return (void *)((uintptr_t)a + (uintptr_t)b + (uintptr_t)c);
}

/* Whether the code at the slot does what a trampoline does. */
static inline bool is_trampoline(void *slot)
{
	test_trampoline *fn;

	memcpy(&fn, &slot, sizeof(fn));
	return fn((void *)1000, (void *)200, 30, test_evaluate) ==
	       (void *)1230;
}

/* What a child ends with where it cannot test anything. */
enum { CHILD_SKIPS = 77 };

/* Runs fn in a child, from which it has to return; skip_in_child() skips the test. */
static inline void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPS)
		skip();
	assert_int_equal(status, 0);
}

static inline void skip_in_child(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	_exit(CHILD_SKIPS);
}

/* For children, where a failed assertion would not end the test program. */
#define CHECK(condition)                                               \
	do {                                                           \
		if (!(condition)) {                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, \
				__LINE__, #condition);                 \
			_exit(1);                                      \
		}                                                      \
	} while (0)

/* For a child: a file system of its own, of so many bytes, at test_dir. */
static inline void mount_small(const char *options)
{
	if (unshare(CLONE_NEWNS)) {
		CHECK(errno == EPERM);
		skip_in_child("only root can mount file systems");
	}
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount("none", test_dir, "tmpfs", 0, options) == 0);
}

/*
 * The same, where nothing may be executed. An emulator of another machine runs code
 * from there all the same.
 */
static inline void mount_without_exec(void)
{
	if (getenv("KAA_EMULATED"))
		skip_in_child("an emulator runs code from everywhere");
	mount_small("size=1m");
	CHECK(mount("none", test_dir, "tmpfs", MS_REMOUNT | MS_NOEXEC, NULL) ==
	      0);
}

/*
 * Kills a child that goes on announcing functions; returns how many of them it
 * knew to be announced, in slots[].
 */
static inline int kill_announcing(const struct agent_backend *backend,
				  void **slots, int max, pid_t *ret)
{
	int pipes[2], count = 0, status;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		backend->forked();
		CHECK(backend->open() == 0);
		for (int i = 0; i < 1000000; i++) {
			void *slot = backend->take();

			CHECK(slot && !announce_as(backend, slot,
						   function_name(i), i));
			CHECK(write(pipes[1], &slot, sizeof(slot)) ==
			      sizeof(slot));
		}
		_exit(1);
	}
	close(pipes[1]);
	while (count < max && read(pipes[0], &slots[count], sizeof(void *)) ==
				      sizeof(void *))
		count++;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(pipes[0]);
	*ret = pid;
	return count;
}

/*
 * For a child: announces on a small file system until that fails, at most max
 * times. How many it took, and the slot that it did not.
 */
static inline int fill_small_disk(const struct agent_backend *backend,
				  const char *size, int max, void **ret)
{
	mount_small(size);
	backend->forked();
	CHECK(backend->open() == 0);
	for (int i = 0;; i++) {
		*ret = backend->take();
		CHECK(*ret && i < max);
		if (announce_as(backend, *ret, function_name(i), i))
			return i;
	}
}

#endif

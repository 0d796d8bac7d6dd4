// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent's files among foreign, stale and planted ones. Everything happens in
 * a folder of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend.h"
#include "agent/files.h"
#include "fake_tree.h"

static char dir[] = "/tmp/kaa-test-files-XXXXXX";

static const char *path_of(const char *prefix, const char *suffix)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s%d%s", dir, prefix, (int)getpid(),
		 suffix);
	return path;
}

static int append(struct agent_file *file, const char *text)
{
	struct iovec parts[] = { { (char *)text, 1 },
				 { (char *)text + 1, strlen(text) - 1 } };

	return agent_file_append(file, parts, 2);
}

static void expect(const char *path, const char *content)
{
	char buf[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	assert_true(fd >= 0);
	size = read(fd, buf, sizeof(buf));
	close(fd);
	assert_int_equal(size, strlen(content));
	assert_memory_equal(buf, content, strlen(content));
}

static void put(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void make_old(const char *path)
{
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int open_log(struct agent_file *file, const char *suffix)
{
	uint64_t size;

	return agent_file_open(file, AGENT_FILE_LOG, "log-", suffix, &size);
}

static int open_shared(struct agent_file *file, const char *suffix,
		       uint64_t *ret_size)
{
	return agent_file_open(file, AGENT_FILE_SHARED_LOG, "shared-", suffix,
			       ret_size);
}

static void test_new_file_is_private(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	mode_t mask = umask(0777);
	struct stat status;

	(void)state;
	assert_int_equal(open_log(&file, ".new"), 0);
	umask(mask);
	assert_int_equal(append(&file, "one\n"), 0);
	assert_int_equal(stat(path_of("log-", ".new"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(append(&file, "two\n"), 0);
	agent_file_close(&file);
	expect(path_of("log-", ".new"), "one\ntwo\n");
}

static void test_closed_file_goes_on(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	uint64_t size;

	(void)state;
	assert_int_equal(open_log(&file, ".goes-on"), 0);
	assert_int_equal(append(&file, "one\n"), 0);
	agent_file_close(&file);
	assert_int_equal(agent_file_open(&file, AGENT_FILE_LOG, "log-",
					 ".goes-on", &size), 0);
	assert_int_equal(size, 4);
	assert_int_equal(append(&file, "two\n"), 0);
	agent_file_close(&file);
	expect(path_of("log-", ".goes-on"), "one\ntwo\n");
}

/* An earlier process's file: its inode stays what it was for who has it open. */
static void test_stale_file_is_replaced(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	const char *path = path_of("shared-", ".stale");
	uint64_t size = 99;
	int before;

	(void)state;
	put(path, "stale\n");
	make_old(path);
	before = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(open_shared(&file, ".stale", &size), 0);
	assert_int_equal(size, 0);
	assert_int_equal(append(&file, "new\n"), 0);
	agent_file_close(&file);
	expect(path, "new\n");
	assert_int_equal(lseek(before, 0, SEEK_END), 6);
	close(before);
}

static void test_file_of_own_kind_is_replaced_though_new(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;

	(void)state;
	put(path_of("log-", ".before-exec"), "of another program\n");
	assert_int_equal(open_log(&file, ".before-exec"), 0);
	assert_int_equal(append(&file, "new\n"), 0);
	agent_file_close(&file);
	expect(path_of("log-", ".before-exec"), "new\n");
}

/* As if another code generator in this process had begun the perf map. */
static void test_shared_file_of_this_process_is_gone_on_with(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	uint64_t size;

	(void)state;
	put(path_of("shared-", ".other"), "other\n");
	assert_int_equal(open_shared(&file, ".other", &size), 0);
	assert_int_equal(size, 6);
	assert_int_equal(append(&file, "ours\n"), 0);
	agent_file_close(&file);
	expect(path_of("shared-", ".other"), "other\nours\n");
}

/* The backend's and the embedder's, whatever the clock says. */
static void test_two_in_this_process_share_a_file(void **state)
{
	static struct agent_file first = AGENT_FILE_INIT;
	static struct agent_file second = AGENT_FILE_INIT;
	uint64_t size;

	(void)state;
	assert_int_equal(open_shared(&first, ".both", &size), 0);
	assert_int_equal(append(&first, "one\n"), 0);
	make_old(path_of("shared-", ".both"));
	assert_int_equal(open_shared(&second, ".both", &size), 0);
	assert_int_equal(append(&second, "two\n"), 0);
	assert_int_equal(append(&first, "three\n"), 0);
	agent_file_close(&first);
	agent_file_close(&second);
	expect(path_of("shared-", ".both"), "one\ntwo\nthree\n");
}

/* A hard link to a file somewhere else is never written through. */
static void test_hard_link_is_replaced(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	char victim[PATH_MAX];
	uint64_t size;

	(void)state;
	strcpy(victim, path_of("victim-", ""));
	put(victim, "victim\n");
	assert_int_equal(link(victim, path_of("shared-", ".hard")), 0);
	assert_int_equal(open_shared(&file, ".hard", &size), 0);
	assert_int_equal(append(&file, "ours\n"), 0);
	agent_file_close(&file);
	expect(victim, "victim\n");
	expect(path_of("shared-", ".hard"), "ours\n");
}

static void test_links_and_folders_are_refused(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	char victim[PATH_MAX];

	(void)state;
	strcpy(victim, path_of("victim-", ".soft"));
	put(victim, "victim\n");
	assert_int_equal(symlink(victim, path_of("log-", ".soft")), 0);
	assert_int_equal(open_log(&file, ".soft"), EEXIST);
	assert_string_equal(agent_backend_subject(), path_of("log-", ".soft"));
	assert_int_equal(unlink(path_of("log-", ".soft")), 0);
	assert_int_equal(symlink("nowhere", path_of("log-", ".soft")), 0);
	assert_int_equal(open_log(&file, ".soft"), EEXIST);
	expect(victim, "victim\n");
	assert_int_equal(mkdir(path_of("log-", ".dir"), 0700), 0);
	assert_int_equal(open_log(&file, ".dir"), EEXIST);
	assert_int_equal(mkfifo(path_of("log-", ".fifo"), 0600), 0);
	assert_int_equal(open_log(&file, ".fifo"), EEXIST);
}

static void test_foreign_file_is_refused_unless_root_finds_it_old(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	const char *path = path_of("log-", ".foreign");

	(void)state;
	if (getuid() != 0) {
		print_message("skipped: only root can make another's file\n");
		skip();
	}
	put(path, "foreign\n");
	assert_int_equal(chown(path, 4321, 4321), 0);
	assert_int_equal(open_log(&file, ".foreign"), EEXIST);
	expect(path, "foreign\n");
	make_old(path);
	assert_int_equal(open_log(&file, ".foreign"), 0);
	assert_int_equal(append(&file, "ours\n"), 0);
	expect(path, "ours\n");
}

static void test_folder_must_be_there_and_absolute(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;

	(void)state;
	setenv("KAA_TRAMPOLINE_DIR", "/nowhere/at/all", 1);
	assert_int_equal(open_log(&file, ""), ENOENT);
	assert_memory_equal(agent_backend_subject(), "/nowhere/at/all/log-", 20);
	setenv("KAA_TRAMPOLINE_DIR", "here", 1);
	assert_int_equal(open_log(&file, ""), EINVAL);
	setenv("KAA_TRAMPOLINE_DIR", dir, 1);
}

/* A daemon closes all it has, and opens files of its own: hands off. */
static void test_descriptor_that_the_program_took_is_not_used(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	const char *other = path_of("program", "s-own");
	int fd;

	(void)state;
	assert_int_equal(open_log(&file, ".taken"), 0);
	assert_int_equal(append(&file, "one\n"), 0);
	fd = file.fd;
	close(fd);
	put(other, "");
	assert_int_equal(open(other, O_RDWR | O_CLOEXEC), fd);
	assert_int_equal(append(&file, "two\n"), 0);
	assert_int_not_equal(file.fd, fd);
	expect(path_of("program", "s-own"), "");
	expect(path_of("log-", ".taken"), "one\ntwo\n");
	close(file.fd);
	assert_int_equal(dup2(fd, file.fd), file.fd);
	agent_file_close(&file);
	assert_int_equal(write(fd, "mine\n", 5), 5);
	close(fd);
	expect(path_of("program", "s-own"), "mine\n");
}

static void test_file_that_is_gone_is_an_error(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;

	(void)state;
	assert_int_equal(open_log(&file, ".gone"), 0);
	unlink(path_of("log-", ".gone"));
	/* Still open: as good as ever. */
	assert_int_equal(append(&file, "one\n"), 0);
	close(file.fd);
	put(path_of("log-", ".gone"), "another\n");
	assert_int_equal(append(&file, "two\n"), EBADF);
	expect(path_of("log-", ".gone"), "another\n");
}

static void test_standard_streams_are_left_free(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct agent_file file = AGENT_FILE_INIT;

		close(0);
		close(1);
		_exit(open_log(&file, ".streams") == 0 && file.fd > 2 &&
				      open("/dev/null", O_RDONLY) == 0 ?
			      0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* RLIMIT_FSIZE: an error and no signal, and what was written whole stays. */
static void test_limit_is_an_error(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	struct rlimit before, small;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 10;
	assert_int_equal(open_log(&file, ".limit"), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(append(&file, "12345\n"), 0);
	assert_int_equal(append(&file, "6789\n"), EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	agent_file_close(&file);
	expect(path_of("log-", ".limit"), "12345\n");
}

static void test_image_is_written_anywhere(void **state)
{
	static const struct agent_file_piece pieces[] = { { 4, "5678", 4 },
							  { 0, "1234", 4 } };
	struct agent_file file = AGENT_FILE_INIT;
	uint64_t size;

	(void)state;
	assert_int_equal(agent_file_open(&file, AGENT_FILE_IMAGE, "image-", "",
					 &size), 0);
	assert_int_equal(agent_file_truncate(&file, 8), 0);
	assert_int_equal(agent_file_write_at(&file, pieces, 2), 0);
	agent_file_close(&file);
	expect(path_of("image-", ""), "12345678");
}

/* The child writes to a file of its own, and leaves the parent's alone. */
static void test_fork_makes_another_file(void **state)
{
	struct agent_file file = AGENT_FILE_INIT;
	char parent[PATH_MAX];
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(open_log(&file, ".fork"), 0);
	strcpy(parent, path_of("log-", ".fork"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = file.fd;

		if (append(&file, "no\n") != ESRCH)
			_exit(1);
		agent_file_forget(&file);
		if (fcntl(fd, F_GETFD) != -1 || open_log(&file, ".fork") ||
		    append(&file, "child\n"))
			_exit(2);
		expect(path_of("log-", ".fork"), "child\n");
		unlink(file.path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(append(&file, "parent\n"), 0);
	agent_file_close(&file);
	expect(parent, "parent\n");
}

/* In a child, since all of the process's files are removed. */
static void leave_files(const char *keep)
{
	static struct agent_file made = AGENT_FILE_INIT;
	static struct agent_file replaced = AGENT_FILE_INIT;

	setenv("KAA_TRAMPOLINE_KEEP", keep, 1);
	if (open_log(&made, ".made") || open_log(&replaced, ".replaced"))
		_exit(1);
	unlink(replaced.path);
	put(replaced.path, "another\n");
	if (fork() == 0)
		exit(0);
	wait(NULL);
	/* The child's exit has removed nothing of ours. */
	_exit(access(made.path, F_OK) ? 2 :
	      (agent_files_remove(), access(made.path, F_OK) ? 3 : 4));
}

static int run_leave_files(const char *keep, char replaced[PATH_MAX])
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		leave_files(keep);
	snprintf(replaced, PATH_MAX, "%s/log-%d.replaced", dir, (int)pid);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_files_are_removed_at_exit_if_asked(void **state)
{
	char replaced[PATH_MAX];

	(void)state;
	assert_int_equal(run_leave_files("0", replaced), 3);
	expect(replaced, "another\n");
	assert_int_equal(run_leave_files("1", replaced), 4);
	assert_int_equal(run_leave_files("", replaced), 4);
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	return setenv("KAA_TRAMPOLINE_DIR", dir, 1);
}

static int remove_dir(void **state)
{
	(void)state;
	return fake_tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_file_is_private),
		cmocka_unit_test(test_closed_file_goes_on),
		cmocka_unit_test(test_stale_file_is_replaced),
		cmocka_unit_test(test_file_of_own_kind_is_replaced_though_new),
		cmocka_unit_test(test_shared_file_of_this_process_is_gone_on_with),
		cmocka_unit_test(test_two_in_this_process_share_a_file),
		cmocka_unit_test(test_hard_link_is_replaced),
		cmocka_unit_test(test_links_and_folders_are_refused),
		cmocka_unit_test(
			test_foreign_file_is_refused_unless_root_finds_it_old),
		cmocka_unit_test(test_folder_must_be_there_and_absolute),
		cmocka_unit_test(test_descriptor_that_the_program_took_is_not_used),
		cmocka_unit_test(test_file_that_is_gone_is_an_error),
		cmocka_unit_test(test_standard_streams_are_left_free),
		cmocka_unit_test(test_limit_is_an_error),
		cmocka_unit_test(test_image_is_written_anywhere),
		cmocka_unit_test(test_fork_makes_another_file),
		cmocka_unit_test(test_files_are_removed_at_exit_if_asked),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

// SPDX-License-Identifier: GPL-2.0-only
/* perf's versions, remote memory, helpers, the user behind sudo. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/capability.h"
#include "sys/capture.h"
#include "sys/file.h"
#include "sys/invoker.h"
#include "sys/invoker_path.h"
#include "sys/own_program.h"
#include "sys/perf_event.h"
#include "sys/perf_version.h"
#include "sys/privilege.h"
#include "sys/probe_machine.h"
#include "sys/process_script.h"
#include "sys/remote_memory.h"
#include "assert_ok.h"
#include "fake_tree.h"

static void test_perf_versions(void **state)
{
	static const struct {
		const char *text;
		unsigned int major, minor, patch;
		bool fault;
	} cases[] = {
		{ "perf version 4.19.304", 4, 19, 304, true },
		{ "perf version 5.15.189\n", 5, 15, 189, true },
		{ "perf version 6.1.187", 6, 1, 187, true },
		{ "perf version 6.6.15", 6, 6, 15, true },
		{ "perf version 6.7", 6, 7, 0, true },
		{ "perf version 6.7-3", 6, 7, 0, true },
		{ "perf version 6.7.1", 6, 7, 1, true },
		{ "perf version 6.7.g0dd3ee311255", 6, 7, 0, true },
		{ "perf version 6.7.rc5.g1234", 6, 7, 0, true },
		{ "perf version 6.7.2", 6, 7, 2, false },
		{ "perf version 6.7.12", 6, 7, 12, false },
		{ "perf version 6.7.9-1", 6, 7, 9, false },
		{ "perf version 6.7.12-1~bpo12+1", 6, 7, 12, false },
		{ "perf version 6.8.g1234", 6, 8, 0, false },
		{ "perf version 6.8.12", 6, 8, 12, false },
		{ "perf version 6.8.1a2b3c4d", 6, 8, 0, false },
		{ "perf version 6.14.0-33", 6, 14, 0, false },
		{ "perf version 7.2.13", 7, 2, 13, false },
	};
	static const char *const none[] = {
		"", "perf", "perf version ", "perf version x.y",
		"perf version 6", "perf version 6.", "perf version 99999.1",
		"WARNING: perf not found for kernel 6.8.0-45",
	};
	struct perf_version version;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(perf_version_parse(cases[i].text, &version));
		assert_int_equal(version.major, cases[i].major);
		assert_int_equal(version.minor, cases[i].minor);
		assert_int_equal(version.patch, cases[i].patch);
		if (perf_version_has_jit_fault(&version) != cases[i].fault)
			fail_msg("%s", cases[i].text);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(perf_version_parse(none[i], &version));
}

static void test_remote_memory(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct remote_memory memory = remote_memory_init(getpid());
	uint8_t *pages = mmap(NULL, 200 * page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *copy = malloc(200 * page);
	uint64_t address = (uint64_t)(uintptr_t)pages;
	struct error *error;

	(void)state;
	for (size_t i = 0; i < 200 * page; i++)
		pages[i] = (uint8_t)(i * 31 + i / 4096);
	assert_ok(remote_memory_read_exact(&memory, address + 5, copy,
					   199 * page));
	assert_memory_equal(copy, pages + 5, 199 * page);
	/* A hole: reads stop exactly there, before and after the first call. */
	munmap(pages + 150 * page, page);
	assert_int_equal(remote_memory_read(&memory, address + 10, copy,
					    180 * page),
			 150 * page - 10);
	assert_memory_equal(copy, pages + 10, 150 * page - 10);
	assert_int_equal(remote_memory_read(&memory, address + 150 * page,
					    copy, 8),
			 -EFAULT);
	assert_int_equal(remote_memory_read(&memory, UINT64_MAX - 3, copy, 8),
			 -EFAULT);
	assert_int_equal(remote_memory_read(&memory, address, copy, 0), 0);
	error = remote_memory_read_exact(&memory, address + 149 * page, copy,
					 2 * page);
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_FAULT);
	error_destroy(error);
	remote_memory_deinit(&memory);
	munmap(pages, 200 * page);
	free(copy);
}

static void test_remote_memory_of_nobody(void **state)
{
	struct remote_memory memory = remote_memory_init(4 * 1024 * 1024 + 1);
	struct error *error;
	char c;

	(void)state;
	error = remote_memory_read_exact(&memory, 4096, &c, 1);
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_NOT_FOUND);
	error_destroy(error);
	remote_memory_deinit(&memory);
}

static struct error *capture(const char *script, int timeout_ms, size_t limit,
			     struct strbuf *out, int *status)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct capture spec = { .argv = argv,
				      .timeout_ms = timeout_ms,
				      .limit = limit };

	return capture_run(&spec, out, status);
}

static bool stop_at_third_look(void *arg, const char *what, uint64_t done,
			       uint64_t total)
{
	int *looks = arg;

	assert_string_equal(what, "sh");
	assert_true(done <= total);
	return ++*looks < 3;
}

/* The program would run for much longer than the test may. */
static void test_capture_can_be_stopped(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo x; sleep 1000", NULL };
	int looks = 0, status = 0;
	struct watch watch = { .go_on = stop_at_third_look, .arg = &looks };
	const struct capture spec = { .argv = argv,
				      .timeout_ms = 1000000,
				      .limit = 100,
				      .watch = &watch };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *error = capture_run(&spec, &out, &status);

	(void)state;
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_INTERRUPTED);
	assert_int_equal(looks, 3);
	assert_int_equal(out.len, 0);
	error_destroy(error);
}

static void test_capture(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *error;
	int status = -1;

	(void)state;
	assert_ok(capture("echo hello; echo noise >&2; cat; exit 3", 100000, 100,
			  &out, &status));
	assert_string_equal(out.data, "hello\n");
	assert_int_equal(WEXITSTATUS(status), 3);
	error = capture("echo x; sleep 60", 300, 100, &out, &status);
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_LIMIT);
	error_destroy(error);
	error = capture("yes", 100000, 1000, &out, &status);
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_LIMIT);
	error_destroy(error);
	/* What failed leaves nothing behind. */
	assert_string_equal(out.data, "hello\n");
}

/* The beginning, however much there is, and while the program is quiet otherwise. */
static void test_capture_errors(void **state)
{
	const char *const argv[] = {
		"sh", "-c",
		"echo out; echo first >&2; yes | head -c 300000 >&2; exit 5",
		NULL
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	const struct capture spec = { .argv = argv,
				      .timeout_ms = 100000,
				      .limit = 100,
				      .errors = &errors };
	int status = -1;

	(void)state;
	assert_ok(capture_run(&spec, &out, &status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_string_equal(out.data, "out\n");
	assert_int_equal(errors.len, CAPTURE_ERRORS_MAX);
	assert_memory_equal(errors.data, "first\ny\n", 8);
}

static void test_which(void **state)
{
	_cleanup_free_ char *found = NULL;
	char *none;
	struct error *error;

	(void)state;
	assert_ok(capture_which("/nonexistent::/bin:/usr/bin", "sh", &found));
	assert_int_equal(access(found, X_OK), 0);
	error = capture_which("/bin:/usr/bin", "no-such-program", &none);
	assert_int_equal(error->code, ERROR_NOT_FOUND);
	error_destroy(error);
	/* A folder is no program. */
	error = capture_which("/", "usr", &none);
	assert_non_null(error);
	error_destroy(error);
	error = capture_which(NULL, "sh", &none);
	assert_non_null(error);
	error_destroy(error);
}

static void test_files(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct name_list names = {};
	struct error *error;
	int64_t value = 7;

	(void)state;
	assert_ok(file_read("", "/proc/self/comm", 100, &out));
	assert_string_equal(out.data, "test_sys\n");
	error = file_read("", "/dev/zero", 100000, &out);
	assert_int_equal(error->code, ERROR_LIMIT);
	error_destroy(error);
	assert_string_equal(out.data, "test_sys\n");
	error = file_read_i64("", "/proc/self/comm", &value);
	assert_int_equal(error->code, ERROR_FORMAT);
	error_destroy(error);
	assert_int_equal(value, 7);
	assert_ok(dir_list("/proc/self", "/task", &names));
	assert_int_equal(names.count, 1);
	name_list_deinit(&names);
	error = file_read("/nonexistent", "/x", 1, &out);
	assert_true(error_is_os(error, ENOENT));
	error_destroy(error);
}

static void test_perf_errors(void **state)
{
	struct perf_event_attr hardware = { .type = PERF_TYPE_HARDWARE };
	static const struct {
		int errnum;
		enum error_code code;
		const char *says;
	} cases[] = {
		{ EACCES, ERROR_PERMISSION, "kernel.perf_event_paranoid is 2" },
		{ EPERM, ERROR_PERMISSION, "sudo" },
		{ ENOENT, ERROR_UNSUPPORTED, "no hardware counters" },
		{ EOPNOTSUPP, ERROR_UNSUPPORTED, "not supported here" },
		{ ESRCH, ERROR_NOT_FOUND, "no process or thread 77" },
		{ EMFILE, ERROR_OS, "ulimit -n" },
		{ ENOSYS, ERROR_UNSUPPORTED, "perf_event_open" },
		{ EIO, ERROR_OS, "event 'cycles'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error *error =
			perf_event_error(cases[i].errnum, &hardware, "cycles",
					 77, -1, "/nonexistent");

		assert_int_equal(error->code, cases[i].code);
		if (!strstr(error->message, cases[i].says))
			fail_msg("%s", error->message);
		error_destroy(error);
	}
}

/* What a refusal says for each setting, and of events of user space alone. */
static void test_refused_events(void **state)
{
	static const struct {
		int paranoid;
		bool user_only;
		uint32_t type;
		const char *says;
	} cases[] = {
		{ 4, false, PERF_TYPE_SOFTWARE, "no events; run kaa under sudo, run 'sudo sysctl kernel.perf_event_paranoid=2'" },
		{ 3, true, PERF_TYPE_SOFTWARE, "kernel.perf_event_paranoid is 3" },
		{ 2, false, PERF_TYPE_SOFTWARE, "only :u events of their own processes" },
		{ 2, true, PERF_TYPE_SOFTWARE, "belongs to another user" },
		{ 2, true, PERF_TYPE_TRACEPOINT, "no tracepoints" },
		{ 1, true, PERF_TYPE_SOFTWARE, "belongs to another user" },
	};
	char root[] = "/tmp/kaa-test-XXXXXX", level[16];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_event_attr attr = {
			.type = cases[i].type,
			.exclude_kernel = cases[i].user_only,
		};
		struct error *error;

		snprintf(level, sizeof(level), "%d\n", cases[i].paranoid);
		fake_file_write(root, "/proc/sys/kernel/perf_event_paranoid",
				level);
		error = perf_event_error(EACCES, &attr, "cpu-clock", 77, 0,
					 root);
		assert_int_equal(error->code, ERROR_PERMISSION);
		if (!strstr(error->message, cases[i].says))
			fail_msg("%s", error->message);
		error_destroy(error);
	}
	assert_int_equal(fake_tree_remove(root), 0);
}

static void set_sudo(const char *uid, const char *gid, const char *user)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
	setenv("SUDO_USER", user, 1);
}

static void test_invoker_without_sudo(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct invoker invoker = {};

	(void)state;
	unsetenv("SUDO_UID");
	assert_ok(invoker_detect(&invoker));
	assert_false(invoker.present);
	setenv("PATH", "/a:/b", 1);
	assert_ok(invoker_path(&invoker, &path));
	assert_string_equal(path, "/a:/b");
	setenv("PATH", "/usr/bin:/bin", 1);
	assert_int_equal(privilege_become(&invoker), 0);
}

static void test_invoker_is_checked(void **state)
{
	/* The last: what the message says of them. */
	static const char *const bad[][4] = {
		{ "x", "1", "nobody", "SUDO_UID is 'x'" },
		{ "-1", "1", "nobody", "SUDO_UID is '-1'" },
		{ "4294967295", "1", "nobody", "SUDO_UID is '4294967295'" },
		{ "99999999999", "1", "nobody", "SUDO_UID is '99999999999'" },
		{ "", "1", "nobody", "SUDO_UID is ''" },
		{ "65534", "65534", "root",
		  "SUDO_USER is 'root', but user 65534 is 'nobody'" },
		{ "65534", "0", "nobody", "not in group 0 of SUDO_GID" },
		{ "65534", "", "nobody", "SUDO_GID is ''" },
		{ "3999999999", "1", "nobody", "id 3999999999 of SUDO_UID" },
	};

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct invoker invoker = { .uid = 7 };
		struct error *error;

		set_sudo(bad[i][0], bad[i][1], bad[i][2]);
		error = invoker_detect(&invoker);
		if (!error)
			fail_msg("uid '%s' was taken", bad[i][0]);
		assert_int_equal(invoker.uid, 7);
		if (!strstr(error->message, bad[i][3]))
			fail_msg("%s", error->message);
		error_destroy(error);
	}
	unsetenv("SUDO_UID");
}

/* In a child: 0 if it became the user for good. */
static int become_and_look(const struct invoker *invoker)
{
	if (privilege_become(invoker) != 0)
		return 1;
	if (getuid() != invoker->uid || getgid() != invoker->gid)
		return 2;
	if (setuid(0) == 0 || setgid(0) == 0)
		return 3;
	return capability_have(CAP_SYS_ADMIN) ? 4 : 0;
}

static void test_invoker_becomes_the_user(void **state)
{
	const struct passwd *nobody = getpwnam("nobody");
	struct invoker invoker = {};
	char uid[16], gid[16];
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(nobody);
	snprintf(uid, sizeof(uid), "%u", nobody->pw_uid);
	snprintf(gid, sizeof(gid), "%u", nobody->pw_gid);
	set_sudo(uid, gid, "nobody");
	assert_ok(invoker_detect(&invoker));
	assert_true(invoker.present);
	assert_string_equal(invoker.user, "nobody");
	pid = fork();
	if (pid == 0)
		_exit(become_and_look(&invoker));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(invoker_set_environment(&invoker, "/x"), 0);
	assert_null(getenv("SUDO_UID"));
	assert_string_equal(getenv("PATH"), "/x");
	setenv("PATH", "/usr/bin:/bin", 1);
	invoker_deinit(&invoker);
}

static bool has_groups(size_t count, const gid_t *expected)
{
	gid_t groups[64];
	int found = getgroups(64, groups);

	return found == (int)count &&
	       !memcmp(groups, expected, count * sizeof(*expected));
}

/* In a child: 0 if root has its rights again, and the user had no other. */
static int enter_and_leave(const struct invoker *invoker)
{
	static const gid_t groups[] = { 0, 11, 12 };
	struct privilege_rights rights;

	if (setgroups(3, groups) != 0 || setegid(13) != 0)
		return 1;
	if (privilege_enter_files(invoker, &rights) != 0)
		return 2;
	if (geteuid() != invoker->uid || getegid() != invoker->gid)
		return 3;
	if (has_groups(3, groups))
		return 4;
	if (privilege_leave_files(invoker, &rights) != 0)
		return 5;
	if (geteuid() != 0 || getegid() != 13)
		return 6;
	return has_groups(3, groups) ? 0 : 7;
}

static void test_invoker_leaves_files(void **state)
{
	const struct passwd *nobody = getpwnam("nobody");
	char name[] = "nobody";
	struct invoker invoker = { .present = true, .user = name };
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(nobody);
	invoker.uid = nobody->pw_uid;
	invoker.gid = nobody->pw_gid;
	pid = fork();
	if (pid == 0)
		_exit(enter_and_leave(&invoker));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* '|' stands for NUL, so that environ files can be written. */
static void write_below(const char *root, const char *path, const char *text)
{
	char bytes[512];
	size_t size = strlen(text);

	assert_in_range(size, 0, sizeof(bytes));
	for (size_t i = 0; i < size; i++)
		bytes[i] = text[i] == '|' ? '\0' : text[i];
	fake_file_write_bytes(root, path, bytes, size);
}

/* A process of a fake /proc. */
static void write_process(const char *root, int pid, const char *name, int ppid,
			  unsigned int uid, const char *environ_text)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(text, sizeof(text),
		 "Name:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nUid:\t%u\t%u\t%u\t%u\nGid:\t1\t1\t1\t1\n",
		 name, pid, pid, ppid, uid, uid, uid, uid);
	write_below(root, path, text);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	write_below(root, path,
		    "1 (x) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	write_below(root, path, environ_text);
}

static void write_cmdline(const char *root, const char *process,
			  const char *words)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/cmdline", process);
	write_below(root, path, words);
}

static void assert_path(const struct invoker *invoker, const char *expected)
{
	char *path;

	assert_ok(invoker_path(invoker, &path));
	assert_string_equal(path, expected);
	free(path);
}

/* The login shell has to tell where sudo cannot. */
static void test_path_of_the_user(void **state)
{
	char home[] = "/tmp/kaa-test-path-XXXXXX";
	const struct passwd *nobody = getpwnam("nobody");
	struct invoker invoker = { .present = true, .home = home };
	char shell[] = "/bin/sh", nologin[] = "/nonexistent", name[] = "nobody";

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(nobody);
	invoker.uid = nobody->pw_uid;
	invoker.gid = nobody->pw_gid;
	invoker.user = name;
	invoker.shell = nologin;
	assert_non_null(mkdtemp(home));
	assert_int_equal(chmod(home, 0755), 0);
	assert_path(&invoker, "/usr/local/bin:/usr/bin:/bin");
	invoker.shell = shell;
	write_below(home, "/.profile", "echo noise; PATH=/from/profile:/bin\n");
	assert_path(&invoker, "/from/profile:/bin");
	invoker.typed.where = TYPED_BEHIND;
	assert_path(&invoker, "/usr/bin:/bin");
	assert_int_equal(fake_tree_remove(home), 0);
}

struct typed_case {
	/* '|' ends a word. */
	const char *sudo;
	const char *kaa;
	const char *sudo_command;
	enum typed_where where;
	/* Of the command, if where is TYPED_BEFORE. */
	const char *path;
};

/* kaa's own PATH is /own:/bin, and A=1 in its environment. */
static const struct typed_case typed_cases[] = {
	{ "sudo|kaa|record|x|", "kaa|record|x|", "/usr/bin/kaa record x",
	  TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|-u|root|b/kaa|record|", "/w/b/kaa|record|", "b/kaa record",
	  TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|/a b/kaa|record|", "/a b/kaa|record|", "/a b/kaa record",
	  TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|nice|-n|-5|kaa|record|", "kaa|record|",
	  "/usr/bin/nice -n -5 kaa record", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|PATH=/own:/bin|kaa|record|", "kaa|record|",
	  "/usr/bin/kaa record", TYPED_BEFORE, "/own:/bin" },
	{ "sudo|env|PATH=/own:/bin|kaa|record|", "kaa|record|",
	  "/usr/bin/env PATH=/own:/bin kaa record", TYPED_BEFORE, "/own:/bin" },
	/* Refused by sudo's rules, or overruled: not in force. */
	{ "sudo|PATH=/refused|kaa|record|", "kaa|record|",
	  "/usr/bin/kaa record", TYPED_BEFORE, "/venv:/bin" },
	/* The recorded command's own. */
	{ "sudo|kaa|record|env|PATH=/own:/bin|x|",
	  "kaa|record|env|PATH=/own:/bin|x|", "/usr/bin/kaa record",
	  TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|env|-u|A|kaa|record|", "kaa|record|",
	  "/usr/bin/env -u A kaa record", TYPED_BEHIND, NULL },
	{ "sudo|-i|kaa|record|", "kaa|record|", "/bin/bash -c kaa record",
	  TYPED_BEHIND, NULL },
	{ "sudo|-s|", "kaa|record|", "/bin/bash", TYPED_BEHIND, NULL },
	{ "sudo|sh|-c|kaa record|", "kaa|record|", "/bin/sh -c kaa record",
	  TYPED_BEHIND, NULL },
	{ "sudo|./wrap|kaa|record|", "kaa|record|", "./wrap kaa record",
	  TYPED_BEHIND, NULL },
	/* Options with values; each would be a wrapper's name by itself. */
	{ "sudo|-nu|wrap|--group|wrap|A=1|-E|--|nice|--adjustment|5|kaa|",
	  "kaa|", "/usr/bin/nice kaa", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|timeout|-k|wrap|--signal=INT|-s|wrap|5|kaa|", "kaa|",
	  "/usr/bin/timeout kaa", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|taskset|-c|0-3|chrt|-f|10|ionice|-c2|-n|7|kaa|", "kaa|",
	  "/usr/bin/taskset kaa", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|setarch|x86_64|-R|stdbuf|-oL|-e|0|time|-vo|wrap|kaa|", "kaa|",
	  "/usr/bin/setarch kaa", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|env|A=1|B=2|nohup|setsid|-w|prlimit|-n10|kaa|", "kaa|",
	  "/usr/bin/env kaa", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|/v/bin/python|-m|kaa|record|", "/v/bin/kaa|record|",
	  "/v/bin/python -m kaa record", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|python3.12|-I|-m|kaa|record|", "/v/bin/kaa|record|",
	  "/usr/bin/python3.12 -I -m kaa record", TYPED_BEFORE, "/venv:/bin" },
	{ "sudo|python3|wrap.py|kaa|record|", "/v/bin/kaa|record|",
	  "/usr/bin/python3 wrap.py kaa record", TYPED_BEHIND, NULL },
	{ "sudo|python3|-c|import os ...|kaa|record|", "/v/bin/kaa|record|",
	  "/usr/bin/python3 -c import os ... kaa record", TYPED_BEHIND, NULL },
	/* A program behind a launcher that may set variables. */
	{ "sudo|nice|wrap|kaa|", "kaa|", "/usr/bin/nice wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|nice|-n|1|wrap|kaa|", "kaa|", "/usr/bin/nice wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|nice|-n1|./wrap|kaa|", "kaa|", "/usr/bin/nice wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|stdbuf|-oL|wrap|kaa|", "kaa|", "/usr/bin/stdbuf wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|timeout|5|wrap|kaa|", "kaa|", "/usr/bin/timeout wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|setsid|-w|wrap|kaa|", "kaa|", "/usr/bin/setsid wrap kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|nice|A=1|kaa|", "kaa|", "/usr/bin/nice A=1 kaa", TYPED_BEHIND,
	  NULL },
	{ "sudo|env|A=1|wrap|nice|kaa|", "kaa|", "/usr/bin/env wrap nice kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|nice|env|-i|kaa|", "kaa|", "/usr/bin/nice env -i kaa",
	  TYPED_BEHIND, NULL },
	/* An option that kaa does not know. */
	{ "sudo|nice|--new|value|kaa|", "kaa|", "/usr/bin/nice kaa",
	  TYPED_BEHIND, NULL },
	{ "sudo|-i|nice|kaa|", "kaa|", "/bin/bash -c nice kaa", TYPED_BEHIND,
	  NULL },
	{ "sudo|kaa|record|x|", "kaa|record|y|", "/usr/bin/kaa record x",
	  TYPED_BEHIND, NULL },
	{ "sudo|other|record|", "kaa|record|", "/usr/bin/other record",
	  TYPED_BEHIND, NULL },
};

static void check_typed_case(const char *root, const struct typed_case *c)
{
	struct typed_environ typed = {};

	write_cmdline(root, "71", c->sudo);
	write_cmdline(root, "self", c->kaa);
	setenv("SUDO_COMMAND", c->sudo_command, 1);
	assert_ok(typed_environ_read(root, "sudo", 7, &typed));
	if (typed.where != c->where)
		fail_msg("%s: %d", c->sudo, typed.where);
	assert_string_equal(typed.shell_path, "/venv:/bin");
	if (c->path) {
		assert_string_equal(typed_environ_get(&typed, "PATH"), c->path);
		assert_string_equal(typed_environ_get(&typed, "VIRTUAL_ENV"),
				    "/venv");
		assert_null(typed.variables.data[typed.variables.count]);
	} else {
		assert_int_equal(typed.variables.count, 0);
	}
	typed_environ_deinit(&typed);
}

/* uid: the real one of the sudo process, typed by user 7. */
static void check_typed_cases(unsigned int uid)
{
	char root[] = "/tmp/kaa-test-typed-XXXXXX";

	assert_non_null(mkdtemp(root));
	setenv("PATH", "/own:/bin", 1);
	setenv("A", "1", 1);
	write_process(root, getppid(), "timeout", 71, 0, "PATH=/own:/bin|");
	write_process(root, 71, "sudo", 72, uid,
		      "XPATH=/wrong|PATH=/venv:/bin|VIRTUAL_ENV=/venv|");
	for (size_t i = 0; i < sizeof(typed_cases) / sizeof(*typed_cases); i++)
		check_typed_case(root, &typed_cases[i]);
	unsetenv("SUDO_COMMAND");
	unsetenv("A");
	setenv("PATH", "/usr/bin:/bin", 1);
	assert_int_equal(fake_tree_remove(root), 0);
}

static void test_where_it_was_typed(void **state)
{
	(void)state;
	check_typed_cases(7);
	/* Before sudo 1.9.4. */
	check_typed_cases(0);
}

static void assert_where(const char *root, enum typed_where where)
{
	struct typed_environ typed = {};

	assert_ok(typed_environ_read(root, "sudo", 7, &typed));
	assert_int_equal(typed.where, where);
	assert_null(typed.shell_path);
	typed_environ_deinit(&typed);
}

static void test_typed_without_a_sudo(void **state)
{
	char root[] = "/tmp/kaa-test-typed-XXXXXX";
	char parent[16];

	(void)state;
	assert_non_null(mkdtemp(root));
	/* A sudo of somebody else, above a shell of root. */
	write_process(root, getppid(), "bash", 71, 0, "PATH=/x|");
	write_process(root, 71, "sudo", 1, 8, "PATH=/other|");
	write_cmdline(root, "71", "sudo|kaa|");
	write_cmdline(root, "self", "kaa|");
	assert_where(root, TYPED_BEHIND);
	/* A sudo that became kaa: the parent is the user's shell. */
	write_process(root, getppid(), "bash", 1, 7, "PATH=/old|");
	assert_where(root, TYPED_UNKNOWN);
	/* Its environ may not be read. */
	write_process(root, getppid(), "sudo", 1, 7, "");
	snprintf(parent, sizeof(parent), "%d", (int)getppid());
	write_cmdline(root, parent, "sudo|kaa|");
	assert_where(root, TYPED_UNKNOWN);
	/* Nothing can be seen of it. */
	assert_int_equal(fake_tree_remove(root), 0);
	assert_where(root, TYPED_UNKNOWN);
}

static void assert_script(const char *root, pid_t pid, const char *expected)
{
	char *script;

	assert_ok(process_script(root, pid, &script));
	if (expected)
		assert_string_equal(script, expected);
	else
		assert_null(script);
	free(script);
}

static void test_script_of_a_process(void **state)
{
	char root[] = "/tmp/kaa-test-script-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(root));
	write_process(root, 7, "python3", 1, 0, "");
	write_cmdline(root, "7", "/usr/bin/python3|-X|dev|jobs/run.py|x.py|");
	assert_script(root, 7, "jobs/run.py");
	write_cmdline(root, "7", "python3|-c|pass|");
	assert_script(root, 7, NULL);
	/* A thread of the kernel, and a process that has ended. */
	write_cmdline(root, "7", "");
	assert_script(root, 7, NULL);
	assert_script(root, 8, NULL);
	assert_int_equal(fake_tree_remove(root), 0);
}

/* In a child, since libc frees what environ was before: 0 if all is as it should be. */
static int take_and_look(const struct invoker *invoker)
{
	setenv("A", "1", 1);
	if (invoker_set_environment(invoker, "/other") != 0)
		return 1;
	if (getenv("A"))
		return 2;
	return strcmp(getenv("B"), "2") || strcmp(getenv("PATH"), "/other");
}

/* The user's variables take the place of all others. */
static void test_environment_of_the_shell(void **state)
{
	char *variables[] = { (char *)"PATH=/venv", (char *)"B=2", NULL };
	const struct invoker invoker = {
		.tool = "sudo",
		.typed = { .where = TYPED_BEFORE,
			   .variables = { .data = variables, .count = 2 } },
	};
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(take_and_look(&invoker));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a child: 0 if only the kept capability is left. */
static int keep_and_look(void)
{
	struct capabilities now;

	if (capabilities_keep(CAPABILITY_BIT(CAP_SYS_PTRACE)) != 0)
		return 1;
	if (capabilities_read(&now) != 0)
		return 2;
	if (now.permitted != CAPABILITY_BIT(CAP_SYS_PTRACE) ||
	    now.effective != now.permitted || now.inheritable)
		return 3;
	return capabilities_keep(CAPABILITY_BIT(CAP_BPF)) == -EPERM ? 0 : 4;
}

static void test_capabilities_are_dropped(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (!capability_have(CAP_SYS_PTRACE))
		skip();
	pid = fork();
	if (pid == 0)
		_exit(keep_and_look());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(capability_name(CAP_BPF), "CAP_BPF");
	assert_null(capability_name(63));
}

static void test_machine_of_a_fake_root(void **state)
{
	static const struct fake_file files[] = {
		{ "/proc/sys/kernel/perf_event_paranoid", "4\n" },
		{ "/proc/sys/kernel/yama/ptrace_scope", "1\n" },
		{ "/proc/sys/kernel/kptr_restrict", "x\n" },
		{ "/sys/kernel/btf/vmlinux", "" },
		{ "/sys/bus/event_source/devices/cpu_core/type", "4\n" },
	};
	char root[] = "/tmp/kaa-test-machine-XXXXXX";
	struct machine machine;

	(void)state;
	fake_tree_make(root, files, sizeof(files) / sizeof(*files));
	machine_probe(root, &machine);
	assert_true(machine.perf_event_paranoid.known);
	assert_int_equal(machine.perf_event_paranoid.value, 4);
	assert_int_equal(machine.ptrace_scope.value, 1);
	assert_false(machine.kptr_restrict.known);
	assert_true(machine.btf);
	assert_true(machine.pmu);
	assert_int_equal(machine.try_bpf, ENOSYS);
	assert_int_equal(perf_event_paranoid("/nonexistent"), 2);
	assert_int_equal(fake_tree_remove(root), 0);
}

/* --- own_program.h --- */

static void test_own_program_for_sudo(void **state)
{
	static const struct {
		const char *path, *word;
	} rows[] = {
		{ "/usr/bin/no-such-kaa", "no-such-kaa" },
		{ "/usr/local/bin/kaa", "/usr/local/bin/kaa" },
		{ "/home/u/venv/bin/kaa", "/home/u/venv/bin/kaa" },
		{ "/usr/binary/kaa", "/usr/binary/kaa" },
		{ "/home/a b/$x/kaa", "'/home/a b/$x/kaa'" },
		{ "/home/\x1b[31m/kaa", "kaa" },
		{ "/home/o'hara/kaa", "kaa" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

		own_program_for_sudo(rows[i].path, &word);
		assert_string_equal(word.data, rows[i].word);
	}
}

static void test_own_program_path(void **state)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct stat ours, running;

	(void)state;
	assert_ok(own_program_path(&path));
	assert_int_equal(stat(path.data, &ours), 0);
	assert_int_equal(stat("/proc/self/exe", &running), 0);
	assert_true(ours.st_ino == running.st_ino && ours.st_dev == running.st_dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_versions),
		cmocka_unit_test(test_remote_memory),
		cmocka_unit_test(test_remote_memory_of_nobody),
		cmocka_unit_test(test_own_program_for_sudo),
		cmocka_unit_test(test_own_program_path),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_errors),
		cmocka_unit_test(test_capture_can_be_stopped),
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_perf_errors),
		cmocka_unit_test(test_refused_events),
		cmocka_unit_test(test_invoker_without_sudo),
		cmocka_unit_test(test_invoker_is_checked),
		cmocka_unit_test(test_invoker_becomes_the_user),
		cmocka_unit_test(test_invoker_leaves_files),
		cmocka_unit_test(test_path_of_the_user),
		cmocka_unit_test(test_where_it_was_typed),
		cmocka_unit_test(test_typed_without_a_sudo),
		cmocka_unit_test(test_script_of_a_process),
		cmocka_unit_test(test_environment_of_the_shell),
		cmocka_unit_test(test_capabilities_are_dropped),
		cmocka_unit_test(test_machine_of_a_fake_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

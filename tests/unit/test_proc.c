// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc parsers: against this very process, whose own view (getpid(),
 * dl_iterate_phdr(), ...) is the oracle, and against text that a hostile
 * process could make up.
 */
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/proc.h"
#include "assert_ok.h"
#include "fake_tree.h"

static struct error *parse_maps(const char *text, struct proc_maps *maps)
{
	*maps = (struct proc_maps)PROC_MAPS_INIT;
	return proc_maps_parse(text, strlen(text), maps);
}

static void test_maps_text(void **state)
{
	static const char text[] =
		"555555554000-555555556000 r--p 00001000 fe:01 1835045                    /usr/bin/python3.11\n"
		"555555556000-555555558000 rwxs 00000000 00:05 7                          /dev/zero (deleted)\n"
		"7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                          [vdso]\n"
		"7ffff7fd0000-7ffff7fd1000 ---p 00000000 00:00 0 \n"
		"7ffff7fe0000-7ffff7fe1000 r--p 00000000 103:1f 99                        /a b/new\\012line\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
	struct proc_maps maps;

	(void)state;
	assert_ok(parse_maps(text, &maps));
	assert_int_equal(maps.maps.count, 6);
	assert_true(maps.maps.data[0].start == 0x555555554000);
	assert_true(maps.maps.data[0].offset == 0x1000);
	assert_int_equal(maps.maps.data[0].major, 0xfe);
	assert_int_equal(maps.maps.data[0].inode, 1835045);
	assert_int_equal(maps.maps.data[0].prot, PROT_READ);
	assert_string_equal(maps.maps.data[0].path, "/usr/bin/python3.11");
	assert_true(maps.maps.data[1].shared);
	assert_string_equal(maps.maps.data[1].path, "/dev/zero (deleted)");
	assert_int_equal(maps.maps.data[1].prot,
			 PROT_READ | PROT_WRITE | PROT_EXEC);
	assert_string_equal(maps.maps.data[2].path, "[vdso]");
	assert_string_equal(maps.maps.data[3].path, "");
	assert_string_equal(maps.maps.data[4].path, "/a b/new\nline");
	assert_int_equal(maps.maps.data[4].minor, 0x1f);
	assert_ptr_equal(proc_maps_find(&maps, 0x555555555fff),
			 &maps.maps.data[0]);
	assert_ptr_equal(proc_maps_find(&maps, 0x555555556000),
			 &maps.maps.data[1]);
	assert_null(proc_maps_find(&maps, 0x555555558000));
	assert_null(proc_maps_find(&maps, 0));
	proc_maps_deinit(&maps);
}

/* A thread's stack ends in what its pointer points at; the first one's may grow. */
static void test_start_of_a_stack(void **state)
{
	static const char text[] =
		"10000000-10800000 rw-p 00000000 00:00 0 \n"
		"10801000-11001000 rw-p 00000000 00:00 0 \n"
		"7ffff7fe0000-7ffff8000000 rw-p 00000000 00:00 0                          [stack]\n";
	struct proc_maps maps;

	(void)state;
	assert_ok(parse_maps(text, &maps));
	assert_int_equal(proc_maps_stack_start(&maps, 0x107ff700, false),
			 0x10000000);
	assert_int_equal(proc_maps_stack_start(&maps, 0x11000700, false),
			 0x10801000);
	assert_int_equal(proc_maps_stack_start(&maps, 0x10800700, false), 0);
	assert_true(proc_maps_stack_start(&maps, 0x107ff700, true) <
		    0x7ffff7fe0000);
	assert_true(proc_maps_stack_start(&maps, 0x107ff700, true) >
		    0x7fff00000000);
	proc_maps_deinit(&maps);
	assert_ok(parse_maps("", &maps));
	assert_int_equal(proc_maps_stack_start(&maps, 4096, true), 0);
	proc_maps_deinit(&maps);
}

static void test_maps_hostile(void **state)
{
	static const char *const bad[] = {
		"\n",
		"x\n",
		"1000-2000\n",
		"1000-2000 r-xp\n",
		"1000 2000 r-xp 0 0:0 0\n",
		"2000-1000 r-xp 0 0:0 0\n",
		"1000-1000 r-xp 0 0:0 0\n",
		"1000-2000 rrxp 0 0:0 0\n",
		"1000-2000 r-x 0 0:0 0\n",
		"1000-2000 r-xp 0 00 0\n",
		"1000-2000 r-xp 0 0:0\n",
		"1000-2000 r-xp 0 0:0 0x /a\n",
		"10000000000000000-20000000000000000 r-xp 0 0:0 0\n",
		"1000-2000 r-xp 0 100000000:0 0\n",
		"1000-2000 r-xp 0 0:0 99999999999999999999\n",
		"-1000-2000 r-xp 0 0:0 0\n",
		" 1000-2000 r-xp 0 0:0 0\n",
	};
	struct proc_maps maps;
	struct error *error;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		error = parse_maps(bad[i], &maps);

		if (!error)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(error->code, ERROR_FORMAT);
		error_destroy(error);
	}
	/* The last line may lack its newline, and paths may be odd. */
	assert_ok(parse_maps("1000-2000 r-xp 0 0:0 0 \\012\\01 (deleted)x",
			     &maps));
	assert_string_equal(maps.maps.data[0].path, "\n\\01 (deleted)x");
	proc_maps_deinit(&maps);
	assert_ok(parse_maps("", &maps));
	assert_int_equal(maps.maps.count, 0);
	proc_maps_deinit(&maps);
	error = proc_maps_parse("1000-2000 r-xp 0 0:0 0 a\0b\n", 27, &maps);
	assert_non_null(error);
	error_destroy(error);
}

/* Every loaded segment that dl_iterate_phdr() tells of is in the maps. */
static int find_segments(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct proc_maps *maps = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const struct proc_map *map;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		map = proc_maps_find(maps, info->dlpi_addr + p->p_vaddr);
		assert_non_null(map);
		assert_true(map->prot & PROT_EXEC);
		if (info->dlpi_name[0] == '/')
			assert_non_null(strrchr(map->path, '/'));
	}
	return 0;
}

static void test_maps_of_this_process(void **state)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	const struct proc_map *stack;

	(void)state;
	assert_ok(proc_maps_read("", getpid(), &maps));
	dl_iterate_phdr(find_segments, &maps);
	stack = proc_maps_find(&maps, (uint64_t)(uintptr_t)&maps);
	assert_non_null(stack);
	assert_true(stack->prot & PROT_WRITE);
	proc_maps_deinit(&maps);
}

static void test_status_of_this_process(void **state)
{
	struct proc_status status;
	char comm[PROC_COMM_MAX];

	(void)state;
	prctl(PR_SET_NAME, "a\nb \\ c) 1");
	assert_ok(proc_status_read("", getpid(), &status));
	assert_ok(proc_comm("", getpid(), comm));
	assert_string_equal(status.comm, "a\nb \\ c) 1");
	assert_string_equal(comm, "a\nb \\ c) 1");
	assert_int_equal(status.tgid, getpid());
	assert_int_equal(status.pid, getpid());
	assert_int_equal(status.ppid, getppid());
	assert_int_equal(status.uid, getuid());
	assert_int_equal(status.euid, geteuid());
	assert_int_equal(status.gid, getgid());
	assert_int_equal(status.nstgid[status.nstgid_count - 1], getpid());
	assert_true(status.start_time > 0);
}

static void test_status_text(void **state)
{
	static const char good[] =
		"Name:\tp\\ny\nUmask:\t0022\nTgid:\t12\nPid:\t13\nPPid:\t1\n"
		"Uid:\t1000\t1001\t1000\t1000\nGid:\t7\t7\t7\t7\nNStgid:\t12\t3\t1\n"
		"CapEff:\t000001ffffffffff\n";
	static const char *const bad[] = {
		"",
		"Name:\tx\n",
		"Name:\tx\nTgid:\t12\nPid:\tx\nUid:\t1\t1\nGid:\t1\t1\n",
		"Name:\tx\nTgid:\t99999999\nPid:\t1\nUid:\t1\t1\nGid:\t1\t1\n",
		"Name:\tx\nTgid:\t12\nPid:\t1\nUid:\t1\nGid:\t1\t1\n",
		"Name:\tx\nTgid:\t1\nPid:\t1\nUid:\t4294967296\t1\nGid:\t1\t1\n",
		"Name:\tx\nTgid:\t1\nPid:\t1\nUid:\t1\t1\nGid:\t1\t1\nNStgid:\tx\n",
		"Name:\tx\nTgid:\t1\nPid:\t1\nUid:\t1\t1\nGid:\t1\t1\nCapEff:\t\n",
	};
	struct proc_status status;

	(void)state;
	assert_ok(proc_status_parse(good, strlen(good), &status));
	assert_string_equal(status.comm, "p\ny");
	assert_int_equal(status.euid, 1001);
	assert_int_equal(status.nstgid_count, 3);
	assert_int_equal(status.nstgid[2], 1);
	assert_true(status.effective == 0x1ffffffffff);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *error =
			proc_status_parse(bad[i], strlen(bad[i]), &status);

		if (!error)
			fail_msg("'%s' was taken", bad[i]);
		error_destroy(error);
	}
}

static void test_status_name_cannot_pose_as_a_field(void **state)
{
	/* The kernel escapes the newline, so the name stays one line. */
	static const char text[] =
		"Name:\tx\\nUid:\\t0\nTgid:\t1\nPid:\t1\nUid:\t5\t5\nGid:\t5\t5\n";
	struct proc_status status;

	(void)state;
	assert_ok(proc_status_parse(text, strlen(text), &status));
	assert_int_equal(status.uid, 5);
}

static void test_stat_text(void **state)
{
	static const char good[] =
		"12 (a) R 1 (b)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";
	static const char *const bad[] = { "", "12 (a", "12 (a) S 1 2 3",
					   "12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x" };
	uint64_t start_time = 0;

	(void)state;
	assert_ok(proc_stat_parse(good, strlen(good), &start_time));
	assert_int_equal(start_time, 4711);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *error =
			proc_stat_parse(bad[i], strlen(bad[i]), &start_time);

		if (!error)
			fail_msg("'%s' was taken", bad[i]);
		error_destroy(error);
	}
	assert_int_equal(start_time, 4711);
}

static void *wait_for_lock(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void test_threads_of_this_process(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct pid_list threads = {};
	pthread_t ids[5];
	bool self = false;

	(void)state;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, wait_for_lock,
						&lock),
				 0);
	assert_ok(proc_threads("", getpid(), &threads));
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < 5; i++)
		pthread_join(ids[i], NULL);
	assert_int_equal(threads.count, 6);
	vec_for_each(tid, &threads) {
		self |= *tid == (pid_t)syscall(SYS_gettid);
		if (tid > threads.data)
			assert_true(tid[-1] < *tid);
	}
	assert_true(self);
	vec_deinit(&threads);
}

static void test_processes_and_links(void **state)
{
	_cleanup_free_ char *exe = NULL;
	struct pid_list all = {};
	bool self = false, same = false;

	(void)state;
	assert_ok(proc_processes("", &all));
	vec_for_each(pid, &all)
		self |= *pid == getpid();
	assert_true(self);
	vec_deinit(&all);
	assert_ok(proc_link("", getpid(), "exe", &exe));
	assert_string_equal(strrchr(exe, '/'), "/test_proc");
	assert_ok(proc_same_namespace("", getpid(), "pid", &same));
	assert_true(same);
}

static void test_descendants(void **state)
{
	static const struct fake_file files[] = {
		{ "/proc/7/task/7/children", "9 8 " },
		{ "/proc/7/task/70/children", "10 " },
		{ "/proc/8/task/8/children", "" },
		/* 11 has ended. 10 is there twice: its parent ended between two files. */
		{ "/proc/9/task/9/children", "11 10 12 " },
		{ "/proc/12/task/12/children", "13 x" },
		{ "/proc/13/task/13/children", "99999999999 14 " },
	};
	static const pid_t expected[] = { 1, 9, 8, 10, 11, 12, 13 };
	char root[] = "/tmp/kaa-test-proc-XXXXXX";
	struct pid_list list = {};

	(void)state;
	fake_tree_make(root, files, sizeof(files) / sizeof(*files));
	assert_true(vec_push(&list, 1));
	assert_ok(proc_descendants(root, 7, &list));
	assert_int_equal(list.count, sizeof(expected) / sizeof(*expected));
	assert_memory_equal(list.data, expected, sizeof(expected));
	assert_ok(proc_descendants(root, 11, &list));
	assert_int_equal(list.count, sizeof(expected) / sizeof(*expected));
	vec_deinit(&list);
	assert_int_equal(fake_tree_remove(root), 0);
}

static void test_no_such_process(void **state)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	struct pid_list threads = {};
	struct proc_status status;
	char comm[PROC_COMM_MAX];
	char *link;
	/* Above the kernel's limit: never a process. */
	const pid_t pid = 4 * 1024 * 1024 + 1;
	struct error *errors[] = {
		proc_maps_read("", pid, &maps),
		proc_threads("", pid, &threads),
		proc_status_read("", pid, &status),
		proc_comm("", pid, comm),
		proc_link("", pid, "exe", &link),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		assert_non_null(errors[i]);
		assert_int_equal(errors[i]->code, ERROR_NOT_FOUND);
		error_destroy(errors[i]);
	}
}

static void test_injected_root(void **state)
{
	static const struct fake_file files[] = {
		{ "/proc/7/task/7/comm", "" },
		{ "/proc/7/task/12/comm", "" },
		{ "/proc/7/task/9/comm", "" },
		{ "/proc/x/comm", "" },
		{ "/proc/8x/comm", "" },
		{ "/proc/99999999999/comm", "" },
		{ "/proc/7/status", "Name:\tme\nTgid:\t7\nPid:\t7\nUid:\t1\t2\t1\t1\nGid:\t3\t3\t3\t3\n" },
		{ "/proc/7/stat", "7 (me) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 555 0\n" },
	};
	char root[] = "/tmp/kaa-test-proc-XXXXXX";
	struct pid_list list = {};
	struct proc_status status;

	(void)state;
	fake_tree_make(root, files, sizeof(files) / sizeof(*files));
	assert_ok(proc_processes(root, &list));
	assert_int_equal(list.count, 1);
	assert_ok(proc_threads(root, 7, &list));
	assert_int_equal(list.count, 4);
	assert_int_equal(list.data[3], 12);
	assert_ok(proc_status_read(root, 7, &status));
	assert_string_equal(status.comm, "me");
	assert_int_equal(status.euid, 2);
	assert_int_equal(status.start_time, 555);
	assert_int_equal(status.nstgid[0], 7);
	vec_deinit(&list);
	assert_int_equal(fake_tree_remove(root), 0);
}

#define MAPS \
	"1000-2000 r-xp 00000000 fe:01 7 /srv/jail/usr/bin/python3\n" \
	"2000-3000 r-xp 00000000 fe:01 8 /srv/jailer/lib.so\n" \
	"3000-4000 r-xp 00000000 fe:01 9 /lib/libc.so\n" \
	"4000-5000 r-xp 00000000 00:00 0 [vdso]\n"

static void expect_first_map(const char *root, pid_t pid, const char *path)
{
	struct proc_maps maps = PROC_MAPS_INIT;

	assert_ok(proc_maps_read(root, pid, &maps));
	assert_int_equal(maps.maps.count, 4);
	assert_string_equal(maps.maps.data[0].path, path);
	assert_string_equal(maps.maps.data[1].path, "/srv/jailer/lib.so");
	assert_string_equal(maps.maps.data[2].path, "/lib/libc.so");
	assert_string_equal(maps.maps.data[3].path, "[vdso]");
	proc_maps_deinit(&maps);
}

/* 7 is in a chroot of another mount namespace, 8 of ours, 9 in none. */
/* Read again and again, from one descriptor. */
static void test_the_newest_task(void **state)
{
	struct proc_newest newest = {};
	int status;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		/* Others may begin, too. */
		assert_true(proc_newest(&newest, NULL) > 0);
	}
	assert_true(newest.is_open);
	proc_newest_deinit(&newest);
	assert_int_equal(proc_newest(&newest, "/nonexistent"), -1);
	proc_newest_deinit(&newest);
}

static void test_maps_of_a_chroot(void **state)
{
	static const struct fake_file files[] = {
		{ "/proc/7/maps", MAPS },
		{ "/proc/8/maps", MAPS },
		{ "/proc/9/maps", MAPS },
	};
	char root[] = "/tmp/kaa-test-proc-XXXXXX";
	char command[512];

	(void)state;
	fake_tree_make(root, files, 3);
	snprintf(command, sizeof(command),
		 "cd '%s/proc' && mkdir -p self/ns 7/ns 8/ns 9/ns && ln -s mnt:[1] self/ns/mnt && ln -s mnt:[1] 8/ns/mnt && ln -s mnt:[2] 7/ns/mnt && ln -s mnt:[2] 9/ns/mnt && ln -s /srv/jail 7/root && ln -s /srv/jail 8/root && ln -s / 9/root",
		 root);
	assert_int_equal(system(command), 0);
	expect_first_map(root, 7, "/usr/bin/python3");
	expect_first_map(root, 8, "/srv/jail/usr/bin/python3");
	expect_first_map(root, 9, "/srv/jail/usr/bin/python3");
	assert_int_equal(fake_tree_remove(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_text),
		cmocka_unit_test(test_start_of_a_stack),
		cmocka_unit_test(test_maps_hostile),
		cmocka_unit_test(test_maps_of_this_process),
		cmocka_unit_test(test_status_of_this_process),
		cmocka_unit_test(test_status_text),
		cmocka_unit_test(test_status_name_cannot_pose_as_a_field),
		cmocka_unit_test(test_stat_text),
		cmocka_unit_test(test_threads_of_this_process),
		cmocka_unit_test(test_processes_and_links),
		cmocka_unit_test(test_descendants),
		cmocka_unit_test(test_no_such_process),
		cmocka_unit_test(test_injected_root),
		cmocka_unit_test(test_the_newest_task),
		cmocka_unit_test(test_maps_of_a_chroot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

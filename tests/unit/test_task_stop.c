// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that are stopped for a moment: what they were doing, signals, ends and exit
 * codes are as without. The oracle is what children say of themselves, and what
 * their parent is told.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sys/proc.h"
#include "sys/task_stop.h"
#include "assert_ok.h"

/* What a child shares with its parent. */
struct shared {
	volatile uint64_t turns;
	volatile uint64_t signals;
	volatile bool ready;
	volatile bool end;
	/* Of a grandchild: its second thread; and what its parent was told of it. */
	volatile pid_t pid;
	volatile pid_t tid;
	volatile int status;
	volatile bool told;
};

static struct shared *shared;

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(shared, 4096);
}

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
		_exit(0);
	}
	while (!shared->ready)
		usleep(1000);
	return pid;
}

/* Who has no CPU to stop on in time, on a busy machine, is let go, and has another try. */
static enum task_stop_result begin_stop(struct task_stop *stop, pid_t pid, pid_t tid)
{
	enum task_stop_result result;

	while ((result = task_stop_begin(stop, pid, tid)) == TASK_STOP_LATE)
		do {
			usleep(500);
			task_stop_settle(stop);
		} while (stop->late.count);
	return result;
}

static void spin(void)
{
	shared->ready = true;
	while (!shared->end)
		shared->turns++;
	_exit(7);
}

static int exit_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool is_traced(pid_t pid)
{
	char path[64], line[256];
	FILE *file;
	int tracer = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(file);
	return tracer != 0;
}

static void stands_still(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(spin);
	uint64_t turns;

	(void)state;
	assert_int_equal(begin_stop(&stop, pid, pid), TASK_STOP_DONE);
	turns = shared->turns;
	usleep(20000);
	assert_int_equal(shared->turns, turns);
	/* Its registers are those of its code, and its stack is its own. */
	assert_true(stop.registers.rip && stop.registers.rsp);
	task_stop_end(&stop);
	assert_false(is_traced(pid));
	while (shared->turns == turns)
		usleep(1000);
	/* Its parent is told how it ends. */
	shared->end = true;
	assert_int_equal(WEXITSTATUS(exit_status(pid)), 7);
	task_stop_deinit(&stop);
	shared->end = false;
}

static void count_signal(int number)
{
	(void)number;
	shared->signals++;
}

static void take_signals(void)
{
	signal(SIGUSR1, count_signal);
	spin();
}

static void signals_arrive_once(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(take_signals);
	int sent = 0;

	(void)state;
	for (; sent < 200; sent++) {
		uint64_t before = shared->signals;

		assert_int_equal(kill(pid, SIGUSR1), 0);
		assert_int_equal(begin_stop(&stop, pid, pid), TASK_STOP_DONE);
		task_stop_end(&stop);
		while (shared->signals == before)
			usleep(100);
	}
	usleep(20000);
	assert_int_equal(shared->signals, sent);
	shared->end = true;
	assert_int_equal(WEXITSTATUS(exit_status(pid)), 7);
	shared->end = false;
	task_stop_deinit(&stop);
}

/* In a read() that nobody retries: it must not end early. */
static void sleep_in_read(void)
{
	int ends[2];
	char byte;

	shared->ready = !pipe(ends);
	_exit(read(ends[0], &byte, 1) < 0 ? errno : 0);
}

static char state_of(pid_t pid)
{
	char path[64], text[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strrchr(text, ')')[2];
}

static void until_state(pid_t pid, char state)
{
	while (state_of(pid) != state)
		usleep(1000);
}

static void a_sleep_goes_on(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(sleep_in_read);

	(void)state;
	for (int i = 0; i < 50; i++) {
		until_state(pid, 'S');
		assert_int_equal(begin_stop(&stop, pid, pid), TASK_STOP_DONE);
		assert_int_equal(stop.signal, 0);
		task_stop_end(&stop);
	}
	until_state(pid, 'S');
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(WTERMSIG(exit_status(pid)), SIGKILL);
	task_stop_deinit(&stop);
}

static void who_was_stopped_stays_so(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(spin);
	uint64_t turns;

	(void)state;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	until_state(pid, 'T');
	assert_int_equal(begin_stop(&stop, pid, pid), TASK_STOP_DONE);
	task_stop_end(&stop);
	until_state(pid, 'T');
	turns = shared->turns;
	usleep(20000);
	assert_int_equal(shared->turns, turns);
	assert_int_equal(kill(pid, SIGCONT), 0);
	while (shared->turns == turns)
		usleep(1000);
	shared->end = true;
	assert_int_equal(WEXITSTATUS(exit_status(pid)), 7);
	shared->end = false;
	task_stop_deinit(&stop);
}

/* Its parent hears of an end during the stops, whoever looks first. */
static void ends_are_the_parents(void **state)
{
	struct task_stop stop = {};

	(void)state;
	for (int i = 0; i < 100; i++) {
		enum task_stop_result result;
		pid_t pid = start(spin);

		shared->end = true;
		while ((result = begin_stop(&stop, pid, pid)) == TASK_STOP_DONE)
			task_stop_end(&stop);
		/* A zombie may not be traced. */
		assert_true(result == TASK_STOP_GONE ||
			    result == TASK_STOP_DENIED);
		assert_int_equal(WEXITSTATUS(exit_status(pid)), 7);
		shared->end = shared->ready = false;
	}
	task_stop_deinit(&stop);
}

static void be_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	spin();
}

static void one_tracer_is_enough(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(be_traced);

	(void)state;
	assert_int_equal(task_stop_begin(&stop, pid, pid), TASK_STOP_DENIED);
	shared->end = true;
	assert_int_equal(WEXITSTATUS(exit_status(pid)), 7);
	shared->end = false;
	assert_int_equal(task_stop_begin(&stop, pid, pid), TASK_STOP_GONE);
	task_stop_deinit(&stop);
}

/* A vfork() that lasts holds its parent where no signal reaches it. */
static void wait_in_vfork(void)
{
	if (!vfork()) {
		shared->ready = true;
		while (!shared->end)
			usleep(1000);
		_exit(0);
	}
	_exit(9);
}

static void late_ones_are_let_go(void **state)
{
	struct task_stop stop = {};
	pid_t pid = start(wait_in_vfork);

	(void)state;
	assert_int_equal(task_stop_begin(&stop, pid, pid), TASK_STOP_LATE);
	assert_int_equal(stop.late.count, 1);
	task_stop_settle(&stop);
	assert_int_equal(stop.late.count, 1);
	shared->end = true;
	while (stop.late.count) {
		usleep(1000);
		task_stop_settle(&stop);
	}
	assert_int_equal(WEXITSTATUS(exit_status(pid)), 9);
	shared->end = false;
	task_stop_deinit(&stop);
}

/* --- whoever is another's child ----------------------------------------- */

static void *spin_on(void *arg)
{
	(void)arg;
	shared->tid = (pid_t)syscall(SYS_gettid);
	while (!shared->end || shared->signals)
		shared->turns++;
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
	return NULL;
}

/* What the first thread does when the end has come; signals: the second does it. */
static void with_two_threads(void (*end)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin_on, NULL);
	while (!shared->tid)
		usleep(100);
	shared->ready = true;
	while (!shared->end)
		usleep(100);
	end();
	pause();
}

static void end_at_once(void)
{
	_exit(7);
}

static void call_exec(void)
{
	execl("/bin/sh", "sh", "-c", "exit 9", NULL);
}

static void let_other_call_exec(void)
{
}

static pid_t start_grandchild(void (*end)(void))
{
	pid_t parent = fork(), pid;
	int status = -1;

	assert_true(parent >= 0);
	if (parent) {
		while (!shared->ready || !shared->pid)
			usleep(100);
		return parent;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		with_two_threads(end);
	}
	shared->pid = pid;
	waitpid(pid, &status, 0);
	shared->status = status;
	shared->told = true;
	_exit(0);
}

/* Its parent is told of its end, while its tracer lives on. */
static void until_told(struct task_stop *stop, pid_t parent, int code)
{
	alarm(60);
	while (!shared->told) {
		task_stop_settle(stop);
		usleep(500);
	}
	alarm(0);
	assert_true(WIFEXITED(shared->status));
	assert_int_equal(WEXITSTATUS(shared->status), code);
	assert_int_equal(exit_status(parent), 0);
	assert_int_equal(stop->late.count, 0);
	task_stop_deinit(stop);
	memset(shared, 0, sizeof(*shared));
}

/* What the first thread does kills the second, which stands still. */
static void killed_in_a_stop(void (*end)(void), int code)
{
	for (int i = 0; i < 20; i++) {
		struct task_stop stop = {};
		pid_t parent;

		/* The second thread never comes to its own exec. */
		shared->signals = 1;
		parent = start_grandchild(end);
		assert_int_equal(begin_stop(&stop, shared->pid, shared->tid),
				 TASK_STOP_DONE);
		shared->end = true;
		usleep(i % 2 ? 5000 : 0);
		task_stop_end(&stop);
		until_told(&stop, parent, code);
	}
}

static void the_process_ends_in_a_stop(void **state)
{
	(void)state;
	killed_in_a_stop(end_at_once, 7);
}

static void another_calls_exec_in_a_stop(void **state)
{
	(void)state;
	killed_in_a_stop(call_exec, 9);
}

/* It has another number afterwards, and is let go by that. */
static void it_calls_exec_itself(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct task_stop stop = {};
		pid_t parent = start_grandchild(let_other_call_exec);

		shared->end = true;
		for (int j = 0; j < 10; j++)
			if (task_stop_begin(&stop, shared->pid, shared->tid) ==
			    TASK_STOP_DONE)
				task_stop_end(&stop);
		until_told(&stop, parent, 9);
	}
}

static int clear(void **state)
{
	(void)state;
	memset(shared, 0, sizeof(*shared));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stands_still, clear),
		cmocka_unit_test_setup(signals_arrive_once, clear),
		cmocka_unit_test_setup(a_sleep_goes_on, clear),
		cmocka_unit_test_setup(who_was_stopped_stays_so, clear),
		cmocka_unit_test_setup(ends_are_the_parents, clear),
		cmocka_unit_test_setup(one_tracer_is_enough, clear),
		cmocka_unit_test_setup(late_ones_are_let_go, clear),
		cmocka_unit_test_setup(the_process_ends_in_a_stop, clear),
		cmocka_unit_test_setup(another_calls_exec_in_a_stop, clear),
		cmocka_unit_test_setup(it_calls_exec_itself, clear),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

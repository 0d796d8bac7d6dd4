// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long unwinding takes: stops the program given on the command line after
 * a while, and unwinds its stack again and again.
 *
 *	bench_unwind python3 -c '...deep recursion...'
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "../tests/unit/unwind_process.h"

enum {
	STACK_COPY = 64 * 1024,
	MAX_FRAMES = 16384,
	ROUNDS = 20000,
	COLD_ROUNDS = 200,
};

static struct unwind_frame frames[MAX_FRAMES];
static struct unwind_regs saved[MAX_FRAMES];
static uint8_t copy[STACK_COPY];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static pid_t start(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	usleep(1000000);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, 0);
	return pid;
}

static void to_regs(const struct user_regs_struct *from,
		    struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){};
	unwind_reg_set(ret, UNWIND_RBX, from->rbx);
	unwind_reg_set(ret, UNWIND_RBP, from->rbp);
	unwind_reg_set(ret, UNWIND_RSP, from->rsp);
	unwind_reg_set(ret, UNWIND_R12, from->r12);
	unwind_reg_set(ret, UNWIND_R13, from->r13);
	unwind_reg_set(ret, UNWIND_R14, from->r14);
	unwind_reg_set(ret, UNWIND_R15, from->r15);
	unwind_reg_set(ret, UNWIND_RIP, from->rip);
}

static size_t copy_stack(struct test_process *process, uint64_t sp)
{
	size_t size = STACK_COPY;

	while (size > 0 && !test_process_read(process, sp, copy, size))
		size -= 1024;
	return size;
}

/* All rows of all modules: what a table costs that is built as a whole. */
static void bench_tables(struct test_process *process)
{
	for (struct test_module *m = process->modules; m; m = m->next) {
		struct cfi_sections sections;
		struct cfi_table *table = NULL;
		struct cfi_stats stats;
		double t0, t1, t2;

		test_sections(m->elf, m->path, &sections);
		t0 = now_ns();
		if (cfi_table_create(&sections, &table))
			continue;
		t1 = now_ns();
		cfi_table_stats(table, &stats);
		for (size_t i = 0; i < stats.fdes; i++)
			cfi_find(table, cfi_fde_at(table, i).start);
		t2 = now_ns();
		cfi_table_stats(table, &stats);
		printf("%-60s index %6.2f ms, all rows %6.2f ms: %zu FDEs, "
		       "%zu rows, %zu rule sets, %zu KiB\n",
		       m->path, (t1 - t0) / 1e6, (t2 - t1) / 1e6, stats.fdes,
		       stats.rows, stats.rule_sets, stats.memory / 1024);
		cfi_table_destroy(table);
	}
}

int main(int argc, char **argv)
{
	struct test_process process = {};
	struct unwind_target target = { .find_map = test_process_find_map,
					.read = test_process_read_code,
					.arg = &process };
	struct user_regs_struct user;
	struct unwind_stack stack = {};
	struct unwinder *unwinder;
	struct unwind_regs regs;
	enum unwind_end end;
	size_t count = 0;
	double t0;

	if (argc < 2 || unwinder_create(&unwinder))
		return 2;
	process.pid = start(argv + 1);
	ptrace(PTRACE_GETREGS, process.pid, NULL, &user);
	test_process_refresh(&process);
	target.space = process.space;
	to_regs(&user, &regs);
	stack.start = user.rsp;
	stack.bytes = (struct bytes){ copy, copy_stack(&process, user.rsp) };

	t0 = now_ns();
	end = unwind_stack(unwinder, &target, &regs, &stack, frames, NULL,
			   MAX_FRAMES, &count);
	printf("first: %zu frames, %s, %.0f us\n", count, unwind_end_name(end),
	       (now_ns() - t0) / 1e3);
	t0 = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		unwind_stack(unwinder, &target, &regs, &stack, frames, NULL,
			     MAX_FRAMES, &count);
	printf("warm: %.1f ns a frame\n", (now_ns() - t0) / ROUNDS / count);
	t0 = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		unwind_stack(unwinder, &target, &regs, &stack, frames, saved,
			     MAX_FRAMES, &count);
	printf("warm, with registers: %.1f ns a frame\n",
	       (now_ns() - t0) / ROUNDS / count);
	{
		struct unwind_stats a, b;
		double spent = 0;

		unwinder_stats(unwinder, &a);
		for (int i = 0; i < COLD_ROUNDS; i++) {
			unwinder_forget(unwinder);
			t0 = now_ns();
			unwind_stack(unwinder, &target, &regs, &stack, frames,
				     NULL, MAX_FRAMES, &count);
			spent += now_ns() - t0;
		}
		unwinder_stats(unwinder, &b);
		printf("empty cache, rows built: %.0f ns a miss (%" PRIu64
		       " misses a stack)\n",
		       spent / (double)(b.cache_misses - a.cache_misses),
		       (b.cache_misses - a.cache_misses) / COLD_ROUNDS);
	}
	bench_tables(&process);
	kill(process.pid, SIGKILL);
	unwinder_destroy(unwinder);
	test_process_deinit(&process);
	return 0;
}

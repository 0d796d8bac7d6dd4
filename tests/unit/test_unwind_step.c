// SPDX-License-Identifier: GPL-2.0-only
/*
 * Single-steps programs from their first instruction (in the dynamic loader)
 * to their last, unwinds at every one and compares with the truth: the return
 * addresses that calls pushed and no return has popped yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "unwind_process.h"

enum {
	MAX_DEPTH = 512,
	MAX_THREADS = 8,
	MAX_STEPS = 3000000,
	STACK_COPY = 32 * 1024,
	INJECT_EVERY = 97,
	/* Instructions of the victim's signal handler, about. */
	HANDLER_SIZE = 70,
	MAX_MISMATCHES = 1024,
	MAX_BARE = 1024,
};

struct shadow_entry {
	/* Where the return address is on the stack. */
	uint64_t slot;
	uint64_t ip;
	/* Interrupted by a signal, not waiting for a call to return. */
	bool interrupted;
};

struct thread {
	pid_t tid;
	size_t depth;
	struct shadow_entry shadow[MAX_DEPTH];
	/* Before the step. */
	struct user_regs_struct regs;
	bool has_regs;
	/* The step delivers a signal. */
	bool delivering;
	bool delivering_inject;
};

struct mismatch {
	uint64_t ip;
	unsigned int count;
};

struct tracer {
	struct test_process process;
	struct unwinder *unwinder;
	/* The walk at the instruction before, of whatever thread. */
	struct unwind_trace trace;
	struct thread threads[MAX_THREADS];
	size_t n_threads;
	bool injecting;
	unsigned long steps, wrong, incomplete, truncated, injected;
	unsigned long signal_frames, trampolines;
	struct mismatch mismatches[MAX_MISMATCHES];
	size_t n_mismatches;
	/* Addresses without CFI at which stacks ended. */
	uint64_t bare[MAX_BARE];
	size_t n_bare;
	int status;
};

static uint64_t read_word_at(struct tracer *tracer, uint64_t address)
{
	uint64_t word = 0;

	test_process_read(&tracer->process, address, &word, sizeof(word));
	return word;
}

/* The call instructions of x86-64: e8, ff /2, behind any prefixes. */
static bool is_call(const uint8_t *code)
{
	while (*code == 0xf2 || *code == 0xf3 || *code == 0x2e ||
	       *code == 0x3e || *code == 0x66 || *code == 0x67 || (*code & 0xf0) == 0x40)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

static void push_shadow(struct thread *thread, uint64_t slot, uint64_t ip,
			bool interrupted)
{
	assert_true(thread->depth < MAX_DEPTH);
	thread->shadow[thread->depth++] =
		(struct shadow_entry){ slot, ip, interrupted };
}

/* Return addresses below the stack pointer are gone, up to a signal frame. */
static void pop_shadow(struct thread *thread, uint64_t sp)
{
	while (thread->depth > 0) {
		const struct shadow_entry *top =
			&thread->shadow[thread->depth - 1];

		if (top->interrupted || top->slot >= sp)
			return;
		thread->depth--;
	}
}

static void pop_signal(struct thread *thread)
{
	while (thread->depth > 0 &&
	       !thread->shadow[--thread->depth].interrupted)
		;
}

static void follow(struct tracer *tracer, struct thread *thread,
		   const struct user_regs_struct *now)
{
	const struct user_regs_struct *then = &thread->regs;
	uint8_t code[16] = {};
	bool sigreturn;

	if (!thread->has_regs)
		return;
	test_process_read(&tracer->process, then->rip, code, 15);
	sigreturn = code[0] == 0x0f && code[1] == 0x05 && then->rax == 15;
	if (thread->delivering && now->rip != then->rip) {
		push_shadow(thread, now->rsp + 8, then->rip, true);
		push_shadow(thread, now->rsp,
			    read_word_at(tracer, now->rsp), false);
		thread->delivering = false;
	} else if (sigreturn) {
		pop_signal(thread);
	} else if (is_call(code) && now->rsp == then->rsp - 8) {
		pop_shadow(thread, now->rsp);
		push_shadow(thread, now->rsp,
			    read_word_at(tracer, now->rsp), false);
	}
	pop_shadow(thread, now->rsp);
}

static void to_unwind_regs(const struct user_regs_struct *regs,
			   struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){ .known = (1u << UNWIND_REGS) - 1 };
	ret->value[UNWIND_RAX] = regs->rax;
	ret->value[UNWIND_RDX] = regs->rdx;
	ret->value[UNWIND_RCX] = regs->rcx;
	ret->value[UNWIND_RBX] = regs->rbx;
	ret->value[UNWIND_RSI] = regs->rsi;
	ret->value[UNWIND_RDI] = regs->rdi;
	ret->value[UNWIND_RBP] = regs->rbp;
	ret->value[UNWIND_RSP] = regs->rsp;
	ret->value[UNWIND_R8] = regs->r8;
	ret->value[UNWIND_R9] = regs->r9;
	ret->value[UNWIND_R10] = regs->r10;
	ret->value[UNWIND_R11] = regs->r11;
	ret->value[UNWIND_R12] = regs->r12;
	ret->value[UNWIND_R13] = regs->r13;
	ret->value[UNWIND_R14] = regs->r14;
	ret->value[UNWIND_R15] = regs->r15;
	ret->value[UNWIND_RIP] = regs->rip;
}

/* Whether the frames are the innermost ones of the truth. */
static bool agrees(const struct thread *thread, uint64_t ip,
		   const struct unwind_frame *frames, size_t count)
{
	if (count == 0 || count > thread->depth + 1 || frames[0].ip != ip)
		return false;
	for (size_t i = 0; i < count - 1; i++) {
		const struct shadow_entry *entry =
			&thread->shadow[thread->depth - 1 - i];
		bool is_caller = frames[i + 1].flags & UNWIND_FRAME_CALLER;

		if (frames[i + 1].ip != entry->ip ||
		    is_caller == entry->interrupted)
			return false;
		/* sp behind the return address is the callee's CFA. */
		if (!entry->interrupted && frames[i].cfa != entry->slot + 8)
			return false;
	}
	return true;
}

static void note_mismatch(struct tracer *tracer, uint64_t ip)
{
	tracer->wrong++;
	for (size_t i = 0; i < tracer->n_mismatches; i++) {
		if (tracer->mismatches[i].ip == ip) {
			tracer->mismatches[i].count++;
			return;
		}
	}
	if (tracer->n_mismatches < MAX_MISMATCHES)
		tracer->mismatches[tracer->n_mismatches++] =
			(struct mismatch){ ip, 1 };
}

static void note_bare(struct tracer *tracer, uint64_t ip)
{
	tracer->incomplete++;
	for (size_t i = 0; i < tracer->n_bare; i++)
		if (tracer->bare[i] == ip)
			return;
	if (tracer->n_bare < MAX_BARE)
		tracer->bare[tracer->n_bare++] = ip;
}

static void print_mismatch(struct tracer *tracer, const struct thread *thread,
			   uint64_t ip, const struct unwind_frame *frames,
			   size_t count, enum unwind_end end)
{
	struct unwind_map map = {};

	if (tracer->n_mismatches >= MAX_MISMATCHES)
		return;
	for (size_t i = 0; i < tracer->n_mismatches; i++) {
		if (tracer->mismatches[i].ip == ip)
			return;
	}
	test_process_find_map(&tracer->process, ip, &map);
	print_message("at %#" PRIx64 " (file: %#" PRIx64 "): %s\n  truth:", ip,
		      ip - map.bias, unwind_end_name(end));
	for (size_t i = thread->depth; i > 0; i--)
		print_message(" %" PRIx64 "%s", thread->shadow[i - 1].ip,
			      thread->shadow[i - 1].interrupted ? "!" : "");
	print_message("\n  found:");
	for (size_t i = 1; i < count; i++)
		print_message(" %" PRIx64 "%s", frames[i].ip,
			      frames[i].flags & UNWIND_FRAME_CALLER ? "" :
								      "!");
	print_message("\n");
}

static size_t copy_stack(struct tracer *tracer, uint64_t sp, uint8_t *buf)
{
	struct iovec local = { buf, STACK_COPY };
	/* By page, so that the copy may end at the end of the mapping. */
	struct iovec remote[16];
	size_t n = 0, left = STACK_COPY;
	ssize_t got;

	while (left > 0 && n < 16) {
		size_t size = 4096 - sp % 4096;

		if (size > left)
			size = left;
		remote[n++] = (struct iovec){ (void *)(uintptr_t)sp, size };
		sp += size;
		left -= size;
	}
	got = process_vm_readv(tracer->process.pid, &local, 1, remote, n, 0);
	return got < 0 ? 0 : (size_t)got;
}

/* With the walk before at hand, it is the same. */
static void check_again(struct tracer *tracer,
			const struct unwind_target *target,
			const struct unwind_regs *regs,
			const struct unwind_stack *stack,
			const struct unwind_frame *frames, size_t count,
			enum unwind_end end)
{
	struct unwind_trace *trace = &tracer->trace;

	assert_int_equal(unwind_stack_again(tracer->unwinder, target, regs,
					    stack, trace, MAX_DEPTH),
			 end);
	assert_int_equal(trace->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(trace->frames[i].ip, frames[i].ip);
		assert_int_equal(trace->frames[i].sp, frames[i].sp);
		assert_int_equal(trace->frames[i].cfa, frames[i].cfa);
		assert_int_equal(trace->frames[i].flags, frames[i].flags);
	}
}

static void check_here(struct tracer *tracer, struct thread *thread,
		       const struct user_regs_struct *now)
{
	static uint8_t buf[STACK_COPY];
	static struct unwind_frame frames[MAX_DEPTH];
	struct unwind_target target = { .space = tracer->process.space,
					.find_map = test_process_find_map,
					.read = test_process_read_code,
					.arg = &tracer->process };
	struct unwind_stack stack = { .start = now->rsp };
	struct unwind_regs regs;
	struct unwind_map map;
	enum unwind_end end;
	size_t count = 0;

	if (!test_process_find_map(&tracer->process, now->rip, &map))
		test_process_refresh(&tracer->process);
	target.space = tracer->process.space;
	stack.bytes = (struct bytes){ buf, copy_stack(tracer, now->rsp, buf) };
	to_unwind_regs(now, &regs);
	end = unwind_stack(tracer->unwinder, &target, &regs, &stack, frames,
			   NULL, MAX_DEPTH, &count);
	check_again(tracer, &target, &regs, &stack, frames, count, end);
	tracer->steps++;
	for (size_t i = 0; i < count; i++)
		tracer->signal_frames +=
			!!(frames[i].flags & UNWIND_FRAME_SIGNAL);
	if (agrees(thread, now->rip, frames, count)) {
		if (end == UNWIND_COMPLETE && count == thread->depth + 1)
			return;
		/* From a signal handler's stack of its own. */
		if (end == UNWIND_TRUNCATED && !tracer->process.read_all &&
		    frames[count - 2].flags & UNWIND_FRAME_SIGNAL) {
			tracer->truncated++;
			return;
		}
		/* Right as far as it goes, and it says that it is not all. */
		if (end == UNWIND_NO_CFI) {
			note_bare(tracer, frames[count - 1].ip);
			return;
		}
	}
	print_mismatch(tracer, thread, now->rip, frames, count, end);
	note_mismatch(tracer, now->rip);
}

static struct thread *find_thread(struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->n_threads; i++) {
		if (tracer->threads[i].tid == tid)
			return &tracer->threads[i];
	}
	assert_true(tracer->n_threads < MAX_THREADS);
	tracer->threads[tracer->n_threads] = (struct thread){ .tid = tid };
	return &tracer->threads[tracer->n_threads++];
}

/* The signal to go on with after a stop. */
static int choose_signal(struct tracer *tracer, struct thread *thread,
			 int status, const struct user_regs_struct *now)
{
	int signum = WSTOPSIG(status);

	if (status >> 16 || signum == SIGTRAP || signum == SIGSTOP) {
		if (!tracer->injecting || tracer->steps % INJECT_EVERY ||
		    thread->delivering)
			return 0;
		tracer->injected++;
		/* Comes back as a stop of its own. */
		syscall(SYS_tgkill, tracer->process.pid, thread->tid, SIGUSR1);
		return 0;
	}
	if (signum == SIGUSR2) {
		tracer->injecting = !tracer->injecting;
		return 0;
	}
	(void)now;
	thread->delivering = true;
	return signum;
}

static bool handle_stop(struct tracer *tracer, pid_t tid, int status)
{
	struct thread *thread = find_thread(tracer, tid);
	struct user_regs_struct now;
	int signum;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &now))
		return true;
	if (WSTOPSIG(status) == SIGTRAP && !(status >> 16)) {
		follow(tracer, thread, &now);
		check_here(tracer, thread, &now);
	}
	signum = choose_signal(tracer, thread, status, &now);
	thread->regs = now;
	thread->has_regs = true;
	ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(intptr_t)signum);
	return tracer->steps < MAX_STEPS;
}

static void start(struct tracer *tracer, char *const *argv)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		unsetenv("LD_BIND_NOW");
		execv(argv[0], argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
	tracer->process.pid = pid;
	test_process_refresh(&tracer->process);
	handle_stop(tracer, pid, status);
}

static void trace(struct tracer *tracer, char *const *argv)
{
	bool going = true;
	int status;
	pid_t tid;

	start(tracer, argv);
	while (going && (tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			going = handle_stop(tracer, tid, status);
		else if (tid == tracer->process.pid)
			tracer->status = status;
	}
	if (!going)
		kill(tracer->process.pid, SIGKILL);
}

static void tracer_deinit(struct tracer *tracer)
{
	struct unwind_stats stats;

	/* Most frames are those of the instruction before. */
	unwinder_stats(tracer->unwinder, &stats);
	assert_true(stats.reused > stats.frames / 4);
	unwind_trace_deinit(&tracer->trace);
	unwinder_destroy(tracer->unwinder);
	test_process_deinit(&tracer->process);
	free(tracer);
}

/* Steps a program from its first instruction to its last. */
static void step_program(const char *path, bool read_all, size_t bare)
{
	char *argv[] = { (char *)(uintptr_t)path, NULL };
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	tracer->process.read_all = read_all;
	assert_null(unwinder_create(&tracer->unwinder));
	trace(tracer, argv);
	print_message("%s: %lu instructions, %lu wrong, %lu incomplete at %zu "
		      "addresses, %lu truncated, %lu signals injected\n",
		      path, tracer->steps, tracer->wrong, tracer->incomplete,
		      tracer->n_bare, tracer->truncated, tracer->injected);
	assert_true(WIFEXITED(tracer->status));
	assert_int_equal(WEXITSTATUS(tracer->status), 0);
	assert_true(tracer->steps > 10000);
	assert_true(tracer->injected > 10 && tracer->signal_frames > 1000);
	/*
	 * longjmp's CFI tells where it goes, not where it was called, at 9
	 * instructions, and in a handler that interrupts it there.
	 */
	assert_true(tracer->wrong <= 9 + 2 * HANDLER_SIZE);
	/*
	 * Startup objects and the gap in clone have no CFI. How long the
	 * functions work that startup objects call depends on the compiler.
	 */
	assert_true(tracer->n_bare <= bare + 2 * HANDLER_SIZE);
	/* Two handlers on a stack of their own, which the copy ends with. */
	assert_true(tracer->truncated <= 2 * HANDLER_SIZE);
	assert_true(!read_all || tracer->truncated == 0);
	tracer_deinit(tracer);
}

/* What one unwinding found is taken for the truth from here on. */
static bool adopt_stack(struct tracer *tracer, struct thread *thread)
{
	static uint8_t buf[STACK_COPY];
	static struct unwind_frame frames[MAX_DEPTH];
	struct unwind_target target = { .space = tracer->process.space,
					.find_map = test_process_find_map,
					.read = test_process_read_code,
					.arg = &tracer->process };
	struct unwind_stack stack = {};
	struct unwind_regs regs;
	enum unwind_end end;
	size_t count = 0;

	ptrace(PTRACE_GETREGS, thread->tid, NULL, &thread->regs);
	thread->has_regs = true;
	stack.start = thread->regs.rsp;
	stack.bytes = (struct bytes){ buf,
				      copy_stack(tracer, stack.start, buf) };
	to_unwind_regs(&thread->regs, &regs);
	end = unwind_stack(tracer->unwinder, &target, &regs, &stack, frames,
			   NULL, MAX_DEPTH, &count);
	tracer->trampolines = 0;
	for (size_t i = 0; i < count; i++)
		tracer->trampolines +=
			!!(frames[i].flags & UNWIND_FRAME_TRAMPOLINE);
	thread->depth = 0;
	for (size_t i = count - 1; i > 0; i--)
		push_shadow(thread, frames[i].sp - 8, frames[i].ip, false);
	print_message("%s, %zu frames, %lu trampolines\n",
		      unwind_end_name(end), count, tracer->trampolines);
	return end == UNWIND_COMPLETE;
}

static bool step_window(struct tracer *tracer, pid_t pid, unsigned long steps)
{
	struct thread *thread = find_thread(tracer, pid);
	unsigned long last = tracer->steps + steps;
	int status;

	test_process_refresh(&tracer->process);
	if (!adopt_stack(tracer, thread))
		tracer->wrong++;
	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (tracer->steps >= last)
			return true;
		handle_stop(tracer, pid, status);
	}
	return false;
}

/* Until it has run for so long, however busy the machine is, or has ended. */
static void until_it_ran(pid_t pid, int64_t ns)
{
	siginfo_t info = {};
	clockid_t clock;
	int64_t end;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	end = clock_ns(clock) + ns;
	while (clock_ns(clock) < end && !info.si_pid) {
		usleep(1000);
		(void)waitid(P_PID, (id_t)pid, &info,
			     WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
	}
}

/* Lets a program run, and steps through a window of it now and then. */
static void sample_program(const char *const *argv, int windows, unsigned long steps,
			   unsigned long trampolines)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int status, left = windows;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	assert_null(unwinder_create(&tracer->unwinder));
	tracer->process.pid = pid;
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int signum = WSTOPSIG(status);

		if (signum == SIGSTOP &&
		    (--left < 0 || !step_window(tracer, pid, steps)))
			break;
		if (signum == SIGSTOP)
			assert_true(tracer->trampolines >= trampolines);
		ptrace(PTRACE_CONT, pid, NULL,
		       (void *)(intptr_t)(signum == SIGSTOP ||
							  signum == SIGTRAP ?
						  0 :
						  signum));
		until_it_ran(pid, 200000000);
		kill(pid, SIGSTOP);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	print_message("%s: %lu instructions, %lu wrong, %lu incomplete\n",
		      argv[0], tracer->steps, tracer->wrong,
		      tracer->incomplete);
	assert_int_equal(tracer->steps, windows * steps);
	assert_int_equal(tracer->wrong, 0);
	assert_true(tracer->incomplete <= tracer->steps / 1000);
	tracer_deinit(tracer);
}

static const char victim[] = STEP_VICTIM;
static const char static_victim[] = STEP_VICTIM_STATIC;

static const char script[] =
	"def f(n):\n"
	"    while n == 0: sorted([3, 1, 2], key=lambda x: x)\n"
	"    return f(n - 1) + 1\n"
	"f(10)\n";

static bool may_ptrace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void test_dynamic(void **state)
{
	(void)state;
	step_program(victim, false, 60);
}

static void test_dynamic_with_memory(void **state)
{
	(void)state;
	step_program(victim, true, 60);
}

static void test_static(void **state)
{
	(void)state;
	step_program(static_victim, false, 300);
}

/* Whether `python -c code` succeeds. */
static bool python_runs(const char *python, const char *code)
{
	char command[1024];

	snprintf(command, sizeof(command), "\"%s\" -c '%s' 2>/dev/null", python,
		 code);
	return system(command) == 0;
}

/* KAA_TEST_PYTHONS: more interpreters, separated by colons. */
static void sample_pythons(bool perf)
{
	const char *more = getenv("KAA_TEST_PYTHONS");
	char names[4096], *rest = names, *name;

	snprintf(names, sizeof(names), "/usr/bin/python3:%s",
		 more ? more : "");
	while ((name = strsep(&rest, ":"))) {
		const char *plain[] = { name, "-c", script, NULL };
		const char *traced[] = { name, "-X", "perf", "-c", script,
					 NULL };

		if (!*name || !python_runs(name, ""))
			continue;
		if (!perf)
			sample_program(plain, 3, 10000, 0);
		else if (python_runs(name, "import sys; "
					   "sys.activate_stack_trampoline"))
			/* f 11 times, and the module. */
			sample_program(traced, 3, 10000, 12);
	}
}

static void test_python(void **state)
{
	(void)state;
	sample_pythons(false);
}

static void test_python_trampolines(void **state)
{
	(void)state;
	sample_pythons(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_dynamic_with_memory),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_python_trampolines),
	};

	if (!may_ptrace()) {
		print_message("ptrace is not allowed here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

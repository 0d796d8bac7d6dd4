// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of a process at moments that are asked for, a line "THREAD SIGNAL FILE"
 * on standard input each. THREAD is a pthread_self(), SIGNAL a number or 0.
 *
 * The process is stopped wherever it is, and the thread walked: the answer is its
 * stack as `stacks` has it, a line "flags N", and an empty line. FILE gets what
 * the walk has read (tests/unit/memory_image.h), without the stack; "-": none.
 * Then the thread gets the signal before it runs on. The answer comes when the
 * handler has returned; or, if that failed, with a line "failed" before the last.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "memory_image.h"
#include "probe.h"
#include "probe_target.h"
#include "walked.h"

enum {
	/* Memory is kept in pieces of so many bytes, or several of them. */
	GRAIN = 64,
	/* What PTRACE_O_TRACESYSGOOD makes of a stop at a system call. */
	SYSCALL_STOP = SIGTRAP | 0x80,
	/* Of the processors with the largest registers, 11 KB. */
	XSTATE_MAX = 16384,
};

struct moment {
	struct probe_target target;
	pid_t pid;
	VEC(pid_t) threads;
	/* Addresses of the grains that were read. */
	VEC(uint64_t) grains;
};

/* --- stopping --- */

static bool stop_thread(pid_t tid)
{
	int status;

	return !ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) &&
	       !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) &&
	       waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status);
}

/* Threads that end meanwhile are left out. */
static struct error *stop_process(struct moment *m)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	vec_clear(&m->threads);
	snprintf(path, sizeof(path), "/proc/%d/task", m->pid);
	dir = opendir(path);
	if (!dir)
		return error_create(ERROR_NOT_FOUND, "no process %d", m->pid);
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid && stop_thread(tid) && !vec_push(&m->threads, tid))
			abort();
	}
	closedir(dir);
	return NULL;
}

static void release(struct moment *m)
{
	vec_for_each(tid, &m->threads)
		ptrace(PTRACE_DETACH, *tid, NULL, NULL);
}

/* The thread with that thread pointer; 0: none. */
static pid_t find_thread(struct moment *m, uint64_t pointer,
			 struct user_regs_struct *regs)
{
	vec_for_each(tid, &m->threads)
		if (!ptrace(PTRACE_GETREGS, *tid, NULL, regs) &&
		    regs->fs_base == pointer)
			return *tid;
	return 0;
}

/* What a thread has at a moment, to go on from there whatever ran meanwhile. */
struct thread_state {
	struct user_regs_struct regs;
	uint64_t signal_mask;
	size_t xstate_size;
	uint8_t xstate[XSTATE_MAX];
};

static bool save_state(pid_t tid, struct thread_state *state)
{
	struct iovec xstate = { state->xstate, sizeof(state->xstate) };

	if (ptrace(PTRACE_GETREGS, tid, NULL, &state->regs) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(state->signal_mask),
		   &state->signal_mask) ||
	    ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &xstate))
		return false;
	state->xstate_size = xstate.iov_len;
	return true;
}

static bool restore_state(pid_t tid, struct thread_state *state)
{
	struct iovec xstate = { state->xstate, state->xstate_size };

	return !ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &xstate) &&
	       !ptrace(PTRACE_SETSIGMASK, tid, sizeof(state->signal_mask),
		       &state->signal_mask) &&
	       !ptrace(PTRACE_SETREGS, tid, NULL, &state->regs);
}

/* A system call that the thread is about to make. */
static bool enters(pid_t tid, uint64_t number)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, tid, NULL, &regs) &&
	       regs.orig_rax == number;
}

/*
 * Lets the thread run with the signal until it returns from the handler. The
 * handler sends the signal once more (scripts/signalled.py): that is ignored. It
 * may fail, too: faulthandler of 3.13 reads frames that are being made. Then the
 * thread goes on as if there had been no signal.
 */
static struct error *deliver(struct moment *m, pid_t tid, int signum,
			     bool *has_failed)
{
	struct thread_state before;
	int status, inject = 0;
	bool delivered = false;

	if (!save_state(tid, &before))
		return error_os(errno, NULL, "registers");
	if (syscall(SYS_tgkill, m->pid, tid, signum))
		return error_os(errno, NULL, "tgkill");
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, tid, NULL, inject) ||
		    waitpid(tid, &status, __WALL) != tid)
			return error_os(errno, NULL, "ptrace");
		if (!WIFSTOPPED(status))
			return error_create(ERROR_NOT_FOUND,
					    "the thread is gone: status %#x",
					    status);
		inject = status >> 16 ? 0 : WSTOPSIG(status);
		if (inject == SYSCALL_STOP) {
			inject = 0;
			if (enters(tid, SYS_rt_sigreturn))
				return NULL;
		} else if (inject == signum) {
			inject = delivered ? 0 : signum;
			delivered = true;
		} else if (delivered && inject == SIGSEGV) {
			*has_failed = true;
			return restore_state(tid, &before) ?
				       NULL :
				       error_os(errno, NULL, "registers");
		}
	}
}

/* --- what is read --- */

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct moment *m = arg;
	uint64_t grain = address & ~(uint64_t)(GRAIN - 1);

	if (!probe_target_read(&m->target, address, buf, size))
		return false;
	for (; grain < address + size; grain += GRAIN)
		if (!vec_push(&m->grains, grain))
			abort();
	return true;
}

static int compare_grains(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the grains; each is there once then. */
static void sort_grains(struct moment *m)
{
	size_t count = 0;

	qsort(m->grains.data, m->grains.count, sizeof(m->grains.data[0]),
	      compare_grains);
	vec_for_each(grain, &m->grains)
		if (!count || m->grains.data[count - 1] != *grain)
			m->grains.data[count++] = *grain;
	m->grains.count = count;
}

/* How many grains from i on follow each other. */
static size_t run_of(const struct moment *m, size_t i)
{
	size_t n = 1;

	while (i + n < m->grains.count &&
	       m->grains.data[i + n] == m->grains.data[i] + n * GRAIN)
		n++;
	return n;
}

static void put_pieces(struct moment *m, struct strbuf *out, uint32_t *ret)
{
	uint8_t bytes[GRAIN];

	for (size_t i = 0, n; i < m->grains.count; i += n) {
		struct memory_image_piece at = { .address = m->grains.data[i] };

		n = run_of(m, i);
		at.size = n * GRAIN;
		strbuf_append(out, &at, sizeof(at));
		for (size_t j = i; j < i + n; j++) {
			probe_target_read(&m->target, m->grains.data[j], bytes,
					  sizeof(bytes));
			strbuf_append(out, bytes, sizeof(bytes));
		}
		++*ret;
	}
}

static struct error *write_image(struct moment *m,
				 const struct user_walk_thread *thread,
				 const char *path)
{
	_cleanup_strbuf_ struct strbuf pieces = STRBUF_INIT;
	_cleanup_fclose_ FILE *file = fopen(path, "we");
	struct memory_image_head head = {
		.magic = MEMORY_IMAGE_MAGIC,
		.version = thread->process.layout.version,
		.runtime = thread->process.runtime,
		.code_type = thread->process.code_type,
		.thread_pointer = thread->thread_pointer,
	};

	if (!file)
		return error_os(errno, path, "cannot write");
	memcpy(head.registers, thread->registers, sizeof(head.registers));
	sort_grains(m);
	put_pieces(m, &pieces, &head.pieces);
	if (fwrite(&head, sizeof(head), 1, file) != 1 ||
	    fwrite(pieces.data, 1, pieces.len, file) != pieces.len)
		return error_os(errno, path, "cannot write");
	return NULL;
}

/* --- one moment --- */

/* The image has to tell its layout, too. */
static void read_layout(struct moment *m, const struct walker_process *process)
{
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX];

	if (PY_SERIES(process->layout.version) >= PY_SERIES_DEBUG_OFFSETS)
		read_memory(m, process->runtime, bytes, sizeof(bytes));
}

static struct error *walk(struct moment *m, struct user_walk_thread *thread,
			  struct strbuf *text)
{
	struct py_memory memory = { read_memory, m };
	struct walked walked;
	struct error *error = probe_target_process(&m->target, &thread->process);

	if (!error)
		error = walked_init(&walked);
	if (error)
		return error;
	vec_clear(&m->grains);
	read_layout(m, &thread->process);
	walked_run(&walked, thread, &memory);
	walked_text(&walked, false, text);
	strbuf_printf(text, "flags %u\n", walked.stack.flags);
	walked_deinit(&walked);
	return NULL;
}

static struct error *look(struct moment *m, uint64_t pointer, int signum,
			  const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct user_regs_struct regs = {};
	pid_t tid = find_thread(m, pointer, &regs);
	struct user_walk_thread thread = {
		.thread_pointer = pointer,
		.pid = (uint32_t)m->pid,
		.tid = (uint32_t)tid,
		.registers = { regs.rbx, regs.rbp, regs.r12, regs.r13,
			       regs.r14, regs.r15, regs.rax, regs.rdx },
		/* Images do not have it. */
		.stack_pointer = strcmp(path, "-") ? 0 : regs.rsp,
	};
	bool has_failed = false;
	struct error *error;

	if (!tid)
		return error_create(ERROR_NOT_FOUND, "no such thread");
	error = walk(m, &thread, &text);
	if (!error && strcmp(path, "-"))
		error = write_image(m, &thread, path);
	if (!error && signum)
		error = deliver(m, tid, signum, &has_failed);
	if (!error)
		printf("%s%s\n", text.data, has_failed ? "failed\n" : "");
	return error;
}

static struct error *one_moment(struct moment *m, const char *line)
{
	char path[4096];
	uint64_t pointer;
	struct error *error;
	int signum;

	if (sscanf(line, "%" SCNu64 " %d %4095s", &pointer, &signum, path) != 3)
		return error_create(ERROR_INVALID_ARGUMENT, "no moment: %s", line);
	error = stop_process(m);
	if (!error)
		error = look(m, pointer, signum, path);
	release(m);
	fflush(stdout);
	return error;
}

struct error *probe_moments(const char *pid)
{
	struct moment m = { .pid = (pid_t)strtol(pid, NULL, 10) };
	struct error *error = probe_target_init(&m.target, pid);
	char line[4200];

	if (error)
		return error;
	while (!error && fgets(line, sizeof(line), stdin))
		error = one_moment(&m, line);
	probe_target_deinit(&m.target);
	vec_deinit(&m.threads);
	vec_deinit(&m.grains);
	return error;
}

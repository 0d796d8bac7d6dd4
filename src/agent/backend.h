/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backend hands out slots of executable memory, each with a trampoline in it,
 * and tells profilers what they are called.
 *
 * All functions are called with the agent's lock held, never from a signal
 * handler. They make no call into CPython. Errors are errno values, positive,
 * 0 on success; what failed is left in agent_backend_subject() for a message.
 */
#ifndef KAA_AGENT_BACKEND_H
#define KAA_AGENT_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/* What a slot stands for. Names are bytes as they shall stand in the file. */
struct agent_symbol {
	/* "py::<qualname>:<filename>", escaped: no control characters. */
	const char *name;
	size_t name_size;
	/* The filename alone, NUL-terminated, for line tables; and the line. */
	const char *filename;
	int first_line;
};

struct agent_backend {
	/* "perf", "perf_jit" or "perf_elf", as the sys API names it. */
	const char *name;
	/*
	 * Opens this process's file, if it is not open, and sees to it that
	 * there is executable memory. After a fork: the child's own. What can go
	 * wrong with the file: agent/files.h; with memory: agent/code_memory.h.
	 * ENOTSUP: no trampoline for this machine.
	 */
	int (*open)(void);
	/*
	 * A slot that was never handed out, with its trampoline, or NULL with
	 * errno set. Only while open.
	 */
	void *(*take)(void);
	/*
	 * Says in the file what the slot is, a slot that was inherited by a fork
	 * too. Written before it returns: a process that is killed loses nothing
	 * of it. The first failure (disk full) is the last: from then on until
	 * the next open() nothing is written, and every call returns that error.
	 */
	int (*announce)(const void *slot, const struct agent_symbol *symbol);
	/*
	 * Closes the file; slots stay, they may be on somebody's stack. A later
	 * open() goes on with it.
	 */
	void (*close)(void);
	/*
	 * In the child of a fork, before anything else: forgets the parent's
	 * file without writing to it. Safe in the child of a multi-threaded
	 * process.
	 */
	void (*forked)(void);
	/* Whether the address lies in a slot that was handed out; its start. */
	const void *(*slot_of)(const void *address);
};

extern const struct agent_backend agent_backend_perf_map;
extern const struct agent_backend agent_backend_jitdump;
extern const struct agent_backend agent_backend_elf;

/*
 * How many functions profilers cannot name, of all backends: no slot was to be had,
 * or an announcement failed. agent/lost.h tells the user.
 */
unsigned long agent_backend_lost(void);
/* Why the first of them, and its agent_backend_subject(). */
int agent_backend_lost_error(const char **ret_subject);
/* Counts from 0 again: the child of a fork. */
void agent_backend_lost_forget(void);

/* The file that the last error was about, "" if none. */
const char *agent_backend_subject(void);

#endif

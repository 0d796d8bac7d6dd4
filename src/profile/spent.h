/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a moment below a Python frame was spent on, as far as the name of one
 * native function tells. spent.def has the names.
 */
#ifndef KAA_PROFILE_SPENT_H
#define KAA_PROFILE_SPENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kinds of own time. Of several that the frames of a sample tell, the one
 * that stands last here counts.
 */
enum spent_kind {
	/* Byte code, calls, and what the interpreter does for them. */
	SPENT_INTERPRETER,
	/* A function of a library or of a built-in type. */
	SPENT_NATIVE,
	SPENT_KERNEL,
	SPENT_ALLOCATION,
	SPENT_IMPORT,
	/* A Python function that is not the program's own, and all that it calls. */
	SPENT_LIBRARY,
	/* Taking the GIL, or dropping it. */
	SPENT_GIL,
	/* The garbage collector. */
	SPENT_GC,
	/* The interpreter starts, or ends, before and behind all Python code. */
	SPENT_START,
	SPENT_END,
	/* Not known, because the event has no native frames. */
	SPENT_UNTOLD,
	/* The event is of waits, and nothing tells for what. */
	SPENT_WAITING,
	/* The thread slept. */
	SPENT_IDLE,
	/* It could have run, and had no CPU. */
	SPENT_CPU_WAIT,
	/* A task of asyncio waited: for another one, and so on; or could have run. */
	SPENT_AWAITS_TASK,
	SPENT_AWAITS_SLEEP,
	SPENT_AWAITS_LOCK,
	SPENT_AWAITS_QUEUE,
	SPENT_AWAITS_SOCKET,
	SPENT_AWAITS_PROCESS,
	SPENT_AWAITS_THREAD,
	SPENT_AWAITS_FUTURE,
	SPENT_AWAITS_TURN,
	SPENT_KINDS,
};

/* A marker says so: what the thread did where it stood, and no frame. */
static inline bool spent_is_state(enum spent_kind kind)
{
	return kind >= SPENT_IDLE && kind < SPENT_KINDS;
}

/* The thread, or the task, waited for something, and was seen to for long. */
static inline bool spent_is_sleep(enum spent_kind kind)
{
	return spent_is_state(kind) && kind != SPENT_CPU_WAIT;
}

/*
 * Of a function in user space; NULL: it has no name. in_cpython: it is in the
 * file that holds the interpreter. What a compiler appends to a name (".cold",
 * ".constprop.0") does not matter.
 */
enum spent_kind spent_kind_of_function(const char *name, bool in_cpython);

/* What a function of the kernel does for a program. */
struct spent_call {
	/* "read", "page fault"; not terminated. */
	const char *name;
	size_t length;
	bool is_system_call;
	/* Nothing for the program: a device or a timer interrupted it. */
	bool is_interrupt;
};

/* False: the function's name does not tell; *ret stays as it is. */
bool spent_kernel_call(const char *name, struct spent_call *ret);

/* All that the name of a function tells, in the kernel or not, Python or not. */
struct spent_symbol {
	bool is_importlib;
	bool is_module_body;
	bool is_kernel_call;
	bool is_interrupt;
	bool is_nameless;
	/* enum spent_kind; of a function in user space. */
	uint8_t kind;
	/* SPENT_START or SPENT_END for all that the function calls; or 0. */
	uint8_t phase;
};

/* name is NULL: no symbol says it. in_cpython as above. */
struct spent_symbol spent_symbol(const char *name, bool in_cpython);

/*
 * Where a frame is that is no Python frame. Without a Python frame the last of these
 * has the time.
 */
enum spent_where {
	/* It starts the program or a thread. */
	SPENT_AT_START,
	/* It carries calls on. */
	SPENT_IN_GLUE,
	SPENT_IN_LIBC,
	SPENT_IN_CPYTHON,
	/* Or in the program itself. */
	SPENT_IN_LIBRARY,
	SPENT_IN_KERNEL,
};

/*
 * Of a frame in user space; file: the name of its file, or NULL. is_glue, starts: see
 * PROFILE_FRAME_GLUE, PROFILE_FRAME_STARTS.
 */
enum spent_where spent_where(const char *file, bool in_cpython, bool is_glue,
			     bool starts);

/*
 * What the frames from the innermost Python frame to the leaf tell, one after the
 * other. Zero: there is no Python frame.
 */
struct spent_below {
	/* enum spent_kind */
	uint8_t kind;
	bool has_python;
	/* enum spent_where; of the subject. */
	uint8_t where;
	/* The subject has no name, as in a stripped file. */
	bool is_nameless;
	/* The subject is in the kernel, and its name tells what it does. */
	bool is_call_known;
	/* What is below is the machine's, not the program's. */
	bool is_interrupted;
	/* SPENT_START or SPENT_END: so says a frame, and no Python frame is below it. */
	uint8_t phase;
	/* The last function that is not inlined is the interpreter's own. */
	bool in_interpreter;
};

/* A Python frame; outer is the next one outwards, or NULL. */
void spent_enter_python(struct spent_below *below,
			const struct spent_symbol *symbol,
			const struct spent_symbol *outer);
/*
 * The same of a library's function, whose time is to count for who called it. True:
 * the time is spent in that function. False: in one that called it, or in an import.
 */
bool spent_enter_library(struct spent_below *below,
			 const struct spent_symbol *symbol,
			 const struct spent_symbol *outer);
/* The evaluation function, and call glue around it: PROFILE_FRAME_INTERPRETER. */
void spent_pass_interpreter(struct spent_below *below);
/*
 * Another frame, not the interpreter's own. True: the time is spent in that one,
 * as far as is known. Of native functions that is the outermost one, which Python
 * code called; where there is none, the one that works: the innermost, but no
 * libc's, and of CPython's own the outermost. What is inlined into the interpreter's own
 * is that, too, unless its name tells a kind: without debug information nobody sees it.
 */
bool spent_enter_native(struct spent_below *below,
			const struct spent_symbol *symbol,
			enum spent_where where, bool is_inlined);

/* What the event says of how to understand its samples. */
struct spent_event {
	/* It has no native frames: what they would have told is not known. */
	bool python_only;
	/* What would else say that the thread ran says that it waited. */
	bool is_wait;
};

/*
 * Behind the last frame: what the time was spent in, as far as the event lets it be
 * known. has_subject: some frame is known that it was spent in. False: it was in
 * nothing that is known, or the kind alone says all.
 */
bool spent_settle(struct spent_below *below, struct spent_event event,
		  bool has_subject);

/* A Python function of the import machinery; its symbol's name. */
bool spent_is_importlib(const char *name);
/* The body of a module. */
bool spent_is_module_body(const char *name);

#endif

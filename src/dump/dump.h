/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process does: its threads, their Python stacks, and the variables in
 * these. docs/dump.md says how it is read.
 *
 * All text is UTF-8 without control characters.
 */
#ifndef KAA_DUMP_DUMP_H
#define KAA_DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "dump/subject.h"
#include "python/async_wait.h"

/* Places in the text of its list; each ends with a NUL. */
struct dump_local {
	uint32_t name;
	uint32_t value;
	bool is_argument;
};

/* Variables of several frames. */
struct dump_locals {
	VEC(struct dump_local) list;
	struct strbuf text;
};

enum dump_frame_kind {
	DUMP_FRAME_PYTHON,
	DUMP_FRAME_NATIVE,
	/* The function says what is not known there: "[truncated stack]". */
	DUMP_FRAME_MARKER,
};

struct dump_frame {
	const char *function;
	/* Of native code the path of its DSO; "": not known. */
	const char *file;
	/* 0: the code has none there. */
	uint32_t line;
	/* Its variables: locals.list[first_local] and those behind it. */
	uint32_t first_local;
	uint32_t local_count;
	/* Of the frame in the process; of native code that of its instruction. */
	uint64_t address;
	enum dump_frame_kind kind;
	/* Of native code: where its source is; NULL, 0: no debug information tells. */
	const char *source;
	uint32_t source_line;
	/* It is inlined into the function that stands next. */
	bool is_inlined;
};

struct dump_frame_list VEC_BODY(struct dump_frame);

/* What is wrong with a stack. */
enum dump_problem {
	DUMP_NO_PROBLEM,
	/* Beyond its last frame it could not be read. */
	DUMP_UNREADABLE,
	/* It goes on beyond its last frame. */
	DUMP_TOO_DEEP,
	/*
	 * There is no stack: before 3.13 a thread runs code of another interpreter
	 * with a state that is not its own, and whose it is was not to be told.
	 */
	DUMP_AMBIGUOUS,
	/* There is no stack: the thread ran on at each try. */
	DUMP_RAN_ON,
};

struct dump_thread {
	pid_t tid;
	/* pthread_self(); 0: not known. */
	uint64_t ident;
	/* What Python calls it; NULL: it has no name. */
	const char *name;
	const char *comm;
	/* As in /proc/PID/stat; 0: not known. */
	char state;
	bool has_call;
	int64_t call;
	/* It has a thread state of the interpreter. */
	bool has_python;
	bool holds_gil;
	bool wants_gil;
	/* It holds the GIL of an interpreter whose garbage collector runs. */
	bool collects_garbage;
	enum dump_problem problem;
	/* Innermost first. */
	struct dump_frame_list frames;
	struct dump_locals locals;
	/* Variables were asked for, and could not be read with the stack. */
	bool no_locals;
	/* Native frames were asked for, and the thread could not be stopped. */
	bool no_native;
};

enum dump_task_state {
	DUMP_TASK_RUNNING,
	/* For a future, or another task. */
	DUMP_TASK_WAITING,
	/* Its loop will run it. */
	DUMP_TASK_SCHEDULED,
	/* And still there. */
	DUMP_TASK_DONE,
};

enum dump_task_problem {
	DUMP_TASK_NO_PROBLEM,
	/* Its thread ran on at each try: nothing of it is known but that it is there. */
	DUMP_TASK_RAN_ON,
	/* Nor is more of one whose thread has ended meanwhile. */
	DUMP_TASK_THREAD_ENDED,
	/* Nor is more of one for which there were not enough reads. */
	DUMP_TASK_NOT_READ,
	/* Beyond its last frame it could not be read. */
	DUMP_TASK_UNREADABLE,
	/* It goes on beyond its last frame. */
	DUMP_TASK_TOO_DEEP,
	/* There it goes on in a coroutine of another kind: compiled code, say. */
	DUMP_TASK_FOREIGN,
};

struct dump_task {
	/* Of the object: tasks may have one name. */
	uint64_t address;
	/* NULL: not known. */
	const char *name;
	enum dump_task_state state;
	enum dump_task_problem problem;
	/* It may have changed while it was read: no thread is known that runs its loop. */
	bool is_unproven;
	/* The thread that runs its loop; 0: none does. */
	pid_t tid;
	enum py_wait wait;
	/* While it is read: what else it waits for if it awaits none of the tasks. */
	enum py_wait without_tasks;
	/* In words; NULL: they say nothing more. */
	const char *waits_for;
	/* tasks.frames[first_frame] and those behind it, innermost first. */
	uint32_t first_frame;
	uint32_t frame_count;
	/* Variables were asked for, and could not be read with its frames, or kept. */
	bool no_locals;
	/* It is awaited by another one. */
	bool is_awaited;
};

static inline bool dump_task_is_read(const struct dump_task *task)
{
	return task->problem != DUMP_TASK_RAN_ON &&
	       task->problem != DUMP_TASK_THREAD_ENDED &&
	       task->problem != DUMP_TASK_NOT_READ;
}

/* One awaits the other; indices of tasks. In order of the one that awaits. */
struct dump_await {
	uint32_t waiter;
	uint32_t awaited;
};

struct dump_tasks {
	VEC(struct dump_task) list;
	VEC(struct dump_await) awaits;
	struct dump_frame_list frames;
	struct dump_locals locals;
	/* Those of a build of asyncio that kaa does not know. */
	size_t unknown;
	/*
	 * There may be more tasks, frames, or tasks that are awaited: lists changed at
	 * each try, or there is more than is read.
	 */
	bool is_cut;
};

struct dump {
	pid_t pid;
	/* NULL: of a process that runs. */
	const char *core;
	/* That ended it, and the thread that it hit; 0: none. */
	int signal;
	pid_t signalled;
	const char *command;
	const char *interpreter;
	/* PY_VERSION_HEX */
	uint32_t version;
	/* Threads take turns. Those of a free-threaded build do so only if told to. */
	bool has_gil;
	/* Variables were asked for. */
	bool has_locals;
	VEC(struct dump_thread) threads;
	/* Native frames were asked for. */
	bool has_native;
	/* Tasks were asked for. */
	bool has_tasks;
	struct dump_tasks tasks;
	struct arena strings;
};

struct dump_options {
	bool locals;
	/* Stops each thread of a process that runs for a moment. */
	bool native;
	/* With those of the interpreter, and what starts a program and a thread. */
	bool interpreter;
	bool tasks;
	/* How many tasks of all have been read; or NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t size);
	void *progress_arg;
};

/* The subject's Python was found. ERROR_FAULT: it has ended meanwhile. */
struct error *dump_create(struct subject *subject,
			  const struct dump_options *options,
			  struct dump **ret);
void dump_destroy(struct dump *dump);
DEFINE_CLEANUP(dump, struct dump *, dump_destroy);

struct dump_words {
	/* Columns. */
	size_t width;
	/* Appends the text of a line of a file, as far as it is known; or NULL. */
	void (*put_source)(void *arg, const char *file, uint32_t line,
			   struct strbuf *out);
	void *arg;
};

void dump_text(const struct dump *dump, const struct dump_words *words,
	       struct strbuf *out);
/*
 * The threads alone, each with its innermost function and, if that is one of Python's
 * library, the innermost that is not: at most so many lines (> 0). Returns how many.
 */
size_t dump_text_brief(const struct dump *dump, const struct dump_words *words,
		     size_t lines, struct strbuf *out);
/* docs/dump.md has the schema. */
void dump_json(const struct dump *dump, struct strbuf *out);

#endif

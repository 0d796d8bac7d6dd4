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

/* Places in the thread's text; each ends with a NUL. */
struct dump_local {
	uint32_t name;
	uint32_t value;
	bool is_argument;
};

struct dump_frame {
	const char *function;
	const char *file;
	/* 0: the code has none there. */
	uint32_t line;
	/* Its variables: locals[first_local] and those behind it. */
	uint32_t first_local;
	uint32_t local_count;
};

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
	VEC(struct dump_frame) frames;
	VEC(struct dump_local) locals;
	struct strbuf text;
	/* Variables were asked for, and could not be read with the stack. */
	bool no_locals;
};

struct dump {
	pid_t pid;
	/* NULL: of a process that runs. */
	const char *core;
	/* That ended it; 0: none. */
	int signal;
	const char *command;
	const char *interpreter;
	/* PY_VERSION_HEX */
	uint32_t version;
	/* Threads take turns. Those of a free-threaded build do so only if told to. */
	bool has_gil;
	/* Variables were asked for. */
	bool has_locals;
	VEC(struct dump_thread) threads;
	struct arena strings;
};

struct dump_options {
	bool locals;
};

/* The subject's Python was found. */
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
/* docs/dump.md has the schema. */
void dump_json(const struct dump *dump, struct strbuf *out);

#endif

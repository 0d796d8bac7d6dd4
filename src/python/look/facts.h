/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a Python is, as far as profiling goes.
 *
 * Two sources, one answer: a program that is named is asked itself (it runs a
 * few lines that read sysconfig); a process, and a program that merely embeds
 * Python, is looked at from outside: its ELF file, and the
 * _sysconfigdata*.py that its build left in the standard library. Nothing runs
 * in a process that is looked at.
 */
#ifndef KAA_PYTHON_LOOK_FACTS_H
#define KAA_PYTHON_LOOK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/error.h"
#include "obj/build_id.h"
#include "sys/invoker.h"

enum answer { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES };

/* How many functions set up a frame pointer in their first instructions. */
struct prologue_count {
	/* Functions of 128 bytes and more: smaller ones need none. */
	size_t functions;
	size_t with_frame_pointer;
};

enum symbol_source {
	/* Only of functions that it exports. */
	SYMBOLS_EXPORTED,
	SYMBOLS_OWN,
	SYMBOLS_DEBUG_FILE,
};

/* What the build left: the variables of sysconfig. */
struct python_config {
	/* Were the variables found at all? */
	bool known;
	/* PY_HAVE_PERF_TRAMPOLINE */
	enum answer perf_trampoline;
	/* Py_GIL_DISABLED */
	enum answer free_threaded;
	/* --enable-experimental-jit */
	enum answer jit;
	/* A variable whose value has no-omit-frame-pointer; NULL: none has. */
	char *frame_pointer_variable;
};

struct python_facts {
	/* The executable; real path. */
	char *program;
	/* "3.12.1"; NULL if not known. */
	char *version;
	/* "cpython", "pypy"; NULL if not known. */
	char *implementation;
	/* The file with the interpreter: program, or a libpython. */
	char *library;
	/* The interpreter is in a shared libpython. */
	bool shared;
	struct python_config config;
	/* Is the JIT on right now? Only a program that was asked knows. */
	enum answer jit_enabled;
	struct prologue_count prologues;
	/* Of library: where the names of its functions are; its build-id. */
	enum symbol_source symbols;
	struct build_id build_id;
	/*
	 * NULL: the walker of this kaa reads this interpreter's frames; else
	 * why it does not.
	 */
	char *walker_refusal;
};

/*
 * name: a path, or looked up on path. Runs it as the invoker (if present).
 * ERROR_NOT_FOUND: no such program; ERROR_UNSUPPORTED: no Python.
 */
struct error *python_facts_of_program(const char *name, const char *path,
				      const struct invoker *invoker,
				      struct python_facts *ret);

/*
 * ERROR_NOT_FOUND: no such process; ERROR_UNSUPPORTED: no Python in it;
 * ERROR_PERMISSION: its files may not be looked at.
 */
struct error *python_facts_of_process(const char *root, pid_t pid,
				      struct python_facts *ret);

void python_facts_deinit(struct python_facts *facts);

/* Keeps frame pointers, by its machine code. */
enum answer prologue_answer(const struct prologue_count *count);

/* Reads the text of a _sysconfigdata*.py. */
struct error *python_config_parse(struct bytes text, struct python_config *ret);
void python_config_deinit(struct python_config *config);

#endif

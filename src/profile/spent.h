/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a moment below a Python frame was spent on, as far as the name of one
 * native function tells. spent.def has the names.
 */
#ifndef KAA_PROFILE_SPENT_H
#define KAA_PROFILE_SPENT_H

#include <stdbool.h>
#include <stddef.h>

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
	/* Taking the GIL, or dropping it. */
	SPENT_GIL,
	/* The garbage collector. */
	SPENT_GC,
	SPENT_KINDS,
};

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

/* A Python function of the import machinery; its symbol's name. */
bool spent_is_importlib(const char *name);
/* The body of a module. */
bool spent_is_module_body(const char *name);

#endif

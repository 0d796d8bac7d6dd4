/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Qualified names of code objects before 3.11, which have none: it stands in
 * the code that makes the function,
 *
 *	LOAD_CONST code; LOAD_CONST qualified name; MAKE_FUNCTION
 *
 * and, for the body of a class, in the body itself,
 *
 *	LOAD_NAME __name__; STORE_NAME __module__;
 *	LOAD_CONST qualified name; STORE_NAME __qualname__
 *
 * (Python/compile.c of 3.6 to 3.10: compiler_make_closure, compiler_class).
 * A function runs after the code that makes it, so whoever asks for each code object
 * when it first runs has told of all those it makes before they are asked for.
 * Functions that were made before anybody asked are found once in the heap, by
 * gc.get_objects(). What neither knows (a code object dug out of another's constants
 * and run by itself) has its plain name.
 *
 * A code object is known by its address and by its name, filename, first line
 * and instructions, to which a reference is held: no other object can have
 * their addresses, so one at a used address never gets the old name. Code
 * objects themselves are not kept alive. At most one entry for each address, and
 * some thousands that have lost theirs.
 *
 * Objects are PyObject pointers. All functions need the GIL; an exception that
 * is set stays as it is.
 */
#ifndef KAA_AGENT_QUALNAME_H
#define KAA_AGENT_QUALNAME_H

#include <stdbool.h>

/*
 * Looks up what is needed of CPython's C API. False if something is missing:
 * then agent_qualname() must not be called. lookup: an address by name, or NULL.
 */
bool agent_qualname_init(void *(*lookup)(const char *name));

/*
 * The qualified name of a code object that is about to run, else its plain
 * name: a new reference to a str object, NULL if it has no name that is one.
 */
void *agent_qualname(void *code);

/*
 * Code may have run without agent_qualname() being told: the heap is searched when
 * a name is next missed. At the start that is so without being said.
 */
void agent_qualname_missed_some(void);

/* Gives all references back. */
void agent_qualname_clear(void);

#endif

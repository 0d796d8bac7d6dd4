/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of facts.c: asking a Python, and looking at its files.
 */
#ifndef KAA_PYTHON_LOOK_LOOK_H
#define KAA_PYTHON_LOOK_LOOK_H

#include "obj/elf_file.h"
#include "python/look/facts.h"

/* Replaces an owned text by a copy of value. */
struct error *python_set_text(char **field, const char *value);

/*
 * Runs the program `file`, which calls itself a Python, and takes over what it
 * says of itself. What a program that fails says instead stands in the error,
 * each line on one of its own.
 */
struct error *python_ask(const char *file, const char *path,
			 const struct invoker *invoker,
			 struct python_facts *facts);

/*
 * Looks at the file with the interpreter: its functions, whether the walker
 * reads it, and its version if that is not known yet.
 */
struct error *python_look_at_elf(struct elf_file *file,
				 struct python_facts *facts);

/*
 * Finds the _sysconfigdata*.py of facts->program and ->version, below root
 * (links are resolved inside of it), and reads it. No such file: nothing
 * changes.
 */
struct error *python_look_at_sysconfig(const char *root,
				       struct python_facts *facts);

#endif

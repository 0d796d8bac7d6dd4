/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Python of a command that is about to be let go. To find out what kaa has to know
 * of an interpreter's file takes some 10 ms where it has no symbols; a new process has
 * begun to import by then, and nobody could read its frames. So that is found out
 * before: of the program, or of the libpython that it needs.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_LAUNCHED_PYTHON_H
#define KAA_COLLECT_LAUNCHED_PYTHON_H

#include "base/error.h"
#include "collect/target_file.h"

/*
 * program: the ELF file that is run. What is not found here is looked into when a
 * process maps it, as any other file. Fails only for want of memory.
 */
struct error *launched_python_prepare(struct target_files *files,
				      const char *program);

#endif

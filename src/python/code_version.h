/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the version of a code object tells it from all others.
 *
 * From 3.12 on CPython counts a number up for each new code object. 3.12 has one
 * counter for all interpreters, for good. Later ones have one for each interpreter: it
 * begins again in another one, and after Py_Finalize() and Py_Initialize(). A program
 * that embeds Python may call these; CPython's own program does so once.
 */
#ifndef KAA_PYTHON_CODE_VERSION_H
#define KAA_PYTHON_CODE_VERSION_H

#include <stdbool.h>

#include "bpf/py_layout.h"

/*
 * While a process has one interpreter, at most one code object ever has a version other
 * than 0. exe: the process's executable.
 */
bool py_versions_tell(const struct py_layout *layout, const char *exe);
/* It depends on the executable, which costs a look into /proc. */
bool py_versions_need_exe(const struct py_layout *layout);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * C++ (Itanium ABI) and Rust (legacy and v0) symbol names as people read
 * them, in the form that perf prints. The work is libiberty's.
 *
 * The name is foreign: input and output are bounded, a name that would grow
 * beyond DEMANGLE_MAX is left as it is.
 */
#ifndef KAA_OBJ_DEMANGLE_H
#define KAA_OBJ_DEMANGLE_H

#define DEMANGLE_MAX 65536

/*
 * The readable form, to be freed by the caller; NULL if the name is not
 * mangled (or memory runs out): show the name itself then.
 */
char *demangle(const char *name);

#endif

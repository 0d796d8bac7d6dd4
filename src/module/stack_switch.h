/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code with which greenlet switches stacks (docs/greenlets.md): where a
 * greenlet's own stack begins, and where the stack is not in place.
 *
 * Source: greenlet 0.4 to 3.5, switch_amd64_unix.h (slp_switch), greenlet.c,
 * TGreenlet.cpp (g_switchstack), TUserGreenlet.cpp (g_initialstub,
 * inner_bootstrap).
 */
#ifndef KAA_MODULE_STACK_SWITCH_H
#define KAA_MODULE_STACK_SWITCH_H

#include <stdbool.h>

#include "obj/elf_file.h"
#include "python/detect.h"
#include "unwind/unwind.h"

/* What the symbol of a greenlet's first function begins with, in C++. */
#define STACK_SWITCH_ROOT "_ZN8greenlet12UserGreenlet15inner_bootstrap"

/* False: stack_switch_find() would find nothing. Needs no pieces of code. */
bool stack_switch_maybe(struct elf_file *file);

/*
 * True if the file is greenlet's extension module; *ret then tells of its code,
 * as far as the file does, and is of no use otherwise.
 */
bool stack_switch_find(struct elf_file *file,
		       const struct py_code_pieces *pieces,
		       struct unwind_switches *ret);

#endif

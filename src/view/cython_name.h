/* SPDX-License-Identifier: GPL-2.0-only */
/* What Cython calls the C functions that it makes of Python code. */
#ifndef KAA_VIEW_CYTHON_NAME_H
#define KAA_VIEW_CYTHON_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/*
 * Of "__pyx_pw_3app_5tools_4Shop_7sold" in the module "tools" appends
 * "Shop.sold". False, and nothing appended, for any other name: also where the
 * module is not in it.
 *
 * Modules and classes stand there with their lengths before them. Before the name
 * of a function that Python calls stands a number, which tells functions of one
 * scope apart (Cython/Compiler/Symtab.py: mangle, next_id); a cdef function
 * ("__pyx_f_...") has none.
 */
bool cython_name(const char *symbol, const char *module, size_t module_length,
		 struct strbuf *out);

#endif

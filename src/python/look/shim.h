/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shims: what pyenv, asdf and mise put on the PATH under the names of all their
 * Pythons, in a folder "shims". A shim becomes the Python that is activated. If
 * that one has no program of the name, the shim fails; the Pythons that have one
 * stand beside the folder: versions/VERSION/bin (pyenv) or
 * installs/python/VERSION/bin (asdf, mise).
 */
#ifndef KAA_PYTHON_LOOK_SHIM_H
#define KAA_PYTHON_LOOK_SHIM_H

#include "base/vec.h"

struct python_list VEC_BODY(char *);

/*
 * The programs that a shim stands for, in order of their names; none if file is no
 * shim. At most eight.
 */
void python_shim_programs(const char *file, struct python_list *ret);
void python_list_deinit(struct python_list *list);

#endif

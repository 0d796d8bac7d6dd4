/* SPDX-License-Identifier: GPL-2.0-only */
/* Which script it is that `kaa top` shows. */
#ifndef KAA_CMD_TOP_SCRIPT_H
#define KAA_CMD_TOP_SCRIPT_H

#include <stddef.h>

#include "base/error.h"

struct pid_vec;

/*
 * python_script() of the command's words, or without a command (NULL) of those of
 * the only process. *ret: to be freed; NULL if nothing tells, as of a process that
 * has ended.
 */
struct error *top_script_find(const char *const *words, size_t count,
			      const struct pid_vec *processes, char **ret);

#endif

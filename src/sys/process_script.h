/* SPDX-License-Identifier: GPL-2.0-only */
/* Which script a process runs. */
#ifndef KAA_SYS_PROCESS_SCRIPT_H
#define KAA_SYS_PROCESS_SCRIPT_H

#include <sys/types.h>

#include "base/error.h"

/*
 * python_script() of its command line, which anybody may read. *ret: to be freed;
 * NULL if nothing tells, as of a process that has ended.
 */
struct error *process_script(const char *root, pid_t pid, char **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What processes wait in that have no samples yet, for `kaa top`. */
#ifndef KAA_CMD_TOP_WAITS_H
#define KAA_CMD_TOP_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct pid_vec;

/*
 * Appends the threads of the processes with the Python functions that they are in, as
 * `kaa dump` knows them: at most so many lines. Processes that may not be read, or run
 * no Python, are left out. True: there are processes, and each of them runs no Python.
 */
bool top_waits_put(const struct pid_vec *pids, size_t lines, size_t columns,
		   struct strbuf *out);

/*
 * Appends that none of the processes is a Python, and what lists those that are, in
 * lines of at most so many columns. command: they are of it; NULL: the user named them.
 */
void top_waits_put_no_python(const struct pid_vec *pids, const char *command,
			     size_t columns, struct strbuf *out);

/*
 * Adds the processes of the command that the process `recorder` has started: those
 * below it that run another program than kaa, as it does before it becomes the command.
 */
struct error *top_waits_find(pid_t recorder, struct pid_vec *ret);

#endif

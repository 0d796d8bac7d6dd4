/* SPDX-License-Identifier: GPL-2.0-only */
/* Under which profiler `kaa run` runs. */
#ifndef KAA_CMD_RUN_PROFILER_H
#define KAA_CMD_RUN_PROFILER_H

#include <stdbool.h>
#include <stddef.h>

/* Is kaa below a `perf record` that follows frame pointers (-g)? */
bool run_profiler_follows_frame_pointers(void);

/* The same of a command line: words with a NUL after each. */
bool run_profiler_is_frame_pointers(const char *cmdline, size_t size);

#endif

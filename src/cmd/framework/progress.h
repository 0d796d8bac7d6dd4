/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the reading or writing of a large file is, or of many tasks, on one line
 * of the terminal behind standard error, which is gone when it ends. Without a
 * terminal, for small files and for fast ones, nothing.
 */
#ifndef KAA_CMD_FRAMEWORK_PROGRESS_H
#define KAA_CMD_FRAMEWORK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct convert_options;

/* Zero-initialise; progress_end() before anything else is printed. */
struct progress {
	bool is_terminal;
	/* "reading" */
	const char *what;
	/* There is a line to be cleared. */
	bool shown;
	/* ms of the monotonic clock. */
	int64_t started;
	unsigned int percent;
};

/* Hangs it into the options of a conversion, which it must outlive. */
void progress_start(struct progress *progress, struct convert_options *options);
/* The same for something else: what does it calls progress_see() now and then. */
void progress_start_as(struct progress *progress, const char *what);
/* arg: a struct progress; bytes, or whatever else, done so far and of all. */
void progress_see(void *arg, uint64_t done, uint64_t size);
void progress_end(struct progress *progress);

#endif

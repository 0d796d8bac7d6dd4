/* SPDX-License-Identifier: GPL-2.0-only */
/* Text, line by line, and what lines of other tools have in common. */
#ifndef KAA_IMPORT_LINES_IN_H
#define KAA_IMPORT_LINES_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/import_format.h"

struct line {
	/* Without its end; no NUL stands behind it. */
	const char *text;
	size_t size;
};

struct lines_in {
	const char *path;
	const char *at;
	const char *end;
	/* Of the line that was read last, from 1 up. */
	uint64_t number;
};

struct lines_in lines_in_init(const struct import_input *input);
/* False at the end. */
bool lines_in_next(struct lines_in *lines, struct line *ret);
/* An error about the line that was read last. */
struct error *lines_in_error(const struct lines_in *lines, const char *what);

/* Digits alone, all of them. False if that is no number of 63 bits. */
bool lines_in_number(const char *text, size_t size, uint64_t *ret);

/*
 * "thread (4242): name" or "thread (4242)", py-spy's step for a thread. *tid is 0
 * where the number is no thread's, but an address.
 */
bool lines_in_thread(const char *text, size_t size, int64_t *tid,
		     struct line *name);
/* "process 4242:"command"", its step for a process. */
bool lines_in_process(const char *text, size_t size, int64_t *pid,
		      struct line *name);

#endif

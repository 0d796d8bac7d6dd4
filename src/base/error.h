/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one error idiom.
 *
 * A function that can fail returns `struct error *`: NULL on success, else an
 * error that the caller owns and either returns further up or destroys. Out
 * parameters stay untouched on failure. Library code never prints an error;
 * the command reports it once.
 *
 * An error names its subject (a file, a process, an address) in its message,
 * and says what the user can do where that is known.
 */
#ifndef KAA_BASE_ERROR_H
#define KAA_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

enum error_code {
	/* Allocation failed. */
	ERROR_NO_MEMORY,
	/* A system call failed; error.errnum says how. */
	ERROR_OS,
	/* Foreign bytes break their format. */
	ERROR_FORMAT,
	/* Foreign bytes end too soon. */
	ERROR_TRUNCATED,
	/* Well-formed, but nothing that kaa can handle. */
	ERROR_UNSUPPORTED,
	/* What was asked for is not there. */
	ERROR_NOT_FOUND,
	/* The user may not do this here; the message names the way out. */
	ERROR_PERMISSION,
	/* The caller or the user passed something that makes no sense. */
	ERROR_INVALID_ARGUMENT,
	/* A bound set against hostile input was passed. */
	ERROR_LIMIT,
	/* Memory of the target could not be read. */
	ERROR_FAULT,
	/* Who wanted it done does not any more (base/watch.h). */
	ERROR_INTERRUPTED,
};

struct error {
	enum error_code code;
	/* errno of ERROR_OS, else 0. */
	int errnum;
	/* True if offset is meaningful (a byte offset in path). */
	bool has_offset;
	uint64_t offset;
	/* The file concerned, or NULL. */
	char *path;
	/* A sentence without trailing period or newline. Never NULL. */
	char *message;
};

/* Never fails: out of memory gives the static error of error_no_memory(). */
struct error *error_create(enum error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * ERROR_OS for errnum, subject path (may be NULL). The message is the format
 * without the text of errnum; error_format() (base/strbuf.h) appends that.
 */
struct error *error_os(int errnum, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An error about the bytes at offset of path (may be NULL). */
struct error *error_at(enum error_code code, const char *path, uint64_t offset,
		       const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A static error; error_destroy() of it is legal and does nothing. */
struct error *error_no_memory(void);

/* Legal on NULL and on error_no_memory(). */
void error_destroy(struct error *error);

/* True if error is ERROR_OS with this errno. NULL is legal. */
bool error_is_os(const struct error *error, int errnum);

DEFINE_CLEANUP(error, struct error *, error_destroy);
#define _cleanup_error_ _cleanup_(cleanup_error_)

#endif

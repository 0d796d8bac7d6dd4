/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running a helper program for what it prints: `perf --version`, a Python that
 * is asked about itself. With a time limit and a bound on the output.
 *
 * Helpers are what the user named or what stands on the user's PATH: under
 * sudo they run as the user, never as root.
 */
#ifndef KAA_SYS_CAPTURE_H
#define KAA_SYS_CAPTURE_H

#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/watch.h"
#include "sys/invoker.h"

enum { CAPTURE_ERRORS_MAX = 2048 };

struct capture {
	/* NULL-terminated; argv[0] is looked up on `path` (or PATH). */
	const char *const *argv;
	/* Whom to become; NULL or not present: nobody. */
	const struct invoker *invoker;
	/* PATH of the child; NULL: the caller's. */
	const char *path;
	/* After which it is killed, with all that it started. */
	int timeout_ms;
	/* Of the output; what is more is ERROR_LIMIT. */
	size_t limit;
	/*
	 * Gets the first CAPTURE_ERRORS_MAX bytes of stderr, also if the program
	 * fails; NULL: stderr is /dev/null.
	 */
	struct strbuf *errors;
	/* Who waits, or NULL: may end the program before its time. */
	struct watch *watch;
};

/*
 * Runs it with stdin on /dev/null and appends stdout to out.
 * *status is as waitpid() gives it; 127 exited: could not be run. ERROR_LIMIT
 * if it took too long or printed too much, ERROR_INTERRUPTED. Not thread-safe (forks and sets the
 * environment in the child).
 */
struct error *capture_run(const struct capture *capture, struct strbuf *out,
			  int *status);

/*
 * The file that `name` stands for on `path` (colon-separated), or name itself
 * if it has a slash: exists, is a file, is executable. *ret is the caller's;
 * ERROR_NOT_FOUND.
 */
struct error *capture_which(const char *path, const char *name, char **ret);

#endif

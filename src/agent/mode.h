/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kind of file something is. stat() and fstat() are new names in glibc 2.33, with
 * which the library would not load into a process of an older one; statx() is of
 * 2.28. Async-signal-safe.
 */
#ifndef KAA_AGENT_MODE_H
#define KAA_AGENT_MODE_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Links are followed. path "": of the file behind dirfd itself. False: errno. */
static inline bool agent_mode_of(int dirfd, const char *path, mode_t *ret)
{
	struct statx status;

	if (statx(dirfd, path, path[0] ? 0 : AT_EMPTY_PATH, STATX_MODE | STATX_TYPE,
		  &status))
		return false;
	*ret = status.stx_mode;
	return true;
}

#endif

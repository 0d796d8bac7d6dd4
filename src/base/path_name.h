/* SPDX-License-Identifier: GPL-2.0-only */
/* The last part of a path, and whose files tell by it what they are. */
#ifndef KAA_BASE_PATH_NAME_H
#define KAA_BASE_PATH_NAME_H

#include <stdbool.h>
#include <string.h>

/* Behind the last '/', which may be the end; without one the whole of it. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "libc.so.6", "libc-2.31.so", "libpthread-2.31.so", musl's "ld-musl-x86_64.so.1". */
static inline bool path_is_libc(const char *path)
{
	const char *base = path_name(path);

	return !strncmp(base, "libc.so", 7) || !strncmp(base, "libc-", 5) ||
	       !strncmp(base, "libpthread", 10) ||
	       !strncmp(base, "ld-musl-", 8);
}

#endif

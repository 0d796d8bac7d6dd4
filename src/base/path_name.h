/* SPDX-License-Identifier: GPL-2.0-only */
/* The last part of a path. */
#ifndef KAA_BASE_PATH_NAME_H
#define KAA_BASE_PATH_NAME_H

#include <string.h>

/* Behind the last '/', which may be the end; without one the whole of it. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening files below another root (a symfs, or /proc/PID/root of a process
 * in its own mount namespace) whose links are not to be trusted.
 */
#ifndef KAA_SYMBOLIZE_ROOTED_H
#define KAA_SYMBOLIZE_ROOTED_H

#include "base/error.h"

/*
 * Opens an absolute path read-only, without blocking. root NULL or "": as
 * open() does. Else links are resolved as if root were "/" (openat2(2) with
 * RESOLVE_IN_ROOT). flags: 0 or O_NOFOLLOW.
 */
struct error *rooted_open(const char *root, const char *path, int flags,
			  int *ret);

#endif

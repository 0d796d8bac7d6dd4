/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user behind sudo.
 *
 * Recording may need root; what is recorded does not: under sudo the command
 * runs as the user who typed sudo, finds programs on that user's PATH, and the
 * files are that user's.
 *
 * Trust: SUDO_UID, SUDO_GID and SUDO_USER are believed only if kaa runs as
 * root, they are plain numbers, and the user database knows uid and name as
 * one. Whoever can set them in root's environment is root already.
 *
 * PATH: sudo replaces it (secure_path). In this order:
 *  1. PATH of the process that started sudo, out of its /proc environ, if that
 *     process belongs to the user: that is what the user's shell would search;
 *  2. what the user's login shell prints, run as that user;
 *  3. /usr/local/bin:/usr/bin:/bin.
 */
#ifndef KAA_SYS_INVOKER_H
#define KAA_SYS_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct invoker {
	/* False: not under sudo, or root typed it; the rest is empty. */
	bool present;
	uid_t uid;
	gid_t gid;
	char *user;
	char *home;
	char *shell;
};

/*
 * Looks at the environment. ERROR_INVALID_ARGUMENT if SUDO_UID and the others
 * contradict the user database (*ret stays untouched): refuse rather than
 * run the user's command as root.
 */
struct error *invoker_detect(struct invoker *ret);
void invoker_deinit(struct invoker *invoker);

/* The PATH as described above; *ret is the caller's. May run the shell. */
struct error *invoker_path(const struct invoker *invoker, const char *root,
			   char **ret);

/*
 * Makes the calling process the user for good: groups, gid, uid, and checks
 * it. For the child between fork and exec. 0 or a negative errno. Does
 * nothing if !present.
 */
int invoker_become(const struct invoker *invoker);

/*
 * Sets HOME, USER, LOGNAME, SHELL and PATH (if not NULL) and removes SUDO_*,
 * in the calling process. 0 or a negative errno. Does nothing if !present.
 */
int invoker_set_environment(const struct invoker *invoker, const char *path);

/* Gives an open file to the user. 0 or a negative errno. */
int invoker_own_file(const struct invoker *invoker, int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user behind sudo or doas.
 *
 * Recording may need root; what is recorded does not: under sudo the command
 * runs as the user who typed sudo, with the environment of the shell in which
 * it was typed, and the files are that user's.
 *
 * Trust: SUDO_UID, SUDO_GID and SUDO_USER are believed only if kaa runs as
 * root, they are plain numbers, and the user database knows uid and name as
 * one; doas gives a name alone, DOAS_USER. Whoever can set them in root's
 * environment is root already.
 *
 * Environment: sudo replaces it, PATH too (secure_path). The command gets the
 * one of the shell where `kaa` was typed (sys/typed_environ.h): that of the
 * shell before sudo, with the variables that sudo's own command line sets; or
 * kaa's own, if that shell, or a script, stands behind sudo. Also if it was
 * root who typed sudo. Where neither can be known it is kaa's own, with the
 * PATH of sys/invoker_path.h.
 */
#ifndef KAA_SYS_INVOKER_H
#define KAA_SYS_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "sys/typed_environ.h"

struct invoker {
	/* False: not under sudo, or root typed it; there is no user then. */
	bool present;
	uid_t uid;
	gid_t gid;
	char *user;
	char *home;
	char *shell;
	/* "sudo" or "doas"; NULL: kaa was started by neither. */
	const char *tool;
	/* Meaningful if there is a tool. */
	struct typed_environ typed;
};

/*
 * Looks at the environment. ERROR_INVALID_ARGUMENT if SUDO_UID and the others, or
 * DOAS_USER, contradict the user database (*ret stays untouched): refuse rather
 * than run the user's command as root.
 */
struct error *invoker_detect(struct invoker *ret);
void invoker_deinit(struct invoker *invoker);

/*
 * Gives the calling process the environment described above: the variables of
 * the shell before sudo, and no others (they are borrowed from the invoker); or
 * HOME, USER, LOGNAME and SHELL of the user, without SUDO_* and DOAS_USER. And
 * PATH, if path is not NULL. 0 or a negative errno. Does nothing if root runs
 * kaa's own environment. After privilege_become(): they steer libraries.
 */
int invoker_set_environment(const struct invoker *invoker, const char *path);

#endif

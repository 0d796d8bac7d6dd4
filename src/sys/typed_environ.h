/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of the shell in which `kaa ...` was typed, also if sudo or
 * doas stands in front of it.
 *
 * sudo gives its command an environment of its own (env_reset, secure_path).
 * What the shell had exported is the environ of the sudo process: /proc keeps
 * what a program was started with, also of a setuid one, and root may read it.
 * The environ of the shell itself would not do: it is as old as the shell, and
 * knows of no virtual environment that was activated since.
 *
 * Where kaa was typed, its own words and sudo's tell:
 *
 *	sudo kaa record ...		kaa's words are the last of sudo's, and
 *	sudo A=b nice kaa record ...	between them are only launchers that
 *	sudo env A=b kaa record ...	leave the environment alone
 *					(sys/command_words.h): in the shell
 *					before sudo. Words NAME=value that kaa
 *					has in its own environment count.
 *	sudo -i, sudo -s, sudo su,	in a shell or script behind sudo: what
 *	sudo sh -c 'kaa record ...',	kaa has itself is what was exported
 *	sudo ./script,			there. Also env with options (-u, -i).
 *	sudo nice ./wrap kaa record
 *
 * The variables are for a program that runs as the user who typed this. kaa
 * itself, being root, must not heed them.
 */
#ifndef KAA_SYS_TYPED_ENVIRON_H
#define KAA_SYS_TYPED_ENVIRON_H

#include <sys/types.h>

#include "base/error.h"
#include "sys/file.h"

enum typed_where {
	/* No sudo is left to look at, or its environ cannot be read. */
	TYPED_UNKNOWN,
	/* The caller's own environment is the one. */
	TYPED_BEHIND,
	TYPED_BEFORE,
};

struct typed_environ {
	enum typed_where where;
	/*
	 * TYPED_BEFORE: the environment, "NAME=value"; a NULL that count does not
	 * count is behind the last.
	 */
	struct name_list variables;
	/* PATH of the shell before sudo; NULL if that is not known. */
	char *shell_path;
};

/*
 * Looks upwards from the caller's parent. tool: "sudo" or "doas"; uid: of the
 * user who typed it, whom the process has to belong to, or root. root: see
 * sys/file.h.
 * What cannot be read of a process is TYPED_UNKNOWN and no error.
 */
struct error *typed_environ_read(const char *root, const char *tool, uid_t uid,
				 struct typed_environ *ret);
void typed_environ_deinit(struct typed_environ *typed);

/* The value of a variable, or NULL. */
const char *typed_environ_get(const struct typed_environ *typed,
			      const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Giving root up: for good, or while files are looked for. Whom to become is
 * said by sys/invoker.h.
 */
#ifndef KAA_SYS_PRIVILEGE_H
#define KAA_SYS_PRIVILEGE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "sys/invoker.h"

/*
 * Makes the calling process the user for good: groups, gid, uid, and checks
 * it. For the child between fork and exec. 0 or a negative errno. Does
 * nothing if !present.
 */
int privilege_become(const struct invoker *invoker);

/* The groups that a process had before it took the user's. */
struct privilege_rights {
	gid_t gid;
	VEC(gid_t) groups;
};

/*
 * Files are looked for and opened with the user's rights until
 * privilege_leave_files(). Root's are back then, its supplementary groups too;
 * nothing of the user's may be run in between. 0 or a negative errno: enter has
 * left root's rights as they were. leave frees what enter put into *ret. Both
 * do nothing if !present.
 */
int privilege_enter_files(const struct invoker *invoker,
			  struct privilege_rights *ret);
int privilege_leave_files(const struct invoker *invoker,
			  struct privilege_rights *rights);

/*
 * Makes the calling process the user for good, with no more rights than looking
 * at processes: from then on bytes of other programs may be read. Root without
 * a user behind it keeps the right to read the files of others. Does nothing if
 * it is not root who runs.
 */
struct error *privilege_drop(const struct invoker *invoker);

/*
 * The same with the right to look at any process, and to read its files and what
 * /proc shows to its user alone.
 */
struct error *privilege_drop_to_look(const struct invoker *invoker);

#endif

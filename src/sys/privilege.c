// SPDX-License-Identifier: GPL-2.0-only
#include "sys/privilege.h"

#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sys/capability.h"

/*
 * To tell the walker of processes, to look at them and at the files that they
 * have mapped, to name the kernel.
 */
#define KEPT_CAPABILITIES                                                \
	(CAPABILITY_BIT(CAP_BPF) | CAPABILITY_BIT(CAP_PERFMON) |         \
	 CAPABILITY_BIT(CAP_SYS_PTRACE) | CAPABILITY_BIT(CAP_SYSLOG) |   \
	 CAPABILITY_BIT(CAP_CHECKPOINT_RESTORE))

/* Root without a user behind it: files of others may have to be read. */
#define KEPT_BY_ROOT                                                      \
	(KEPT_CAPABILITIES | CAPABILITY_BIT(CAP_DAC_OVERRIDE) |           \
	 CAPABILITY_BIT(CAP_DAC_READ_SEARCH))

#define KEPT_TO_LOOK                                                    \
	(CAPABILITY_BIT(CAP_SYS_PTRACE) |                               \
	 CAPABILITY_BIT(CAP_CHECKPOINT_RESTORE) |                       \
	 CAPABILITY_BIT(CAP_DAC_READ_SEARCH))

int privilege_become(const struct invoker *invoker)
{
	if (!invoker->present)
		return 0;
	if (initgroups(invoker->user, invoker->gid) != 0 ||
	    setresgid(invoker->gid, invoker->gid, invoker->gid) != 0 ||
	    setresuid(invoker->uid, invoker->uid, invoker->uid) != 0)
		return -errno;
	/* Never run on with a way back. */
	if (setuid(0) == 0 || geteuid() != invoker->uid)
		return -EPERM;
	return 0;
}

static int keep_groups(struct privilege_rights *ret)
{
	int count = getgroups(0, NULL);

	if (count < 0)
		return -errno;
	if (count && !vec_reserve(&ret->groups, (size_t)count))
		return -ENOMEM;
	count = getgroups(count, ret->groups.data);
	if (count < 0)
		return -errno;
	ret->groups.count = (size_t)count;
	ret->gid = getegid();
	return 0;
}

/* The user id is root's. */
static int take_back(const struct privilege_rights *rights)
{
	if (setgroups(rights->groups.count, rights->groups.data) != 0 ||
	    setegid(rights->gid) != 0)
		return -errno;
	return 0;
}

int privilege_enter_files(const struct invoker *invoker,
			  struct privilege_rights *ret)
{
	struct privilege_rights rights = {};
	int err;

	*ret = rights;
	if (!invoker->present)
		return 0;
	err = keep_groups(&rights);
	if (!err && (initgroups(invoker->user, invoker->gid) != 0 ||
		     setegid(invoker->gid) != 0 ||
		     seteuid(invoker->uid) != 0)) {
		err = -errno;
		take_back(&rights);
	}
	if (err) {
		vec_deinit(&rights.groups);
		return err;
	}
	*ret = rights;
	return 0;
}

int privilege_leave_files(const struct invoker *invoker,
			  struct privilege_rights *rights)
{
	int err;

	if (!invoker->present)
		return 0;
	if (seteuid(0) != 0)
		err = -errno;
	else
		err = take_back(rights);
	vec_deinit(&rights->groups);
	return err;
}

/* Capabilities outlast the change of user, until the others are dropped. */
static int become_and_keep(const struct invoker *invoker, uint64_t kept)
{
	struct capabilities have;
	int err;

	if (invoker->present && prctl(PR_SET_KEEPCAPS, 1))
		return -errno;
	err = privilege_become(invoker);
	if (err)
		return err;
	err = capabilities_read(&have);
	if (err)
		return err;
	return capabilities_keep(kept & have.permitted);
}

static struct error *drop(const struct invoker *invoker, uint64_t kept)
{
	int err;

	if (geteuid())
		return NULL;
	err = become_and_keep(invoker, kept);
	if (!err)
		return NULL;
	return error_os(-err, NULL, "cannot drop the privileges of root%s%s",
			invoker->present ? " for user " : "",
			invoker->present ? invoker->user : "");
}

struct error *privilege_drop(const struct invoker *invoker)
{
	return drop(invoker, invoker->present ? KEPT_CAPABILITIES : KEPT_BY_ROOT);
}

struct error *privilege_drop_to_look(const struct invoker *invoker)
{
	return drop(invoker, KEPT_TO_LOOK);
}

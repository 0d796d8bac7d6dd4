// SPDX-License-Identifier: GPL-2.0-only
#include "sys/invoker.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "sys/file.h"
#include "sys/proc.h"

enum { MAX_GROUPS = 65536 };

void invoker_deinit(struct invoker *invoker)
{
	free(invoker->user);
	free(invoker->home);
	free(invoker->shell);
	typed_environ_deinit(&invoker->typed);
	*invoker = (struct invoker){};
}

/* Digits only; false for what is missing, too large or (uid_t)-1. */
static bool parse_id(const char *text, uint32_t *ret)
{
	unsigned long long value;
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool user_has_group(const struct passwd *user, gid_t gid)
{
	VEC(gid_t) groups = {};
	int count = 64;
	bool found = user->pw_gid == gid;

	/* The first call says how many there are. */
	for (int i = 0; i < 2 && count <= MAX_GROUPS; i++) {
		vec_clear(&groups);
		if (!vec_reserve(&groups, (size_t)count))
			break;
		if (getgrouplist(user->pw_name, user->pw_gid, groups.data,
				 &count) < 0)
			continue;
		for (int j = 0; j < count; j++)
			found |= groups.data[j] == gid;
		break;
	}
	vec_deinit(&groups);
	return found;
}

static struct error *contradiction(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* The format says which variable is wrong. */
static struct error *contradiction(const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&what, format, args);
	va_end(args);
	if (what.failed)
		return error_no_memory();
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"SUDO_UID, SUDO_GID and SUDO_USER do not belong together, since %s: unset them to run as root",
		what.data);
}

/* A variable of sudo's that has to be an id. */
static struct error *read_id(const char *variable, uint32_t *ret)
{
	const char *value = getenv(variable);

	if (parse_id(value, ret))
		return NULL;
	if (!value)
		return contradiction("%s is not set", variable);
	return contradiction("%s is '%s', which is not an id", variable, value);
}

static struct error *fill(const struct passwd *user, gid_t gid,
			  struct invoker *invoker)
{
	invoker->uid = user->pw_uid;
	invoker->gid = gid;
	invoker->present = user->pw_uid != 0;
	if (!invoker->present)
		return NULL;
	invoker->user = strdup(user->pw_name);
	invoker->home = strdup(user->pw_dir);
	invoker->shell = strdup(user->pw_shell);
	return invoker->user && invoker->home && invoker->shell ?
		       NULL :
		       error_no_memory();
}

static struct error *take_sudo(struct invoker *invoker)
{
	const char *name = getenv("SUDO_USER");
	const struct passwd *user;
	struct error *error;
	uint32_t uid, gid;

	error = read_id("SUDO_UID", &uid);
	if (!error)
		error = read_id("SUDO_GID", &gid);
	if (error)
		return error;
	invoker->tool = "sudo";
	if (uid == 0)
		return NULL;
	user = getpwuid(uid);
	if (!user)
		return contradiction("no user has the id %u of SUDO_UID", uid);
	if (!name || strcmp(user->pw_name, name) != 0)
		return contradiction("SUDO_USER is '%s', but user %u is '%s'",
				     name ? name : "", uid, user->pw_name);
	if (!user_has_group(user, gid))
		return contradiction("user '%s' is not in group %u of SUDO_GID",
				     user->pw_name, gid);
	return fill(user, gid, invoker);
}

static struct error *take_doas(struct invoker *invoker)
{
	const char *name = getenv("DOAS_USER");
	const struct passwd *user = getpwnam(name);

	if (!user)
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"DOAS_USER is '%s', and there is no such user: unset it to run as root",
			name);
	invoker->tool = "doas";
	return fill(user, user->pw_gid, invoker);
}

static struct error *detect(struct invoker *invoker)
{
	struct error *error = NULL;

	if (geteuid() != 0)
		return NULL;
	if (getenv("SUDO_UID"))
		error = take_sudo(invoker);
	else if (getenv("DOAS_USER"))
		error = take_doas(invoker);
	if (error || !invoker->tool)
		return error;
	return typed_environ_read("", invoker->tool, invoker->uid,
				  &invoker->typed);
}

struct error *invoker_detect(struct invoker *ret)
{
	struct invoker invoker = {};
	struct error *error = detect(&invoker);

	if (error) {
		invoker_deinit(&invoker);
		return error;
	}
	*ret = invoker;
	return NULL;
}

/* Of the user, in an environment that root has. */
static int set_user(const struct invoker *invoker)
{
	static const char *const of_tool[] = {
		"SUDO_UID",  "SUDO_GID",  "SUDO_USER", "SUDO_COMMAND",
		"SUDO_HOME", "SUDO_TTY", "DOAS_USER"
	};

	if (setenv("HOME", invoker->home, 1) != 0 ||
	    setenv("USER", invoker->user, 1) != 0 ||
	    setenv("LOGNAME", invoker->user, 1) != 0 ||
	    setenv("SHELL", invoker->shell, 1) != 0)
		return -errno;
	for (size_t i = 0; i < sizeof(of_tool) / sizeof(*of_tool); i++)
		unsetenv(of_tool[i]);
	return 0;
}

int invoker_set_environment(const struct invoker *invoker, const char *path)
{
	int err = 0;

	if (invoker->typed.where == TYPED_BEFORE)
		environ = invoker->typed.variables.data;
	else if (invoker->present)
		err = set_user(invoker);
	else
		return 0;
	if (!err && path && setenv("PATH", path, 1) != 0)
		err = -errno;
	return err;
}

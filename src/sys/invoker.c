// SPDX-License-Identifier: GPL-2.0-only
#include "sys/invoker.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "sys/capture.h"
#include "sys/file.h"
#include "sys/proc.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

enum {
	/* From kaa up to sudo, and over sudo's own processes. */
	MAX_ANCESTORS = 16,
	ENVIRON_MAX = 4 << 20,
	SHELL_TIMEOUT_MS = 5000,
	MAX_GROUPS = 65536,
};

void invoker_deinit(struct invoker *invoker)
{
	free(invoker->user);
	free(invoker->home);
	free(invoker->shell);
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

static struct error *contradiction(const char *what)
{
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"SUDO_UID, SUDO_GID and SUDO_USER do not belong together (%s): unset them to run as root",
		what);
}

static struct error *fill(const struct passwd *user, uint32_t gid,
			  struct invoker *ret)
{
	struct invoker invoker = {
		.present = true,
		.uid = user->pw_uid,
		.gid = gid,
		.user = strdup(user->pw_name),
		.home = strdup(user->pw_dir),
		.shell = strdup(user->pw_shell),
	};

	if (!invoker.user || !invoker.home || !invoker.shell) {
		invoker_deinit(&invoker);
		return error_no_memory();
	}
	*ret = invoker;
	return NULL;
}

struct error *invoker_detect(struct invoker *ret)
{
	const char *uid_text = getenv("SUDO_UID");
	const char *name = getenv("SUDO_USER");
	const struct passwd *user;
	uint32_t uid, gid;

	if (geteuid() != 0 || !uid_text) {
		*ret = (struct invoker){};
		return NULL;
	}
	if (!parse_id(uid_text, &uid) || !parse_id(getenv("SUDO_GID"), &gid))
		return contradiction("not a number");
	if (uid == 0) {
		*ret = (struct invoker){};
		return NULL;
	}
	user = getpwuid(uid);
	if (!user)
		return contradiction("no such user");
	if (!name || strcmp(user->pw_name, name) != 0)
		return contradiction("another name");
	if (!user_has_group(user, gid))
		return contradiction("another group");
	return fill(user, gid, ret);
}

/* The value of PATH in the text of an environ file, or NULL. */
static const char *find_path(const struct strbuf *environ_text)
{
	const char *pos = environ_text->data;
	const char *end = pos + environ_text->len;

	while (pos < end) {
		if (strncmp(pos, "PATH=", 5) == 0 && pos[5])
			return pos + 5;
		pos += strlen(pos) + 1;
	}
	return NULL;
}

/* The nearest ancestor beyond sudo: 0 if there is none. */
static pid_t find_caller_of_sudo(const char *root)
{
	struct proc_status status;
	pid_t pid = getppid();
	bool seen_sudo = false;

	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		struct error *error = proc_status_read(root, pid, &status);
		bool is_sudo;

		if (error) {
			error_destroy(error);
			return 0;
		}
		is_sudo = strcmp(status.comm, "sudo") == 0;
		if (seen_sudo && !is_sudo)
			return pid;
		seen_sudo |= is_sudo;
		pid = status.ppid;
	}
	return 0;
}

/* PATH of the process that started sudo, if it is the user's; or NULL. */
static struct error *path_of_caller(const struct invoker *invoker,
				    const char *root, char **ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	pid_t pid = find_caller_of_sudo(root);
	struct proc_status status;
	const char *value = NULL;
	char file[64];
	struct error *error;

	*ret = NULL;
	if (pid == 0)
		return NULL;
	snprintf(file, sizeof(file), "/proc/%d/environ", (int)pid);
	error = proc_status_read(root, pid, &status);
	if (!error && status.uid == invoker->uid &&
	    status.euid == invoker->uid) {
		error = file_read(root, file, ENVIRON_MAX, &text);
		if (!error)
			value = find_path(&text);
	}
	error_destroy(error);
	if (!value)
		return NULL;
	*ret = strdup(value);
	return *ret ? NULL : error_no_memory();
}

/* What the login shell says; NULL if it says nothing. */
static struct error *path_of_shell(const struct invoker *invoker, char **ret)
{
	static const char mark[] = "\nkaa-path=";
	const char *const argv[] = {
		invoker->shell, "-l", "-c",
		"printf '\\nkaa-path=%s\\n' \"$PATH\"", NULL
	};
	const struct capture capture = {
		.argv = argv,
		.invoker = invoker,
		.path = DEFAULT_PATH,
		.timeout_ms = SHELL_TIMEOUT_MS,
		.limit = 1 << 20,
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const char *value;
	int status;

	*ret = NULL;
	if (invoker->shell[0] != '/')
		return NULL;
	error_destroy(capture_run(&capture, &out, &status));
	value = strstr(out.data, mark);
	if (!value)
		return NULL;
	value += strlen(mark);
	if (*value == '\n' || !*value)
		return NULL;
	*ret = strndup(value, strcspn(value, "\n"));
	return *ret ? NULL : error_no_memory();
}

struct error *invoker_path(const struct invoker *invoker, const char *root,
			   char **ret)
{
	_cleanup_free_ char *path = NULL;
	const char *own = getenv("PATH");
	struct error *error = NULL;

	if (!invoker->present) {
		path = strdup(own ? own : DEFAULT_PATH);
	} else {
		error = path_of_caller(invoker, root, &path);
		if (!error && !path)
			error = path_of_shell(invoker, &path);
		if (error)
			return error;
		if (!path)
			path = strdup(DEFAULT_PATH);
	}
	if (!path)
		return error_no_memory();
	*ret = take_ptr(path);
	return NULL;
}

int invoker_become(const struct invoker *invoker)
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

int invoker_set_environment(const struct invoker *invoker, const char *path)
{
	static const char *const of_sudo[] = { "SUDO_UID", "SUDO_GID",
					       "SUDO_USER", "SUDO_COMMAND",
					       "SUDO_HOME", "SUDO_TTY" };

	if (!invoker->present)
		return 0;
	if (setenv("HOME", invoker->home, 1) != 0 ||
	    setenv("USER", invoker->user, 1) != 0 ||
	    setenv("LOGNAME", invoker->user, 1) != 0 ||
	    setenv("SHELL", invoker->shell, 1) != 0 ||
	    (path && setenv("PATH", path, 1) != 0))
		return -errno;
	for (size_t i = 0; i < sizeof(of_sudo) / sizeof(*of_sudo); i++)
		unsetenv(of_sudo[i]);
	return 0;
}

int invoker_own_file(const struct invoker *invoker, int fd)
{
	if (!invoker->present)
		return 0;
	return fchown(fd, invoker->uid, invoker->gid) == 0 ? 0 : -errno;
}

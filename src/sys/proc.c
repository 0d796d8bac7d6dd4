// SPDX-License-Identifier: GPL-2.0-only
#include "sys/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "sys/file.h"

enum {
	STATUS_MAX = 64 << 10,
	CHILDREN_MAX = 1 << 20,
	/* PID_MAX_LIMIT of the kernel. */
	PID_LIMIT = 4 * 1024 * 1024,
};

struct error *proc_gone_error(struct error *error, pid_t pid)
{
	if (!error_is_os(error, ENOENT) && !error_is_os(error, ESRCH))
		return error;
	error_destroy(error);
	return error_create(ERROR_NOT_FOUND, "there is no process %d",
			    (int)pid);
}

static struct error *read_pid_file(const char *root, pid_t pid,
				   const char *name, struct strbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return proc_gone_error(file_read(root, path, STATUS_MAX, out), pid);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a;
	pid_t y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* The name as a process number, 0 if it is none. */
static pid_t pid_of_name(const char *name)
{
	long value = 0;

	for (const char *c = name; *c; c++) {
		if (!isdigit((unsigned char)*c))
			return 0;
		value = value * 10 + (*c - '0');
		if (value > PID_LIMIT)
			return 0;
	}
	return (pid_t)value;
}

static struct error *list_pids(const char *root, const char *path,
			       struct pid_list *ret)
{
	struct name_list names = {};
	struct error *error = dir_list(root, path, &names);
	size_t first = ret->count;

	if (!error && !vec_reserve(ret, names.count))
		error = error_no_memory();
	if (!error) {
		vec_for_each(name, &names) {
			pid_t pid = pid_of_name(*name);

			if (pid > 0)
				ret->data[ret->count++] = pid;
		}
		if (ret->count > first)
			qsort(ret->data + first, ret->count - first,
			      sizeof(*ret->data), compare_pids);
	}
	name_list_deinit(&names);
	return error;
}

struct error *proc_threads(const char *root, pid_t pid, struct pid_list *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return proc_gone_error(list_pids(root, path, ret), pid);
}

static bool push_children(const char *text, struct pid_list *ret)
{
	char *end;

	for (const char *p = text;; p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p || pid <= 0 || pid > PID_LIMIT)
			return true;
		if (!vec_push(ret, (pid_t)pid))
			return false;
	}
}

struct error *proc_children(const char *root, pid_t pid, pid_t tid,
			    struct pid_list *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)tid);
	error = file_read(root, path, CHILDREN_MAX, &text);
	if (error)
		return proc_gone_error(error, pid);
	return push_children(text.data, ret) ? NULL : error_no_memory();
}

/* Only memory counts: any process may end at any moment. */
static struct error *unless_gone(struct error *error)
{
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

static struct error *all_children(const char *root, pid_t pid,
				  struct pid_list *ret)
{
	struct pid_list threads = {};
	struct error *error = unless_gone(proc_threads(root, pid, &threads));

	for (size_t i = 0; i < threads.count && !error; i++)
		error = unless_gone(
			proc_children(root, pid, threads.data[i], ret));
	vec_deinit(&threads);
	return error;
}

/* Whose parent ends meanwhile has another one, and may be there twice. */
static struct error *add_children(const char *root, pid_t pid,
				  struct map *seen, struct pid_list *ret)
{
	struct pid_list children = {};
	struct error *error = all_children(root, pid, &children);

	for (size_t i = 0; i < children.count && !error; i++) {
		pid_t child = children.data[i];
		bool is_new;

		if (!map_insert(seen, (uint64_t)child, 0, &is_new) ||
		    (is_new && !vec_push(ret, child)))
			error = error_no_memory();
	}
	vec_deinit(&children);
	return error;
}

struct error *proc_descendants(const char *root, pid_t pid,
			       struct pid_list *ret)
{
	size_t next = ret->count;
	struct map seen = {};
	struct error *error = add_children(root, pid, &seen, ret);

	for (; next < ret->count && !error; next++)
		error = add_children(root, ret->data[next], &seen, ret);
	map_deinit(&seen);
	return error;
}

/* A folder has a link from each folder in it, and two more: proc(5) has no others. */
size_t proc_thread_count(const char *root, pid_t pid)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/proc/%d/task", root ? root : "", (int)pid) < 0) {
		path = NULL;
		return 0;
	}
	return stat(path, &st) || st.st_nlink < 2 ? 0 : st.st_nlink - 2;
}

static bool open_newest(struct proc_newest *newest, const char *root)
{
	_cleanup_free_ char *path = NULL;

	if (newest->is_open)
		return true;
	if (asprintf(&path, "%s/proc/loadavg", root ? root : "") < 0) {
		path = NULL;
		return false;
	}
	newest->fd = open(path, O_RDONLY | O_CLOEXEC);
	newest->is_open = newest->fd >= 0;
	return newest->is_open;
}

pid_t proc_newest(struct proc_newest *newest, const char *root)
{
	char text[256];
	const char *last;
	ssize_t size;
	long pid;

	if (!open_newest(newest, root))
		return -1;
	size = pread(newest->fd, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return -1;
	text[size] = '\0';
	/* "0.20 0.18 0.12 1/80 11206" */
	last = strrchr(text, ' ');
	pid = last ? strtol(last, NULL, 10) : -1;
	return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : -1;
}

void proc_newest_deinit(struct proc_newest *newest)
{
	if (newest->is_open)
		close(newest->fd);
	newest->is_open = false;
}

struct error *proc_processes(const char *root, struct pid_list *ret)
{
	return list_pids(root, "/proc", ret);
}

/* The next number of *pos, at most max; moves *pos behind it. */
static bool take_decimal(const char **pos, uint64_t max, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	while (**pos == ' ' || **pos == '\t')
		++*pos;
	if (!isdigit((unsigned char)**pos))
		return false;
	errno = 0;
	value = strtoull(*pos, &end, 10);
	if (errno || value > max)
		return false;
	*pos = end;
	*ret = value;
	return true;
}

static bool parse_pid(const char *value, pid_t *ret)
{
	uint64_t pid;

	if (!take_decimal(&value, PID_LIMIT, &pid) || *value)
		return false;
	*ret = (pid_t)pid;
	return true;
}

/* "real effective saved filesystem" */
static bool parse_ids(const char *value, uint32_t *real, uint32_t *effective)
{
	uint64_t ids[2];

	if (!take_decimal(&value, UINT32_MAX, &ids[0]) ||
	    !take_decimal(&value, UINT32_MAX, &ids[1]))
		return false;
	*real = (uint32_t)ids[0];
	if (effective)
		*effective = (uint32_t)ids[1];
	return true;
}

/* A number for each PID namespace; 0: the value is bad. */
static size_t parse_numbers(const char *value, pid_t numbers[PROC_NS_MAX])
{
	size_t count = 0;
	uint64_t pid;

	while (count < PROC_NS_MAX && take_decimal(&value, PID_LIMIT, &pid))
		numbers[count++] = (pid_t)pid;
	return *value ? 0 : count;
}

static bool parse_nstgid(const char *value, struct proc_status *ret)
{
	ret->nstgid_count = parse_numbers(value, ret->nstgid);
	return ret->nstgid_count > 0;
}

static bool parse_nspid(const char *value, struct proc_status *ret)
{
	pid_t numbers[PROC_NS_MAX];
	size_t count = parse_numbers(value, numbers);

	if (count)
		ret->nspid = numbers[count - 1];
	return count > 0;
}

static bool parse_hex(const char *value, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)value[0]))
		return false;
	errno = 0;
	*ret = strtoull(value, &end, 16);
	return !errno && !*end;
}

/*
 * The kernel escapes newlines and backslashes in the name of status; \n and
 * \\ are the only escapes it uses there.
 */
static void parse_name(const char *value, char comm[PROC_COMM_MAX])
{
	size_t n = 0;

	for (; *value && n < PROC_COMM_MAX - 1; value++) {
		if (value[0] == '\\' && (value[1] == 'n' || value[1] == '\\'))
			comm[n++] = *++value == 'n' ? '\n' : '\\';
		else
			comm[n++] = *value;
	}
	comm[n] = '\0';
}

/* The fields that must be there, as bits. */
enum {
	HAVE_NAME = 1,
	HAVE_TGID = 2,
	HAVE_PID = 4,
	HAVE_UID = 8,
	HAVE_GID = 16,
	HAVE_ALL = 31,
};

/* One "Key:\tvalue"; adds to *have. False if a known key's value is bad. */
static bool parse_field(const char *key, const char *value,
			struct proc_status *ret, unsigned int *have)
{
	if (strcmp(key, "Name") == 0) {
		parse_name(value, ret->comm);
		*have |= HAVE_NAME;
	} else if (strcmp(key, "Tgid") == 0) {
		*have |= HAVE_TGID;
		return parse_pid(value, &ret->tgid);
	} else if (strcmp(key, "Pid") == 0) {
		*have |= HAVE_PID;
		return parse_pid(value, &ret->pid);
	} else if (strcmp(key, "PPid") == 0) {
		return parse_pid(value, &ret->ppid);
	} else if (strcmp(key, "Uid") == 0) {
		*have |= HAVE_UID;
		return parse_ids(value, &ret->uid, &ret->euid);
	} else if (strcmp(key, "Gid") == 0) {
		*have |= HAVE_GID;
		return parse_ids(value, &ret->gid, NULL);
	} else if (strcmp(key, "NStgid") == 0) {
		return parse_nstgid(value, ret);
	} else if (strcmp(key, "NSpid") == 0) {
		return parse_nspid(value, ret);
	} else if (strcmp(key, "CapEff") == 0) {
		return parse_hex(value, &ret->effective);
	}
	return true;
}

/* One line, which it may change. Lines of no interest need no colon. */
static bool parse_status_line(char *line, struct proc_status *ret,
			      unsigned int *have)
{
	char *colon = strchr(line, ':');
	char *value;

	if (!colon)
		return true;
	*colon = '\0';
	value = colon + 1;
	value += strspn(value, "\t");
	return parse_field(line, value, ret, have);
}

struct error *proc_status_parse(const char *text, size_t size,
				struct proc_status *ret)
{
	_cleanup_free_ char *copy = strndup(text, size);
	struct proc_status status = {};
	unsigned int have = 0;
	char *rest = copy;
	char *line;

	if (!copy)
		return error_no_memory();
	while ((line = strsep(&rest, "\n"))) {
		if (!parse_status_line(line, &status, &have))
			return error_create(ERROR_FORMAT,
					    "process status: bad '%s'", line);
	}
	if (have != HAVE_ALL)
		return error_create(ERROR_FORMAT,
				    "process status: fields are missing");
	if (status.nstgid_count == 0) {
		/* Kernels without PID namespaces have no such line. */
		status.nstgid[0] = status.tgid;
		status.nstgid_count = 1;
	}
	*ret = status;
	return NULL;
}

struct error *proc_stat_parse(const char *text, size_t size,
			      uint64_t *start_time)
{
	_cleanup_free_ char *copy = strndup(text, size);
	/* The name may hold anything, ')' too: its end is the last one. */
	const char *pos = copy ? strrchr(copy, ')') : NULL;

	if (!copy)
		return error_no_memory();
	/* Behind the name stands field 3; the start time is field 22. */
	for (int number = 3; pos && number <= 22; number++)
		pos = strchr(pos + 1, ' ');
	if (pos) {
		pos++;
		if (take_decimal(&pos, UINT64_MAX, start_time))
			return NULL;
	}
	return error_create(ERROR_FORMAT, "process stat: no start time");
}

struct error *proc_status_read(const char *root, pid_t pid,
			       struct proc_status *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct proc_status status;
	struct error *error = read_pid_file(root, pid, "status", &text);

	if (!error)
		error = proc_status_parse(text.data, text.len, &status);
	strbuf_clear(&text);
	if (!error)
		error = read_pid_file(root, pid, "stat", &text);
	if (!error)
		error = proc_stat_parse(text.data, text.len,
					&status.start_time);
	if (!error)
		*ret = status;
	return error;
}

void proc_put_owner(const char *root, pid_t pid, struct strbuf *out)
{
	const struct passwd *user;
	struct proc_status status;
	struct error *error = proc_status_read(root, pid, &status);

	if (error) {
		error_destroy(error);
		strbuf_puts(out, "another user");
		return;
	}
	user = getpwuid(status.uid);
	if (user)
		strbuf_printf(out, "user %s", user->pw_name);
	else
		strbuf_printf(out, "user %u", status.uid);
}

struct error *proc_comm(const char *root, pid_t pid, char *buf)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = read_pid_file(root, pid, "comm", &text);
	size_t length;

	if (error)
		return error;
	length = text.len;
	if (length > 0 && text.data[length - 1] == '\n')
		length--;
	if (length >= PROC_COMM_MAX)
		length = PROC_COMM_MAX - 1;
	memcpy(buf, text.data, length);
	buf[length] = '\0';
	return NULL;
}

struct error *proc_link(const char *root, pid_t pid, const char *link,
			char **ret)
{
	struct error *error;
	char path[64];

	if (snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, link) >=
	    (int)sizeof(path))
		return error_create(ERROR_INVALID_ARGUMENT, "'%s' is too long",
				    link);
	error = file_read_link(root, path, ret);
	/* Kernel threads have no exe. */
	if (!error_is_os(error, ENOENT) && !error_is_os(error, ESRCH))
		return error;
	error_destroy(error);
	return error_create(ERROR_NOT_FOUND,
			    "process %d is gone or has no '%s'", (int)pid,
			    link);
}

struct error *proc_same_namespace(const char *root, pid_t pid, const char *ns,
				  bool *ret)
{
	_cleanup_free_ char *theirs = NULL;
	_cleanup_free_ char *ours = NULL;
	char link[32], own[64];
	struct error *error;

	snprintf(link, sizeof(link), "ns/%s", ns);
	snprintf(own, sizeof(own), "/proc/self/ns/%s", ns);
	error = proc_link(root, pid, link, &theirs);
	if (!error)
		error = file_read_link(root, own, &ours);
	if (!error)
		*ret = strcmp(theirs, ours) == 0;
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "sys/task_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	/* 52 numbers and a name. */
	STAT_MAX = 2048,
	/* Places of fields, counted as in proc(5). */
	FIELD_STATE = 3,
	FIELD_USER_TIME = 14,
	FIELD_SYSTEM_TIME = 15,
	FIELD_START_TIME = 22,
	FIELD_START_STACK = 28,
	FIELD_CPU = 39,
	CPU_MAX = 1 << 16,
	/* `sched` begins with what is read of it. */
	SCHED_MAX = 512,
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
};

/* Takes a decimal number and the blank behind it. */
static bool take_number(const char **p, uint64_t *ret)
{
	const char *start = *p;
	char *end;

	if (*start == '-')
		start++;
	if (*start < '0' || *start > '9')
		return false;
	errno = 0;
	*ret = strtoull(start, &end, 10);
	if (errno || (*end != ' ' && *end != '\n' && *end))
		return false;
	*p = *end ? end + 1 : end;
	return true;
}

bool task_stat_parse(const char *text, struct task_stat *ret)
{
	/* A name may hold anything, but numbers have no parenthesis. */
	const char *p = strrchr(text, ')');
	uint64_t number;

	if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
		return false;
	*ret = (struct task_stat){ .state = p[2] };
	p += 4;
	for (int field = FIELD_STATE + 1; field <= FIELD_CPU; field++) {
		if (!take_number(&p, &number))
			return false;
		if (field == FIELD_USER_TIME || field == FIELD_SYSTEM_TIME)
			ret->ran += number;
		if (field == FIELD_START_TIME)
			ret->start_time = number;
		if (field == FIELD_START_STACK)
			ret->start_stack = number;
	}
	if (number >= CPU_MAX)
		return false;
	ret->cpu = (int)number;
	return true;
}

bool task_run_parse(const char *text, struct task_run *ret)
{
	return take_number(&text, &ret->ran) &&
	       take_number(&text, &ret->kept_off) &&
	       take_number(&text, &ret->slices);
}

/* "14256768.247047\n" is in ms. */
static bool take_ms(const char *p, uint64_t *ret)
{
	unsigned long long ms;
	unsigned int ns;
	int point = 0, read = 0;

	if (sscanf(p, "%20llu.%n%6u%n", &ms, &point, &ns, &read) != 2 ||
	    *p == '-' || read - point != 6 || p[read] != '\n' ||
	    ms > UINT64_MAX / NS_PER_MS - 1)
		return false;
	*ret = ms * NS_PER_MS + ns;
	return true;
}

/* The value in the line that begins so. */
static const char *find_value(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	if (!p)
		return NULL;
	p += strlen(line);
	p += strspn(p, " ");
	if (*p != ':')
		return NULL;
	p++;
	return p + strspn(p, " ");
}

bool task_sched_parse(const char *text, struct task_sched *ret)
{
	/* Behind a line that no name is long enough for. */
	const char *begin = strstr(text, "--------------------\nse.");
	const char *looked, *switches, *sleeps;
	struct task_sched sched;

	if (!begin)
		return false;
	looked = find_value(begin, "\nse.exec_start ");
	switches = find_value(begin, "\nnr_switches ");
	if (!looked || !switches || !take_ms(looked, &sched.looked) ||
	    !take_number(&switches, &sched.switches))
		return false;
	sleeps = find_value(begin, "\nnr_voluntary_switches ");
	if (!sleeps || !take_number(&sleeps, &sched.sleeps))
		sched.sleeps = UINT64_MAX;
	*ret = sched;
	return true;
}

static int open_file(const char *root, pid_t pid, pid_t tid, const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/proc/%d/task/%d/%s", root ? root : "", (int)pid,
		     (int)tid, name) < 0) {
		path = NULL;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool task_files_open(const char *root, pid_t pid, pid_t tid,
		     struct task_files *ret)
{
	int errnum;

	*ret = (struct task_files)TASK_FILES_INIT;
	ret->stat_fd = open_file(root, pid, tid, "stat");
	if (ret->stat_fd >= 0)
		ret->run_fd = open_file(root, pid, tid, "schedstat");
	if (ret->run_fd >= 0)
		ret->sched_fd = open_file(root, pid, tid, "sched");
	if (ret->sched_fd >= 0)
		return true;
	errnum = errno;
	task_files_close(ret);
	errno = errnum;
	return false;
}

void task_files_close(struct task_files *files)
{
	if (files->stat_fd >= 0)
		close(files->stat_fd);
	if (files->run_fd >= 0)
		close(files->run_fd);
	if (files->sched_fd >= 0)
		close(files->sched_fd);
	*files = (struct task_files)TASK_FILES_INIT;
}

/* The kernel makes the whole text anew at each read. */
static bool read_text(int fd, char *text, size_t room)
{
	ssize_t n;

	do {
		n = pread(fd, text, room - 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

bool task_files_stat(const struct task_files *files, struct task_stat *ret)
{
	char text[STAT_MAX];

	return read_text(files->stat_fd, text, sizeof(text)) &&
	       task_stat_parse(text, ret);
}

static bool process_stat(const char *root, pid_t pid, struct task_stat *ret)
{
	char path[PATH_MAX], text[STAT_MAX];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root ? root : "",
		 (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = read_text(fd, text, sizeof(text)) && task_stat_parse(text, ret);
	close(fd);
	return done;
}

bool process_lives(const char *root, pid_t pid)
{
	struct task_stat stat;

	return process_stat(root, pid, &stat) && stat.state != 'Z' &&
	       stat.state != 'X';
}

bool process_ran(const char *root, pid_t pid, uint64_t start_time,
		 uint64_t *ret)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	struct task_stat stat;
	bool done = process_stat(root, pid, &stat) && ticks > 0 &&
		    (!start_time || stat.start_time == start_time) &&
		    stat.ran < UINT64_MAX / NS_PER_S;

	if (done)
		*ret = stat.ran * (NS_PER_S / (uint64_t)ticks);
	return done;
}

bool task_files_run(const struct task_files *files, struct task_run *ret)
{
	char text[128];

	return read_text(files->run_fd, text, sizeof(text)) &&
	       task_run_parse(text, ret);
}

bool task_files_sched(const struct task_files *files, struct task_sched *ret)
{
	char text[SCHED_MAX];

	return read_text(files->sched_fd, text, sizeof(text)) &&
	       task_sched_parse(text, ret);
}

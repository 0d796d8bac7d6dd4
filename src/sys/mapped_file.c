// SPDX-License-Identifier: GPL-2.0-only
#include "sys/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool is_regular(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		errno = EINVAL;
	return S_ISREG(st->st_mode);
}

static int open_regular(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) || !is_regular(&st))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* It may have become another one meanwhile. */
	if (fd >= 0 && (fstat(fd, &st) || !is_regular(&st))) {
		close(fd);
		return -1;
	}
	return fd;
}

int mapped_file_open_link(pid_t pid, uint64_t start, uint64_t end)
{
	char link[96];

	snprintf(link, sizeof(link),
		 "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	return open_regular(link);
}

int mapped_file_open_path(pid_t pid, const char *path)
{
	_cleanup_free_ char *full = NULL;
	int fd = -1;

	if (pid && asprintf(&full, "/proc/%d/root%s", (int)pid, path) < 0) {
		full = NULL;
		return -1;
	}
	if (full)
		fd = open_regular(full);
	return fd >= 0 ? fd : open_regular(path);
}

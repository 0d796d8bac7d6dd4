// SPDX-License-Identifier: GPL-2.0-only
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

int fd_write_all(int fd, const void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, (const char *)bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		done += (size_t)n;
	}
	return 0;
}

/* From where the file stands, or (offset not NULL) from there. */
static int read_whole(int fd, void *buf, size_t size, const uint64_t *offset,
		      size_t *got)
{
	*got = 0;
	while (*got < size) {
		char *at = (char *)buf + *got;
		size_t left = size - *got;
		ssize_t n = offset ? pread(fd, at, left, (off_t)(*offset + *got))
				   : read(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}

int fd_read(int fd, void *buf, size_t size, size_t *got)
{
	return read_whole(fd, buf, size, NULL, got);
}

int fd_read_some(int fd, void *buf, size_t size, size_t *got)
{
	ssize_t n;

	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	*got = (size_t)n;
	return 0;
}

int fd_read_at(int fd, void *buf, size_t size, uint64_t offset, size_t *got)
{
	return read_whole(fd, buf, size, &offset, got);
}

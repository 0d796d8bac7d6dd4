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

int fd_read(int fd, void *buf, size_t size, size_t *got)
{
	*got = 0;
	while (*got < size) {
		ssize_t n = read(fd, (char *)buf + *got, size - *got);

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

int fd_read_at(int fd, void *buf, size_t size, uint64_t offset, size_t *got)
{
	*got = 0;
	while (*got < size) {
		ssize_t n = pread(fd, (char *)buf + *got, size - *got,
				  (off_t)(offset + *got));

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

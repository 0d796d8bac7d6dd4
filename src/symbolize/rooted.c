// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* O_NONBLOCK: a FIFO or device must not hold us up. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_below(const char *root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(FLAGS | flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -1;
	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

struct error *rooted_open(const char *root, const char *path, int flags,
			  int *ret)
{
	int fd;

	if (root && root[0])
		fd = open_below(root, path, flags);
	else
		fd = open(path, FLAGS | flags);
	if (fd < 0)
		return error_os(errno, path, "cannot open");
	*ret = fd;
	return NULL;
}

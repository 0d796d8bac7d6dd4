// SPDX-License-Identifier: GPL-2.0-only
#include "sys/task_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PIDFD_THREAD; linux/pidfd.h of Linux 6.9. */
#define FLAG_THREAD O_EXCL

int task_fd_open(pid_t tid)
{
	long fd = syscall(SYS_pidfd_open, tid, FLAG_THREAD);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_pidfd_open, tid, 0);
	return fd < 0 ? -errno : (int)fd;
}

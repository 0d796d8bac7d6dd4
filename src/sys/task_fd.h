/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A descriptor that stands for a thread, however long it lives: pidfd_open(2).
 */
#ifndef KAA_SYS_TASK_FD_H
#define KAA_SYS_TASK_FD_H

#include <sys/types.h>

/*
 * A descriptor, or a negative errno: -ESRCH if there is no such thread, -EINVAL if
 * it is not the first one of its process and the kernel has descriptors for those
 * alone (before Linux 6.9).
 */
int task_fd_open(pid_t tid);

#endif

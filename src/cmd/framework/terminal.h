/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal that a command prints to. */
#ifndef KAA_CMD_FRAMEWORK_TERMINAL_H
#define KAA_CMD_FRAMEWORK_TERMINAL_H

#include <stddef.h>
#include <sys/ioctl.h>

/* How wide it is; 0: fd is none, or nobody knows. */
static inline size_t terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

#endif

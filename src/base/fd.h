/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole reads and writes: what a signal or the kernel cuts short goes on.
 *
 * All return 0 or an errno, never EINTR.
 */
#ifndef KAA_BASE_FD_H
#define KAA_BASE_FD_H

#include <stddef.h>
#include <stdint.h>

int fd_write_all(int fd, const void *bytes, size_t size);

/* Up to size bytes; *got is less only where the file ends. */
int fd_read(int fd, void *buf, size_t size, size_t *got);
/* What is there by now, at least a byte; *got is 0 only where the file ends. */
int fd_read_some(int fd, void *buf, size_t size, size_t *got);
/* As fd_read() from an offset on, which must not pass INT64_MAX. */
int fd_read_at(int fd, void *buf, size_t size, uint64_t offset, size_t *got);

#endif

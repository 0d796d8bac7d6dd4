/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities that a program file gives to whoever runs it. Sets are bits, as in
 * sys/capability.h. Source: capabilities(7), uapi capability.h.
 */
#ifndef KAA_SYS_FILE_CAPABILITY_H
#define KAA_SYS_FILE_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the file gives when it is started: its permitted set, if the file says
 * that it is effective, too; else 0, as where it has none. 0 or a negative
 * errno: -EOPNOTSUPP if its file system cannot keep any.
 */
int file_capabilities_read(const char *path, uint64_t *ret);

/* Are those of files on its file system ignored (nosuid)? False if unknown. */
bool file_capabilities_ignored(const char *path);

/*
 * May a program that this process starts get the capability at all? A container
 * may forbid it. A file with a forbidden one cannot be started.
 */
bool capability_allowed(int cap);

#endif

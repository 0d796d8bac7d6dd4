/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening the files that a process has mapped, which may be others than those
 * of the same paths here: in a container, or after an upgrade.
 *
 * Regular files only: to open a device can be to start it. Both return a file
 * descriptor that is the caller's, or -1 with errno. Thread-safe.
 */
#ifndef KAA_SYS_MAPPED_FILE_H
#define KAA_SYS_MAPPED_FILE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * By the kernel's own link from the map [start, end) to its file, whatever
 * became of the path. Takes CAP_CHECKPOINT_RESTORE.
 */
int mapped_file_open_link(pid_t pid, uint64_t start, uint64_t end);

/*
 * By its path as the process sees it, and where nothing is, or may be, opened
 * there, as we see it; pid 0: as we see it. It may lead to another file by now.
 */
int mapped_file_open_path(pid_t pid, const char *path);

#endif

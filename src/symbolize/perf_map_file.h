/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf map of a process, found and opened with care: anybody can write to
 * /tmp.
 *
 * The file is /tmp/perf-PID.map, PID being the process's number in its own
 * PID namespace, and /tmp its own if it lives in another mount namespace
 * (/proc/PID/root/tmp, resolved inside that root). It is used only if it is a
 * regular file and no link, and if root, we ourselves or the process's user
 * own it.
 */
#ifndef KAA_SYMBOLIZE_PERF_MAP_FILE_H
#define KAA_SYMBOLIZE_PERF_MAP_FILE_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "obj/symtab.h"

/* Larger maps are refused. */
#define PERF_MAP_SIZE_MAX (1ull << 30)

/* Zero-initialise. */
struct perf_map_file {
	/* Finished; empty if the file has no entries. */
	struct symtab symtab;
	/* As the process itself would name it: "/tmp/perf-12.map". */
	char *path;
	/* Lines that are no entries. */
	size_t bad;
	/* Identity and age of the file. */
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	/* ns since 1970. */
	int64_t mtime;
};

void perf_map_file_deinit(struct perf_map_file *map);

/*
 * The map of a process that runs now. root: see sys/file.h. ERROR_NOT_FOUND
 * if it has none (or is gone), ERROR_PERMISSION if the owner is a stranger.
 */
struct error *perf_map_file_load_live(const char *root, pid_t pid,
				      struct perf_map_file *ret);
/*
 * The map of a process that has ended, by its number in /tmp (below symfs, if
 * not NULL). owner is its user, or (uid_t)-1 if that is not known.
 */
struct error *perf_map_file_load(const char *symfs, pid_t pid, uid_t owner,
				 struct perf_map_file *ret);

/* The file alone, opened and checked, for who reads it as it grows. */
struct perf_map_handle {
	int fd;
	/* As the process itself would name it. */
	char *path;
	/* When it was opened. */
	struct stat status;
};

/* As the functions of these names above; *ret is the caller's. */
struct error *perf_map_file_open_live(const char *root, pid_t pid,
				      struct perf_map_handle *ret);
struct error *perf_map_file_open(const char *symfs, pid_t pid, uid_t owner,
				 struct perf_map_handle *ret);
/* Closes it. */
void perf_map_handle_deinit(struct perf_map_handle *handle);

#endif

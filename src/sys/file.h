/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small files of /proc and /sys, under a root that can be injected.
 *
 * `root` is put in front of every path: "" (or NULL) is the machine itself, a
 * test passes a directory with a fake tree.
 */
#ifndef KAA_SYS_FILE_H
#define KAA_SYS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* Owned strings. */
struct name_list VEC_BODY(char *);
void name_list_deinit(struct name_list *list);

/*
 * Appends the whole file to out: until read() gives 0, since such files have
 * no size. ERROR_OS if it cannot be read, ERROR_LIMIT above limit bytes.
 */
struct error *file_read(const char *root, const char *path, size_t limit,
			struct strbuf *out);

/* To be read line by line; NULL: it cannot be opened, and errno says why. */
FILE *file_open(const char *root, const char *path);

/* The number that the file begins with. ERROR_FORMAT if there is none. */
struct error *file_read_i64(const char *root, const char *path, int64_t *ret);

/*
 * Names in a directory without "." and "..", sorted by bytes. Appends;
 * ERROR_LIMIT above a million.
 */
struct error *dir_list(const char *root, const char *path,
		       struct name_list *ret);

/* The target of a symbolic link; *ret is the caller's. */
struct error *file_read_link(const char *root, const char *path, char **ret);

/* /proc/sys/kernel/<name>, as file_read_i64(). */
struct error *kernel_setting(const char *root, const char *name, int64_t *ret);

#endif

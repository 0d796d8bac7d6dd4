/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that a PATH makes of the name of a program, as execvp() tries them. Which of
 * them will do is up to who asks.
 */
#ifndef KAA_BASE_SEARCH_PATH_H
#define KAA_BASE_SEARCH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What is searched if there is no PATH. */
#define SEARCH_PATH_DEFAULT "/bin:/usr/bin"

/*
 * Puts the next one into buf, and moves *path behind its folder, to NULL behind the
 * last. An empty folder is the current one; what buf has no room for is passed over.
 * False: there is no more. NULL has none, "" the current folder.
 */
static inline bool search_path_next(const char **path, const char *name,
				    char *buf, size_t size)
{
	size_t name_size = strlen(name) + 1;

	while (*path) {
		const char *folder = *path;
		size_t n = strcspn(folder, ":");

		*path = folder[n] ? folder + n + 1 : NULL;
		if (!n) {
			folder = ".";
			n = 1;
		}
		if (n + 1 + name_size > size)
			continue;
		memcpy(buf, folder, n);
		buf[n] = '/';
		memcpy(buf + n + 1, name, name_size);
		return true;
	}
	return false;
}

#endif

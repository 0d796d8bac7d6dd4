// SPDX-License-Identifier: GPL-2.0-only
#include "python/look/shim.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { PROGRAMS_MAX = 8 };

void python_list_deinit(struct python_list *list)
{
	vec_for_each(program, list)
		free(*program);
	vec_deinit(list);
}

/* Length of "/x" in "/x/shims/NAME"; 0: no shim. */
static size_t shim_root(const char *file)
{
	static const char folder[] = "/shims";
	const char *name = strrchr(file, '/');
	size_t length = name ? (size_t)(name - file) : 0;

	if (length < sizeof(folder) ||
	    strncmp(name - strlen(folder), folder, strlen(folder)) != 0)
		return 0;
	return length - strlen(folder);
}

/* A root with characters that glob() takes for patterns finds nothing. */
static void add_matches(const char *pattern, struct python_list *ret)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && ret->count < PROGRAMS_MAX; i++) {
		char *program = access(found.gl_pathv[i], X_OK) ?
					NULL :
					strdup(found.gl_pathv[i]);

		if (program && !vec_push(ret, program))
			free(program);
	}
	globfree(&found);
}

void python_shim_programs(const char *file, struct python_list *ret)
{
	static const char *const places[] = { "versions/*/bin",
					      "installs/python/*/bin" };
	size_t root = shim_root(file);
	const char *name = strrchr(file, '/');

	for (size_t i = 0; root && i < 2; i++) {
		_cleanup_free_ char *pattern = NULL;

		if (asprintf(&pattern, "%.*s/%s%s", (int)root, file, places[i],
			     name) < 0) {
			pattern = NULL;
			return;
		}
		add_matches(pattern, ret);
	}
}

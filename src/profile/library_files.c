// SPDX-License-Identifier: GPL-2.0-only
#include "profile/library_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/name_match.h"
#include "profile/installed_path.h"
#include "profile/spent.h"

/* How long the part of the path is before the last such folder; 0: it has none. */
static size_t before_folder(const char *path, const char *folder)
{
	const char *found = path_last_folder(path, folder);

	return found ? (size_t)(found - path) : 0;
}

/* Of a file of a library the folder that Python is installed in. */
static struct error *note_prefix(struct map *prefixes, const char *path)
{
	size_t n = before_folder(path, "/lib/python");

	if (n && !map_insert(prefixes, hash_bytes(path, n), 0, NULL))
		return error_no_memory();
	return NULL;
}

/* "/srv/venv/bin/pytest", of one of these folders. */
static bool is_command(const struct map *prefixes, const char *path)
{
	size_t n = before_folder(path, "/bin/");

	return n && !strchr(path + n + strlen("/bin/"), '/') &&
	       !name_ends_with(path, ".py") &&
	       map_find(prefixes, hash_bytes(path, n));
}

static bool is_module_body(const struct profile *p, const struct profile_frame *frame)
{
	const struct profile_symbol *symbol = profile_symbol(p, frame->symbol);

	return symbol && spent_is_module_body(profile_string(p, symbol->name, ""));
}

/* What has functions of its own is a program. */
static void find_commands(const struct profile *p, const struct map *prefixes,
			  bool *libraries)
{
	vec_for_each(frame, &p->frames)
		if (frame->kind == PROFILE_FRAME_PYTHON &&
		    frame->file != PROFILE_NONE && !libraries[frame->file])
			libraries[frame->file] = is_command(
				prefixes, profile_string(p, frame->file, ""));
	vec_for_each(frame, &p->frames)
		if (frame->kind == PROFILE_FRAME_PYTHON &&
		    frame->file != PROFILE_NONE && !is_module_body(p, frame) &&
		    !path_is_library(profile_string(p, frame->file, "")))
			libraries[frame->file] = false;
}

static struct error *find(const struct profile *p, struct map *prefixes,
			  bool *libraries)
{
	struct error *error = NULL;

	vec_for_each(frame, &p->frames) {
		const char *path = profile_string(p, frame->file, NULL);

		if (error)
			return error;
		if (frame->kind != PROFILE_FRAME_PYTHON || !path ||
		    libraries[frame->file] || !path_is_library(path))
			continue;
		libraries[frame->file] = true;
		error = note_prefix(prefixes, path);
	}
	if (!error)
		find_commands(p, prefixes, libraries);
	return error;
}

struct error *library_files_find(const struct profile *profile, bool **ret)
{
	struct map prefixes = {};
	struct error *error;

	*ret = calloc(profile->strings.count + 1, sizeof(**ret));
	if (!*ret)
		return error_no_memory();
	error = find(profile, &prefixes, *ret);
	map_deinit(&prefixes);
	return error;
}

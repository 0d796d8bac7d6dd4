// SPDX-License-Identifier: GPL-2.0-only
#include "view/place_name.h"

#include <stdlib.h>
#include <string.h>

#include "profile/installed_path.h"

struct place_names {
	const struct profile *profile;
	/* By string: where in it the short name begins. */
	uint32_t *starts;
};

struct short_name {
	const char *name;
	uint32_t file;
	/* What the file is another path of, or itself. */
	uint32_t same;
};

/* --- One path ----------------------------------------------------------- */

static const char *behind_current(const char *path, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	/* Below "/" everything would be. */
	if (n < 2 || strncmp(path, folder, n) != 0 || path[n] != '/' ||
	    !path[n + 1])
		return NULL;
	return path + n + 1;
}

enum place_kind place_kind(const char *path)
{
	if (installed_package_path(path))
		return PLACE_PACKAGE;
	return path_is_library(path) ? PLACE_STANDARD : PLACE_PROGRAM;
}

static const char *shorten(const char *path, const char *folder)
{
	const char *short_name = installed_path(path);

	if (!short_name)
		short_name = behind_current(path, folder);
	if (!short_name && !strncmp(path, "./", 2) && path[2])
		short_name = path + 2;
	return short_name ? short_name : path;
}

/* --- All of a profile --------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct short_name *)a)->name,
		      ((const struct short_name *)b)->name);
}

static void keep_distinct(struct place_names *names,
			  const struct short_name *all, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		if (strcmp(all[i].name, all[i + 1].name) != 0 ||
		    all[i].same == all[i + 1].same)
			continue;
		names->starts[all[i].file] = 0;
		names->starts[all[i + 1].file] = 0;
	}
}

static struct error *name_files(struct place_names *names, const char *folder,
				const struct map *same)
{
	const struct profile *p = names->profile;
	_cleanup_free_ bool *seen = calloc(p->strings.count + 1, sizeof(*seen));
	_cleanup_free_ struct short_name *all =
		calloc(p->strings.count + 1, sizeof(*all));
	size_t count = 0;

	if (!seen || !all)
		return error_no_memory();
	vec_for_each(frame, &p->frames) {
		const char *path = profile_string(p, frame->file, NULL);
		const uint64_t *other;

		if (frame->kind != PROFILE_FRAME_PYTHON || !path ||
		    seen[frame->file])
			continue;
		seen[frame->file] = true;
		other = same ? map_find(same, frame->file) : NULL;
		all[count] = (struct short_name){
			shorten(path, folder), frame->file,
			other ? (uint32_t)*other : frame->file
		};
		names->starts[frame->file] =
			(uint32_t)(all[count++].name - path);
	}
	qsort(all, count, sizeof(*all), compare_names);
	keep_distinct(names, all, count);
	return NULL;
}

struct error *place_names_create_of(const struct profile *profile,
				    const char *folder, const struct map *same,
				    struct place_names **ret)
{
	_cleanup_place_names_ struct place_names *names =
		calloc(1, sizeof(*names));
	struct error *error;

	if (!names)
		return error_no_memory();
	names->profile = profile;
	names->starts = calloc(profile->strings.count + 1,
			       sizeof(*names->starts));
	if (!names->starts)
		return error_no_memory();
	error = name_files(names, folder, same);
	if (!error)
		*ret = take_ptr(names);
	return error;
}

struct error *place_names_create(const struct profile *profile,
				 const char *folder, struct place_names **ret)
{
	return place_names_create_of(profile, folder, NULL, ret);
}

void place_names_destroy(struct place_names *names)
{
	if (!names)
		return;
	free(names->starts);
	free(names);
}

const char *place_name(const struct place_names *names, uint32_t file)
{
	return file == PROFILE_NONE ?
		       "" :
		       names->profile->strings.data[file] + names->starts[file];
}

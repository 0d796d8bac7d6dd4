// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_stacks.h"

#include <stdlib.h>

#include "profile/library_files.h"
#include "profile/spent.h"
#include "view/place_name.h"

/* --- What a function is, by number: ui/src/data.ts has the same order ---- */

enum page_kind {
	PAGE_PROGRAM,
	PAGE_PACKAGE,
	PAGE_STANDARD,
	PAGE_NATIVE,
	PAGE_ALLOCATION,
	PAGE_COLLECTOR,
	PAGE_GIL,
	PAGE_KERNEL,
	PAGE_MARK,
};

static enum page_kind python_kind(const char *file)
{
	switch (place_kind(file)) {
	case PLACE_PACKAGE:
		return PAGE_PACKAGE;
	case PLACE_STANDARD:
		return PAGE_STANDARD;
	case PLACE_PROGRAM:
		break;
	}
	return PAGE_PROGRAM;
}

/* The names of the interpreter's own functions mean this wherever they are. */
static enum page_kind native_kind(const char *name)
{
	switch (spent_kind_of_function(name, true)) {
	case SPENT_GC:
		return PAGE_COLLECTOR;
	case SPENT_GIL:
		return PAGE_GIL;
	case SPENT_ALLOCATION:
		return PAGE_ALLOCATION;
	default:
		return PAGE_NATIVE;
	}
}

static enum page_kind kind_of(const struct export_stacks *s,
			      const struct export_function *f)
{
	switch ((enum profile_frame_kind)f->kind) {
	case PROFILE_FRAME_PYTHON:
		return python_kind(export_function_source(s, f));
	case PROFILE_FRAME_KERNEL:
		return PAGE_KERNEL;
	case PROFILE_FRAME_MARKER:
		return PAGE_MARK;
	case PROFILE_FRAME_NATIVE:
		break;
	}
	return native_kind(export_function_name(s, f));
}

/* --- Files and functions ------------------------------------------------ */

/* The names of files for people, by the text of the path. */
struct file_names {
	const struct export_stacks *stacks;
	struct place_names *places;
	/* A number in stacks.files to the string of the profile. */
	struct map strings;
};

static struct error *find_strings(struct file_names *names)
{
	const struct export_stacks *s = names->stacks;
	const struct profile *p = s->profile;
	struct map by_text = {};
	struct error *error = NULL;

	for (size_t i = 0; i < s->files.all.count; i++)
		if (!map_insert(&by_text, hash_string(s->files.all.data[i]), i,
				NULL))
			error = error_no_memory();
	vec_for_each(frame, &p->frames) {
		const uint64_t *at = NULL;

		if (frame->kind == PROFILE_FRAME_PYTHON &&
		    frame->file != PROFILE_NONE)
			at = map_find(&by_text,
				      hash_string(profile_string(
					      p, frame->file, "")));
		if (at && !map_insert(&names->strings, *at, frame->file, NULL))
			error = error_no_memory();
		if (error)
			break;
	}
	map_deinit(&by_text);
	return error;
}

static const char *short_name(const struct file_names *names, size_t file)
{
	const uint64_t *string = map_find(&names->strings, file);

	return string ? place_name(names->places, (uint32_t)*string) :
			names->stacks->files.all.data[file];
}

static struct error *add_files(const struct file_names *names,
			       struct page_columns *c)
{
	struct page_numbers paths = {}, places = {};
	struct error *error = NULL;
	uint32_t path, place;

	for (size_t i = 0; !error && i < names->stacks->files.all.count; i++) {
		error = page_text(c, names->stacks->files.all.data[i], &path);
		if (!error)
			error = page_text(c, short_name(names, i), &place);
		if (!error && !(vec_push(&paths, path) &&
				vec_push(&places, place)))
			error = error_no_memory();
	}
	if (!error)
		error = page_column_add_numbers(c, "file.path", &paths);
	if (!error)
		error = page_column_add_numbers(c, "file.place", &places);
	vec_deinit(&paths);
	vec_deinit(&places);
	return error;
}

/* Of each file whether it is no file of the program's own: a byte. */
static struct error *add_libraries(const struct file_names *names,
				   struct page_columns *c)
{
	size_t count = names->stacks->files.all.count;
	_cleanup_free_ uint8_t *flags = calloc(count + 1, sizeof(*flags));
	bool *libraries = NULL;
	struct error *error =
		flags ? library_files_find(names->stacks->profile, &libraries) :
			error_no_memory();

	for (size_t i = 0; !error && i < count; i++) {
		const uint64_t *string = map_find(&names->strings, i);

		flags[i] = string && libraries[*string];
	}
	free(libraries);
	return error ? error :
		       page_column_add(c, "file.library", flags, sizeof(*flags),
				       count);
}

struct page_function {
	uint32_t name;
	/* Of native code, a path. */
	uint32_t object;
	uint32_t kind;
};

static struct error *add_function_members(const struct export_stacks *s,
					  const struct page_function *texts,
					  struct page_columns *c)
{
	size_t count = s->functions.count;
	struct error *error = page_column_add_member(
		c, "function.name", texts, sizeof(*texts),
		offsetof(struct page_function, name), count);

	if (!error)
		error = page_column_add_member(
			c, "function.object", texts, sizeof(*texts),
			offsetof(struct page_function, object), count);
	if (!error)
		error = page_column_add_member(
			c, "function.kind", texts, sizeof(*texts),
			offsetof(struct page_function, kind), count);
	if (!error)
		error = page_column_add_member(
			c, "function.file", s->functions.data,
			sizeof(struct export_function),
			offsetof(struct export_function, file), count);
	if (!error)
		error = page_column_add_member(
			c, "function.line", s->functions.data,
			sizeof(struct export_function),
			offsetof(struct export_function, line), count);
	return error;
}

static struct error *add_functions(const struct export_stacks *s,
				   struct page_columns *c)
{
	_cleanup_free_ struct page_function *all =
		calloc(s->functions.count + 1, sizeof(*all));
	struct error *error = all ? NULL : error_no_memory();

	for (size_t i = 0; !error && i < s->functions.count; i++) {
		const struct export_function *f = &s->functions.data[i];

		all[i].kind = kind_of(s, f);
		error = page_text(c, export_function_name(s, f), &all[i].name);
		if (!error)
			error = page_text(c, export_function_object(s, f),
					  &all[i].object);
	}
	return error ? error : add_function_members(s, all, c);
}

/* --- Stacks ------------------------------------------------------------- */

/* First child and next sibling of each node; the last place: of the outermost. */
static void link_nodes(const struct export_stacks *s, uint32_t *first,
		       uint32_t *next)
{
	size_t count = s->nodes.count;

	for (size_t i = 0; i <= count; i++)
		first[i] = PROFILE_NONE;
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = s->nodes.data[i].parent;
		size_t at = parent == PROFILE_NONE ? count : parent;

		next[i] = first[at];
		first[at] = (uint32_t)i;
	}
}

/* Each node before those that it calls, and these before its siblings. */
static struct error *walk_nodes(const struct export_stacks *s,
				const uint32_t *first, const uint32_t *next,
				uint32_t *numbers, struct page_numbers *depths,
				struct page_numbers *frames)
{
	size_t count = s->nodes.count;
	uint32_t at = first[count], depth = 0;

	if (!vec_reserve(depths, count) || !vec_reserve(frames, count))
		return error_no_memory();
	while (at != PROFILE_NONE) {
		numbers[at] = (uint32_t)depths->count;
		depths->data[depths->count++] = depth;
		frames->data[frames->count++] = s->nodes.data[at].place;
		if (first[at] != PROFILE_NONE) {
			at = first[at];
			depth++;
			continue;
		}
		while (at != PROFILE_NONE && next[at] == PROFILE_NONE) {
			at = s->nodes.data[at].parent;
			depth--;
		}
		if (at != PROFILE_NONE)
			at = next[at];
	}
	return NULL;
}

static struct error *add_nodes(const struct export_stacks *s,
			       struct page_columns *c, uint32_t *numbers)
{
	size_t count = s->nodes.count;
	_cleanup_free_ uint32_t *first = calloc(count + 1, sizeof(*first));
	_cleanup_free_ uint32_t *next = calloc(count + 1, sizeof(*next));
	struct page_numbers depths = {}, frames = {};
	struct error *error = first && next ? NULL : error_no_memory();

	if (!error) {
		link_nodes(s, first, next);
		error = walk_nodes(s, first, next, numbers, &depths, &frames);
	}
	if (!error)
		error = page_column_add_numbers(c, "stack.depth", &depths);
	if (!error)
		error = page_column_add_numbers(c, "stack.frame", &frames);
	vec_deinit(&depths);
	vec_deinit(&frames);
	return error;
}

static struct error *add_frames(const struct export_stacks *s,
				struct page_columns *c)
{
	struct error *error = page_column_add_member(
		c, "frame.function", s->places.data,
		sizeof(struct export_place),
		offsetof(struct export_place, function), s->places.count);

	return error ? error :
		       page_column_add_member(
			       c, "frame.line", s->places.data,
			       sizeof(struct export_place),
			       offsetof(struct export_place, line),
			       s->places.count);
}

struct error *page_stacks_add(const struct export_stacks *s, const char *folder,
			      const struct map *same_files,
			      struct page_columns *c, uint32_t **ret_numbers)
{
	_cleanup_place_names_ struct place_names *places = NULL;
	_cleanup_free_ uint32_t *numbers =
		calloc(s->nodes.count + 1, sizeof(*numbers));
	struct file_names names = { .stacks = s };
	struct error *error = place_names_create_of(
		s->profile, folder, same_files, &places);

	names.places = places;
	if (!error)
		error = numbers ? find_strings(&names) : error_no_memory();
	if (!error)
		error = add_files(&names, c);
	if (!error)
		error = add_libraries(&names, c);
	map_deinit(&names.strings);
	if (!error)
		error = add_functions(s, c);
	if (!error)
		error = add_frames(s, c);
	if (!error)
		error = add_nodes(s, c, numbers);
	if (!error)
		*ret_numbers = take_ptr(numbers);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/diff_sources.h"

#include <string.h>

void diff_sources_deinit(struct diff_sources *sources)
{
	sources_deinit(&sources->before);
	sources_deinit(&sources->after);
	map_deinit(&sources->index);
	vec_for_each(file, &sources->files)
		vec_deinit(&file->pairs);
	vec_deinit(&sources->files);
}

/* The file as it was when it was recorded, or NULL. */
static const struct sources_file *
find_recorded(struct diff_sources *s, bool is_after, uint32_t file)
{
	struct sources *sources = is_after ? &s->after : &s->before;
	const char *path = profile_string(s->profile, file, "<none>");
	const struct sources_file *found = sources_find(sources, path);

	return found && !found->error && !sources_has_changed(sources, found) ?
		       found :
		       NULL;
}

static struct diff_file compare(struct diff_sources *s, uint32_t before,
				uint32_t after)
{
	const struct sources_file *a = find_recorded(s, false, before);
	const struct sources_file *b = find_recorded(s, true, after);
	struct diff_file file = { .known = OWN_DIFF_LINES_UNKNOWN };
	struct error *error;

	/* What it is now it was in both. */
	if (before == after && a && b)
		file.known = OWN_DIFF_LINES_SAME;
	if (before == after || !a || !b)
		return file;
	error = line_pairs_find(&a->source, &b->source, &file.pairs);
	if (!error)
		file.known = OWN_DIFF_LINES_PAIRED;
	/* Without memory the functions tell. */
	error_destroy(error);
	return file;
}

/* NULL for want of memory. */
static const struct diff_file *find_file(struct diff_sources *s,
					 uint32_t before, uint32_t after)
{
	bool is_new;
	const uint64_t *at = map_insert(&s->index,
					(uint64_t)before << 32 | after,
					s->files.count, &is_new);

	if (!at)
		return NULL;
	if (is_new) {
		struct diff_file file = compare(s, before, after);

		if (!vec_push(&s->files, file))
			vec_deinit(&file.pairs);
	}
	return *at < s->files.count ? &s->files.data[*at] : NULL;
}

enum own_diff_lines diff_sources_lines(void *arg, uint32_t before,
				       uint32_t after)
{
	const struct diff_file *file = find_file(arg, before, after);

	return file ? file->known : OWN_DIFF_LINES_UNKNOWN;
}

uint32_t diff_sources_line_after(void *arg, uint32_t before, uint32_t after,
				 uint32_t line)
{
	const struct diff_file *file = find_file(arg, before, after);

	return file && line < file->pairs.count ? file->pairs.data[line] : 0;
}

void diff_sources_put(void *arg, bool is_after, uint32_t file, uint32_t line,
		      struct strbuf *out)
{
	const struct sources_file *found = find_recorded(arg, is_after, file);
	const char *text;
	size_t n;

	if (!found)
		return;
	text = source_line(&found->source, line, &n);
	strbuf_append(out, text, n);
}

void diff_sources_notes(void *arg, struct strbuf *out)
{
	const struct diff_sources *s = arg;

	sources_tell(&s->after, out);
}

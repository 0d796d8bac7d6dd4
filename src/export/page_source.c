// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_source.h"

#include <stdlib.h>
#include <string.h>

#include "explore/sources.h"

enum {
	/* Of all files of a page. */
	SOURCES_MAX = 24u << 20,
	/* Decorators between the first line of a function and its name. */
	DECORATORS_MAX = 60,
	NS_PER_S = 1000000000,
};

static bool has_word(const char *line, size_t n, const char *word, size_t size)
{
	return size && memmem(line, n, word, size);
}

/* "Orders.<locals>.load" is "load" in its file; "" where it has no name there. */
static const char *bare_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	return *name == '<' ? "" : name;
}

/* The name stands on the line of its def, or below decorators. */
static bool stands_there(const struct source *source, const char *name,
			 uint32_t line)
{
	if (line > source->starts.count)
		return false;
	for (uint32_t i = line; i < line + DECORATORS_MAX; i++) {
		size_t n;
		const char *text = source_line(source, i, &n);

		if (has_word(text, n, name, strlen(name)) &&
		    (has_word(text, n, "def", 3) ||
		     has_word(text, n, "class", 5)))
			return true;
		if (!n && i > source->starts.count)
			break;
	}
	return false;
}

static bool is_python_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".py") || !strcmp(dot, ".pyx") ||
		       !strcmp(dot, ".pyw"));
}

static bool is_meant(const struct export_stacks *s,
		     const struct page_source_of *of,
		     const struct export_function *function)
{
	return !of->functions || of->functions[function - s->functions.data];
}

static bool has_meant(const struct export_stacks *s,
		      const struct page_source_of *of, uint32_t file)
{
	vec_for_each(f, &s->functions)
		if (f->file == file && is_meant(s, of, f))
			return true;
	return false;
}

/* The functions that were recorded are in it; of a file of Python none need have a name. */
static bool is_the_one(const struct export_stacks *s,
		       const struct page_source_of *of, uint32_t file,
		       const struct source *source)
{
	bool is_sure = is_python_name(s->files.all.data[file]);

	vec_for_each(f, &s->functions) {
		const char *name;

		if (f->file != file || f->kind != PROFILE_FRAME_PYTHON ||
		    !is_meant(s, of, f))
			continue;
		name = bare_name(export_function_name(s, f));
		if (f->line > source->starts.count)
			return false;
		if (!*name || !f->line)
			continue;
		if (!stands_there(source, name, f->line))
			return false;
		is_sure = true;
	}
	return is_sure;
}

static int64_t recorded_ns(const struct profile *profile, uint32_t wanted)
{
	int64_t oldest = 0;

	for (uint32_t i = 0; i < profile->recordings.count; i++) {
		int64_t at = profile->recordings.data[i].metadata.recorded;

		if (wanted != PROFILE_NONE && wanted != i)
			continue;
		if (at > 0 && at < INT64_MAX / NS_PER_S &&
		    (!oldest || at < oldest))
			oldest = at;
	}
	/* It is known to the second. */
	return oldest ? oldest * NS_PER_S + NS_PER_S - 1 : 0;
}

static struct source_recordings recordings_of(const struct profile *profile,
					      uint32_t wanted)
{
	return wanted == PROFILE_NONE ?
		       source_recordings_all(profile) :
		       (struct source_recordings){ profile, wanted, wanted + 1 };
}

/* Each line by itself: pages have no long ones. */
static void put_source(struct strbuf *out, const struct source *source)
{
	for (size_t i = 1; i <= source->starts.count; i++) {
		size_t n;
		const char *text = source_line(source, i, &n);

		page_text_clean(out, text, n);
		strbuf_putc(out, '\n');
	}
}

static enum page_source put_file(const struct export_stacks *s,
				 const struct page_source_of *of,
				 uint32_t number, struct sources *sources,
				 struct strbuf *out)
{
	const struct sources_file *file;

	if (!has_meant(s, of, number))
		return PAGE_SOURCE_BEFORE;
	file = sources_find(sources, s->files.all.data[number]);
	if (!file)
		return PAGE_SOURCE_NONE;
	if (file->error)
		return PAGE_SOURCE_MISSING;
	if (sources_has_changed(sources, file))
		return PAGE_SOURCE_CHANGED;
	if (!is_the_one(s, of, number, &file->source))
		return PAGE_SOURCE_OTHER;
	if (out->len + file->source.text.len > SOURCES_MAX)
		return PAGE_SOURCE_LARGE;
	put_source(out, &file->source);
	return PAGE_SOURCE_THERE;
}

struct error *page_source_add(const struct export_stacks *s,
			      const struct page_source_of *of,
			      struct page_columns *c)
{
	_cleanup_sources_ struct sources sources = {
		.symfs = of->symfs,
		.recorded = recorded_ns(s->profile, of->recording),
		.recordings = recordings_of(s->profile, of->recording),
	};
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct page_numbers states = {}, ends = {};
	struct error *error = NULL;

	for (uint32_t i = 0; !error && i < s->files.all.count; i++) {
		uint32_t state = put_file(s, of, i, &sources, &all);

		if (!vec_push(&states, state) ||
		    !vec_push(&ends, (uint32_t)all.len))
			error = error_no_memory();
	}
	if (!error)
		error = strbuf_error(&all);
	if (!error)
		error = page_column_add_numbers(c, "source.state", &states);
	if (!error)
		error = page_column_add_numbers(c, "source.end", &ends);
	if (!error)
		error = page_column_add(c, "source.bytes", all.data, 1, all.len);
	vec_deinit(&states);
	vec_deinit(&ends);
	return error;
}

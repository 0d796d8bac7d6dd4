// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_source.h"

#include <ctype.h>
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

/* Of an identifier, which may have any letters beyond ASCII. */
static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Where the word ends that begins at `at`. */
static size_t end_of_word(const char *line, size_t n, size_t at)
{
	while (at < n && is_of_word(line[at]))
		at++;
	return at;
}

static bool is_word_of(const char *const *words, const char *word, size_t size)
{
	for (; *words; words++)
		if (strlen(*words) == size && !memcmp(*words, word, size))
			return true;
	return false;
}

static bool has_word(const char *line, size_t n, const char *word)
{
	size_t size = strlen(word);

	for (size_t at = 0, end; size && at < n; at = end + 1) {
		end = end_of_word(line, n, at);
		if (end - at == size && !memcmp(line + at, word, size))
			return true;
	}
	return false;
}

static size_t end_of_indent(const char *line, size_t n)
{
	size_t at = 0;

	while (at < n && (line[at] == ' ' || line[at] == '\t'))
		at++;
	return at;
}

/* "    async def load(self):"; of Cython "cdef int load(Orders self):". */
static bool is_def_of(const char *line, size_t n, const char *name)
{
	static const char *const begins[] = { "async", "def",  "class",
					      "cdef",  "cpdef", NULL };
	size_t at = end_of_indent(line, n);
	size_t end = end_of_word(line, n, at);

	return is_word_of(begins, line + at, end - at) &&
	       has_word(line + end, n - end, name);
}

static bool is_decorator(const char *line, size_t n)
{
	size_t at = end_of_indent(line, n);

	return at < n && line[at] == '@';
}

/* "Orders.<locals>.load" is "load" in its file; "" where it has no name there. */
static const char *bare_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	return *name == '<' ? "" : name;
}

/* The name stands on the line of its def, or below its decorators. */
static bool stands_there(const struct source *source, const char *name,
			 uint32_t line)
{
	size_t n;
	const char *text = source_line(source, line, &n);
	uint32_t lines = is_decorator(text, n) ? DECORATORS_MAX : 1;

	for (uint32_t i = 0; i < lines && line + i <= source->starts.count; i++) {
		text = source_line(source, line + i, &n);
		if (is_def_of(text, n, name))
			return true;
	}
	return false;
}

/* Of a function of which no line is known. */
static bool stands_somewhere(const struct source *source, const char *name)
{
	for (size_t i = 1; i <= source->starts.count; i++) {
		size_t n;
		const char *text = source_line(source, (uint32_t)i, &n);

		if (is_def_of(text, n, name))
			return true;
	}
	return false;
}

/* By its name, or by its first line: "#!/usr/bin/env python3". */
static bool is_python_file(const char *path, const struct source *source)
{
	const char *dot = strrchr(path, '.'), *first;
	size_t n;

	if (dot && (!strcmp(dot, ".py") || !strcmp(dot, ".pyx") ||
		    !strcmp(dot, ".pyw")))
		return true;
	first = source_line(source, 1, &n);
	return n > 2 && !memcmp(first, "#!", 2) && memmem(first, n, "python", 6);
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

/*
 * The functions that were recorded are in it. A recording may name any file: without a
 * hash, one of them at least is to have a name there.
 */
static bool is_the_one(const struct export_stacks *s,
		       const struct page_source_of *of, uint32_t file,
		       const struct sources_file *found)
{
	const struct source *source = &found->source;
	bool is_sure = found->proof == SOURCE_SAME;

	if (!is_sure && !is_python_file(s->files.all.data[file], source))
		return false;
	vec_for_each(f, &s->functions) {
		const char *name;

		if (f->file != file || f->kind != PROFILE_FRAME_PYTHON ||
		    !is_meant(s, of, f))
			continue;
		name = bare_name(export_function_name(s, f));
		if (f->line > source->starts.count)
			return false;
		if (!*name || (!f->line && is_sure))
			continue;
		if (!(f->line ? stands_there(source, name, f->line) :
				stands_somewhere(source, name)))
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
	if (!is_the_one(s, of, number, file))
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

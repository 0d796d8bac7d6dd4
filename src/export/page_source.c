// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "explore/source_proof.h"

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

/* The functions that are meant, file by file. */
struct by_file {
	struct page_numbers functions;
	/* Of each file the end of its functions, which begin at the end of those before. */
	struct page_numbers ends;
};

struct of_file {
	const uint32_t *first;
	const uint32_t *end;
};

static struct of_file of_file(const struct by_file *by_file, uint32_t file)
{
	const uint32_t *ends = by_file->ends.data;
	const uint32_t *all = by_file->functions.data;

	return (struct of_file){ all + (file ? ends[file - 1] : 0),
				 all + ends[file] };
}

static bool is_in_a_file(const struct export_stacks *s,
			 const struct page_source_of *of,
			 const struct export_function *f)
{
	return f->file != PROFILE_NONE && is_meant(s, of, f);
}

/* ends: how many there are of each file. Becomes where those of a file begin. */
static void begin_files(struct page_numbers *ends)
{
	uint32_t before = 0;

	vec_for_each(end, ends) {
		uint32_t count = *end;

		*end = before;
		before += count;
	}
}

static struct error *by_file_fill(const struct export_stacks *s,
				  const struct page_source_of *of,
				  struct by_file *by_file)
{
	size_t files = s->files.all.count;
	uint32_t *last, *room, *ends, *all;

	if (!files)
		return NULL;
	last = vec_slot(&by_file->ends, files - 1);
	room = vec_slot(&by_file->functions, s->functions.count);
	if (!last || !room)
		return error_no_memory();
	ends = by_file->ends.data;
	all = by_file->functions.data;
	vec_for_each(f, &s->functions)
		if (is_in_a_file(s, of, f))
			ends[f->file]++;
	begin_files(&by_file->ends);
	/* Where a file begins moves to where it ends. */
	vec_for_each(f, &s->functions)
		if (is_in_a_file(s, of, f))
			all[ends[f->file]++] = (uint32_t)(f - s->functions.data);
	return NULL;
}

static void by_file_deinit(struct by_file *by_file)
{
	vec_deinit(&by_file->functions);
	vec_deinit(&by_file->ends);
}

/*
 * The functions that were recorded are in it. A recording may name any file: without a
 * hash, one of them at least is to have a name there.
 */
static bool is_the_one(const struct export_stacks *s, struct of_file functions,
		       const char *path, const struct source *source,
		       enum source_proof proof)
{
	bool is_sure = proof == SOURCE_SAME;

	if (!is_sure && !is_python_file(path, source))
		return false;
	for (const uint32_t *at = functions.first; at < functions.end; at++) {
		const struct export_function *f = &s->functions.data[*at];
		const char *name;

		if (f->kind != PROFILE_FRAME_PYTHON)
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

/* What the sources of a page have in common. */
struct putting {
	const struct export_stacks *stacks;
	const char *symfs;
	struct source_recordings recordings;
	/* As source_may_be_another() has it. */
	int64_t recorded;
	struct by_file by_file;
	struct strbuf *out;
};

/* `source` is all zeros, and freed by the caller: no text is kept. */
static enum page_source put_file(const struct putting *p, uint32_t number,
				 struct source *source)
{
	const char *path = p->stacks->files.all.data[number];
	struct of_file functions = of_file(&p->by_file, number);
	struct error *error;
	enum source_proof proof;

	if (functions.first == functions.end)
		return PAGE_SOURCE_BEFORE;
	/* "<string>" and its like. */
	if (path[0] == '<')
		return PAGE_SOURCE_NONE;
	error = source_read(p->symfs, path, source);
	if (error) {
		error_destroy(error);
		return PAGE_SOURCE_MISSING;
	}
	proof = source_prove(&p->recordings, path, source);
	if (source_may_be_another(proof, source, p->recorded))
		return PAGE_SOURCE_CHANGED;
	if (!is_the_one(p->stacks, functions, path, source, proof))
		return PAGE_SOURCE_OTHER;
	if (p->out->len + source->text.len > SOURCES_MAX)
		return PAGE_SOURCE_LARGE;
	put_source(p->out, source);
	return PAGE_SOURCE_THERE;
}

static struct error *put_files(const struct putting *p,
			       struct page_numbers *states,
			       struct page_numbers *ends)
{
	for (uint32_t i = 0; i < p->stacks->files.all.count; i++) {
		struct source source = {};
		uint32_t state = put_file(p, i, &source);

		source_deinit(&source);
		if (!vec_push(states, state) ||
		    !vec_push(ends, (uint32_t)p->out->len))
			return error_no_memory();
	}
	return strbuf_error(p->out);
}

struct error *page_source_add(const struct export_stacks *s,
			      const struct page_source_of *of,
			      struct page_columns *c)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct page_numbers states = {}, ends = {};
	struct putting putting = {
		.stacks = s,
		.symfs = of->symfs,
		.recordings = recordings_of(s->profile, of->recording),
		.recorded = recorded_ns(s->profile, of->recording),
		.out = &all,
	};
	struct error *error = by_file_fill(s, of, &putting.by_file);

	if (!error)
		error = put_files(&putting, &states, &ends);
	if (!error)
		error = page_column_add_numbers(c, "source.state", &states);
	if (!error)
		error = page_column_add_numbers(c, "source.end", &ends);
	if (!error)
		error = page_column_add(c, "source.bytes", all.data, 1, all.len);
	by_file_deinit(&putting.by_file);
	vec_deinit(&states);
	vec_deinit(&ends);
	return error;
}

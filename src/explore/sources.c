// SPDX-License-Identifier: GPL-2.0-only
#include "explore/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path_name.h"
#include "base/plural.h"
#include "view/text.h"

static void file_destroy(struct sources_file *file)
{
	if (!file)
		return;
	source_deinit(&file->source);
	error_destroy(file->error);
	free(file->path);
	free(file);
}

void sources_deinit(struct sources *sources)
{
	vec_for_each(file, &sources->files)
		file_destroy(*file);
	vec_deinit(&sources->files);
}

static struct sources_file *add_file(struct sources *sources, const char *path)
{
	struct sources_file *file = calloc(1, sizeof(*file));

	if (file)
		file->path = strdup(path);
	if (!file || !file->path || !vec_push(&sources->files, file)) {
		file_destroy(file);
		return NULL;
	}
	file->error = source_read(sources->symfs, path, &file->source);
	if (!file->error)
		file->proof = source_prove(&sources->recordings, path,
					   &file->source);
	return file;
}

static struct sources_file *get_file(struct sources *sources, const char *path)
{
	if (path[0] == '<')
		return NULL;
	vec_for_each(known, &sources->files)
		if (!strcmp((*known)->path, path))
			return *known;
	return add_file(sources, path);
}

const struct sources_file *sources_find(struct sources *sources,
					const char *path)
{
	return get_file(sources, path);
}

static void put_line(struct sources_file *file, uint32_t line,
		     struct strbuf *out)
{
	const char *text;
	size_t n;

	if (line > file->source.starts.count && line > file->missing)
		file->missing = line;
	text = source_line(&file->source, line, &n);
	strbuf_append(out, text, n);
}

void sources_put_line(struct sources *sources, const char *path, uint32_t line,
		      struct strbuf *out)
{
	struct sources_file *file = get_file(sources, path);

	if (file)
		put_line(file, line, out);
}

void sources_answer_line(void *sources, const char *path, uint32_t line,
			 struct strbuf *out)
{
	struct sources_file *file = get_file(sources, path);

	if (file && file->proof != SOURCE_OTHER)
		put_line(file, line, out);
}

bool sources_has_changed(const struct sources *sources,
			 const struct sources_file *file)
{
	return source_may_be_another(file->proof, &file->source,
				     sources->recorded);
}

/* The first of some files; NULL: there are none. */
struct some_files {
	const char *first;
	size_t others;
};

static void add_file_to(struct some_files *some, const char *name)
{
	some->others += some->first != NULL;
	some->first = some->first ? some->first : name;
}

/* "a.py and 2 other files" */
static void put_files(const struct some_files *some, struct strbuf *out)
{
	text_append(out, some->first, strlen(some->first));
	if (some->others)
		strbuf_printf(out, " and %zu other file%s", some->others,
			      plural(some->others));
}

/* Of files that are not there their lines say enough. */
static void tell_unreadable(const struct sources *sources, struct strbuf *out)
{
	struct some_files some = {};

	vec_for_each(file, &sources->files)
		if (error_is_os((*file)->error, EACCES))
			add_file_to(&some, (*file)->path);
	if (!some.first)
		return;
	strbuf_puts(out, "You may not read ");
	put_files(&some, out);
	strbuf_printf(out, ", so %s lines have no text\n",
		      some.others ? "their" : "its");
}

static void tell_file(const struct sources *sources,
		      const struct sources_file *file, struct strbuf *out)
{
	bool lacks = file->missing && !file->error;

	/* Most others are not there, and their lines say enough. */
	if (file->error && file->error->code == ERROR_UNSUPPORTED) {
		error_format(file->error, out);
		strbuf_putc(out, '\n');
		return;
	}
	if (!lacks && !sources_has_changed(sources, file))
		return;
	text_append(out, file->path, strlen(file->path));
	if (lacks)
		source_tell_no_line(&file->source, file->missing, out);
	else if (file->proof == SOURCE_OTHER)
		strbuf_puts(out,
			    " has changed since the recording, so its lines have no text\n");
	else
		strbuf_puts(out,
			    " has changed since the recording: its lines may be others now\n");
}

void sources_put_changed(const struct sources *sources, struct strbuf *out)
{
	struct some_files some = {};

	vec_for_each(file, &sources->files)
		if (!(*file)->error && ((*file)->missing ||
					sources_has_changed(sources, *file)))
			add_file_to(&some, path_name((*file)->path));
	if (!some.first)
		return;
	put_files(&some, out);
	strbuf_printf(out, " ha%s changed since the recording",
		      some.others ? "ve" : "s");
}

void sources_tell(const struct sources *sources, struct strbuf *out)
{
	tell_unreadable(sources, out);
	vec_for_each(file, &sources->files)
		tell_file(sources, *file, out);
}

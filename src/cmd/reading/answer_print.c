// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/answer_print.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explore/source.h"
#include "view/answer.h"
#include "view/text.h"

enum {
	/* Where nobody says how wide a line may be. */
	DEFAULT_COLUMNS = 100,
	COLUMNS_MAX = 10000,
};

struct source_file {
	char *path;
	struct source source;
};

/* The source files that were read so far. */
struct sources {
	const struct answer_input *input;
	VEC(struct source_file) files;
};

static const struct source *find_file(struct sources *sources, const char *path)
{
	struct source_file file = {};

	vec_for_each(known, &sources->files)
		if (!strcmp(known->path, path))
			return &known->source;
	file.path = strdup(path);
	if (!file.path || !vec_push(&sources->files, file)) {
		free(file.path);
		return NULL;
	}
	/* A file that cannot be read has no lines. */
	error_destroy(source_read(sources->input->symfs, path,
				  &vec_last(&sources->files)->source));
	return &vec_last(&sources->files)->source;
}

static void put_line(void *arg, const char *path, uint32_t line,
		     struct strbuf *out)
{
	/* "<string>" and the like are no files. */
	const struct source *source =
		path[0] == '<' ? NULL : find_file(arg, path);
	const char *text;
	size_t n;

	if (!source)
		return;
	text = source_line(source, line, &n);
	strbuf_append(out, text, n);
}

static void tell_changed(void *arg, struct strbuf *out)
{
	const struct sources *sources = arg;
	int64_t recorded = sources->input->recorded;

	vec_for_each(file, &sources->files) {
		if (!recorded || file->source.modified <= recorded)
			continue;
		text_append(out, file->path, strlen(file->path));
		strbuf_puts(out,
			    " has changed since the recording: its lines may be others now\n");
	}
}

size_t answer_columns(void)
{
	const char *set = getenv("COLUMNS");
	unsigned long wanted = set ? strtoul(set, NULL, 10) : 0;
	struct winsize size;

	if (wanted && wanted < COLUMNS_MAX)
		return wanted;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return DEFAULT_COLUMNS;
}

/* As a shell takes it for one word. */
static void put_word(const char *word, struct strbuf *out)
{
	const char *const plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,";

	if (!word[strspn(word, plain)]) {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (size_t n; *word; word += n) {
		n = strcspn(word, "'");
		text_append(out, word, n);
		if (!word[n])
			continue;
		strbuf_puts(out, "'\\''");
		n++;
	}
	strbuf_putc(out, '\'');
}

static void name_command(const struct answer_input *input, const char *text,
			 struct strbuf *out)
{
	strbuf_puts(out, text);
	if (strcmp(input->path, "perf.data") != 0) {
		strbuf_puts(out, " -i ");
		put_word(input->path, out);
	}
	strbuf_putc(out, '\n');
}

static void name_commands(const struct answer_input *input, struct strbuf *out)
{
	name_command(input, "Who calls whom:    kaa report -g", out);
	name_command(input, "C functions, too:  kaa report --native", out);
}

struct error *answer_print(const struct profile *profile,
			   const struct answer_input *input)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_strbuf_ struct strbuf next = STRBUF_INIT;
	struct sources sources = { .input = input };
	struct answer_options options = {
		.columns = input->columns,
		.is_filtered = input->is_filtered,
		.folder = folder,
		.source = put_line,
		.source_notes = tell_changed,
		.source_arg = &sources,
	};
	struct error *error;

	name_commands(input, &next);
	options.next = next.data;
	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	error = answer_write(profile, input->event, &options, stdout);
	vec_for_each(file, &sources.files) {
		source_deinit(&file->source);
		free(file->path);
	}
	vec_deinit(&sources.files);
	return error;
}

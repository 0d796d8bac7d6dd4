// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/answer_print.h"

#include <errno.h>
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

size_t answer_columns(int fd)
{
	const char *set = getenv("COLUMNS");
	unsigned long wanted = set ? strtoul(set, NULL, 10) : 0;
	struct winsize size;

	if (wanted && wanted < COLUMNS_MAX)
		return wanted;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
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

/* "Who calls whom:  kaa report -g", with kaa as the user called it. */
static void name_command(const char *path, const char *what, const char *words,
			 struct strbuf *out)
{
	strbuf_puts(out, what);
	put_word(program_invocation_name, out);
	strbuf_printf(out, " %s", words);
	if (strcmp(path, "perf.data") != 0) {
		strbuf_puts(out, " -i ");
		put_word(path, out);
	}
	strbuf_putc(out, '\n');
}

static void name_commands(const struct answer_input *input, struct strbuf *out)
{
	if (input->is_brief) {
		name_command(input->path, "All of it:  ", "report", out);
		return;
	}
	name_command(input->path, "Who calls whom:    ", "report -g", out);
	name_command(input->path, "C functions, too:  ", "report --native", out);
}

void answer_print_next(const char *path, FILE *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	name_command(path, "Where the time went:  ", "report", &text);
	fputs(text.data, out);
}

struct error *answer_print(const struct profile *profile,
			   const struct answer_input *input, FILE *out)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_strbuf_ struct strbuf next = STRBUF_INIT;
	struct sources sources = { .input = input };
	struct answer_options options = {
		.columns = input->columns,
		.is_filtered = input->is_filtered,
		.is_brief = input->is_brief,
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
	error = answer_write(profile, input->event, &options, out);
	vec_for_each(file, &sources.files) {
		source_deinit(&file->source);
		free(file->path);
	}
	vec_deinit(&sources.files);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/answer_print.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path_name.h"
#include "base/strbuf.h"
#include "cmd/framework/terminal.h"
#include "explore/sources.h"
#include "profile/symbol_word.h"
#include "view/answer.h"
#include "view/printable.h"
#include "view/shell_word.h"

enum {
	/* Where nobody says how wide a line may be. */
	DEFAULT_COLUMNS = 100,
	COLUMNS_MAX = 10000,
};

static void tell_sources(void *arg, struct strbuf *out)
{
	sources_tell(arg, out);
}

size_t answer_columns_given(int fd)
{
	const char *set = getenv("COLUMNS");
	unsigned long wanted = set ? strtoul(set, NULL, 10) : 0;

	if (wanted && wanted < COLUMNS_MAX)
		return wanted;
	return terminal_columns(fd);
}

size_t answer_columns(int fd)
{
	size_t columns = answer_columns_given(fd);

	return columns ? columns : DEFAULT_COLUMNS;
}

void answer_name_command(const char *recording, size_t columns,
			 const char *what, const char *words, const char *word,
			 struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
	size_t title = strlen(what);

	shell_word(program_invocation_name, &command);
	strbuf_printf(&command, " %s", words);
	if (word) {
		strbuf_putc(&command, ' ');
		shell_word(word, &command);
	}
	strbuf_puts(&command, recording);
	if (columns &&
	    title + printable_width(command.data, command.len) > columns) {
		while (title && what[title - 1] == ' ')
			title--;
		strbuf_printf(out, "%.*s\n  %s\n", (int)title, what,
			      command.data);
		return;
	}
	strbuf_printf(out, "%s%s\n", what, command.data);
}

/* The source of the function; where that has no name, of its file. */
static void name_source(const char *recording, size_t columns,
			const struct python_symbol *function, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

	if (function->qualname[0] == '<')
		strbuf_puts(&word, path_name(function->file));
	else
		strbuf_append(&word, function->qualname,
			      function->qualname_length);
	answer_name_command(recording, columns, "With the source:   ",
			    "annotate", word.data, out);
}

/* Nobody asks who calls a module's body. */
static void name_callers(const char *recording, size_t columns,
			 const struct python_symbol *function,
			 struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

	if (function->qualname[0] == '<')
		return;
	strbuf_append(&word, function->qualname, function->qualname_length);
	answer_name_command(recording, columns, "Who calls it:      ",
			    "report --callers", word.data, out);
}

struct next_commands {
	const struct answer_input *input;
	/* There are no other functions in the recording. */
	bool python_only;
};

static void name_commands(const void *arg, const char *symbol,
			  bool has_source, struct strbuf *out)
{
	const struct next_commands *next = arg;
	const struct answer_input *input = next->input;
	size_t columns = input->columns_given;
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;
	struct python_symbol python;

	strbuf_puts(&recording, input->recording);
	if (input->event_name) {
		strbuf_puts(&recording, " --event ");
		shell_word(input->event_name, &recording);
	}
	if (input->is_brief) {
		answer_name_command(recording.data, columns, "All of it:  ",
				    "report", NULL, out);
		return;
	}
	if (symbol && python_symbol_parse(symbol, &python)) {
		if (has_source)
			name_source(recording.data, columns, &python, out);
		name_callers(recording.data, columns, &python, out);
	}
	answer_name_command(recording.data, columns, "As a flame graph:  ",
			    "flamegraph", NULL, out);
	if (!next->python_only)
		answer_name_command(recording.data, columns,
				    "C functions, too:  ",
				    "report --native --no-children", NULL, out);
}

void answer_print_next(const char *recording, size_t columns, FILE *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	answer_name_command(recording, columns, "Where the time went:  ",
			    "report", NULL, &text);
	fputs(text.data, out);
}

struct error *answer_print(const struct profile *profile,
			   const struct answer_input *input, FILE *out)
{
	const struct next_commands next = {
		.input = input,
		.python_only = profile->events.data[input->event].python_only,
	};
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_sources_ struct sources sources = {
		.symfs = input->symfs,
		.recorded = input->recorded,
		.recordings = source_recordings_all(profile),
	};
	struct answer_options options = {
		.columns = input->columns,
		.is_filtered = input->is_filtered,
		.is_live = input->is_live,
		.script = input->script,
		.is_brief = input->is_brief,
		.by_total = input->by_total,
		.without_libraries = input->without_libraries,
		.folder = folder,
		.recording = input->recording,
		.source = sources_answer_line,
		.source_notes = tell_sources,
		.source_arg = &sources,
		.next = input->is_live ? NULL : name_commands,
		.next_arg = &next,
	};

	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	return answer_write(profile, input->event, &options, out);
}

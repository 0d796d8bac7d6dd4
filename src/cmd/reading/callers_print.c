// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/callers_print.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compare.h"
#include "base/map.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "explore/no_python_listing.h"
#include "explore/own_rows.h"
#include "explore/own_text.h"
#include "explore/own_title.h"
#include "explore/sources.h"
#include "view/own_command.h"
#include "view/own_name.h"
#include "view/symbol_match.h"
#include "view/symbol_near.h"

enum {
	/* More functions of one name are counted. */
	SHOWN_MAX = 5,
	/* Of one function; rows of little weight stay closed in any case. */
	ROWS_MAX = 40,
};

struct callers {
	const struct profile *profile;
	const struct answer_input *input;
	/* NULL: one function is meant, by its name and the line of its def. */
	const char *word;
	uint32_t name;
	uint32_t def;
	struct own_rows *rows;
	struct line line;
	FILE *out;
	/* Rows have callers that have no rows. */
	bool is_cut;
	bool is_recursive;
};

/* Those of own_rows.made.own.functions that the word calls. */
typedef VEC(const struct own_entry *) entry_vec;

/* --- Which functions ---------------------------------------------------- */

/* Names of symbols that the word calls, as keys. */
static struct error *find_names(const struct callers *c, struct map *ret,
				bool *has_native)
{
	const struct profile *p = c->profile;
	const struct name_list words = { (const char *const *)&c->word, 1 };
	struct symbol_choice *choice;
	struct error *error = symbol_choose_words(p, &words, SYMBOL_RULE_PEOPLE,
						  &choice);
	struct python_symbol python;

	if (error)
		return error;
	for (size_t i = 0; i < p->symbols.count && !error; i++) {
		uint32_t name = p->symbols.data[i].name;

		if (!choice->functions[i])
			continue;
		*has_native |= !python_symbol_parse(profile_string(p, name, ""),
						    &python);
		if (!map_insert(ret, name, 0, NULL))
			error = error_no_memory();
	}
	symbol_choice_destroy(choice);
	return error;
}

static int compare_totals(const void *x, const void *y)
{
	const struct own_entry *const *a = x, *const *b = y;

	return compare_u64((*b)->total.period, (*a)->total.period);
}

static struct error *find_functions(const struct callers *c, entry_vec *ret,
				    bool *has_native)
{
	const struct own_entry_vec *all = &c->rows->made.own->functions;
	_cleanup_(map_deinit) struct map names = {};
	struct error *error = find_names(c, &names, has_native);

	for (size_t i = 0; i < all->count && !error; i++)
		if (all->data[i].is_python &&
		    map_find(&names, all->data[i].name) &&
		    !vec_push(ret, &all->data[i]))
			error = error_no_memory();
	if (!error && ret->count)
		qsort(ret->data, ret->count, sizeof(*ret->data),
		      compare_totals);
	return error;
}

/* Appends "its callers: kaa ..."; it is no line. */
static void put_command(const struct callers *c, const char *what,
			const char *command, struct strbuf *out)
{
	answer_name_command(c->input->recording, 0, what, command, c->word,
			    out);
	strbuf_truncate(out, out->len - 1);
}

static struct error *none_called(const struct callers *c, bool has_native)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct symbol_near near;
	struct error *error;

	if (no_python_find(c->profile, c->rows->made.own, c->word)) {
		put_command(c, "what it was spent in: ", "annotate", &text);
		return error_create(ERROR_NOT_FOUND,
				    "'%s' is no function that could have callers; %s",
				    c->word, text.data);
	}
	if (has_native) {
		put_command(c, "its callers: ", "report --children -g callee -S",
			    &text);
		return error_create(ERROR_NOT_FOUND,
				    "'%s' is no Python function; %s", c->word,
				    text.data);
	}
	error = symbol_near_init(&near, c->word, false);
	vec_for_each(function, &c->rows->made.own->functions) {
		struct symbol_lines lines = { .line = function->line };

		symbol_near_offer(&near,
				  profile_string(c->profile, function->name, NULL),
				  &lines, SYMBOL_CALLS);
	}
	if (!error)
		symbol_near_format(&near,
				   "no sample is in a Python function called",
				   &text);
	symbol_near_deinit(&near);
	return error ? error : error_create(ERROR_NOT_FOUND, "%s", text.data);
}

/* --- Text --------------------------------------------------------------- */

/* On a terminal a row begins with the sign of whether it is open. */
static void put_row(struct callers *c, uint32_t id)
{
	const struct browser_node *node = &c->rows->browser.nodes.data[id];
	bool is_cut = node->can_open && !node->is_open;

	line_clear(&c->line);
	own_text_row(c->rows, id, c->input->columns, &c->line);
	strbuf_trim_end(&c->line.text);
	fprintf(c->out, "%c%s\n", is_cut ? '+' : ' ', c->line.text.data + 1);
	c->is_cut |= is_cut;
}

/* Where all callers can be seen, as it can be typed. */
static void put_where_all_are(const struct callers *c, const char *does)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;

	strbuf_printf(&text, "'kaa report --tui%s', 'w' %s.\n",
		      c->input->recording ? c->input->recording : "", does);
	if (!text.failed)
		own_command_puts(&line, text.data);
	if (line.data)
		fputs(line.data, c->out);
}

static void put_function(struct callers *c, const struct own_entry *entry)
{
	const struct own_weight *all = &c->rows->made.own->all;
	const struct profile_event *event =
		&c->rows->profile->events.data[c->rows->event];
	const struct browser *browser = &c->rows->browser;
	size_t shown = browser->rows.count < ROWS_MAX ? browser->rows.count :
							ROWS_MAX;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	own_title_put(c->rows, c->input->columns, false, &text);
	strbuf_trim_end(&text);
	strbuf_puts(&text, "\n");
	strbuf_percent(&text, entry->total.period, all->period);
	strbuf_printf(&text, "%s passes through it.\n\n",
		      own_name_of_the_time(event));
	fputs(text.data, c->out);
	own_text_head(c->rows, c->input->columns, &c->line);
	strbuf_trim_end(&c->line.text);
	fprintf(c->out, "%s\n", c->line.text.data);
	for (size_t i = 0; i < shown; i++)
		put_row(c, browser->rows.data[i]);
	if (shown < browser->rows.count) {
		fprintf(c->out, "%zu other rows are not shown:\n",
			browser->rows.count - shown);
		put_where_all_are(c, "has them");
	}
	c->is_recursive |= c->rows->made.callers.data[0].is_recursive;
}

static struct error *print_function(struct callers *c,
				    const struct own_entry *entry)
{
	const struct zoom function = { .kind = ZOOM_FUNCTION,
				       .id = (int32_t)entry->line,
				       .name = entry->name };
	struct error *error = own_rows_show_callers(c->rows, &function);

	if (!error)
		put_function(c, entry);
	return error;
}

static void put_legend(const struct callers *c)
{
	fputs("\n'<' calls the function in the row above it.\n", c->out);
	if (c->is_recursive)
		fputs("Recursion is folded: each line of it stands once.\n",
		      c->out);
	if (c->is_cut) {
		fputs("'+' has callers that are not shown: each has less than 5 % of the\nfunction, or they are too many.\n",
		      c->out);
		put_where_all_are(c, "opens them");
	}
}

void callers_print_rest(size_t count, FILE *out)
{
	fprintf(out,
		"%zu other function%s called so; name:file.py or file.py:37 means one.\n",
		count, count == 1 ? " is" : "s are");
}

static struct error *print_all(struct callers *c)
{
	entry_vec functions = {};
	bool has_native = false;
	struct error *error = find_functions(c, &functions, &has_native);

	if (!error && !functions.count)
		error = none_called(c, has_native);
	for (size_t i = 0; i < functions.count && i < SHOWN_MAX && !error; i++) {
		if (i)
			fputc('\n', c->out);
		error = print_function(c, functions.data[i]);
	}
	if (!error)
		put_legend(c);
	if (!error && functions.count > SHOWN_MAX)
		callers_print_rest(functions.count - SHOWN_MAX, c->out);
	vec_deinit(&functions);
	return error;
}

static struct error *print_one(struct callers *c)
{
	vec_for_each(entry, &c->rows->made.own->functions) {
		struct error *error;

		if (!entry->is_python || entry->name != c->name ||
		    entry->line != c->def)
			continue;
		error = print_function(c, entry);
		if (!error)
			put_legend(c);
		return error;
	}
	return NULL;
}

static struct error *print(struct callers *c)
{
	const struct profile *profile = c->profile;
	const struct answer_input *input = c->input;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_sources_ struct sources sources = {
		.symfs = input->symfs,
		.recorded = input->recorded,
		.recordings = source_recordings_all(profile),
	};
	const struct answer_options options = {
		.columns = input->columns,
		.folder = folder,
		.source = sources_answer_line,
		.source_arg = &sources,
		.is_filtered = input->is_filtered,
	};
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	struct error *error;

	setlocale(LC_CTYPE, "");
	error = own_rows_create(profile, input->event, &options, NULL, &rows);
	c->rows = rows;
	c->line = (struct line)LINE_INIT;
	/* The window: what is in it is opened and measured. */
	if (!error)
		error = own_rows_resize(rows, ROWS_MAX);
	if (!error)
		error = c->word ? print_all(c) : print_one(c);
	line_deinit(&c->line);
	sources_tell(&sources, &notes);
	if (!error && notes.len)
		fprintf(c->out, "\n%s", notes.data);
	if (!error && (fflush(c->out) || ferror(c->out)))
		error = error_os(errno, NULL, "cannot write the report");
	return error;
}

struct error *callers_print(const struct profile *profile,
			    const struct answer_input *input, const char *word,
			    FILE *out)
{
	struct callers callers = { .profile = profile,
				   .input = input,
				   .word = word,
				   .out = out };

	return print(&callers);
}

struct error *callers_print_function(const struct profile *profile,
				     const struct answer_input *input,
				     uint32_t name, uint32_t def, FILE *out)
{
	struct callers callers = { .profile = profile,
				   .input = input,
				   .name = name,
				   .def = def,
				   .out = out };

	return print(&callers);
}

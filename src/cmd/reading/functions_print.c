// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/functions_print.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cmd/reading/callers_print.h"
#include "explore/listing.h"
#include "explore/no_python_listing.h"
#include "explore/python_listing.h"
#include "explore/sources.h"
#include "profile/spent.h"
#include "view/answer.h"
#include "view/fit.h"
#include "view/own_name.h"
#include "view/shell_word.h"

/* More functions of one name are counted. */
enum { SHOWN_MAX = 5 };

struct functions {
	const struct profile *profile;
	const struct answer_input *input;
	const struct name_list *words;
	struct weights *weights;
	struct place_names *names;
	struct sources sources;
	struct listing_options options;
	struct listing listing;
	FILE *out;
	/* A part was printed. */
	bool has_any;
	/* Words that call something, behind commas, and how many. */
	struct strbuf called;
	size_t called_count;
};

/* --- What the words call ------------------------------------------------ */

static struct error *find_parts(const struct functions *f, const char *word,
				struct annotate_parts *ret)
{
	bool called;

	return annotate_words_find(f->weights, word, false, false, ret,
				   &called);
}

static bool has_native(const struct annotate_parts *parts)
{
	vec_for_each(part, parts)
		if (part->kind == ANNOTATE_NATIVE)
			return true;
	return false;
}

static struct error *find_native(const struct functions *f, bool *ret)
{
	struct error *error = NULL;

	*ret = false;
	for (size_t i = 0; i < f->words->count && !error && !*ret; i++) {
		struct annotate_parts parts = {};

		error = find_parts(f, f->words->values[i], &parts);
		*ret = has_native(&parts);
		vec_deinit(&parts);
	}
	return error;
}

/* --- Text --------------------------------------------------------------- */

static void flush_listing(struct functions *f)
{
	struct strbuf *text = &f->listing.text;

	if (f->has_any && text->len)
		fputc('\n', f->out);
	f->has_any |= text->len != 0;
	fwrite(text->data, 1, text->len, f->out);
	strbuf_clear(text);
}

/* A file is not called, and nobody asks who calls a module's body. */
static bool has_callers(const struct functions *f,
			const struct annotate_part *part)
{
	return part->kind != ANNOTATE_FILE &&
	       !spent_is_module_body(profile_string(f->profile, part->name, ""));
}

static struct error *put_part(struct functions *f,
			      const struct annotate_part *part)
{
	struct error *error;

	f->options.only_hottest = part->kind != ANNOTATE_LINE;
	error = python_listing_put(&f->listing, part);
	if (error)
		return error;
	flush_listing(f);
	if (!has_callers(f, part))
		return NULL;
	fputc('\n', f->out);
	return callers_print_function(f->profile, f->input, part->name,
				      part->def, f->out);
}

/* What is no function may be the row of time without any. */
static struct error *put_no_python(struct functions *f, const char *word)
{
	const struct own_entry *entry = no_python_find(
		f->profile, f->weights->events.data[0].own, word);

	if (entry) {
		no_python_listing_put(&f->listing, entry);
		flush_listing(f);
	} else if (!strcmp(word, OWN_NAME_NO_PYTHON)) {
		return error_create(ERROR_NOT_FOUND,
				    "all samples have Python code, so there is no '%s'",
				    word);
	}
	return NULL;
}

static void note_called(struct functions *f, const char *word)
{
	strbuf_printf(&f->called, "%s%s", f->called_count ? "," : "", word);
	f->called_count++;
}

static struct error *put_word(struct functions *f, const char *word)
{
	struct annotate_parts parts = {};
	struct error *error = find_parts(f, word, &parts);

	if (!error && !parts.count)
		error = put_no_python(f, word);
	else if (!error)
		note_called(f, word);
	for (size_t i = 0; i < parts.count && i < SHOWN_MAX && !error; i++)
		error = put_part(f, &parts.data[i]);
	if (!error && parts.count > SHOWN_MAX) {
		fputc('\n', f->out);
		callers_print_rest(parts.count - SHOWN_MAX, f->out);
	}
	vec_deinit(&parts);
	return error;
}

/* By how much shares may be off. */
static void put_doubts(struct functions *f)
{
	const struct answer_options options = {
		.is_filtered = f->input->is_filtered,
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, lines = STRBUF_INIT;

	answer_doubts(f->profile, f->input->event, &options,
		      f->weights->events.data[0].own, &text);
	fit_lines(&lines, text.data, f->input->columns);
	if (lines.len)
		fprintf(f->out, "\n%s", lines.data);
}

static void put_next(struct functions *f)
{
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t columns = f->input->columns_given;

	if (!f->called_count)
		return;
	strbuf_puts(&recording, f->input->recording);
	if (f->input->event_name) {
		strbuf_puts(&recording, " --event ");
		shell_word(f->input->event_name, &recording);
	}
	answer_name_command(recording.data, columns, "All lines:         ",
			    f->called_count > 1 ? "annotate -S" : "annotate",
			    f->called.data, &text);
	answer_name_command(recording.data, columns, "As perf's table:   ",
			    "report --stdio -S", f->called.data, &text);
	fprintf(f->out, "\n%s", text.data);
}

static struct error *put_all(struct functions *f)
{
	struct error *error = NULL;

	for (size_t i = 0; i < f->words->count && !error; i++)
		error = put_word(f, f->words->values[i]);
	if (error || !f->has_any)
		return error;
	put_doubts(f);
	put_next(f);
	if (fflush(f->out) || ferror(f->out))
		error = error_os(errno, NULL, "cannot write the report");
	return error;
}

/* --- All ---------------------------------------------------------------- */

static struct error *begin(struct functions *f, const char *folder)
{
	struct error *error = weights_create(f->profile, &f->input->event, 1,
					     &f->weights);

	if (!error)
		error = place_names_create(f->profile, folder, &f->names);
	if (error)
		return error;
	f->listing = (struct listing){ .profile = f->profile,
				       .weights = f->weights,
				       .options = &f->options,
				       .sources = &f->sources,
				       .names = f->names };
	listing_init(&f->listing);
	return NULL;
}

static void end(struct functions *f)
{
	if (f->listing.profile)
		listing_deinit(&f->listing);
	strbuf_deinit(&f->called);
	weights_destroy(f->weights);
	place_names_destroy(f->names);
	sources_deinit(&f->sources);
}

struct error *functions_print(const struct profile *profile,
			      const struct answer_input *input,
			      const struct name_list *words, FILE *out,
			      bool *done)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	struct functions f = {
		.profile = profile,
		.input = input,
		.words = words,
		.sources = { .symfs = input->symfs,
			     .recorded = input->recorded,
			     .recordings = source_recordings_all(profile) },
		.options = { .columns = input->columns },
		.out = out,
		.called = STRBUF_INIT,
	};
	struct error *error = begin(&f, folder);
	bool native = false;

	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	if (!error)
		error = find_native(&f, &native);
	*done = !error && !native;
	if (*done)
		error = put_all(&f);
	end(&f);
	return error;
}

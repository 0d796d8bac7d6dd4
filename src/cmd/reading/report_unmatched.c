// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/report_unmatched.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/reading/answer_print.h"
#include "cmd/reading/unmatched_tasks.h"
#include "view/own_name.h"
#include "view/report.h"
#include "view/unmatched.h"

static uint32_t dso_hit(const struct profile *profile, size_t row)
{
	uint32_t stack = profile->samples.stack[row];

	if (stack == PROFILE_NONE)
		return PROFILE_NONE;
	return profile_frame(profile, profile->stack_frames.data[stack])->dso;
}

/* The files of the frames, by the samples that hit them. */
static struct error *list_dsos(const struct profile *profile,
			       unmatched_thing_vec *ret)
{
	_cleanup_free_ uint64_t *hits =
		calloc(profile->dsos.count + 1, sizeof(*hits));
	_cleanup_free_ bool *used =
		calloc(profile->dsos.count + 1, sizeof(*used));

	if (!hits || !used)
		return error_no_memory();
	vec_for_each(frame, &profile->frames)
		if (frame->dso != PROFILE_NONE)
			used[frame->dso] = true;
	for (size_t i = 0; i < profile->samples.rows; i++) {
		uint32_t dso = dso_hit(profile, i);

		if (dso != PROFILE_NONE)
			hits[dso] += profile->samples.count[i];
	}
	for (size_t i = 0; i < profile->dsos.count; i++) {
		struct unmatched_thing thing = {
			.name = profile_string(
				profile, profile->dsos.data[i].short_name,
				NULL),
			.weight = hits[i],
		};

		if (used[i] && !vec_push(ret, thing))
			return error_no_memory();
	}
	return NULL;
}

static struct error *tell_dsos(const struct report_options *o,
			       const struct profile *profile,
			       struct strbuf *out)
{
	unmatched_thing_vec things = {};
	struct error *error = NULL;

	if (o->dsos.count)
		error = list_dsos(profile, &things);
	if (!error)
		unmatched_names("no sample is in a file called", &o->dsos,
				&things, out);
	vec_deinit(&things);
	return error;
}

/* Says why the text found nothing. by_name: it is to be what entries show. */
static struct error *tell_function(const struct report_options *o,
				   const struct profile *profile,
				   const char *word, const char *none,
				   bool by_name, struct strbuf *out)
{
	enum symbol_place wanted = by_name && !o->children
					   ? SYMBOL_HIT
					   : SYMBOL_CALLS;
	struct symbol_near near;
	struct error *error = symbol_near_init(&near, word,
					       o->quirks.whole_names_only);

	if (!error)
		error = symbol_near_offer_profile(&near, profile,
						  o->interpreter_frames);
	if (!error)
		unmatched_symbol(&near, wanted, none, out);
	if (!error && wanted == SYMBOL_HIT && near.place == SYMBOL_CALLS) {
		strbuf_truncate(out, out->len - 1);
		strbuf_puts(out, "; to see it, leave out --no-children\n");
	}
	symbol_near_deinit(&near);
	return error;
}

static bool has_true(const bool *values, size_t count)
{
	return memchr(values, true, count) != NULL;
}

static struct error *tell_regex(const struct report_options *o,
				const struct profile *profile,
				const char *regex, struct strbuf *out)
{
	_cleanup_free_ bool *matches = NULL;
	struct error *error;

	if (!regex)
		return NULL;
	error = symbol_matches(profile, regex, report_symbol_rule(o),
			       &matches);
	if (error || has_true(matches, profile->symbols.count))
		return error;
	return tell_function(o, profile, regex, "no function matches", false,
			     out);
}

static struct error *tell_symbol_filter(const struct report_options *o,
					const struct profile *profile,
					struct strbuf *out)
{
	struct symbol_choice *choice = NULL;
	struct error *error;
	bool found;

	if (!o->symbol_filter)
		return NULL;
	error = symbol_choose_text(profile, o->symbol_filter,
				   report_symbol_rule(o), &choice);
	if (error)
		return error;
	found = has_true(choice->functions, profile->symbols.count);
	symbol_choice_destroy(choice);
	return found ? NULL
		     : tell_function(o, profile, o->symbol_filter,
				     "no function has in its name", false,
				     out);
}

/* A row of the first screen, where it was not found as a function. */
static void tell_no_python(const struct input *input, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;

	input_put_words(input, &recording);
	answer_name_command(recording.data, 0,
			    REPORT_NO_FUNCTION " '" OWN_NAME_NO_PYTHON
					       "'; what it was spent in: ",
			    "annotate", OWN_NAME_NO_PYTHON, out);
}

static struct error *tell_symbol(const struct report_options *o,
				 const struct input *input,
				 const struct profile *profile,
				 const char *word, bool has_no_python,
				 struct strbuf *out)
{
	size_t before = out->len;
	struct error *error = tell_function(o, profile, word,
					    REPORT_NO_FUNCTION, true, out);

	if (error || out->len == before || o->quirks.whole_names_only ||
	    strcmp(word, OWN_NAME_NO_PYTHON))
		return error;
	strbuf_truncate(out, before);
	if (!has_no_python)
		tell_no_python(input, out);
	return NULL;
}

static struct error *tell_functions(const struct report_options *o,
				    const struct input *input,
				    const struct profile *profile,
				    bool has_no_python, struct strbuf *out)
{
	struct error *error = NULL;

	for (size_t i = 0; i < o->symbols.count && !error; i++)
		error = tell_symbol(o, input, profile, o->symbols.values[i],
				    has_no_python, out);
	if (!error)
		error = tell_symbol_filter(o, profile, out);
	if (!error)
		error = tell_regex(o, profile, o->parent, out);
	if (!error)
		error = tell_regex(o, profile, o->ignore_callees, out);
	return error;
}

struct error *report_unmatched(const struct report_options *options,
			       const struct input *input,
			       const struct profile *profile,
			       const struct converter *converter,
			       bool has_no_python, struct strbuf *out)
{
	const struct id_list pids = { input->pid_list.data,
				      input->pid_list.count };
	const struct id_list tids = { input->tid_list.data,
				      input->tid_list.count };
	const struct name_list *comms = options->comms.count ?
						&options->comms :
						&input->options.comms;
	struct error *error;

	error = unmatched_tasks(converter_seen_tasks(converter), comms, &pids,
				&tids, out);
	/* Where other filters left nothing, nothing can be found. */
	if (error || !profile->samples.rows)
		return error;
	error = tell_dsos(options, profile, out);
	return error ? error : tell_functions(options, input, profile,
					      has_no_python, out);
}

// SPDX-License-Identifier: GPL-2.0-only
/* `kaa flamegraph`: a recording as a page or a picture for a browser. */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/flame_file.h"
#include "cmd/reading/input.h"
#include "cmd/reading/one_event.h"
#include "cmd/reading/show.h"
#include "flame/flame_page.h"
#include "flame/flame_tree.h"
#include "profile/library_files.h"
#include "profile/own_time.h"
#include "profile/sample_faults.h"
#include "sys/event_parse.h"
#include "view/answer.h"
#include "view/fault_text.h"
#include "view/place_name.h"
#include "view/spent_text.h"
#include "view/symbol_match.h"
#include "view/symbol_near.h"
#include "view/text.h"

struct flamegraph_settings {
	struct input input;
	struct flame_file file;
	const char *event;
	/* A function, as people call it: the graph begins there. NULL: all. */
	const char *from;
	struct flame_options options;
	struct flame_head head;
	struct progress progress;
};

/* --- What stands above the boxes ---------------------------------------- */

/* Columns of a line of the summary, which a page may break. */
enum { SUMMARY_COLUMNS = 200 };

struct head_texts {
	struct strbuf title;
	struct strbuf summary;
	struct strbuf notes;
};

static void head_texts_deinit(struct head_texts *texts)
{
	strbuf_deinit(&texts->title);
	strbuf_deinit(&texts->summary);
	strbuf_deinit(&texts->notes);
}

/* The title, and the lines about the recording. */
static struct error *put_summary(const struct flamegraph_settings *s,
				 const struct profile *profile, uint32_t event,
				 struct own_time *own, struct head_texts *texts)
{
	const struct answer_options options = {
		.columns = SUMMARY_COLUMNS,
		.folder = s->options.folder,
		.without_libraries = s->options.without_libraries,
		.is_filtered = input_is_filtered(&s->input),
		.is_document = true,
	};
	_cleanup_place_names_ struct place_names *names = NULL;
	struct strbuf pieces[ANSWER_PIECES];
	struct error *error =
		place_names_create(profile, options.folder, &names);

	for (size_t i = 0; i < ANSWER_PIECES; i++)
		pieces[i] = (struct strbuf)STRBUF_INIT;
	if (!error)
		error = answer_summary(profile, event, &options, own, names,
				       pieces);
	strbuf_printf(&texts->title, "%s - flame graph",
		      pieces[ANSWER_PROGRAM].data);
	for (size_t i = 0; i < ANSWER_PIECES; i++) {
		if (pieces[i].len)
			strbuf_printf(&texts->summary, "%s%s", i ? "   " : "",
				      pieces[i].data);
		strbuf_deinit(&pieces[i]);
	}
	strbuf_puts(&texts->summary, "\nSpent in: ");
	spent_text_kinds(profile, event, own, &texts->summary);
	strbuf_putc(&texts->summary, '\n');
	return error;
}

/* What is wrong with the recording, and what of it is not drawn. */
static struct error *put_notes(const struct profile *profile, uint32_t event,
			       struct strbuf *out)
{
	_cleanup_faults_ struct faults faults = {};
	uint64_t samples;
	struct error *error = sample_faults(profile, event, &samples, &faults);

	if (error)
		return error;
	for (size_t i = 0; i < profile->events.count; i++) {
		const struct profile_event *other = &profile->events.data[i];

		if (i != event && other->samples &&
		    event_kind_is_shown(other->kind))
			strbuf_printf(out,
				      "Not shown here: %" PRIu64
				      " sample%s of %s\n",
				      other->samples, plural(other->samples),
				      profile_string(profile, other->name, ""));
	}
	fault_notes(&faults, samples, "", out);
	return NULL;
}

static bool has_python(const struct own_time *own)
{
	vec_for_each(function, &own->functions)
		if (function->is_python)
			return true;
	return false;
}

static struct error *make_head(struct flamegraph_settings *s,
			       const struct profile *profile, uint32_t event,
			       struct head_texts *texts)
{
	const struct own_time_options options = {
		.event = event,
		.without_libraries = s->options.without_libraries,
	};
	_cleanup_own_time_ struct own_time *own = NULL;
	struct error *error = own_time_select(profile, &options, &own);

	if (!error)
		error = put_summary(s, profile, event, own, texts);
	if (!error)
		error = put_notes(profile, event, &texts->notes);
	if (!error)
		answer_notes(profile, event, own, &texts->notes);
	if (!error)
		error = strbuf_error(&texts->title);
	if (!error)
		error = strbuf_error(&texts->summary);
	s->head.title = texts->title.data;
	s->head.summary = texts->summary.data;
	s->head.notes = texts->notes.data;
	/* Without Python code the rest is all there is to see. */
	s->head.native |= own && !has_python(own);
	s->head.unit = profile->events.data[event].unit;
	return error ? error : strbuf_error(&texts->notes);
}

/* --- Where it begins ---------------------------------------------------- */

static struct error *none_called(const struct flamegraph_settings *s,
				 const struct profile *profile)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct symbol_near near;
	struct error *error = symbol_near_init(&near, s->from, false);

	if (!error)
		error = symbol_near_offer_profile(
			&near, profile, s->options.interpreter_frames);
	if (!error)
		symbol_near_format(&near,
				   "no sample is in a function called", &text);
	symbol_near_deinit(&near);
	return error ? error : error_create(ERROR_NOT_FOUND, "%s", text.data);
}

/* *ret by frame, to be freed: it is of a function that --from names. */
static struct error *find_from(const struct flamegraph_settings *s,
			       const struct profile *profile, bool **ret)
{
	const struct name_list words = { (const char *const *)&s->from, 1 };
	struct symbol_choice *choice;
	struct error *error = symbol_choose_words(
		profile, &words, SYMBOL_RULE_PEOPLE, &choice);
	bool *from;

	if (error)
		return error;
	from = calloc(profile->frames.count + 1, sizeof(*from));
	for (size_t i = 0; from && i < profile->frames.count; i++)
		from[i] = symbol_choice_has(choice, profile,
					    profile_frame(profile, (uint32_t)i),
					    false);
	symbol_choice_destroy(choice);
	*ret = from;
	return from ? NULL : error_no_memory();
}

/* That some function of these is drawn. */
static struct error *check_from(const struct flamegraph_settings *s,
				const struct profile *profile, const bool *from)
{
	_cleanup_free_ bool *libraries = NULL;
	struct error *error = library_files_find(profile, &libraries);
	bool is_found = false;

	for (uint32_t i = 0; !error && i < profile->frames.count; i++) {
		const struct profile_frame *frame = profile_frame(profile, i);

		if (from[i] && (frame->kind != PROFILE_FRAME_PYTHON ||
				!library_files_has(libraries, frame)))
			return NULL;
		is_found |= from[i];
	}
	return error || !is_found ?
		       error :
		       error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is in a library, whose functions --no-libraries leaves out: use --from or --no-libraries, not both",
				    s->from);
}

/* How much of all is drawn, before all other notes. */
static struct error *put_from(struct flamegraph_settings *s,
			      const struct flame_tree *tree,
			      const struct profile_event *event,
			      struct strbuf *notes)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_puts(&out, "Only ");
	text_append(&out, s->from, strlen(s->from));
	strbuf_puts(&out, " and what it calls: ");
	strbuf_percent(&out, tree->all[FLAME_AFTER].samples, event->samples);
	strbuf_puts(&out, " of the samples\n");
	strbuf_append(&out, notes->data, notes->len);
	strbuf_deinit(notes);
	*notes = out;
	s->head.notes = notes->data;
	return strbuf_error(notes);
}

/* --- The command -------------------------------------------------------- */

static struct error *make_tree(struct flamegraph_settings *s,
			       const struct profile *profile, uint32_t event,
			       struct flame_tree **ret)
{
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	_cleanup_free_ bool *from = NULL;
	struct error *error =
		s->from ? find_from(s, profile, &from) : NULL;

	if (!error && from && s->options.without_libraries)
		error = check_from(s, profile, from);
	if (error)
		return error;
	/* A page leaves out what its user does not want to see. */
	s->options.native = !s->file.svg || s->head.native;
	s->options.threads = !s->file.svg || s->head.threads;
	s->options.from = from;
	error = flame_tree_create(&s->options, &tree);
	if (!error)
		error = flame_tree_add(tree, profile, event, FLAME_AFTER);
	if (!error && from && !tree->all[FLAME_AFTER].samples)
		error = none_called(s, profile);
	if (!error)
		error = flame_tree_finish(tree);
	if (!error)
		*ret = take_ptr(tree);
	return error;
}

static struct error *flamegraph(void *arg, struct converter *converter)
{
	struct flamegraph_settings *s = arg;
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	_cleanup_(head_texts_deinit) struct head_texts texts = {
		STRBUF_INIT, STRBUF_INIT, STRBUF_INIT
	};
	const struct profile_options options = { .aggregate = true };
	struct error *error = convert_to_profile(converter, &options, &profile);
	uint32_t event;

	progress_end(&s->progress);
	if (!error)
		error = one_event_choose(profile, s->event,
					 answer_event(profile), "drawn",
					 &event);
	if (error)
		return error;
	if (!profile->events.count || !profile->events.data[event].samples)
		return error_create(ERROR_NOT_FOUND,
				    "there is no sample to be drawn");
	error = make_head(s, profile, event, &texts);
	if (!error)
		error = make_tree(s, profile, event, &tree);
	if (!error && s->from)
		error = put_from(s, tree, &profile->events.data[event],
				 &texts.notes);
	return error ? error : flame_file_write(&s->file, tree, &s->head);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct flamegraph_settings *s = arg;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	struct error *error = input_take_arguments(
		&s->input, args, " and the file to write with -o");

	if (error)
		return error;
	/* The summary shows names as far as the locale knows their letters. */
	setlocale(LC_CTYPE, "C.UTF-8");
	s->options.folder = folder;
	error = flame_file_choose(&s->file);
	return error ? error :
		       show_input(&s->input, &s->progress, flamegraph, s,
				  exit_code);
}

static void set_defaults(void *arg)
{
	struct flamegraph_settings *s = arg;

	input_set_defaults(&s->input);
}

static void deinit(void *arg)
{
	struct flamegraph_settings *s = arg;

	input_deinit(&s->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct flamegraph_settings),
	OPT_GROUP("Output"),
	OPT_STRING('o', "output", struct flamegraph_settings, file.path, "<file>",
		   "write to this file, whose name ends in .html or .svg (default: flamegraph.html; '-': standard output)"),
	OPT_BOOL(0, "svg", struct flamegraph_settings, file.svg,
		 "write a picture (default: flamegraph.svg) instead of a page"),
	OPT_GROUP("Boxes"),
	OPT_BOOL(0, "native", struct flamegraph_settings, head.native,
		 "show functions in C and the kernel (a page has a button for this)"),
	OPT_BOOL(0, "lines", struct flamegraph_settings, options.lines,
		 "draw a box for each line of a Python function"),
	OPT_BOOL(0, "threads", struct flamegraph_settings, head.threads,
		 "draw threads side by side (a page has a list for this)"),
	OPT_BOOL(0, "flame", struct flamegraph_settings, head.flame,
		 "put callers at the bottom (a page has a button for this)"),
	OPT_BOOL(0, "no-libraries", struct flamegraph_settings,
		 options.without_libraries,
		 "leave out functions of the standard library and of installed packages: their time is that of the functions of your own files that call them"),
	OPT_BOOL(0, "interpreter-frames", struct flamegraph_settings,
		 options.interpreter_frames,
		 "show the interpreter's own functions and the start of the program, too"),
	OPT_GROUP("Samples"),
	OPT_STRING(0, "from", struct flamegraph_settings, from, "<function>",
		   "use only samples of this function and what it calls, and begin at it; also name:file.py, file.py:37 or file.py"),
	OPT_STRING(0, "event", struct flamegraph_settings, event, "<event>",
		   "use only samples of this event (default: the first of waits, or else of the processor's time)",
		   .values = event_words),
	INPUT_COMMS_OPTION(struct flamegraph_settings),
	INPUT_FILTER_OPTIONS(struct flamegraph_settings),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct flamegraph_settings),
	OPT_ABSENT(0, "mode", OPTION_ABSENT_MODE),
	OPT_ABSENT(0, "format", "'-o FILE.html' writes a page, '-o FILE.svg' a picture"),
	OPT_END(),
};

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "draw a recording as a flame graph for a browser",
	.usage = (const char *const[]){ "[<options>]", NULL },
	.description =
		"Writes one file that any browser opens, without a network: a page that searches and zooms (.html), or a picture (.svg). "
		"A box is a function; its width is its share of all samples, and what it calls stands below it. "
		"Python functions come first: those in C and the kernel can be shown, too. "
		"The interpreter's own functions, and those that only start a program, are left out.\n"
		"\n"
		"A file that is there already is written over only if it is a flame graph of kaa.\n",
	.options = options,
	.examples = (const char *const[]){
		"kaa flamegraph\twrite flamegraph.html",
		"kaa flamegraph --from Orders.dedupe\tdraw what this function does",
		"kaa flamegraph --native -o slow.svg\tdraw a picture, with functions in C",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		"flamegraph.html, flamegraph.svg\tThe page or the picture that is written.",
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_HOME, NULL },
	.settings_size = sizeof(struct flamegraph_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};

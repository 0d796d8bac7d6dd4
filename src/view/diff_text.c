// SPDX-License-Identifier: GPL-2.0-only
#include "view/diff_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "profile/installed_path.h"
#include "profile/library_files.h"
#include "view/answer.h"
#include "view/diff_screen.h"
#include "view/event_words.h"
#include "view/fit.h"
#include "view/library_time.h"
#include "view/own_name.h"
#include "view/printable.h"
#include "view/text.h"

enum {
	COLUMNS_MIN = 60,
	/* Recordings of a side, and other things, that get a line each. */
	RUNS_MAX = 4,
	FILES_MAX = 3,
	EVENTS_MAX = 4,
	/* Functions that the first sentence names. */
	NAMED_MAX = 2,
	NAME_MAX_WIDTH = 30,
};

static const struct profile_event *event_of_diff(const struct profile *profile,
						 const struct own_diff *diff)
{
	return &profile->events.data[diff->runs.data[0].event];
}

static const struct profile_event *event_of(const struct diff_screen *s)
{
	return event_of_diff(s->profile, s->diff);
}

static bool is_time(const struct diff_screen *s)
{
	return event_of(s)->unit == EVENT_NANOSECONDS;
}

/* Three decimals of the largest value, and fewer where it is long. */
struct diff_unit diff_text_unit(const struct profile *profile,
				const struct own_diff *diff,
				enum own_diff_by by)
{
	bool is_time = event_of_diff(profile, diff)->unit == EVENT_NANOSECONDS;
	double most = fmax(diff->all.before, diff->all.after);
	struct diff_unit unit = { 1, 3, "", "" };

	if (by == OWN_DIFF_BY_SHARE)
		return (struct diff_unit){ 100, 1, " points", "%" };
	if (is_time && most >= 1e9)
		unit = (struct diff_unit){ 1e-9, 3, " s", "s" };
	else if (is_time)
		unit = (struct diff_unit){ 1e-6, 3, " ms", "ms" };
	else if (most >= 1e9)
		unit = (struct diff_unit){ 1e-9, 3, " G", "G" };
	else if (most >= 1e6)
		unit = (struct diff_unit){ 1e-6, 3, " M", "M" };
	for (most *= unit.factor; most >= 10 && unit.decimals; most /= 10)
		unit.decimals--;
	return unit;
}

/* --- The recordings ----------------------------------------------------- */

static size_t width_from(const struct diff_screen *s, size_t begin)
{
	return printable_width(s->text.data + begin, s->text.len - begin);
}

/* On a line of its own where the one from *begin on has no room. */
static void put_piece(struct diff_screen *s, size_t *begin, const char *piece)
{
	size_t width = 2 + printable_width(piece, strlen(piece));

	if (width == 2)
		return;
	if (width_from(s, *begin) + width > s->columns) {
		strbuf_putc(&s->text, '\n');
		*begin = s->text.len;
		strbuf_fill(&s->text, ' ', 6);
	}
	strbuf_printf(&s->text, "  %s", piece);
}

/* The recording's file, if there is room. */
static void put_path(struct diff_screen *s, size_t begin, const char *path)
{
	strbuf_clear(&s->word);
	text_append(&s->word, path, strlen(path));
	if (width_from(s, begin) + printable_width(s->word.data, s->word.len) +
		    4 <=
	    s->columns)
		strbuf_printf(&s->text, "  (%s)", s->word.data);
	strbuf_putc(&s->text, '\n');
}

static bool fit_in_a_line(const struct diff_screen *s,
			  const struct strbuf *pieces)
{
	size_t width = 6;

	for (size_t k = 0; k < ANSWER_PIECES; k++)
		width += 2 + printable_width(pieces[k].data, pieces[k].len);
	return width <= s->columns;
}

static void put_pieces(struct diff_screen *s, bool is_after,
		       const struct strbuf *pieces, const char *path)
{
	const char *python = pieces[ANSWER_PYTHON].data;
	size_t begin = s->text.len;

	/* The version alone tells enough where there is little room. */
	if (s->has_little_room && !strncmp(python, "Python ", 7))
		python += 7;
	strbuf_printf(&s->text, "%-6s", is_after ? "after" : "before");
	for (size_t k = 0; k < ANSWER_PIECES; k++)
		put_piece(s, &begin,
			  k == ANSWER_PYTHON ? python : pieces[k].data);
	put_path(s, begin, path);
}

/* "before  orders.py  Python 3.12.3  3.18 s CPU  3,180 samples, none lost" */
static struct error *put_run(struct diff_screen *s, size_t i, bool is_measured)
{
	const struct own_diff_run *run = &s->diff->runs.data[i];
	const struct answer_options options = { .columns = s->columns,
						.is_filtered = true,
						.is_compared =
							!s->options->is_filtered };
	bool is_after = s->diff->noise.data[i].is_after;
	struct strbuf pieces[ANSWER_PIECES];
	struct error *error;

	for (size_t k = 0; k < ANSWER_PIECES; k++)
		pieces[k] = (struct strbuf)STRBUF_INIT;
	error = answer_summary(s->profile, run->event, &options, run->own,
			       s->names, pieces);
	if (is_measured)
		s->has_little_room |= !fit_in_a_line(s, pieces);
	else
		put_pieces(s, is_after, pieces, s->options->paths[i]);
	if (!s->programs[is_after].len)
		strbuf_append(&s->programs[is_after],
			      pieces[ANSWER_PROGRAM].data,
			      pieces[ANSWER_PROGRAM].len);
	for (size_t k = 0; k < ANSWER_PIECES; k++)
		strbuf_deinit(&pieces[k]);
	return error;
}

/* is_measured: nothing is written, to see whether each has room in a line. */
static struct error *put_side(struct diff_screen *s, bool is_after,
			      bool is_measured)
{
	struct error *error = NULL;
	size_t count = 0;

	for (size_t i = 0; !error && i < s->diff->runs.count; i++) {
		if (s->diff->noise.data[i].is_after != is_after)
			continue;
		if (count++ < RUNS_MAX)
			error = put_run(s, i, is_measured);
	}
	if (count > RUNS_MAX && !is_measured)
		strbuf_printf(&s->text, "%-6s  %zu more recording%s\n",
			      is_after ? "after" : "before", count - RUNS_MAX,
			      plural(count - RUNS_MAX));
	return error;
}

/* --- The answer --------------------------------------------------------- */

static double change_of(const struct diff_value *value)
{
	return value->after - value->before;
}

static void put_amount(const struct diff_screen *s, double value,
		       struct strbuf *out)
{
	double scaled = fabs(value) * s->unit.factor;
	int decimals = s->unit.decimals;

	/* Two digits tell enough in a sentence. */
	if (decimals > 2 && scaled >= 0.1)
		decimals = 2;
	strbuf_printf(out, "%.*f%s", decimals, scaled, s->unit.name);
}

/* "dedupe +0.40 s" into s->word. */
static void word_cause(struct diff_screen *s,
		       const struct own_diff_entry *entry)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	double change = change_of(&entry->own);
	size_t width;

	diff_name_function(s, entry);
	strbuf_append(&name, s->word.data, s->word.len);
	width = printable_width(name.data, name.len);
	strbuf_clear(&s->word);
	fit_name(&s->word, name.data,
		width < NAME_MAX_WIDTH ? width : NAME_MAX_WIDTH);
	/* A cut name is filled up. */
	strbuf_trim_end(&s->word);
	strbuf_puts(&s->word, change < 0 ? " -" : " +");
	put_amount(s, change, &s->word);
}

static bool all_as_before(const struct diff_screen *s)
{
	const struct diff_value *all = &s->diff->all;

	return change_of(all) == 0 || (!isnan(all->chance) && !all->is_real);
}

/*
 * ": dedupe +0.40 s, parse -0.10 s": the largest that are real. They are no reason
 * for what is as before.
 */
static size_t put_causes(struct diff_screen *s, size_t begin)
{
	bool are_reasons = s->options->by != OWN_DIFF_BY_TIME ||
			   !all_as_before(s) || diff_is_maybe(&s->diff->all);
	size_t count = 0;

	vec_for_each(entry, &s->diff->functions) {
		if (!entry->own.is_real)
			continue;
		word_cause(s, entry);
		if (count == NAMED_MAX ||
		    (count && width_from(s, begin) + s->word.len + 3 >
				      s->columns))
			break;
		strbuf_puts(&s->text, count++	     ? ", " :
						   are_reasons ? ": " :
								 ", but ");
		strbuf_append(&s->text, s->word.data, s->word.len);
	}
	return count;
}

static const char *event_name(const struct diff_screen *s)
{
	return profile_string(s->profile, event_of(s)->name, "");
}

/* It begins a sentence. */
static void put_what(struct diff_screen *s, const char *what)
{
	size_t begin = s->text.len;

	text_append(&s->text, what, strlen(what));
	if (is_time(s) && s->text.len > begin)
		s->text.data[begin] =
			(char)toupper((unsigned char)s->text.data[begin]);
}

/* "0.42 s (13 %) more CPU time after" */
static void put_all_change(struct diff_screen *s)
{
	const struct diff_value *all = &s->diff->all;
	const char *what = is_time(s) ? event_time_name(event_of(s)->kind) :
					event_name(s);
	double change = change_of(all);

	if (all_as_before(s)) {
		put_what(s, what);
		strbuf_puts(&s->text,
			    change == 0		  ? " as before" :
			    diff_is_maybe(all) ? " may have changed" :
						  " as before, as far as runs tell");
		return;
	}
	put_amount(s, change, &s->text);
	strbuf_printf(&s->text, " (%.*f %%) %s ",
		      fabs(change) < 0.1 * all->before,
		      100 * fabs(change) / all->before,
		      change > 0   ? "more" :
		      is_time(s) ? "less" :
				   "fewer");
	text_append(&s->text, what, strlen(what));
	strbuf_puts(&s->text, " after");
}

static bool may_have_changed(const struct diff_screen *s)
{
	vec_for_each(entry, &s->diff->functions)
		if (diff_is_maybe(&entry->own))
			return true;
	return false;
}

static void put_answer(struct diff_screen *s)
{
	size_t begin;

	strbuf_putc(&s->text, '\n');
	begin = s->text.len;
	if (s->options->by == OWN_DIFF_BY_TIME)
		put_all_change(s);
	else
		strbuf_puts(&s->text, "Shares");
	if (!put_causes(s, begin))
		strbuf_puts(&s->text,
			    may_have_changed(s) ?
				    ": no change of a function is certain" :
				    ": no function changed beyond the noise");
	strbuf_puts(&s->text, ".\n");
}

/* --- Notes -------------------------------------------------------------- */

static const char *base_name(const struct strbuf *path)
{
	const char *slash = path->len ? strrchr(path->data, '/') : NULL;

	return slash ? slash + 1 : path->len ? path->data : "";
}

/* As when the recording after is of a command that failed. False: they are one. */
static bool put_programs(struct diff_screen *s)
{
	const char *before = base_name(&s->programs[false]);
	const char *after = base_name(&s->programs[true]);

	if (!strcmp(before, after))
		return false;
	strbuf_printf(&s->text, "These are two programs: %s before, %s after.\n",
		      before, after);
	return true;
}

static void put_sides(struct diff_screen *s)
{
	diff_put_ways(s, !put_programs(s));
	if (s->options->why)
		strbuf_printf(&s->text, "%s\n", s->options->why);
	if (s->options->without_libraries)
		strbuf_puts(&s->text, ANSWER_WITHOUT_LIBRARIES);
	if (s->diff->runs.count == 2)
		strbuf_puts(&s->text,
			    "One run each: 5 % is taken for noise, more is 'real?'; three of each tell.\n");
}

static void put_files(struct diff_screen *s)
{
	size_t shown = 0, installed = 0, others = 0;

	vec_for_each(pair, &s->diff->files.list) {
		if (installed_path(profile_string(s->profile, pair->after,
						  ""))) {
			installed++;
			continue;
		}
		if (shown++ >= FILES_MAX) {
			others++;
			continue;
		}
		text_string(&s->text, s->profile, pair->before, "");
		strbuf_puts(&s->text, " is compared with ");
		text_string(&s->text, s->profile, pair->after, "");
		strbuf_putc(&s->text, '\n');
	}
	if (others)
		strbuf_printf(&s->text,
			      "%zu more file%s compared with the same place below another folder\n",
			      others, others == 1 ? " is" : "s are");
	if (s->diff->files.left_out)
		strbuf_printf(&s->text,
			      "%zu %s not looked for after: too many have such a name\n",
			      s->diff->files.left_out,
			      s->diff->files.left_out == 1 ? "file was" :
							     "files were");
	if (installed)
		strbuf_printf(&s->text,
			      "%zu file%s of packages or of Python %s of another installation after\n",
			      installed, plural(installed),
			      installed == 1 ? "is one" : "are those");
}

static bool is_compared(const struct diff_screen *s, uint32_t event)
{
	vec_for_each(run, &s->diff->runs)
		if (run->event == event)
			return true;
	return false;
}

static void put_events(struct diff_screen *s)
{
	size_t count = 0;

	for (uint32_t i = 0; i < s->profile->events.count; i++) {
		const struct profile_event *event =
			&s->profile->events.data[i];

		if (is_compared(s, i) || !event->samples ||
		    !event_kind_is_shown(event->kind) || count++ >= EVENTS_MAX)
			continue;
		strbuf_printf(&s->text,
			      "Not compared: %" PRIu64 " sample%s of ",
			      event->samples, plural(event->samples));
		text_string(&s->text, s->profile, event->name, "");
		strbuf_puts(&s->text, " in ");
		text_append(&s->text, s->options->paths[event->recording],
			    strlen(s->options->paths[event->recording]));
		strbuf_putc(&s->text, '\n');
	}
	if (count > EVENTS_MAX)
		strbuf_printf(&s->text, "Not compared: %zu more event%s\n",
			      count - EVENTS_MAX, plural(count - EVENTS_MAX));
}

static const char *cpu_of(const struct diff_screen *s, size_t run)
{
	uint32_t event = s->diff->runs.data[run].event;
	uint32_t recording = s->profile->events.data[event].recording;

	return s->profile->recordings.data[recording].metadata.cpu;
}

static void put_machines(struct diff_screen *s)
{
	size_t last = s->diff->runs.count - 1;
	const char *before = cpu_of(s, 0), *after = cpu_of(s, last);

	if (!before || !after || !strcmp(before, after))
		return;
	strbuf_puts(&s->text, "The processors differ: ");
	text_append(&s->text, before, strlen(before));
	strbuf_puts(&s->text, " before, ");
	text_append(&s->text, after, strlen(after));
	strbuf_puts(&s->text, " after\n");
}

/* Of either side: what changed may be theirs, and the program's own part in it small. */
static struct error *put_libraries(struct diff_screen *s)
{
	_cleanup_free_ bool *libraries = NULL;
	struct error *error;
	uint64_t theirs = 0;

	if (s->options->without_libraries)
		return NULL;
	error = library_files_find(s->profile, &libraries);
	if (error)
		return error;
	for (size_t i = 0; !theirs && i < s->diff->runs.count; i++)
		theirs = library_time(libraries, s->diff->runs.data[i].own);
	if (theirs)
		strbuf_printf(&s->text,
			      "Most%s is in libraries: --no-libraries counts it for your own functions that call them.\n",
			      own_name_of_the_time(event_of(s)));
	return NULL;
}

static struct error *put_notes(struct diff_screen *s)
{
	struct error *error;
	size_t before;

	strbuf_putc(&s->text, '\n');
	before = s->text.len;
	if (s->has_maybe)
		strbuf_puts(&s->text,
			    "'maybe' is beyond its +-, as a few of many functions are by chance.\n");
	if (s->has_changed)
		strbuf_puts(&s->text,
			    "[changed]: which lines were which before cannot be told, so they are one row.\n");
	if (s->diff->by_distance)
		strbuf_puts(&s->text,
			    "No line tables are known: a line is the one as far below its def as before.\n");
	put_machines(s);
	put_files(s);
	if (s->diff->by_last_name)
		strbuf_puts(&s->text,
			    "Before 3.11 names are not qualified: methods of one name are told apart by line.\n");
	put_events(s);
	error = put_libraries(s);
	if (s->options->source_notes)
		s->options->source_notes(s->options->source_arg, &s->text);
	if (s->text.len == before)
		strbuf_truncate(&s->text, before - 1);
	return error;
}

/* --- All ---------------------------------------------------------------- */

static struct error *put_screen(struct diff_screen *s)
{
	struct error *error = place_names_create_of(
		s->profile, s->options->folder, &s->diff->files.after_of,
		&s->names);

	for (int k = 0; !error && k < 4; k++)
		error = put_side(s, k & 1, k < 2);
	if (error)
		return error;
	put_answer(s);
	put_sides(s);
	diff_put_functions(s);
	diff_put_lines(s);
	error = put_notes(s);
	if (!error)
		error = strbuf_error(&s->word);
	return error ? error : strbuf_error(&s->text);
}

static struct diff_screen screen_of(const struct profile *profile,
				    const struct own_diff *diff,
				    const struct diff_text_options *options)
{
	return (struct diff_screen){
		.profile = profile,
		.diff = diff,
		.options = options,
		.columns = options->columns < COLUMNS_MIN ? COLUMNS_MIN :
							    options->columns,
		.unit = diff_text_unit(profile, diff, options->by),
		.text = STRBUF_INIT,
		.programs = { STRBUF_INIT, STRBUF_INIT },
		.word = STRBUF_INIT,
	};
}

static void screen_deinit(struct diff_screen *s)
{
	place_names_destroy(s->names);
	strbuf_deinit(&s->text);
	strbuf_deinit(&s->programs[0]);
	strbuf_deinit(&s->programs[1]);
	strbuf_deinit(&s->word);
}

struct error *diff_text_write(const struct profile *profile,
			      const struct own_diff *diff,
			      const struct diff_text_options *options,
			      FILE *out)
{
	struct diff_screen s = screen_of(profile, diff, options);
	struct error *error = put_screen(&s);

	if (!error && (fwrite(s.text.data, 1, s.text.len, out) != s.text.len ||
		       fflush(out)))
		error = error_os(errno, NULL, "cannot write the report");
	screen_deinit(&s);
	return error;
}

/* --- Without the tables ------------------------------------------------- */

static void look_at(struct diff_screen *s,
		    const struct own_diff_entry_vec *entries)
{
	vec_for_each(entry, entries) {
		s->has_maybe |= diff_is_maybe(&entry->own);
		s->has_changed |= entry->is_unpaired;
	}
}

struct error *diff_text_notes(const struct profile *profile,
			      const struct own_diff *diff,
			      const struct diff_text_options *options,
			      struct strbuf *out)
{
	struct diff_screen s = screen_of(profile, diff, options);
	struct error *error = place_names_create_of(
		profile, options->folder, &diff->files.after_of, &s.names);

	for (int side = 0; !error && side < 2; side++)
		error = put_side(&s, side, true);
	if (!error) {
		look_at(&s, &diff->functions);
		look_at(&s, &diff->lines);
		put_answer(&s);
		put_sides(&s);
		error = put_notes(&s);
		strbuf_append(out, s.text.data, s.text.len);
	}
	if (!error)
		error = strbuf_error(&s.word);
	if (!error)
		error = strbuf_error(&s.text);
	screen_deinit(&s);
	return error ? error : strbuf_error(out);
}

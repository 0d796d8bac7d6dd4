// SPDX-License-Identifier: GPL-2.0-only
/* What differs between recordings that are compared, besides the program: how each was made. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/faults.h"
#include "view/answer_screen.h"
#include "view/diff_screen.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/text.h"

/* Appends what a recording has of it; nothing: that is not known. */
typedef void word_of_run(const struct diff_screen *s, size_t run,
			 struct strbuf *out);

static const struct profile_event *event_of(const struct diff_screen *s,
					    size_t run)
{
	return &s->profile->events.data[s->diff->runs.data[run].event];
}

static const struct metadata *metadata_of(const struct diff_screen *s,
					  size_t run)
{
	uint32_t recording = event_of(s, run)->recording;

	return &s->profile->recordings.data[recording].metadata;
}

/* --- The two sides ------------------------------------------------------- */

/* What all recordings of the side have, or "several". False: it is not known of one. */
static bool word_of_side(const struct diff_screen *s, bool is_after,
			 word_of_run *word_of, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

	for (size_t i = 0; i < s->diff->runs.count; i++) {
		if (s->diff->noise.data[i].is_after != is_after)
			continue;
		strbuf_clear(&word);
		word_of(s, i, &word);
		if (!word.len)
			return false;
		if (!out->len) {
			strbuf_append(out, word.data, word.len);
		} else if (strcmp(out->data, word.data) != 0) {
			strbuf_clear(out);
			strbuf_puts(out, "several");
			break;
		}
	}
	return out->len && !out->failed;
}

/* "The sampling rates differ: 999 a second before, 99 a second after." */
static void put_both(struct diff_screen *s, const char *what, const char *before,
		     const char *after)
{
	static const char of_before[] = " before, ", of_after[] = " after.\n";
	size_t a = printable_width(before, strlen(before));
	size_t b = printable_width(after, strlen(after));
	size_t used = strlen(what) + strlen(of_before) + strlen(of_after) - 1;

	fit_share(s->columns > used ? s->columns - used : 0, &a, &b);
	strbuf_puts(&s->text, what);
	fit_begin(&s->text, before, strlen(before), a);
	strbuf_puts(&s->text, of_before);
	fit_begin(&s->text, after, strlen(after), b);
	strbuf_puts(&s->text, of_after);
}

static bool sides_differ(const struct diff_screen *s, word_of_run *word_of,
			 struct strbuf *before, struct strbuf *after)
{
	return word_of_side(s, false, word_of, before) &&
	       word_of_side(s, true, word_of, after) &&
	       strcmp(before->data, after->data) != 0;
}

static void put_difference(struct diff_screen *s, const char *what,
			   word_of_run *word_of)
{
	_cleanup_strbuf_ struct strbuf before = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf after = STRBUF_INIT;

	if (sides_differ(s, word_of, &before, &after))
		put_both(s, what, before.data, after.data);
}

/* --- How it was recorded ------------------------------------------------- */

static void put_way(const struct diff_screen *s, size_t run, struct strbuf *out)
{
	const struct profile_event *event = event_of(s, run);

	strbuf_puts(out, event->is_imported  ? "imported" :
			 !event->is_polled  ? "sampled by events" :
			 event->python_only ? "polled" :
					      "polled with --native");
}

/* Of a clock a period is a rate, too. */
static void put_rate(const struct diff_screen *s, size_t run,
		     struct strbuf *out)
{
	const struct profile_event *event = event_of(s, run);
	double rate = (double)event->sample_period;

	/* Most files that are imported do not say what it was: each of their samples counts. */
	if (!event->sample_period ||
	    (event->is_imported && event->sample_period == 1))
		return;
	if (!event->is_freq && event->unit != EVENT_NANOSECONDS) {
		strbuf_printf(out, "one in %" PRIu64,
			      event->sample_period);
		return;
	}
	if (!event->is_freq)
		rate = 1e9 / rate;
	strbuf_printf(out, "%.*f a second", rate < 10, rate);
}

/* --- What was recorded --------------------------------------------------- */

/* Where the program's words begin; an importer has no words of a recorder. */
static bool find_program(const struct metadata *metadata, size_t *at)
{
	*at = 0;
	if (metadata->command.count < 2 ||
	    strcmp(metadata->command.data[1], "record") != 0)
		return metadata->command.count != 0;
	*at = metadata_program(metadata);
	return *at != 0;
}

static void put_command(const struct diff_screen *s, size_t run,
			struct strbuf *out)
{
	const struct metadata *metadata = metadata_of(s, run);
	enum recording_subject subject = metadata_subject(metadata);
	size_t at;

	if (subject == SUBJECT_MACHINE)
		strbuf_puts(out, "the whole machine");
	else if (subject == SUBJECT_RUNNING)
		strbuf_puts(out, "what ran already");
	else if (find_program(metadata, &at))
		for (size_t i = at; i < metadata->command.count; i++) {
			const char *word = metadata->command.data[i];

			strbuf_puts(out, i > at ? " " : "");
			text_append(out, word, strlen(word));
		}
}

/* Bytes of whole words with which both begin, as far as one differs behind them. */
static size_t common_words(const char *a, const char *b)
{
	size_t begin = 0;

	for (size_t i = 0;; i++) {
		bool ends_a = !a[i] || a[i] == ' ', ends_b = !b[i] || b[i] == ' ';

		if (ends_a && ends_b)
			begin = i;
		if (a[i] != b[i] || !a[i])
			return begin;
	}
}

/* With the option whose value differs: "--size 10". */
static size_t with_option(const char *command, size_t begin)
{
	size_t word = begin;

	while (word && command[word - 1] != ' ')
		word--;
	return word && command[word] == '-' ? word - 1 : begin;
}

static const char *rest_of(const char *command, size_t begin)
{
	command += begin;
	return !*command ? "none" : command + (*command == ' ');
}

/* What both begin with is left out: "--fast before, none after". */
static void put_commands(struct diff_screen *s)
{
	_cleanup_strbuf_ struct strbuf before = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf after = STRBUF_INIT;
	size_t begin;

	if (!sides_differ(s, put_command, &before, &after))
		return;
	begin = with_option(before.data,
			    common_words(before.data, after.data));
	put_both(s,
		 begin ? "The arguments differ: " : "What was recorded differs: ",
		 rest_of(before.data, begin), rest_of(after.data, begin));
}

/* --- For how long -------------------------------------------------------- */

/* From here on of the longer one, recordings differ in length. */
#define LENGTH_SHARE 0.05

/* The mean of a side's recordings, s; 0: one does not say it. */
static double length_of_side(const struct diff_screen *s, bool is_after)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < s->diff->runs.count; i++) {
		uint64_t time = answer_recorded_time(
			s->profile, event_of(s, i), FAULT_TIME);

		if (s->diff->noise.data[i].is_after != is_after)
			continue;
		if (!time)
			return 0;
		sum += (double)time / 1e9;
		count++;
	}
	return count ? sum / (double)count : 0;
}

static bool is_of_commands(const struct diff_screen *s)
{
	for (size_t i = 0; i < s->diff->runs.count; i++)
		if (metadata_subject(metadata_of(s, i)) != SUBJECT_COMMAND)
			return false;
	return true;
}

/* What ran already does as much as the recording is long. */
static void put_lengths(struct diff_screen *s)
{
	double before = length_of_side(s, false), after = length_of_side(s, true);

	if (is_of_commands(s) || before <= 0 || after <= 0 ||
	    fabs(after - before) <= LENGTH_SHARE * fmax(before, after))
		return;
	strbuf_printf(&s->text,
		      "The recordings differ in length: %.1f s before, %.1f s after.\n",
		      before, after);
}

/* --- A busy machine ------------------------------------------------------- */

/* From here on of the time, %, a side waited for a processor. */
#define BUSY_SHARE 20.0

/* First threads that had so much of a side's CPU time are the program. */
#define FIRST_THREAD_SHARE 0.9

/* Of threads of a side: CPU time, and for how long they waited for a CPU; ns. */
struct side_time {
	uint64_t ran;
	uint64_t kept_off;
	/* Of all threads. */
	uint64_t all;
	bool is_polled;
};

/* Of the command's first thread: of a process that none of the others has started. */
static uint64_t ran_of_first(const struct profile *p, uint32_t event)
{
	uint64_t ran = 0;

	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t id = p->samples.task[i];
		const struct profile_task *task = profile_task(p, id);

		if (p->samples.event[i] == event && task->pid == task->tid &&
		    !profile_task_parent(p, id))
			ran += p->samples.period[i];
	}
	return ran;
}

/*
 * Who polls asks all threads how long they waited for a CPU, else kaa knows it of the first
 * one. False: it is not known, or of something else than CPU time.
 */
static bool time_of_side(const struct diff_screen *s, bool is_after,
			 struct side_time *ret)
{
	for (size_t i = 0; i < s->diff->runs.count; i++) {
		const struct profile_event *event = event_of(s, i);
		uint64_t all = s->diff->runs.data[i].own->all.period;
		uint64_t kept_off;

		if (s->diff->noise.data[i].is_after != is_after)
			continue;
		kept_off = answer_recorded_time(s->profile, event,
						FAULT_KEPT_OFF);
		/* Who runs has waited for some time, if only a little. */
		if (!kept_off || event->kind != EVENT_ON_CPU ||
		    event->unit != EVENT_NANOSECONDS)
			return false;
		ret->all += all;
		ret->is_polled = event->is_polled;
		ret->ran += event->is_polled ?
				    all :
				    ran_of_first(s->profile,
						 s->diff->runs.data[i].event);
		ret->kept_off += kept_off;
	}
	return ret->kept_off && ret->ran;
}

static double busy_share(const struct side_time *side)
{
	return 100.0 * (double)side->kept_off /
	       (double)(side->ran + side->kept_off);
}

static bool is_of_first(const struct side_time *side)
{
	return (double)side->ran < FIRST_THREAD_SHARE * (double)side->all;
}

static void put_busy(struct diff_screen *s)
{
	struct side_time before = {}, after = {};
	bool of_first;

	if (!time_of_side(s, false, &before) || !time_of_side(s, true, &after) ||
	    (busy_share(&before) < BUSY_SHARE && busy_share(&after) < BUSY_SHARE))
		return;
	of_first = is_of_first(&before) || is_of_first(&after);
	/* Of one side it would be all threads. */
	if (of_first && before.is_polled != after.is_polled)
		return;
	strbuf_printf(&s->text,
		      "Of the time %s could have run, it had no processor for %.0f %% before, %.0f %% after:\n",
		      of_first ? "its first thread" : "it",
		      busy_share(&before), busy_share(&after));
	strbuf_puts(&s->text,
		    "on a busy machine the same work may take more or less CPU time.\n");
}

void diff_put_ways(struct diff_screen *s, bool is_one_program)
{
	if (is_one_program)
		put_commands(s);
	if (s->options->by == OWN_DIFF_BY_TIME)
		put_lengths(s);
	put_difference(s, "Recorded in two ways: ", put_way);
	put_difference(s, "The sampling rates differ: ", put_rate);
	put_busy(s);
}

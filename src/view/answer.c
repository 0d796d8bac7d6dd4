// SPDX-License-Identifier: GPL-2.0-only
#include "view/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/faults.h"
#include "base/late_samples.h"
#include "base/plural.h"
#include "base/python_command.h"
#include "profile/frame_line.h"
#include "profile/library_files.h"
#include "profile/sample_faults.h"
#include "view/answer_screen.h"
#include "view/fault_text.h"
#include "view/fit.h"
#include "view/library_time.h"
#include "view/nameless_text.h"
#include "view/own_command.h"
#include "view/own_name.h"
#include "view/printable.h"
#include "view/spent_text.h"
#include "view/text.h"

enum { COLUMNS_MIN = 60 };

static struct answer answer_init(const struct profile *profile, uint32_t event,
				 const struct answer_options *options)
{
	return (struct answer){
		.profile = profile,
		.options = options,
		.event = &profile->events.data[event],
		.event_index = event,
		.columns = options->columns < COLUMNS_MIN ? COLUMNS_MIN :
							    options->columns,
		.text = STRBUF_INIT,
		.programs = STRBUF_INIT,
		.word = STRBUF_INIT,
	};
}

/* But for what is lent to it: own time and names. */
static void answer_deinit(struct answer *a)
{
	free(a->has_python);
	strbuf_deinit(&a->text);
	strbuf_deinit(&a->programs);
	strbuf_deinit(&a->word);
}

/* --- The first lines ---------------------------------------------------- */

static uint64_t count_incomplete(const struct answer *a)
{
	const unsigned int flags =
		PROFILE_SAMPLE_TRUNCATED | PROFILE_SAMPLE_NOT_ALIGNED |
		PROFILE_SAMPLE_UNREADABLE_PYTHON | PROFILE_SAMPLE_DAMAGED |
		PROFILE_SAMPLE_MISSING_NATIVE |
		PROFILE_SAMPLE_NO_USER_STACK;
	const struct profile_samples *s = &a->profile->samples;
	uint64_t count = 0;

	for (size_t i = 0; i < s->rows; i++)
		if (s->event[i] == a->event_index && (s->flags[i] & flags))
			count += s->count[i];
	return count;
}

enum {
	PYTHONS_MAX = 3,
	/* Of fewer, chance moves shares by more than ten points. */
	FEW_SAMPLES = 100,
	/* Less is missing from every recording. */
	MISSED_TICKS = 128,
	/* Percent, of a function that is not the hottest one. */
	NEXT_SOURCE_MIN = 10,
};

static void put_pythons(struct answer *a)
{
	const struct metadata *metadata = answer_metadata(a);
	uint32_t shown[PYTHONS_MAX];
	size_t count = 0, i;

	vec_for_each(python, &metadata->pythons) {
		uint32_t version = python->version >> 8;

		for (i = 0; i < count && shown[i] != version; i++)
			;
		if (i < count)
			continue;
		if (count == PYTHONS_MAX) {
			strbuf_puts(&a->text, " and others");
			break;
		}
		shown[count++] = version;
		strbuf_printf(&a->text, "%s%u.%u.%u",
			      i ? ", " : "   Python ", version >> 16 & 0xff,
			      version >> 8 & 0xff, version & 0xff);
	}
}

/* Its end is not there. */
static bool is_cut_off(const struct answer *a)
{
	const struct faults *faults =
		&a->profile->recordings.data[a->event->recording].faults;

	return faults_lack_end(faults);
}

/* "3 lost, 18 % not taken", as the recorder says it: also of a part of the recording. */
static void put_lost(struct answer *a)
{
	const struct profile *p = a->profile;
	uint64_t lost = a->event->lost;
	uint64_t taken = answer_recorded(p, a->event, FAULT_SAMPLES);
	uint64_t left_out = answer_recorded(p, a->event, FAULT_LATE) +
			    answer_recorded(p, a->event, FAULT_LEFT_OUT);

	if (lost)
		answer_put_count(a, lost);
	if (lost || !left_out)
		strbuf_puts(&a->text, lost	    ? " lost" :
				      is_cut_off(a) ? "cut off: the end is missing" :
						      "none lost");
	if (!left_out)
		return;
	strbuf_puts(&a->text, lost ? ", " : "");
	strbuf_percent(&a->text, left_out,
		       left_out + (taken ? taken : a->own->all.samples));
	strbuf_puts(&a->text, " not taken");
}

static void put_samples(struct answer *a)
{
	uint64_t incomplete = count_incomplete(a);

	strbuf_puts(&a->text, "   ");
	answer_put_count(a, a->own->all.samples);
	strbuf_puts(&a->text,
		    a->own->all.samples == 1 ? " sample, " : " samples, ");
	put_lost(a);
	if (incomplete) {
		strbuf_puts(&a->text, ", ");
		answer_put_count(a, incomplete);
		strbuf_puts(&a->text, " incomplete");
	}
	strbuf_putc(&a->text, '\n');
}

/* Threads that run no loop of asyncio are recorded, too, such as those of its executor. */
static void put_task_times(struct answer *a)
{
	uint64_t all = a->own->all.period, tasks = answer_task_time(a);
	uint64_t threads = all > tasks ? all - tasks : 0;

	if (tasks) {
		answer_put_seconds(&a->text, tasks);
		strbuf_puts(&a->text, " of tasks");
	}
	if (tasks && answer_share(a, threads) < 1)
		return;
	strbuf_puts(&a->text, tasks ? ", " : "");
	answer_put_seconds(&a->text, threads);
	strbuf_puts(&a->text, " of threads");
}

/* "424 ms of 500 ms", or all of it; false: nothing is compared. */
static bool put_part_of_ran(struct answer *a)
{
	uint64_t seen = a->own->all.period, missing;

	if (!a->options->is_compared || a->event->kind != EVENT_ON_CPU)
		return false;
	missing = answer_recorded_time(a->profile, a->event,
				       FAULT_WITHOUT_SAMPLES);
	/* The tables, which add up to what is seen, are near enough to all up to 5 %. */
	if (missing > (seen + missing) / 20) {
		answer_put_seconds(&a->text, seen);
		strbuf_puts(&a->text, " of ");
	}
	answer_put_seconds(&a->text, seen + missing);
	return true;
}

static void put_weight(struct answer *a)
{
	if (a->event->kind == EVENT_TASKS) {
		put_task_times(a);
		return;
	}
	if (!put_part_of_ran(a))
		answer_put_seconds(&a->text, answer_ran(a));
	strbuf_puts(&a->text,
		    a->event->kind == EVENT_WALL ? " of threads" :
		    a->event->kind == EVENT_GIL	 ? " with the GIL" :
		    a->event->kind == EVENT_WAIT ? " off the CPU" :
		    a->event->kind == EVENT_ON_CPU ? " CPU" :
						     "");
}

static void put_times(struct answer *a)
{
	uint64_t time = answer_time(a);

	strbuf_puts(&a->text, "   ");
	if (a->event->unit != EVENT_NANOSECONDS) {
		text_string(&a->text, a->profile, a->event->name, "");
		return;
	}
	put_weight(a);
	if (!time)
		return;
	strbuf_puts(&a->text, " in ");
	answer_put_seconds(&a->text, time);
}

/* What all samples' threads are called, or NULL. The program may call several the same. */
static const char *threads_name(const struct answer *a)
{
	const struct profile *p = a->profile;
	uint32_t name = PROFILE_NONE;

	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t own = profile_task(p, p->samples.task[i])->name;

		if (p->samples.event[i] != a->event_index)
			continue;
		if (own == PROFILE_NONE || (name != PROFILE_NONE && own != name))
			return NULL;
		name = own;
	}
	return profile_string(p, name, NULL);
}

/* Which one of a machine's programs uses most is for the tables. */
static bool is_of_machine(const struct answer *a)
{
	return metadata_subject(answer_metadata(a)) == SUBJECT_MACHINE;
}

/* "orders.py", or "json.tool" of "-m json.tool", of the command that was recorded. */
static const char *script_of_command(const struct answer *a)
{
	const struct metadata *metadata = answer_metadata(a);

	if (a->options->is_live)
		return a->options->script;
	if (metadata_subject(metadata) != SUBJECT_COMMAND ||
	    metadata->command.count < 2)
		return NULL;
	/* Behind "kaa record"; options of that are hardly named like a Python. */
	return python_script(metadata->command.data + 2,
			     metadata->command.count - 2);
}

/* The only process that has samples, or NULL. */
static const struct profile_task *only_process(const struct answer *a)
{
	const struct profile *p = a->profile;
	const struct profile_task *found = NULL;

	for (size_t i = 0; i < p->samples.rows; i++) {
		const struct profile_task *task =
			profile_task(p, p->samples.task[i]);

		if (p->samples.event[i] != a->event_index)
			continue;
		if (found && found->pid != task->pid)
			return NULL;
		/* Its first thread has its name. */
		if (!found || task->tid == task->pid)
			found = task;
	}
	return found;
}

/* Its own, or that of all processes; NULL: none, or there are several. */
static const char *script_of_process(const struct answer *a,
				     const struct profile_task *process)
{
	const struct metadata *metadata = answer_metadata(a);
	const char *found = NULL;

	vec_for_each(one, &metadata->scripts) {
		if (process && one->pid != (uint32_t)process->pid)
			continue;
		if (!process && found && strcmp(found, one->script) != 0)
			return NULL;
		found = one->script;
	}
	return found;
}

/* Of few threads, not of a program, are the samples or the whole recording. */
static bool is_of_threads(const struct answer *a)
{
	char option = '\0';

	return a->options->is_filtered ||
	       (metadata_running(answer_metadata(a), &option) && option == 't');
}

/* Where no stack tells which script it is: what else does, or the process. */
static void put_unknown(const struct answer *a, struct strbuf *out)
{
	const struct profile_task *process = only_process(a);
	const char *name = is_of_threads(a) ? threads_name(a) : NULL;

	if (!name || !*name)
		name = script_of_command(a);
	if (!name || !*name)
		name = script_of_process(a, process);
	if (name && *name)
		strbuf_puts(out, name);
	else if (!process || process->pid <= 0)
		strbuf_puts(out, "Python code");
	else
		strbuf_printf(out, "%s, process %" PRId32,
			      profile_string(a->profile, process->comm, "Python"),
			      process->pid);
}

/* As it is, but for what must not be shown. */
static void put_unicode(struct strbuf *out, const char *s, size_t n)
{
	const char *character;
	size_t size;

	for (size_t at = 0; at < n;) {
		at += printable_character(s + at, n - at, &character, &size);
		strbuf_append(out, character, size);
	}
}

static void put_program(struct answer *a, uint32_t program)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t width;

	if (is_of_machine(a))
		strbuf_puts(&name, "whole machine");
	else if (program != PROFILE_NONE)
		strbuf_puts(&name, place_name(a->names, program));
	else
		put_unknown(a, &name);
	if (a->options->is_document) {
		put_unicode(&a->text, name.data, name.len);
		return;
	}
	width = printable_width(name.data, name.len);
	fit_end(&a->text, name.data,
		width < a->columns / 3 ? width : a->columns / 3);
}

/* What the screen does not show. */
static void put_other_events(struct answer *a)
{
	for (size_t i = 0; i < a->profile->events.count; i++) {
		const struct profile_event *event =
			&a->profile->events.data[i];

		if (i == a->event_index || !event->samples ||
		    !event_kind_is_shown(event->kind))
			continue;
		strbuf_puts(&a->text, "Not shown here: ");
		answer_put_count(a, event->samples);
		strbuf_printf(&a->text, " sample%s of ", plural(event->samples));
		text_string(&a->text, a->profile, event->name, "");
		strbuf_puts(&a->text, " (--event ");
		text_string(&a->text, a->profile, event->name, "");
		strbuf_puts(&a->text, ")\n");
	}
}

static void put_native_hint(struct answer *a)
{
	strbuf_puts(&a->text, "Recorded without native functions; ");
	answer_put_native_command(answer_metadata(a), &a->text);
	strbuf_puts(&a->text, " records them, too.\n");
}

/* No wait is among its samples, as far as is known. */
static bool is_known_to_run(const struct profile_event *event)
{
	return event->kind == EVENT_ON_CPU || event->kind == EVENT_OCCURRENCE;
}

/* What was imported has native functions; *has_files: with the files that hold them. */
static bool imports_native(const struct answer *a, bool *has_files)
{
	const struct profile *p = a->profile;
	bool found = false;

	*has_files = false;
	for (size_t i = 0; a->event->is_imported && i < p->frames.count; i++) {
		const struct profile_frame *frame = &p->frames.data[i];
		const struct profile_dso *dso = profile_dso(p, frame->dso);

		if (frame->kind != PROFILE_FRAME_NATIVE &&
		    frame->kind != PROFILE_FRAME_KERNEL)
			continue;
		found = true;
		*has_files |= dso && strcmp(profile_string(p, dso->short_name, ""),
					    "[unknown]") != 0;
	}
	return found;
}

/* Names alone do not tell what is the interpreter's: the files that hold them do. */
static void put_spent_in(struct answer *a)
{
	static const char before[] = "Spent in: ";
	bool has_files, imports = imports_native(a, &has_files);
	size_t start = a->text.len;

	/* All that is known of running threads alone is that they run. */
	if ((a->event->python_only && is_known_to_run(a->event)) ||
	    (imports && !has_files))
		return;
	strbuf_puts(&a->text, before);
	spent_text_kinds(a->profile, a->event_index, a->own, &a->text);
	if (a->text.len == start + strlen(before)) {
		strbuf_truncate(&a->text, start);
		return;
	}
	strbuf_putc(&a->text, '\n');
	if (imports)
		strbuf_puts(&a->text,
			    "This was imported: what Python functions call in C is as that file has it.\n");
}

/* What that time was spent on, as far as there are native frames to tell it. */
static void put_kinds(struct answer *a)
{
	if (a->event->kind == EVENT_OCCURRENCE && a->event->unit == EVENT_COUNT)
		strbuf_puts(&a->text,
			    "Shares are of how often that happened, not of time.\n");
	put_spent_in(a);
	if (!a->event->python_only || a->event->is_imported ||
	    a->event->kind == EVENT_TASKS)
		return;
	if (a->event->kind == EVENT_WALL || a->event->kind == EVENT_GIL)
		strbuf_printf(&a->text,
			      "'--mode %1$s' has no native functions; '--mode %1$s --native' records them.\n",
			      a->event->kind == EVENT_WALL ? "wall" : "gil");
	else
		put_native_hint(a);
}

/* What chance leaves out, as the recorder judges it: ticks of a clock, looks of a poller. */
static uint64_t missing_by_chance(const struct profile_event *event,
				  const struct own_weight *all, uint64_t missing)
{
	if (event->is_polled || !all->samples)
		return fault_polled_by_chance(all->period + missing);
	return MISSED_TICKS * (all->period / all->samples);
}

/* All of it may have been in one function, or nothing. */
static void put_missing(uint64_t missing, uint64_t seen, const char *what,
			struct strbuf *out)
{
	answer_put_seconds(out, missing);
	strbuf_puts(out, " of ");
	answer_put_seconds(out, seen + missing);
	strbuf_printf(out, " of %s time have no samples: shares may be off by %.0f points.\n",
		      what, 100.0 * (double)missing / (double)(seen + missing));
}

/*
 * Samples stand for what was seen; on a busy machine much may be missing. Returns the
 * time of which that is said.
 */
static uint64_t doubt_missing_time(const struct profile *profile,
				   const struct profile_event *event,
				   const struct own_time *own, struct strbuf *out)
{
	uint64_t missing = answer_recorded_time(profile, event, FAULT_WITHOUT_SAMPLES);
	uint64_t seen = own->all.period;

	if (event->unit != EVENT_NANOSECONDS || event->kind != EVENT_ON_CPU ||
	    missing <= missing_by_chance(event, &own->all, missing) ||
	    missing <= (seen + missing) / 10)
		return 0;
	put_missing(missing, seen, "CPU", out);
	return missing;
}

/* Threads ended, and nobody had seen what they did before. */
static void doubt_wall_time(const struct profile *profile,
			    const struct profile_event *event,
			    const struct own_time *own, struct strbuf *out)
{
	uint64_t missing =
		answer_recorded_time(profile, event, FAULT_WALL_WITHOUT_SAMPLES);
	uint64_t seen =
		answer_recorded_time(profile, event, FAULT_WALL_WITH_SAMPLES);

	/* Of threads: their tasks have many times as much. */
	if (!seen && event->kind != EVENT_TASKS)
		seen = own->all.period;
	if (event_kind_is_wall(event->kind) && seen &&
	    fault_is_untold(missing, seen + missing))
		put_missing(missing, seen, "wall", out);
}

/* Files without times may have one that weighs as many as it was: how many is not known. */
static bool counts_samples(const struct profile *profile,
			   const struct profile_event *event)
{
	const struct profile_recording *recording =
		&profile->recordings.data[event->recording];

	return !event->is_imported || event->unit != EVENT_NANOSECONDS ||
	       recording->metadata.last_sample_time;
}

/*
 * Two deviations of a share of one half. A sample that stands for more time than
 * others counts for more than one of them, and there are fewer to tell from. A sleep of
 * wall time is one sample, and measured. alone: more than chance is to be doubted.
 */
static void doubt_chance(const struct profile_event *event,
			 const struct own_time *own, bool alone,
			 struct strbuf *out)
{
	double all = (double)own->all.period, off = own->all.squares;
	double samples = off > 0 ? all * all / off : 0;

	if (samples <= 0 || samples >= FEW_SAMPLES)
		return;
	strbuf_printf(out, "%s: %sa share may be off by %.0f points",
		      event_kind_is_wall(event->kind) ?
			      "So short a recording, or so busy a machine" :
			      "So few samples",
		      alone ? "by chance alone, " : "", 100 / sqrt(samples));
	/* No clock counts it: how much it is all in all, samples alone tell. */
	if (event->kind == EVENT_GIL)
		strbuf_printf(out, ", and the time with the GIL by %.0f %%",
			      samples > 4 ? 200 / sqrt(samples) : 100);
	strbuf_puts(out, ".\n");
}

/*
 * Where the program keeps the CPU until it makes way, samples are missed before that
 * and not elsewhere: all of them may have been in one function, or none. missing is
 * what doubt_missing_time() has said, so this is of the rest of the time.
 */
static void doubt_late(const struct profile *profile,
		       const struct profile_event *event,
		       const struct own_time *own, uint64_t missing,
		       struct strbuf *out)
{
	uint64_t late = answer_recorded(profile, event, FAULT_LATE);
	uint64_t all = own->all.samples + late +
		       answer_recorded(profile, event, FAULT_LEFT_OUT);
	double seen = (double)own->all.period;
	double rest = missing ? seen / (seen + (double)missing) : 1;

	if (late <= all / FAULT_LATE_PART)
		return;
	strbuf_puts(out, "The machine was busy, and ");
	strbuf_percent(out, late, all);
	strbuf_printf(out, " of the samples came too late: shares may be off by %s%.0f points.\n",
		      missing ? "another " : "",
		      late_samples_points(late, own->all.samples) * rest);
}

/* Where a look came late, nobody knows what was between it and the one before. */
static void doubt_looks(const struct profile *profile,
			const struct profile_event *event, struct strbuf *out)
{
	uint64_t kept_off = answer_recorded_time(profile, event,
						 FAULT_RECORDER_KEPT_OFF);
	uint64_t apart = answer_recorded_time(profile, event, FAULT_TICKS_APART);
	uint64_t all = answer_recorded_time(profile, event, FAULT_TIME);

	if (!event_kind_is_by_clock(event->kind) || !kept_off || !apart || !all)
		return;
	/* It begins and ends a little outside. */
	if (kept_off > all)
		kept_off = all;
	strbuf_puts(out, "The recorder had no processor for ");
	strbuf_percent(out, kept_off, all);
	if (event->kind == EVENT_TASKS) {
		strbuf_puts(out,
			    " of the time: which tasks ran then is taken from the looks before and after.\n");
		return;
	}
	strbuf_puts(out, " of the time: one wait or call is exact to about ");
	answer_put_seconds(out, apart);
	strbuf_puts(out, ", a sum of many less so.\n");
}

/* What nobody had woken when the recording ended is not in it. */
static void doubt_waits(const struct profile *profile,
			const struct profile_event *event, struct strbuf *out)
{
	uint64_t missing = answer_recorded_time(profile, event, FAULT_UNENDED_WAITS);

	if (missing < FAULT_UNENDED_MIN)
		return;
	answer_put_seconds(out, missing);
	strbuf_puts(out,
		    " of waits that had not ended with the recording have no samples.\n");
}

void answer_doubts(const struct profile *profile, uint32_t event,
		   const struct answer_options *options,
		   const struct own_time *own, struct strbuf *out)
{
	size_t before = out->len;
	uint64_t missing;

	if (!options->is_filtered) {
		missing = doubt_missing_time(
			profile, &profile->events.data[event], own, out);
		doubt_wall_time(profile, &profile->events.data[event], own, out);
		doubt_late(profile, &profile->events.data[event], own, missing,
			   out);
	}
	doubt_looks(profile, &profile->events.data[event], out);
	/* Waits that are not short are samples for certain. */
	if (profile->events.data[event].kind == EVENT_WAIT)
		doubt_waits(profile, &profile->events.data[event], out);
	else if (counts_samples(profile, &profile->events.data[event]))
		doubt_chance(&profile->events.data[event], own,
			     out->len != before, out);
}

static struct error *put_summary(struct answer *a)
{
	uint32_t program = PROFILE_NONE;
	struct error *error = answer_find_program(a, &program);

	if (error)
		return error;
	put_program(a, program);
	put_pythons(a);
	put_times(a);
	put_samples(a);
	put_kinds(a);
	if (a->options->without_libraries)
		strbuf_puts(&a->text, ANSWER_WITHOUT_LIBRARIES);
	answer_doubts(a->profile, a->event_index, a->options, a->own,
		      &a->text);
	put_other_events(a);
	return NULL;
}

/* Takes the text over, without the blanks around it. */
static void take_piece(struct answer *a, struct strbuf *out)
{
	size_t begin = strspn(a->text.data, " ");

	while (a->text.len > begin && strchr(" \n", a->text.data[a->text.len - 1]))
		strbuf_truncate(&a->text, a->text.len - 1);
	strbuf_append(out, a->text.data + begin, a->text.len - begin);
	strbuf_clear(&a->text);
}

struct error *answer_summary(const struct profile *profile, uint32_t event,
			     const struct answer_options *options,
			     struct own_time *own, struct place_names *names,
			     struct strbuf pieces[ANSWER_PIECES])
{
	struct answer a = answer_init(profile, event, options);
	uint32_t program = PROFILE_NONE;
	struct error *error;

	a.own = own;
	a.names = names;
	error = answer_find_program(&a, &program);
	if (!error) {
		put_program(&a, program);
		take_piece(&a, &pieces[ANSWER_PROGRAM]);
		put_pythons(&a);
		take_piece(&a, &pieces[ANSWER_PYTHON]);
		put_times(&a);
		if (options->without_libraries)
			strbuf_puts(&a.text, ", libraries count for their callers");
		take_piece(&a, &pieces[ANSWER_TIME]);
		put_samples(&a);
		take_piece(&a, &pieces[ANSWER_SAMPLES]);
		error = strbuf_error(&a.text);
	}
	answer_deinit(&a);
	return error;
}

struct error *answer_waits(const struct profile *profile, uint32_t event,
			   const struct answer_options *options,
			   struct own_time *own, struct strbuf *out)
{
	struct answer a = answer_init(profile, event, options);
	struct error *error;

	a.own = own;
	answer_note_waiting(&a);
	strbuf_append(out, a.text.data, a.text.len);
	error = strbuf_error(&a.text);
	answer_deinit(&a);
	return error;
}

/* --- All ---------------------------------------------------------------- */

uint32_t answer_event(const struct profile *profile)
{
	_cleanup_free_ bool *has_python = calloc(
		profile->stack_parents.count + 1, sizeof(*has_python));
	const struct profile_samples *s = &profile->samples;
	uint32_t waits = PROFILE_NONE, first = PROFILE_NONE,
		 other = PROFILE_NONE;

	if (has_python)
		profile_find_python(profile, has_python);
	for (size_t i = 0; has_python && i < s->rows; i++) {
		enum event_kind kind = profile->events.data[s->event[i]].kind;
		uint32_t *least = kind == EVENT_WAIT   ? &waits :
				  kind == EVENT_ON_CPU ? &first :
							 &other;

		if (s->event[i] < *least && s->stack[i] != PROFILE_NONE &&
		    has_python[s->stack[i]] && event_kind_is_shown(kind))
			*least = s->event[i];
	}
	/* Who records waits asks for them; most then record CPU time, too. */
	if (waits != PROFILE_NONE)
		return waits;
	return first != PROFILE_NONE ? first : other;
}

/* What is wrong with the recording, as a report says it, a line each. */
static struct error *put_notes(struct answer *a)
{
	_cleanup_faults_ struct faults faults = {};
	uint64_t samples;
	struct error *error = sample_faults(a->profile, a->event_index,
					    &samples, &faults);

	if (!error)
		fault_notes(&faults, samples, "", &a->text);
	return error;
}

/* The innermost Python frame of a stack, or NULL. */
static const struct profile_frame *python_frame(const struct profile *p,
						uint32_t stack)
{
	for (; stack != PROFILE_NONE; stack = p->stack_parents.data[stack]) {
		const struct profile_frame *frame =
			profile_frame(p, p->stack_frames.data[stack]);

		if (frame->kind == PROFILE_FRAME_PYTHON)
			return frame;
	}
	return NULL;
}

static void note_missing_lines(const struct profile *profile, uint32_t event,
			       struct strbuf *out)
{
	const struct profile_samples *s = &profile->samples;
	uint64_t python = 0, without = 0;

	for (size_t i = 0; i < s->rows; i++) {
		const struct profile_frame *frame =
			s->event[i] == event ?
				python_frame(profile, s->stack[i]) :
				NULL;

		python += frame ? s->period[i] : 0;
		if (frame && !frame_has_line(profile, frame))
			without += s->period[i];
	}
	if (!without || without < python / 10)
		return;
	strbuf_percent(out, without, python);
	strbuf_puts(out, " of the time in Python is in functions whose lines are not known, ");
	own_command_puts(
		out,
		profile->events.data[event].is_imported ?
			"for the imported file does not have them: each stands at its def. 'kaa export --lines' writes files that have them.\n" :
			"for they were recorded as trampolines: each stands at its def. 'kaa doctor' says what it takes to record lines.\n");
}

void answer_notes(const struct profile *profile, uint32_t event,
		  const struct own_time *own, struct strbuf *out)
{
	note_missing_lines(profile, event, out);
	/* What was imported has no addresses, so nothing gives it names. */
	if (!profile->events.data[event].is_imported)
		nameless_note(profile, own, out);
}

static void put_libraries(struct answer *a, uint64_t period)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_percent(&text, period, a->own->all.period);
	strbuf_printf(&text,
		      "%s is in libraries. 'kaa report --no-libraries%s' counts it for the functions of your own files that call them.\n",
		      own_name_of_the_time(a->event),
		      a->options->recording ? a->options->recording : "");
	own_command_puts(&a->text, text.data);
}

static struct error *note_libraries(struct answer *a)
{
	_cleanup_free_ bool *libraries = NULL;
	uint64_t theirs;
	struct error *error;

	if (a->options->without_libraries || a->options->is_live)
		return NULL;
	error = library_files_find(a->profile, &libraries);
	if (error)
		return error;
	theirs = library_time(libraries, a->own);
	if (theirs)
		put_libraries(a, theirs);
	return NULL;
}

/* --- what stands below the functions and lines --- */

/* The recorder itself has said what else there is to doubt. */
static void put_brief_end(struct answer *a)
{
	size_t before = a->text.len + 1;

	strbuf_putc(&a->text, '\n');
	if (a->event->kind != EVENT_WAIT)
		doubt_chance(a->event, a->own, false, &a->text);
	answer_note_waiting(a);
	if (a->text.len == before)
		strbuf_truncate(&a->text, before - 1);
}

static struct error *put_end(struct answer *a)
{
	struct error *error = answer_put_tasks(a);
	size_t before;

	if (!error)
		error = answer_put_threads(a);

	strbuf_putc(&a->text, '\n');
	before = a->text.len;
	answer_note_waiting(a);
	if (!error)
		error = note_libraries(a);
	if (!error)
		error = put_notes(a);
	answer_notes(a->profile, a->event_index, a->own, &a->text);
	if (a->options->source_notes)
		a->options->source_notes(a->options->source_arg, &a->text);
	if (a->text.len == before)
		strbuf_truncate(&a->text, before - 1);
	return error;
}

/* There is no source of "<string>". */
static bool is_in_file(const struct answer *a, const struct own_entry *function)
{
	return *profile_string(a->profile, function->file, "<") != '<';
}

/* The function with most own time; in_file: of those in files. NULL: none. */
static const struct own_entry *hottest(const struct answer *a, bool in_file)
{
	const struct own_entry *found = NULL;

	vec_for_each(function, &a->own->functions)
		if (function->is_python && function->own.samples &&
		    (!in_file || is_in_file(a, function)) &&
		    (!found || function->own.period > found->own.period))
			found = function;
	return found;
}

static void put_next(struct answer *a)
{
	const struct own_entry *first = hottest(a, false);
	const struct own_entry *function = hottest(a, true);
	bool has_source;

	/* Whoever looks for the time does not look for it there. */
	if (function && function != first &&
	    answer_share(a, function->own.period) < NEXT_SOURCE_MIN)
		function = NULL;
	has_source = function;
	if (!function)
		function = first;
	a->options->next(
		a->options->next_arg,
		function ? profile_string(a->profile, function->name, NULL) : NULL,
		has_source, &a->text);
}

/* Words beside the tables may need more than one line. */
static struct error *wrap(struct answer *a)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = strbuf_error(&a->text);

	if (error)
		return error;
	fit_lines(&text, a->text.data, a->columns);
	error = strbuf_error(&text);
	if (error)
		return error;
	strbuf_clear(&a->text);
	strbuf_append(&a->text, text.data, text.len);
	return NULL;
}

static int compare_totals(const void *x, const void *y)
{
	const struct own_entry *a = x, *b = y;

	if (a->total.period != b->total.period)
		return a->total.period > b->total.period ? -1 : 1;
	if (a->own.period != b->own.period)
		return a->own.period > b->own.period ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Parts name functions by their place; the tables ask for those of an entry alone. */
static void order_by_total(struct own_time *own)
{
	qsort(own->functions.data, own->functions.count,
	      sizeof(*own->functions.data), compare_totals);
	qsort(own->lines.data, own->lines.count, sizeof(*own->lines.data),
	      compare_totals);
}

static struct error *find_python(struct answer *a)
{
	a->has_python = calloc(a->profile->stack_parents.count + 1,
			       sizeof(*a->has_python));
	if (!a->has_python)
		return error_no_memory();
	profile_find_python(a->profile, a->has_python);
	return NULL;
}

static struct error *put_all(struct answer *a)
{
	const struct own_time_options options = {
		.event = a->event_index,
		.without_libraries = a->options->without_libraries,
	};
	struct error *error = own_time_select(a->profile, &options, &a->own);

	if (!error && a->options->by_total)
		order_by_total(a->own);
	if (!error)
		error = place_names_create(a->profile, a->options->folder,
					   &a->names);
	if (!error && !a->options->is_brief)
		error = put_summary(a);
	if (!error)
		error = find_python(a);
	if (!error)
		error = answer_find_programs(a, &a->programs);
	if (error)
		return error;
	answer_put_functions(a);
	answer_put_lines(a);
	if (a->options->is_brief)
		put_brief_end(a);
	else
		error = put_end(a);
	if (!error)
		error = wrap(a);
	if (!error && a->options->next) {
		strbuf_putc(&a->text, '\n');
		put_next(a);
	}
	if (!error)
		error = strbuf_error(&a->word);
	return error ? error : strbuf_error(&a->text);
}

struct error *answer_write(const struct profile *profile, uint32_t event,
			   const struct answer_options *options, FILE *out)
{
	struct answer a = answer_init(profile, event, options);
	struct error *error = put_all(&a);

	if (!error && (fwrite(a.text.data, 1, a.text.len, out) != a.text.len ||
		       fflush(out)))
		error = error_os(errno, NULL, "cannot write the report");
	own_time_destroy(a.own);
	place_names_destroy(a.names);
	answer_deinit(&a);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/* What a recording does not show: where the program waited meanwhile, and its tasks for what. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/faults.h"
#include "base/name_match.h"
#include "profile/symbol_word.h"
#include "view/answer_screen.h"
#include "view/own_command.h"
#include "view/shell_word.h"

enum {
	/* Less of the time on a processor than one of so many parts is waiting ... */
	WAITED_SHARE = 2,
	/* ... if it was that long, in ns. */
	WAITED_MIN_NS = 500000000,
	/* Percent of all waits: a loop that waits for less is not what they are of. */
	LOOP_MIN = 10,
};

static bool has_waits(const struct answer *a)
{
	vec_for_each(event, &a->profile->events)
		if (event->samples && event->kind == EVENT_WAIT)
			return true;
	return false;
}

/* BaseEventLoop.run_forever; before 3.11 code has no qualified name. */
static bool is_event_loop(const char *name)
{
	static const char run[] = "run_forever";
	struct python_symbol python;

	return python_symbol_parse(name, &python) &&
	       python.qualname_length >= sizeof(run) - 1 &&
	       !memcmp(python.qualname + python.qualname_length - sizeof(run) + 1,
		       run, sizeof(run) - 1) &&
	       name_ends_with(python.file, "/asyncio/base_events.py");
}

/* What the loop weighs with all that it runs; NULL: there is none. */
static const struct own_weight *event_loop(const struct answer *a)
{
	vec_for_each(function, &a->own->functions)
		if (function->is_python &&
		    is_event_loop(profile_string(a->profile, function->name, "")))
			return &function->total;
	return NULL;
}

/* --- the command that shows it --- */

/* False: it is more than one word without quotes, and they stand in quotes here. */
static bool put_plain(const char *word, struct strbuf *out)
{
	size_t start = out->len;

	strbuf_putc(out, ' ');
	shell_word(word, out);
	return !strcmp(out->data + start + 1, word);
}

static bool put_program(const struct metadata *metadata, struct strbuf *out)
{
	size_t at = metadata_program(metadata);

	for (size_t i = at; at && i < metadata->command.count; i++)
		if (!put_plain(metadata->command.data[i], out))
			return false;
	return at != 0;
}

/* Of the numbers of processes or threads: all are there, on this machine now. */
static bool are_there(const char *numbers)
{
	while (*numbers) {
		if (kill((pid_t)strtol(numbers, NULL, 10), 0) && errno == ESRCH)
			return false;
		numbers += strcspn(numbers, ",");
		numbers += *numbers == ',';
	}
	return true;
}

/* What has ended cannot be recorded again. */
static bool put_process(const struct metadata *metadata, struct strbuf *out)
{
	char option = 'p';
	const char *numbers = metadata_running(metadata, &option);

	if (!numbers || !are_there(numbers))
		return false;
	strbuf_printf(out, " -%c %s", option, numbers);
	return true;
}

/* As the recording was made, so that it can be typed as it stands. */
static void put_record(const struct metadata *metadata, bool is_live,
		       const char *how, struct strbuf *out)
{
	bool is_of_itself = metadata_is_of_itself(metadata);
	bool is_command = is_of_itself ||
			  metadata_subject(metadata) == SUBJECT_COMMAND;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t start;

	strbuf_printf(&text, "'kaa %s %s", is_live ? "top" : "record", how);
	start = text.len;
	if (is_of_itself ||
	    !(is_command ? put_program : put_process)(metadata, &text)) {
		strbuf_truncate(&text, start);
		strbuf_puts(&text, is_command ? " COMMAND" : " -p PID");
	}
	strbuf_putc(&text, '\'');
	own_command_puts(out, text.data);
}

void answer_put_wall_command(const struct metadata *metadata, bool is_live,
			     struct strbuf *out)
{
	put_record(metadata, is_live, "--mode wall", out);
}

void answer_put_native_command(const struct metadata *metadata,
			       struct strbuf *out)
{
	put_record(metadata, false, "--native", out);
}

static void put_report(struct answer *a)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "'kaa report --event off-cpu%s'",
		      a->options->recording ? a->options->recording : "");
	own_command_puts(&a->text, text.data);
}

/* --- the note --- */

/* `kaa top` has no --async. */
static void put_async(struct answer *a)
{
	if (a->options->is_live)
		return;
	put_record(answer_metadata(a), false, "--async", &a->text);
	strbuf_puts(&a->text, " shows what its tasks of asyncio awaited.\n");
}

/*
 * Of waits and of wall time a loop shows that it waits for its next event, whichever
 * task waits for what.
 */
static void put_waiting_loop(struct answer *a)
{
	const struct own_weight *loop = event_loop(a);

	if (loop && answer_share(a, loop->period) >= LOOP_MIN)
		put_async(a);
}

static void put_where(struct answer *a)
{
	if (has_waits(a))
		put_report(a);
	else
		answer_put_wall_command(answer_metadata(a),
					a->options->is_live, &a->text);
	strbuf_puts(&a->text, " shows where.\n");
	if (event_loop(a))
		put_async(a);
}

bool answer_mostly_waits(const struct profile_event *event, uint64_t period,
			 uint64_t time)
{
	return event->unit == EVENT_NANOSECONDS &&
	       event->kind == EVENT_ON_CPU && time >= WAITED_MIN_NS &&
	       period <= time / WAITED_SHARE;
}

/* More than one has samples. */
static bool has_threads(const struct answer *a)
{
	const struct profile *p = a->profile;
	const struct profile_task *first = NULL;

	for (size_t i = 0; i < p->samples.rows; i++) {
		const struct profile_task *task =
			profile_task(p, p->samples.task[i]);

		if (p->samples.event[i] != a->event_index ||
		    profile_task_is_ending(task))
			continue;
		if (!first)
			first = task;
		if (task->pid != first->pid || task->tid != first->tid)
			return true;
	}
	return false;
}

/*
 * Who polls asks all threads: then it is a sum. Else it is the first thread's, and may
 * begin a little before the recording.
 */
static void put_kept_off(struct answer *a, uint64_t kept_off, uint64_t ran,
			 uint64_t time)
{
	bool is_sum = a->event->is_polled && has_threads(a);

	strbuf_puts(&a->text, is_sum ?
			    " of the time, and its threads waited for one for " :
			    " of the time, and waited for one for ");
	answer_put_seconds(&a->text, is_sum || kept_off < time - ran ?
				   kept_off :
				   time - ran);
	strbuf_puts(&a->text, is_sum ?
			    " in all: other programs had the processors.\n" :
			    ": other programs had the processors.\n");
}

void answer_note_waiting(struct answer *a)
{
	uint64_t time = answer_time(a);
	uint64_t ran = answer_ran(a);
	uint64_t kept_off =
		answer_recorded_time(a->profile, a->event, FAULT_KEPT_OFF);

	if (a->event->kind == EVENT_WAIT || a->event->kind == EVENT_WALL)
		put_waiting_loop(a);
	if (!answer_mostly_waits(a->event, ran, time))
		return;
	strbuf_puts(&a->text, "It had a processor for ");
	strbuf_percent(&a->text, ran, time);
	if (kept_off > (time - ran) / 2) {
		put_kept_off(a, kept_off, ran, time);
		return;
	}
	strbuf_puts(
		&a->text,
		" of the time. Else it waited, or other programs had the processors: ");
	put_where(a);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/compared.h"

#include <string.h>

#include "cmd/reading/diff_events.h"
#include "cmd/reading/missing.h"
#include "view/answer.h"

void compared_deinit(struct compared *c)
{
	own_diff_destroy(c->diff);
	diff_sources_deinit(&c->sources);
	profile_destroy(c->profile);
	vec_deinit(&c->paths);
	vec_deinit(&c->events);
}

struct error *compared_take(struct compared *c, const struct arguments *args)
{
	for (size_t i = 0; i < args->count; i++)
		if (!vec_push(&c->paths, args->values[i]))
			return error_no_memory();
	c->before = 1;
	return NULL;
}

/* --- Reading ------------------------------------------------------------ */

static struct error *add_recording(struct compared *c, size_t i, int *exit_code)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	const struct faults *faults;
	struct error *error;

	c->input->path = c->paths.data[i];
	error = input_open(c->input, &converter);
	if (!error)
		error = convert_add_to_profile(converter, c->profile);
	if (error)
		return error;
	faults = &vec_last(&c->profile->recordings)->faults;
	missing_warn_of(c->paths.data[i], faults, FAULT_LINES_DAMAGE);
	missing_warn_of(c->paths.data[i], faults, FAULT_LINES_FILE);
	missing_set_exit_code(faults, exit_code);
	return NULL;
}

static struct error *read_recordings(struct compared *c, int *exit_code)
{
	struct error *error = profile_create(NULL, &c->profile);

	c->input->options.inlines = c->input->inlines;
	progress_start(c->progress, &c->input->options);
	for (size_t i = 0; !error && i < c->paths.count; i++)
		error = add_recording(c, i, exit_code);
	progress_end(c->progress);
	return error;
}

/* --- Events ------------------------------------------------------------- */

static bool has_filter(const struct input *input)
{
	return input->comms || input->pids || input->tids || input->cpus ||
	       input->time;
}

static struct error *find_events(struct compared *c)
{
	const struct profile *profile = c->profile;
	uint32_t first = answer_event(profile);
	const char *name = c->event;
	const struct diff_event_search search = { .profile = profile,
						  .paths = c->paths.data,
						  .is_asked = name };
	struct error *error = NULL;

	if (!name && first == PROFILE_NONE && has_filter(c->input))
		return error_create(ERROR_NOT_FOUND,
				    "no samples of CPU time with Python frames pass the filters");
	if (!name && first == PROFILE_NONE)
		return error_create(ERROR_NOT_FOUND,
				    "the recordings have no samples of CPU time with Python frames; name another event with --event, or compare native functions with 'perf diff'");
	if (!name)
		name = profile_string(profile, profile->events.data[first].name,
				      "");
	for (uint32_t i = 0; !error && i < c->paths.count; i++) {
		uint32_t event = PROFILE_NONE;

		error = diff_event_find(&search, i, name, &event);
		if (!error && !vec_push(&c->events, event))
			error = error_no_memory();
	}
	return error;
}

/* --- By time or by share ------------------------------------------------ */

static const char *what_is_compared(const struct profile_event *event)
{
	if (event->unit != EVENT_NANOSECONDS)
		return "Compared are the counts of a run; --by share compares shares of them.";
	switch (event->kind) {
	case EVENT_WALL:
		return "Compared is the wall time of a run; --by share compares shares of it.";
	case EVENT_TASKS:
		return "Compared is the time of tasks and threads of a run; --by share compares shares of it.";
	case EVENT_WAIT:
		return "Compared is the waiting time of a run; --by share compares shares of it.";
	case EVENT_GIL:
		return "Compared is the time with the GIL of a run; --by share compares shares of it.";
	case EVENT_OCCURRENCE:
		return "Compared is the time of a run; --by share compares shares of it.";
	default:
		return "Compared is the CPU time of a run; --by share compares shares of it.";
	}
}

static struct error *choose_by(struct compared *c)
{
	const struct profile *profile = c->profile;
	const char *text = c->by_text;

	if (text && strcmp(text, "time") && strcmp(text, "share"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--by is 'time' or 'share', not '%s'", text);
	c->by = text && !strcmp(text, "share") ? OWN_DIFF_BY_SHARE :
						   OWN_DIFF_BY_TIME;
	if (text)
		return NULL;
	c->why = what_is_compared(&profile->events.data[c->events.data[0]]);
	vec_for_each(recording, &profile->recordings) {
		if (metadata_subject(&recording->metadata) ==
		    SUBJECT_COMMAND)
			continue;
		c->by = OWN_DIFF_BY_SHARE;
		c->why = "Shares are compared: a recording is of what ran already; or choose --by time.";
	}
	return NULL;
}

/* The oldest of some recordings, as far as their files tell. */
static int64_t recorded_at(const struct compared *c, size_t first, size_t end)
{
	int64_t oldest = 0;

	for (size_t i = first; i < end; i++) {
		int64_t time = input_recorded(c->paths.data[i]);

		if (time && (!oldest || time < oldest))
			oldest = time;
	}
	return oldest;
}

static struct sources sources_of(const struct compared *c, size_t first,
				 size_t end)
{
	return (struct sources){
		.symfs = c->input->symfs,
		.recorded = recorded_at(c, first, end),
		.recordings = { c->profile, (uint32_t)first, (uint32_t)end },
	};
}

/* --- All of it ---------------------------------------------------------- */

struct error *compared_read(struct compared *c, int *exit_code)
{
	struct error *error = read_recordings(c, exit_code);

	return error ? error : find_events(c);
}

struct error *compared_measure(struct compared *c)
{
	struct own_diff_options options = {
		.events = c->events.data,
		.before = c->before,
		.after = c->paths.count - c->before,
		.without_libraries = c->without_libraries,
		.lines = diff_sources_lines,
		.line_after = diff_sources_line_after,
		.arg = &c->sources,
	};
	struct error *error = choose_by(c);

	if (error)
		return error;
	options.by = c->by;
	c->sources.profile = c->profile;
	c->sources.before = sources_of(c, 0, c->before);
	c->sources.after = sources_of(c, c->before, c->paths.count);
	return own_diff_create(c->profile, &options, &c->diff);
}

struct page_compare compared_page(const struct compared *c)
{
	return (struct page_compare){ .diff = c->diff,
				      .by = c->by,
				      .why = c->why,
				      .paths = { c->paths.data[PAGE_BEFORE],
						 c->paths.data[PAGE_AFTER] } };
}

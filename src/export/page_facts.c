// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_facts.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/plural.h"
#include "export/page_changes.h"
#include "export/recorded.h"
#include "profile/own_time.h"
#include "profile/sample_faults.h"
#include "view/answer.h"
#include "view/diff_text.h"
#include "view/fault_text.h"
#include "view/place_name.h"
#include "view/spent_text.h"

/* Of a line, which a page breaks by itself. */
enum { FACT_COLUMNS = 400 };

struct page_facts {
	const struct profile *profile;
	const struct export_options *options;
	struct page_columns *columns;
	/* That the page begins with. */
	uint32_t event;
	struct own_time *own;
	struct page_numbers labels;
	struct page_numbers texts;
	struct page_numbers notes;
};

static struct error *add_fact(struct page_facts *f, const char *label,
			      const char *text)
{
	uint32_t label_text, number;
	struct error *error;

	if (!*text)
		return NULL;
	error = page_text(f->columns, label, &label_text);
	if (!error)
		error = page_text(f->columns, text, &number);
	if (error)
		return error;
	return vec_push(&f->labels, label_text) && vec_push(&f->texts, number) ?
		       NULL :
		       error_no_memory();
}

/* Takes the text. */
static struct error *take_fact(struct page_facts *f, const char *label,
			       struct strbuf *text)
{
	struct error *error = strbuf_error(text);

	if (!error)
		error = add_fact(f, label, text->data);
	strbuf_deinit(text);
	return error;
}

static uint32_t first_event(const struct profile *profile)
{
	uint32_t event = answer_event(profile);

	for (uint32_t i = 0; event == PROFILE_NONE && i < profile->events.count;
	     i++)
		if (profile->events.data[i].samples &&
		    event_kind_is_shown(profile->events.data[i].kind))
			event = i;
	return event == PROFILE_NONE ? 0 : event;
}

/* --- What was recorded -------------------------------------------------- */

static struct error *add_summary(struct page_facts *f, struct strbuf *title)
{
	static const char *const labels[ANSWER_PIECES] = {
		[ANSWER_PROGRAM] = "Program",
		[ANSWER_PYTHON] = "Python",
		[ANSWER_TIME] = "Time",
		[ANSWER_SAMPLES] = "Samples",
	};
	const struct answer_options options = {
		.columns = FACT_COLUMNS,
		.folder = f->options->folder,
		.is_filtered = f->options->is_filtered,
		.is_document = true,
	};
	_cleanup_place_names_ struct place_names *names = NULL;
	struct strbuf pieces[ANSWER_PIECES];
	struct error *error =
		place_names_create(f->profile, options.folder, &names);

	for (size_t i = 0; i < ANSWER_PIECES; i++)
		pieces[i] = (struct strbuf)STRBUF_INIT;
	if (!error)
		error = answer_summary(f->profile, f->event, &options, f->own,
				       names, pieces);
	if (!error)
		strbuf_puts(title, pieces[ANSWER_PROGRAM].data);
	for (size_t i = 0; i < ANSWER_PIECES; i++) {
		struct error *failed = take_fact(f, labels[i], &pieces[i]);

		if (error)
			error_destroy(failed);
		else
			error = failed;
	}
	return error;
}

/* "old.data, which took 730 ms CPU: 729 samples, none lost" */
static void put_before(const struct page_facts *f, struct strbuf *pieces,
		       struct strbuf *out)
{
	bool is_time = f->profile->events.data[f->event].unit ==
		       EVENT_NANOSECONDS;

	strbuf_printf(out, "%s%s%s: %s",
		      f->options->compare->paths[PAGE_BEFORE],
		      is_time ? ", which took " : "",
		      is_time ? pieces[ANSWER_TIME].data : "",
		      pieces[ANSWER_SAMPLES].data);
	if (*pieces[ANSWER_PYTHON].data)
		strbuf_printf(out, ", %s", pieces[ANSWER_PYTHON].data);
}

static struct error *add_before(struct page_facts *f)
{
	const struct own_diff_run *run =
		&f->options->compare->diff->runs.data[PAGE_BEFORE];
	const struct answer_options options = { .columns = FACT_COLUMNS,
						.is_filtered = true };
	_cleanup_place_names_ struct place_names *names = NULL;
	struct strbuf pieces[ANSWER_PIECES], text = STRBUF_INIT;
	struct error *error = place_names_create(f->profile, NULL, &names);

	for (size_t i = 0; i < ANSWER_PIECES; i++)
		pieces[i] = (struct strbuf)STRBUF_INIT;
	if (!error)
		error = answer_summary(f->profile, run->event, &options,
				       run->own, names, pieces);
	if (!error)
		put_before(f, pieces, &text);
	for (size_t i = 0; i < ANSWER_PIECES; i++)
		strbuf_deinit(&pieces[i]);
	if (!error)
		return take_fact(f, "Compared with", &text);
	strbuf_deinit(&text);
	return error;
}

static struct error *add_spent(struct page_facts *f)
{
	struct strbuf text = STRBUF_INIT;

	spent_text_kinds(f->profile, f->event, f->own, &text);
	return take_fact(f, "Spent in", &text);
}

/* Of two recordings that are compared the page is of one. */
static bool is_shown(const struct page_facts *f, uint32_t recording)
{
	return !f->options->compare || recording == PAGE_AFTER;
}

static struct error *add_events(struct page_facts *f)
{
	struct error *error = NULL;

	vec_for_each(event, &f->profile->events) {
		struct strbuf text = STRBUF_INIT;

		if (!event->samples || !event_kind_is_shown(event->kind) ||
		    !is_shown(f, event->recording))
			continue;
		strbuf_printf(&text, "%s: %" PRIu64 " sample%s",
			      profile_string(f->profile, event->name, ""),
			      event->samples, plural(event->samples));
		if (event->lost)
			strbuf_printf(&text, ", %" PRIu64 " lost", event->lost);
		if (!error)
			error = take_fact(f, "Event", &text);
		else
			strbuf_deinit(&text);
	}
	return error;
}

/* --- Where and how ------------------------------------------------------ */

static void put_time(int64_t seconds, struct strbuf *out)
{
	time_t at = (time_t)seconds;
	struct tm when;
	char text[64];

	if (seconds > 0 && gmtime_r(&at, &when) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &when))
		strbuf_puts(out, text);
}

static void put_python(const struct metadata_python *python, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu32 ".%" PRIu32 ".%" PRIu32 " %s",
		      python->version >> 24, python->version >> 16 & 0xff,
		      python->version >> 8 & 0xff,
		      python->path ? python->path : "");
}

static void put_machine(const struct metadata *m, struct strbuf *out)
{
	const char *const parts[] = { m->hostname, m->cpu, m->os_release };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i] && *parts[i])
			strbuf_printf(out, "%s%s", out->len ? ", " : "",
				      parts[i]);
	if (m->cpus_online)
		strbuf_printf(out, ", %" PRIu32 " CPU%s", m->cpus_online,
			      plural(m->cpus_online));
}

static struct error *add_recording(struct page_facts *f,
				   const struct metadata *m)
{
	struct strbuf text = STRBUF_INIT;
	struct error *error;

	export_command(m, &text);
	error = take_fact(f, "Command", &text);
	vec_for_each(python, &m->pythons) {
		put_python(python, &text);
		if (!error)
			error = take_fact(f, "Interpreter", &text);
	}
	put_machine(m, &text);
	if (!error)
		error = take_fact(f, "Machine", &text);
	put_time(m->recorded, &text);
	if (!error)
		error = take_fact(f, "Recorded", &text);
	if (!error && m->tool_version)
		error = add_fact(f, "Recorder", m->tool_version);
	strbuf_deinit(&text);
	return error;
}

/* --- What is wrong with it ---------------------------------------------- */

static struct error *add_lines(struct page_facts *f, const char *lines)
{
	struct error *error = NULL;

	while (!error && *lines) {
		size_t n = strcspn(lines, "\n");
		_cleanup_free_ char *line = strndup(lines, n);
		uint32_t number;

		error = line ? page_text(f->columns, line, &number) :
			       error_no_memory();
		if (!error && n && !vec_push(&f->notes, number))
			error = error_no_memory();
		lines += n + (lines[n] == '\n');
	}
	return error;
}

static struct error *add_changes(struct page_facts *f)
{
	const struct page_compare *compare = f->options->compare;
	const struct diff_text_options options = {
		.columns = FACT_COLUMNS,
		.folder = f->options->folder,
		.paths = compare->paths,
		.by = compare->by,
		.why = compare->why,
	};
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	struct error *error = diff_text_notes(f->profile, compare->diff,
					      &options, &lines);

	return error ? error : add_lines(f, lines.data);
}

static struct error *add_notes(struct page_facts *f)
{
	const struct answer_options options = {
		.columns = FACT_COLUMNS,
		.folder = f->options->folder,
		.is_filtered = f->options->is_filtered,
	};
	_cleanup_faults_ struct faults faults = {};
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	uint64_t samples;
	struct error *error =
		sample_faults(f->profile, f->event, &samples, &faults);

	/* Of two recordings, add_changes() says it. */
	if (!error && !f->options->compare)
		error = answer_waits(f->profile, f->event, &options, f->own,
				     &lines);
	if (error)
		return error;
	answer_doubts(f->profile, f->event, &options, f->own, &lines);
	fault_notes(&faults, samples, "", &lines);
	answer_notes(f->profile, f->event, f->own, &lines);
	error = strbuf_error(&lines);
	return error ? error : add_lines(f, lines.data);
}

/* --- All of it ---------------------------------------------------------- */

static struct error *add_columns(struct page_facts *f, const struct strbuf *title)
{
	struct page_columns *c = f->columns;
	struct page_numbers page = {};
	uint32_t number;
	struct error *error = page_text(c, title->data, &number);

	if (!error && !(vec_push(&page, number) && vec_push(&page, f->event)))
		error = error_no_memory();
	if (!error)
		error = page_column_add_numbers(c, "page", &page);
	vec_deinit(&page);
	if (!error)
		error = page_column_add_numbers(c, "fact.label", &f->labels);
	if (!error)
		error = page_column_add_numbers(c, "fact.text", &f->texts);
	return error ? error :
		       page_column_add_numbers(c, "note.text", &f->notes);
}

static struct error *add_all(struct page_facts *f, struct strbuf *title)
{
	struct error *error = own_time_create(f->profile, f->event, &f->own);

	if (!error)
		error = add_summary(f, title);
	if (!error && f->options->compare)
		error = add_before(f);
	if (!error)
		error = add_spent(f);
	if (!error)
		error = add_events(f);
	for (uint32_t i = 0; !error && i < f->profile->recordings.count; i++)
		if (is_shown(f, i))
			error = add_recording(
				f, &f->profile->recordings.data[i].metadata);
	if (!error && f->options->compare)
		error = add_changes(f);
	if (!error)
		error = add_notes(f);
	return error ? error : add_columns(f, title);
}

static uint32_t event_of(const struct profile *profile,
			 const struct export_options *options)
{
	if (options->compare)
		return options->compare->diff->runs.data[PAGE_AFTER].event;
	return options->event == PROFILE_NONE ? first_event(profile) :
						options->event;
}

struct error *page_facts_add(const struct profile *profile,
			     const struct export_options *options,
			     struct page_columns *columns, struct strbuf *title)
{
	struct page_facts f = { .profile = profile,
				.options = options,
				.columns = columns,
				.event = event_of(profile, options) };
	struct error *error = add_all(&f, title);

	own_time_destroy(f.own);
	vec_deinit(&f.labels);
	vec_deinit(&f.texts);
	vec_deinit(&f.notes);
	return error;
}

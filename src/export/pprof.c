// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile: a gzipped message Profile of
 * https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * A sample is a stack of a thread. Each event has two values, how many samples
 * there are and what they weigh; a sample has values of its own event alone.
 * Ids count from 1 in the order of the file, which some readers demand.
 */
#include <inttypes.h>

#include "base/pprof_fields.h"
#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "export/recorded.h"
#include "export/stacks.h"
#include "profile/texts.h"

struct pprof {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct gzip gzip;
	uint32_t program;
	/* The table of strings; the first is "". */
	struct texts strings;
	/* Groups that begin another event. */
	VEC(size_t) events;
	/* A message, one in it, and one in that; a text. */
	struct strbuf message;
	struct strbuf part;
	struct strbuf small;
	struct strbuf text;
	struct export_sums sums;
	bool failed;
};

static uint32_t string(struct pprof *p, const char *text)
{
	uint32_t number = 0;
	struct error *error = texts_intern(&p->strings, text, &number);

	p->failed |= error != NULL;
	error_destroy(error);
	return number;
}

/* A message of the profile is done. */
static void put_message(struct pprof *p, enum profile_field field)
{
	strbuf_clear(&p->small);
	protobuf_message(&p->small, field, &p->message);
	p->failed |= p->small.failed;
	gzip_write(&p->gzip, p->small.data, p->small.len);
	strbuf_clear(&p->message);
}

static void put_number(struct pprof *p, enum profile_field field,
		       uint64_t value)
{
	strbuf_clear(&p->small);
	protobuf_u64(&p->small, field, value);
	p->failed |= p->small.failed;
	gzip_write(&p->gzip, p->small.data, p->small.len);
}

/* --- types of values --- */

static const struct export_group *group_of(const struct pprof *p, size_t event)
{
	return &p->groups->all.data[p->events.data[event]];
}

static const char *type_name(const struct pprof *p, size_t event)
{
	return export_weight_name(p->groups, group_of(p, event));
}

static const char *unit_name(const struct pprof *p, size_t event)
{
	return export_weight_unit(p->groups, group_of(p, event));
}

static const char *count_name(struct pprof *p, size_t event)
{
	strbuf_clear(&p->text);
	strbuf_puts(&p->text, "samples");
	if (p->events.count > 1)
		strbuf_printf(&p->text, ":%s", type_name(p, event));
	return p->text.data;
}

static void put_type(struct pprof *p, enum profile_field field,
		     const char *type, const char *unit)
{
	protobuf_u64(&p->message, VALUE_TYPE_TYPE, string(p, type));
	protobuf_u64(&p->message, VALUE_TYPE_UNIT, string(p, unit));
	put_message(p, field);
}

static void put_types(struct pprof *p)
{
	for (size_t i = 0; i < p->events.count; i++) {
		put_type(p, PROFILE_SAMPLE_TYPE, count_name(p, i), "count");
		put_type(p, PROFILE_SAMPLE_TYPE, type_name(p, i),
			 unit_name(p, i));
	}
	put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, string(p, type_name(p, 0)));
}

static void put_period(struct pprof *p)
{
	uint64_t period = export_weight_period(p->groups, group_of(p, 0));

	if (!period)
		return;
	put_type(p, PROFILE_PERIOD_TYPE, type_name(p, 0), unit_name(p, 0));
	put_number(p, PROFILE_PERIOD, period);
}

/* --- samples --- */

static void put_label(struct pprof *p, const char *key, const char *value)
{
	strbuf_clear(&p->part);
	protobuf_u64(&p->part, LABEL_KEY, string(p, key));
	protobuf_u64(&p->part, LABEL_STR, string(p, value));
	protobuf_message(&p->message, SAMPLE_LABEL, &p->part);
}

static void put_number_label(struct pprof *p, const char *key, int32_t value)
{
	strbuf_clear(&p->text);
	strbuf_printf(&p->text, "%" PRId32, value);
	put_label(p, key, p->text.data);
}

static void put_labels(struct pprof *p, const struct export_thread *thread)
{
	put_label(p, "thread",
		  profile_string(p->stacks->profile, thread->name,
				 "[unknown]"));
	put_label(p, "process", export_process_name(p->groups, thread));
	put_number_label(p, "pid", thread->pid);
	put_number_label(p, "tid", thread->tid);
}

static void put_values(struct pprof *p, size_t event,
		       const struct export_sum *sum)
{
	strbuf_clear(&p->part);
	for (size_t i = 0; i < p->events.count; i++) {
		protobuf_packed(&p->part, i == event ? sum->samples : 0);
		protobuf_packed(&p->part, i == event ? sum->weight : 0);
	}
	protobuf_message(&p->message, SAMPLE_VALUE, &p->part);
}

static void put_sample(struct pprof *p, size_t event,
		       const struct export_thread *thread,
		       const struct export_sum *sum)
{
	strbuf_clear(&p->part);
	for (uint32_t node = sum->node; node != PROFILE_NONE;
	     node = p->stacks->nodes.data[node].parent)
		protobuf_packed(&p->part,
				p->stacks->nodes.data[node].place + 1ull);
	protobuf_message(&p->message, SAMPLE_LOCATION, &p->part);
	put_values(p, event, sum);
	put_labels(p, thread);
	put_message(p, PROFILE_SAMPLE);
}

static void put_samples(struct pprof *p)
{
	size_t event = 0;

	for (size_t i = 0; i < p->groups->all.count; i++) {
		const struct export_group *group = &p->groups->all.data[i];

		while (event + 1 < p->events.count &&
		       p->events.data[event + 1] <= i)
			event++;
		p->failed |= !export_group_sums(p->groups, group, &p->sums);
		vec_for_each(sum, &p->sums)
			put_sample(p, event,
				   &p->groups->threads.data[group->thread],
				   sum);
	}
}

/* --- what the samples are of --- */

/* The DSO of the interpreter, or another: a reader takes the first for the program. */
static uint32_t program_of(const struct profile *profile)
{
	vec_for_each(frame, &profile->frames)
		if ((frame->flags & PROFILE_FRAME_IN_CPYTHON) &&
		    frame->dso != PROFILE_NONE)
			return frame->dso;
	return 0;
}

/* That of the program is 1; the others have the order of DSOs. */
static uint64_t mapping_id(const struct pprof *p, uint32_t dso)
{
	if (dso == p->program)
		return 1;
	return dso < p->program ? dso + 2ull : dso + 1ull;
}

static uint32_t dso_of_mapping(const struct pprof *p, size_t id)
{
	if (id == 1)
		return p->program;
	return (uint32_t)(id - 2 < p->program ? id - 2 : id - 1);
}

/* All DSOs. Their addresses are of no use to a reader. */
static void put_mappings(struct pprof *p)
{
	const struct profile *profile = p->stacks->profile;

	for (size_t id = 1; id <= profile->dsos.count; id++) {
		const struct profile_dso *dso =
			profile_dso(profile, dso_of_mapping(p, id));

		protobuf_u64(&p->message, MAPPING_ID, id);
		protobuf_u64(&p->message, MAPPING_FILENAME,
			     string(p, profile_string(profile, dso->long_name,
						      "")));
		protobuf_u64(&p->message, MAPPING_BUILD_ID,
			     string(p, profile_string(profile, dso->build_id,
						      "")));
		/* All is named: nobody is to look for more by addresses. */
		for (uint32_t field = MAPPING_HAS_FUNCTIONS;
		     field <= MAPPING_HAS_INLINE_FRAMES; field++)
			protobuf_u64(&p->message, field, 1);
		put_message(p, PROFILE_MAPPING);
	}
}

static void put_locations(struct pprof *p)
{
	for (size_t i = 0; i < p->stacks->places.count; i++) {
		const struct export_place *place = &p->stacks->places.data[i];
		const struct export_function *function =
			&p->stacks->functions.data[place->function];

		protobuf_u64(&p->message, LOCATION_ID, i + 1);
		if (function->object != PROFILE_NONE)
			protobuf_u64(&p->message, LOCATION_MAPPING,
				     mapping_id(p, function->object));
		strbuf_clear(&p->part);
		protobuf_u64(&p->part, LINE_FUNCTION, place->function + 1ull);
		protobuf_u64(&p->part, LINE_LINE, place->line);
		protobuf_message(&p->message, LOCATION_LINE, &p->part);
		put_message(p, PROFILE_LOCATION);
	}
}

static void put_functions(struct pprof *p)
{
	for (size_t i = 0; i < p->stacks->functions.count; i++) {
		const struct export_function *function =
			&p->stacks->functions.data[i];

		protobuf_u64(&p->message, FUNCTION_ID, i + 1);
		/* With a name of the system pprof would take "<lambda>" for C++. */
		protobuf_u64(&p->message, FUNCTION_NAME,
			     string(p, export_function_name(p->stacks,
							    function)));
		protobuf_u64(&p->message, FUNCTION_FILENAME,
			     string(p, export_function_source(p->stacks,
							      function)));
		protobuf_u64(&p->message, FUNCTION_START_LINE, function->line);
		put_message(p, PROFILE_FUNCTION);
	}
}

static void put_strings(struct pprof *p)
{
	vec_for_each(text, &p->strings.all) {
		strbuf_clear(&p->small);
		protobuf_text(&p->small, PROFILE_STRING_TABLE, *text);
		p->failed |= p->small.failed;
		gzip_write(&p->gzip, p->small.data, p->small.len);
	}
}

/* --- the file --- */

static void put_times(struct pprof *p)
{
	struct export_times times = export_groups_times(p->groups);

	put_number(p, PROFILE_TIME_NANOS, times.wall);
	put_number(p, PROFILE_DURATION_NANOS, times.last - times.first);
}

/* What was recorded, in the words of who did it. */
static void put_comment(struct pprof *p)
{
	vec_for_each(recording, &p->stacks->profile->recordings) {
		strbuf_clear(&p->text);
		export_command(&recording->metadata, &p->text);
		put_number(p, PROFILE_COMMENT, string(p, p->text.data));
	}
}

static void find_events(struct pprof *p)
{
	for (size_t i = 0; i < p->groups->all.count;
	     i = export_groups_end(p->groups, i))
		p->failed |= !vec_push(&p->events, i);
}

static void put_file(struct pprof *p)
{
	string(p, "");
	find_events(p);
	if (p->failed)
		return;
	put_types(p);
	put_period(p);
	put_times(p);
	put_comment(p);
	put_samples(p);
	put_mappings(p);
	put_locations(p);
	put_functions(p);
	put_strings(p);
}

static void pprof_deinit(struct pprof *p)
{
	texts_deinit(&p->strings);
	vec_deinit(&p->events);
	vec_deinit(&p->sums);
	strbuf_deinit(&p->message);
	strbuf_deinit(&p->part);
	strbuf_deinit(&p->small);
	strbuf_deinit(&p->text);
}

struct error *export_pprof(const struct profile *profile,
			   const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct pprof p = { .message = STRBUF_INIT,
			   .part = STRBUF_INIT,
			   .small = STRBUF_INIT,
			   .text = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (!error)
		error = gzip_begin(&p.gzip, out);
	if (error)
		return error;
	p.groups = groups;
	p.stacks = groups->stacks;
	p.program = program_of(profile);
	put_file(&p);
	gzip_end(&p.gzip);
	if (p.failed || p.message.failed || p.part.failed || p.text.failed)
		error = error_no_memory();
	pprof_deinit(&p);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenTelemetry profiles: a message ProfilesData, whose bytes are those of an
 * ExportProfilesServiceRequest, of opentelemetry/proto/profiles/v1development in
 * the layout of opentelemetry-proto 1.10. Layouts before it gave other numbers to
 * the same fields, and a reader of those does not notice.
 *
 * Each process is a resource with a profile for each event. A sample there is a
 * stack of a thread, with the weight and the time of each of its samples here. All
 * refers to one dictionary by indices; the first of each table is empty and means
 * "none".
 *
 * A profile says what its period is of, and no period: Pyroscope refuses samples
 * with weights and times in a profile that has one.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/protobuf.h"
#include "export/recorded.h"
#include "export/stacks.h"
#include "profile/texts.h"

/* Numbers of fields. */
enum data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum resource_profiles_field {
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
};
enum resource_field { RESOURCE_ATTRIBUTES = 1 };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };
enum scope_field { SCOPE_NAME = 1 };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum any_value_field { ANY_VALUE_STRING = 1, ANY_VALUE_INT = 3 };
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field {
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
	SAMPLE_TIMES = 5,
};
enum dictionary_field {
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_STRINGS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7,
};
enum mapping_field { MAPPING_FILENAME = 4, MAPPING_ATTRIBUTES = 5 };
enum location_field {
	LOCATION_MAPPING = 1,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field {
	FUNCTION_NAME = 1,
	FUNCTION_FILENAME = 3,
	FUNCTION_START_LINE = 4,
};
enum stack_field { STACK_LOCATIONS = 1 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };

/* A row of a group, to stand beside the others of its stack. */
struct stack_row {
	uint32_t node;
	uint32_t row;
};

struct otlp {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct export_times times;
	FILE *out;
	/* The tables of the dictionary; the first string is "". */
	struct texts strings;
	struct strbuf attributes;
	uint64_t attribute_count;
	/* Key and value, strings both, to the index of the attribute. */
	struct map attribute_of;
	struct strbuf stack_table;
	/* Of each node its index there, or 0. */
	uint32_t *stack_of;
	uint32_t stack_count;
	/* The rows of a group by their stacks. */
	VEC(struct stack_row) rows;
	/* Profiles of a process; one of them; a message in it, and one in that. */
	struct strbuf profiles;
	struct strbuf profile;
	struct strbuf message;
	struct strbuf part;
	struct strbuf small;
	bool failed;
};

static uint32_t string(struct otlp *o, const char *text)
{
	uint32_t number = 0;
	struct error *error = texts_intern(&o->strings, text, &number);

	o->failed |= error != NULL;
	error_destroy(error);
	return number;
}

/* o->message is done. */
static void end_message(struct otlp *o, struct strbuf *out, uint32_t field)
{
	protobuf_message(out, field, &o->message);
	strbuf_clear(&o->message);
}

static void end_part(struct otlp *o, struct strbuf *out, uint32_t field)
{
	protobuf_message(out, field, &o->part);
	strbuf_clear(&o->part);
}

/* --- attributes --- */

/* An AnyValue in `small`: the text, or without one the number. */
static void make_value(struct otlp *o, const char *text, int32_t number)
{
	strbuf_clear(&o->small);
	if (text)
		protobuf_text(&o->small, ANY_VALUE_STRING, text);
	else
		protobuf_u64(&o->small, ANY_VALUE_INT, (uint64_t)(int64_t)number);
}

/* The index of a new attribute. */
static uint64_t add_attribute(struct otlp *o, const char *key, const char *text,
			      int32_t number)
{
	make_value(o, text, number);
	protobuf_u64(&o->part, ATTRIBUTE_KEY, string(o, key));
	protobuf_message(&o->part, ATTRIBUTE_VALUE, &o->small);
	end_part(o, &o->attributes, DICTIONARY_ATTRIBUTES);
	return o->attribute_count++;
}

/* Each once. */
static uint64_t text_attribute(struct otlp *o, const char *key, const char *text)
{
	uint64_t pair = (uint64_t)string(o, key) << 32 | string(o, text);
	const uint64_t *known = map_find(&o->attribute_of, pair);
	uint64_t index;

	if (known)
		return *known;
	index = add_attribute(o, key, text, 0);
	o->failed |= !map_insert(&o->attribute_of, pair, index, NULL);
	return index;
}

/* An attribute of a resource, which is written out. */
static void put_resource(struct otlp *o, const char *key, const char *text,
			 int32_t number)
{
	make_value(o, text, number);
	protobuf_text(&o->part, KEY_VALUE_KEY, key);
	protobuf_message(&o->part, KEY_VALUE_VALUE, &o->small);
	end_part(o, &o->message, RESOURCE_ATTRIBUTES);
}

/* --- samples --- */

static void put_stack(struct otlp *o, uint32_t node)
{
	const struct export_node *nodes = o->stacks->nodes.data;

	strbuf_clear(&o->small);
	for (; node != PROFILE_NONE; node = nodes[node].parent)
		protobuf_packed(&o->small, nodes[node].place + 1ull);
	protobuf_message(&o->part, STACK_LOCATIONS, &o->small);
	end_part(o, &o->stack_table, DICTIONARY_STACKS);
}

static uint32_t stack_index(struct otlp *o, uint32_t node)
{
	if (!o->stack_of[node]) {
		put_stack(o, node);
		o->stack_of[node] = o->stack_count++;
	}
	return o->stack_of[node];
}

static int compare_rows(const void *left, const void *right)
{
	const struct stack_row *a = left, *b = right;
	int order = compare_u64(a->node, b->node);

	return order ? order : compare_u64(a->row, b->row);
}

/* Rows of the profile stand in the order of time. */
static void sort_rows(struct otlp *o, const struct export_group *group)
{
	vec_clear(&o->rows);
	for (size_t i = group->first; i < group->first + group->count; i++) {
		uint32_t row = o->groups->rows[i];

		o->failed |= !vec_push(&o->rows, (struct stack_row){
				export_row_node(o->groups, row), row });
	}
	qsort(o->rows.data, o->rows.count, sizeof(*o->rows.data), compare_rows);
}

static uint64_t time_of(const struct otlp *o, uint32_t row)
{
	return o->times.wall +
	       (o->stacks->profile->samples.time[row] - o->times.first);
}

/* attributes: those of the thread, packed. */
static void put_sample(struct otlp *o, const struct export_group *group,
		       const struct strbuf *attributes,
		       const struct stack_row *rows, size_t count)
{
	protobuf_u64(&o->message, SAMPLE_STACK, stack_index(o, rows->node));
	protobuf_message(&o->message, SAMPLE_ATTRIBUTES, attributes);
	for (size_t i = 0; i < count; i++)
		protobuf_packed(&o->part, export_row_weight(o->groups, group,
							    rows[i].row));
	end_part(o, &o->message, SAMPLE_VALUES);
	for (size_t i = 0; i < count; i++)
		protobuf_packed_fixed64(&o->part, time_of(o, rows[i].row));
	end_part(o, &o->message, SAMPLE_TIMES);
	end_message(o, &o->profile, PROFILE_SAMPLES);
}

static void put_samples(struct otlp *o, const struct export_group *group)
{
	const struct export_thread *thread =
		&o->groups->threads.data[group->thread];
	const char *name = profile_string(o->stacks->profile, thread->name, NULL);
	_cleanup_strbuf_ struct strbuf attributes = STRBUF_INIT;
	size_t count;

	protobuf_packed(&attributes,
			add_attribute(o, "thread.id", NULL, thread->tid));
	if (name)
		protobuf_packed(&attributes,
				text_attribute(o, "thread.name", name));
	sort_rows(o, group);
	for (size_t i = 0; i < o->rows.count; i += count) {
		const struct stack_row *rows = o->rows.data + i;

		for (count = 1; i + count < o->rows.count &&
				rows[count].node == rows->node;)
			count++;
		put_sample(o, group, &attributes, rows, count);
	}
	o->failed |= attributes.failed;
}

/* --- a profile: an event of a process --- */

static void put_type(struct otlp *o, uint32_t field,
		     const struct export_group *group)
{
	protobuf_u64(&o->message, VALUE_TYPE_TYPE,
		     string(o, export_weight_name(o->groups, group)));
	protobuf_u64(&o->message, VALUE_TYPE_UNIT,
		     string(o, export_weight_unit(o->groups, group)));
	end_message(o, &o->profile, field);
}

static void put_profile(struct otlp *o, const struct export_group *const *groups,
			size_t count)
{
	put_type(o, PROFILE_SAMPLE_TYPE, groups[0]);
	for (size_t i = 0; i < count; i++)
		put_samples(o, groups[i]);
	protobuf_fixed64(&o->profile, PROFILE_TIME, o->times.wall);
	/* The time of the last sample has to lie before the end. */
	protobuf_u64(&o->profile, PROFILE_DURATION,
		     o->times.last - o->times.first + 1);
	put_type(o, PROFILE_PERIOD_TYPE, groups[0]);
	protobuf_message(&o->profiles, SCOPE_PROFILES_PROFILES, &o->profile);
	strbuf_clear(&o->profile);
}

/* --- a resource: a process --- */

static void put_process(struct otlp *o, const struct export_thread *thread)
{
	const struct profile *profile = o->stacks->profile;
	const char *host =
		thread->recording < profile->recordings.count ?
			profile->recordings.data[thread->recording]
				.metadata.hostname :
			NULL;

	put_resource(o, "process.pid", NULL, thread->pid);
	put_resource(o, "process.executable.name",
		     export_process_name(o->groups, thread), 0);
	if (host)
		put_resource(o, "host.name", host, 0);
	strbuf_clear(&o->profile);
	end_message(o, &o->profile, RESOURCE_PROFILES_RESOURCE);
}

static void put_scope(struct otlp *o)
{
	protobuf_text(&o->message, SCOPE_NAME, "kaa");
	strbuf_clear(&o->part);
	end_message(o, &o->part, SCOPE_PROFILES_SCOPE);
	strbuf_append(&o->part, o->profiles.data, o->profiles.len);
	o->failed |= o->profiles.failed;
	strbuf_clear(&o->profiles);
}

static void write_message(struct otlp *o, enum data_field field,
			  const struct strbuf *message)
{
	strbuf_clear(&o->small);
	protobuf_message(&o->small, field, message);
	o->failed |= o->small.failed;
	fwrite(o->small.data, 1, o->small.len, o->out);
}

static size_t same_event(const struct export_group *const *groups, size_t count)
{
	size_t n = 1;

	while (n < count && groups[n]->event == groups[0]->event)
		n++;
	return n;
}

/* Its groups: by event, then by thread. */
static void put_resource_profiles(struct otlp *o,
				  const struct export_group *const *groups,
				  size_t count)
{
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		n = same_event(groups + i, count - i);
		put_profile(o, groups + i, n);
	}
	put_process(o, &o->groups->threads.data[groups[0]->thread]);
	put_scope(o);
	end_part(o, &o->profile, RESOURCE_PROFILES_SCOPE_PROFILES);
	write_message(o, DATA_RESOURCE_PROFILES, &o->profile);
	strbuf_clear(&o->profile);
}

static uint32_t process_of(const struct otlp *o, const struct export_group *group)
{
	return o->groups->threads.data[group->thread].first;
}

/* Groups by their processes; else in the order that they have. */
static int compare_groups(const void *left, const void *right, void *arg)
{
	const struct export_group *a = *(const struct export_group *const *)left;
	const struct export_group *b = *(const struct export_group *const *)right;
	int order = compare_u64(process_of(arg, a), process_of(arg, b));

	return order ? order : (a > b) - (a < b);
}

static void put_processes(struct otlp *o)
{
	size_t count = o->groups->all.count, n;
	_cleanup_free_ const struct export_group **sorted =
		calloc(count, sizeof(const struct export_group *));

	o->failed |= !sorted;
	if (!sorted)
		return;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &o->groups->all.data[i];
	qsort_r(sorted, count, sizeof(const struct export_group *),
		compare_groups, o);
	for (size_t i = 0; i < count; i += n) {
		for (n = 1; i + n < count && process_of(o, sorted[i + n]) ==
						     process_of(o, sorted[i]);)
			n++;
		put_resource_profiles(o, sorted + i, n);
	}
}

/* --- the dictionary --- */

static void put_empty(struct otlp *o, struct strbuf *out,
		      enum dictionary_field field)
{
	strbuf_clear(&o->part);
	protobuf_message(out, field, &o->part);
}

/* All DSOs. */
static void put_mappings(struct otlp *o, struct strbuf *out)
{
	const struct profile *profile = o->stacks->profile;

	put_empty(o, out, DICTIONARY_MAPPINGS);
	vec_for_each(dso, &profile->dsos) {
		const char *id = profile_string(profile, dso->build_id, NULL);
		uint64_t attribute;

		protobuf_u64(&o->message, MAPPING_FILENAME,
			     string(o, profile_string(profile, dso->long_name,
						      "")));
		if (id) {
			attribute = text_attribute(
				o, "process.executable.build_id.gnu", id);
			protobuf_packed(&o->part, attribute);
			end_part(o, &o->message, MAPPING_ATTRIBUTES);
		}
		end_message(o, out, DICTIONARY_MAPPINGS);
	}
}

/* As OpenTelemetry's conventions have it; NULL: none of those. */
static const char *frame_type(const struct export_function *function)
{
	switch ((enum profile_frame_kind)function->kind) {
	case PROFILE_FRAME_PYTHON:
		return "cpython";
	case PROFILE_FRAME_NATIVE:
		return "native";
	case PROFILE_FRAME_KERNEL:
		return "kernel";
	case PROFILE_FRAME_MARKER:
		break;
	}
	return NULL;
}

static void put_location(struct otlp *o, const struct export_place *place)
{
	const struct export_function *function =
		&o->stacks->functions.data[place->function];
	const char *type = frame_type(function);

	if (function->object != PROFILE_NONE)
		protobuf_u64(&o->message, LOCATION_MAPPING,
			     function->object + 1ull);
	protobuf_u64(&o->part, LINE_FUNCTION, place->function + 1ull);
	protobuf_u64(&o->part, LINE_LINE, place->line);
	end_part(o, &o->message, LOCATION_LINES);
	if (type) {
		uint64_t attribute =
			text_attribute(o, "profile.frame.type", type);

		protobuf_packed(&o->part, attribute);
		end_part(o, &o->message, LOCATION_ATTRIBUTES);
	}
}

static void put_locations(struct otlp *o, struct strbuf *out)
{
	put_empty(o, out, DICTIONARY_LOCATIONS);
	vec_for_each(place, &o->stacks->places) {
		put_location(o, place);
		end_message(o, out, DICTIONARY_LOCATIONS);
	}
}

static void put_functions(struct otlp *o, struct strbuf *out)
{
	put_empty(o, out, DICTIONARY_FUNCTIONS);
	vec_for_each(function, &o->stacks->functions) {
		protobuf_u64(&o->message, FUNCTION_NAME,
			     string(o, export_function_name(o->stacks,
							    function)));
		protobuf_u64(&o->message, FUNCTION_FILENAME,
			     string(o, export_function_source(o->stacks,
							      function)));
		protobuf_u64(&o->message, FUNCTION_START_LINE, function->line);
		end_message(o, out, DICTIONARY_FUNCTIONS);
	}
}

static void put_dictionary(struct otlp *o)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	put_mappings(o, &out);
	put_locations(o, &out);
	put_functions(o, &out);
	put_empty(o, &out, DICTIONARY_LINKS);
	strbuf_append(&out, o->attributes.data, o->attributes.len);
	strbuf_append(&out, o->stack_table.data, o->stack_table.len);
	vec_for_each(text, &o->strings.all)
		protobuf_text(&out, DICTIONARY_STRINGS, *text);
	write_message(o, DATA_DICTIONARY, &out);
	o->failed |= out.failed;
}

/* --- the file --- */

static void put_file(struct otlp *o)
{
	string(o, "");
	o->stack_of = calloc(o->stacks->nodes.count + 1, sizeof(*o->stack_of));
	o->failed |= !o->stack_of;
	if (o->failed)
		return;
	put_empty(o, &o->attributes, DICTIONARY_ATTRIBUTES);
	o->attribute_count = 1;
	put_empty(o, &o->stack_table, DICTIONARY_STACKS);
	o->stack_count = 1;
	put_processes(o);
	put_dictionary(o);
}

static void otlp_deinit(struct otlp *o)
{
	texts_deinit(&o->strings);
	map_deinit(&o->attribute_of);
	vec_deinit(&o->rows);
	free(o->stack_of);
	strbuf_deinit(&o->attributes);
	strbuf_deinit(&o->stack_table);
	strbuf_deinit(&o->profiles);
	strbuf_deinit(&o->profile);
	strbuf_deinit(&o->message);
	strbuf_deinit(&o->part);
	strbuf_deinit(&o->small);
}

static bool has_failed(const struct otlp *o)
{
	return o->failed || o->attributes.failed || o->stack_table.failed ||
	       o->profile.failed || o->message.failed || o->part.failed;
}

struct error *export_otlp(const struct profile *profile,
			  const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct otlp o = { .out = out,
			  .attributes = STRBUF_INIT,
			  .stack_table = STRBUF_INIT,
			  .profiles = STRBUF_INIT,
			  .profile = STRBUF_INIT,
			  .message = STRBUF_INIT,
			  .part = STRBUF_INIT,
			  .small = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (error)
		return error;
	o.groups = groups;
	o.stacks = groups->stacks;
	o.times = export_groups_times(groups);
	put_file(&o);
	if (has_failed(&o))
		error = error_no_memory();
	otlp_deinit(&o);
	return error;
}

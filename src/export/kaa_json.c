// SPDX-License-Identifier: GPL-2.0-only
/*
 * kaa's own JSON, for scripts: docs/formats/export-json.md is its manual. A
 * change that a reader of the last version would take for something else raises
 * JSON_VERSION.
 */
#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/json.h"
#include "export/recorded.h"
#include "export/stacks.h"

enum { JSON_VERSION = 1 };

struct kaa_json {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct export_times times;
	/* The options ask for it. */
	bool python_only;
	struct json json;
	struct strbuf text;
};

static void begin_list(struct kaa_json *k, const char *name)
{
	json_line(&k->json);
	json_key(&k->json, name);
	json_begin(&k->json, '[');
}

static void end_list(struct kaa_json *k)
{
	json_end(&k->json, ']');
}

static void begin_row(struct kaa_json *k)
{
	json_line(&k->json);
	json_begin(&k->json, '{');
}

static void end_row(struct kaa_json *k)
{
	json_end(&k->json, '}');
}

static void put_true(struct kaa_json *k, const char *name)
{
	json_key(&k->json, name);
	json_word(&k->json, "true");
}

/* --- the recording --- */

static void put_recordings(struct kaa_json *k)
{
	begin_list(k, "recordings");
	vec_for_each(recording, &k->stacks->profile->recordings) {
		const struct metadata *m = &recording->metadata;

		begin_row(k);
		strbuf_clear(&k->text);
		export_command(m, &k->text);
		json_member_string(&k->json, "command", k->text.data);
		json_member_string(&k->json, "hostname",
				   m->hostname ? m->hostname : "");
		end_row(k);
	}
	end_list(k);
}

static const char *kind_name(enum event_kind kind)
{
	return kind == EVENT_ON_CPU ? "cpu" :
	       kind == EVENT_WAIT   ? "wait" :
	       event_kind_is_wall(kind) ? "wall" :
					  "occurrence";
}

static const char *unit_name(enum event_unit unit)
{
	return unit == EVENT_NANOSECONDS ? "nanoseconds" :
	       unit == EVENT_BYTES	 ? "bytes" :
					   "count";
}

/* All of the recording, by their numbers. */
static void put_events(struct kaa_json *k)
{
	const struct profile *profile = k->stacks->profile;

	begin_list(k, "events");
	vec_for_each(event, &profile->events) {
		begin_row(k);
		json_member_string(&k->json, "name",
				   profile_string(profile, event->name, ""));
		json_member_string(&k->json, "kind", kind_name(event->kind));
		json_member_string(&k->json, "unit",
				   event->period ? unit_name(event->unit) :
						   "samples");
		json_member_u64(&k->json, event->is_freq ? "frequency" : "period",
				event->sample_period);
		json_member_u64(&k->json, "lost", event->lost);
		if (k->python_only || event->python_only)
			put_true(k, "python_only");
		end_row(k);
	}
	end_list(k);
}

static void put_threads(struct kaa_json *k)
{
	begin_list(k, "threads");
	vec_for_each(thread, &k->groups->threads) {
		begin_row(k);
		json_member_u64(&k->json, "recording", thread->recording);
		json_key(&k->json, "pid");
		json_i64(&k->json, thread->pid);
		json_key(&k->json, "tid");
		json_i64(&k->json, thread->tid);
		json_member_string(&k->json, "name",
				   profile_string(k->stacks->profile,
						  thread->name, ""));
		json_member_string(&k->json, "process",
				   export_process_name(k->groups, thread));
		end_row(k);
	}
	end_list(k);
}

/* --- stacks --- */

static void put_functions(struct kaa_json *k)
{
	begin_list(k, "functions");
	vec_for_each(function, &k->stacks->functions) {
		begin_row(k);
		json_member_string(&k->json, "name",
				   export_function_name(k->stacks, function));
		json_member_string(&k->json, "kind", export_function_kind(function));
		json_member_string(&k->json, "file",
				   export_function_source(k->stacks, function));
		json_member_string(&k->json, "object",
				   export_function_object(k->stacks, function));
		json_member_u64(&k->json, "line", function->line);
		end_row(k);
	}
	end_list(k);
}

static void put_stacks(struct kaa_json *k)
{
	json_line(&k->json);
	json_key(&k->json, "stacks");
	json_begin(&k->json, '{');
	begin_list(k, "parent");
	vec_for_each(node, &k->stacks->nodes)
		json_i64(&k->json, node->parent == PROFILE_NONE ?
					   -1 :
					   (int64_t)node->parent);
	end_list(k);
	begin_list(k, "function");
	vec_for_each(node, &k->stacks->nodes)
		json_u64(&k->json,
			 k->stacks->places.data[node->place].function);
	end_list(k);
	begin_list(k, "line");
	vec_for_each(node, &k->stacks->nodes)
		json_u64(&k->json, k->stacks->places.data[node->place].line);
	end_list(k);
	json_end(&k->json, '}');
}

/* --- samples: by event, by thread, in the order of time --- */

static void put_same(struct kaa_json *k, const char *name, size_t member)
{
	begin_list(k, name);
	vec_for_each(group, &k->groups->all) {
		uint32_t value;

		value = *(const uint32_t *)((const char *)group + member);
		for (size_t i = 0; i < group->count; i++)
			json_u64(&k->json, value);
	}
	end_list(k);
}

typedef uint64_t value_fn(const struct kaa_json *k,
			  const struct export_group *group, uint32_t row);

static uint64_t stack_of(const struct kaa_json *k,
			 const struct export_group *group, uint32_t row)
{
	(void)group;
	return export_row_node(k->groups, row);
}

static uint64_t time_of(const struct kaa_json *k,
			const struct export_group *group, uint32_t row)
{
	(void)group;
	return k->stacks->profile->samples.time[row] - k->times.first;
}

static uint64_t weight_of(const struct kaa_json *k,
			  const struct export_group *group, uint32_t row)
{
	return export_row_weight(k->groups, group, row);
}

static void put_column(struct kaa_json *k, const char *name, value_fn *value)
{
	begin_list(k, name);
	vec_for_each(group, &k->groups->all)
		for (size_t i = 0; i < group->count; i++)
			json_u64(&k->json,
				 value(k, group,
				       k->groups->rows[group->first + i]));
	end_list(k);
}

static void put_samples(struct kaa_json *k)
{
	json_line(&k->json);
	json_key(&k->json, "samples");
	json_begin(&k->json, '{');
	put_same(k, "event", offsetof(struct export_group, event));
	put_same(k, "thread", offsetof(struct export_group, thread));
	put_column(k, "stack", stack_of);
	put_column(k, "time", time_of);
	put_column(k, "weight", weight_of);
	json_end(&k->json, '}');
}

static void put_file(struct kaa_json *k)
{
	json_begin(&k->json, '{');
	json_member_string(&k->json, "format", "kaa");
	json_member_u64(&k->json, "version", JSON_VERSION);
	json_member_u64(&k->json, "start", k->times.wall);
	put_recordings(k);
	put_events(k);
	put_threads(k);
	put_functions(k);
	put_stacks(k);
	put_samples(k);
	json_end(&k->json, '}');
}

struct error *export_json(const struct profile *profile,
			  const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct kaa_json k = { .python_only = options->stacks.python_only,
			      .json = JSON_INIT(out),
			      .text = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (error)
		return error;
	k.groups = groups;
	k.stacks = groups->stacks;
	k.times = export_groups_times(groups);
	put_file(&k);
	error = json_finish(&k.json);
	if (!error)
		error = strbuf_error(&k.text);
	strbuf_deinit(&k.text);
	return error;
}

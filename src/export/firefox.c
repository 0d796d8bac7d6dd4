// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processed format of the Firefox Profiler (https://profiler.firefox.com):
 * JSON whose tables are objects of columns of one length. What a version has is in
 * docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler; a
 * reader upgrades older versions and refuses newer ones. This is version 70.
 *
 * Each event of a thread is a thread there. Its samples stand in the order of
 * time, and weigh what they weigh here.
 */
#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/json.h"
#include "export/recorded.h"
#include "export/stacks.h"

enum { GECKO_VERSION = 36, PROCESSED_VERSION = 70 };

/* Indexes of categories[]. */
enum category { CATEGORY_OTHER, CATEGORY_PYTHON, CATEGORY_NATIVE, CATEGORY_KERNEL };

static const struct {
	const char *name;
	const char *color;
} categories[] = {
	/* A reader needs a grey one. */
	[CATEGORY_OTHER] = { "Other", "grey" },
	[CATEGORY_PYTHON] = { "Python", "yellow" },
	[CATEGORY_NATIVE] = { "Native", "blue" },
	[CATEGORY_KERNEL] = { "Kernel", "orange" },
};

enum { CATEGORIES = sizeof(categories) / sizeof(*categories) };

/* A type of resources: a library. */
enum { RESOURCE_LIBRARY = 1 };

struct firefox {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct export_times times;
	struct json json;
	struct strbuf text;
};

/* --- columns --- */

static void begin_column(struct firefox *f, const char *name)
{
	json_line(&f->json);
	json_key(&f->json, name);
	json_begin(&f->json, '[');
}

static void end_column(struct firefox *f)
{
	json_end(&f->json, ']');
}

/* A column of one word throughout. */
static void put_same(struct firefox *f, const char *name, const char *word,
		     size_t count)
{
	begin_column(f, name);
	for (size_t i = 0; i < count; i++)
		json_word(&f->json, word);
	end_column(f);
}

/* A table without rows: its columns, and its length. */
static void put_empty_table(struct firefox *f, const char *name,
			    const char *const *columns)
{
	json_key(&f->json, name);
	json_begin(&f->json, '{');
	for (; *columns; columns++) {
		json_key(&f->json, *columns);
		json_word(&f->json, "[]");
	}
	json_member_u64(&f->json, "length", 0);
	json_end(&f->json, '}');
}

static void begin_table(struct firefox *f, const char *name)
{
	json_line(&f->json);
	json_key(&f->json, name);
	json_begin(&f->json, '{');
}

static void end_table(struct firefox *f, size_t length)
{
	json_member_u64(&f->json, "length", length);
	json_end(&f->json, '}');
}

/* --- what all threads share --- */

static const struct export_function *function_at(const struct firefox *f,
						 size_t place)
{
	return &f->stacks->functions.data[f->stacks->places.data[place].function];
}

static enum category category_of(const struct export_function *function)
{
	switch ((enum profile_frame_kind)function->kind) {
	case PROFILE_FRAME_PYTHON:
		return CATEGORY_PYTHON;
	case PROFILE_FRAME_NATIVE:
		return CATEGORY_NATIVE;
	case PROFILE_FRAME_KERNEL:
		return CATEGORY_KERNEL;
	case PROFILE_FRAME_MARKER:
		break;
	}
	return CATEGORY_OTHER;
}

static void put_u64_or_null(struct firefox *f, uint64_t value)
{
	if (value)
		json_u64(&f->json, value);
	else
		json_word(&f->json, "null");
}

/* prefixOffset: how many rows before it the caller stands; 0: there is none. */
static void put_stack_table(struct firefox *f)
{
	size_t count = f->stacks->nodes.count;

	begin_table(f, "stackTable");
	begin_column(f, "frame");
	vec_for_each(node, &f->stacks->nodes)
		json_u64(&f->json, node->place);
	end_column(f);
	begin_column(f, "prefixOffset");
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = f->stacks->nodes.data[i].parent;

		json_u64(&f->json, parent == PROFILE_NONE ? 0 : i - parent);
	}
	end_column(f);
	end_table(f, count);
}

static void put_frame_table(struct firefox *f)
{
	size_t count = f->stacks->places.count;

	begin_table(f, "frameTable");
	begin_column(f, "func");
	vec_for_each(place, &f->stacks->places)
		json_u64(&f->json, place->function);
	end_column(f);
	begin_column(f, "line");
	vec_for_each(place, &f->stacks->places)
		put_u64_or_null(f, place->line);
	end_column(f);
	begin_column(f, "category");
	for (size_t i = 0; i < count; i++)
		json_u64(&f->json, category_of(function_at(f, i)));
	end_column(f);
	put_same(f, "subcategory", "0", count);
	put_same(f, "column", "null", count);
	put_same(f, "address", "-1", count);
	put_same(f, "lib", "-1", count);
	put_same(f, "inlineDepth", "0", count);
	put_same(f, "nativeSymbol", "null", count);
	put_same(f, "innerWindowID", "0", count);
	put_same(f, "originalLocation", "null", count);
	end_table(f, count);
}

/* Python functions are what is JavaScript there: the source view is theirs. */
static void put_function_table(struct firefox *f)
{
	size_t count = f->stacks->functions.count;

	begin_table(f, "funcTable");
	begin_column(f, "name");
	vec_for_each(function, &f->stacks->functions)
		json_u64(&f->json, function->name);
	end_column(f);
	begin_column(f, "isJS");
	vec_for_each(function, &f->stacks->functions)
		json_word(&f->json, function->kind == PROFILE_FRAME_PYTHON ?
					    "true" :
					    "false");
	end_column(f);
	begin_column(f, "resource");
	vec_for_each(function, &f->stacks->functions)
		json_i64(&f->json, function->object == PROFILE_NONE ?
					   -1 :
					   (int64_t)function->object);
	end_column(f);
	begin_column(f, "source");
	vec_for_each(function, &f->stacks->functions) {
		if (function->file == PROFILE_NONE)
			json_word(&f->json, "null");
		else
			json_u64(&f->json, function->file);
	}
	end_column(f);
	begin_column(f, "lineNumber");
	vec_for_each(function, &f->stacks->functions)
		put_u64_or_null(f, function->line);
	end_column(f);
	put_same(f, "relevantForJS", "false", count);
	put_same(f, "columnNumber", "null", count);
	put_same(f, "originalLocation", "null", count);
	end_table(f, count);
}

/* --- strings: names of functions, and behind them files, and DSOs --- */

static size_t file_string(const struct firefox *f, size_t file)
{
	return f->stacks->names.all.count + file;
}

static size_t dso_string(const struct firefox *f, size_t dso)
{
	return file_string(f, f->stacks->files.all.count) + dso;
}

static void put_resource_table(struct firefox *f)
{
	size_t count = f->stacks->profile->dsos.count;

	begin_table(f, "resourceTable");
	begin_column(f, "name");
	for (size_t i = 0; i < count; i++)
		json_u64(&f->json, dso_string(f, i));
	end_column(f);
	put_same(f, "host", "null", count);
	begin_column(f, "type");
	for (size_t i = 0; i < count; i++)
		json_u64(&f->json, RESOURCE_LIBRARY);
	end_column(f);
	end_table(f, count);
}

static void put_strings(struct firefox *f)
{
	const struct profile *profile = f->stacks->profile;

	begin_column(f, "stringArray");
	vec_for_each(name, &f->stacks->names.all)
		json_str(&f->json, *name);
	vec_for_each(file, &f->stacks->files.all)
		json_str(&f->json, *file);
	vec_for_each(dso, &profile->dsos)
		json_str(&f->json,
			 profile_string(profile, dso->long_name, ""));
	end_column(f);
}

static void put_sources(struct firefox *f)
{
	size_t count = f->stacks->files.all.count;

	begin_table(f, "sources");
	put_same(f, "id", "null", count);
	begin_column(f, "filename");
	for (size_t i = 0; i < count; i++)
		json_u64(&f->json, file_string(f, i));
	end_column(f);
	put_same(f, "startLine", "1", count);
	put_same(f, "startColumn", "1", count);
	put_same(f, "sourceMapURL", "null", count);
	put_same(f, "content", "null", count);
	end_table(f, count);
}

static void put_shared(struct firefox *f)
{
	static const char *const symbols[] = { "libIndex", "address", "name",
					       "functionSize", NULL };
	static const char *const places[] = { "source", "line", "column", NULL };

	json_key(&f->json, "shared");
	json_begin(&f->json, '{');
	put_stack_table(f);
	put_frame_table(f);
	put_function_table(f);
	put_resource_table(f);
	put_empty_table(f, "nativeSymbols", symbols);
	put_sources(f);
	put_empty_table(f, "sourceLocationTable", places);
	put_strings(f);
	json_end(&f->json, '}');
}

/* --- threads --- */

static const struct profile_event *event_of(const struct firefox *f,
					    const struct export_group *group)
{
	return &f->stacks->profile->events.data[group->event];
}

static bool is_time(const struct firefox *f, const struct export_group *group)
{
	return event_of(f, group)->unit == EVENT_NANOSECONDS &&
	       !group->by_samples;
}

/* As the format has it for what a weight counts. */
static const char *weight_type(const struct firefox *f,
			       const struct export_group *group)
{
	if (is_time(f, group))
		return "tracing-ms";
	return event_of(f, group)->unit == EVENT_BYTES ? "bytes" : "samples";
}

static void put_weight(struct firefox *f, const struct export_group *group,
		       uint32_t row)
{
	uint64_t weight = export_row_weight(f->groups, group, row);

	if (is_time(f, group))
		json_ms(&f->json, weight);
	else
		json_u64(&f->json, weight);
}

static void put_samples(struct firefox *f, const struct export_group *group)
{
	const uint32_t *rows = f->groups->rows + group->first;
	const uint64_t *times = f->stacks->profile->samples.time;

	begin_table(f, "samples");
	begin_column(f, "stack");
	for (size_t i = 0; i < group->count; i++)
		json_u64(&f->json, export_row_node(f->groups, rows[i]));
	end_column(f);
	begin_column(f, "time");
	for (size_t i = 0; i < group->count; i++)
		json_ms(&f->json, times[rows[i]] - f->times.first);
	end_column(f);
	begin_column(f, "weight");
	for (size_t i = 0; i < group->count; i++)
		put_weight(f, group, rows[i]);
	end_column(f);
	json_member_string(&f->json, "weightType", weight_type(f, group));
	/* The processor's time since the sample before: how busy it is drawn. */
	if (event_of(f, group)->kind == EVENT_ON_CPU && is_time(f, group)) {
		begin_column(f, "threadCPUDelta");
		for (size_t i = 0; i < group->count; i++)
			json_u64(&f->json,
				 export_row_weight(f->groups, group, rows[i]));
		end_column(f);
	}
	end_table(f, group->count);
}

static const char *thread_name(struct firefox *f,
			       const struct export_group *group,
			       const struct export_thread *thread)
{
	strbuf_clear(&f->text);
	strbuf_puts(&f->text, profile_string(f->stacks->profile, thread->name,
					     "[unknown]"));
	if (export_event_is_said(f->groups, group))
		strbuf_printf(&f->text, " [%s]",
			      export_event_name(f->groups, group));
	return f->text.data;
}

static void put_pid(struct firefox *f, int32_t pid)
{
	strbuf_clear(&f->text);
	strbuf_printf(&f->text, "%" PRId32, pid);
	json_member_string(&f->json, "pid", f->text.data);
}

static void put_thread(struct firefox *f, const struct export_group *group)
{
	static const char *const markers[] = { "category", "data", "endTime",
					       "name", "phase", "startTime",
					       NULL };
	const struct export_thread *thread =
		&f->groups->threads.data[group->thread];

	json_line(&f->json);
	json_begin(&f->json, '{');
	json_member_string(&f->json, "name", thread_name(f, group, thread));
	json_key(&f->json, "isMainThread");
	json_word(&f->json, thread->tid == thread->pid ? "true" : "false");
	json_member_string(&f->json, "processName",
			   export_process_name(f->groups, thread));
	json_member_string(&f->json, "processType", "default");
	put_pid(f, thread->pid);
	json_key(&f->json, "tid");
	json_i64(&f->json, thread->tid);
	json_member_u64(&f->json, "registerTime", 0);
	json_key(&f->json, "unregisterTime");
	json_word(&f->json, "null");
	json_member_u64(&f->json, "processStartupTime", 0);
	json_key(&f->json, "processShutdownTime");
	json_word(&f->json, "null");
	json_key(&f->json, "pausedRanges");
	json_word(&f->json, "[]");
	put_samples(f, group);
	put_empty_table(f, "markers", markers);
	json_end(&f->json, '}');
}

/* --- the file --- */

static void put_categories(struct firefox *f)
{
	json_key(&f->json, "categories");
	json_begin(&f->json, '[');
	for (size_t i = 0; i < CATEGORIES; i++) {
		json_begin(&f->json, '{');
		json_member_string(&f->json, "name", categories[i].name);
		json_member_string(&f->json, "color", categories[i].color);
		json_key(&f->json, "subcategories");
		json_word(&f->json, "[\"Other\"]");
		json_end(&f->json, '}');
	}
	json_end(&f->json, ']');
}

/* ms between samples, as far as the first event has a frequency of time. */
static void put_interval(struct firefox *f)
{
	const struct export_group *group = f->groups->all.data;
	const struct profile_event *event = event_of(f, group);
	uint64_t ns = 1000000;

	if (event->is_freq && event->sample_period)
		ns = 1000000000 / event->sample_period;
	else if (is_time(f, group) && event->sample_period)
		ns = event->sample_period;
	json_key(&f->json, "interval");
	json_ms(&f->json, ns);
}

static const char *command_of(struct firefox *f)
{
	strbuf_clear(&f->text);
	if (f->stacks->profile->recordings.count)
		export_command(&f->stacks->profile->recordings.data[0].metadata,
			       &f->text);
	return f->text.data;
}

static void put_meta(struct firefox *f)
{
	json_key(&f->json, "meta");
	json_begin(&f->json, '{');
	put_interval(f);
	json_key(&f->json, "startTime");
	json_ms(&f->json, f->times.wall);
	json_member_u64(&f->json, "processType", 0);
	json_member_string(&f->json, "product", command_of(f));
	json_member_u64(&f->json, "stackwalk", 1);
	json_member_u64(&f->json, "version", GECKO_VERSION);
	json_member_u64(&f->json, "preprocessedProfileVersion",
			PROCESSED_VERSION);
	put_categories(f);
	json_key(&f->json, "markerSchema");
	json_word(&f->json, "[]");
	json_key(&f->json, "symbolicated");
	json_word(&f->json, "true");
	json_key(&f->json, "usesOnlyOneStackType");
	json_word(&f->json, "true");
	json_key(&f->json, "sourceCodeIsNotOnSearchfox");
	json_word(&f->json, "true");
	json_key(&f->json, "sampleUnits");
	json_word(&f->json,
		  "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
	json_member_string(&f->json, "importedFrom", "kaa");
	json_end(&f->json, '}');
}

static void put_file(struct firefox *f)
{
	json_begin(&f->json, '{');
	put_meta(f);
	json_line(&f->json);
	json_key(&f->json, "libs");
	json_word(&f->json, "[]");
	put_shared(f);
	json_line(&f->json);
	json_key(&f->json, "threads");
	json_begin(&f->json, '[');
	vec_for_each(group, &f->groups->all)
		put_thread(f, group);
	json_end(&f->json, ']');
	json_end(&f->json, '}');
}

struct error *export_firefox(const struct profile *profile,
			     const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct firefox f = { .json = JSON_INIT(out), .text = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (error)
		return error;
	f.groups = groups;
	f.stacks = groups->stacks;
	f.times = export_groups_times(groups);
	put_file(&f);
	error = json_finish(&f.json);
	if (!error)
		error = strbuf_error(&f.text);
	strbuf_deinit(&f.text);
	return error;
}

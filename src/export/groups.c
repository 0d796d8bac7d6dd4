// SPDX-License-Identifier: GPL-2.0-only
#include "export/groups.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"

/* --- threads --- */

static const struct profile *profile_of(const struct export_groups *g)
{
	return g->stacks->profile;
}

static bool is_wanted(const struct export_groups *g, uint32_t event)
{
	const struct profile_event *e = &profile_of(g)->events.data[event];

	if (g->recording != PROFILE_NONE && g->recording != e->recording)
		return false;
	return g->event == PROFILE_NONE ? event_kind_is_shown(e->kind) :
					  g->event == event;
}

/* The tasks that have such samples: of each the last row, plus 1. */
static struct error *find_tasks(const struct export_groups *g, uint64_t **ret)
{
	const struct profile *profile = profile_of(g);
	const struct profile_samples *s = &profile->samples;
	uint64_t *last = calloc(profile->tasks.count + 1, sizeof(*last));

	if (!last)
		return error_no_memory();
	for (size_t i = 0; i < s->rows; i++)
		if (is_wanted(g, s->event[i]))
			last[s->task[i]] = i + 1;
	*ret = last;
	return NULL;
}

struct used_task {
	const struct profile_task *task;
	uint32_t handle;
	uint64_t last;
};

static int compare_threads(const struct profile_task *a,
			   const struct profile_task *b)
{
	int order = compare_u64(a->recording, b->recording);

	if (!order)
		order = compare_u64((uint32_t)a->pid, (uint32_t)b->pid);
	if (!order)
		order = (b->tid == b->pid) - (a->tid == a->pid);
	return order ? order :
		       compare_u64((uint32_t)a->tid, (uint32_t)b->tid);
}

static int compare_used(const void *left, const void *right)
{
	const struct used_task *a = left, *b = right;
	int order = compare_threads(a->task, b->task);

	return order ? order : compare_u64(a->last, b->last);
}

static struct error *add_thread(struct export_groups *g,
				const struct profile_task *task)
{
	uint32_t number = (uint32_t)g->threads.count;
	struct export_thread thread = { .recording = task->recording,
					.pid = task->pid,
					.tid = task->tid,
					.first = number };
	const struct export_thread *before =
		number ? vec_last(&g->threads) : NULL;

	if (before && before->pid == task->pid &&
	    before->recording == task->recording)
		thread.first = before->first;
	g->many_processes |= thread.first > 0;
	return vec_push(&g->threads, thread) ? NULL : error_no_memory();
}

/* used: sorted. The name that a thread had last wins. */
static struct error *make_threads(struct export_groups *g,
				  const struct used_task *used, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct export_thread *thread;
		struct error *error = NULL;

		if (!i || compare_threads(used[i - 1].task, used[i].task))
			error = add_thread(g, used[i].task);
		if (error)
			return error;
		thread = vec_last(&g->threads);
		thread->name = profile_task_name(used[i].task);
		if (thread->first == g->threads.count - 1)
			thread->process = used[i].task->comm;
		g->thread_of[used[i].handle] = (uint32_t)g->threads.count - 1;
	}
	return NULL;
}

static struct error *find_threads(struct export_groups *g)
{
	const struct profile *profile = profile_of(g);
	size_t tasks = profile->tasks.count, count = 0;
	_cleanup_free_ struct used_task *used =
		calloc(tasks + 1, sizeof(*used));
	_cleanup_free_ uint64_t *last = NULL;
	struct error *error = find_tasks(g, &last);

	g->thread_of = calloc(tasks + 1, sizeof(*g->thread_of));
	if (error || !used || !g->thread_of)
		return error ? error : error_no_memory();
	for (size_t i = 0; i < tasks; i++)
		if (last[i])
			used[count++] = (struct used_task){
				&profile->tasks.data[i], (uint32_t)i, last[i]
			};
	qsort(used, count, sizeof(*used), compare_used);
	return make_threads(g, used, count);
}

/* --- their rows --- */

/* What rows are sorted by. */
typedef uint32_t row_key_fn(const struct export_groups *g, uint32_t row);

static uint32_t event_of_row(const struct export_groups *g, uint32_t row)
{
	return profile_of(g)->samples.event[row];
}

static uint32_t thread_of_row(const struct export_groups *g, uint32_t row)
{
	return g->thread_of[profile_of(g)->samples.task[row]];
}

/* keys: above all of them. Stable: rows of one key stay in their order. */
static struct error *sort_by(const struct export_groups *g, row_key_fn *key,
			     size_t keys, const uint32_t *rows, size_t count,
			     uint32_t *ret)
{
	_cleanup_free_ size_t *begins = calloc(keys + 1, sizeof(*begins));

	if (!begins)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		begins[key(g, rows[i]) + 1]++;
	for (size_t i = 0; i < keys; i++)
		begins[i + 1] += begins[i];
	for (size_t i = 0; i < count; i++)
		ret[begins[key(g, rows[i])]++] = rows[i];
	return NULL;
}

static size_t take_wanted(const struct export_groups *g)
{
	const struct profile_samples *s = &profile_of(g)->samples;
	size_t count = 0;

	for (size_t i = 0; i < s->rows; i++)
		if (is_wanted(g, s->event[i]))
			g->rows[count++] = (uint32_t)i;
	return count;
}

static void weigh_group(const struct export_groups *g,
			struct export_group *group)
{
	const struct profile *profile = profile_of(g);

	group->by_samples = !profile->events.data[group->event].period;
	for (size_t i = group->first; i < group->first + group->count; i++) {
		group->samples += profile->samples.count[g->rows[i]];
		group->weight += export_row_weight(g, group, g->rows[i]);
	}
}

/* The rows from `first` on that have its event and its thread. */
static size_t count_group(const struct export_groups *g, size_t first, size_t count)
{
	uint32_t row = g->rows[first];
	size_t end = first + 1;

	while (end < count &&
	       event_of_row(g, g->rows[end]) == event_of_row(g, row) &&
	       thread_of_row(g, g->rows[end]) == thread_of_row(g, row))
		end++;
	return end - first;
}

static struct error *make_groups(struct export_groups *g, size_t count)
{
	struct export_group group = {};

	for (size_t i = 0; i < count; i += group.count) {
		group = (struct export_group){
			.event = event_of_row(g, g->rows[i]),
			.thread = thread_of_row(g, g->rows[i]),
			.first = i,
			.count = count_group(g, i, count),
		};
		weigh_group(g, &group);
		if (!vec_push(&g->all, group))
			return error_no_memory();
	}
	return NULL;
}

/* By thread and then by event: of each event and thread there may be very many. */
static struct error *find_groups(struct export_groups *g)
{
	const struct profile *profile = profile_of(g);
	_cleanup_free_ uint32_t *by_thread = NULL;
	struct error *error;
	size_t count;

	g->rows = calloc(profile->samples.rows + 1, sizeof(*g->rows));
	if (!g->rows)
		return error_no_memory();
	count = take_wanted(g);
	by_thread = calloc(count + 1, sizeof(*by_thread));
	if (!by_thread)
		return error_no_memory();
	error = sort_by(g, thread_of_row, g->threads.count, g->rows, count,
			by_thread);
	if (!error)
		error = sort_by(g, event_of_row, profile->events.count,
				by_thread, count, g->rows);
	return error ? error : make_groups(g, count);
}

static struct error *create(const struct profile *profile,
			    const struct export_stacks_options *options,
			    uint32_t event, uint32_t recording,
			    struct export_groups **ret)
{
	_cleanup_export_groups_ struct export_groups *g =
		calloc(1, sizeof(*g));
	struct error *error;

	if (!g)
		return error_no_memory();
	g->event = event;
	g->recording = recording;
	error = export_stacks_create(profile, options, &g->stacks);
	if (!error) {
		g->sums = calloc(g->stacks->nodes.count + 1, sizeof(*g->sums));
		error = g->sums ? find_threads(g) : error_no_memory();
	}
	if (!error)
		error = find_groups(g);
	if (!error && !g->all.count)
		error = error_create(ERROR_NOT_FOUND,
				     "there is no sample to be exported");
	if (!error)
		*ret = take_ptr(g);
	return error;
}

struct error *export_groups_create(const struct profile *profile,
				   const struct export_stacks_options *options,
				   uint32_t event, struct export_groups **ret)
{
	return create(profile, options, event, PROFILE_NONE, ret);
}

struct error *export_groups_with_lines(const struct profile *profile,
				       const struct export_stacks_options *options,
				       uint32_t event, struct export_groups **ret)
{
	return export_groups_of_recording(profile, options, event, PROFILE_NONE,
					  ret);
}

struct error *export_groups_of_recording(const struct profile *profile,
					 const struct export_stacks_options *options,
					 uint32_t event, uint32_t recording,
					 struct export_groups **ret)
{
	struct export_stacks_options with_lines = *options;

	with_lines.lines = true;
	with_lines.compares |= recording != PROFILE_NONE;
	return create(profile, &with_lines, event, recording, ret);
}

void export_groups_destroy(struct export_groups *g)
{
	if (!g)
		return;
	export_stacks_destroy(g->stacks);
	vec_deinit(&g->threads);
	vec_deinit(&g->all);
	free(g->rows);
	free(g->thread_of);
	free(g->sums);
	free(g);
}

size_t export_groups_end(const struct export_groups *g, size_t first)
{
	size_t end = first;

	while (end < g->all.count &&
	       g->all.data[end].event == g->all.data[first].event)
		end++;
	return end;
}

bool export_groups_mixed(const struct export_groups *g)
{
	return export_groups_end(g, 0) < g->all.count;
}

/* --- what they weigh --- */

uint64_t export_row_weight(const struct export_groups *g,
			   const struct export_group *group, size_t row)
{
	const struct profile_samples *s = &profile_of(g)->samples;

	return group->by_samples ? s->count[row] : s->period[row];
}

static int compare_sums(const void *left, const void *right)
{
	const struct export_sum *a = left, *b = right;

	return compare_u64(a->node, b->node);
}

bool export_group_sums(struct export_groups *g,
		       const struct export_group *group,
		       struct export_sums *ret)
{
	vec_clear(ret);
	for (size_t i = group->first; i < group->first + group->count; i++) {
		size_t row = g->rows[i];
		uint32_t node = export_row_node(g, row);
		struct export_sum *sum = &g->sums[node];

		sum->node = node;
		if (!sum->samples && !vec_push(ret, *sum))
			return false;
		sum->samples += profile_of(g)->samples.count[row];
		sum->weight += export_row_weight(g, group, row);
	}
	vec_for_each(sum, ret) {
		uint32_t node = sum->node;

		*sum = g->sums[node];
		g->sums[node] = (struct export_sum){};
	}
	qsort(ret->data, ret->count, sizeof(*ret->data), compare_sums);
	return true;
}

/* --- what they are called --- */

const char *export_process_name(const struct export_groups *g,
				const struct export_thread *thread)
{
	return profile_string(profile_of(g),
			      g->threads.data[thread->first].process,
			      "[unknown]");
}

void export_thread_label(const struct export_groups *g,
			 const struct export_thread *thread,
			 struct strbuf *out)
{
	strbuf_puts(out, profile_string(profile_of(g), thread->name,
					"[unknown]"));
	if (g->many_processes)
		strbuf_printf(out, " (process %" PRId32 ", thread %" PRId32 ")",
			      thread->pid, thread->tid);
	else
		strbuf_printf(out, " (%" PRId32 ")", thread->tid);
}

const char *export_event_name(const struct export_groups *g,
			      const struct export_group *group)
{
	const struct profile *profile = profile_of(g);

	return profile_string(profile, profile->events.data[group->event].name,
			      "samples");
}

static const struct profile_event *event_of(const struct export_groups *g,
					    const struct export_group *group)
{
	return &profile_of(g)->events.data[group->event];
}

bool export_event_is_said(const struct export_groups *g,
			  const struct export_group *group)
{
	const struct profile_event *event = event_of(g, group);

	return export_groups_mixed(g) || (event->unit == EVENT_NANOSECONDS &&
					  event->kind != EVENT_ON_CPU);
}

const char *export_weight_name(const struct export_groups *g,
			       const struct export_group *group)
{
	const struct profile_event *event = event_of(g, group);

	if (!export_groups_mixed(g) && event->unit == EVENT_NANOSECONDS) {
		if (event->kind == EVENT_ON_CPU)
			return "cpu";
		if (event->kind == EVENT_WALL)
			return "wall";
	}
	return profile_string(profile_of(g), event->name, "event");
}

const char *export_weight_unit(const struct export_groups *g,
			       const struct export_group *group)
{
	enum event_unit unit = event_of(g, group)->unit;

	if (group->by_samples)
		return "count";
	return unit == EVENT_NANOSECONDS ? "nanoseconds" :
	       unit == EVENT_BYTES	 ? "bytes" :
					   "count";
}

/* Of a frequency of time the time between two samples follows. */
uint64_t export_weight_period(const struct export_groups *g,
			      const struct export_group *group)
{
	const struct profile_event *event = event_of(g, group);

	if (!event->sample_period || !event->is_freq)
		return event->sample_period;
	return event->unit == EVENT_NANOSECONDS ?
		       1000000000 / event->sample_period :
		       0;
}

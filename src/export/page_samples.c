// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_samples.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "export/recorded.h"
#include "profile/own_time.h"
#include "view/spent_text.h"

/* ns: what a script can tell apart on a screen. */
enum { TIME_UNIT = 1000 };
static_assert(SPENT_GIL == 6, "ui/src/data.ts knows it by its number");
static_assert(SPENT_GC == 7, "ui/src/data.ts knows it by its number");
static_assert(SPENT_IDLE == 12, "ui/src/data.ts knows it by its number");

struct page_samples {
	const struct export_groups *groups;
	const struct profile *profile;
	const uint32_t *numbers;
	struct page_columns *columns;
	/* Of the event at hand, by stack. */
	struct own_spent *spent;
	/* Where time in libraries is their callers', by stack: of whatever event. */
	struct own_spent *spent_without;
	/* By node a number of that, or PROFILE_NONE: it is as in samples. */
	uint32_t *libraries;
	/* Kind and subject to a number; kind and text. */
	struct map subject_index;
	struct map spent_index;
	struct page_numbers spent_kinds;
	struct page_numbers spent_texts;
	/* ns. */
	uint64_t first;
	uint64_t unit;
	/* Of samples. */
	struct page_numbers times;
	struct page_numbers stacks;
	struct page_numbers spents;
	VEC(double) weights;
	/* Of groups: its first time, and what each sample weighs; 0: see weights. */
	VEC(double) begins;
	VEC(double) fixed;
};

static void samples_deinit(struct page_samples *s)
{
	free(s->spent);
	free(s->spent_without);
	free(s->libraries);
	map_deinit(&s->subject_index);
	map_deinit(&s->spent_index);
	vec_deinit(&s->spent_kinds);
	vec_deinit(&s->spent_texts);
	vec_deinit(&s->times);
	vec_deinit(&s->stacks);
	vec_deinit(&s->spents);
	vec_deinit(&s->weights);
	vec_deinit(&s->begins);
	vec_deinit(&s->fixed);
}

/* --- Samples ------------------------------------------------------------ */

/* Subjects that are called alike are one: malloc() and free() are allocation. */
static struct error *spent_number(struct page_samples *s,
				  const struct own_spent *spent, uint32_t *ret)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	struct error *error;
	uint32_t text;
	uint64_t *at;

	spent_text_part(s->profile, spent->kind, spent->subject, &words);
	error = strbuf_error(&words);
	if (!error)
		error = page_text(s->columns, words.data, &text);
	if (error)
		return error;
	at = map_insert(&s->spent_index, (uint64_t)spent->kind << 32 | text,
			s->spent_kinds.count, NULL);
	if (!at || (*at == s->spent_kinds.count &&
		    !(vec_push(&s->spent_kinds, (uint32_t)spent->kind) &&
		      vec_push(&s->spent_texts, text))))
		return error_no_memory();
	*ret = (uint32_t)*at;
	return NULL;
}

/* Of the stacks that samples have; each is asked once. */
static struct error *spent_of(struct page_samples *s,
			      const struct own_spent *spent, uint32_t *ret)
{
	uint64_t key = (uint64_t)spent->kind << 32 | spent->subject;
	uint64_t *known = map_find(&s->subject_index, key);
	struct error *error;

	if (known) {
		*ret = (uint32_t)*known;
		return NULL;
	}
	error = spent_number(s, spent, ret);
	if (error)
		return error;
	return map_insert(&s->subject_index, key, *ret, NULL) ?
		       NULL :
		       error_no_memory();
}

/*
 * What time in a library is spent on, if that is its caller's. Other kinds than these
 * are what a sample is spent on in any case.
 */
static struct error *note_library(struct page_samples *s, uint32_t stack,
				  uint32_t node)
{
	const struct own_spent *spent = &s->spent_without[stack];

	if ((spent->kind != SPENT_LIBRARY && spent->kind != SPENT_IMPORT) ||
	    spent->kind == s->spent[stack].kind ||
	    s->libraries[node] != PROFILE_NONE)
		return NULL;
	return spent_of(s, spent, &s->libraries[node]);
}

static double fixed_weight(const struct page_samples *s,
			   const struct export_group *group)
{
	const uint32_t *rows = s->groups->rows + group->first;
	uint64_t weight = export_row_weight(s->groups, group, rows[0]);

	for (size_t i = 1; i < group->count; i++)
		if (export_row_weight(s->groups, group, rows[i]) != weight)
			return 0;
	return (double)weight;
}

static struct error *add_row(struct page_samples *s,
			     const struct export_group *group, size_t row,
			     uint64_t *time)
{
	const struct profile_samples *samples = &s->profile->samples;
	uint32_t stack = samples->stack[row], spent = 0;
	uint32_t node = s->numbers[export_row_node(s->groups, row)];
	uint64_t now = (samples->time[row] - s->first) / s->unit;
	struct error *error;

	if (stack == PROFILE_NONE)
		stack = (uint32_t)s->profile->stack_parents.count;
	error = spent_of(s, &s->spent[stack], &spent);
	if (!error)
		error = note_library(s, stack, node);
	if (error)
		return error;
	if (now < *time)
		now = *time;
	if (!vec_push(&s->times, (uint32_t)(now - *time)) ||
	    !vec_push(&s->stacks, node) ||
	    !vec_push(&s->spents, spent))
		return error_no_memory();
	*time = now;
	if (*vec_last(&s->fixed) == 0 &&
	    !vec_push(&s->weights,
		      (double)export_row_weight(s->groups, group, row)))
		return error_no_memory();
	return NULL;
}

static struct error *add_group(struct page_samples *s,
			       const struct export_group *group)
{
	const uint32_t *rows = s->groups->rows + group->first;
	uint64_t time = (s->profile->samples.time[rows[0]] - s->first) / s->unit;
	struct error *error = NULL;

	if (!vec_push(&s->begins, (double)time) ||
	    !vec_push(&s->fixed, fixed_weight(s, group)))
		return error_no_memory();
	for (size_t i = 0; !error && i < group->count; i++)
		error = add_row(s, group, rows[i], &time);
	return error;
}

/* No event changes that time is spent in a library. */
static struct error *look_at_libraries(struct page_samples *s)
{
	size_t nodes = s->groups->stacks->nodes.count;

	s->libraries = calloc(nodes + 1, sizeof(*s->libraries));
	s->spent_without = calloc(s->profile->stack_parents.count + 1,
				  sizeof(*s->spent_without));
	if (!s->libraries || !s->spent_without)
		return error_no_memory();
	for (size_t i = 0; i < nodes; i++)
		s->libraries[i] = PROFILE_NONE;
	return s->groups->all.count ?
		       own_time_spent(s->profile, s->groups->all.data[0].event,
				      true, s->spent_without) :
		       NULL;
}

static struct error *add_groups(struct page_samples *s)
{
	uint32_t event = PROFILE_NONE;
	struct error *error = look_at_libraries(s);

	s->spent = calloc(s->profile->stack_parents.count + 1,
			  sizeof(*s->spent));
	if (!error && !s->spent)
		error = error_no_memory();
	if (error)
		return error;
	vec_for_each(group, &s->groups->all) {
		if (group->event != event)
			error = own_time_spent(s->profile, group->event, false,
					       s->spent);
		event = group->event;
		if (!error)
			error = add_group(s, group);
		if (error)
			return error;
	}
	return NULL;
}

/* --- Threads and events ------------------------------------------------- */

struct page_thread {
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint32_t process;
};

static struct error *add_threads(struct page_samples *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		{ "thread.pid", offsetof(struct page_thread, pid) },
		{ "thread.tid", offsetof(struct page_thread, tid) },
		{ "thread.name", offsetof(struct page_thread, name) },
		{ "thread.process", offsetof(struct page_thread, process) },
	};
	size_t count = s->groups->threads.count;
	_cleanup_free_ struct page_thread *all = calloc(count + 1, sizeof(*all));
	struct error *error = all ? NULL : error_no_memory();

	for (size_t i = 0; !error && i < count; i++) {
		const struct export_thread *t = &s->groups->threads.data[i];

		all[i].pid = (uint32_t)t->pid;
		all[i].tid = (uint32_t)t->tid;
		error = page_text(s->columns,
				  profile_string(s->profile, t->name,
						 "[unknown]"),
				  &all[i].name);
		if (!error)
			error = page_text(s->columns,
					  export_process_name(s->groups, t),
					  &all[i].process);
	}
	for (size_t m = 0; !error && m < sizeof(members) / sizeof(*members); m++)
		error = page_column_add_member(s->columns, members[m].name, all,
					       sizeof(*all), members[m].offset,
					       count);
	return error;
}

struct page_event {
	uint32_t name;
	/* enum event_kind, enum event_unit; no sample has a period: 3. */
	uint32_t kind;
	uint32_t unit;
};

enum { UNIT_SAMPLES = 3 };

static struct error *add_events(struct page_samples *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		{ "event.name", offsetof(struct page_event, name) },
		{ "event.kind", offsetof(struct page_event, kind) },
		{ "event.unit", offsetof(struct page_event, unit) },
	};
	size_t count = s->profile->events.count;
	_cleanup_free_ struct page_event *all = calloc(count + 1, sizeof(*all));
	struct error *error = all ? NULL : error_no_memory();

	for (size_t i = 0; !error && i < count; i++) {
		const struct profile_event *e = &s->profile->events.data[i];

		all[i].kind = e->kind;
		all[i].unit = e->period ? e->unit : UNIT_SAMPLES;
		error = page_text(s->columns,
				  profile_string(s->profile, e->name, ""),
				  &all[i].name);
	}
	for (size_t m = 0; !error && m < sizeof(members) / sizeof(*members); m++)
		error = page_column_add_member(s->columns, members[m].name, all,
					       sizeof(*all), members[m].offset,
					       count);
	return error;
}

/* --- All of it ---------------------------------------------------------- */

static struct error *add_group_members(struct page_samples *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		{ "group.event", offsetof(struct export_group, event) },
		{ "group.thread", offsetof(struct export_group, thread) },
		/* The lower half: there are less than 2^32 rows. */
		{ "group.count", offsetof(struct export_group, count) },
	};
	struct error *error = NULL;

	for (size_t m = 0; !error && m < sizeof(members) / sizeof(*members); m++)
		error = page_column_add_member(
			s->columns, members[m].name, s->groups->all.data,
			sizeof(*s->groups->all.data), members[m].offset,
			s->groups->all.count);
	return error;
}

/* Of stacks that samples have in a library. */
static struct error *add_libraries(struct page_samples *s)
{
	struct page_numbers stacks = {}, spents = {};
	struct error *error = NULL;

	for (uint32_t i = 0; !error && i < s->groups->stacks->nodes.count; i++)
		if (s->libraries[i] != PROFILE_NONE &&
		    !(vec_push(&stacks, i) &&
		      vec_push(&spents, s->libraries[i])))
			error = error_no_memory();
	if (!error)
		error = page_column_add_numbers(s->columns, "library.stack",
						&stacks);
	if (!error)
		error = page_column_add_numbers(s->columns, "library.spent",
						&spents);
	vec_deinit(&stacks);
	vec_deinit(&spents);
	return error;
}

static struct error *add_columns(struct page_samples *s)
{
	struct page_columns *c = s->columns;
	const double unit = (double)s->unit;
	const struct {
		const char *name;
		const struct page_numbers *numbers;
	} numbers[] = {
		{ "sample.time", &s->times },	  { "sample.stack", &s->stacks },
		{ "sample.spent", &s->spents },	  { "spent.kind", &s->spent_kinds },
		{ "spent.text", &s->spent_texts },
	};
	struct error *error = add_group_members(s);

	if (!error)
		error = add_libraries(s);
	for (size_t i = 0; !error && i < sizeof(numbers) / sizeof(*numbers); i++)
		error = page_column_add_numbers(c, numbers[i].name,
						numbers[i].numbers);
	if (!error)
		error = page_column_add(c, "sample.weight",
					s->weights.data ? s->weights.data :
							  &unit,
					sizeof(double), s->weights.count);
	if (!error)
		error = page_column_add(c, "group.begin", s->begins.data,
					sizeof(double), s->begins.count);
	if (!error)
		error = page_column_add(c, "group.fixed", s->fixed.data,
					sizeof(double), s->fixed.count);
	return error ? error :
		       page_column_add(c, "time.unit", &unit, sizeof(unit), 1);
}

struct error *page_samples_add(const struct export_groups *groups,
			       const uint32_t *numbers,
			       struct page_columns *columns)
{
	const struct export_times times = export_groups_times(groups);
	struct page_samples s = { .groups = groups,
				  .profile = groups->stacks->profile,
				  .numbers = numbers,
				  .columns = columns,
				  .first = times.first };
	struct error *error;

	s.unit = (times.last - times.first) / UINT32_MAX + 1;
	if (s.unit < TIME_UNIT)
		s.unit = TIME_UNIT;
	error = add_groups(&s);
	if (!error)
		error = add_threads(&s);
	if (!error)
		error = add_events(&s);
	if (!error)
		error = add_columns(&s);
	samples_deinit(&s);
	return error;
}

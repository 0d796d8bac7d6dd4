// SPDX-License-Identifier: GPL-2.0-only
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/profile_tables.h"

struct error *profile_create(const struct profile_options *options,
			     struct profile **ret)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	uint32_t label;

	if (!profile)
		return error_no_memory();
	profile->tables = calloc(1, sizeof(*profile->tables));
	if (!profile->tables) {
		free(profile);
		return error_no_memory();
	}
	if (options)
		profile->options = *options;
	if (profile->options.keep_cpu) {
		struct error *error = profile_add_label(
			profile, PROFILE_LABEL_CPU, &label);

		if (error) {
			profile_destroy(profile);
			return error;
		}
	}
	*ret = profile;
	return NULL;
}

static void profile_tables_destroy(struct profile_tables *tables)
{
	arena_deinit(&tables->memory);
	index_deinit(&tables->strings);
	index_deinit(&tables->dsos);
	index_deinit(&tables->symbols);
	index_deinit(&tables->frames);
	index_deinit(&tables->stacks);
	index_deinit(&tables->tasks);
	index_deinit(&tables->rows);
	free(tables);
}

static void profile_samples_deinit(struct profile_samples *samples)
{
	free(samples->time);
	free(samples->period);
	free(samples->stack);
	free(samples->task);
	free(samples->count);
	free(samples->event);
	free(samples->flags);
	vec_for_each(label, &samples->labels)
		free(label->values);
	vec_deinit(&samples->labels);
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	vec_deinit(&profile->strings);
	vec_deinit(&profile->string_lengths);
	vec_deinit(&profile->dsos);
	vec_deinit(&profile->symbols);
	vec_deinit(&profile->frames);
	vec_deinit(&profile->stack_parents);
	vec_deinit(&profile->stack_frames);
	vec_deinit(&profile->stack_depths);
	vec_deinit(&profile->tasks);
	vec_deinit(&profile->last_comms);
	vec_deinit(&profile->task_parents);
	vec_deinit(&profile->events);
	vec_for_each(recording, &profile->recordings) {
		metadata_deinit(&recording->metadata);
		faults_deinit(&recording->faults);
	}
	vec_deinit(&profile->recordings);
	profile_samples_deinit(&profile->samples);
	profile_tables_destroy(profile->tables);
	free(profile);
}

static struct error *error_full(const char *what)
{
	return error_create(ERROR_LIMIT, "the profile has too many %s", what);
}

struct string_key {
	const char *s;
	size_t n;
};

static bool string_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile *profile = column;
	const struct string_key *k = key;

	return profile->string_lengths.data[handle] == k->n &&
	       !memcmp(profile->strings.data[handle], k->s, k->n);
}

struct error *profile_intern_string(struct profile *profile, const char *s,
				    size_t n, uint32_t *ret)
{
	struct string_key key = { s, n };
	uint64_t hash = hash_bytes(s, n);
	uint32_t handle = index_find(&profile->tables->strings, hash,
				     string_equal, profile, &key);
	char *copy;

	if (handle != PROFILE_NONE) {
		*ret = handle;
		return NULL;
	}
	if (profile->strings.count >= PROFILE_MAX_HANDLES || n >= UINT32_MAX)
		return error_full("strings");
	handle = (uint32_t)profile->strings.count;
	copy = arena_strndup(&profile->tables->memory, s, n);
	if (!copy || !vec_reserve(&profile->strings, 1) ||
	    !vec_reserve(&profile->string_lengths, 1) ||
	    !index_add(&profile->tables->strings, hash, handle))
		return error_no_memory();
	(void)vec_push(&profile->strings, copy);
	(void)vec_push(&profile->string_lengths, (uint32_t)n);
	*ret = handle;
	return NULL;
}

struct error *profile_intern(struct profile *profile, const char *s,
			     uint32_t *ret)
{
	return profile_intern_string(profile, s, strlen(s), ret);
}

/*
 * The body of an intern function: looks `key` up in `index`, appends it to
 * `column` if it is new, and stores the handle in *ret.
 */
#define INTERN(index, column, hash, equal, key, what, ret)             \
	do {                                                           \
		uint64_t hash_ = (hash);                               \
		uint32_t handle_ = index_find((index), hash_, (equal), \
					      (column)->data, (key));  \
		if (handle_ == PROFILE_NONE) {                         \
			if ((column)->count >= PROFILE_MAX_HANDLES)    \
				return error_full(what);               \
			handle_ = (uint32_t)(column)->count;           \
			if (!vec_reserve((column), 1) ||               \
			    !index_add((index), hash_, handle_))       \
				return error_no_memory();              \
			(void)vec_push((column), *(key));              \
		}                                                      \
		*(ret) = handle_;                                      \
		return NULL;                                           \
	} while (0)

static bool dso_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile_dso *a =
		(const struct profile_dso *)column + handle;
	const struct profile_dso *b = key;

	return a->short_name == b->short_name && a->long_name == b->long_name &&
	       a->build_id == b->build_id && a->kind == b->kind;
}

struct error *profile_intern_dso(struct profile *profile,
				 const struct profile_dso *dso, uint32_t *ret)
{
	INTERN(&profile->tables->dsos, &profile->dsos,
	       hash_combine(hash_combine(dso->short_name, dso->long_name),
			    hash_combine(dso->build_id, dso->kind)),
	       dso_equal, dso, "files", ret);
}

static bool symbol_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile_symbol *a =
		(const struct profile_symbol *)column + handle;
	const struct profile_symbol *b = key;

	return a->start == b->start && a->end == b->end && a->dso == b->dso &&
	       a->name == b->name && a->line == b->line &&
	       a->is_nameless == b->is_nameless;
}

struct error *profile_intern_symbol(struct profile *profile,
				    const struct profile_symbol *symbol,
				    uint32_t *ret)
{
	INTERN(&profile->tables->symbols, &profile->symbols,
	       hash_combine(hash_combine(symbol->start, symbol->end),
			    hash_combine(symbol->dso, symbol->name)),
	       symbol_equal, symbol, "symbols", ret);
}

static bool frame_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile_frame *a =
		(const struct profile_frame *)column + handle;
	const struct profile_frame *b = key;

	return a->address == b->address && a->rel == b->rel &&
	       a->symbol == b->symbol && a->dso == b->dso &&
	       a->file == b->file && a->line == b->line && a->kind == b->kind &&
	       a->flags == b->flags;
}

struct error *profile_intern_frame(struct profile *profile,
				   const struct profile_frame *frame,
				   uint32_t *ret)
{
	INTERN(&profile->tables->frames, &profile->frames,
	       hash_combine(hash_combine(frame->address, frame->symbol),
			    hash_combine(frame->line, frame->dso)),
	       frame_equal, frame, "frames", ret);
}

static bool task_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile_task *a =
		(const struct profile_task *)column + handle;
	const struct profile_task *b = key;

	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
	       a->name == b->name && a->recording == b->recording;
}

struct error *profile_intern_task(struct profile *profile,
				  const struct profile_task *task,
				  uint32_t *ret)
{
	INTERN(&profile->tables->tasks, &profile->tasks,
	       hash_combine(hash_combine((uint32_t)task->pid,
					 (uint32_t)task->tid),
			    hash_combine(hash_combine(task->comm, task->name),
					 task->recording)),
	       task_equal, task, "threads", ret);
}

uint64_t profile_stack_hash(uint32_t parent, uint32_t frame)
{
	return hash_combine(parent, frame);
}

struct stack_key {
	uint32_t parent;
	uint32_t frame;
};

static bool stack_equal(const void *column, uint32_t handle, const void *key)
{
	const struct profile *profile = column;
	const struct stack_key *k = key;

	return profile->stack_parents.data[handle] == k->parent &&
	       profile->stack_frames.data[handle] == k->frame;
}

/*
 * Most stacks are the first that was called from their parent, so that they
 * stand right behind it: these are not in the index, which is slow for being
 * large. PROFILE_NONE + 1 is 0, the first of all.
 */
static uint32_t find_stack(const struct profile *profile,
			   const struct stack_key *key, uint64_t hash)
{
	size_t count = profile->stack_parents.count;
	uint32_t behind = key->parent + 1;

	/* What was added last has called nothing yet. */
	if (behind == count)
		return PROFILE_NONE;
	if (stack_equal(profile, behind, key))
		return behind;
	return index_find(&profile->tables->stacks, hash, stack_equal, profile,
			  key);
}

struct error *profile_stack_push(struct profile *profile, uint32_t parent,
				 uint32_t frame, uint32_t *ret)
{
	struct stack_key key = { parent, frame };
	uint64_t hash = profile_stack_hash(parent, frame);
	uint32_t handle = find_stack(profile, &key, hash);

	if (handle != PROFILE_NONE) {
		*ret = handle;
		return NULL;
	}
	if (profile->stack_parents.count >= PROFILE_MAX_HANDLES)
		return error_full("stacks");
	handle = (uint32_t)profile->stack_parents.count;
	if (!vec_reserve(&profile->stack_parents, 1) ||
	    !vec_reserve(&profile->stack_frames, 1) ||
	    !vec_reserve(&profile->stack_depths, 1) ||
	    (handle != parent + 1 &&
	     !index_add(&profile->tables->stacks, hash, handle)))
		return error_no_memory();
	(void)vec_push(&profile->stack_depths,
		       profile_stack_depth(profile, parent) + 1);
	(void)vec_push(&profile->stack_parents, parent);
	(void)vec_push(&profile->stack_frames, frame);
	*ret = handle;
	return NULL;
}

struct error *profile_add_event(struct profile *profile,
				const struct profile_event *event,
				uint32_t *ret)
{
	struct profile_event copy = *event;

	/* A sample names its event in 16 bits. */
	if (profile->events.count >= UINT16_MAX)
		return error_full("events");
	copy.samples = copy.period = copy.lost = 0;
	copy.leader = (uint32_t)profile->events.count;
	copy.group_name = PROFILE_NONE;
	if (!vec_push(&profile->events, copy))
		return error_no_memory();
	*ret = (uint32_t)profile->events.count - 1;
	return NULL;
}

static bool column_grow(void *column, size_t capacity, size_t size)
{
	void **data = column;
	void *bigger = realloc(*data, capacity * size);

	if (!bigger)
		return false;
	*data = bigger;
	return true;
}

static bool profile_samples_grow(struct profile_samples *s)
{
	size_t capacity = s->capacity ? s->capacity + s->capacity / 2 : 1024;

	if (!column_grow(&s->time, capacity, sizeof(*s->time)) ||
	    !column_grow(&s->period, capacity, sizeof(*s->period)) ||
	    !column_grow(&s->stack, capacity, sizeof(*s->stack)) ||
	    !column_grow(&s->task, capacity, sizeof(*s->task)) ||
	    !column_grow(&s->count, capacity, sizeof(*s->count)) ||
	    !column_grow(&s->event, capacity, sizeof(*s->event)) ||
	    !column_grow(&s->flags, capacity, sizeof(*s->flags)))
		return false;
	vec_for_each(label, &s->labels)
		if (!column_grow(&label->values, capacity,
				 sizeof(*label->values)))
			return false;
	s->capacity = capacity;
	return true;
}

void profile_find_python(const struct profile *profile, bool *ret)
{
	for (size_t i = 0; i < profile->stack_parents.count; i++) {
		uint32_t parent = profile->stack_parents.data[i];
		uint32_t frame = profile->stack_frames.data[i];

		ret[i] = profile_frame(profile, frame)->kind ==
				 PROFILE_FRAME_PYTHON ||
			 (parent != PROFILE_NONE && ret[parent]);
	}
}

uint32_t profile_find_label(const struct profile *profile, const char *name)
{
	const struct profile_samples *s = &profile->samples;

	for (size_t i = 0; i < s->labels.count; i++)
		if (!strcmp(profile->strings.data[s->labels.data[i].name],
			    name))
			return (uint32_t)i;
	return PROFILE_NONE;
}

struct error *profile_add_label(struct profile *profile, const char *name,
				uint32_t *ret)
{
	struct profile_samples *s = &profile->samples;
	struct profile_label label = {};
	struct error *error = profile_intern(profile, name, &label.name);

	if (error)
		return error;
	if (s->labels.count >= UINT16_MAX)
		return error_full("labels");
	if (s->capacity) {
		label.values = malloc(s->capacity * sizeof(*label.values));
		if (!label.values)
			return error_no_memory();
	}
	for (size_t row = 0; row < s->rows; row++)
		label.values[row] = PROFILE_NONE;
	if (!vec_push(&s->labels, label)) {
		free(label.values);
		return error_no_memory();
	}
	*ret = (uint32_t)s->labels.count - 1;
	return NULL;
}

static struct error *profile_append_row(struct profile_samples *s,
					const struct profile_sample *sample)
{
	size_t row = s->rows;

	if (row >= PROFILE_MAX_HANDLES)
		return error_full("samples");
	if (row == s->capacity && !profile_samples_grow(s))
		return error_no_memory();
	s->time[row] = sample->time;
	s->period[row] = sample->period;
	s->stack[row] = sample->stack;
	s->task[row] = sample->task;
	s->count[row] = sample->count;
	s->event[row] = sample->event;
	s->flags[row] = sample->flags;
	for (size_t i = 0; i < s->labels.count; i++)
		s->labels.data[i].values[row] = sample->labels[i];
	s->rows++;
	return NULL;
}

static bool labels_equal(const struct profile_samples *s, uint32_t row,
			 const struct profile_sample *sample)
{
	for (size_t i = 0; i < s->labels.count; i++)
		if (s->labels.data[i].values[row] != sample->labels[i])
			return false;
	return true;
}

static bool row_equal(const void *column, uint32_t row, const void *key)
{
	const struct profile_samples *s = column;
	const struct profile_sample *k = key;

	/* A count that would overflow starts a row of its own. */
	return s->stack[row] == k->stack && s->task[row] == k->task &&
	       s->event[row] == k->event && s->flags[row] == k->flags &&
	       s->count[row] <= UINT32_MAX - k->count && labels_equal(s, row, k);
}

static uint64_t row_hash(const struct profile_samples *s,
			 const struct profile_sample *sample)
{
	uint64_t hash = hash_combine(
		hash_combine(sample->stack, sample->task),
		(uint32_t)sample->event << 16 | sample->flags);

	/* A label that comes later changes nothing for those without it. */
	for (size_t i = 0; i < s->labels.count; i++)
		if (sample->labels[i] != PROFILE_NONE)
			hash = hash_combine(hash + i, sample->labels[i]);
	return hash;
}

static struct error *profile_aggregate(struct profile *profile,
				       const struct profile_sample *sample)
{
	struct profile_samples *s = &profile->samples;
	struct index *index = &profile->tables->rows;
	uint64_t hash = row_hash(s, sample);
	struct error *error;
	uint32_t row;

	row = index_find(index, hash, row_equal, s, sample);
	if (row != PROFILE_NONE) {
		s->period[row] += sample->period;
		s->count[row] += sample->count;
		return NULL;
	}
	error = profile_append_row(s, sample);
	if (!error && !index_add(index, hash, (uint32_t)s->rows - 1)) {
		s->rows--;
		error = error_no_memory();
	}
	return error;
}

/* Rows of another slice get no more samples. */
static void begin_slice(struct profile *profile, uint64_t slice)
{
	if (profile->tables->slice != slice)
		index_deinit(&profile->tables->rows);
	profile->tables->slice = slice;
}

struct error *profile_add_sample(struct profile *profile,
				 const struct profile_sample *sample)
{
	struct profile_event *event = &profile->events.data[sample->event];
	const struct profile_options *options = &profile->options;
	struct error *error;

	if (options->slice_ns)
		begin_slice(profile, sample->time / options->slice_ns);
	error = options->aggregate || options->slice_ns ?
			profile_aggregate(profile, sample) :
			profile_append_row(&profile->samples, sample);

	if (error)
		return error;
	event->samples += sample->count;
	event->period += sample->period;
	return NULL;
}

struct error *profile_add_recording(struct profile *profile, uint32_t *ret)
{
	const struct profile_recording recording = {};

	if (!vec_push(&profile->recordings, recording))
		return error_no_memory();
	*ret = (uint32_t)profile->recordings.count - 1;
	return NULL;
}

uint64_t profile_fault_count(const struct profile *profile,
			     enum fault_kind kind)
{
	uint64_t count = 0;

	vec_for_each(recording, &profile->recordings)
		count += faults_count(&recording->faults, kind);
	return count;
}

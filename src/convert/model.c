// SPDX-License-Identifier: GPL-2.0-only
/* Resolved samples to the profile model. */
#include <stdio.h>
#include <string.h>

#include "convert/model.h"
#include "convert/named_tasks.h"

/* --- Events ------------------------------------------------------------- */

static struct error *add_event(struct model *m, const struct event *event,
			       uint32_t *ret)
{
	struct profile_event e = {
		.recording = m->recording,
		.kind = event->meaning.kind,
		.unit = event->meaning.unit,
		.sample_period = event->attr.sample_period,
		.is_freq = event->attr.freq,
		.is_polled = event->meaning.is_polled,
		.python_only = event->meaning.python_only,
		.is_imported = event->meaning.is_imported,
		.has_callchain =
			event->attr.sample_type & PERF_SAMPLE_CALLCHAIN,
	};
	struct error *error;

	error = profile_intern(m->profile, event->name, &e.name);
	return error ? error : profile_add_event(m->profile, &e, ret);
}

/*
 * Adds what came to the file's table of events; of a pipe it grows. Events
 * that cannot have samples to show have no section.
 */
struct error *model_add_events(struct model *m)
{
	struct perfdata_reader *reader = converter_reader(m->converter);
	const struct events *events = perfdata_reader_events(reader);
	struct error *error;

	while (m->events.count < events->list.count) {
		const struct event *event =
			events->list.data[m->events.count];
		uint32_t handle = PROFILE_NONE;

		if (event_kind_is_shown(event->meaning.kind)) {
			error = add_event(m, event, &handle);
			if (error)
				return error;
		}
		if (!vec_push(&m->events, handle))
			return error_no_memory();
	}
	return NULL;
}

static struct error *get_event(struct model *m, const struct event *event,
			       uint32_t *ret)
{
	struct error *error;

	if (event->index >= m->events.count) {
		error = model_add_events(m);
		if (error)
			return error;
	}
	if (m->events.data[event->index] == PROFILE_NONE) {
		error = add_event(m, event, &m->events.data[event->index]);
		if (error)
			return error;
	}
	*ret = m->events.data[event->index];
	return NULL;
}

/* --- Frames and stacks -------------------------------------------------- */

/* frame: the one for which dsos are added now; it may lie in another. */
static enum profile_dso_kind dso_kind(const struct model *m,
				      const struct dso *dso,
				      const struct convert_frame *frame)
{
	if (converter_is_python(m->converter, dso))
		return PROFILE_DSO_PYTHON;
	/* A BPF program has a name alone. */
	if (dso->kind == DSO_KERNEL ||
	    (dso == frame->dso && frame->kind == PROFILE_FRAME_KERNEL))
		return PROFILE_DSO_KERNEL;
	return PROFILE_DSO_USER;
}

static struct error *add_dso(struct model *m, const struct dso *dso,
			     const struct convert_frame *frame, uint32_t *ret)
{
	struct profile_dso d = { .build_id = PROFILE_NONE,
				 .kind = dso_kind(m, dso, frame) };
	char id[BUILD_ID_TEXT_SIZE];
	struct error *error;

	error = profile_intern(m->profile, dso->name, &d.short_name);
	if (!error)
		error = profile_intern(m->profile, dso->path, &d.long_name);
	if (!error && dso->build_id.size) {
		build_id_format(&dso->build_id, id);
		error = profile_intern(m->profile, id, &d.build_id);
	}
	return error ? error : profile_intern_dso(m->profile, &d, ret);
}

/* All up to the frame's, so that they have the order of their maps. */
static struct error *get_dso(struct model *m, const struct convert_frame *frame,
			     uint32_t *ret)
{
	struct dso_store *store = converter_dsos(m->converter);

	if (!frame->dso) {
		*ret = PROFILE_NONE;
		return NULL;
	}
	while (m->dsos.count <= frame->dso->index) {
		const struct dso *dso = dso_store_at(store, m->dsos.count);
		uint32_t handle = PROFILE_NONE;
		struct error *error = add_dso(m, dso, frame, &handle);

		if (error)
			return error;
		if (!vec_push(&m->dsos, handle))
			return error_no_memory();
	}
	*ret = m->dsos.data[frame->dso->index];
	return NULL;
}

static struct error *add_symbol(struct model *m,
				const struct convert_frame *frame,
				uint32_t dso, uint32_t *ret)
{
	struct profile_symbol s = { .start = frame->start,
				    .end = frame->end,
				    .dso = dso,
				    .line = frame->def_line,
				    .body_line = convert_frame_body(frame),
				    .is_nameless = frame->is_nameless };
	struct error *error = profile_intern(m->profile, frame->name, &s.name);

	return error ? error : profile_intern_symbol(m->profile, &s, ret);
}

static struct error *get_frame(struct model *m, const struct convert_step *step,
			       uint32_t *ret);

/* The frame of the function that a step is inlined into. */
static struct error *get_real(struct model *m, const struct convert_step *step,
			      uint32_t *ret)
{
	const struct convert_step real = {
		.frame = step->frame->real,
		.kind = step->kind,
		.flags = step->flags & (uint8_t)~PROFILE_FRAME_INLINED,
	};

	return get_frame(m, &real, ret);
}

static struct error *add_frame(struct model *m, const struct convert_step *step,
			       uint32_t *ret)
{
	const struct convert_frame *frame = step->frame;
	struct profile_frame f = {
		.address = frame->address,
		.rel = frame->rel,
		.symbol = PROFILE_NONE,
		.file = PROFILE_NONE,
		.line = frame->line,
		.kind = step->kind,
		.flags = step->flags,
	};
	struct error *error = get_dso(m, frame, &f.dso);

	if (frame->in_interpreter)
		f.flags |= PROFILE_FRAME_IN_CPYTHON;
	if (frame->is_glue)
		f.flags |= PROFILE_FRAME_GLUE;
	if (frame->starts)
		f.flags |= PROFILE_FRAME_STARTS;
	if (!error && frame->is_inlined)
		error = get_real(m, step, &f.real);
	if (!error && frame->name)
		error = add_symbol(m, frame, f.dso, &f.symbol);
	if (!error && frame->file)
		error = profile_intern(m->profile, frame->file, &f.file);
	return error ? error : profile_intern_frame(m->profile, &f, ret);
}

static struct error *get_frame(struct model *m, const struct convert_step *step,
			       uint32_t *ret)
{
	bool folded = step->flags & PROFILE_FRAME_INTERPRETER;
	bool unwound = step->flags & PROFILE_FRAME_UNWOUND;
	uint32_t *handle = &step->frame->user[folded + 2 * unwound];

	if (step->flags & PROFILE_FRAME_HIT_ONLY)
		return add_frame(m, step, ret);
	if (*handle == PROFILE_NONE) {
		struct error *error = add_frame(m, step, handle);

		if (error)
			return error;
	}
	*ret = *handle;
	return NULL;
}

/*
 * Adds the step of that depth. Stacks begin as the one before did, nearly
 * always: that part needs no look-up.
 */
static struct error *push_step(struct model *m, size_t depth, uint32_t frame,
			       uint32_t parent)
{
	struct model_step step = { .frame = frame };
	struct error *error;

	if (depth < m->path.count && m->path.data[depth].frame == frame)
		return NULL;
	m->path.count = depth;
	error = profile_stack_push(m->profile, parent, frame, &step.stack);
	if (error)
		return error;
	return vec_push(&m->path, step) ? NULL : error_no_memory();
}

static struct error *push_steps(struct model *m,
				const struct convert_stack *stack,
				uint32_t *ret)
{
	uint32_t handle = PROFILE_NONE;
	struct error *error;

	for (size_t depth = 0; depth < stack->count; depth++) {
		uint32_t frame = PROFILE_NONE;

		error = get_frame(m, &stack->steps[stack->count - 1 - depth],
				  &frame);
		if (!error)
			error = push_step(m, depth, frame, handle);
		if (error)
			return error;
		handle = m->path.data[depth].stack;
	}
	*ret = handle;
	return NULL;
}

static struct error *get_stack(struct model *m, struct convert_stack *stack,
			       uint32_t *ret)
{
	if (stack->user == PROFILE_NONE) {
		struct error *error = push_steps(m, stack, &stack->user);

		if (error)
			return error;
	}
	*ret = stack->user;
	return NULL;
}

/* --- Samples ------------------------------------------------------------ */

/* Of the task found last. */
static struct error *add_parent(struct model *m)
{
	struct profile *profile = m->profile;

	if (m->task < profile->task_parents.count)
		return NULL;
	while (profile->task_parents.count < m->task)
		if (!vec_push(&profile->task_parents, 0))
			return error_no_memory();
	return vec_push(&profile->task_parents,
			converter_parent(m->converter, m->pid)) ?
		       NULL :
		       error_no_memory();
}

static struct error *get_task(struct model *m,
			      const struct convert_sample *sample,
			      uint32_t *ret)
{
	struct profile_task task = { .pid = sample->pid,
				     .tid = sample->tid,
				     .name = PROFILE_NONE,
				     .recording = m->recording };
	char unnamed[16];
	struct error *error;

	if (m->task != PROFILE_NONE && sample->pid == m->pid &&
	    sample->tid == m->tid && sample->comm == m->comm &&
	    sample->thread_name == m->thread_name) {
		*ret = m->task;
		return NULL;
	}
	snprintf(unnamed, sizeof(unnamed), ":%d", sample->tid);
	error = profile_intern(m->profile,
			       sample->comm ? sample->comm : unnamed,
			       &task.comm);
	if (!error && sample->thread_name)
		error = profile_intern(m->profile, sample->thread_name,
				       &task.name);
	if (!error)
		error = profile_intern_task(m->profile, &task, &m->task);
	if (error)
		return error;
	m->pid = sample->pid;
	m->tid = sample->tid;
	m->comm = sample->comm;
	m->thread_name = sample->thread_name;
	*ret = m->task;
	return add_parent(m);
}

/* The labels of the profile: it gets no new ones while it is filled. */
static struct error *find_labels(struct model *m)
{
	for (size_t i = 0; i < m->profile->samples.labels.count; i++)
		if (!vec_push(&m->labels, PROFILE_NONE))
			return error_no_memory();
	m->cpu_label = profile_find_label(m->profile, PROFILE_LABEL_CPU);
	return NULL;
}

struct error *model_add_sample(const struct convert_sample *sample, void *arg)
{
	struct model *m = arg;
	struct profile_sample s = {
		.time = sample->time,
		.period = sample->period,
		.labels = m->labels.data,
		.count = 1,
		.flags = sample->flags,
	};
	struct error *error;
	uint32_t event = 0;

	error = get_event(m, sample->event, &event);
	if (!error)
		error = get_task(m, sample, &s.task);
	if (!error)
		error = get_stack(m, sample->stack, &s.stack);
	if (error)
		return error;
	if (m->cpu_label != PROFILE_NONE)
		m->labels.data[m->cpu_label] = (uint32_t)sample->cpu;
	s.event = (uint16_t)event;
	return profile_add_sample(m->profile, &s);
}

/* --- What is true of the whole file ------------------------------------- */

static void add_group(struct model *m, const struct feature_group *group,
		      uint32_t name)
{
	uint32_t leader = PROFILE_NONE;

	for (size_t i = group->leader;
	     i < m->events.count && i - group->leader < group->members; i++) {
		uint32_t event = m->events.data[i];

		if (event == PROFILE_NONE)
			continue;
		if (leader == PROFILE_NONE)
			leader = event;
		m->profile->events.data[event].leader = leader;
		m->profile->events.data[event].group_name = name;
	}
}

static struct error *add_groups(struct model *m)
{
	struct feature_groups groups;
	struct feature_group group;
	struct error *error = NULL;

	features_groups(
		perfdata_reader_features(converter_reader(m->converter)),
		&groups);
	while (!error && features_next_group(&groups, &group)) {
		uint32_t name = PROFILE_NONE;

		if (strcmp(group.name, "{anon_group}"))
			error = profile_intern(m->profile, group.name, &name);
		add_group(m, &group, name);
	}
	return error;
}

static void add_lost(struct model *m)
{
	struct perfdata_reader *reader = converter_reader(m->converter);
	const struct events *events = perfdata_reader_events(reader);

	for (size_t i = 0; i < m->events.count; i++) {
		const struct event *event = events->list.data[i];
		uint32_t handle = m->events.data[i];

		if (handle != PROFILE_NONE)
			m->profile->events.data[handle].lost =
				perfdata_reader_lost_of(reader, event);
	}
}

/* Tasks are of one recording: those behind the others' are this one's. */
static struct error *add_last_comms(struct model *m)
{
	struct profile *profile = m->profile;

	for (size_t i = profile->last_comms.count; i < profile->tasks.count;
	     i++) {
		const struct profile_task *task = &profile->tasks.data[i];
		const char *name =
			converter_last_comm(m->converter, task->pid, task->tid);
		uint32_t comm = task->comm;
		struct error *error =
			name ? profile_intern(profile, name, &comm) : NULL;

		if (error)
			return error;
		if (!vec_push(&profile->last_comms, comm))
			return error_no_memory();
	}
	return NULL;
}

static struct error *describe(struct model *m)
{
	struct profile_recording *recording =
		&m->profile->recordings.data[m->recording];
	struct error *error =
		converter_faults(m->converter, &recording->faults);

	return error ? error : converter_metadata(m->converter,
						  &recording->metadata);
}

/*
 * Events are added at the first sample: where the recorder was killed their names
 * stand in records before it, not in the file's head.
 */
struct error *model_begin(struct model *m)
{
	struct error *error = profile_add_recording(m->profile, &m->recording);

	return error ? error : find_labels(m);
}

void model_forget_stacks(struct model *m)
{
	vec_clear(&m->path);
	converter_forget_stacks(m->converter);
}

void model_deinit(struct model *m)
{
	vec_deinit(&m->events);
	vec_deinit(&m->dsos);
	vec_deinit(&m->path);
	vec_deinit(&m->labels);
}

static struct error *fill(struct model *m)
{
	struct error *error = model_begin(m);

	if (!error)
		error = converter_run(m->converter, model_add_sample, m);
	if (!error)
		error = model_add_events(m);
	if (!error)
		error = add_groups(m);
	if (!error)
		error = named_tasks_keep(m->profile, m->recording,
					 converter_seen_tasks(m->converter),
					 converter_comms(m->converter));
	if (error)
		return error;
	add_lost(m);
	error = add_last_comms(m);
	return error ? error : describe(m);
}

struct error *convert_add_to_profile(struct converter *converter,
				     struct profile *profile)
{
	struct model m = MODEL_INIT(converter, profile);
	struct error *error = fill(&m);

	model_deinit(&m);
	return error;
}

struct error *convert_to_profile(struct converter *converter,
				 const struct profile_options *profile_options,
				 struct profile **ret)
{
	_cleanup_profile_ struct profile *profile = NULL;
	struct error *error = profile_create(profile_options, &profile);

	if (!error)
		error = convert_add_to_profile(converter, profile);
	if (error)
		return error;
	*ret = take_ptr(profile);
	return NULL;
}

struct error *convert_profile(const char *path,
			      const struct convert_options *options,
			      const struct profile_options *profile_options,
			      struct profile **ret)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	struct error *error = converter_open(path, options, &converter);

	if (error)
		return error;
	return convert_to_profile(converter, profile_options, ret);
}

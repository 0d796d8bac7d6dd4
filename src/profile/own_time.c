// SPDX-License-Identifier: GPL-2.0-only
#include "profile/own_time.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/installed_path.h"
#include "profile/library_files.h"
#include "profile/symbol_word.h"

/* What is known of a stack: its innermost Python frame, and what is below it. */
struct stack_state {
	/* The stack that ends with that frame; PROFILE_NONE: none is Python. */
	uint32_t python;
	/* The same of the next Python frame outwards, if this one is Python. */
	uint32_t outer;
	/* The same of the innermost one, which may be a library's that does not count. */
	uint32_t innermost;
	uint32_t function;
	uint32_t line;
	uint32_t file;
	/* A frame of what the time is spent in, or PROFILE_NONE. */
	uint32_t subject;
	struct spent_below below;
};

static const struct stack_state no_python = {
	.python = PROFILE_NONE,
	.outer = PROFILE_NONE,
	.innermost = PROFILE_NONE,
	.subject = PROFILE_NONE,
};

/* What is known of a symbol, as far as it was asked for. */
struct symbol_state {
	bool is_known;
	struct spent_symbol told;
};

/* What a Python frame counts for, as far as it was seen. */
struct frame_state {
	bool is_known;
	uint32_t function;
	uint32_t line;
	uint32_t file;
};

struct builder {
	const struct profile *profile;
	const struct own_time_options *options;
	struct own_time *out;
	struct symbol_state *symbols;
	struct frame_state *frames;
	struct stack_state *stacks;
	/* By string, if they do not count; or NULL. */
	bool *libraries;
	/* Name and def to function; file and number to line; file. */
	struct map function_index;
	struct map line_index;
	struct map file_index;
	/* A symbol or file to the first frame there. */
	struct map subject_index;
	/* Function and that to part; line and function to a number, and so on. */
	struct map part_index;
	struct map pair_index;
	struct map line_part_index;
	/* A file to its place in own_time.nameless. */
	struct map nameless_index;
	/* By function, line and file: the last row that counted for it, plus 1. */
	size_t *function_rows;
	size_t *line_rows;
	size_t *file_rows;
	/* Of wall time: how far apart ticks were, in ns; else 0. */
	double tick;
};

/* --- What symbols tell -------------------------------------------------- */

static const struct spent_symbol *ask_symbol(struct builder *b,
					     const struct profile_frame *frame)
{
	static const struct spent_symbol unnamed = { .kind = SPENT_NATIVE,
						     .is_nameless = true };
	const struct profile_symbol *symbol =
		profile_symbol(b->profile, frame->symbol);
	struct symbol_state *state;

	if (!symbol || symbol->is_nameless)
		return &unnamed;
	state = &b->symbols[frame->symbol];
	if (!state->is_known)
		state->told = spent_symbol(
			profile_string(b->profile, symbol->name, ""),
			frame->flags & PROFILE_FRAME_IN_CPYTHON);
	state->is_known = true;
	return &state->told;
}

/* --- Functions and lines ------------------------------------------------ */

struct own_entry own_entry_of(const struct profile *profile,
			      const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	return (struct own_entry){
		.is_python = frame->kind == PROFILE_FRAME_PYTHON,
		.name = symbol ? symbol->name : PROFILE_NONE,
		.file = frame->file,
		.line = symbol ? symbol->line : 0,
	};
}

bool own_entry_is_task(const struct profile *profile,
		       const struct own_entry *entry, const char **name,
		       size_t *length)
{
	return entry->is_python &&
	       task_symbol_parse(profile_string(profile, entry->name, ""), name,
				 length);
}

static struct own_entry entry_of(const struct builder *b,
				 const struct profile_frame *frame)
{
	struct own_entry entry = own_entry_of(b->profile, frame);

	entry.is_library = !entry.is_python && b->options->without_libraries;
	return entry;
}

/* The entry of that key; a new one is as `entry`. */
static struct error *find_entry(struct map *index,
				struct own_entry_vec *entries, uint64_t key,
				const struct own_entry *entry, uint32_t *ret)
{
	uint64_t *at = map_insert(index, key, entries->count, NULL);

	if (!at || (*at == entries->count && !vec_push(entries, *entry)))
		return error_no_memory();
	*ret = (uint32_t)*at;
	return NULL;
}

/* Samples without Python code are apart from code of no known file. */
static struct error *find_file(struct builder *b,
			       const struct own_entry *function, uint32_t *ret)
{
	struct own_entry entry = *function;
	uint64_t key = (uint64_t)entry.is_python << 32 | entry.file;

	entry.line = 0;
	return find_entry(&b->file_index, &b->out->files, key, &entry, ret);
}

static struct error *find_entries(struct builder *b,
				  const struct profile_frame *frame,
				  struct frame_state *state)
{
	struct own_entry entry = entry_of(b, frame);
	uint32_t def = frame->symbol == PROFILE_NONE ? entry.is_python :
						       entry.line;
	uint32_t line = frame->line ? frame->line : entry.line;
	uint64_t place = (uint64_t)frame->file << 32 | line;
	struct error *error =
		find_entry(&b->function_index, &b->out->functions,
			   (uint64_t)entry.name << 32 | def, &entry,
			   &state->function);

	if (!error)
		error = find_file(b, &entry, &state->file);
	if (error)
		return error;
	entry.line = line;
	if (!line || frame->file == PROFILE_NONE)
		place = (uint64_t)PROFILE_NONE << 32 | state->function;
	return find_entry(&b->line_index, &b->out->lines, place, &entry,
			  &state->line);
}

/* --- Stacks ------------------------------------------------------------- */

/* Of the Python frame that a stack ends with; NULL without one. */
static const struct spent_symbol *ask_stack(struct builder *b, uint32_t stack)
{
	const struct profile *p = b->profile;

	return stack == PROFILE_NONE ?
		       NULL :
		       ask_symbol(b, profile_frame(
					     p, p->stack_frames.data[stack]));
}

static struct error *enter_python(struct builder *b, uint32_t stack,
				  const struct profile_frame *frame,
				  struct stack_state *state)
{
	struct frame_state *known =
		&b->frames[b->profile->stack_frames.data[stack]];
	struct error *error = NULL;

	spent_enter_python(&state->below, ask_symbol(b, frame),
			   ask_stack(b, state->innermost));
	state->outer = state->python;
	state->python = stack;
	state->innermost = stack;
	state->subject = PROFILE_NONE;
	if (!known->is_known)
		error = find_entries(b, frame, known);
	known->is_known = !error;
	state->function = known->function;
	state->line = known->line;
	state->file = known->file;
	return error;
}

/* "<frozen runpy>" runs the library that somebody asked for. */
static bool is_frozen_library(const struct builder *b,
			      const struct stack_state *state)
{
	const struct profile *p = b->profile;

	return state->below.kind == SPENT_LIBRARY &&
	       path_is_frozen(profile_string(
		       p, profile_frame(p, state->subject)->file, ""));
}

static void enter_library(struct builder *b, uint32_t stack,
			  const struct profile_frame *frame,
			  struct stack_state *state)
{
	uint8_t before = state->below.kind;

	if (spent_enter_library(&state->below, ask_symbol(b, frame),
				ask_stack(b, state->innermost)) ||
	    is_frozen_library(b, state))
		state->subject = b->profile->stack_frames.data[stack];
	else if (state->below.kind != before)
		state->subject = PROFILE_NONE;
	state->innermost = stack;
}

static enum spent_where where_is(const struct profile *profile,
				 const struct profile_frame *frame)
{
	const struct profile_dso *dso = profile_dso(profile, frame->dso);

	if (frame->kind == PROFILE_FRAME_KERNEL)
		return SPENT_IN_KERNEL;
	return spent_where(
		dso ? profile_string(profile, dso->short_name, NULL) : NULL,
		frame->flags & PROFILE_FRAME_IN_CPYTHON,
		frame->flags & PROFILE_FRAME_GLUE,
		frame->flags & PROFILE_FRAME_STARTS);
}

static void enter_native(struct builder *b, uint32_t handle,
			 const struct profile_frame *frame,
			 struct stack_state *state)
{
	if (frame->flags & PROFILE_FRAME_INTERPRETER)
		spent_pass_interpreter(&state->below);
	else if (spent_enter_native(&state->below, ask_symbol(b, frame),
				    where_is(b->profile, frame),
				    frame->flags & PROFILE_FRAME_INLINED))
		state->subject = handle;
}

static struct error *follow_stacks(struct builder *b)
{
	const struct profile *p = b->profile;

	for (uint32_t i = 0; i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];
		uint32_t handle = p->stack_frames.data[i];
		const struct profile_frame *frame = profile_frame(p, handle);
		struct stack_state state =
			parent == PROFILE_NONE ? no_python : b->stacks[parent];
		struct error *error = NULL;

		if (!watch_goes_on(b->options->watch, "following stacks", i,
				   p->stack_parents.count))
			return watch_error(b->options->watch);
		if (frame->kind == PROFILE_FRAME_PYTHON && library_files_has(b->libraries, frame))
			enter_library(b, i, frame, &state);
		else if (frame->kind == PROFILE_FRAME_PYTHON)
			error = enter_python(b, i, frame, &state);
		else if (frame->kind != PROFILE_FRAME_MARKER ||
			 spent_is_state(ask_symbol(b, frame)->kind))
			enter_native(b, handle, frame, &state);
		if (error)
			return error;
		b->stacks[i] = state;
	}
	return NULL;
}

/* --- Samples ------------------------------------------------------------ */

static void add_weight(struct own_weight *to, const struct own_weight *weight)
{
	to->period += weight->period;
	to->samples += weight->samples;
	to->squares += weight->squares;
}

/* As the poller looks at a thread that sleeps: collect/poll_wall.h. */
enum { LOOKS_TO_SLOW = 16, SLOWEST = 8 };

/*
 * Between two looks at a thread that has slept for so long: they begin one tick apart,
 * and it is one more after each 16 looks.
 */
static double between_looks(double slept, double tick)
{
	double looks = 1;

	while (looks < SLOWEST &&
	       slept > LOOKS_TO_SLOW / 2 * looks * (looks + 1) * tick)
		looks++;
	return looks * tick;
}

/*
 * A sample by chance may as well have been another one's. A sleep that was seen from
 * its beginning to its end is measured: only these two are off.
 */
static double off_by(const struct builder *b, enum spent_kind kind,
		     double period)
{
	double looks = spent_is_sleep(kind) && b->tick > 0 ?
			       between_looks(period, b->tick) :
			       period;

	return looks < period ? looks : period;
}

/*
 * Frames of one symbol are one subject; without one those of a file, and apart
 * from them the kernel's.
 */
static struct error *find_subject(struct builder *b, uint32_t *subject)
{
	const struct profile_frame *frame;
	uint64_t key;
	uint64_t *at;

	if (*subject == PROFILE_NONE)
		return NULL;
	frame = profile_frame(b->profile, *subject);
	key = frame->symbol;
	if (frame->symbol == PROFILE_NONE)
		key = (frame->kind == PROFILE_FRAME_KERNEL ? UINT64_C(2) :
							     UINT64_C(1))
			      << 32 |
		      frame->dso;
	at = map_insert(&b->subject_index, key, *subject, NULL);
	if (!at)
		return error_no_memory();
	*subject = (uint32_t)*at;
	return NULL;
}

/* A part of whom is what it is of. */
static struct error *count_part(struct map *index, struct own_part_vec *parts,
				uint64_t whom, const struct own_part *part)
{
	/* A subject is of one kind; without one the kind takes its place. */
	uint32_t what = part->subject != PROFILE_NONE ?
				part->subject :
				UINT32_MAX - part->kind;
	uint64_t *at = map_insert(index, whom << 32 | what, parts->count, NULL);
	struct own_part none = *part;

	none.weight = (struct own_weight){};
	if (!at || (*at == parts->count && !vec_push(parts, none)))
		return error_no_memory();
	add_weight(&parts->data[*at].weight, &part->weight);
	return NULL;
}

static struct error *add_part(struct builder *b,
			      const struct stack_state *state,
			      const struct own_weight *weight)
{
	struct own_part part = { .kind = state->below.kind,
				 .subject = state->subject,
				 .function = state->function,
				 .line = state->line,
				 .weight = *weight };
	uint64_t *pair = map_insert(&b->pair_index,
				    (uint64_t)part.line << 32 | part.function,
				    b->pair_index.count, NULL);
	struct error *error = pair ? find_subject(b, &part.subject) :
				     error_no_memory();

	if (!error)
		error = count_part(&b->part_index, &b->out->parts,
				   part.function, &part);
	if (!error)
		error = count_part(&b->line_part_index, &b->out->line_parts,
				   *pair, &part);
	return error;
}

/* Unless the row did so already. */
static void add_total(struct own_entry_vec *entries, size_t *rows, uint32_t at,
		      size_t row, const struct own_weight *weight)
{
	if (rows[at] != row + 1)
		add_weight(&entries->data[at].total, weight);
	rows[at] = row + 1;
}

/* By its first sample: frames of other events were seen before. */
static void name_line(const struct builder *b, uint32_t stack,
		      struct own_entry *line)
{
	const struct profile *p = b->profile;
	const struct profile_frame *frame =
		profile_frame(p, p->stack_frames.data[stack]);

	if (!line->total.samples)
		line->name = own_entry_of(p, frame).name;
}

static void add_totals(struct builder *b, const struct stack_state *state,
		       size_t row, const struct own_weight *weight)
{
	struct own_time *out = b->out;

	for (uint32_t at = state->python; at != PROFILE_NONE;
	     at = b->stacks[at].outer) {
		const struct stack_state *s = &b->stacks[at];

		name_line(b, at, &out->lines.data[s->line]);
		add_total(&out->functions, b->function_rows, s->function, row,
			  weight);
		add_total(&out->lines, b->line_rows, s->line, row, weight);
		add_total(&out->files, b->file_rows, s->file, row, weight);
	}
}

/* Code of a program that no symbol names; the frame, or NULL. */
static const struct profile_frame *nameless_frame(const struct builder *b,
						  uint32_t id)
{
	const struct profile_frame *frame =
		id == PROFILE_NONE ? NULL : profile_frame(b->profile, id);
	const struct profile_symbol *symbol;

	if (!frame || frame->kind != PROFILE_FRAME_NATIVE)
		return NULL;
	symbol = profile_symbol(b->profile, frame->symbol);
	return !symbol || symbol->is_nameless ? frame : NULL;
}

static struct error *count_nameless(struct builder *b,
				    const struct stack_state *state,
				    const struct own_weight *weight)
{
	const struct profile_frame *frame = nameless_frame(b, state->subject);
	uint64_t *at;

	if (state->below.kind != SPENT_NATIVE || !frame)
		return NULL;
	at = map_insert(&b->nameless_index, frame->dso, b->out->nameless.count,
			NULL);
	if (!at || (*at == b->out->nameless.count &&
		    !vec_push(&b->out->nameless,
			      ((struct own_nameless){
				      .dso = frame->dso,
				      .in_cpython = frame->flags &
						    PROFILE_FRAME_IN_CPYTHON }))))
		return error_no_memory();
	add_weight(&b->out->nameless.data[*at].weight, weight);
	return NULL;
}

/* What the stack tells of a sample of the event: it may have no native frames, or wait. */
static void judge_by_event(const struct builder *b, struct stack_state *state)
{
	const struct profile_event *event =
		&b->profile->events.data[b->options->event];

	struct spent_event told = { .python_only = event->python_only,
				    .is_wait = event->kind == EVENT_WAIT };

	if (!spent_settle(&state->below, told, state->subject != PROFILE_NONE))
		state->subject = PROFILE_NONE;
}

static struct error *count_row(struct builder *b, size_t row,
			       const struct stack_state *none)
{
	const struct profile_samples *samples = &b->profile->samples;
	uint32_t stack = samples->stack[row];
	struct stack_state here =
		stack == PROFILE_NONE ? *none : b->stacks[stack];
	struct own_weight weight = { .period = samples->period[row],
				     .samples = samples->count[row] };
	double count = samples->count[row], off;
	struct own_entry *entries[3];
	struct error *error;

	judge_by_event(b, &here);
	if (here.python == PROFILE_NONE) {
		here.function = none->function;
		here.line = none->line;
		here.file = none->file;
	}
	entries[0] = &b->out->functions.data[here.function];
	entries[1] = &b->out->lines.data[here.line];
	entries[2] = &b->out->files.data[here.file];
	if (count > 0) {
		off = off_by(b, here.below.kind, (double)weight.period / count);
		weight.squares = off * off * count;
	}
	add_weight(&b->out->all, &weight);
	add_weight(&b->out->kinds[here.below.kind], &weight);
	for (size_t i = 0; i < 3; i++) {
		add_weight(&entries[i]->own, &weight);
		if (here.python == PROFILE_NONE)
			add_weight(&entries[i]->total, &weight);
	}
	add_totals(b, &here, row, &weight);
	error = count_nameless(b, &here, &weight);
	return error ? error : add_part(b, &here, &weight);
}

/* The entries of samples without a Python frame. */
static struct error *add_nothing(struct builder *b, struct stack_state *ret)
{
	const struct profile_frame nothing = { .symbol = PROFILE_NONE,
					       .file = PROFILE_NONE };

	struct frame_state state = {};
	struct error *error = find_entries(b, &nothing, &state);

	*ret = no_python;
	ret->below.kind = SPENT_NATIVE;
	ret->function = state.function;
	ret->line = state.line;
	ret->file = state.file;
	return error;
}

/* In ns; 0: the rate is not known. */
static double asked_period(const struct profile_event *event)
{
	if (event->sample_period && event->is_freq)
		return 1e9 / (double)event->sample_period;
	return (double)event->sample_period;
}

/*
 * How far apart ticks of wall time were; 0: it is none. Samples of threads that did not
 * sleep stand for a tick each, and on a busy machine for more.
 */
static double tick_of(const struct builder *b)
{
	const struct profile *p = b->profile;
	const struct profile_event *event = &p->events.data[b->options->event];
	double tick = asked_period(event), time = 0, samples = 0;

	if (!event_kind_is_wall(event->kind))
		return 0;
	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i];

		if (!own_time_keeps(p, b->options, i) ||
		    (stack != PROFILE_NONE &&
		     spent_is_sleep(b->stacks[stack].below.kind)))
			continue;
		time += (double)p->samples.period[i];
		samples += p->samples.count[i];
	}
	return samples > 0 && time / samples > tick ? time / samples : tick;
}

bool own_time_keeps(const struct profile *profile,
		    const struct own_time_options *options, size_t row)
{
	return profile->samples.event[row] == options->event &&
	       (!options->keep ||
		options->keep(profile, row, options->keep_arg));
}

static struct error *count_samples(struct builder *b,
				   const struct stack_state *none)
{
	struct watch *watch = b->options->watch;
	size_t rows = b->profile->samples.rows;
	struct error *error = NULL;

	b->function_rows = calloc(b->out->functions.count,
				  sizeof(*b->function_rows));
	b->line_rows = calloc(b->out->lines.count, sizeof(*b->line_rows));
	b->file_rows = calloc(b->out->files.count, sizeof(*b->file_rows));
	if (!b->function_rows || !b->line_rows || !b->file_rows)
		return error_no_memory();
	b->tick = tick_of(b);
	for (size_t i = 0; !error && i < rows; i++) {
		if (!watch_goes_on(watch, "counting samples", i, rows))
			return watch_error(watch);
		if (own_time_keeps(b->profile, b->options, i))
			error = count_row(b, i, none);
	}
	return error;
}

/* --- Order -------------------------------------------------------------- */

static int compare_entries(const void *x, const void *y)
{
	const struct own_entry *a = x, *b = y;
	int order = compare_u64(b->own.period, a->own.period);

	if (!order)
		order = compare_u64(b->total.period, a->total.period);
	if (!order)
		order = compare_u64(a->name, b->name);
	return order ? order : compare_u64(a->line, b->line);
}

/* An entry that only other events have is dropped. */
static void sort_entries(struct own_entry_vec *entries)
{
	size_t kept = 0;

	vec_for_each(entry, entries)
		if (entry->total.samples)
			entries->data[kept++] = *entry;
	entries->count = kept;
	if (kept)
		qsort(entries->data, kept, sizeof(*entries->data),
		      compare_entries);
}

static int compare_nameless(const void *x, const void *y)
{
	const struct own_nameless *a = x, *b = y;
	int order = compare_u64(b->weight.period, a->weight.period);

	return order ? order : compare_u64(a->dso, b->dso);
}

static void sort_nameless(struct own_time *own)
{
	if (own->nameless.count)
		qsort(own->nameless.data, own->nameless.count,
		      sizeof(*own->nameless.data), compare_nameless);
}

static int compare_weights(const struct own_part *a, const struct own_part *b)
{
	int order = compare_u64(b->weight.period, a->weight.period);

	if (!order)
		order = compare_u64(a->kind, b->kind);
	return order ? order : compare_u64(a->subject, b->subject);
}

static int compare_parts(const void *x, const void *y)
{
	const struct own_part *a = x, *b = y;
	int order = compare_u64(a->function, b->function);

	return order ? order : compare_weights(a, b);
}

static int compare_line_parts(const void *x, const void *y)
{
	const struct own_part *a = x, *b = y;
	int order = compare_u64(a->line, b->line);

	return order ? order : compare_parts(a, b);
}

/* While functions and lines are where their parts say. */
static void sort_parts(struct own_time *own)
{
	struct own_part_vec *of_functions = &own->parts;
	struct own_part_vec *of_lines = &own->line_parts;

	if (!of_functions->count)
		return;
	qsort(of_functions->data, of_functions->count,
	      sizeof(*of_functions->data), compare_parts);
	qsort(of_lines->data, of_lines->count, sizeof(*of_lines->data),
	      compare_line_parts);
	for (uint32_t i = 0; i < of_functions->count; i++) {
		struct own_entry *function =
			&own->functions.data[of_functions->data[i].function];

		if (!function->part_count++)
			function->first_part = i;
	}
	for (uint32_t i = 0; i < of_lines->count; i++) {
		struct own_entry *line =
			&own->lines.data[of_lines->data[i].line];

		if (!line->part_count++)
			line->first_part = i;
	}
}

/* Functions have got other places since their parts were counted. */
static struct error *follow_functions(struct own_time *own, size_t count)
{
	_cleanup_free_ uint32_t *places = calloc(count + 1, sizeof(*places));

	if (!places)
		return error_no_memory();
	for (size_t i = 0; i < own->functions.count; i++)
		places[own->functions.data[i].id] = (uint32_t)i;
	vec_for_each(part, &own->parts)
		part->function = places[part->function];
	vec_for_each(part, &own->line_parts)
		part->function = places[part->function];
	return NULL;
}

static void builder_deinit(struct builder *b)
{
	free(b->symbols);
	free(b->frames);
	free(b->stacks);
	free(b->libraries);
	free(b->function_rows);
	free(b->line_rows);
	free(b->file_rows);
	map_deinit(&b->function_index);
	map_deinit(&b->line_index);
	map_deinit(&b->file_index);
	map_deinit(&b->subject_index);
	map_deinit(&b->part_index);
	map_deinit(&b->nameless_index);
	map_deinit(&b->pair_index);
	map_deinit(&b->line_part_index);
}

/* none: what is known of samples without a Python frame. */
static struct error *look_at_stacks(struct builder *b, struct stack_state *none)
{
	const struct profile *p = b->profile;
	struct error *error;

	b->symbols = calloc(p->symbols.count + 1, sizeof(*b->symbols));
	b->stacks = calloc(p->stack_parents.count + 1, sizeof(*b->stacks));
	b->frames = calloc(p->frames.count + 1, sizeof(*b->frames));
	if (!b->symbols || !b->frames || !b->stacks)
		return error_no_memory();
	error = add_nothing(b, none);
	if (!error && b->options->without_libraries)
		error = library_files_find(p, &b->libraries);
	return error ? error : follow_stacks(b);
}

static struct error *build(struct builder *b)
{
	struct stack_state none;
	struct error *error = look_at_stacks(b, &none);
	size_t functions;

	if (!error)
		error = count_samples(b, &none);
	if (error)
		return error;
	functions = b->out->functions.count;
	for (uint32_t i = 0; i < functions; i++)
		b->out->functions.data[i].id = i;
	sort_parts(b->out);
	sort_entries(&b->out->functions);
	sort_entries(&b->out->lines);
	sort_entries(&b->out->files);
	sort_nameless(b->out);
	return follow_functions(b->out, functions);
}

struct error *own_time_select(const struct profile *profile,
			      const struct own_time_options *options,
			      struct own_time **ret)
{
	_cleanup_own_time_ struct own_time *own = calloc(1, sizeof(*own));
	struct builder b = { .profile = profile,
			     .options = options,
			     .out = own };
	struct error *error;

	if (!own)
		return error_no_memory();
	error = build(&b);
	builder_deinit(&b);
	if (!error)
		*ret = take_ptr(own);
	return error;
}

static struct error *put_spent(struct builder *b, const struct stack_state *none,
			       struct own_spent *ret)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i <= b->profile->stack_parents.count; i++) {
		struct stack_state state =
			i == b->profile->stack_parents.count ? *none :
							       b->stacks[i];

		judge_by_event(b, &state);
		error = find_subject(b, &state.subject);
		ret[i] = (struct own_spent){ .subject = state.subject,
					     .kind = state.below.kind };
	}
	return error;
}

struct error *own_time_spent(const struct profile *profile, uint32_t event,
			     bool without_libraries, struct own_spent *ret)
{
	const struct own_time_options options = {
		.event = event, .without_libraries = without_libraries
	};
	_cleanup_own_time_ struct own_time *own = calloc(1, sizeof(*own));
	struct builder b = { .profile = profile,
			     .options = &options,
			     .out = own };
	struct stack_state none;
	struct error *error;

	if (!own)
		return error_no_memory();
	error = look_at_stacks(&b, &none);
	if (!error)
		error = put_spent(&b, &none, ret);
	builder_deinit(&b);
	return error;
}

struct error *own_time_create(const struct profile *profile, uint32_t event,
			      struct own_time **ret)
{
	const struct own_time_options options = { .event = event };

	return own_time_select(profile, &options, ret);
}

void own_time_destroy(struct own_time *own)
{
	if (!own)
		return;
	vec_deinit(&own->functions);
	vec_deinit(&own->lines);
	vec_deinit(&own->files);
	vec_deinit(&own->parts);
	vec_deinit(&own->line_parts);
	vec_deinit(&own->nameless);
	free(own);
}

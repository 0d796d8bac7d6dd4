// SPDX-License-Identifier: GPL-2.0-only
#include "import/import_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/path_name.h"
#include "perfdata/kaa_stream.h"

void import_model_deinit(struct import_model *m)
{
	texts_deinit(&m->texts);
	vec_deinit(&m->functions);
	vec_deinit(&m->places);
	vec_deinit(&m->nodes);
	vec_deinit(&m->events);
	vec_deinit(&m->threads);
	vec_deinit(&m->samples);
	index_deinit(&m->function_index);
	index_deinit(&m->place_index);
	index_deinit(&m->node_index);
	index_deinit(&m->thread_index);
}

static struct error *add_text(struct import_model *m, const char *text,
			      uint32_t *ret)
{
	size_t n = strnlen(text, IMPORT_TEXT_MAX + 1);

	if (n > IMPORT_TEXT_MAX)
		return import_text(m, text, n, ret);
	m->text_bytes += n;
	if (m->text_bytes > IMPORT_TEXTS_MAX)
		return error_create(ERROR_LIMIT, "its names are too long");
	return texts_intern(&m->texts, text, ret);
}

struct error *import_text(struct import_model *m, const char *text, size_t n,
			  uint32_t *ret)
{
	_cleanup_free_ char *copy =
		strndup(text, n < IMPORT_TEXT_MAX ? n : IMPORT_TEXT_MAX);

	return copy ? add_text(m, copy, ret) : error_no_memory();
}

static struct error *text_or_none(struct import_model *m, const char *text,
				  uint32_t *ret)
{
	if (text && *text)
		return add_text(m, text, ret);
	*ret = PROFILE_NONE;
	return NULL;
}

/* Handles have 32 bits, and the last one is none. */
static struct error *added(struct index *index, uint64_t hash, size_t count,
			   uint32_t *ret)
{
	if (count > INT32_MAX)
		return error_create(ERROR_LIMIT, "it has too many lines or threads");
	*ret = (uint32_t)(count - 1);
	return index_add(index, hash, *ret) ? NULL : error_no_memory();
}

/* --- functions and places --- */

static bool function_equal(const void *column, uint32_t handle, const void *key)
{
	const struct import_function *a =
		(const struct import_function *)column + handle;
	const struct import_function *b = key;

	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->kind == b->kind;
}

static struct error *intern_function(struct import_model *m,
				     const struct import_function *function,
				     uint32_t *ret)
{
	uint64_t hash = hash_combine(
		hash_combine(function->name, function->file),
		hash_combine(function->line, function->kind));

	*ret = index_find(&m->function_index, hash, function_equal,
			  m->functions.data, function);
	if (*ret != PROFILE_NONE)
		return NULL;
	if (m->functions.count >= IMPORT_FUNCTIONS_MAX)
		return error_create(ERROR_LIMIT, "it has too many functions");
	return vec_push(&m->functions, *function) ?
		       added(&m->function_index, hash, m->functions.count,
			     ret) :
		       error_no_memory();
}

static bool place_equal(const void *column, uint32_t handle, const void *key)
{
	const struct import_place *a =
		(const struct import_place *)column + handle;
	const struct import_place *b = key;

	return a->function == b->function && a->line == b->line;
}

static struct error *intern_place(struct import_model *m,
				  struct import_place place, uint32_t *ret)
{
	uint64_t hash = hash_combine(place.function, place.line);

	*ret = index_find(&m->place_index, hash, place_equal, m->places.data,
			  &place);
	if (*ret != PROFILE_NONE)
		return NULL;
	return vec_push(&m->places, place) ?
		       added(&m->place_index, hash, m->places.count, ret) :
		       error_no_memory();
}

static bool is_marker(const char *name)
{
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++)
		if (!strcmp(kaa_markers[i].name, name))
			return true;
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), length = strlen(end);

	return n >= length && !strcmp(text + n - length, end);
}

/*
 * "app.py", and what Python calls code that is in no file: "<string>". A script
 * has no suffix, but it has lines, which a library has not.
 */
static bool is_python_file(const char *file, bool has_line)
{
	static const char *const suffixes[] = { ".py",	".pyw", ".pyx",
						".pxd", ".pyi", ".ipynb" };
	if (*file == '<')
		return true;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (ends_with(file, suffixes[i]))
			return true;
	return has_line && *file && !strchr(path_name(file), '.');
}

/* file: that of the step, as it is kept. */
static uint32_t kind_of(const struct import_step *step, const char *file)
{
	if (step->kind != IMPORT_GUESS)
		return step->kind;
	if (!*file && is_marker(step->name))
		return PROFILE_FRAME_MARKER;
	if (is_python_file(file, step->line || step->def_line))
		return PROFILE_FRAME_PYTHON;
	return !strncmp(file, "[kernel", 7) ? PROFILE_FRAME_KERNEL :
					      PROFILE_FRAME_NATIVE;
}

struct error *import_place(struct import_model *m, const struct import_step *step,
			   uint32_t *ret)
{
	struct import_function function = {};
	struct import_place place = {};
	struct error *error = add_text(
		m, *step->name ? step->name : "[unknown]", &function.name);

	if (!error)
		error = text_or_none(m, step->file, &function.file);
	if (error)
		return error;
	function.kind = kind_of(step, function.file == PROFILE_NONE ?
					      "" :
					      m->texts.all.data[function.file]);
	if (function.kind == PROFILE_FRAME_PYTHON) {
		function.line = step->def_line;
		place.line = step->line;
	}
	error = intern_function(m, &function, &place.function);
	return error ? error : intern_place(m, place, ret);
}

/* --- stacks --- */

static bool node_equal(const void *column, uint32_t handle, const void *key)
{
	const struct import_node *a =
		(const struct import_node *)column + handle;
	const struct import_node *b = key;

	return a->parent == b->parent && a->place == b->place;
}

struct error *import_node(struct import_model *m, uint32_t parent, uint32_t place,
			  uint32_t *ret)
{
	const struct import_node node = { parent, place };
	uint64_t hash = hash_combine(parent, place);

	if (++m->steps > IMPORT_STEPS_MAX)
		return error_create(ERROR_LIMIT,
				    "its stacks have too many frames");
	*ret = index_find(&m->node_index, hash, node_equal, m->nodes.data,
			  &node);
	if (*ret != PROFILE_NONE)
		return NULL;
	if (m->nodes.count >= IMPORT_NODES_MAX)
		return error_create(ERROR_LIMIT, "it has too many stacks");
	return vec_push(&m->nodes, node) ?
		       added(&m->node_index, hash, m->nodes.count, ret) :
		       error_no_memory();
}

/* --- threads and events --- */

static bool thread_equal(const void *column, uint32_t handle, const void *key)
{
	const struct import_thread *a =
		(const struct import_thread *)column + handle;
	const struct import_thread *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

/* -1 is what the kernel calls a thread that is ending. */
static int32_t task_number(int64_t number)
{
	if (number == -1)
		return -1;
	return number < 1 ? 1 : number > INT32_MAX ? INT32_MAX : (int32_t)number;
}

/* What was not known when the thread was met first. */
static void complete_thread(struct import_model *m, uint32_t number,
			    const struct import_thread *thread)
{
	struct import_thread *known = &m->threads.data[number];

	if (known->name == PROFILE_NONE)
		known->name = thread->name;
	if (known->process == PROFILE_NONE)
		known->process = thread->process;
}

struct error *import_thread(struct import_model *m, int64_t pid, int64_t tid,
			    const char *name, const char *process, uint32_t *ret)
{
	struct import_thread thread = { task_number(pid), task_number(tid) };
	uint64_t hash = hash_combine((uint32_t)thread.pid, (uint32_t)thread.tid);
	struct error *error = text_or_none(m, name, &thread.name);

	if (!error)
		error = text_or_none(m, process, &thread.process);
	if (error)
		return error;
	*ret = index_find(&m->thread_index, hash, thread_equal, m->threads.data,
			  &thread);
	if (*ret != PROFILE_NONE) {
		complete_thread(m, *ret, &thread);
		return NULL;
	}
	return vec_push(&m->threads, thread) ?
		       added(&m->thread_index, hash, m->threads.count, ret) :
		       error_no_memory();
}

struct error *import_event(struct import_model *m, const char *name,
			   enum event_unit unit, uint32_t *ret)
{
	struct import_event event = { .unit = unit };
	struct error *error;

	if (!strcmp(name, "cpu"))
		name = unit == EVENT_NANOSECONDS ? "cpu-clock" : name;
	if (!strcmp(name, "wall"))
		name = KAA_WALL_CLOCK;
	error = add_text(m, *name ? name : "samples", &event.name);
	if (error)
		return error;
	for (*ret = 0; *ret < m->events.count; ++*ret)
		if (m->events.data[*ret].name == event.name &&
		    m->events.data[*ret].unit == unit)
			return NULL;
	if (m->events.count >= IMPORT_EVENTS_MAX)
		return error_create(ERROR_LIMIT, "it has too many events");
	return vec_push(&m->events, event) ? NULL : error_no_memory();
}

void import_guess_python_only(struct import_model *m)
{
	bool has_python = false;

	vec_for_each(node, &m->nodes) {
		uint32_t function = m->places.data[node->place].function;
		uint32_t kind = m->functions.data[function].kind;

		if (kind == PROFILE_FRAME_NATIVE || kind == PROFILE_FRAME_KERNEL)
			return;
		has_python |= kind == PROFILE_FRAME_PYTHON;
	}
	vec_for_each(event, &m->events)
		event->python_only = has_python;
}

/* --- samples --- */

static bool add_up(uint64_t *sum, uint64_t more)
{
	if (more > IMPORT_SUM_MAX || *sum > IMPORT_SUM_MAX - more)
		return false;
	*sum += more;
	return true;
}

struct error *import_sample(struct import_model *m,
			    const struct import_sample *sample)
{
	if (!sample->count || !sample->weight)
		return NULL;
	if (!add_up(&m->weight, sample->weight) ||
	    !add_up(&m->count, sample->count) || sample->time > IMPORT_SUM_MAX)
		return error_create(ERROR_LIMIT,
				    "its samples weigh more than 2^62");
	if (m->samples.count >= IMPORT_SAMPLES_MAX)
		return error_create(ERROR_LIMIT, "it has too many samples");
	return vec_push(&m->samples, *sample) ? NULL : error_no_memory();
}

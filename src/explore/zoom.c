// SPDX-License-Identifier: GPL-2.0-only
#include "explore/zoom.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explore/browser.h"
#include "profile/symbol_word.h"
#include "view/symbol_match.h"
#include "view/text.h"

void zooms_deinit(struct zooms *zooms)
{
	while (zooms_pop(zooms))
		;
	vec_deinit(zooms);
}

static void free_zoom(struct zoom *zoom)
{
	free(zoom->text);
	free(zoom->called);
}

static uint32_t *copy_called(const uint32_t *called)
{
	size_t count = 1;
	uint32_t *copy;

	while (called[count - 1] != PROFILE_NONE)
		count++;
	copy = malloc(count * sizeof(*copy));
	return copy ? memcpy(copy, called, count * sizeof(*copy)) : NULL;
}

static struct error *copy_zoom(const struct zoom *zoom, struct zoom *ret)
{
	*ret = *zoom;
	if (zoom->text)
		ret->text = strdup(zoom->text);
	if (zoom->called)
		ret->called = copy_called(zoom->called);
	if (!ret->text == !zoom->text && !ret->called == !zoom->called)
		return NULL;
	free_zoom(ret);
	return error_no_memory();
}

struct error *zoom_by_symbol(const struct profile *profile, char *text,
			     struct zoom *ret)
{
	struct zoom zoom = { .kind = ZOOM_SYMBOL, .text = text };
	struct error *error =
		symbol_match_called(profile, text, &zoom.called);

	if (error)
		free(text);
	else
		*ret = zoom;
	return error;
}

struct error *zooms_copy(const struct zooms *from, struct zooms *to)
{
	struct zooms copy = {};
	struct error *error = NULL;

	for (size_t i = 0; i < from->count && !error; i++) {
		struct zoom zoom;

		error = copy_zoom(&from->data[i], &zoom);
		if (!error)
			error = zooms_push(&copy, &zoom);
	}
	if (error) {
		zooms_deinit(&copy);
		return error;
	}
	zooms_deinit(to);
	*to = copy;
	return NULL;
}

struct error *zooms_push(struct zooms *zooms, const struct zoom *zoom)
{
	if (vec_push(zooms, *zoom))
		return NULL;
	free(zoom->text);
	free(zoom->called);
	return error_no_memory();
}

bool zooms_pop(struct zooms *zooms)
{
	if (!zooms->count)
		return false;
	free_zoom(&zooms->data[--zooms->count]);
	return true;
}

bool zooms_remove(struct zooms *zooms, enum zoom_kind kind)
{
	size_t kept = 0, count = zooms->count;

	for (size_t i = 0; i < count; i++)
		if (zooms->data[i].kind == kind)
			free_zoom(&zooms->data[i]);
		else
			zooms->data[kept++] = zooms->data[i];
	zooms->count = kept;
	return kept < count;
}

bool zooms_has(const struct zooms *zooms, enum zoom_kind kind)
{
	vec_for_each(zoom, zooms)
		if (zoom->kind == kind)
			return true;
	return false;
}

/* "function foo"; what is called "task foo" is one. */
static void format_function(const char *symbol, struct strbuf *out)
{
	struct python_symbol python;
	const char *task;
	size_t length;

	if (!task_symbol_parse(symbol, &task, &length))
		strbuf_puts(out, "function ");
	if (python_symbol_parse(symbol, &python))
		text_append(out, python.qualname, python.qualname_length);
	else
		text_append(out, symbol, strlen(symbol));
}

void zoom_format(const struct zoom *zoom, const struct profile *profile,
		 struct strbuf *out)
{
	switch (zoom->kind) {
	case ZOOM_THREAD:
		strbuf_printf(out, "thread %d", zoom->id);
		break;
	case ZOOM_PROCESS:
		strbuf_printf(out, "process %d", zoom->id);
		break;
	case ZOOM_COMM:
		strbuf_puts(out, "command ");
		text_string(out, profile, zoom->name, "");
		break;
	case ZOOM_DSO:
		strbuf_puts(out, "file ");
		text_string(out, profile, zoom->name, "[unknown]");
		break;
	case ZOOM_KERNEL:
		strbuf_puts(out, "kernel");
		break;
	case ZOOM_SYMBOL:
		strbuf_puts(out, "symbol '");
		text_append(out, zoom->text, strlen(zoom->text));
		strbuf_putc(out, '\'');
		break;
	case ZOOM_FUNCTION:
		format_function(profile_string(profile, zoom->name, ""), out);
		break;
	case ZOOM_SOURCE:
		strbuf_puts(out, "source ");
		text_string(out, profile, zoom->name, "[unknown]");
		break;
	}
}

void zooms_format(const struct zooms *zooms, const struct profile *profile,
		  struct strbuf *out)
{
	for (size_t i = 0; i < zooms->count; i++) {
		if (i)
			strbuf_puts(out, "  ");
		zoom_format(&zooms->data[i], profile, out);
	}
}

/* --- Entries ------------------------------------------------------------ */

static uint32_t dso_name(const struct profile *profile,
			 const struct profile_frame *frame)
{
	const struct profile_dso *dso = frame ? profile_dso(profile, frame->dso)
					      : NULL;

	return dso ? dso->short_name : PROFILE_NONE;
}

static bool symbol_has_text(const struct profile *profile,
			    const struct profile_frame *frame,
			    const struct zoom *zoom)
{
	const struct profile_symbol *symbol =
		frame ? profile_symbol(profile, frame->symbol) : NULL;

	return symbol &&
	       (browser_matches(profile_string(profile, symbol->name, ""),
				zoom->text) ||
		(zoom->called &&
		 symbol_match_is_called(zoom->called, frame->symbol)));
}

static bool is_function(const struct profile *profile,
			const struct profile_frame *frame,
			const struct zoom *zoom)
{
	const struct profile_symbol *symbol =
		frame ? profile_symbol(profile, frame->symbol) : NULL;

	return symbol && symbol->name == zoom->name &&
	       symbol->line == (uint32_t)zoom->id;
}

static bool zoom_keeps_frame(const struct zoom *zoom,
			     const struct profile *profile,
			     const struct profile_frame *frame)
{
	switch (zoom->kind) {
	case ZOOM_DSO:
		return dso_name(profile, frame) == zoom->name;
	case ZOOM_KERNEL:
		return frame && frame->kind == PROFILE_FRAME_KERNEL;
	case ZOOM_SYMBOL:
		return symbol_has_text(profile, frame, zoom);
	case ZOOM_FUNCTION:
		return is_function(profile, frame, zoom);
	case ZOOM_SOURCE:
		return frame && frame->kind == PROFILE_FRAME_PYTHON &&
		       frame->file == zoom->name;
	default:
		return true;
	}
}

static bool is_of_frames(const struct zoom *zoom)
{
	return zoom->kind != ZOOM_THREAD && zoom->kind != ZOOM_PROCESS &&
	       zoom->kind != ZOOM_COMM;
}

static bool is_of_source(const struct zoom *zoom)
{
	return zoom->kind == ZOOM_FUNCTION || zoom->kind == ZOOM_SOURCE;
}

/* The last zoom that is of frames; NULL: none. */
static const struct zoom *last_of_frames(const struct zooms *zooms)
{
	const struct zoom *last = NULL;

	vec_for_each(zoom, zooms)
		if (is_of_frames(zoom))
			last = zoom;
	return last;
}

/* No entry is two functions, or Python code and the kernel's. */
static bool chooses_entries(const struct zooms *zooms, const struct zoom *zoom)
{
	const struct zoom *last = last_of_frames(zooms);

	return is_of_frames(zoom) &&
	       (is_of_source(last) ? zoom == last : !is_of_source(zoom));
}

bool zooms_keep_frame(const struct zooms *zooms, const struct profile *profile,
		      const struct profile_frame *frame)
{
	vec_for_each(zoom, zooms)
		if (chooses_entries(zooms, zoom) &&
		    !zoom_keeps_frame(zoom, profile, frame))
			return false;
	return true;
}

/* --- Samples ------------------------------------------------------------ */

static bool keeps_location(const struct zooms *zooms,
			   const struct profile *profile,
			   const struct location *location)
{
	const struct profile_frame *frame = NULL;

	if (location->frame != PROFILE_NONE)
		frame = profile_frame(profile, location->frame);
	return zooms_keep_frame(zooms, profile, frame);
}

/* A byte for each reduced stack. Parents stand before their children. */
static struct error *keep_stacks(const struct zooms *zooms,
				 const struct profile *profile,
				 const struct locations *locations,
				 bool children, uint8_t **ret)
{
	size_t count = locations->steps.count;
	_cleanup_free_ uint8_t *places = calloc(locations->all.count + 1, 1);
	uint8_t *stacks = calloc(count + 1, 1);

	if (!places || !stacks) {
		free(stacks);
		return error_no_memory();
	}
	for (size_t i = 0; i < locations->all.count; i++)
		places[i] = keeps_location(zooms, profile,
					   &locations->all.data[i]);
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = locations->parents.data[i];
		uint32_t step = locations->steps.data[i];
		uint32_t hit = locations->all.data[step].hit;

		stacks[i] = places[step] ||
			    (hit != PROFILE_NONE && places[hit]);
		if (children && parent != PROFILE_NONE && stacks[parent])
			stacks[i] = 1;
	}
	*ret = stacks;
	return NULL;
}

/* Takes the marks off stacks that pass through no frame of the zoom. */
static struct error *narrow_stacks(const struct zoom *zoom,
				   const struct profile *profile,
				   uint8_t *marks)
{
	size_t count = profile->stack_parents.count;
	_cleanup_free_ bool *stacks = calloc(count + 1, sizeof(*stacks));

	if (!stacks)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = profile->stack_parents.data[i];
		uint32_t frame = profile->stack_frames.data[i];

		stacks[i] = (parent != PROFILE_NONE && stacks[parent]) ||
			    zoom_keeps_frame(zoom, profile,
					     profile_frame(profile, frame));
		marks[i] &= stacks[i];
	}
	return NULL;
}

/* A byte for each stack of the profile: it passes through a frame of each. */
static struct error *keep_whole_stacks(const struct zooms *zooms,
				       const struct profile *profile,
				       uint8_t **ret)
{
	size_t count = profile->stack_parents.count;
	_cleanup_free_ uint8_t *marks = malloc(count + 1);
	struct error *error = marks ? NULL : error_no_memory();

	if (!error)
		memset(marks, true, count + 1);
	vec_for_each(zoom, zooms)
		if (!error && is_of_frames(zoom))
			error = narrow_stacks(zoom, profile, marks);
	if (!error)
		*ret = take_ptr(marks);
	return error;
}

/* What keeps_stack() asks; each NULL if every stack passes. */
struct kept_stacks {
	const struct locations *locations;
	uint8_t *whole;
	uint8_t *reduced;
};

static void kept_stacks_deinit(struct kept_stacks *kept)
{
	free(kept->whole);
	free(kept->reduced);
}

static struct error *choose_stacks(const struct zooms *zooms,
				   const struct profile *profile,
				   bool children, struct kept_stacks *kept)
{
	bool has_others = false;
	struct error *error = NULL;

	if (!last_of_frames(zooms))
		return NULL;
	vec_for_each(zoom, zooms)
		has_others |= is_of_frames(zoom) &&
			      !chooses_entries(zooms, zoom);
	if (!kept->locations || has_others)
		error = keep_whole_stacks(zooms, profile, &kept->whole);
	if (kept->locations && !error)
		error = keep_stacks(zooms, profile, kept->locations, children,
				    &kept->reduced);
	return error;
}

static bool keeps_stack(const struct kept_stacks *kept,
			const struct profile *profile, uint32_t stack)
{
	if (kept->whole && (stack == PROFILE_NONE || !kept->whole[stack]))
		return false;
	return !kept->reduced ||
	       kept->reduced[locations_stack(kept->locations, profile, stack)];
}

static bool keeps_task(const struct zooms *zooms,
		       const struct profile_task *task)
{
	vec_for_each(zoom, zooms)
		if ((zoom->kind == ZOOM_THREAD && task->tid != zoom->id) ||
		    (zoom->kind == ZOOM_PROCESS && task->pid != zoom->id) ||
		    (zoom->kind == ZOOM_COMM && task->comm != zoom->name))
			return false;
	return true;
}

struct error *zooms_keep_rows(const struct zooms *zooms,
			      const struct profile *profile,
			      const struct locations *locations, bool children,
			      uint8_t **ret)
{
	const struct profile_samples *s = &profile->samples;
	struct kept_stacks kept = { .locations = locations };
	uint8_t *rows = NULL;
	struct error *error;

	if (!zooms->count) {
		*ret = NULL;
		return NULL;
	}
	error = choose_stacks(zooms, profile, children, &kept);
	if (!error) {
		rows = calloc(s->rows + 1, 1);
		error = rows ? NULL : error_no_memory();
	}
	for (size_t i = 0; rows && i < s->rows; i++)
		rows[i] = keeps_task(zooms, profile_task(profile, s->task[i])) &&
			  keeps_stack(&kept, profile, s->stack[i]);
	kept_stacks_deinit(&kept);
	if (!error)
		*ret = rows;
	return error;
}

/* --- Choices ------------------------------------------------------------ */

static int compare_choices(const void *left, const void *right)
{
	const struct zoom_choice *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	if (a->zoom.id != b->zoom.id)
		return a->zoom.id < b->zoom.id ? -1 : 1;
	return (a->zoom.name > b->zoom.name) - (a->zoom.name < b->zoom.name);
}

static struct error *add_choice(struct map *map, enum zoom_kind kind,
				const struct profile_task *task,
				zoom_choice_vec *choices, size_t *ret)
{
	struct zoom_choice choice = { .zoom = { .kind = kind } };
	uint64_t *index;
	bool is_new;

	if (kind == ZOOM_COMM)
		choice.zoom.name = task->comm;
	else
		choice.zoom.id = kind == ZOOM_THREAD ? task->tid : task->pid;
	index = map_insert(map, kind == ZOOM_COMM ? choice.zoom.name
						  : (uint32_t)choice.zoom.id,
			   choices->count, &is_new);
	if (!index || (is_new && !vec_push(choices, choice)))
		return error_no_memory();
	*ret = (size_t)*index;
	return NULL;
}

struct error *zoom_choices(const struct profile *profile, uint32_t event,
			   const uint8_t *keep, enum zoom_kind kind,
			   zoom_choice_vec *ret)
{
	const struct profile_samples *s = &profile->samples;
	struct map map = {};
	struct error *error = NULL;

	for (size_t i = 0; i < s->rows && !error; i++) {
		const struct profile_task *task =
			profile_task(profile, s->task[i]);
		size_t at = 0;

		if (s->event[i] != event || (keep && !keep[i]))
			continue;
		error = add_choice(&map, kind, task, ret, &at);
		if (error)
			break;
		ret->data[at].period += s->period[i];
		ret->data[at].count += s->count[i];
		/* Of a process the main thread's. */
		if (kind != ZOOM_PROCESS || task->pid == task->tid ||
		    !ret->data[at].comm) {
			ret->data[at].task = s->task[i];
			ret->data[at].comm = kind == ZOOM_THREAD ?
						     profile_task_name(task) :
						     task->comm;
		}
	}
	map_deinit(&map);
	if (!error && ret->count)
		qsort(ret->data, ret->count, sizeof(*ret->data),
		      compare_choices);
	return error;
}

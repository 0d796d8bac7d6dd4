// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/dso.h"
#include "view/unmatched.h"

/* --- Words -------------------------------------------------------------- */

static struct error *add_words(const struct name_list *texts, bool exact,
			       struct script_words *ret)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct symbol_near near;
		struct error *error =
			symbol_near_init(&near, texts->values[i], exact);

		if (error)
			return error;
		if (!vec_push(ret, near)) {
			symbol_near_deinit(&near);
			return error_no_memory();
		}
	}
	return NULL;
}

struct error *script_filter_init(struct script_filter *filter,
				 const struct script_filter_words *words,
				 bool whole_names_only)
{
	struct error *error = add_words(&words->symbols, whole_names_only,
					&filter->symbols);

	filter->dsos = words->dsos;
	if (error)
		return error;
	return add_words(&words->stops, whole_names_only, &filter->stops);
}

static void words_deinit(struct script_words *words)
{
	vec_for_each(near, words)
		symbol_near_deinit(near);
	vec_deinit(words);
}

void script_filter_deinit(struct script_filter *filter)
{
	words_deinit(&filter->symbols);
	words_deinit(&filter->stops);
	vec_deinit(&filter->dso_hits);
}

/* --- Places ------------------------------------------------------------- */

bool script_filter_needs_place(const struct script_filter *filter)
{
	return filter->symbols.count || filter->dsos.count;
}

static bool has_word(const struct name_list *words, const char *text)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcmp(words->values[i], text))
			return true;
	return false;
}

static bool is_in_dsos(const struct script_filter *filter,
		       const struct dso *dso)
{
	return dso && (has_word(&filter->dsos, dso->name) ||
		       has_word(&filter->dsos, dso->path));
}

static struct error *count_dso(struct script_filter *filter,
			       const struct dso *dso)
{
	if (!filter->dsos.count || !dso)
		return NULL;
	while (filter->dso_hits.count <= dso->index)
		if (!vec_push(&filter->dso_hits, 0))
			return error_no_memory();
	filter->dso_hits.data[dso->index]++;
	return NULL;
}

/* The word is a hexadecimal number. */
static bool is_address(const struct script_filter *filter, const char *word,
		       uint64_t address)
{
	char *end;
	uint64_t from = strtoull(word, &end, 16);

	return end != word && !*end && address >= from &&
	       address - from <= filter->address_range;
}

static bool is_at(const struct script_filter *filter, const char *word,
		  const struct convert_frame *place)
{
	char start[24];

	if (place->dso && is_address(filter, word, place->address))
		return true;
	if (!place->name)
		return false;
	snprintf(start, sizeof(start), "0x%" PRIx64,
		 place->address - convert_frame_offset(place));
	return !strcmp(word, start);
}

/*
 * The Python function that the interpreter ran when the sample hit it; NULL:
 * it hit something else.
 */
static const struct convert_frame *
python_hit(const struct convert_stack *stack)
{
	uint32_t i = 0;

	while (i < stack->count &&
	       (stack->steps[i].flags & PROFILE_FRAME_INTERPRETER))
		i++;
	return i < stack->count && stack->steps[i].kind == PROFILE_FRAME_PYTHON
		       ? stack->steps[i].frame
		       : NULL;
}

static struct symbol_lines lines_of(const struct convert_frame *frame)
{
	return (struct symbol_lines){ .line = frame->line,
				      .def = frame->def_line,
				      .body = convert_frame_body(frame) };
}

static bool calls(const struct symbol_near *near,
		  const struct convert_frame *frame)
{
	struct symbol_lines lines = lines_of(frame);

	return symbol_word_calls(&near->word, frame->name, &lines);
}

/* All words, since each takes note of what it finds. */
static bool is_in_symbols(struct script_filter *filter,
			  const struct convert_frame *place,
			  const struct convert_stack *stack)
{
	const struct convert_frame *python =
		filter->interpreter_frames ? NULL : python_hit(stack);
	bool found = false;

	vec_for_each(near, &filter->symbols) {
		if (!calls(near, place) && !(python && calls(near, python)) &&
		    !is_at(filter, near->word.text, place))
			continue;
		near->place = SYMBOL_HIT;
		found = true;
	}
	return found;
}

struct error *script_filter_place(struct script_filter *filter,
				  const struct convert_frame *place,
				  const struct convert_stack *stack, bool *ret)
{
	bool in_symbols = !filter->symbols.count ||
			  is_in_symbols(filter, place, stack);

	*ret = in_symbols &&
	       (!filter->dsos.count || is_in_dsos(filter, place->dso));
	return count_dso(filter, place->dso);
}

/* --- Events ------------------------------------------------------------- */

bool script_filter_event(struct script_filter *filter,
			 const struct event *event)
{
	bool switches;

	if (filter->on && filter->is_off) {
		switches = !strcmp(event->name, filter->on);
		filter->is_off = !switches;
		return switches && filter->show_switches;
	}
	if (filter->is_off)
		return filter->off_skips_one;
	switches = filter->off && !strcmp(event->name, filter->off);
	filter->is_off = switches;
	return !switches || filter->show_switches;
}

bool script_filter_stops(const struct script_filter *filter,
			 const struct convert_frame *frame)
{
	vec_for_each(near, &filter->stops)
		if (calls(near, frame))
			return true;
	return false;
}

static struct error *check_event(const char *option, const char *name,
				 const struct events *events)
{
	if (!name)
		return NULL;
	vec_for_each(event, &events->list)
		if (!strcmp((*event)->name, name))
			return NULL;
	return error_create(ERROR_NOT_FOUND,
			    "--%s: the recording has no event '%s'", option,
			    name);
}

struct error *script_filter_check(const struct script_filter *filter,
				  const struct events *events)
{
	struct error *error = check_event("switch-on", filter->on, events);

	return error ? error : check_event("switch-off", filter->off, events);
}

/* --- What was not found ------------------------------------------------- */

static void offer(struct script_words *words, const struct convert_frame *frame)
{
	struct symbol_lines lines = lines_of(frame);

	vec_for_each(near, words)
		if (near->place == SYMBOL_NOWHERE)
			symbol_near_offer(near, frame->name, &lines,
					  SYMBOL_CALLS);
}

void script_filter_see(struct script_filter *filter,
		       const struct convert_stack *stack)
{
	if (!filter->symbols.count && !filter->stops.count)
		return;
	for (uint32_t i = 0; i < stack->count; i++) {
		struct convert_frame *frame = stack->steps[i].frame;

		/* Each frame once. */
		if (frame->user[0] != PROFILE_NONE)
			continue;
		frame->user[0] = 0;
		offer(&filter->symbols, frame);
		offer(&filter->stops, frame);
	}
}

static struct error *list_dsos(const struct script_filter *filter,
			       struct converter *converter,
			       unmatched_thing_vec *ret)
{
	const struct dso_store *store = converter_dsos(converter);

	for (size_t i = 0; i < filter->dso_hits.count; i++) {
		const struct dso *dso = dso_store_at(store, i);
		struct unmatched_thing thing = {
			.name = has_word(&filter->dsos, dso->path) ? dso->path
								   : dso->name,
			.weight = filter->dso_hits.data[i],
		};

		if (thing.weight && !vec_push(ret, thing))
			return error_no_memory();
	}
	return NULL;
}

struct error *script_filter_unmatched(const struct script_filter *filter,
				      struct converter *converter,
				      struct strbuf *out)
{
	unmatched_thing_vec things = {};
	struct error *error = NULL;

	/* Where other filters left nothing, nothing can be found. */
	if (!converter_stats(converter).samples)
		return NULL;
	if (filter->dsos.count)
		error = list_dsos(filter, converter, &things);
	if (!error)
		unmatched_names("no sample hit a file called", &filter->dsos,
				&things, out);
	vec_deinit(&things);
	if (error)
		return error;
	vec_for_each(near, &filter->symbols)
		unmatched_symbol(near, SYMBOL_HIT, "no sample is in a function called",
				 out);
	vec_for_each(near, &filter->stops)
		unmatched_symbol(near, SYMBOL_CALLS, "no sample is in a function called",
				 out);
	return NULL;
}

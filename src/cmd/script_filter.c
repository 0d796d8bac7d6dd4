// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/script_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/dso.h"

static bool has_word(const struct input_words *words, const char *text)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcmp(words->data[i], text))
			return true;
	return false;
}

bool script_filter_needs_place(const struct script_filter *filter)
{
	return filter->symbols.count || filter->dsos.count;
}

static bool is_in_dsos(const struct script_filter *filter,
		       const struct dso *dso)
{
	return dso && (has_word(&filter->dsos, dso->name) ||
		       has_word(&filter->dsos, dso->path));
}

/* The words that are hexadecimal numbers. */
static bool is_at_address(const struct script_filter *filter, uint64_t address)
{
	for (size_t i = 0; i < filter->symbols.count; i++) {
		char *end;
		uint64_t from = strtoull(filter->symbols.data[i], &end, 16);

		if (end != filter->symbols.data[i] && !*end &&
		    address >= from && address - from <= filter->address_range)
			return true;
	}
	return false;
}

static bool is_in_symbols(const struct script_filter *filter,
			  const struct convert_frame *frame)
{
	char start[24];

	if (frame->name) {
		snprintf(start, sizeof(start), "0x%" PRIx64,
			 frame->address - convert_frame_offset(frame));
		if (has_word(&filter->symbols, frame->name) ||
		    has_word(&filter->symbols, start))
			return true;
	}
	return frame->dso && is_at_address(filter, frame->address);
}

bool script_filter_place(const struct script_filter *filter,
			 const struct convert_frame *frame)
{
	return (!filter->dsos.count || is_in_dsos(filter, frame->dso)) &&
	       (!filter->symbols.count || is_in_symbols(filter, frame));
}

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
		return filter->like_perf;
	switches = filter->off && !strcmp(event->name, filter->off);
	filter->is_off = switches;
	return !switches || filter->show_switches;
}

bool script_filter_stops(const struct script_filter *filter, const char *name)
{
	return name && has_word(&filter->stops, name);
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

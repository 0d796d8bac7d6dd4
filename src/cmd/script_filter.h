/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which samples `kaa script` shows, by where they hit and by what came before;
 * and where it ends their stacks. As in perf, -S and --dsos look at the place
 * that a sample hit alone, in the function that holds the code.
 */
#ifndef KAA_CMD_SCRIPT_FILTER_H
#define KAA_CMD_SCRIPT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/input.h"
#include "convert/convert.h"

/* Zero-initialise; an empty list lets all through. */
struct script_filter {
	/* Names, or addresses: of a function's start, or of the place. */
	struct input_words symbols;
	struct input_words dsos;
	/* The stack ends with these. */
	struct input_words stops;
	/* Bytes behind an address of symbols that count, too. */
	uint64_t address_range;
	/* Events that turn the output on and off; NULL: none. */
	const char *on;
	const char *off;
	/* Show these, too. */
	bool show_switches;
	/* As perf 7.2 has it, `off` alone leaves out one sample. */
	bool like_perf;
	/* Now the output is off; true to start with if there is `on`. */
	bool is_off;
};

bool script_filter_needs_place(const struct script_filter *filter);
/* By the place hit. */
bool script_filter_place(const struct script_filter *filter,
			 const struct convert_frame *frame);
/* By the event, which may turn the output on or off. */
bool script_filter_event(struct script_filter *filter,
			 const struct event *event);
/* The stack ends with a function of this name (NULL: not known). */
bool script_filter_stops(const struct script_filter *filter, const char *name);
/* ERROR_NOT_FOUND if there is no such event. */
struct error *script_filter_check(const struct script_filter *filter,
				  const struct events *events);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which samples `kaa script` shows, by where they hit and by what came before;
 * and where it ends their stacks. As in perf, -S and --dsos look at the place
 * that a sample hit alone, in the function that holds the code; where that is
 * the interpreter's, -S looks at the Python function that it ran, too.
 */
#ifndef KAA_VIEW_SCRIPT_FILTER_H
#define KAA_VIEW_SCRIPT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lists.h"
#include "convert/convert.h"
#include "view/symbol_near.h"

struct script_words VEC_BODY(struct symbol_near);

/* Zero-initialise; an empty list lets all through. */
struct script_filter {
	/*
	 * What calls a function (profile/symbol_word.h), or addresses: of a
	 * function's start, or of the place. And what each of them found.
	 */
	struct script_words symbols;
	struct name_list dsos;
	/* The stack ends with these. */
	struct script_words stops;
	/* By number of the DSO: samples that hit it. */
	VEC(uint64_t) dso_hits;
	/* Bytes behind an address of symbols that count, too. */
	uint64_t address_range;
	/* Events that turn the output on and off; NULL: none. */
	const char *on;
	const char *off;
	/* Show these, too. */
	bool show_switches;
	/* To be set: */
	/* -S looks at the place hit alone, even if it is the interpreter's. */
	bool interpreter_frames;
	/* Without `on`, `off` leaves out one sample instead of all that follow. */
	bool off_skips_one;
	/* Now the output is off; true to start with if there is `on`. */
	bool is_off;
};

/* The words of each kind, which are borrowed. */
struct script_filter_words {
	struct name_list symbols;
	struct name_list dsos;
	struct name_list stops;
};

/* whole_names_only: no word stands for a Python function but its symbol. */
struct error *script_filter_init(struct script_filter *filter,
				 const struct script_filter_words *words,
				 bool whole_names_only);
void script_filter_deinit(struct script_filter *filter);
bool script_filter_needs_place(const struct script_filter *filter);
/* By the place hit. *ret is whether the sample is let through. */
struct error *script_filter_place(struct script_filter *filter,
				  const struct convert_frame *place,
				  const struct convert_stack *stack, bool *ret);
/* Takes note of the functions of a stack, for script_filter_unmatched(). */
void script_filter_see(struct script_filter *filter,
		       const struct convert_stack *stack);
/* By the event, which may turn the output on or off. */
bool script_filter_event(struct script_filter *filter,
			 const struct event *event);
/* The stack ends with this frame. */
bool script_filter_stops(const struct script_filter *filter,
			 const struct convert_frame *frame);
/* After all samples: a line for each word that found nothing. */
struct error *script_filter_unmatched(const struct script_filter *filter,
				      struct converter *converter,
				      struct strbuf *out);
/* ERROR_NOT_FOUND if there is no such event. */
struct error *script_filter_check(const struct script_filter *filter,
				  const struct events *events);

#endif

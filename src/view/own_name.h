/* SPDX-License-Identifier: GPL-2.0-only */
/* What the entries of own time (profile/own_time.h) are called. */
#ifndef KAA_VIEW_OWN_NAME_H
#define KAA_VIEW_OWN_NAME_H

#include "base/strbuf.h"
#include "profile/own_time.h"
#include "profile/profile.h"
#include "view/place_name.h"

/* The row of samples without a Python frame. */
#define OWN_NAME_NO_PYTHON "[no Python code]"
/* The threads of which profile_task_is_ending(). */
#define OWN_NAME_ENDING "[threads that were ending]"

/* " of the time", behind a share of what is time. */
static inline const char *
own_name_of_the_time(const struct profile_event *event)
{
	return event->unit == EVENT_NANOSECONDS ? " of the time" : "";
}

/* Each appends; the bytes are foreign ones (view/fit.h draws them). */

/* "Orders.dedupe", the qualified name. */
void own_name_function(const struct profile *profile,
		       const struct own_entry *entry, struct strbuf *out);
/* "orders.py:37", and less where less is known. */
void own_name_place(const struct place_names *names,
		    const struct own_entry *entry, struct strbuf *out);
/*
 * Of a line: its place; with its function if only the file is known, as of a
 * trampoline, or that alone.
 */
void own_name_line(const struct profile *profile,
		   const struct place_names *names,
		   const struct own_entry *entry, struct strbuf *out);
/* The same in a column (view/fit.h): of place and function as much as tells most. */
void own_name_fit_line(const struct profile *profile,
		       const struct place_names *names,
		       const struct own_entry *entry, size_t width,
		       struct strbuf *out);
/* Of a file: "orders.py". */
void own_name_file(const struct profile *profile,
		   const struct place_names *names,
		   const struct own_entry *entry, struct strbuf *out);

#endif

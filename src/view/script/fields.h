/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa script -F`: which fields are printed of which kind of event.
 *
 *	-F comm,ip,sym		these, of all events
 *	-F +srcline,-cpu	the usual ones, with and without
 *	-F trace:time,trace	of one kind; the others stay as they are
 *	-F sw:			of this kind nothing, so that no sample is shown
 *
 * As in perf, kinds come from the type of an event's attribute, a field that
 * a kind cannot have is ignored unless the kind was named, and what the usual
 * fields of a kind are depends on the first event of that kind in the file.
 */
#ifndef KAA_VIEW_SCRIPT_FIELDS_H
#define KAA_VIEW_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "perfdata/events.h"
#include "perfdata/features.h"
#include "view/script/put.h"

enum script_kind {
	/* Numbered as PERF_TYPE_*. */
	SCRIPT_KIND_HARDWARE,
	SCRIPT_KIND_SOFTWARE,
	SCRIPT_KIND_TRACEPOINT,
	SCRIPT_KIND_CACHE,
	SCRIPT_KIND_RAW,
	SCRIPT_KIND_BREAKPOINT,
	SCRIPT_KIND_SYNTH,
	/* Of any other PMU. */
	SCRIPT_KIND_OTHER,
	SCRIPT_KINDS,
};

struct script_fields_of {
	/* Sets of SCRIPT_*. */
	uint64_t fields;
	/* Asked for, and refused, by the user. */
	uint64_t wanted;
	uint64_t refused;
	/* -F spoke of this kind, and of this kind alone. */
	bool is_set;
	bool is_named;
	/* An event of this kind was seen. */
	bool seen;
};

struct script_fields {
	struct script_fields_of of[SCRIPT_KINDS];
	/* Show the address hit alone (-G). */
	bool no_chains;
	/* A sign in any place of -F makes it a change of the usual fields. */
	bool signs_anywhere;
	/* Tracepoints of a pipe have no chains, unless they are asked for. */
	bool chains_missed_in_pipes;
	/* What a processor's trace says of a branch: of all kinds or of none. */
	bool flags;
	/* An event with chains was seen. */
	bool has_chains;
	/* Events seen so far. */
	size_t event_count;
};

void script_fields_init(struct script_fields *fields);

/* One -F. ERROR_INVALID_ARGUMENT with what there is instead. */
struct error *script_fields_parse(struct script_fields *fields,
				  const char *text);

/*
 * Looks at events not seen yet; to be called once they are known, and again
 * while a pipe brings more. Fields that an event lacks are dropped; those that
 * the user asked for are ERROR_NOT_FOUND.
 */
struct error *script_fields_see(struct script_fields *fields,
				const struct events *events,
				const struct features *features, bool is_pipe);

/* The fields that there are: words, each with a blank behind it. */
void script_field_words(struct strbuf *out);

enum script_kind script_fields_kind(const struct event *event);

static inline uint64_t script_fields_of_event(const struct script_fields *fields,
					      const struct event *event)
{
	return fields->of[script_fields_kind(event)].fields;
}

#endif

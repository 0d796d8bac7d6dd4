/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first screen of a report: which Python functions and lines the time went
 * to (docs/own-time.md).
 */
#ifndef KAA_VIEW_ANSWER_H
#define KAA_VIEW_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/own_time.h"
#include "profile/profile.h"
#include "view/place_name.h"

struct answer_options {
	/* Of a line of output; at least 60 are used. */
	size_t columns;
	/* The current folder, or NULL. */
	const char *folder;
	/*
	 * Appends line `line` of a source file as it is now, without its end;
	 * nothing where it cannot be read. May be NULL.
	 */
	void (*source)(void *arg, const char *file, uint32_t line,
		       struct strbuf *out);
	/* Appends what is to be said of those files, whole lines. May be NULL. */
	void (*source_notes)(void *arg, struct strbuf *out);
	void *source_arg;
	/* The profile has not all samples of its recordings. */
	bool is_filtered;
	/* Of CPU time says how much of it has samples, which is what is compared. */
	bool is_compared;
	/* It is for a document: the program's name is whole, in all of Unicode. */
	bool is_document;
	/* Of a program that runs, whose samples are new all the time. */
	bool is_live;
	/* Of such a program, where no stack tells: what it runs, or NULL. */
	const char *script;
	/* Only the first few functions and lines, and what to type next. */
	bool is_brief;
	/* The heaviest total time first, not own time. */
	bool by_total;
	/* See struct own_time_options. */
	bool without_libraries;
	/* The words that name the recording in a command (" -i x.data"), or NULL. */
	const char *recording;
	/*
	 * Appends what to type next, whole lines. symbol: of the function with
	 * most own time whose source is worth a look; if none's is
	 * (!has_source), of that with most own time, or NULL. May be NULL.
	 */
	void (*next)(const void *arg, const char *symbol, bool has_source,
		     struct strbuf *out);
	const void *next_arg;
};

/* What is to be said of numbers without libraries: a line. */
#define ANSWER_WITHOUT_LIBRARIES \
	"What libraries do counts for the functions of your own files that call them.\n"

/*
 * The event that the screen is about: the first one whose samples are moments on
 * a CPU and have Python frames, or else the first that has Python frames.
 * PROFILE_NONE: there is none, and no such screen.
 */
uint32_t answer_event(const struct profile *profile);

/* What the first line says. */
enum answer_piece {
	ANSWER_PROGRAM,
	ANSWER_PYTHON,
	/* Or what the event is, if it counts no time. */
	ANSWER_TIME,
	ANSWER_SAMPLES,
	ANSWER_PIECES,
};

/*
 * Appends the pieces of the first line. own is of the event, as many of its
 * samples as are meant; names and own are borrowed.
 */
struct error *answer_summary(const struct profile *profile, uint32_t event,
			     const struct answer_options *options,
			     struct own_time *own, struct place_names *names,
			     struct strbuf pieces[ANSWER_PIECES]);

/*
 * Whether samples of the event that weigh so much, of so many ns, are of a program
 * that had no processor most of the time.
 */
bool answer_mostly_waits(const struct profile_event *event, uint64_t period,
			 uint64_t time);

/*
 * Appends the command that shows where it waits, "'kaa record --mode wall -p 7'", or
 * of `kaa top`: as kaa was typed, with what was recorded as far as that can be told.
 */
void answer_put_wall_command(const struct metadata *metadata, bool is_live,
			     struct strbuf *out);

/* The same of the command that records native functions, too. */
void answer_put_native_command(const struct metadata *metadata,
			       struct strbuf *out);

/*
 * Appends, each as a line, why the shares of these samples may be wrong: CPU time
 * that has no samples, so few samples that chance moves them. Mostly nothing.
 */
void answer_doubts(const struct profile *profile, uint32_t event,
		   const struct answer_options *options,
		   const struct own_time *own, struct strbuf *out);

/*
 * Appends, each as a line, how long the program had no processor, and what shows where it
 * waited; mostly nothing. own is borrowed.
 */
struct error *answer_waits(const struct profile *profile, uint32_t event,
			   const struct answer_options *options,
			   struct own_time *own, struct strbuf *out);

/*
 * Appends what the recording does not know, and what to do about it, a line each:
 * functions whose lines are not known, C functions without names.
 */
void answer_notes(const struct profile *profile, uint32_t event,
		  const struct own_time *own, struct strbuf *out);

/* ERROR_OS: `out` cannot be written. */
struct error *answer_write(const struct profile *profile, uint32_t event,
			   const struct answer_options *options, FILE *out);

#endif

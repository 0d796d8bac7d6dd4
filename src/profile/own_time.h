/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of one event by Python code: what each function and line weighs,
 * and what its own time consists of (docs/own-time.md).
 *
 * A sample belongs to its innermost Python frame, with all native and kernel
 * code below it. It counts once for the total of each function, and of each
 * line, in its stack. Samples without a Python frame are an entry of their own,
 * so the own weights of all functions are all samples; those of all lines, too.
 * Code objects of one name and one def are one function: 3.8 to 3.10 know no
 * qualified names, and a file has many a "<lambda>".
 *
 * Files are counted by the same rules.
 */
#ifndef KAA_PROFILE_OWN_TIME_H
#define KAA_PROFILE_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/watch.h"
#include "profile/profile.h"
#include "profile/spent.h"

struct own_weight {
	/* In the unit of the event. */
	uint64_t period;
	uint64_t samples;
	/*
	 * The squares of what each sample may be off by, added up. That is all of its
	 * period, or, where a thread was seen to sleep, the time between two looks.
	 */
	double squares;
};

/* A function, a line of a file, or a file. */
struct own_entry {
	/* False: samples without a Python frame. */
	bool is_python;
	/* Of these: or with frames of libraries alone, which do not count. */
	bool is_library;
	/*
	 * The name of the function's symbol, of a line that of its first sample, of
	 * a file the first seen there; PROFILE_NONE where no record names the code.
	 */
	uint32_t name;
	/* The source file, or PROFILE_NONE. */
	uint32_t file;
	/*
	 * Of a function the line of its def; 0: not known. Where a function's
	 * lines are not known, they are one line, that of its def.
	 */
	uint32_t line;
	struct own_weight own;
	struct own_weight total;
	/*
	 * Of a function own_time.parts[first_part ...], heaviest first; of a
	 * line the same of line_parts, those of one function together.
	 */
	uint32_t first_part;
	uint32_t part_count;
	/* Of use while they are counted. */
	uint32_t id;
};

struct own_entry_vec VEC_BODY(struct own_entry);

/* A part of the own time of a function or a line. */
struct own_part {
	enum spent_kind kind;
	/* A frame of what it was spent in, or PROFILE_NONE. */
	uint32_t subject;
	/* Index into own_time.functions; a line may belong to several. */
	uint32_t function;
	/* Of use while they are counted. */
	uint32_t line;
	struct own_weight weight;
};

struct own_part_vec VEC_BODY(struct own_part);

/* Native time in functions of a file that no symbol names. */
struct own_nameless {
	/* PROFILE_NONE: code of no file. */
	uint32_t dso;
	bool in_cpython;
	struct own_weight weight;
};

struct own_time {
	/* Those that have samples, heaviest own time first, then total. */
	struct own_entry_vec functions;
	struct own_entry_vec lines;
	/* Those whose file is not known are one; line is 0. */
	struct own_entry_vec files;
	struct own_part_vec parts;
	struct own_part_vec line_parts;
	/*
	 * By file, heaviest first: SPENT_NATIVE of which the subject has no name.
	 */
	VEC(struct own_nameless) nameless;
	/* All samples that were counted. */
	struct own_weight all;
	/* The same by kind. */
	struct own_weight kinds[SPENT_KINDS];
};

struct own_time_options {
	uint32_t event;
	/*
	 * Rows for which this is false are as if they were not there. NULL: all
	 * rows are.
	 */
	bool (*keep)(const struct profile *profile, size_t row,
		     const void *arg);
	const void *keep_arg;
	/*
	 * Time in functions of libraries (profile/library_files.h) is own time of the
	 * program's own function that called them, of the kind SPENT_LIBRARY. Where
	 * there is none, it is as time without a Python frame.
	 */
	bool without_libraries;
	/* Stops it, or NULL: ERROR_INTERRUPTED. */
	struct watch *watch;
};

/* The entry of the frame's function, without weights. */
struct own_entry own_entry_of(const struct profile *profile,
			      const struct profile_frame *frame);
/* It is a task of asyncio: its name, as task_symbol_parse() has it. */
bool own_entry_is_task(const struct profile *profile,
		       const struct own_entry *entry, const char **name,
		       size_t *length);
/* Whether the row of samples is one of those that the options ask for. */
bool own_time_keeps(const struct profile *profile,
		    const struct own_time_options *options, size_t row);

/* What a moment is spent on: a frame of it, or PROFILE_NONE, and its kind. */
struct own_spent {
	uint32_t subject;
	/* enum spent_kind */
	uint8_t kind;
};

/*
 * What samples of the event are spent on, by stack of the profile; ret has room for
 * one more, which is that of samples without a stack. Equal subjects are one frame.
 * without_libraries: as in the options.
 */
struct error *own_time_spent(const struct profile *profile, uint32_t event,
			     bool without_libraries, struct own_spent *ret);

/* The profile is borrowed for the call alone. */
struct error *own_time_select(const struct profile *profile,
			      const struct own_time_options *options,
			      struct own_time **ret);
/* All samples of an event. */
struct error *own_time_create(const struct profile *profile, uint32_t event,
			      struct own_time **ret);
void own_time_destroy(struct own_time *own);
DEFINE_CLEANUP(own_time, struct own_time *, own_time_destroy);
#define _cleanup_own_time_ _cleanup_(cleanup_own_time_)

#endif

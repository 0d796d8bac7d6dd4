/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking at a part of a recording: what was zoomed into, in its order.
 *
 * Zooms by thread, process and name of thread choose samples. The others choose
 * entries, and with them the samples that have such
 * an entry: with children those that pass through one, else those that hit
 * one. Several combine: a sample, and an entry, has to pass them all.
 */
#ifndef KAA_EXPLORE_ZOOM_H
#define KAA_EXPLORE_ZOOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/location.h"
#include "profile/profile.h"

enum zoom_kind {
	ZOOM_THREAD,
	ZOOM_PROCESS,
	ZOOM_COMM,
	ZOOM_DSO,
	ZOOM_KERNEL,
	/*
	 * Functions whose name has a text (browser_matches()), or that it
	 * calls (profile/symbol_word.h).
	 */
	ZOOM_SYMBOL,
	/* One Python function, and Python code in one source file. */
	ZOOM_FUNCTION,
	ZOOM_SOURCE,
};

struct zoom {
	enum zoom_kind kind;
	/* tid or pid; of a function the line of its def, or 0. */
	int32_t id;
	/*
	 * Handle of the comm, of the DSO's short name, of the name of the
	 * function's symbol, or of the file.
	 */
	uint32_t name;
	/* Of ZOOM_SYMBOL; owned. */
	char *text;
	/* What it calls, as symbol_match_called() has it; owned, or NULL. */
	uint32_t *called;
};

struct zooms VEC_BODY(struct zoom);

void zooms_deinit(struct zooms *zooms);
/* What *to had is gone; it stays as it is if memory runs out. */
struct error *zooms_copy(const struct zooms *from, struct zooms *to);
/* Takes zoom->text and zoom->called over, even on failure. */
struct error *zooms_push(struct zooms *zooms, const struct zoom *zoom);
/* Leaves the last one. False: there was none. */
bool zooms_pop(struct zooms *zooms);
/* Takes out those of a kind. False: there was none. */
bool zooms_remove(struct zooms *zooms, enum zoom_kind kind);
bool zooms_has(const struct zooms *zooms, enum zoom_kind kind);
/* Functions by a text, taken over even on failure. */
struct error *zoom_by_symbol(const struct profile *profile, char *text,
			     struct zoom *ret);
/* "thread 12"; names are sanitized. */
void zoom_format(const struct zoom *zoom, const struct profile *profile,
		 struct strbuf *out);
/* "thread 12  file libc.so.6  symbol 'foo'"; names are sanitized. */
void zooms_format(const struct zooms *zooms, const struct profile *profile,
		  struct strbuf *out);

/* Whether an entry at the frame (NULL: nothing is known) passes. */
bool zooms_keep_frame(const struct zooms *zooms, const struct profile *profile,
		      const struct profile_frame *frame);
/*
 * Which rows of the samples pass: an array of a byte a row, to be freed by the
 * caller. NULL if there is no zoom: all do. Without locations (NULL) a stack
 * passes that has a frame of each zoom: code in the kernel, below a function.
 */
struct error *zooms_keep_rows(const struct zooms *zooms,
			      const struct profile *profile,
			      const struct locations *locations, bool children,
			      uint8_t **ret);

/* Something to zoom into, with what it weighs. */
struct zoom_choice {
	struct zoom zoom;
	/* The task that a thread or process was last, and the name of that. */
	uint32_t task;
	uint32_t comm;
	uint64_t period;
	uint64_t count;
};

typedef VEC(struct zoom_choice) zoom_choice_vec;

/*
 * What of one kind (thread, process, comm) the rows of an event have that pass
 * keep (NULL: all), heaviest first.
 */
struct error *zoom_choices(const struct profile *profile, uint32_t event,
			   const uint8_t *keep, enum zoom_kind kind,
			   zoom_choice_vec *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first screen of a report (view/answer.h) as rows that one moves in: which
 * Python functions, lines, files and threads, or tasks of asyncio, the time of one event
 * went to.
 *
 * The overview has the heaviest rows of each, as many as the window has room
 * for; the other views have all rows of one kind. A function opens into what its
 * own time consists of, a file into its functions.
 *
 * With native code, functions are told apart from what they call outside Python:
 * a Python function weighs what the interpreter needed for it, and each native
 * function, system call and kind of work (profile/spent.h) is a row that opens
 * into the Python functions that it was for.
 *
 * The callers of a function are a view, too: the function, which opens into who
 * calls it from where, and so on outwards.
 *
 * Own weights of the rows of a view are all samples that are zoomed into.
 * Percentages are those of these samples, or (`whole`) of the event. A zoom is a
 * choice of samples: by file, kernel or function those that pass through one.
 *
 * Not thread-safe. Knows nothing of terminals.
 */
#ifndef KAA_EXPLORE_OWN_ROWS_H
#define KAA_EXPLORE_OWN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/watch.h"
#include "explore/browser.h"
#include "explore/line.h"
#include "explore/own_states.h"
#include "explore/zoom.h"
#include "profile/own_callers.h"
#include "profile/own_time.h"
#include "profile/profile.h"
#include "view/answer.h"
#include "view/place_name.h"
#include "view/process_words.h"

enum own_view {
	OWN_OVERVIEW,
	OWN_FUNCTIONS,
	OWN_LINES,
	OWN_FILES,
	OWN_THREADS,
	/* Of one function: see own_rows_show_callers(). */
	OWN_CALLERS,
	OWN_VIEWS,
};

/* browser_node.kind, and what its ref is. */
enum own_kind {
	/* The heading of a view's rows in the overview, and what it leaves out. */
	OWN_HEADING,
	OWN_REST,
	/* Entries of own_rows.own. */
	OWN_FUNCTION,
	OWN_LINE,
	OWN_FILE,
	/* Of own_rows.threads. */
	OWN_THREAD,
	/* Of own_rows.codes. */
	OWN_CODE,
	/* Of own_rows.pieces: a part of a function; a function of a code. */
	OWN_PART,
	OWN_USER,
	/* Of own_rows.made.callers. */
	OWN_CALLER,
};

/* A row of functions with native code. */
struct own_code {
	/* The Python function, if the kind is SPENT_INTERPRETER. */
	uint32_t function;
	enum spent_kind kind;
	uint32_t subject;
	uint64_t period;
};

/* What a function and a code have in common. */
struct own_piece {
	uint32_t function;
	uint32_t code;
	uint64_t period;
};

typedef VEC(struct own_code) own_code_vec;

/* What is made of the samples. */
struct own_made {
	uint8_t *keep;
	struct own_time *own;
	struct strbuf summary[ANSWER_PIECES];
	/* Heaviest first. If samples are of tasks of asyncio: these, as functions, in no order. */
	zoom_choice_vec threads;
	bool has_tasks;
	own_code_vec codes;
	/* Heaviest first. */
	VEC(struct own_piece) pieces;
	/* Of own_rows.called, if they are shown. */
	struct own_caller_vec callers;
};

/* What a view's columns need, as far as rows were measured. */
struct own_widths {
	size_t name;
	size_t place;
	/* Of a place without its folders. */
	size_t file;
	/* Of the end of a place, to tell rows of like names apart. */
	size_t apart;
	/* What own time was spent in, up to what is enough. */
	size_t rest;
};

struct own_rows {
	const struct profile *profile;
	uint32_t event;
	const struct answer_options *options;
	struct watch *watch;
	struct place_names *names;
	/* Choices: see own_rows_zoom() and own_rows_show(). */
	struct zooms zooms;
	bool whole;
	enum own_view view;
	bool with_native;
	bool by_total;
	/* See own_rows_count_libraries(). */
	bool without_libraries;
	/* What its threads do now; NULL: it is a recording. Borrowed. */
	const struct own_states *states;
	/* Whose callers OWN_CALLERS has; and the view and row that it was left for. */
	struct zoom called;
	enum own_view view_before;
	size_t selected_before;
	/* Rows of the window. */
	size_t height;

	struct own_made made;
	struct browser browser;
	/* Of own_text.h: of so many rows, and in which window. */
	struct own_widths widths[OWN_VIEWS];
	size_t measured;
	size_t window_top;
	size_t window_end;
	bool has_processes;
	/* If there are several. */
	struct process_words words;
	uint64_t all_period;
	/*
	 * Of the overview: entries of each view that weigh something themselves,
	 * how many are shown, and what is left.
	 */
	size_t heavy[OWN_VIEWS];
	size_t shown[OWN_VIEWS];
	size_t rest_count[OWN_VIEWS];
	uint64_t rest_period[OWN_VIEWS];
	/* Scratch. */
	struct strbuf word;
};

/*
 * profile, options and watch (or NULL) are borrowed. Shows the overview.
 * ERROR_INTERRUPTED.
 */
struct error *own_rows_create(const struct profile *profile, uint32_t event,
			      const struct answer_options *options,
			      struct watch *watch, struct own_rows **ret);
void own_rows_destroy(struct own_rows *rows);
DEFINE_CLEANUP(own_rows, struct own_rows *, own_rows_destroy);
#define _cleanup_own_rows_ _cleanup_(cleanup_own_rows_)

/* Asks options->source for the lines that the overview may show, before they are drawn. */
void own_rows_read_sources(const struct own_rows *rows);

/*
 * Other samples. On failure, such as ERROR_INTERRUPTED, all is as it was.
 * own_rows_zoom() takes zoom->text over; own_rows_set_zooms() copies.
 * own_rows_leave() leaves the last zoom; *left is false if there was none, and
 * own_rows_unzoom() all zooms of a kind.
 */
struct error *own_rows_zoom(struct own_rows *rows, const struct zoom *zoom);
struct error *own_rows_set_zooms(struct own_rows *rows,
				 const struct zooms *zooms);
struct error *own_rows_leave(struct own_rows *rows, bool *left);
struct error *own_rows_unzoom(struct own_rows *rows, enum zoom_kind kind,
			      bool *left);

/*
 * For whom the time in libraries counts: `without`, for the program's own functions that
 * called them (struct own_time_options). ERROR_INTERRUPTED: all is as it was.
 */
struct error *own_rows_count_libraries(struct own_rows *rows, bool without);

/* Other rows of the same samples. The selection goes to the first one. */
struct error *own_rows_show(struct own_rows *rows, enum own_view view,
			    bool with_native, bool by_total);
/*
 * The callers of a function (ZOOM_FUNCTION), the heaviest of them open; and back
 * to the rows that were shown before, if callers are. ERROR_INTERRUPTED: all is as
 * it was.
 */
struct error *own_rows_show_callers(struct own_rows *rows,
				    const struct zoom *function);
struct error *own_rows_leave_callers(struct own_rows *rows);
/*
 * Rows of threads say what they do now; those without samples have rows, too, while
 * there is no zoom. Seen from the next own_rows_show() on. states are borrowed for as
 * long as rows live.
 */
struct error *own_rows_set_states(struct own_rows *rows,
				  const struct own_states *states);
/* The window's height; the overview takes what room there is. */
struct error *own_rows_resize(struct own_rows *rows, size_t height);

#endif

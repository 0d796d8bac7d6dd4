/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A forest that is looked at through a window: which nodes are open, which
 * rows that makes, which of them is selected. Knows nothing of terminals nor
 * of what the nodes are.
 *
 * A node's children are asked for when it is opened for the first time, and
 * kept. Moving costs nothing, opening and closing as many steps as there are
 * rows below; what is drawn are rows [top, top + height).
 *
 * Not thread-safe.
 */
#ifndef KAA_EXPLORE_BROWSER_H
#define KAA_EXPLORE_BROWSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/watch.h"

#define BROWSER_NONE UINT32_MAX
/* browser_open_all() stops where there are this many rows. */
#define BROWSER_ROWS_MAX (2u << 20)

struct browser;

struct browser_node {
	uint32_t parent;
	uint32_t first_child;
	uint32_t last_child;
	uint32_t next;
	/* The owner's. */
	uint32_t ref;
	uint16_t kind;
	/* Nodes above this one. */
	uint16_t level;
	bool can_open;
	bool is_open;
	/* Its children were asked for. */
	bool is_filled;
};

struct browser_source {
	/* Adds the children of a node, by browser_add(). NULL: none ever. */
	struct error *(*fill)(void *arg, struct browser *browser,
			      uint32_t node);
	/* Appends what a search looks at. */
	void (*text)(void *arg, const struct browser *browser, uint32_t node,
		     struct strbuf *out);
	/*
	 * What else a pattern finds: start_search() before the first node that
	 * is_called() is asked about. NULL, both: nothing.
	 */
	struct error *(*start_search)(void *arg, const char *pattern);
	bool (*is_called)(void *arg, const struct browser *browser,
			  uint32_t node);
	void *arg;
	/* Of opening all, and of searching; may be NULL. */
	struct watch *watch;
};

struct browser {
	struct browser_source source;
	VEC(struct browser_node) nodes;
	/* The top of the forest. */
	uint32_t first;
	uint32_t last;
	/* Nodes that can be seen, from above to below. */
	VEC(uint32_t) rows;
	/* Index into rows; 0 if there is none. */
	size_t selected;
	/* The window. */
	size_t top;
	size_t height;
	/* Scratch. */
	VEC(uint32_t) stack;
	VEC(uint32_t) run;
	struct strbuf text;
};

/* Empty, with a window of one row. */
void browser_init(struct browser *browser,
		  const struct browser_source *source);
void browser_deinit(struct browser *browser);

/* Appends a node below parent, or to the top (BROWSER_NONE). */
struct error *browser_add(struct browser *browser, uint32_t parent,
			  uint16_t kind, uint32_t ref, bool can_open);
/* Shows the top of the forest, all closed, the first row selected. */
struct error *browser_show(struct browser *browser);

/* The selected node, or BROWSER_NONE if there are no rows. */
uint32_t browser_selected(const struct browser *browser);
/* The node's ancestor (or itself) in the top. */
uint32_t browser_root(const struct browser *browser, uint32_t node);

/* The window is that many rows high (at least 1), and shows the selection. */
void browser_resize(struct browser *browser, size_t height);
/* Selects a row, clipped to what there is. */
void browser_select(struct browser *browser, size_t row);
/* Moves the selection by rows. */
void browser_move(struct browser *browser, int64_t rows);
/* Moves the window and the selection by a page of it. */
void browser_page(struct browser *browser, int pages);
/* Selects a node's row, if it can be seen. */
bool browser_select_node(struct browser *browser, uint32_t node);

/* Opens or closes the selected node. */
struct error *browser_open(struct browser *browser);
void browser_close(struct browser *browser);
struct error *browser_toggle(struct browser *browser);
/* Closes the selected node, or else goes to its parent. False: neither. */
bool browser_leave(struct browser *browser);
/*
 * Opens everything below node, or everything (BROWSER_NONE). *complete is
 * false if there would have been more than BROWSER_ROWS_MAX rows.
 * ERROR_INTERRUPTED: what was opened until then stays so.
 */
struct error *browser_open_all(struct browser *browser, uint32_t node,
			       bool *complete);
/* Closes everything; the selection goes up to what can still be seen. */
struct error *browser_close_all(struct browser *browser, uint32_t node);

/*
 * Selects the next row (step 1) or the one before (-1) whose text has the
 * pattern, or that source.is_called() is true for, from row `from` on, it
 * included, around the end. Upper and lower case are equal unless the pattern
 * has an upper-case letter. *found false: there is none, and nothing changes.
 * ERROR_INTERRUPTED.
 */
struct error *browser_search(struct browser *browser, const char *pattern,
			     size_t from, int step, bool *found);
/* True if text has pattern, as browser_search() compares them. */
bool browser_matches(const char *text, const char *pattern);
bool browser_has_upper(const char *pattern);

#endif

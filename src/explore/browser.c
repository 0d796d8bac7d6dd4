// SPDX-License-Identifier: GPL-2.0-only
#include "explore/browser.h"

#include <stdlib.h>
#include <string.h>

void browser_init(struct browser *browser, const struct browser_source *source)
{
	*browser = (struct browser){ .source = *source,
				     .first = BROWSER_NONE,
				     .last = BROWSER_NONE,
				     .height = 1,
				     .text = STRBUF_INIT };
}

void browser_deinit(struct browser *browser)
{
	vec_deinit(&browser->nodes);
	vec_deinit(&browser->rows);
	vec_deinit(&browser->stack);
	vec_deinit(&browser->run);
	strbuf_deinit(&browser->text);
}

static struct browser_node *node_at(const struct browser *b, uint32_t id)
{
	return &b->nodes.data[id];
}

struct error *browser_add(struct browser *browser, uint32_t parent,
			  uint16_t kind, uint32_t ref, bool can_open)
{
	uint32_t id = (uint32_t)browser->nodes.count;
	struct browser_node node = { .parent = parent,
				     .first_child = BROWSER_NONE,
				     .last_child = BROWSER_NONE,
				     .next = BROWSER_NONE,
				     .ref = ref,
				     .kind = kind,
				     .can_open = can_open };
	uint32_t *first = &browser->first, *last = &browser->last;

	if (id == BROWSER_NONE)
		return error_create(ERROR_LIMIT, "too many rows");
	if (parent != BROWSER_NONE && node_at(browser, parent)->level < 65535)
		node.level = (uint16_t)(node_at(browser, parent)->level + 1);
	if (!vec_push(&browser->nodes, node))
		return error_no_memory();
	if (parent != BROWSER_NONE) {
		first = &node_at(browser, parent)->first_child;
		last = &node_at(browser, parent)->last_child;
	}
	if (*last == BROWSER_NONE)
		*first = id;
	else
		node_at(browser, *last)->next = id;
	*last = id;
	return NULL;
}

/* --- Rows --------------------------------------------------------------- */

/* The node that is seen below id, within root (BROWSER_NONE: all). */
static uint32_t next_seen(const struct browser *b, uint32_t id, uint32_t root)
{
	const struct browser_node *node = node_at(b, id);

	if (node->is_open && node->first_child != BROWSER_NONE)
		return node->first_child;
	while (id != root) {
		node = node_at(b, id);
		if (node->next != BROWSER_NONE)
			return node->next;
		if (node->parent == BROWSER_NONE)
			break;
		id = node->parent;
	}
	return BROWSER_NONE;
}

/* All rows anew; what was selected stays so, or else what stands above it. */
static struct error *list_rows(struct browser *b)
{
	uint32_t selected = browser_selected(b);

	vec_clear(&b->rows);
	for (uint32_t id = b->first; id != BROWSER_NONE;
	     id = next_seen(b, id, BROWSER_NONE))
		if (!vec_push(&b->rows, id))
			return error_no_memory();
	while (selected != BROWSER_NONE && !browser_select_node(b, selected))
		selected = node_at(b, selected)->parent;
	if (selected == BROWSER_NONE)
		browser_select(b, 0);
	return NULL;
}

struct error *browser_show(struct browser *browser)
{
	vec_for_each(node, &browser->nodes)
		node->is_open = false;
	vec_clear(&browser->rows);
	browser->selected = browser->top = 0;
	return list_rows(browser);
}

uint32_t browser_selected(const struct browser *browser)
{
	return browser->selected < browser->rows.count
		       ? browser->rows.data[browser->selected]
		       : BROWSER_NONE;
}

uint32_t browser_root(const struct browser *browser, uint32_t node)
{
	while (node != BROWSER_NONE &&
	       node_at(browser, node)->parent != BROWSER_NONE)
		node = node_at(browser, node)->parent;
	return node;
}

/* --- The window --------------------------------------------------------- */

static void follow_selection(struct browser *b)
{
	size_t most = b->rows.count > b->height ? b->rows.count - b->height
						: 0;

	if (b->selected < b->top)
		b->top = b->selected;
	if (b->selected >= b->top + b->height)
		b->top = b->selected - b->height + 1;
	if (b->top > most)
		b->top = most;
}

void browser_resize(struct browser *browser, size_t height)
{
	browser->height = height ? height : 1;
	follow_selection(browser);
}

void browser_select(struct browser *browser, size_t row)
{
	size_t count = browser->rows.count;

	browser->selected = row < count ? row : count ? count - 1 : 0;
	follow_selection(browser);
}

void browser_move(struct browser *browser, int64_t rows)
{
	size_t back = rows < 0 ? (size_t)-rows : 0;

	if (rows >= 0)
		browser_select(browser, browser->selected + (size_t)rows);
	else
		browser_select(browser, browser->selected > back
						? browser->selected - back
						: 0);
}

void browser_page(struct browser *browser, int pages)
{
	int64_t rows = (int64_t)browser->height * pages;
	size_t back = rows < 0 ? (size_t)-rows : 0;

	if (rows >= 0)
		browser->top += (size_t)rows;
	else
		browser->top = browser->top > back ? browser->top - back : 0;
	browser_move(browser, rows);
}

bool browser_select_node(struct browser *browser, uint32_t node)
{
	for (size_t i = 0; i < browser->rows.count; i++)
		if (browser->rows.data[i] == node) {
			browser_select(browser, i);
			return true;
		}
	return false;
}

/* --- Opening and closing ------------------------------------------------ */

/* Rows of the selected node's descendants that can be seen. */
static size_t seen_below(const struct browser *b)
{
	uint16_t level = node_at(b, browser_selected(b))->level;
	size_t row = b->selected + 1;

	while (row < b->rows.count &&
	       node_at(b, b->rows.data[row])->level > level)
		row++;
	return row - b->selected - 1;
}

static struct error *fill(struct browser *b, uint32_t id)
{
	if (node_at(b, id)->is_filled)
		return NULL;
	/* Before, so that one that fails is not asked for twice. */
	node_at(b, id)->is_filled = true;
	return b->source.fill ? b->source.fill(b->source.arg, b, id) : NULL;
}

/* Puts what is seen below the selected node behind its row. */
static struct error *insert_rows(struct browser *b, uint32_t id)
{
	size_t at = b->selected + 1, n;

	vec_clear(&b->run);
	for (uint32_t i = next_seen(b, id, id); i != BROWSER_NONE;
	     i = next_seen(b, i, id))
		if (!vec_push(&b->run, i))
			return error_no_memory();
	n = b->run.count;
	if (!n)
		return NULL;
	if (!vec_reserve(&b->rows, n))
		return error_no_memory();
	memmove(b->rows.data + at + n, b->rows.data + at,
		(b->rows.count - at) * sizeof(*b->rows.data));
	memcpy(b->rows.data + at, b->run.data, n * sizeof(*b->rows.data));
	b->rows.count += n;
	return NULL;
}

struct error *browser_open(struct browser *browser)
{
	uint32_t id = browser_selected(browser);
	struct error *error;

	if (id == BROWSER_NONE || !node_at(browser, id)->can_open ||
	    node_at(browser, id)->is_open)
		return NULL;
	error = fill(browser, id);
	if (error)
		return error;
	node_at(browser, id)->is_open = true;
	error = insert_rows(browser, id);
	if (error)
		node_at(browser, id)->is_open = false;
	return error;
}

void browser_close(struct browser *browser)
{
	uint32_t id = browser_selected(browser);
	size_t at = browser->selected + 1, n;

	if (id == BROWSER_NONE || !node_at(browser, id)->is_open)
		return;
	n = seen_below(browser);
	memmove(browser->rows.data + at, browser->rows.data + at + n,
		(browser->rows.count - at - n) * sizeof(*browser->rows.data));
	browser->rows.count -= n;
	node_at(browser, id)->is_open = false;
	follow_selection(browser);
}

struct error *browser_toggle(struct browser *browser)
{
	uint32_t id = browser_selected(browser);

	if (id == BROWSER_NONE || !node_at(browser, id)->is_open)
		return browser_open(browser);
	browser_close(browser);
	return NULL;
}

bool browser_leave(struct browser *browser)
{
	uint32_t id = browser_selected(browser);
	size_t row = browser->selected;

	if (id == BROWSER_NONE)
		return false;
	if (node_at(browser, id)->is_open) {
		browser_close(browser);
		return true;
	}
	if (node_at(browser, id)->parent == BROWSER_NONE)
		return false;
	while (row && browser->rows.data[row] != node_at(browser, id)->parent)
		row--;
	browser_select(browser, row);
	return true;
}

/* Opens id and all below it; counts down the rows that may still come. */
static struct error *open_below(struct browser *b, uint32_t root, size_t *left)
{
	vec_clear(&b->stack);
	if (!vec_push(&b->stack, root))
		return error_no_memory();
	while (b->stack.count && *left) {
		uint32_t id = b->stack.data[--b->stack.count];
		struct error *error;

		--*left;
		if (!node_at(b, id)->can_open)
			continue;
		if (!watch_goes_on(b->source.watch, "opening",
				   BROWSER_ROWS_MAX - *left, BROWSER_ROWS_MAX))
			return watch_error(b->source.watch);
		error = fill(b, id);
		if (error)
			return error;
		node_at(b, id)->is_open = true;
		for (uint32_t i = node_at(b, id)->first_child;
		     i != BROWSER_NONE; i = node_at(b, i)->next)
			if (!vec_push(&b->stack, i))
				return error_no_memory();
	}
	return NULL;
}

struct error *browser_open_all(struct browser *browser, uint32_t node,
			       bool *complete)
{
	bool all = node == BROWSER_NONE;
	size_t left = BROWSER_ROWS_MAX;
	struct error *error = NULL;
	struct error *listed;

	for (uint32_t id = all ? browser->first : node;
	     id != BROWSER_NONE && left && !error;
	     id = all ? node_at(browser, id)->next : BROWSER_NONE)
		error = open_below(browser, id, &left);
	*complete = left > 0;
	/* Rows and open nodes agree, whatever happened. */
	listed = list_rows(browser);
	if (!error)
		return listed;
	error_destroy(listed);
	return error;
}

struct error *browser_close_all(struct browser *browser, uint32_t node)
{
	if (node == BROWSER_NONE) {
		vec_for_each(each, &browser->nodes)
			each->is_open = false;
		return list_rows(browser);
	}
	for (uint32_t i = node; i != BROWSER_NONE;) {
		/* Before it is closed, while the way down is open. */
		uint32_t next = next_seen(browser, i, node);

		node_at(browser, i)->is_open = false;
		i = next;
	}
	return list_rows(browser);
}

/* --- Search ------------------------------------------------------------- */

bool browser_has_upper(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return true;
	return false;
}

bool browser_matches(const char *text, const char *pattern)
{
	return browser_has_upper(pattern) ? strstr(text, pattern) != NULL
				  : strcasestr(text, pattern) != NULL;
}

/* The node's text has the pattern, or it is called so. */
static bool is_found(struct browser *browser, uint32_t node,
		     const char *pattern)
{
	const struct browser_source *source = &browser->source;

	strbuf_clear(&browser->text);
	source->text(source->arg, browser, node, &browser->text);
	return browser_matches(browser->text.data, pattern) ||
	       (source->is_called &&
		source->is_called(source->arg, browser, node));
}

struct error *browser_search(struct browser *browser, const char *pattern,
			     size_t from, int step, bool *found)
{
	size_t count = browser->rows.count;
	size_t row = from < count ? from : 0;
	struct error *error = NULL;

	*found = false;
	if (browser->source.start_search)
		error = browser->source.start_search(browser->source.arg,
						     pattern);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		if (!watch_goes_on(browser->source.watch, "searching", i,
				   count))
			return watch_error(browser->source.watch);
		if (is_found(browser, browser->rows.data[row], pattern)) {
			browser_select(browser, row);
			*found = true;
			break;
		}
		row = step > 0 ? (row + 1) % count
			       : (row ? row : count) - 1;
	}
	return strbuf_error(&browser->text);
}

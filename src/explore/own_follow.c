// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_follow.h"

#include <string.h>

#include "explore/own_text.h"

/* What a row is called: its kind, its depth and its names, each with a NUL. */
struct row_names {
	struct strbuf text;
	/* Where each begins. */
	VEC(size_t) starts;
};

static void row_names_deinit(struct row_names *names)
{
	strbuf_deinit(&names->text);
	vec_deinit(&names->starts);
}

static void put_row_name(const struct own_rows *rows, uint32_t node,
			 struct strbuf *out)
{
	const struct browser_node *n = &rows->browser.nodes.data[node];

	/* A heading has no names. */
	strbuf_printf(out, "%u %u %u ", n->kind, n->level,
		      n->kind <= OWN_REST ? n->ref : 0);
	if (n->kind > OWN_REST)
		own_text_names(rows, n, out);
}

static bool add_row_name(struct row_names *names, const struct own_rows *rows,
			 uint32_t node)
{
	if (!vec_push(&names->starts, names->text.len))
		return false;
	put_row_name(rows, node, &names->text);
	strbuf_putc(&names->text, '\0');
	return !names->text.failed;
}

static bool has_row_name(const struct row_names *names, const char *name)
{
	vec_for_each(start, &names->starts)
		if (!strcmp(names->text.data + *start, name))
			return true;
	return false;
}

static struct error *find_open(const struct own_rows *rows,
			       struct row_names *ret)
{
	vec_for_each(node, &rows->browser.rows)
		if (rows->browser.nodes.data[*node].is_open &&
		    !add_row_name(ret, rows, *node))
			return error_no_memory();
	return NULL;
}

/* Rows that open are in front of those that are looked at next. */
static struct error *open_again(struct own_rows *rows,
				const struct row_names *open)
{
	struct browser *b = &rows->browser;
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct error *error = NULL;

	for (size_t i = 0; open->starts.count && i < b->rows.count && !error;
	     i++) {
		const struct browser_node *node =
			&b->nodes.data[b->rows.data[i]];

		if (!node->can_open || node->is_open)
			continue;
		strbuf_clear(&name);
		put_row_name(rows, b->rows.data[i], &name);
		if (!has_row_name(open, name.data))
			continue;
		browser_select(b, i);
		error = browser_open(b);
	}
	return error;
}

/* Where that row stands now; SIZE_MAX: it is not there. */
static size_t find_row(const struct own_rows *rows, const char *wanted)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	for (size_t i = 0; i < rows->browser.rows.count; i++) {
		strbuf_clear(&name);
		put_row_name(rows, rows->browser.rows.data[i], &name);
		if (!strcmp(name.data, wanted))
			return i;
	}
	return SIZE_MAX;
}

/* Who has not moved looks at what is heaviest. */
static void select_again(struct own_rows *rows, const struct own_rows *before)
{
	const struct browser *b = &before->browser;
	uint32_t node = browser_selected(b);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t row = SIZE_MAX;

	if (node != BROWSER_NONE && b->selected > 1) {
		put_row_name(before, node, &name);
		row = find_row(rows, name.data);
	}
	rows->browser.top = b->top;
	browser_select(&rows->browser, row == SIZE_MAX ? b->selected : row);
}

/* All that the rows are made of. */
static struct error *choose(struct own_rows *rows,
			    const struct own_rows *before)
{
	rows->whole = before->whole;
	rows->height = before->height;
	rows->called = before->called;
	rows->view_before = before->view_before;
	rows->selected_before = before->selected_before;
	rows->view = before->view;
	rows->with_native = before->with_native;
	rows->by_total = before->by_total;
	rows->without_libraries = before->without_libraries;
	if (before->zooms.count || before->view == OWN_CALLERS ||
	    before->without_libraries)
		return own_rows_set_zooms(rows, &before->zooms);
	return own_rows_show(rows, before->view, before->with_native,
			     before->by_total);
}

struct error *own_rows_follow(struct own_rows *rows,
			      const struct own_rows *before)
{
	struct row_names open = { .text = STRBUF_INIT };
	struct error *error = find_open(before, &open);

	if (!error)
		error = choose(rows, before);
	if (!error)
		error = open_again(rows, &open);
	if (!error)
		select_again(rows, before);
	row_names_deinit(&open);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_selected.h"

const struct browser_node *own_selected_node(const struct own_rows *rows)
{
	uint32_t id = browser_selected(&rows->browser);

	return id == BROWSER_NONE ? NULL : &rows->browser.nodes.data[id];
}

static const struct own_entry *function_at(const struct own_rows *rows,
					   uint32_t function)
{
	return function == BROWSER_NONE ?
		       NULL :
		       &rows->made.own->functions.data[function];
}

const struct own_entry *own_selected_entry(const struct own_rows *rows)
{
	const struct browser_node *node = own_selected_node(rows);

	if (!node)
		return NULL;
	switch (node->kind) {
	case OWN_FUNCTION:
		return function_at(rows, node->ref);
	case OWN_LINE:
		return &rows->made.own->lines.data[node->ref];
	case OWN_FILE:
		return &rows->made.own->files.data[node->ref];
	case OWN_CODE:
		return function_at(rows,
				   rows->made.codes.data[node->ref].function);
	case OWN_PART:
	case OWN_USER:
		return function_at(rows,
				   rows->made.pieces.data[node->ref].function);
	case OWN_CALLER:
		return &rows->made.callers.data[node->ref].entry;
	}
	return NULL;
}

const struct own_code *own_selected_code(const struct own_rows *rows)
{
	const struct browser_node *node = own_selected_node(rows);

	if (!node || (node->kind != OWN_CODE && node->kind != OWN_PART))
		return NULL;
	return &rows->made.codes
			.data[node->kind == OWN_CODE ?
				      node->ref :
				      rows->made.pieces.data[node->ref].code];
}

bool own_selected_thread(const struct own_rows *rows, struct zoom *ret)
{
	const struct browser_node *node = own_selected_node(rows);

	if (!node || node->kind != OWN_THREAD)
		return false;
	*ret = rows->made.threads.data[node->ref].zoom;
	return true;
}

/* Where the function that a line names begins; 0: not known. */
static uint32_t def_of_line(const struct own_rows *rows,
			    const struct own_entry *line)
{
	const struct profile *p = rows->profile;

	vec_for_each(frame, &p->frames) {
		const struct profile_symbol *symbol =
			profile_symbol(p, frame->symbol);

		if (symbol && symbol->name == line->name &&
		    frame->file == line->file &&
		    (frame->line == line->line || symbol->line == line->line))
			return symbol->line;
	}
	return 0;
}

bool own_selected_function(const struct own_rows *rows, struct zoom *ret)
{
	const struct own_entry *entry = own_selected_entry(rows);
	const struct browser_node *node = own_selected_node(rows);

	if (!entry || !entry->is_python || entry->name == PROFILE_NONE ||
	    node->kind == OWN_FILE)
		return false;
	*ret = (struct zoom){ .kind = ZOOM_FUNCTION, .name = entry->name };
	ret->id = (int32_t)(node->kind == OWN_LINE ? def_of_line(rows, entry) :
						     entry->line);
	return true;
}

bool own_selected_file(const struct own_rows *rows, struct zoom *ret)
{
	const struct own_entry *entry = own_selected_entry(rows);
	const struct own_code *code = own_selected_code(rows);
	const struct profile_dso *dso = NULL;

	if (entry && entry->is_python && entry->file != PROFILE_NONE) {
		*ret = (struct zoom){ .kind = ZOOM_SOURCE,
				      .name = entry->file };
		return true;
	}
	if (code && code->subject != PROFILE_NONE)
		dso = profile_dso(rows->profile,
				  profile_frame(rows->profile, code->subject)
					  ->dso);
	if (!dso)
		return false;
	*ret = (struct zoom){ .kind = ZOOM_DSO, .name = dso->short_name };
	return true;
}

uint32_t own_selected_line(const struct own_rows *rows)
{
	const struct browser_node *node = own_selected_node(rows);
	const struct own_entry *entry = own_selected_entry(rows);

	if (!entry || node->kind == OWN_LINE)
		return entry ? entry->line : 0;
	if (node->kind == OWN_CALLER && rows->made.callers.data[node->ref].line)
		return rows->made.callers.data[node->ref].line;
	/* Heaviest first. */
	vec_for_each(line, &rows->made.own->lines)
		if (line->own.samples && line->file == entry->file &&
		    (node->kind == OWN_FILE ||
		     (line->name == entry->name && line->line >= entry->line)))
			return line->line;
	return entry->line;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "explore/entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/chain_text.h"
#include "view/report.h"
#include "view/text.h"

enum {
	/* Columns of a file with its folders. */
	PATH_WIDTH_MAX = 60,
};

/* --- Chains ------------------------------------------------------------- */

static bool is_fractal(const struct entries *e)
{
	return e->options.callgraph.type == CALLGRAPH_FRACTAL;
}

/* Copies the branches of an entry out of the scratch memory. */
static struct error *copy_branches(struct entries *e, uint32_t entry_branches,
				   uint32_t entry_steps)
{
	const struct chains *c = &e->made.chains;

	for (size_t i = 0; i < c->branches.count; i++) {
		const struct chain_branch *b = &c->branches.data[i];
		struct entries_branch copy = {
			.first_step = entry_steps + b->first_step,
			.steps = b->steps,
			.first_child = BROWSER_NONE,
			.next = BROWSER_NONE,
			.period = chain_branch_hits(b),
			.count = chain_branch_counts(b),
			.children_period = b->children_hit,
			.children_count = b->children_count,
		};

		if (b->first_child != PROFILE_NONE)
			copy.first_child = entry_branches + b->first_child;
		if (b->next != PROFILE_NONE)
			copy.next = entry_branches + b->next;
		if (!vec_push(&e->made.branches, copy))
			return error_no_memory();
	}
	for (size_t i = 0; i < c->steps.count; i++)
		if (!vec_push(&e->made.steps, c->steps.data[i]))
			return error_no_memory();
	return NULL;
}

/* Builds the chains of an entry; *first is its first branch. */
static struct error *build_chains(struct entries *e, uint32_t entry,
				  uint32_t *first)
{
	const struct report_options *o = &e->options;
	double part = o->callgraph.threshold / 100.0;
	uint32_t branches = (uint32_t)e->made.branches.count;
	uint32_t steps = (uint32_t)e->made.steps.count;
	struct chains_options how = {
		.caller_order = report_caller_order(o),
		.min_hit =
			(uint64_t)((double)e->made.tree->graph_period * part),
		.min_part = is_fractal(e) ? part : -1.0,
	};
	struct error *error = NULL;

	if (!e->made.has_chains)
		error = chains_init(&e->made.chains, e->made.tree);
	if (error)
		return error;
	e->made.has_chains = true;
	error = chains_build(&e->made.chains, entry, &how);
	if (error)
		return error;
	*first = e->made.chains.first == PROFILE_NONE
			 ? BROWSER_NONE
			 : branches + e->made.chains.first;
	return copy_branches(e, branches, steps);
}

static bool branch_can_open(const struct entries_branch *branch)
{
	return branch->steps > 1 || branch->children_count;
}

/* The row of what siblings leave of a whole. */
static struct error *add_rest(struct entries *e, uint32_t parent,
			      uint64_t period, uint64_t count, uint64_t total)
{
	struct entries_branch rest = { .first_child = BROWSER_NONE,
				       .next = BROWSER_NONE,
				       .period = period,
				       .count = count,
				       .total = total };

	if (!count)
		return NULL;
	if (!vec_push(&e->made.branches, rest))
		return error_no_memory();
	return browser_add(&e->made.browser, parent, ENTRIES_REST,
			   (uint32_t)e->made.branches.count - 1, false);
}

/* Siblings; period and count are what they and those left out weigh. */
static struct error *add_branches(struct entries *e, uint32_t parent,
				  uint32_t first, uint64_t total,
				  uint64_t period, uint64_t count)
{
	uint32_t limit = e->options.callgraph.print_limit;
	uint32_t added = 0;

	for (uint32_t id = first; id != BROWSER_NONE;) {
		struct entries_branch *branch = &e->made.branches.data[id];
		struct error *error;

		branch->total = total;
		period -= branch->period;
		count -= branch->count;
		error = browser_add(&e->made.browser, parent, ENTRIES_BRANCH,
				    id, branch_can_open(branch));
		if (error)
			return error;
		if (++added == limit)
			break;
		id = branch->next;
	}
	return add_rest(e, parent, period, count, total);
}

static struct error *add_steps(struct entries *e, uint32_t parent,
			       const struct entries_branch *branch,
			       uint32_t from)
{
	for (uint32_t i = from; i < branch->steps; i++) {
		struct error *error =
			browser_add(&e->made.browser, parent, ENTRIES_STEP,
				    branch->first_step + i, false);

		if (error)
			return error;
	}
	return NULL;
}

static struct error *fill_entry(struct entries *e, uint32_t node,
				uint32_t entry)
{
	uint64_t whole = e->made.tree->entries.data[entry].period;
	uint64_t total = is_fractal(e) ? whole : e->made.tree->period;
	uint32_t first = BROWSER_NONE;
	struct entries_branch run;
	struct error *error = build_chains(e, entry, &first);

	if (error)
		return error;
	if (first == BROWSER_NONE)
		return add_rest(e, node, e->made.chains.hit,
				e->made.chains.count, total);
	run = e->made.branches.data[first];
	if (run.next != BROWSER_NONE || run.period != whole)
		return add_branches(e, node, first, total, e->made.chains.hit,
				    e->made.chains.count);
	/* What is all of the entry needs no percentage. */
	error = add_steps(e, node, &run, 0);
	return error ? error
		     : add_branches(e, node, run.first_child, total,
				    run.children_period, run.children_count);
}

static struct error *fill_branch(struct entries *e, uint32_t node,
				 uint32_t branch)
{
	struct entries_branch b = e->made.branches.data[branch];
	struct error *error = add_steps(e, node, &b, 1);

	return error ? error
		     : add_branches(e, node, b.first_child,
				    is_fractal(e) ? b.children_period : b.total,
				    b.children_period, b.children_count);
}

static struct error *fill(void *arg, struct browser *browser, uint32_t node)
{
	struct entries *e = arg;
	uint32_t ref = browser->nodes.data[node].ref;

	return browser->nodes.data[node].kind == ENTRIES_ENTRY
		       ? fill_entry(e, node, ref)
		       : fill_branch(e, node, ref);
}

/* --- Building ----------------------------------------------------------- */

static void drop_made(struct entries_made *made)
{
	browser_deinit(&made->browser);
	if (made->has_chains)
		chains_deinit(&made->chains);
	if (made->tree)
		entry_text_deinit(&made->text);
	calltree_destroy(made->tree);
	vec_deinit(&made->order);
	vec_deinit(&made->branches);
	vec_deinit(&made->steps);
	free(made->keep);
}

static void drop_places(struct entries *e)
{
	locations_destroy(e->locations);
	free(e->parents);
}

/* Nothing is made, for so many rows on the screen. */
static struct entries_made made_nothing(size_t height)
{
	return (struct entries_made){
		.browser = { .height = height, .text = STRBUF_INIT },
	};
}

static bool is_kept(const struct profile *profile, size_t row, const void *arg)
{
	const struct entries *e = arg;

	return watch_goes_on(e->watch, "counting samples", row,
			     profile->samples.rows) &&
	       (!e->made.keep || e->made.keep[row]);
}

/* The filters of the command line, and the zooms if they keep the totals. */
bool entries_keep_row(const struct profile *profile, size_t row,
		      const void *arg)
{
	const struct entries *e = arg;
	const struct entry_filter filter = { &e->options, e->locations,
					     e->parents };

	return is_kept(profile, row, e) &&
	       entry_keep_row(profile, row, &filter);
}

static struct error *build_tree(struct entries *e)
{
	const struct calltree_options options = {
		.event = e->event,
		.context_keys = report_context_keys(&e->options),
		.parents = e->parents,
		.time_quantum = e->options.time_quantum,
		.children = e->options.children,
		.select = e->whole ? NULL : is_kept,
		.select_arg = e,
		.keep = entries_keep_row,
		.keep_arg = e,
	};
	struct error *error = zooms_keep_rows(&e->zooms, e->profile,
					      e->locations, options.children,
					      &e->made.keep);
	struct calltree *tree = NULL;

	if (!error)
		error = calltree_create(e->profile, e->locations, &options,
					&tree);
	if (!error)
		error = watch_error(e->watch);
	if (!error)
		error = entry_order(tree, &e->options, e->watch,
				    &e->made.order);
	if (!error && e->options.relative)
		report_take_listed(tree, &e->made.order);
	if (!error)
		error = entry_text_init(&e->made.text, tree, &e->options,
					&e->made.order);
	if (error) {
		calltree_destroy(tree);
		return error;
	}
	e->made.tree = tree;
	return NULL;
}

bool entries_are_functions(const struct entries *entries)
{
	return report_has_key(&entries->options, REPORT_SYMBOL) ||
	       report_has_key(&entries->options, REPORT_SRCLINE);
}

/* An entry has a frame only if entries are told apart by what frames have. */
static bool is_listed(const struct entries *e, uint32_t id)
{
	const struct calltree_entry *entry = &e->made.tree->entries.data[id];
	bool has_frames = entries_are_functions(e) ||
			  (report_has_key(&e->options, REPORT_DSO) &&
			   !zooms_has(&e->zooms, ZOOM_SYMBOL) &&
			   !zooms_has(&e->zooms, ZOOM_FUNCTION) &&
			   !zooms_has(&e->zooms, ZOOM_SOURCE));

	if (!report_is_heavy_enough(&e->options, e->made.tree, entry))
		return false;
	return !has_frames ||
	       zooms_keep_frame(&e->zooms, e->profile,
				entry_frame(e->made.tree, entry));
}

static void node_text(void *arg, const struct browser *browser, uint32_t node,
		      struct strbuf *out);
static struct error *start_search(void *arg, const char *pattern);
static bool node_is_called(void *arg, const struct browser *browser,
			   uint32_t node);

static struct error *list_entries(struct entries *e)
{
	const struct browser_source source = { .fill = fill,
					       .text = node_text,
					       .start_search = start_search,
					       .is_called = node_is_called,
					       .arg = e,
					       .watch = e->watch };
	bool chains = e->options.callgraph.type != CALLGRAPH_NONE;
	struct error *error = NULL;
	size_t height = e->made.browser.height;

	browser_init(&e->made.browser, &source);
	browser_resize(&e->made.browser, height);
	for (size_t i = 0; i < e->made.order.count && !error; i++)
		if (is_listed(e, e->made.order.data[i]))
			error = browser_add(&e->made.browser, BROWSER_NONE,
					    ENTRIES_ENTRY,
					    e->made.order.data[i], chains);
	return error ? error : browser_show(&e->made.browser);
}

/* What is equal for the same entry of two trees. */
struct entry_name {
	uint32_t symbol;
	uint32_t dso;
	uint32_t line;
	uint32_t task;
};

static struct entry_name name_of(const struct entries *e, uint32_t id)
{
	const struct calltree_entry *entry = &e->made.tree->entries.data[id];
	const struct profile_frame *frame = entry_frame(e->made.tree, entry);
	const struct profile_task *task = entry_task(e->made.tree, entry);
	struct entry_name name = { .symbol = PROFILE_NONE,
				   .task = task->comm };

	if (!frame)
		return name;
	name.symbol = frame->symbol;
	name.dso = frame->dso;
	if (report_has_key(&e->options, REPORT_SRCLINE))
		name.line = frame->line;
	return name;
}

/* The first row of that name; lines do not count if any_line. */
static bool select_name(struct entries *e, struct entry_name name,
			bool any_line)
{
	if (any_line)
		name.line = 0;
	for (size_t i = 0; i < e->made.browser.rows.count; i++) {
		uint32_t node = e->made.browser.rows.data[i];
		struct entry_name other =
			name_of(e, e->made.browser.nodes.data[node].ref);

		if (any_line)
			other.line = 0;
		if (!memcmp(&other, &name, sizeof(other))) {
			browser_select(&e->made.browser, i);
			return true;
		}
	}
	return false;
}

static struct error *make_places(struct entries *e)
{
	struct error *error;

	report_arrange(&e->options);
	e->locations = NULL;
	e->parents = NULL;
	error = report_locate(e->profile, &e->options, &e->locations);
	return error ? error
		     : report_parents(e->profile, &e->options, &e->parents);
}

static struct error *make(struct entries *e, bool places)
{
	struct error *error = places ? make_places(e) : NULL;

	if (!error)
		error = build_tree(e);
	if (!error)
		error = list_entries(e);
	return error ? error : zooms_copy(&e->zooms, &e->made_of.zooms);
}

/* The choice that `before` was made of is the choice again. */
static void take_back(struct entries *e, struct entries *before)
{
	before->options = before->made_of.options;
	before->whole = before->made_of.whole;
	zooms_deinit(&e->zooms);
	before->zooms = before->made_of.zooms;
	before->made_of.zooms = (struct zooms){};
	before->cell = e->cell;
	*e = *before;
	/* Without memory for it a later failure leaves all zooms. */
	error_destroy(zooms_copy(&e->zooms, &e->made_of.zooms));
}

static void drop_unzoomed(struct entries *e)
{
	if (e->unzoomed)
		drop_made(&e->unzoomed->made);
	free(e->unzoomed);
	e->unzoomed = NULL;
}

/* Takes over what `before` had, to be there when the zooms are left. */
static void keep_unzoomed(struct entries *e, struct entries *before)
{
	drop_unzoomed(e);
	e->unzoomed = malloc(sizeof(*e->unzoomed));
	if (e->unzoomed)
		*e->unzoomed = (struct entries_unzoomed){
			.options = before->made_of.options,
			.made = before->made,
		};
	else
		drop_made(&before->made);
}

static bool has_unzoomed(const struct entries *e)
{
	return e->unzoomed && !e->zooms.count &&
	       !memcmp(&e->unzoomed->options, &e->options, sizeof(e->options));
}

static void take_unzoomed(struct entries *e)
{
	size_t height = e->made.browser.height;

	drop_made(&e->made);
	e->made = e->unzoomed->made;
	free(e->unzoomed);
	e->unzoomed = NULL;
	zooms_deinit(&e->made_of.zooms);
	e->made_of.options = e->options;
	e->made_of.whole = e->whole;
	browser_resize(&e->made.browser, height);
}

/* Between functions and lines the function stays. */
static void select_again(struct entries *e, struct entry_name name)
{
	if (!select_name(e, name, false))
		(void)select_name(e, name, true);
}

/* The new is there: the tree before goes, or waits until zooms are left. */
static void replace(struct entries *e, struct entries *before, bool places)
{
	bool was_whole = !before->made_of.zooms.count && before->made.tree;

	if (places || !e->zooms.count)
		drop_unzoomed(e);
	if (!places && was_whole && e->zooms.count)
		keep_unzoomed(e, before);
	else
		drop_made(&before->made);
	if (places)
		drop_places(before);
	e->made_of.options = e->options;
	e->made_of.whole = e->whole;
}

static struct error *build_anew(struct entries *e, bool places)
{
	/* Kept until there is something new. */
	struct entries before = *e;
	struct error *error;

	e->made = made_nothing(before.made.browser.height);
	error = make(e, places);
	if (error) {
		drop_made(&e->made);
		if (places)
			drop_places(e);
		take_back(e, &before);
		return error;
	}
	replace(e, &before, places);
	return NULL;
}

struct error *entries_rebuild(struct entries *entries, bool places)
{
	uint32_t selected = entries_selected(entries);
	struct entry_name name = {};
	struct error *error = NULL;

	if (selected != BROWSER_NONE)
		name = name_of(entries, selected);
	if (!places && has_unzoomed(entries))
		take_unzoomed(entries);
	else
		error = build_anew(entries, places);
	if (!error && selected != BROWSER_NONE)
		select_again(entries, name);
	return error;
}

/* Of the files with their folders. */
static size_t path_width(const struct profile *profile)
{
	size_t most = 0;

	vec_for_each(dso, &profile->dsos)
		if (dso->long_name != PROFILE_NONE &&
		    profile->string_lengths.data[dso->long_name] > most)
			most = profile->string_lengths.data[dso->long_name];
	return most < PATH_WIDTH_MAX ? most : PATH_WIDTH_MAX;
}

struct error *entries_create(const struct profile *profile,
			     const struct report_options *options,
			     uint32_t event, struct watch *watch,
			     struct entries **ret)
{
	struct entries *e = calloc(1, sizeof(*e));
	struct error *error;

	if (!e)
		return error_no_memory();
	*e = (struct entries){ .profile = profile,
			       .options = *options,
			       .event = event,
			       .watch = watch,
			       .cell = STRBUF_INIT };
	e->made = made_nothing(0);
	e->path_width = path_width(profile);
	e->all_period = profile->events.data[event].period;
	report_settle(profile, &e->options);
	error = report_choose(profile, &e->options);
	if (!error)
		error = entries_rebuild(e, true);
	if (error) {
		entries_destroy(e);
		return error;
	}
	*ret = e;
	return NULL;
}

void entries_destroy(struct entries *entries)
{
	if (!entries)
		return;
	drop_made(&entries->made);
	drop_unzoomed(entries);
	drop_places(entries);
	report_drop_choices(&entries->options);
	zooms_deinit(&entries->zooms);
	zooms_deinit(&entries->made_of.zooms);
	strbuf_deinit(&entries->cell);
	free(entries->searched);
	free(entries);
}

struct error *entries_zoom(struct entries *entries, const struct zoom *zoom)
{
	struct error *error = zooms_push(&entries->zooms, zoom);

	return error ? error : entries_rebuild(entries, false);
}

struct error *entries_leave(struct entries *entries, bool *left)
{
	*left = zooms_pop(&entries->zooms);
	return *left ? entries_rebuild(entries, false) : NULL;
}

uint32_t entries_selected(const struct entries *entries)
{
	const struct browser *b = &entries->made.browser;
	uint32_t root = browser_root(b, browser_selected(b));

	return root == BROWSER_NONE ? BROWSER_NONE : b->nodes.data[root].ref;
}

/* The location that a row of a chain shows, or PROFILE_NONE. */
static uint32_t node_location(const struct entries_made *made,
			      const struct browser_node *node)
{
	switch (node->kind) {
	case ENTRIES_ENTRY:
		return made->tree->entries.data[node->ref].location;
	case ENTRIES_BRANCH:
		return made->steps
			.data[made->branches.data[node->ref].first_step];
	case ENTRIES_STEP:
		return made->steps.data[node->ref];
	}
	return PROFILE_NONE;
}

const struct profile_frame *
entries_selected_frame(const struct entries *entries)
{
	const struct browser *b = &entries->made.browser;
	uint32_t id = browser_selected(b);
	uint32_t location, frame;

	if (id == BROWSER_NONE)
		return NULL;
	if (b->nodes.data[id].kind == ENTRIES_ENTRY &&
	    !entries_are_functions(entries) &&
	    !report_has_key(&entries->options, REPORT_DSO))
		return NULL;
	location = node_location(&entries->made, &b->nodes.data[id]);
	if (location == PROFILE_NONE)
		return NULL;
	frame = entries->locations->all.data[location].frame;
	return frame == PROFILE_NONE ? NULL
				     : profile_frame(entries->profile, frame);
}

static enum report_key task_key(enum zoom_kind kind)
{
	switch (kind) {
	case ZOOM_THREAD:
		return REPORT_THREAD;
	case ZOOM_PROCESS:
		return REPORT_PROCESS;
	default:
		return REPORT_COMM;
	}
}

bool entries_selected_task(const struct entries *entries, enum zoom_kind kind,
			   struct zoom *ret)
{
	const struct calltree *tree = entries->made.tree;
	uint32_t id = entries_selected(entries);
	const struct profile_task *task;

	if (id == BROWSER_NONE ||
	    !report_has_key(&entries->options, task_key(kind)))
		return false;
	task = entry_task(tree, &tree->entries.data[id]);
	*ret = (struct zoom){ .kind = kind,
			      .id = kind == ZOOM_THREAD ? task->tid : task->pid,
			      .name = task->comm };
	return true;
}

/* --- Text --------------------------------------------------------------- */

enum {
	/* "- " or "+ ", and what a level is indented by. */
	SIGN_WIDTH = 2,
	LEVEL_WIDTH = 3,
	/* Deeper levels are told by number. */
	LEVELS_DRAWN = 20,
	PERCENT_WIDTH = 8,
	COUNT_WIDTH = 12,
	GAP = 2,
	/* What the last column is to have, and what others keep. */
	LAST_WIDTH = 40,
	NAME_WIDTH = 10,
};

static size_t key_limit(enum report_key key)
{
	switch (key) {
	case REPORT_COMM:
		return 16;
	case REPORT_DSO:
		return 28;
	case REPORT_SYMBOL:
		return 60;
	case REPORT_SRCLINE:
		return 36;
	default:
		return 24;
	}
}

/* Columns of a column; 0: it is the last, and takes what it needs. */
static size_t wished_width(const struct entries *e, size_t column)
{
	struct report_column c = e->made.text.columns.list[column];
	size_t width;

	switch (c.field) {
	case REPORT_FIELD_CHILDREN:
	case REPORT_FIELD_OVERHEAD:
		return PERCENT_WIDTH;
	case REPORT_FIELD_SAMPLES:
	case REPORT_FIELD_PERIOD:
		return COUNT_WIDTH;
	case REPORT_FIELD_KEY:
		break;
	}
	if (column + 1 == e->made.text.columns.count)
		return 0;
	width = e->made.text.widths[c.key];
	if (e->verbose && c.key == REPORT_DSO)
		return e->path_width;
	return width < key_limit(c.key) ? width : key_limit(c.key);
}

static bool is_number(struct report_column column)
{
	return column.field != REPORT_FIELD_KEY;
}

struct widths {
	size_t of[sizeof(((struct report_columns *)0)->list) /
		  sizeof(struct report_column)];
};

/* The widest name that may lose something, or the last column. */
static size_t widest_name(const struct entries *e, const struct widths *widths)
{
	const struct report_columns *columns = &e->made.text.columns;
	size_t widest = columns->count - 1;

	for (size_t i = 0; i + 1 < columns->count; i++)
		if (!is_number(columns->list[i]) &&
		    widths->of[i] > NAME_WIDTH &&
		    (!widths->of[widest] ||
		     widths->of[i] > widths->of[widest]))
			widest = i;
	return widest;
}

/* Of all columns, in the room that there is. */
static struct widths column_widths(const struct entries *e)
{
	size_t count = e->made.text.columns.count, widest;
	size_t used = SIGN_WIDTH + LAST_WIDTH;
	struct widths widths = {};

	for (size_t i = 0; i < count; i++) {
		widths.of[i] = wished_width(e, i);
		used += widths.of[i] + (i ? GAP : 0);
	}
	for (; e->columns && used > e->columns; used--) {
		widest = widest_name(e, &widths);
		if (widest + 1 == count)
			break;
		widths.of[widest]--;
	}
	return widths;
}

static bool is_percent(struct report_column column)
{
	return column.field == REPORT_FIELD_CHILDREN ||
	       column.field == REPORT_FIELD_OVERHEAD;
}

/* Sideways scrolling moves what stands behind the leading numbers. */
static void next_column(const struct entries *e, struct line *line,
			size_t column, bool *fixed)
{
	if (column)
		strbuf_puts(&line->text, "  ");
	if (*fixed && !is_number(e->made.text.columns.list[column])) {
		line->fixed = line->text.len;
		*fixed = false;
	}
}

void entries_titles(const struct entries *entries, struct line *line)
{
	const struct widths widths = column_widths(entries);
	bool fixed = true;

	line_clear(line);
	strbuf_fill(&line->text, ' ', SIGN_WIDTH);
	for (size_t i = 0; i < entries->made.text.columns.count; i++) {
		const char *title = entry_text_title(&entries->made.text, i);

		next_column(entries, line, i, &fixed);
		line_align(&line->text, title, strlen(title),
			    widths.of[i],
			    is_number(entries->made.text.columns.list[i]));
	}
}

static double percent_of(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

static void put_sign(const struct browser_node *node, struct strbuf *out)
{
	strbuf_puts(out, !node->can_open ? "  " : node->is_open ? "- " : "+ ");
}

/* What stands in a column, unaligned. */
static void put_cell(struct entries *e, uint32_t entry, size_t column,
		     struct strbuf *out)
{
	struct report_column c = e->made.text.columns.list[column];
	const struct profile_frame *frame =
		entry_frame(e->made.tree, &e->made.tree->entries.data[entry]);
	const struct profile_dso *dso =
		frame ? profile_dso(e->profile, frame->dso) : NULL;

	if (e->verbose && dso && !is_number(c) && c.key == REPORT_DSO)
		text_string(out, e->profile, dso->long_name, "[unknown]");
	else
		entry_text_cell(&e->made.text, entry, column, out);
}

static void entry_row(struct entries *e, const struct browser_node *node,
		      struct line *line)
{
	const struct calltree_entry *entry =
		&e->made.tree->entries.data[node->ref];
	const struct widths widths = column_widths(e);
	bool fixed = true;

	put_sign(node, &line->text);
	for (size_t i = 0; i < e->made.text.columns.count; i++) {
		struct report_column c = e->made.text.columns.list[i];

		strbuf_clear(&e->cell);
		put_cell(e, node->ref, i, &e->cell);
		next_column(e, line, i, &fixed);
		if (is_percent(c) && !line->number_end)
			line->number = line->text.len;
		line_align(&line->text, e->cell.data, e->cell.len,
			    widths.of[i], is_number(c));
		if (is_percent(c) && !line->number_end) {
			line->number_end = line->text.len;
			line->percent = percent_of(
				c.field == REPORT_FIELD_CHILDREN
					? entry->period
					: entry->self_period,
				e->made.tree->shown_period);
		}
	}
}

/* Of what siblings weigh, the ends stand below each other. */
static void put_value(const struct entries *e,
		      const struct entries_branch *branch, struct strbuf *out)
{
	switch (e->options.callgraph.value) {
	case CALLGRAPH_PERIOD:
		strbuf_printf(out, "%6" PRIu64 " ", branch->period);
		break;
	case CALLGRAPH_COUNT:
		strbuf_printf(out, "%6" PRIu64 " ", branch->count);
		break;
	case CALLGRAPH_PERCENT:
		strbuf_printf(out, "%6.2f%% ",
			      percent_of(branch->period, branch->total));
		break;
	}
}

static void put_indent(const struct browser_node *node, struct strbuf *out)
{
	unsigned int level = node->level;

	if (level <= LEVELS_DRAWN) {
		strbuf_fill(out, ' ', level * LEVEL_WIDTH);
		return;
	}
	strbuf_fill(out, ' ', LEVELS_DRAWN * LEVEL_WIDTH);
	strbuf_printf(out, "(level %u) ", level);
}

static void branch_row(struct entries *e, const struct browser_node *node,
		       struct line *line)
{
	const struct entries_branch *branch = &e->made.branches.data[node->ref];

	put_indent(node, &line->text);
	put_sign(node, &line->text);
	line->number = line->text.len;
	put_value(e, branch, &line->text);
	line->number_end = line->text.len;
	line->percent = percent_of(branch->period, e->made.tree->period);
}

static void put_step(struct entries *e, const struct browser_node *node,
		     struct strbuf *out)
{
	uint32_t location = node_location(&e->made, node);
	uint32_t id = e->locations->all.data[location].frame;
	const struct profile_dso *dso = NULL;

	chain_step_text(e->made.tree, &e->options, location, out);
	if (id != PROFILE_NONE)
		dso = profile_dso(e->profile,
				  profile_frame(e->profile, id)->dso);
	if (!e->verbose || !dso)
		return;
	strbuf_puts(out, "  ");
	text_string(out, e->profile, dso->long_name, "[unknown]");
}

/* Below the name of the branch's first step, which has a number before it. */
static void step_row(struct entries *e, const struct browser_node *node,
		     struct line *line)
{
	const struct browser_node *parent =
		&e->made.browser.nodes.data[node->parent];
	struct strbuf *out = &line->text;

	put_indent(parent->kind == ENTRIES_BRANCH ? parent : node, out);
	strbuf_fill(out, ' ', SIGN_WIDTH);
	if (parent->kind == ENTRIES_BRANCH) {
		strbuf_clear(&e->cell);
		put_value(e, &e->made.branches.data[parent->ref], &e->cell);
		strbuf_fill(out, ' ', e->cell.len);
	}
	put_step(e, node, out);
}

void entries_row(struct entries *entries, uint32_t id, struct line *line)
{
	const struct browser_node *node = &entries->made.browser.nodes.data[id];
	struct strbuf *out = &line->text;

	line_clear(line);
	switch (node->kind) {
	case ENTRIES_ENTRY:
		entry_row(entries, node, line);
		break;
	case ENTRIES_BRANCH:
		branch_row(entries, node, line);
		put_step(entries, node, out);
		break;
	case ENTRIES_STEP:
		step_row(entries, node, line);
		break;
	case ENTRIES_REST:
		branch_row(entries, node, line);
		strbuf_puts(out, "[...]");
		break;
	}
}

/* What a search looks at: names, no numbers. */
static void node_text(void *arg, const struct browser *browser, uint32_t id,
		      struct strbuf *out)
{
	struct entries *e = arg;
	const struct browser_node *node = &browser->nodes.data[id];

	if (node->kind == ENTRIES_REST)
		return;
	if (node->kind != ENTRIES_ENTRY) {
		put_step(e, node, out);
		return;
	}
	for (size_t i = 0; i < e->made.text.columns.count; i++)
		if (!is_number(e->made.text.columns.list[i])) {
			put_cell(e, node->ref, i, out);
			strbuf_putc(out, ' ');
		}
}

/* Functions that the pattern calls by other names than rows have. */
static struct error *start_search(void *arg, const char *pattern)
{
	struct entries *e = arg;
	uint32_t *called;
	struct error *error = symbol_match_called(e->profile, pattern, &called);

	if (error)
		return error;
	free(e->searched);
	e->searched = called;
	return NULL;
}

static bool node_is_called(void *arg, const struct browser *browser,
			   uint32_t id)
{
	const struct entries *e = arg;
	const struct browser_node *node = &browser->nodes.data[id];
	uint32_t location = node_location(&e->made, node);
	uint32_t frame = PROFILE_NONE;

	if (node->kind == ENTRIES_ENTRY && !entries_are_functions(e))
		return false;
	if (location != PROFILE_NONE)
		frame = e->locations->all.data[location].frame;
	return frame != PROFILE_NONE &&
	       symbol_match_is_called(
		       e->searched,
		       profile_frame(e->profile, frame)->symbol);
}

void entries_title(const struct entries *entries, struct strbuf *out)
{
	const struct calltree *tree = entries->made.tree;
	const struct profile_event *event =
		&entries->profile->events.data[entries->event];

	if (entries->zooms.count) {
		strbuf_puts(out, "in ");
		zooms_format(&entries->zooms, entries->profile, out);
		strbuf_puts(out, "  ");
	}
	strbuf_printf(out, "Samples: %" PRIu64 " of '", tree->count);
	text_string(out, entries->profile, event->name, "?");
	strbuf_printf(out, "', %" PRIu64, tree->period);
	if (!entries->zooms.count)
		return;
	if (entries->whole) {
		strbuf_puts(out, " (all)");
		return;
	}
	strbuf_puts(out, " (");
	text_percent(out, tree->period, entries->all_period);
	strbuf_puts(out, " of all)");
}

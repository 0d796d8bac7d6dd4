// SPDX-License-Identifier: GPL-2.0-only
#include "view/entry_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/thread_match.h"

/* A node of the red-black tree; 0 is the leaf that all empty links name. */
struct rank {
	uint32_t entry;
	uint32_t left;
	uint32_t right;
	uint32_t up;
	bool red;
};

struct order {
	const struct calltree *tree;
	const struct report_options *options;
	bool by_depth;
	bool caller_order;
	/* By key: its column is not shown. */
	bool elided[REPORT_KEYS];
	/* By entry: it is not shown, and stands before all that are. */
	bool *hidden;
	struct rank *ranks;
	uint32_t root;
	struct watch *watch;
	/* Below 0 if a stands before b. */
	int (*compare)(const struct order *o, const struct calltree_entry *a,
		       const struct calltree_entry *b);
};

const struct profile_frame *entry_frame(const struct calltree *tree,
					const struct calltree_entry *entry)
{
	uint32_t frame = tree->locations->all.data[entry->location].frame;

	return frame == PROFILE_NONE ? NULL
				     : profile_frame(tree->profile, frame);
}

/* Unresolved callers may be shown as they are in memory. */
uint64_t entry_address(const struct calltree *tree,
		       const struct report_options *options,
		       const struct calltree_entry *entry)
{
	const struct profile_frame *frame = entry_frame(tree, entry);

	if (!frame)
		return 0;
	return options->quirks.memory_addresses &&
			       entry->first_self == PROFILE_NONE &&
			       !entry->hit_elsewhere
		       ? frame->address
		       : frame->rel;
}

uint64_t entry_field(const struct event_weight *weight, enum report_field field)
{
	switch (field) {
	case REPORT_FIELD_CHILDREN:
		return weight->period;
	case REPORT_FIELD_SAMPLES:
		return weight->self_count;
	default:
		return weight->self_period;
	}
}

const struct profile_task *entry_task(const struct calltree *tree,
				      const struct calltree_entry *entry)
{
	return profile_task(tree->profile,
			    tree->contexts.data[entry->context].task);
}

static const char *frame_symbol_name(const struct profile *profile,
				     const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		frame ? profile_symbol(profile, frame->symbol) : NULL;

	return symbol ? profile_string(profile, symbol->name, NULL) : NULL;
}

static const char *frame_dso_name(const struct profile *profile,
				  const struct profile_frame *frame)
{
	const struct profile_dso *dso = frame ? profile_dso(profile, frame->dso)
					      : NULL;

	return dso ? profile_string(profile, dso->short_name, NULL) : NULL;
}

/* Names ascending, none last. */
static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

/* perf takes the sign of a difference that may overflow. */
static int compare_addresses(const struct order *o, uint64_t a, uint64_t b)
{
	int64_t difference = (int64_t)(a - b);

	if (!o->options->quirks.addresses_by_difference)
		return compare_u64(a, b);
	return (difference > 0) - (difference < 0);
}

static int compare_spans(const struct order *o, const struct profile_frame *a,
			 const struct profile_frame *b)
{
	const struct profile *profile = o->tree->profile;
	const struct profile_symbol *x = profile_symbol(profile, a->symbol);
	const struct profile_symbol *y = profile_symbol(profile, b->symbol);
	int order;

	if (!x || !y)
		return !x - !y;
	order = compare_addresses(o, x->start, y->start);
	return order ? order : compare_addresses(o, x->end, y->end);
}

static int compare_lines(const struct profile *profile,
			 const struct profile_frame *a,
			 const struct profile_frame *b)
{
	int order;

	if (!a->line || !b->line)
		return !a->line - !b->line;
	order = compare_names(profile_string(profile, a->file, NULL),
			      profile_string(profile, b->file, NULL));
	return order ? order : compare_u64(a->line, b->line);
}

/* As the symbol is shown: without one is last. */
static int compare_symbol_texts(const struct order *o,
				const struct profile_frame *a,
				const struct profile_frame *b)
{
	return compare_names(frame_symbol_name(o->tree->profile, a),
			     frame_symbol_name(o->tree->profile, b));
}

static int compare_symbols(const struct order *o,
			   const struct calltree_entry *a,
			   const struct calltree_entry *b)
{
	const struct profile *profile = o->tree->profile;
	const struct profile_frame *x = entry_frame(o->tree, a);
	const struct profile_frame *y = entry_frame(o->tree, b);
	int order = 0;

	if (!x || !y)
		return !x - !y;
	if (x->symbol == PROFILE_NONE && y->symbol == PROFILE_NONE)
		return compare_addresses(o,
					 entry_address(o->tree, o->options, a),
					 entry_address(o->tree, o->options, b));
	if (!report_has_key(o->options, REPORT_DSO))
		order = compare_names(frame_dso_name(profile, x),
				      frame_dso_name(profile, y));
	return order ? order : compare_spans(o, x, y);
}

/* By text, but line numbers, where both know theirs, as numbers. */
static int compare_sources(const struct order *o, enum source_kind kind,
			   const struct calltree_entry *a,
			   const struct calltree_entry *b)
{
	const struct locations *locations = o->tree->locations;
	const struct profile_frame *x = entry_frame(o->tree, a);
	const struct profile_frame *y = entry_frame(o->tree, b);

	if (!locations->sources)
		return 0;
	if (kind == SOURCE_LINE && !o->options->quirks.lines_by_text && x && y &&
	    (x->line || y->line))
		return compare_lines(o->tree->profile, x, y);
	return compare_names(locations->sources[a->place][kind],
			     locations->sources[b->place][kind]);
}

static int compare_contexts(const struct order *o, enum report_key key,
			    const struct calltree_entry *a,
			    const struct calltree_entry *b)
{
	const struct calltree_context *x =
		&o->tree->contexts.data[a->context];
	const struct calltree_context *y =
		&o->tree->contexts.data[b->context];
	const struct profile *profile = o->tree->profile;

	if (key == REPORT_PARENT)
		return compare_names(profile_string(profile, x->parent, NULL),
				     profile_string(profile, y->parent, NULL));
	if (key == REPORT_TIME)
		return compare_u64(x->time, y->time);
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* By a key that concerns the frame; `text`: as shown, else by address. */
static int compare_frames(const struct order *o, enum report_key key,
			  const struct calltree_entry *a,
			  const struct calltree_entry *b, bool text)
{
	const struct profile *profile = o->tree->profile;
	const struct profile_frame *x = entry_frame(o->tree, a);
	const struct profile_frame *y = entry_frame(o->tree, b);

	if (key == REPORT_DSO)
		return compare_names(frame_dso_name(profile, x),
				     frame_dso_name(profile, y));
	return text ? compare_symbol_texts(o, x, y) : compare_symbols(o, a, b);
}

static int compare_key(const struct order *o, enum report_key key,
		       const struct calltree_entry *a,
		       const struct calltree_entry *b, bool text)
{
	const struct calltree *tree = o->tree;
	const struct profile_task *s = entry_task(tree, a);
	const struct profile_task *t = entry_task(tree, b);

	switch (key) {
	case REPORT_COMM:
		return compare_names(
			profile_string(tree->profile, s->comm, NULL),
			profile_string(tree->profile, t->comm, NULL));
	case REPORT_THREAD_NAME:
		return compare_names(
			profile_string(tree->profile, profile_task_name(s), NULL),
			profile_string(tree->profile, profile_task_name(t),
				       NULL));
	case REPORT_THREAD:
		return (s->tid > t->tid) - (s->tid < t->tid);
	case REPORT_PROCESS:
		return (s->pid > t->pid) - (s->pid < t->pid);
	case REPORT_CPU:
	case REPORT_PARENT:
	case REPORT_TIME:
		return compare_contexts(o, key, a, b);
	case REPORT_SRCLINE:
		return compare_sources(o, SOURCE_LINE, a, b);
	case REPORT_SRCFILE:
		return compare_sources(o, SOURCE_FILE, a, b);
	case REPORT_IPC:
		return 0;
	default:
		return compare_frames(o, key, a, b, text);
	}
}

static int compare_keys(const struct order *o, const struct calltree_entry *a,
			const struct calltree_entry *b, bool text)
{
	int order = 0;

	for (size_t i = 0; i < o->options->key_count && !order; i++)
		if (!text || !o->elided[o->options->keys[i]])
			order = compare_key(o, o->options->keys[i], a, b, text);
	return order;
}

static bool same_thread(const struct calltree *tree,
			const struct calltree_entry *a,
			const struct calltree_entry *b)
{
	const struct profile *profile = tree->profile;
	const uint32_t *tasks = profile->samples.task;
	const struct profile_task *s = profile_task(profile, tasks[a->row]);
	const struct profile_task *t = profile_task(profile, tasks[b->row]);

	return s->pid == t->pid && s->tid == t->tid;
}

/* What is further out stands before what it calls. */
static int compare_depths(const struct order *o, const struct calltree_entry *a,
			  const struct calltree_entry *b)
{
	if (!o->by_depth || !same_thread(o->tree, a, b))
		return 0;
	return o->caller_order ? compare_u64(b->depth_down, a->depth_down)
			       : compare_u64(a->depth_up, b->depth_up);
}

/* By what hit the entries; of equal ones of a group the next event decides. */
static int compare_hits(const struct order *o, enum report_field field,
			const struct calltree_entry *a,
			const struct calltree_entry *b)
{
	size_t events = event_group_events(o->tree);
	int order = 0;

	for (size_t i = 0; i < events && !order; i++) {
		struct event_weight x = event_group_weight(o->tree, a, i);
		struct event_weight y = event_group_weight(o->tree, b, i);

		order = compare_u64(entry_field(&y, field),
				    entry_field(&x, field));
	}
	return order;
}

static int compare_column(const struct order *o, struct report_column column,
			  const struct calltree_entry *a,
			  const struct calltree_entry *b)
{
	int order;

	switch (column.field) {
	case REPORT_FIELD_CHILDREN:
		order = compare_u64(b->period, a->period);
		return order ? order : compare_depths(o, a, b);
	case REPORT_FIELD_OVERHEAD:
	case REPORT_FIELD_PERIOD:
	case REPORT_FIELD_SAMPLES:
		return compare_hits(o, column.field, a, b);
	case REPORT_FIELD_KEY:
		break;
	}
	return o->elided[column.key] ? 0
				     : compare_key(o, column.key, a, b, true);
}

/* The order that --sort and --fields ask for. */
static int compare_columns(const struct order *o,
			   const struct calltree_entry *a,
			   const struct calltree_entry *b)
{
	const struct report_columns *columns = &o->options->order;
	int order = 0;

	for (size_t i = 0; i < columns->count && !order; i++)
		order = compare_column(o, columns->list[i], a, b);
	return order;
}

/* The order of the report. */
static int compare_weights(const struct order *o,
			   const struct calltree_entry *a,
			   const struct calltree_entry *b)
{
	int order = compare_u64(b->period, a->period);

	if (!order)
		order = compare_depths(o, a, b);
	if (!order)
		order = compare_hits(o, REPORT_FIELD_OVERHEAD, a, b);
	if (!order)
		order = compare_keys(o, a, b, true);
	if (!order && o->options->samples)
		order = compare_hits(o, REPORT_FIELD_SAMPLES, a, b);
	return order;
}

/* The order of insertion. */
static int compare_places(const struct order *o, const struct calltree_entry *a,
			  const struct calltree_entry *b)
{
	return compare_keys(o, a, b, false);
}

/* The order in which perf meets entries: sample by sample, self first. */
static int compare_meeting(const void *left, const void *right, void *arg)
{
	const struct order *o = arg;
	const struct calltree_entry *entries = o->tree->entries.data;
	const struct calltree_entry *a = &entries[*(const uint32_t *)left];
	const struct calltree_entry *b = &entries[*(const uint32_t *)right];
	bool a_passed = a->self_row != a->row;
	bool b_passed = b->self_row != b->row;
	int order = compare_u64(a->row, b->row);

	if (!order)
		order = a_passed - b_passed;
	if (!order)
		order = compare_u64(a->row_depth, b->row_depth) *
			(o->caller_order ? 1 : -1);
	return order;
}

/* --- The red-black tree ------------------------------------------------- */

static uint32_t *link_to(struct order *o, uint32_t id)
{
	uint32_t up = o->ranks[id].up;

	if (!up)
		return &o->root;
	return o->ranks[up].left == id ? &o->ranks[up].left
				       : &o->ranks[up].right;
}

/* Lifts the child of id that is on the given side into the place of id. */
static void rotate(struct order *o, uint32_t id, bool right_child)
{
	struct rank *r = o->ranks;
	uint32_t child = right_child ? r[id].right : r[id].left;
	uint32_t inner = right_child ? r[child].left : r[child].right;

	*link_to(o, id) = child;
	r[child].up = r[id].up;
	if (right_child) {
		r[id].right = inner;
		r[child].left = id;
	} else {
		r[id].left = inner;
		r[child].right = id;
	}
	if (inner)
		r[inner].up = id;
	r[id].up = child;
}

static void rebalance(struct order *o, uint32_t id)
{
	struct rank *r = o->ranks;

	while (r[r[id].up].red) {
		uint32_t up = r[id].up;
		uint32_t top = r[up].up;
		bool right = r[top].right == up;
		uint32_t uncle = right ? r[top].left : r[top].right;

		if (r[uncle].red) {
			r[up].red = r[uncle].red = false;
			r[top].red = true;
			id = top;
			continue;
		}
		if (id == (right ? r[up].left : r[up].right)) {
			rotate(o, up, !right);
			up = id;
		}
		r[up].red = false;
		r[top].red = true;
		rotate(o, top, right);
		break;
	}
	r[o->root].red = false;
}

static bool stands_before(const struct order *o, uint32_t a, uint32_t b)
{
	const struct calltree_entry *entries = o->tree->entries.data;

	if (o->hidden[a] != o->hidden[b])
		return o->hidden[a];
	return o->compare(o, &entries[a], &entries[b]) < 0;
}

static void insert(struct order *o, uint32_t id)
{
	uint32_t *link = &o->root;
	uint32_t up = 0;

	while (*link) {
		up = *link;
		link = stands_before(o, o->ranks[id].entry, o->ranks[up].entry)
			       ? &o->ranks[up].left
			       : &o->ranks[up].right;
	}
	*link = id;
	o->ranks[id].up = up;
	o->ranks[id].red = true;
	rebalance(o, id);
}

static uint32_t leftmost(const struct order *o, uint32_t id)
{
	while (id && o->ranks[id].left)
		id = o->ranks[id].left;
	return id;
}

static uint32_t successor(const struct order *o, uint32_t id)
{
	uint32_t up = o->ranks[id].up;

	if (o->ranks[id].right)
		return leftmost(o, o->ranks[id].right);
	while (up && o->ranks[up].right == id) {
		id = up;
		up = o->ranks[up].up;
	}
	return up;
}

/*
 * Puts entries into the order that the tree gives them. What `filters` is false
 * for is hidden from when it is in the tree; NULL: all stays as it is.
 */
static void reorder(struct order *o, entry_vec *entries,
		    bool (*filters)(const struct order *o, uint32_t id))
{
	size_t count = entries->count;

	memset(o->ranks, 0, (count + 1) * sizeof(*o->ranks));
	o->root = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t id = entries->data[i];

		o->ranks[i + 1].entry = id;
		insert(o, (uint32_t)i + 1);
		if (!watch_goes_on(o->watch, "sorting entries", i, count))
			return;
		if (filters && !filters(o, id))
			o->hidden[id] = true;
	}
	vec_clear(entries);
	for (uint32_t id = leftmost(o, o->root); id; id = successor(o, id))
		(void)vec_push(entries, o->ranks[id].entry);
}

/* --- Filters ------------------------------------------------------------ */

/* NULL: nothing was asked for. */
static bool choice_passes(const struct profile *profile,
			  const struct report_options *options,
			  const struct symbol_choice *choice,
			  const struct profile_frame *frame)
{
	return !choice ||
	       symbol_choice_has(choice, profile, frame,
				 report_has_key(options, REPORT_SRCLINE));
}

/* --dsos, --symbols */
static bool lists_pass(const struct profile *profile,
		       const struct report_options *options,
		       const struct profile_frame *frame)
{
	return name_list_passes(&options->dsos,
				frame_dso_name(profile, frame)) &&
	       choice_passes(profile, options, options->symbols_choice, frame);
}

/* --symbol-filter; in perf it concerns the first event alone. */
static bool symbol_passes(const struct profile *profile, uint32_t event,
			  const struct report_options *options,
			  const struct profile_frame *frame)
{
	return (options->quirks.symbol_filter_in_merges && event) ||
	       choice_passes(profile, options, options->filter_choice, frame);
}

static bool resolved_passes(const struct profile *profile,
			    const struct report_options *options,
			    const struct profile_frame *frame)
{
	return !options->hide_unresolved || frame_symbol_name(profile, frame);
}

/* With the quirks, others ask: entry_keep_row(), symbol_filter_passes(). */
static bool frame_passes(const struct profile *profile, uint32_t event,
			 const struct report_options *options,
			 const struct profile_frame *frame)
{
	return resolved_passes(profile, options, frame) &&
	       (options->quirks.lists_filter_hits ||
		lists_pass(profile, options, frame)) &&
	       (options->quirks.symbol_filter_in_merges ||
		symbol_passes(profile, event, options, frame));
}

/* Else an entry has many frames, and only samples can be told apart by them. */
static bool entries_have_frames(const struct report_options *options)
{
	return report_has_key(options, REPORT_SYMBOL);
}

/* What is shown as hit: the leaf, or the Python function that it serves. */
static const struct profile_frame *row_leaf(const struct profile *profile,
					    const struct locations *locations,
					    size_t row)
{
	uint32_t stack = locations_stack(locations, profile,
					 profile->samples.stack[row]);
	uint32_t step = locations->steps.data[stack];
	uint32_t hit = locations->all.data[step].hit;
	uint32_t frame =
		locations->all.data[hit == PROFILE_NONE ? step : hit].frame;

	return frame == PROFILE_NONE ? NULL : profile_frame(profile, frame);
}

/* By its comm, or the name that the program gave it. */
static bool task_is_called(const struct profile *profile,
			   const struct name_list *names,
			   const struct profile_task *task)
{
	return thread_list_passes(names,
				  profile_string(profile, task->comm, NULL)) ||
	       thread_list_passes(names,
				  profile_string(profile, task->name, NULL));
}

static bool task_passes(const struct profile *profile,
			const struct report_options *options, uint32_t handle)
{
	const struct profile_task *task = profile_task(profile, handle);

	return task_is_called(profile, &options->comms, task) &&
	       id_list_passes(&options->pids, task->pid) &&
	       id_list_passes(&options->tids, task->tid);
}

static bool has_parent(const struct profile *profile,
		       const uint32_t *parents, size_t row)
{
	uint32_t stack = profile->samples.stack[row];

	return stack != PROFILE_NONE && parents[stack] != PROFILE_NONE;
}

bool entry_keep_row(const struct profile *profile, size_t row, const void *arg)
{
	const struct entry_filter *filter = arg;
	const struct report_options *options = filter->options;
	const struct profile_frame *leaf;

	if (!task_passes(profile, options, profile->samples.task[row]))
		return false;
	/* perf looks for parents if they are shown alone. */
	if (options->exclude_other && !filter->parents &&
	    options->quirks.exclude_all_without_parent)
		return false;
	if (options->exclude_other && filter->parents &&
	    !has_parent(profile, filter->parents, row))
		return false;
	if (entries_have_frames(options) && !options->quirks.lists_filter_hits)
		return true;
	leaf = row_leaf(profile, filter->locations, row);
	return lists_pass(profile, options, leaf) &&
	       (entries_have_frames(options) ||
		(resolved_passes(profile, options, leaf) &&
		 symbol_passes(profile, profile->samples.event[row], options,
			       leaf)));
}

/* --- The result --------------------------------------------------------- */

static bool merges(const struct report_options *options)
{
	return report_has_key(options, REPORT_COMM) ||
	       report_has_key(options, REPORT_SRCLINE) ||
	       report_has_key(options, REPORT_SRCFILE);
}

/* perf looks at it as it puts entries into its second tree. */
static bool symbol_filter_passes(const struct order *o, uint32_t id)
{
	const struct calltree *tree = o->tree;

	return !entries_have_frames(o->options) ||
	       symbol_passes(tree->profile, tree->options.event, o->options,
			     entry_frame(tree, &tree->entries.data[id]));
}

static struct error *order_entries(struct order *o, entry_vec *entries)
{
	size_t count = entries->count;
	_cleanup_free_ struct rank *ranks = calloc(count + 1, sizeof(*ranks));

	if (!ranks)
		return error_no_memory();
	o->ranks = ranks;
	if (count)
		qsort_r(entries->data, count, sizeof(*entries->data),
			compare_meeting, o);
	o->compare = compare_places;
	reorder(o, entries, NULL);
	/* perf makes a second tree of the first to merge what texts make one. */
	if (merges(o->options))
		reorder(o, entries,
			o->options->quirks.symbol_filter_in_merges ?
				symbol_filter_passes :
				NULL);
	o->compare = o->options->order.count ? compare_columns
					     : compare_weights;
	reorder(o, entries, NULL);
	return watch_error(o->watch);
}

/* What is hidden stands before all else. */
static void take_shown(const struct order *o, entry_vec *entries)
{
	size_t hidden = 0;

	while (hidden < entries->count && o->hidden[entries->data[hidden]])
		hidden++;
	entries->count -= hidden;
	memmove(entries->data, entries->data + hidden,
		entries->count * sizeof(*entries->data));
}

/* The event that an entry is of; of a group, the first that has it. */
static uint32_t entry_event(const struct calltree *tree, size_t entry)
{
	size_t i = 0;

	if (tree->group && entry >= tree->group->own_entries)
		do
			i++;
		while (i < tree->group->others.count &&
		       !event_group_weight(tree, &tree->entries.data[entry], i)
				.period);
	return event_group_tree(tree, i)->options.event;
}

struct error *entry_order(const struct calltree *tree,
			  const struct report_options *options,
			  struct watch *watch, entry_vec *ret)
{
	_cleanup_free_ bool *hidden =
		calloc(tree->entries.count + 1, sizeof(*hidden));
	struct error *error;
	struct order o = {
		.tree = tree,
		.options = options,
		.by_depth = tree->options.children &&
			    options->callgraph.type != CALLGRAPH_NONE,
		.caller_order = report_caller_order(options),
		.hidden = hidden,
		.watch = watch,
	};

	if (!hidden)
		return error_no_memory();
	for (unsigned int key = 0; key < REPORT_KEYS; key++)
		o.elided[key] = report_is_elided(options, key);
	for (size_t i = 0; i < tree->entries.count; i++) {
		const struct calltree_entry *entry = &tree->entries.data[i];

		hidden[i] = tree->contexts.data[entry->context].hidden;
		if ((!entries_have_frames(options) ||
		     frame_passes(tree->profile, entry_event(tree, i), options,
				  entry_frame(tree, entry))) &&
		    !vec_push(ret, (uint32_t)i))
			return error_no_memory();
	}
	error = order_entries(&o, ret);
	if (!error && ret->count)
		take_shown(&o, ret);
	return error;
}

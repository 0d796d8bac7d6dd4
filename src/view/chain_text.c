// SPDX-License-Identifier: GPL-2.0-only
#include "view/chain_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/event_group.h"
#include "view/source_text.h"
#include "view/text.h"

enum {
	MARGIN = 12,
	/* Of the steps below "---". */
	MARGIN_RUN = 3,
	LEVEL_WIDTH = 11,
};

struct error *chain_text_init(struct chain_text *text,
			      const struct calltree *tree,
			      const struct report_options *options,
			      struct strbuf *out)
{
	*text = (struct chain_text){ .tree = tree,
				     .options = options,
				     .out = out };
	return chains_init(&text->chains, tree);
}

void chain_text_deinit(struct chain_text *text)
{
	chains_deinit(&text->chains);
	vec_deinit(&text->live);
	vec_deinit(&text->ends);
}

void chain_step_text(const struct calltree *tree,
		     const struct report_options *options, uint32_t location,
		     struct strbuf *out)
{
	const struct profile *profile = tree->profile;
	uint32_t id = tree->locations->all.data[location].frame;
	const struct profile_frame *frame;
	const struct profile_symbol *symbol;
	size_t start;

	if (id == PROFILE_NONE) {
		strbuf_puts(out, "[unknown]");
		return;
	}
	frame = profile_frame(profile, id);
	symbol = profile_symbol(profile, frame->symbol);
	if (!symbol) {
		strbuf_printf(out, "%#" PRIx64,
			      options->quirks.memory_addresses ? frame->address :
								 frame->rel);
		return;
	}
	text_string(out, profile, symbol->name, "[unknown]");
	start = out->len;
	strbuf_putc(out, ' ');
	source_step_text(profile, frame, options, out);
	if (out->len == start + 1)
		strbuf_truncate(out, start);
	if (frame->flags & PROFILE_FRAME_INLINED)
		strbuf_puts(out, " (inlined)");
}

static void put_step(struct chain_text *t, uint32_t location)
{
	size_t start = t->out->len;

	chain_step_text(t->tree, t->options, location, t->out);
	if (t->options->quirks.texts_of_1023 &&
	    t->out->len - start > TEXT_PERF_MAX)
		strbuf_truncate(t->out, start + TEXT_PERF_MAX);
}

static void put_value(struct chain_text *t, uint64_t hits, uint64_t count,
		      uint64_t total)
{
	switch (t->options->callgraph.value) {
	case CALLGRAPH_PERIOD:
		strbuf_printf(t->out, "%" PRIu64, hits);
		break;
	case CALLGRAPH_COUNT:
		strbuf_printf(t->out, "%" PRIu64, count);
		break;
	case CALLGRAPH_PERCENT:
		text_percent(t->out, hits, total);
		break;
	}
}

/* Cuts the line that began at start to the width asked for, and ends it. */
static void end_line(struct chain_text *t, size_t start)
{
	size_t max = t->options->max_columns;

	if (max && t->out->len - start > max)
		strbuf_truncate(t->out, start + max);
	strbuf_putc(t->out, '\n');
}

static uint32_t perf_bit(size_t level)
{
	return 1u << (level & 31);
}

static bool is_live(const struct chain_text *t, size_t level)
{
	return t->options->quirks.levels_of_32 ?
		       t->perf_live & perf_bit(level) :
		       t->live.data[level];
}

/* The innermost level goes no further. */
static void end_level(struct chain_text *t)
{
	*vec_last(&t->live) = false;
	t->perf_live &= ~perf_bit(t->live.count - 1);
}

static void put_levels(struct chain_text *t, size_t levels)
{
	char *first;

	strbuf_fill(t->out, ' ', t->margin + levels * LEVEL_WIDTH);
	if (t->out->failed)
		return;
	first = t->out->data + t->out->len - levels * LEVEL_WIDTH;
	for (size_t i = 0; i < levels; i++)
		if (is_live(t, i))
			first[i * LEVEL_WIDTH] = '|';
}

static void put_separator(struct chain_text *t)
{
	size_t start = t->out->len;

	put_levels(t, t->live.count);
	end_line(t, start);
}

/* The beginning of a branch's first line, up to its name. */
static void put_fork(struct chain_text *t, uint64_t hits, uint64_t count,
		     uint64_t total)
{
	put_levels(t, t->live.count - 1);
	strbuf_putc(t->out, is_live(t, t->live.count - 1) ? '|' : ' ');
	strbuf_puts(t->out, "--");
	put_value(t, hits, count, total);
	strbuf_puts(t->out, "--");
}

static void put_branch(struct chain_text *t, const struct chain_branch *branch,
		       uint64_t total)
{
	for (uint32_t i = 0; i < branch->steps; i++) {
		size_t start = t->out->len;

		if (i == 0)
			put_fork(t, chain_branch_hits(branch),
				 chain_branch_counts(branch), total);
		else
			put_levels(t, t->live.count);
		put_step(t, t->chains.steps.data[branch->first_step + i]);
		end_line(t, start);
	}
}

/* What siblings of a fractal tree left out weigh together. */
static void put_remaining(struct chain_text *t, uint64_t hits, uint64_t count,
			  uint64_t total)
{
	size_t start = t->out->len;

	if (t->options->callgraph.value == CALLGRAPH_COUNT && !count)
		return;
	end_level(t);
	put_fork(t, hits, count, total);
	strbuf_puts(t->out, "[...]");
	end_line(t, start);
}

/*
 * Draws siblings and all below them; `goes_on` is how many chains they share.
 * The recursion is as deep as chains.h lets branches be.
 */
static struct error *put_siblings(struct chain_text *t, uint32_t first,
				  uint64_t total, uint64_t goes_on)
{
	bool fractal = t->options->callgraph.type == CALLGRAPH_FRACTAL;
	uint32_t limit = t->options->callgraph.print_limit;
	uint32_t printed = 0;
	uint64_t left = total;
	uint32_t perf_live = t->perf_live;
	struct error *error = NULL;

	if (!vec_push(&t->live, true))
		return error_no_memory();
	t->perf_live |= perf_bit(t->live.count - 1);
	for (uint32_t id = first; id != PROFILE_NONE && !error;) {
		struct chain_branch branch = t->chains.branches.data[id];

		left -= chain_branch_hits(&branch);
		goes_on -= chain_branch_counts(&branch);
		put_separator(t);
		if (branch.next == PROFILE_NONE && !(fractal && left))
			end_level(t);
		put_branch(t, &branch, total);
		error = put_siblings(t, branch.first_child,
				     fractal ? branch.children_hit : total,
				     branch.children_count);
		if (++printed == limit)
			break;
		id = branch.next;
	}
	if (fractal && left && left != total && !error)
		put_remaining(t, left, goes_on, total);
	t->live.count--;
	t->perf_live = perf_live;
	return error;
}

/* A single branch that is all of the entry needs no percentage. */
static uint32_t put_run(struct chain_text *t, const struct chain_branch *branch)
{
	const char *sort = t->options->sort_text;
	uint32_t limit = t->options->callgraph.print_limit;
	/* The entry's own line names the first step already. */
	bool strict = t->options->fields.count && !t->options->fields_add;
	uint32_t first = sort && !strict && !strncmp(sort, "sym", 3);

	for (uint32_t i = first; i < branch->steps; i++) {
		size_t start = t->out->len;

		strbuf_fill(t->out, ' ', t->margin);
		if (i == first) {
			strbuf_puts(t->out, "|\n");
			start = t->out->len;
			strbuf_fill(t->out, ' ', t->margin);
			strbuf_puts(t->out, "---");
			t->margin += MARGIN_RUN;
		}
		put_step(t, t->chains.steps.data[branch->first_step + i]);
		end_line(t, start);
		if (i - first + 1 == limit)
			break;
	}
	return branch->first_child;
}

static struct error *put_tree(struct chain_text *t, uint64_t total,
			      uint64_t entry_total)
{
	uint32_t first = t->chains.first;
	uint64_t goes_on = t->chains.count;
	size_t start = t->out->len;
	struct error *error;

	t->margin = MARGIN;
	if (first != PROFILE_NONE) {
		const struct chain_branch *branch =
			&t->chains.branches.data[first];

		if (branch->next == PROFILE_NONE &&
		    chain_branch_hits(branch) == entry_total) {
			goes_on = branch->children_count;
			first = put_run(t, branch);
		}
	}
	if (t->options->callgraph.type == CALLGRAPH_FRACTAL)
		total = entry_total;
	error = put_siblings(t, first, total, goes_on);
	if (t->out->len > start)
		strbuf_putc(t->out, '\n');
	return error;
}

/* Collects branches where chains end, callees before their callers. */
static struct error *collect_ends(struct chain_text *t, uint32_t first,
				  uint64_t min)
{
	for (uint32_t id = first; id != PROFILE_NONE;) {
		const struct chain_branch *branch =
			&t->chains.branches.data[id];
		struct error *error = collect_ends(t, branch->first_child, min);

		if (error)
			return error;
		if (branch->hit && branch->hit >= min &&
		    !vec_push(&t->ends, id))
			return error_no_memory();
		id = branch->next;
	}
	return NULL;
}

struct ranked_end {
	uint64_t hit;
	size_t order;
	uint32_t branch;
};

static int compare_ends(const void *left, const void *right)
{
	const struct ranked_end *a = left, *b = right;

	if (a->hit != b->hit)
		return a->hit < b->hit ? 1 : -1;
	return (a->order > b->order) - (a->order < b->order);
}

static struct error *sort_ends(struct chain_text *t)
{
	size_t count = t->ends.count;
	_cleanup_free_ struct ranked_end *ranked =
		calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		uint32_t id = t->ends.data[i];

		ranked[i] =
			(struct ranked_end){ t->chains.branches.data[id].hit, i,
					     id };
	}
	qsort(ranked, count, sizeof(*ranked), compare_ends);
	for (size_t i = 0; i < count; i++)
		t->ends.data[i] = ranked[i].branch;
	return NULL;
}

/* The steps of a whole chain, with `between` between two of them. */
static void put_path(struct chain_text *t, uint32_t id, const char *between,
		     bool *first)
{
	const struct chain_branch *branch = &t->chains.branches.data[id];

	if (branch->parent != PROFILE_NONE)
		put_path(t, branch->parent, between, first);
	for (uint32_t i = 0; i < branch->steps; i++) {
		if (!*first)
			strbuf_puts(t->out, between);
		*first = false;
		put_step(t, t->chains.steps.data[branch->first_step + i]);
	}
}

static void put_flat(struct chain_text *t, uint32_t id, uint64_t total)
{
	const struct chain_branch *branch = &t->chains.branches.data[id];
	bool first = true;

	strbuf_fill(t->out, ' ', LEVEL_WIDTH);
	put_value(t, chain_branch_hits(branch), chain_branch_counts(branch),
		  total);
	strbuf_puts(t->out, "\n                ");
	put_path(t, id, "\n                ", &first);
	strbuf_puts(t->out, "\n\n");
}

static void put_folded(struct chain_text *t, uint32_t id, uint64_t total)
{
	const struct chain_branch *branch = &t->chains.branches.data[id];
	const char *separator = t->options->field_separator;
	bool first = true;

	put_value(t, branch->hit, branch->count, total);
	strbuf_putc(t->out, ' ');
	put_path(t, id, separator ? separator : ";", &first);
	strbuf_putc(t->out, '\n');
}

static struct error *put_list(struct chain_text *t, uint64_t total,
			      uint64_t min)
{
	uint32_t limit = t->options->callgraph.print_limit;
	struct error *error;

	vec_clear(&t->ends);
	error = collect_ends(t, t->chains.first, min);
	if (!error)
		error = sort_ends(t);
	for (size_t i = 0; !error && i < t->ends.count; i++) {
		if (t->options->callgraph.type == CALLGRAPH_FLAT)
			put_flat(t, t->ends.data[i], total);
		else
			put_folded(t, t->ends.data[i], total);
		if (i + 1 == limit)
			break;
	}
	return error;
}

struct error *chain_text_entry(struct chain_text *text, uint32_t entry)
{
	const struct report_options *options = text->options;
	double part = options->callgraph.threshold / 100.0;
	uint64_t total = text->tree->period;
	uint64_t entry_total = text->tree->entries.data[entry].period;
	uint64_t min = (uint64_t)((double)text->tree->graph_period * part);
	bool fractal = options->callgraph.type == CALLGRAPH_FRACTAL;
	bool list = options->callgraph.type == CALLGRAPH_FLAT ||
		    options->callgraph.type == CALLGRAPH_FOLDED;
	struct chains_options how = {
		.caller_order = report_caller_order(options),
		.min_hit = min,
		.min_part = fractal ? part : -1.0,
		.by_key = list,
		.first_met = options->quirks.steps_by_line_text &&
			     options->callgraph.key == CHAIN_KEY_SRCLINE,
	};
	struct error *error;

	/* What only another event of the group has is without chains here. */
	if (options->callgraph.type == CALLGRAPH_NONE ||
	    (text->tree->group && entry >= text->tree->group->own_entries) ||
	    (!fractal && entry_total < min))
		return NULL;
	error = chains_build(&text->chains, entry, &how);
	if (error)
		return error;
	if (list)
		return put_list(text, total, min);
	return put_tree(text, total, entry_total);
}

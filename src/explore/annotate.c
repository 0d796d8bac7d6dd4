// SPDX-License-Identifier: GPL-2.0-only
#include "explore/annotate.h"

#include <stdlib.h>

#include "base/map.h"
#include "profile/calltree.h"
#include "profile/location.h"
#include "view/source_text.h"

struct annotator {
	const struct entries *entries;
	const struct profile *profile;
	const struct profile_frame *frame;
	struct locations *locations;
	struct calltree *tree;
	struct annotation *out;
	/* at -> index into out->places. */
	struct map index;
};

static struct annotate_weight *weight_at(struct annotator *a, uint64_t at)
{
	struct annotate_place place = { .at = at };
	bool is_new;
	uint64_t *index =
		map_insert(&a->index, at, a->out->places.count, &is_new);

	if (!index || (is_new && !vec_push(&a->out->places, place)))
		return NULL;
	return &a->out->places.data[*index].weight;
}

static int compare_places(const void *left, const void *right)
{
	const struct annotate_place *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

/* --- Python ------------------------------------------------------------- */

/* As a report has it: Python functions of one name and file are one. */
static bool is_function(const struct annotator *a,
			const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		frame ? profile_symbol(a->profile, frame->symbol) : NULL;

	return symbol && frame->kind == PROFILE_FRAME_PYTHON &&
	       symbol->name ==
		       profile_symbol(a->profile, a->frame->symbol)->name;
}

static const struct profile_frame *node_frame(const struct annotator *a,
					      uint32_t node)
{
	uint32_t frame = calltree_location(a->tree, node)->frame;

	return frame == PROFILE_NONE ? NULL : profile_frame(a->profile, frame);
}

static void add_node(struct annotate_weight *weight,
		     const struct calltree_node *node, bool is_outermost)
{
	weight->self_period += node->self_period;
	weight->self_count += node->self_count;
	if (!is_outermost)
		return;
	weight->period += node->period;
	weight->count += node->count;
}

/* Parents stand before their children, so that one pass does. */
static struct error *add_nodes(struct annotator *a)
{
	size_t count = a->tree->nodes.count;
	_cleanup_free_ uint8_t *inside = calloc(count + 1, 1);

	if (!inside)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct calltree_node *node = &a->tree->nodes.data[i];
		const struct profile_frame *frame = node_frame(a, (uint32_t)i);
		bool below = node->parent != PROFILE_NONE &&
			     inside[node->parent];
		struct annotate_weight *weight;

		inside[i] = below;
		if (!is_function(a, frame))
			continue;
		inside[i] = 1;
		add_node(&a->out->whole, node, !below);
		weight = weight_at(a, frame->line);
		if (!weight)
			return error_no_memory();
		/* outer: the node above on the same line. */
		add_node(weight, node, node->outer == PROFILE_NONE);
	}
	return NULL;
}

static struct error *annotate_python(struct annotator *a)
{
	const struct calltree_options options = {
		.event = a->entries->event,
		.children = true,
		.keep = entries_keep_row,
		.keep_arg = a->entries,
	};
	struct error *error = calltree_create(a->profile, a->locations,
					      &options, &a->tree);

	return error ? error : add_nodes(a);
}

/* --- Native ------------------------------------------------------------- */

static struct error *add_hit(struct annotator *a, size_t row)
{
	const struct profile_samples *s = &a->profile->samples;
	const struct profile_symbol *symbol =
		profile_symbol(a->profile, a->frame->symbol);
	uint32_t stack = s->stack[row];
	const struct profile_frame *leaf;
	struct annotate_weight *weight;

	a->out->whole.self_period += s->period[row];
	a->out->whole.self_count += s->count[row];
	leaf = profile_frame(a->profile, a->profile->stack_frames.data[stack]);
	if (leaf->dso != a->frame->dso || leaf->rel < symbol->start ||
	    leaf->rel >= symbol->end) {
		a->out->elsewhere += s->count[row];
		return NULL;
	}
	weight = weight_at(a, leaf->rel);
	if (!weight)
		return error_no_memory();
	weight->self_period += s->period[row];
	weight->self_count += s->count[row];
	return NULL;
}

static struct error *annotate_native(struct annotator *a)
{
	const struct profile_samples *s = &a->profile->samples;
	const struct locations *l = a->locations;
	size_t id = (size_t)(a->frame - a->profile->frames.data);
	uint32_t self = l->all.data[l->of_frame[id]].self;
	struct error *error = NULL;

	for (size_t row = 0; row < s->rows && !error; row++) {
		uint32_t stack;

		if (s->event[row] != a->entries->event ||
		    s->stack[row] == PROFILE_NONE ||
		    !entries_keep_row(a->profile, row, a->entries))
			continue;
		stack = locations_stack(l, a->profile, s->stack[row]);
		if (l->all.data[l->steps.data[stack]].self == self)
			error = add_hit(a, row);
	}
	return error;
}

static struct error *annotate(struct annotator *a)
{
	/* Files of one name are told apart. */
	const struct report_options options = { .full_source_path = true };
	const struct location_options how = {
		.source = source_text,
		.source_arg = &options,
		.chain_key = CHAIN_KEY_SRCLINE,
		.entry_keys = ENTRY_KEY_DSO | ENTRY_KEY_SYMBOL |
			      (a->out->is_python ? ENTRY_KEY_SRCLINE : 0),
		.interpreter_frames = a->entries->options.interpreter_frames,
	};
	struct error *error =
		locations_create(a->profile, &how, &a->locations);

	if (!error)
		error = a->out->is_python ? annotate_python(a)
					  : annotate_native(a);
	if (!error && a->out->places.count)
		qsort(a->out->places.data, a->out->places.count,
		      sizeof(*a->out->places.data), compare_places);
	calltree_destroy(a->tree);
	locations_destroy(a->locations);
	map_deinit(&a->index);
	return error;
}

struct error *annotation_create(const struct entries *entries,
				const struct profile_frame *frame,
				struct annotation **ret)
{
	struct annotation *out = calloc(1, sizeof(*out));
	struct annotator a = { .entries = entries,
			       .profile = entries->profile,
			       .frame = frame,
			       .out = out };
	struct error *error;

	if (!out)
		return error_no_memory();
	out->is_python = frame->kind == PROFILE_FRAME_PYTHON;
	out->total_period = entries->made.tree->period;
	out->total_count = entries->made.tree->count;
	error = annotate(&a);
	if (error) {
		annotation_destroy(out);
		return error;
	}
	*ret = out;
	return NULL;
}

static struct annotate_weight weight_of(const struct own_entry *entry)
{
	return (struct annotate_weight){ .period = entry->total.period,
					 .count = entry->total.samples,
					 .self_period = entry->own.period,
					 .self_count = entry->own.samples };
}

struct error *annotation_of_file(const struct own_time *own, uint32_t file,
				 struct annotation **ret)
{
	_cleanup_(cleanup_annotation_) struct annotation *out =
		calloc(1, sizeof(*out));

	if (!out)
		return error_no_memory();
	out->is_python = true;
	out->total_period = own->all.period;
	out->total_count = own->all.samples;
	vec_for_each(entry, &own->files)
		if (entry->is_python && entry->file == file)
			out->whole = weight_of(entry);
	vec_for_each(line, &own->lines) {
		struct annotate_place place = { line->line, weight_of(line) };

		if (!line->is_python || line->file != file)
			continue;
		if (!line->line)
			out->elsewhere += line->own.samples;
		else if (!vec_push(&out->places, place))
			return error_no_memory();
	}
	if (out->places.count)
		qsort(out->places.data, out->places.count,
		      sizeof(*out->places.data), compare_places);
	*ret = take_ptr(out);
	return NULL;
}

void annotation_destroy(struct annotation *annotation)
{
	if (!annotation)
		return;
	vec_deinit(&annotation->places);
	free(annotation);
}

const struct annotate_weight *
annotation_find(const struct annotation *annotation, uint64_t at)
{
	const struct annotate_place key = { .at = at };
	const struct annotate_place *found =
		annotation->places.count
			? bsearch(&key, annotation->places.data,
				  annotation->places.count, sizeof(key),
				  compare_places)
			: NULL;

	return found ? &found->weight : NULL;
}

uint64_t annotation_last(const struct annotation *annotation)
{
	return annotation->places.count ? vec_last(&annotation->places)->at : 0;
}

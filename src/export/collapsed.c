// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collapsed stacks: a line for each distinct stack, its frames from the thread's
 * comm and the outermost one to the leaf with ';' between them, then a blank and
 * the number of samples; where samples stand for very different times, as those
 * that are polled do, microseconds; a stack of none has no line. A Python frame is
 * "function (file)" or "function (file:line)", as py-spy and flame graphs have it.
 * Without a name a frame is its file in brackets.
 */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "export/format.h"
#include "export/stacks.h"
#include "profile/index.h"
#include "profile/texts.h"
#include "view/text.h"

/* A step below its callers; parent is PROFILE_NONE for the outermost one. */
struct node {
	uint32_t parent;
	uint32_t label;
};

/* A thread's name with a node, the leaf, and what it weighs. */
struct line {
	uint32_t comm;
	uint32_t node;
	/* Samples, or ns. */
	uint64_t weight;
};

struct collapsed {
	const struct profile *profile;
	const struct export_options *options;
	struct export_stacks *stacks;
	/* What steps are called. */
	struct texts labels;
	VEC(struct node) nodes;
	struct index node_index;
	/* By place, by node of the stacks. */
	VEC(uint32_t) label_of;
	VEC(uint32_t) node_of;
	/* comm and node to the index in lines. */
	struct map line_index;
	VEC(struct line) lines;
	/* Scratch: a line's labels, and a text. */
	VEC(uint32_t) steps;
	struct strbuf text;
};

/* --- what a step is called --- */

/* ';' would end the step. */
static void append_name(struct strbuf *out, const char *name, size_t n)
{
	size_t from = out->len;

	text_append(out, name, n);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
}

static void append_string(struct strbuf *out, const char *s)
{
	append_name(out, s, strlen(s));
}

/* Into c->text. */
static void describe(struct collapsed *c, const struct export_place *place)
{
	const struct export_function *function =
		&c->stacks->functions.data[place->function];
	const char *file = export_function_source(c->stacks, function);

	strbuf_clear(&c->text);
	append_string(&c->text, export_function_name(c->stacks, function));
	if (!*file)
		return;
	strbuf_puts(&c->text, " (");
	append_string(&c->text, file);
	if (c->options->stacks.lines && place->line)
		strbuf_printf(&c->text, ":%" PRIu32, place->line);
	strbuf_putc(&c->text, ')');
}

/* --- nodes, each once --- */

static bool node_equal(const void *column, uint32_t handle, const void *key)
{
	const struct node *a = (const struct node *)column + handle;
	const struct node *b = key;

	return a->parent == b->parent && a->label == b->label;
}

static struct error *intern_node(struct collapsed *c, struct node node,
				 uint32_t *ret)
{
	uint64_t hash = hash_combine(node.parent, node.label);

	*ret = index_find(&c->node_index, hash, node_equal, c->nodes.data,
			  &node);
	if (*ret != PROFILE_NONE)
		return NULL;
	*ret = (uint32_t)c->nodes.count;
	return vec_push(&c->nodes, node) &&
			       index_add(&c->node_index, hash, *ret) ?
		       NULL :
		       error_no_memory();
}

static struct error *label_places(struct collapsed *c)
{
	struct error *error;
	uint32_t label;

	vec_for_each(place, &c->stacks->places) {
		describe(c, place);
		error = strbuf_error(&c->text);
		if (!error)
			error = texts_intern(&c->labels, c->text.data, &label);
		if (error)
			return error;
		if (!vec_push(&c->label_of, label))
			return error_no_memory();
	}
	return NULL;
}

/* Functions that are called the same are one here. */
static struct error *make_nodes(struct collapsed *c)
{
	struct error *error;
	uint32_t made;

	vec_for_each(step, &c->stacks->nodes) {
		struct node node = {
			.parent = step->parent == PROFILE_NONE ?
					  PROFILE_NONE :
					  c->node_of.data[step->parent],
			.label = c->label_of.data[step->place],
		};

		error = intern_node(c, node, &made);
		if (error)
			return error;
		if (!vec_push(&c->node_of, made))
			return error_no_memory();
	}
	return NULL;
}

/* --- lines --- */

/* Samples that each stand for another time: polled ones, and waits. */
static bool is_time(const struct collapsed *c)
{
	const struct profile_event *event =
		&c->profile->events.data[c->options->event];

	return event->is_polled || event->kind == EVENT_WAIT;
}

static struct error *count_row(struct collapsed *c, size_t row)
{
	struct profile_sample sample = profile_sample(c->profile, row);
	uint32_t node = export_stacks_node(c->stacks, sample.stack);
	struct line line = {
		.comm = profile_task(c->profile, sample.task)->comm,
		.node = c->node_of.data[node],
	};
	uint64_t *index = map_insert(&c->line_index,
				     (uint64_t)line.comm << 32 | line.node,
				     c->lines.count, NULL);

	if (!index ||
	    (*index == c->lines.count && !vec_push(&c->lines, line)))
		return error_no_memory();
	c->lines.data[*index].weight += is_time(c) ? sample.period :
						     sample.count;
	return NULL;
}

static struct error *count_samples(struct collapsed *c)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < c->profile->samples.rows; i++)
		if (c->profile->samples.event[i] == c->options->event)
			error = count_row(c, i);
	return error;
}

static struct error *put_line(struct collapsed *c, const struct line *line,
			      FILE *out)
{
	const char *comm = profile_string(c->profile, line->comm, "[unknown]");
	uint64_t number = is_time(c) ? (line->weight + 500) / 1000 :
				       line->weight;

	/* Where flamegraph.pl reads a zero, it takes stacks for others. */
	if (!number)
		return NULL;
	vec_clear(&c->steps);
	for (uint32_t node = line->node; node != PROFILE_NONE;
	     node = c->nodes.data[node].parent)
		if (!vec_push(&c->steps, c->nodes.data[node].label))
			return error_no_memory();
	strbuf_clear(&c->text);
	append_string(&c->text, comm);
	for (size_t i = c->steps.count; i-- > 0;) {
		strbuf_putc(&c->text, ';');
		strbuf_puts(&c->text, c->labels.all.data[c->steps.data[i]]);
	}
	strbuf_printf(&c->text, " %" PRIu64 "\n", number);
	fwrite(c->text.data, 1, c->text.len, out);
	return strbuf_error(&c->text);
}

static void collapsed_deinit(struct collapsed *c)
{
	texts_deinit(&c->labels);
	vec_deinit(&c->nodes);
	index_deinit(&c->node_index);
	vec_deinit(&c->label_of);
	vec_deinit(&c->node_of);
	map_deinit(&c->line_index);
	vec_deinit(&c->lines);
	vec_deinit(&c->steps);
	strbuf_deinit(&c->text);
	export_stacks_destroy(c->stacks);
}

struct error *export_collapsed(const struct profile *profile,
			       const struct export_options *options, FILE *out)
{
	struct collapsed c = { .profile = profile,
			       .options = options,
			       .text = STRBUF_INIT };
	struct error *error = export_stacks_create(profile, &options->stacks,
						   &c.stacks);

	if (!error)
		error = label_places(&c);
	if (!error)
		error = make_nodes(&c);
	if (!error)
		error = count_samples(&c);
	for (size_t i = 0; !error && i < c.lines.count; i++)
		error = put_line(&c, &c.lines.data[i], out);
	collapsed_deinit(&c);
	return error;
}

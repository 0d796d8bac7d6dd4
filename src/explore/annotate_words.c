// SPDX-License-Identifier: GPL-2.0-only
#include "explore/annotate_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "explore/native_hits.h"
#include "profile/frame_line.h"
#include "profile/spent.h"
#include "profile/symbol_word.h"

/* --- What a word calls -------------------------------------------------- */

struct finder {
	const struct weights *weights;
	struct symbol_word word;
	bool by_samples;
	/* What was found already, and that. */
	struct map seen;
	struct annotate_parts parts;
};

/* What a frame is to be shown as, and a number that no other part has. */
static uint64_t part_of(const struct finder *f,
			const struct profile_frame *frame,
			const struct profile_symbol *symbol,
			struct annotate_part *ret)
{
	const char *name =
		profile_string(f->weights->profile, symbol->name, "");
	struct symbol_lines lines = frame_lines(f->weights->profile, frame);

	*ret = (struct annotate_part){ .name = symbol->name,
				       .def = symbol->line,
				       .file = frame->file,
				       .line = frame->line,
				       .symbol = frame->symbol };
	ret->frame = (uint32_t)(frame - f->weights->profile->frames.data);
	if (frame->kind != PROFILE_FRAME_PYTHON) {
		ret->kind = ANNOTATE_NATIVE;
		return (uint64_t)frame->symbol << 32 | UINT32_MAX;
	}
	if (f->word.line && !symbol_word_calls_def(&f->word, name, &lines)) {
		ret->kind = ANNOTATE_LINE;
		return (uint64_t)frame->file << 32 | frame->line;
	}
	if (symbol_word_calls_file(&f->word, name)) {
		ret->kind = ANNOTATE_FILE;
		return (uint64_t)frame->file << 32;
	}
	ret->kind = ANNOTATE_FUNCTION;
	return (uint64_t)symbol->name << 32 | symbol->line;
}

static uint64_t function_total(const struct finder *f,
			       const struct annotate_part *part)
{
	const struct own_entry *entry =
		weights_function(f->weights, 0, part->name, part->def);

	return entry ? entry->total.period : 0;
}

static struct error *add_frame(struct finder *f,
			       const struct profile_frame *frame,
			       const struct profile_symbol *symbol)
{
	struct annotate_part part;
	uint64_t key = part_of(f, frame, symbol, &part);
	uint64_t *at = map_insert(&f->seen, key, f->parts.count, NULL);
	struct annotate_part *known;

	if (!at)
		return error_no_memory();
	if (*at == f->parts.count)
		return vec_push(&f->parts, part) ? NULL : error_no_memory();
	known = &f->parts.data[*at];
	/* Of the functions of a line the one that has most. */
	if (part.kind == ANNOTATE_LINE &&
	    function_total(f, &part) > function_total(f, known))
		*known = part;
	return NULL;
}

static struct error *find_frames(struct finder *f)
{
	const struct profile *p = f->weights->profile;
	struct error *error = NULL;

	for (size_t i = 0; i < p->frames.count && !error; i++) {
		const struct profile_frame *frame = &p->frames.data[i];
		const struct profile_symbol *symbol =
			profile_symbol(p, frame->symbol);

		struct symbol_lines lines = frame_lines(p, frame);

		if (!symbol || frame->kind == PROFILE_FRAME_MARKER ||
		    (frame->flags & PROFILE_FRAME_INLINED) ||
		    !symbol_word_calls(&f->word,
				       profile_string(p, symbol->name, NULL),
				       &lines))
			continue;
		error = add_frame(f, frame, symbol);
	}
	return error;
}

/* --- What that weighs --------------------------------------------------- */

static struct error *weigh_native(const struct weights *weights, size_t event,
				  const struct annotate_part *part,
				  struct weight_pair *ret)
{
	_cleanup_native_hits_ struct native_hits *hits = NULL;
	struct error *error = native_hits_create(
		weights->profile, weights->events.data[event].event,
		part->symbol, &hits);

	/* One that was never hit has no instruction to show. */
	if (!error && hits->all.samples)
		*ret = (struct weight_pair){ hits->all, hits->total };
	return error;
}

struct error *annotate_part_weigh(const struct weights *weights, size_t event,
				  const struct annotate_part *part,
				  struct weight_pair *ret)
{
	const struct own_entry *entry = NULL;

	*ret = (struct weight_pair){};
	switch (part->kind) {
	case ANNOTATE_NATIVE:
		return weigh_native(weights, event, part, ret);
	case ANNOTATE_FILE:
		entry = weights_file(weights, event, part->file);
		break;
	case ANNOTATE_LINE:
		entry = weights_line(weights, event, part->file, part->line);
		break;
	case ANNOTATE_FUNCTION:
		entry = weights_function(weights, event, part->name,
					 part->def);
		break;
	}
	if (entry)
		*ret = (struct weight_pair){ entry->own, entry->total };
	return NULL;
}

static void set_weight(struct annotate_part *part,
		       const struct weight_pair *weight, bool by_samples)
{
	part->own = by_samples ? weight->own.samples : weight->own.period;
	part->total = by_samples ? weight->total.samples : weight->total.period;
}

/* Sets what parts weigh, and drops those that no sample has. */
static struct error *weigh_parts(struct finder *f)
{
	size_t kept = 0;

	vec_for_each(part, &f->parts) {
		uint64_t samples = 0;

		for (size_t i = f->weights->events.count; i-- > 0;) {
			struct weight_pair weight;
			struct error *error = annotate_part_weigh(
				f->weights, i, part, &weight);

			if (error)
				return error;
			samples += weight.total.samples;
			set_weight(part, &weight, f->by_samples);
		}
		if (samples)
			f->parts.data[kept++] = *part;
	}
	f->parts.count = kept;
	return NULL;
}

static int compare_parts(const void *x, const void *y)
{
	const struct annotate_part *a = x, *b = y;
	int order = compare_u64(b->own, a->own);

	if (!order)
		order = compare_u64(b->total, a->total);
	if (!order)
		order = compare_u64(a->name, b->name);
	return order ? order : compare_u64(a->line, b->line);
}

/* --- A line once -------------------------------------------------------- */

bool annotate_part_is_nameless(const struct profile *profile,
			       const struct annotate_part *part)
{
	const char *symbol = profile_string(profile, part->name, "");
	struct python_symbol python;

	if (part->kind != ANNOTATE_FUNCTION || spent_is_module_body(symbol) ||
	    !python_symbol_parse(symbol, &python))
		return false;
	python_symbol_keep_last(&python);
	return python.qualname[0] == '<';
}

/*
 * A lambda's line is one of the function that makes it, too, and a decorator's one of
 * the module. A line of a def stands for its function; else it is itself, with what is
 * around it; and a lambda stands for a line that nothing else ran.
 */
static int line_rank(const struct finder *f, const struct annotate_part *part)
{
	if (part->kind == ANNOTATE_LINE)
		return 1;
	return annotate_part_is_nameless(f->weights->profile, part) ? 2 : 0;
}

static bool shows_line_better(const struct finder *f,
			      const struct annotate_part *a,
			      const struct annotate_part *b)
{
	int order = line_rank(f, a) - line_rank(f, b);

	return order ? order < 0 : a->total > b->total;
}

/* Of two that are both but a part of the line, none stands for all of it. */
static void keep_better(const struct finder *f, struct annotate_part *kept,
			const struct annotate_part *part)
{
	bool are_parts = line_rank(f, kept) == 2 && line_rank(f, part) == 2;

	if (shows_line_better(f, part, kept))
		*kept = *part;
	if (are_parts) {
		kept->kind = ANNOTATE_LINE;
		kept->line = (uint32_t)f->word.line;
	}
}

/* Of the parts that a line of a file is in, one is shown. */
static void keep_one_for_line(struct finder *f)
{
	size_t kept = 0, i;

	vec_for_each(part, &f->parts) {
		for (i = 0; i < kept; i++)
			if (f->parts.data[i].file == part->file)
				break;
		if (i == kept)
			f->parts.data[kept++] = *part;
		else
			keep_better(f, &f->parts.data[i], part);
	}
	f->parts.count = kept;
}

struct error *annotate_words_find(const struct weights *weights,
				  const char *word, bool exact, bool by_samples,
				  struct annotate_parts *ret, bool *called)
{
	struct finder f = { .weights = weights,
			    .word = symbol_word_init(word, exact),
			    .by_samples = by_samples };
	struct error *error = find_frames(&f);

	*called = f.parts.count != 0;
	if (!error)
		error = weigh_parts(&f);
	if (!error && f.word.line)
		keep_one_for_line(&f);
	if (!error && f.parts.count)
		qsort(f.parts.data, f.parts.count, sizeof(*f.parts.data),
		      compare_parts);
	vec_for_each(part, &f.parts)
		if (!error && !vec_push(ret, *part))
			error = error_no_memory();
	vec_deinit(&f.parts);
	map_deinit(&f.seen);
	return error;
}

/* --- What passed through ------------------------------------------------ */

/* By frame: the word calls its function. */
static void find_called(const struct profile *p, const struct symbol_word *word,
			bool *called, struct annotate_passed *ret)
{
	ret->is_inlined = ret->is_interpreter = true;
	for (size_t i = 0; i < p->frames.count; i++) {
		const struct profile_frame *frame = &p->frames.data[i];
		const struct profile_symbol *symbol =
			profile_symbol(p, frame->symbol);

		struct symbol_lines lines = frame_lines(p, frame);

		called[i] = symbol && frame->kind != PROFILE_FRAME_MARKER &&
			    symbol_word_calls(word,
					      profile_string(p, symbol->name, NULL),
					      &lines);
		if (!called[i])
			continue;
		ret->is_inlined &= !!(frame->flags & PROFILE_FRAME_INLINED);
		ret->is_interpreter &=
			!!(frame->flags & PROFILE_FRAME_INTERPRETER);
	}
}

struct error *annotate_words_pass(const struct weights *weights,
				  const char *word, bool exact,
				  struct annotate_passed *ret)
{
	const struct profile *p = weights->profile;
	const struct profile_samples *s = &p->samples;
	const struct symbol_word called_by = symbol_word_init(word, exact);
	_cleanup_free_ bool *called = calloc(p->frames.count + 1, 1);
	_cleanup_free_ bool *passes = calloc(p->stack_parents.count + 1, 1);

	if (!called || !passes)
		return error_no_memory();
	*ret = (struct annotate_passed){};
	find_called(p, &called_by, called, ret);
	/* A caller stands before those that it calls. */
	for (size_t i = 0; i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];

		passes[i] = called[p->stack_frames.data[i]] ||
			    (parent != PROFILE_NONE && passes[parent]);
	}
	for (size_t i = 0; i < s->rows; i++) {
		if (s->event[i] != weights->events.data[0].event ||
		    s->stack[i] == PROFILE_NONE || !passes[s->stack[i]])
			continue;
		ret->weight.period += s->period[i];
		ret->weight.samples += s->count[i];
	}
	return NULL;
}

/* --- The hottest -------------------------------------------------------- */

static struct error *all_functions(const struct weights *weights,
				   bool by_samples, struct annotate_parts *ret)
{
	vec_for_each(entry, &weights->events.data[0].own->functions) {
		const struct weight_pair weight = { entry->own, entry->total };
		struct annotate_part part = {
			.kind = ANNOTATE_FUNCTION,
			.name = entry->name,
			.def = entry->line,
			.file = entry->file,
		};

		if (!entry->is_python || entry->name == PROFILE_NONE ||
		    !entry->own.samples)
			continue;
		set_weight(&part, &weight, by_samples);
		if (!vec_push(ret, part))
			return error_no_memory();
	}
	if (ret->count)
		qsort(ret->data, ret->count, sizeof(*ret->data), compare_parts);
	return NULL;
}

struct error *annotate_words_hottest(const struct weights *weights, size_t most,
				     bool by_samples,
				     struct annotate_parts *ret,
				     uint64_t *rest_count, uint64_t *rest)
{
	enum { ALWAYS = 5 };
	const struct own_weight *all = &weights->events.data[0].own->all;
	uint64_t whole = by_samples ? all->samples : all->period;
	uint64_t hot = whole / 100, seen = whole / 2000 + 1;
	struct error *error = all_functions(weights, by_samples, ret);
	size_t count = 0;

	*rest_count = *rest = 0;
	if (error)
		return error;
	/* From one percent on, and the first few unless they round to 0.0 %. */
	while (count < ret->count && count < most &&
	       (!count || ret->data[count].own >= hot ||
		(count < ALWAYS && ret->data[count].own >= seen)))
		count++;
	for (size_t i = count; i < ret->count; i++) {
		++*rest_count;
		*rest += ret->data[i].own;
	}
	ret->count = count;
	return NULL;
}

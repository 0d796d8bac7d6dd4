// SPDX-License-Identifier: GPL-2.0-only
#include "profile/location.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/index.h"
#include "profile/spent.h"

enum place_kind {
	PLACE_ANY,
	PLACE_DSO,
	PLACE_ADDRESS,
	PLACE_LINE,
	PLACE_SPAN,
	PLACE_NAME,
};

/* Content that makes two places equal; what does not count is 0. */
struct place {
	/* The first DSO of the same short name, or PROFILE_NONE. */
	uint32_t dso;
	uint32_t kind;
	/*
	 * Span of the symbol; or the address, and the same in the DSO; or the
	 * name's handle.
	 */
	uint64_t start;
	uint64_t end;
	/* Of a step that is told apart by its line. */
	uint32_t file;
	uint32_t line;
	/* Number of the text of SOURCE_LINE, SOURCE_FILE; 0: no key. */
	uint32_t source[SOURCE_KINDS];
	/*
	 * Not 0: counts, with the DSO that has it, instead of the texts, which
	 * will make entries one.
	 */
	uint64_t address;
	uint32_t address_dso;
};

struct places {
	VEC(struct place) all;
	struct index index;
};

/* In a DSO's addresses. */
struct span {
	uint64_t start;
	uint64_t end;
};

struct location_builder {
	const struct profile *profile;
	const struct location_options *options;
	struct locations *out;
	/* The first DSO with a DSO's short name. */
	uint32_t *namesakes;
	struct places chains;
	struct places entries;
	/* Of the place in work. */
	struct strbuf text;
	/* By place, of inlined functions by their container. */
	VEC(struct span) spans;
	struct index locations;
	struct index stacks;
};

static bool place_equal(const void *column, uint32_t handle, const void *key)
{
	const struct place *a = (const struct place *)column + handle;
	const struct place *b = key;

	return a->dso == b->dso && a->kind == b->kind && a->start == b->start &&
	       a->end == b->end && a->file == b->file && a->line == b->line &&
	       a->address == b->address &&
	       a->address_dso == b->address_dso &&
	       (a->address ||
		(a->source[SOURCE_LINE] == b->source[SOURCE_LINE] &&
		 a->source[SOURCE_FILE] == b->source[SOURCE_FILE]));
}

static struct error *places_intern(struct places *places,
				   const struct place *place, uint32_t *ret)
{
	uint64_t hash = hash_combine(
		hash_combine(place->start, place->end),
		hash_combine((uint64_t)place->dso << 32 | place->kind,
			     (uint64_t)place->file << 32 | place->line));
	uint32_t id;

	hash = hash_combine(
		hash, place->address
			      ? place->address
			      : (uint64_t)place->source[SOURCE_LINE] << 32 |
					place->source[SOURCE_FILE]);
	id = index_find(&places->index, hash, place_equal, places->all.data,
			place);


	if (id == PROFILE_NONE) {
		id = (uint32_t)places->all.count;
		if (!vec_push(&places->all, *place) ||
		    !index_add(&places->index, hash, id))
			return error_no_memory();
	}
	*ret = id;
	return NULL;
}

/* As perf compares DSOs in a table: two files of one short name are one. */
static struct error *find_namesakes(struct location_builder *b)
{
	const struct profile *profile = b->profile;
	struct map first = {};
	struct error *error = NULL;

	b->namesakes = calloc(profile->dsos.count + 1, sizeof(*b->namesakes));
	if (!b->namesakes)
		return error_no_memory();
	for (size_t i = 0; i < profile->dsos.count; i++) {
		uint64_t *namesake = map_insert(
			&first, profile->dsos.data[i].short_name, i, NULL);

		if (!namesake) {
			error = error_no_memory();
			break;
		}
		b->namesakes[i] = (uint32_t)*namesake;
	}
	map_deinit(&first);
	return error;
}

static uint32_t place_dso(const struct location_builder *b,
			  const struct profile_frame *frame)
{
	return frame->dso == PROFILE_NONE ? PROFILE_NONE
					  : b->namesakes[frame->dso];
}

static struct place place_of_address(const struct location_builder *b,
				     const struct profile_frame *frame,
				     bool raw)
{
	return (struct place){
		.dso = place_dso(b, frame),
		.kind = PLACE_ADDRESS,
		.start = raw ? frame->address : frame->rel,
		.end = frame->rel,
	};
}

/*
 * Python code objects of one name may be many (a function defined in a loop, a
 * code object with very many lines): they are one function to its reader.
 */
static struct place place_of_function(const struct location_builder *b,
				      const struct profile_frame *frame,
				      bool raw)
{
	const struct profile_symbol *symbol =
		profile_symbol(b->profile, frame->symbol);
	bool by_name = frame->kind == PROFILE_FRAME_PYTHON ||
		       frame->kind == PROFILE_FRAME_MARKER ||
		       (frame->flags & PROFILE_FRAME_INLINED);

	if (!symbol)
		return place_of_address(b, frame, raw);
	if (b->options->compares)
		return (struct place){ .dso = place_dso(b, frame),
				       .kind = PLACE_NAME,
				       .start = symbol->name,
				       .end = symbol->line };
	return (struct place){
		.dso = place_dso(b, frame),
		.kind = by_name ? PLACE_NAME : PLACE_SPAN,
		.start = by_name ? symbol->name : symbol->start,
		.end = by_name ? 0 : symbol->end,
	};
}

static struct place line_place(const struct location_builder *b,
				const struct profile_frame *frame)
{
	bool raw = b->options->memory_addresses;
	struct place place;

	if (b->options->chain_key == CHAIN_KEY_ADDRESS)
		return place_of_address(b, frame, raw);
	place = place_of_function(b, frame, raw);
	if (b->options->chain_key == CHAIN_KEY_SRCLINE && frame->line) {
		place.file = frame->file;
		place.line = frame->line;
	}
	return place;
}

/* The number of b->text, from 1: 0 is no text. */
static struct error *intern_text(struct location_builder *b, uint32_t *ret)
{
	struct error *error = strbuf_error(&b->text);
	uint32_t number = 0;

	if (!error)
		error = texts_intern(&b->out->texts, b->text.data, &number);
	if (!error)
		*ret = number + 1;
	return error;
}

/* perf compares the texts alone. */
static struct error *chain_place(struct location_builder *b,
				 const struct profile_frame *frame,
				 struct place *ret)
{
	const struct location_options *o = b->options;

	*ret = line_place(b, frame);
	if (o->chain_key != CHAIN_KEY_SRCLINE || !o->step_key)
		return NULL;
	strbuf_clear(&b->text);
	o->step_key(b->profile, frame, o->source_arg, &b->text);
	if (!b->text.len)
		return NULL;
	*ret = (struct place){ .dso = PROFILE_NONE, .kind = PLACE_LINE };
	return intern_text(b, &ret->source[SOURCE_LINE]);
}

static struct error *add_source(struct location_builder *b,
				const struct profile_frame *frame,
				enum source_kind kind, bool hit,
				struct place *place)
{
	const struct location_options *o = b->options;

	strbuf_clear(&b->text);
	o->source(b->profile, frame, kind, hit, o->source_arg, &b->text);
	return intern_text(b, &place->source[kind]);
}

static struct error *add_sources(struct location_builder *b,
				 const struct profile_frame *frame, bool hit,
				 struct place *place)
{
	unsigned int keys = b->options->entry_keys;
	struct error *error = NULL;

	if (keys & ENTRY_KEY_SRCLINE)
		error = add_source(b, frame, SOURCE_LINE, hit, place);
	if (!error && (keys & ENTRY_KEY_SRCFILE))
		error = add_source(b, frame, SOURCE_FILE, hit, place);
	return error;
}

/*
 * perf takes what was hit in user space by its address in the file, and what was
 * hit in a BPF program by its address in that.
 */
static uint64_t own_address(const struct profile_frame *frame, bool hit)
{
	if (!hit)
		return frame->address + 1;
	if (frame->kind != PROFILE_FRAME_KERNEL)
		return frame->rel | 1ull << 63;
	return frame->rel == frame->address ? frame->address + 1 : frame->rel;
}

/*
 * The number of an entry's place. perf takes each address for a place of its
 * own first; its text is that of the real function, which is here before those
 * inlined into it, if it is in a chain, and of the innermost one if it was hit.
 */
static struct error *intern_entry(struct location_builder *b,
				  const struct profile_frame *frame, bool hit,
				  struct place place, uint32_t *ret)
{
	size_t count = b->entries.all.count;
	bool by_address = b->options->sources_by_address &&
			  (b->options->entry_keys &
			   (ENTRY_KEY_SRCLINE | ENTRY_KEY_SRCFILE));
	struct error *error = NULL;

	if (by_address) {
		place.address = own_address(frame, hit);
		place.address_dso = place_dso(b, frame);
	} else {
		error = add_sources(b, frame, hit, &place);
	}
	if (!error)
		error = places_intern(&b->entries, &place, ret);
	if (!error && by_address &&
	    (b->entries.all.count > count ||
	     (hit && (frame->flags & PROFILE_FRAME_INLINED))))
		error = add_sources(b, frame, hit, &b->entries.all.data[*ret]);
	return error;
}

static struct place entry_place(const struct location_builder *b,
				const struct profile_frame *frame, bool raw)
{
	unsigned int keys = b->options->entry_keys;
	struct place place = {};

	if (keys & ENTRY_KEY_SYMBOL)
		return place_of_function(b, frame, raw);
	if (keys & ENTRY_KEY_DSO) {
		place.dso = place_dso(b, frame);
		place.kind = PLACE_DSO;
	}
	return place;
}

static bool location_equal(const void *column, uint32_t handle, const void *key)
{
	const struct location *a = (const struct location *)column + handle;
	const struct location *b = key;

	return a->chain == b->chain && a->entry == b->entry &&
	       a->self == b->self && a->hit == b->hit;
}

static struct error *location_intern(struct location_builder *b,
				     const struct location *location,
				     uint32_t *ret)
{
	uint64_t hash = hash_combine(
		hash_combine(location->chain, location->entry), location->self);
	uint32_t id = index_find(&b->locations, hash, location_equal,
				 b->out->all.data, location);

	if (id == PROFILE_NONE) {
		id = (uint32_t)b->out->all.count;
		if (!vec_push(&b->out->all, *location) ||
		    !index_add(&b->locations, hash, id))
			return error_no_memory();
	}
	*ret = id;
	return NULL;
}

/* The span of the first function that holds code of an inlined one's place. */
static struct span *span_of(struct location_builder *b, uint32_t entry)
{
	while (b->spans.count <= entry)
		if (!vec_push(&b->spans, (struct span){}))
			return NULL;
	return &b->spans.data[entry];
}

/*
 * As perf compares entries of inlined functions: equal names, in functions
 * that touch. The first one's span stands for the entry.
 */
static struct error *inlined_entry(struct location_builder *b,
				   const struct profile_frame *frame,
				   struct place place, uint32_t *ret)
{
	const struct profile_symbol *symbol =
		profile_symbol(b->profile, frame->symbol);

	for (place.end = 0;; place.end++) {
		size_t count = b->entries.all.count;
		struct error *error =
			intern_entry(b, frame, false, place, ret);
		struct span *span = error ? NULL : span_of(b, *ret);

		if (!span)
			return error ? error : error_no_memory();
		if (b->entries.all.count > count)
			*span = (struct span){ symbol->start, symbol->end };
		if (symbol->start <= span->end && symbol->end >= span->start)
			return NULL;
	}
}

static struct error *locate_entry(struct location_builder *b,
				  const struct profile_frame *frame,
				  uint32_t *ret)
{
	struct place entry =
		entry_place(b, frame, b->options->memory_addresses);

	if (b->options->inlined_by_container && entry.kind == PLACE_NAME &&
	    (frame->flags & PROFILE_FRAME_INLINED))
		return inlined_entry(b, frame, entry, ret);
	return intern_entry(b, frame, false, entry, ret);
}

/* What hits an inlined function hits, for perf, the one that holds it. */
static struct error *locate_hit(struct location_builder *b,
				const struct profile_frame *frame,
				struct location *location)
{
	bool real = b->options->inlined_hits_container &&
		    (frame->flags & PROFILE_FRAME_INLINED);
	struct place self;

	location->hit = real ? b->out->of_frame[frame->real] : PROFILE_NONE;
	self = entry_place(b, real ? profile_frame(b->profile, frame->real)
				   : frame,
			   false);
	return intern_entry(b, frame, true, self, &location->self);
}

static struct error *locate_frame(struct location_builder *b, uint32_t handle,
				  const struct profile_frame *frame,
				  uint32_t *ret)
{
	struct place chain;
	struct location location = {
		.frame = handle,
		.is_inlined = frame->flags & PROFILE_FRAME_INLINED,
	};
	struct error *error = chain_place(b, frame, &chain);

	if (!error)
		error = places_intern(&b->chains, &chain, &location.chain);
	if (!error)
		error = locate_entry(b, frame, &location.entry);
	if (!error)
		error = locate_hit(b, frame, &location);
	if (!error)
		error = location_intern(b, &location, ret);
	return error;
}

static struct error *locate_frames(struct location_builder *b)
{
	size_t count = b->profile->frames.count;

	b->out->of_frame = calloc(count + 1, sizeof(*b->out->of_frame));
	if (!b->out->of_frame)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct error *error = locate_frame(b, (uint32_t)i,
						   &b->profile->frames.data[i],
						   &b->out->of_frame[i]);

		if (error)
			return error;
	}
	return NULL;
}

struct ranked_place {
	struct place place;
	/* Of PLACE_LINE. */
	const char *text;
	uint32_t id;
};

/* Where in its DSO a place is. */
static uint64_t place_position(const struct place *place)
{
	return place->kind == PLACE_ADDRESS ? place->end : place->start;
}

static int compare_ranked(const void *left, const void *right)
{
	const struct place *a = &((const struct ranked_place *)left)->place;
	const struct place *b = &((const struct ranked_place *)right)->place;
	const char *x = ((const struct ranked_place *)left)->text;
	const char *y = ((const struct ranked_place *)right)->text;
	int order;

	if (x || y)
		return x && y ? strcmp(x, y) : !x - !y;
	/* No DSO (PROFILE_NONE + 1 is 0) comes first. */
	order = compare_u64((uint32_t)(a->dso + 1), (uint32_t)(b->dso + 1));
	if (!order)
		order = compare_u64(place_position(a), place_position(b));
	if (!order)
		order = compare_u64(a->start, b->start);
	if (!order)
		order = compare_u64(a->end, b->end);
	if (!order)
		order = compare_u64((uint64_t)a->file << 32 | a->line,
				    (uint64_t)b->file << 32 | b->line);
	return order ? order : compare_u64(a->kind, b->kind);
}

/* Renumbers location.chain by file and address. */
static struct error *rank_chain_places(struct location_builder *b)
{
	size_t count = b->chains.all.count;
	_cleanup_free_ struct ranked_place *ranked =
		calloc(count + 1, sizeof(*ranked));
	_cleanup_free_ uint32_t *rank = calloc(count + 1, sizeof(*rank));

	if (!ranked || !rank)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &b->chains.all.data[i];
		uint32_t text = place->source[SOURCE_LINE];

		ranked[i] = (struct ranked_place){
			*place, text ? b->out->texts.all.data[text - 1] : NULL,
			(uint32_t)i
		};
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++)
		rank[ranked[i].id] = (uint32_t)i;
	vec_for_each(location, &b->out->all)
		location->chain = rank[location->chain];
	return NULL;
}

struct ranked_name {
	/* NULL: none. */
	const char *name;
	struct location *location;
};

static int compare_names(const void *left, const void *right)
{
	const char *a = ((const struct ranked_name *)left)->name;
	const char *b = ((const struct ranked_name *)right)->name;

	if (!a || !b)
		return !b - !a;
	return strcmp(a, b);
}

static struct ranked_name named(const struct profile *profile,
				struct location *location)
{
	const struct profile_symbol *symbol = NULL;

	if (location->frame != PROFILE_NONE)
		symbol = profile_symbol(
			profile,
			profile_frame(profile, location->frame)->symbol);
	return (struct ranked_name){
		symbol ? profile_string(profile, symbol->name, NULL) : NULL,
		location
	};
}

/* Fills in location.name_rank. */
static struct error *rank_names(struct location_builder *b)
{
	size_t count = b->out->all.count;
	_cleanup_free_ struct ranked_name *ranked = NULL;
	bool any_inlined = false;
	uint32_t rank = 0;

	vec_for_each(location, &b->out->all)
		any_inlined |= location->is_inlined;
	if (!any_inlined)
		return NULL;
	ranked = calloc(count + 1, sizeof(*ranked));
	if (!ranked)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		ranked[i] = named(b->profile, &b->out->all.data[i]);
	qsort(ranked, count, sizeof(*ranked), compare_names);
	for (size_t i = 0; i < count; i++) {
		rank += i ? compare_names(&ranked[i - 1], &ranked[i]) != 0
			  : ranked[i].name != NULL;
		ranked[i].location->name_rank = rank;
	}
	return NULL;
}

struct step_key {
	uint32_t parent;
	uint32_t step;
};

static bool step_equal(const void *column, uint32_t handle, const void *key)
{
	const struct locations *locations = column;
	const struct step_key *k = key;

	return locations->parents.data[handle] == k->parent &&
	       locations->steps.data[handle] == k->step;
}

static struct error *push_step(struct location_builder *b, uint32_t parent,
			       uint32_t step, uint32_t *ret)
{
	struct step_key key = { parent, step };
	uint64_t hash = hash_combine(parent, step);
	uint32_t count = (uint32_t)b->out->parents.count;
	uint32_t id = PROFILE_NONE;

	/* As profile_stack_push() does. */
	if (parent + 1 != count)
		id = step_equal(b->out, parent + 1, &key)
			     ? parent + 1
			     : index_find(&b->stacks, hash, step_equal, b->out,
					  &key);
	if (id == PROFILE_NONE) {
		id = count;
		if (!vec_push(&b->out->parents, parent) ||
		    !vec_push(&b->out->steps, step) ||
		    (id != parent + 1 && !index_add(&b->stacks, hash, id)))
			return error_no_memory();
	}
	*ret = id;
	return NULL;
}

/* What a reduced stack is while it is not known whether Python follows. */
struct reduced {
	uint32_t folded;
	uint32_t plain;
	bool has_python;
	/* A function that ends the stack is in it. */
	bool is_cut;
	/* The location that all below it hit, or PROFILE_NONE: the leaf. */
	uint32_t hit;
};

/* What the thread does where it stands, as a system call is: it is no frame. */
static bool is_state(const struct location_builder *b,
		     const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(b->profile, frame->symbol);

	return frame->kind == PROFILE_FRAME_MARKER && symbol &&
	       spent_is_state(spent_kind_of_function(
		       profile_string(b->profile, symbol->name, ""), false));
}

/* Below a Python frame, and above one. */
static bool gives_way(const struct location_builder *b,
		      const struct profile_frame *frame)
{
	return b->options->python_only &&
	       (frame->kind == PROFILE_FRAME_NATIVE ||
		frame->kind == PROFILE_FRAME_KERNEL || is_state(b, frame));
}

static bool is_shown(const struct location_builder *b,
		     const struct profile_frame *frame)
{
	if (gives_way(b, frame))
		return false;
	return b->options->interpreter_frames ||
	       !(frame->flags & PROFILE_FRAME_INTERPRETER);
}

static bool is_hidden(const struct location_builder *b,
		      const struct profile_frame *frame)
{
	return b->options->hide_unresolved && frame->symbol == PROFILE_NONE;
}

static bool cuts_below(const struct location_builder *b,
		       const struct profile_frame *frame)
{
	return b->options->cut_below && frame->symbol != PROFILE_NONE &&
	       !(frame->flags &
		 (PROFILE_FRAME_INLINED | PROFILE_FRAME_UNWOUND)) &&
	       b->options->cut_below[frame->symbol];
}

/* A step of a chain whose samples hit what is at another location. */
static struct error *hit_elsewhere(struct location_builder *b, uint32_t step,
				   uint32_t hit, uint32_t *ret)
{
	const struct location *h = &b->out->all.data[hit];
	struct location location = b->out->all.data[step];

	location.self = h->self;
	location.hit = h->hit == PROFILE_NONE ? hit : h->hit;
	return location_intern(b, &location, ret);
}

static bool ends_elsewhere(const struct profile_frame *frame,
			   const struct reduced *reduced)
{
	return (frame->flags & PROFILE_FRAME_HIT_ONLY) &&
	       reduced->plain != PROFILE_NONE;
}

/*
 * What was hit is not in the chain: its last step says so, unless all of them
 * hit something else anyway.
 */
static struct error *end_elsewhere(struct location_builder *b,
				   struct reduced *reduced, uint32_t hit)
{
	struct locations *out = b->out;
	uint32_t last = reduced->plain, step = 0;
	struct error *error;

	if (reduced->hit != PROFILE_NONE)
		return NULL;
	error = hit_elsewhere(b, out->steps.data[last], hit, &step);
	if (!error)
		error = push_step(b, out->parents.data[last], step,
				  &reduced->plain);
	reduced->folded = reduced->plain;
	return error;
}

static void cut_stack(const struct location_builder *b,
		      struct reduced *reduced, uint32_t step)
{
	if (!b->options->cut_above) {
		reduced->is_cut = true;
		return;
	}
	reduced->folded = reduced->plain = PROFILE_NONE;
	reduced->hit = step;
}

static struct error *reduce_stack(struct location_builder *b,
				  struct reduced *all, uint32_t stack)
{
	const struct profile *profile = b->profile;
	uint32_t parent = profile->stack_parents.data[stack];
	uint32_t handle = profile->stack_frames.data[stack];
	const struct profile_frame *frame = profile_frame(profile, handle);
	uint32_t step = b->out->of_frame[handle];
	struct reduced reduced = { PROFILE_NONE, PROFILE_NONE, false, false,
				   PROFILE_NONE };
	bool shown = is_shown(b, frame);
	struct error *error = NULL;
	bool same;

	if (parent != PROFILE_NONE)
		reduced = all[parent];
	if (reduced.has_python && gives_way(b, frame)) {
		all[stack] = reduced;
		return NULL;
	}
	if (reduced.is_cut || is_hidden(b, frame) ||
	    ends_elsewhere(frame, &reduced)) {
		if (ends_elsewhere(frame, &reduced))
			error = end_elsewhere(b, &reduced, step);
		all[stack] = reduced;
		return error;
	}
	if (cuts_below(b, frame))
		cut_stack(b, &reduced, step);
	else if (reduced.hit != PROFILE_NONE)
		error = hit_elsewhere(b, step, reduced.hit, &step);
	if (error)
		return error;
	if (frame->kind == PROFILE_FRAME_PYTHON)
		reduced.has_python = true;
	same = shown && reduced.folded == reduced.plain;
	if (shown)
		error = push_step(b, reduced.folded, step, &reduced.folded);
	/* With a Python frame in it, the stack is never shown unfolded. */
	if (same)
		reduced.plain = reduced.folded;
	else if (!error && !reduced.has_python)
		error = push_step(b, reduced.plain, step, &reduced.plain);
	all[stack] = reduced;
	return error;
}

static struct error *reduce_stacks(struct location_builder *b)
{
	size_t count = b->profile->stack_parents.count;
	_cleanup_free_ struct reduced *all = calloc(count + 1, sizeof(*all));
	struct locations *out = b->out;

	out->of_stack = calloc(count + 1, sizeof(*out->of_stack));
	if (!all || !out->of_stack || !vec_reserve(&out->parents, count) ||
	    !vec_reserve(&out->steps, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct error *error = reduce_stack(b, all, (uint32_t)i);

		if (error)
			return error;
		out->of_stack[i] = all[i].has_python ? all[i].folded
						     : all[i].plain;
	}
	return NULL;
}

/* A sample of which not even the address is known needs a place, too. */
static struct error *reduce_nothing(struct location_builder *b)
{
	const struct profile_frame unknown = {
		.symbol = PROFILE_NONE,
		.dso = PROFILE_NONE,
		.file = PROFILE_NONE,
		.kind = PROFILE_FRAME_NATIVE,
	};
	size_t count = b->profile->stack_parents.count;
	uint32_t step = 0, nothing = 0;
	struct error *error = locate_frame(b, PROFILE_NONE, &unknown, &step);

	if (!error)
		error = push_step(b, PROFILE_NONE, step, &nothing);
	if (error)
		return error;
	for (size_t i = 0; i <= count; i++)
		if (i == count || b->out->of_stack[i] == PROFILE_NONE)
			b->out->of_stack[i] = nothing;
	return NULL;
}

/* Hands out the texts of places. */
static struct error *name_sources(struct location_builder *b)
{
	struct locations *out = b->out;
	size_t count = b->entries.all.count;

	if (!(b->options->entry_keys &
	      (ENTRY_KEY_SRCLINE | ENTRY_KEY_SRCFILE)))
		return NULL;
	out->sources = calloc(count + 1, sizeof(*out->sources));
	if (!out->sources)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &b->entries.all.data[i];

		for (int kind = 0; kind < SOURCE_KINDS; kind++)
			if (place->source[kind])
				out->sources[i][kind] =
					out->texts.all
						.data[place->source[kind] - 1];
	}
	return NULL;
}

/* Places that differ by their addresses alone are one in the end. */
static struct error *group_places(struct location_builder *b)
{
	size_t count = b->entries.all.count;
	struct places groups = {};
	struct error *error = NULL;

	if (!b->options->sources_by_address || !b->out->sources)
		return NULL;
	b->out->groups = calloc(count + 1, sizeof(*b->out->groups));
	if (!b->out->groups)
		return error_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		struct place place = b->entries.all.data[i];

		place.address = place.address_dso = 0;
		error = places_intern(&groups, &place, &b->out->groups[i]);
	}
	vec_deinit(&groups.all);
	index_deinit(&groups.index);
	return error;
}

static struct error *locations_fill(struct location_builder *b)
{
	struct error *error = find_namesakes(b);

	if (!error)
		error = locate_frames(b);
	if (!error)
		error = reduce_stacks(b);
	if (!error)
		error = reduce_nothing(b);
	if (!error)
		error = rank_chain_places(b);
	if (!error)
		error = rank_names(b);
	if (!error)
		error = name_sources(b);
	if (!error)
		error = group_places(b);
	b->out->entry_count = (uint32_t)b->entries.all.count;
	return error;
}

struct error *locations_create(const struct profile *profile,
			       const struct location_options *options,
			       struct locations **ret)
{
	struct locations *locations = calloc(1, sizeof(*locations));
	struct location_builder b = { .profile = profile,
				      .options = options,
				      .out = locations,
				      .text = STRBUF_INIT };
	struct error *error;

	if (!locations)
		return error_no_memory();
	error = locations_fill(&b);
	free(b.namesakes);
	vec_deinit(&b.chains.all);
	index_deinit(&b.chains.index);
	vec_deinit(&b.entries.all);
	vec_deinit(&b.spans);
	strbuf_deinit(&b.text);
	index_deinit(&b.entries.index);
	index_deinit(&b.locations);
	index_deinit(&b.stacks);
	if (error) {
		locations_destroy(locations);
		return error;
	}
	*ret = locations;
	return NULL;
}

void locations_destroy(struct locations *locations)
{
	if (!locations)
		return;
	texts_deinit(&locations->texts);
	free(locations->sources);
	free(locations->groups);
	vec_deinit(&locations->all);
	vec_deinit(&locations->parents);
	vec_deinit(&locations->steps);
	free(locations->of_frame);
	free(locations->of_stack);
	free(locations);
}

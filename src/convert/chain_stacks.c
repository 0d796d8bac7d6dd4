// SPDX-License-Identifier: GPL-2.0-only
#include "convert/chain_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/name_match.h"
#include "convert/fold.h"
#include "module/stack_switch.h"
#include "perfdata/kaa_stream.h"
#include "profile/symbol_word.h"

struct stack_slot {
	uint64_t hash;
	/* A copy of the chain's words. */
	const uint64_t *words;
	struct convert_stack *stack;
	uint64_t space;
	uint32_t pid;
	uint32_t count;
	uint8_t style;
	uint8_t mode;
};

void stacks_deinit(struct stacks *stacks)
{
	free(stacks->slots);
	arena_deinit(&stacks->arena);
	vec_deinit(&stacks->steps);
}

void stacks_trim(struct stacks *stacks, size_t limit)
{
	size_t held = stacks->arena.held +
		      stacks->capacity * sizeof(*stacks->slots) +
		      names_memory(stacks->names);

	if (held <= limit)
		return;
	free(stacks->slots);
	stacks->slots = NULL;
	stacks->last = NULL;
	stacks->count = stacks->capacity = 0;
	arena_deinit(&stacks->arena);
	names_clear(stacks->names);
}

/* --- Resolving ---------------------------------------------------------- */

/* A stack while it is made. */
struct making {
	struct stacks *stacks;
	const struct place *place;
	const struct chain *chain;
	enum address_mode mode;
	/* The chain has a kernel part. */
	bool in_kernel;
	/* No address of the user part has been seen yet. */
	bool user_begins;
	/* One of the user part was in a known mapping. */
	bool in_maps;
	/* A function where threads begin was seen. */
	bool reached_start;
	/*
	 * Of the chain's addresses, or those of the part in work: those seen,
	 * and which are steps, [from, to).
	 */
	uint32_t addresses;
	uint32_t from;
	uint32_t to;
	/* enum profile_frame_flags of the steps to come. */
	uint8_t step_flags;
	uint16_t flags;
	uint32_t unresolved;
	uint64_t valid_from;
	uint64_t valid_to;
	uint32_t ranges;
};

/* Functions that stand at the outer end of stacks. */
static bool is_start(const char *name)
{
	static const char *const names[] = {
		"_start",	"main",		"__libc_start_main",
		"__libc_start_call_main",	"start_thread",
		"clone",	"__clone",	"clone3",
		"__clone3",	"__libc_start_main_impl",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void note_marker(struct making *m, uint64_t address)
{
	if (address == KAA_MARKER_TRUNCATED)
		m->flags |= PROFILE_SAMPLE_TRUNCATED;
	else if (address == KAA_MARKER_UNREADABLE)
		m->flags |= PROFILE_SAMPLE_UNREADABLE_PYTHON;
	else if (address == KAA_MARKER_NOT_ALIGNED)
		m->flags |= PROFILE_SAMPLE_NOT_ALIGNED;
	else if (address == KAA_MARKER_MISSING_NATIVE)
		m->flags |= PROFILE_SAMPLE_MISSING_NATIVE;
}

static struct error *push(struct making *m, struct convert_frame *frame)
{
	struct convert_step step = { .frame = frame,
				     .kind = frame->kind,
				     .flags = m->step_flags };

	if (frame->is_inlined)
		step.flags |= PROFILE_FRAME_INLINED;
	if (frame->valid_from > m->valid_from)
		m->valid_from = frame->valid_from;
	if (frame->valid_to < m->valid_to)
		m->valid_to = frame->valid_to;
	if (frame->ranges)
		m->ranges = frame->ranges;
	m->unresolved += !frame->name;
	if (frame->kind == PROFILE_FRAME_MARKER)
		note_marker(m, frame->address);
	return vec_push(&m->stacks->steps, step) ? NULL : error_no_memory();
}

/* With this a greenlet's stack begins; what follows is of others. */
static bool begins_greenlet(const char *name)
{
	return name_begins_with(name,
				"greenlet::UserGreenlet::inner_bootstrap(") ||
	       name_begins_with(name, STACK_SWITCH_ROOT);
}

/*
 * True if a user frame ends the stack: with frame pointers what follows _start,
 * or the first function of a greenlet, and what lies in no mapping, was never a
 * return address. *keep says whether the frame itself is one.
 */
static bool ends_stack(struct making *m, const struct convert_frame *frame,
		       bool first, bool *keep)
{
	*keep = true;
	if (m->stacks->options->quirks.chains_beyond_start ||
	    m->chain->style != CHAIN_RECORDED)
		return false;
	if (!frame->dso) {
		*keep = first || !m->in_maps;
		return !*keep;
	}
	m->in_maps = true;
	if (!frame->name || frame->kind != PROFILE_FRAME_NATIVE)
		return false;
	m->reached_start |= is_start(frame->name);
	return !strcmp(frame->name, "_start") || begins_greenlet(frame->name);
}

/*
 * In the middle of an exec the kernel already has the new program's maps, and
 * the user part is still the old one's. Nowhere else is a process in the
 * kernel whose own code is gone.
 */
static void check_exec(struct making *m, uint64_t address)
{
	if (m->mode == ADDRESS_USER && m->user_begins && m->in_kernel &&
	    names_before_exec(m->place, address))
		m->mode = ADDRESS_BEFORE_EXEC;
}

static bool is_caller(const struct making *m, bool first)
{
	return !first && !m->stacks->options->quirks.return_addresses &&
	       (m->mode == ADDRESS_KERNEL || m->chain->style == CHAIN_RECORDED);
}

/* *end: nothing that follows in the chain belongs to the stack. */
static struct error *add_address(struct making *m, uint64_t address, bool leaf,
				 bool *end)
{
	bool first = leaf || (m->mode == ADDRESS_USER && m->user_begins);
	struct convert_frame *frame;
	struct error *error;
	bool keep = true;

	check_exec(m, address);
	error = names_frame(m->stacks->names, m->place, address, m->mode,
			    is_caller(m, first), &frame);
	if (error)
		return error;
	if (m->mode == ADDRESS_USER || m->mode == ADDRESS_BEFORE_EXEC) {
		m->user_begins = false;
		*end = ends_stack(m, frame->real ? frame->real : frame, first,
				  &keep);
		if (!keep) {
			if (!m->reached_start)
				m->flags |= PROFILE_SAMPLE_TRUNCATED;
			return NULL;
		}
	}
	m->in_kernel |= m->mode == ADDRESS_KERNEL;
	for (error = NULL; frame && !error; frame = frame->outer)
		error = push(m, frame);
	return error;
}

/* The first address of a chain that is shown without it. */
static struct error *add_hit(struct making *m, uint64_t address)
{
	struct convert_frame *frame;
	struct error *error;

	check_exec(m, address);
	error = names_frame(m->stacks->names, m->place, address, m->mode, false,
			    &frame);
	if (error)
		return error;
	error = push(m, frame->real ? frame->real : frame);
	if (!error)
		vec_last(&m->stacks->steps)->flags = PROFILE_FRAME_HIT_ONLY;
	return error;
}

/* --max-stack is of the part that was recorded, and of the unwound one. */
static bool counts_anew(const struct making *m)
{
	return m->stacks->options->quirks.max_stack_of_each_part &&
	       m->chain->style != CHAIN_RECORDED;
}

/* Addresses up to the part that --max-stack counts anew. */
static uint32_t addresses_of_part(const struct making *m)
{
	const struct chain *chain = m->chain;
	uint32_t count = 0;

	for (size_t i = 0; i < chain->count; i++) {
		if (counts_anew(m) &&
		    chain->words[i] == (uint64_t)PERF_CONTEXT_USER)
			break;
		count += chain->words[i] < PERFDATA_CONTEXT_MAX;
	}
	return count;
}

static void set_limit(struct making *m)
{
	const struct convert_options *options = m->stacks->options;
	uint32_t count;

	m->to = options->max_stack ? options->max_stack : UINT32_MAX;
	if (!options->max_stack_outermost)
		return;
	count = addresses_of_part(m);
	m->from = count > m->to ? count - m->to : 0;
	m->to = count;
}

/* perf's unwinder counts what it finds, from the leaf. */
static void begin_unwound(struct making *m)
{
	const struct convert_options *options = m->stacks->options;

	if (m->chain->style == CHAIN_RECORDED)
		return;
	if (options->quirks.unwound_unmatched)
		m->step_flags = PROFILE_FRAME_UNWOUND;
	if (!options->max_stack || !counts_anew(m))
		return;
	m->addresses = m->from = 0;
	m->to = options->max_stack;
}

/* False: no such context. */
static bool set_context(struct making *m, uint64_t context)
{
	switch (context) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		m->mode = ADDRESS_KERNEL;
		return true;
	case (uint64_t)PERF_CONTEXT_USER:
	case PERFDATA_CONTEXT_USER_DEFERRED:
		begin_unwound(m);
		m->mode = ADDRESS_USER;
		m->user_begins = true;
		return true;
	case (uint64_t)PERF_CONTEXT_HV:
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		m->mode = ADDRESS_OTHER;
		return true;
	default:
		return false;
	}
}

/* perf's add_callchain_ip() discards such a chain: all that is left is where the event hit. */
static void end_damaged(struct making *m)
{
	m->stacks->broken++;
	m->flags |= PROFILE_SAMPLE_DAMAGED;
	if (m->stacks->options->quirks.damaged_chains_dropped &&
	    m->stacks->steps.count > 1)
		m->stacks->steps.count = 1;
}

static struct error *add_word(struct making *m, uint64_t address, bool *end)
{
	uint32_t at = m->addresses++;

	if (at >= m->from && at < m->to)
		return add_address(m, address, !m->stacks->steps.count, end);
	return !at && m->from ? add_hit(m, address) : NULL;
}

static struct error *add_words(struct making *m)
{
	const struct chain *chain = m->chain;
	struct error *error;
	bool end = false, ended = false;

	set_limit(m);
	names_expect(m->stacks->names, m->place, chain->words, chain->count);
	for (size_t i = 0; i < chain->count; i++) {
		uint64_t word = chain->words[i];

		/* Python frames that have no place among the native ones stand last. */
		if (ended && !kaa_in_range(word))
			continue;
		if (word < PERFDATA_CONTEXT_MAX) {
			error = add_word(m, word, &end);
			if (error)
				return error;
			ended |= end;
			continue;
		}
		if (!set_context(m, word)) {
			end_damaged(m);
			break;
		}
		/* A cookie follows: the chain comes in a record of its own. */
		if (word == PERFDATA_CONTEXT_USER_DEFERRED)
			i++;
	}
	return NULL;
}

static bool has_user_step(const struct stacks *stacks)
{
	vec_for_each(step, &stacks->steps)
		if (step->kind != PROFILE_FRAME_KERNEL)
			return true;
	return false;
}

static struct error *add_truncation(struct making *m)
{
	bool end = false;

	if (m->chain->style != CHAIN_UNWOUND_INCOMPLETE ||
	    m->stacks->options->quirks.truncation_unmarked)
		return NULL;
	m->mode = ADDRESS_USER;
	return add_address(m, KAA_MARKER_TRUNCATED, false, &end);
}

static struct error *find_task(struct stacks *stacks, const char **ret)
{
	const struct convert_frame *frame =
		stacks->steps.count ? vec_last(&stacks->steps)->frame : NULL;
	const char *name;
	size_t length;

	if (!frame || !frame->name ||
	    !task_symbol_parse(frame->name, &name, &length) || !name)
		return NULL;
	*ret = arena_strndup(&stacks->arena, name, length);
	return *ret ? NULL : error_no_memory();
}

static struct error *make_stack(struct stacks *stacks,
				const struct place *place,
				const struct chain *chain,
				struct convert_stack **ret)
{
	struct making m = { .stacks = stacks,
			    .place = place,
			    .chain = chain,
			    .mode = chain->mode,
			    .user_begins = true,
			    .valid_to = UINT64_MAX };
	struct convert_stack *stack;
	const char *task = NULL;
	struct error *error;
	size_t size;

	vec_clear(&stacks->steps);
	error = add_words(&m);
	if (!error)
		error = add_truncation(&m);
	if (!error)
		error = find_task(stacks, &task);
	if (error)
		return error;
	if (!has_user_step(stacks))
		m.flags |= PROFILE_SAMPLE_NO_USER_STACK;
	if (stacks->steps.count)
		fold_steps(stacks->steps.data, stacks->steps.count);
	size = stacks->steps.count * sizeof(*stacks->steps.data);
	stack = arena_alloc(&stacks->arena, sizeof(*stack) + size);
	if (!stack)
		return error_no_memory();
	*stack = (struct convert_stack){ .count = (uint32_t)stacks->steps.count,
					 .flags = m.flags,
					 .user = PROFILE_NONE,
					 .unresolved = m.unresolved,
					 .valid_from = m.valid_from,
					 .valid_to = m.valid_to,
					 .ranges = m.ranges,
					 .task = task };
	if (size)
		memcpy(stack->steps, stacks->steps.data, size);
	stacks->last = stack;
	*ret = stack;
	return NULL;
}

/* --- The table ---------------------------------------------------------- */

static uint64_t hash_chain(const struct place *place, const struct chain *chain)
{
	uint64_t h = place->space ^ ((uint64_t)place->pid << 32) ^
		     ((uint64_t)chain->style << 8) ^ chain->mode;

	for (size_t i = 0; i < chain->count; i++) {
		h = (h ^ chain->words[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return hash_combine(h, chain->count);
}

static bool same_chain(const struct stack_slot *slot, uint64_t hash,
		       const struct place *place, const struct chain *chain)
{
	return slot->hash == hash && slot->count == chain->count &&
	       slot->space == place->space && slot->pid == place->pid &&
	       slot->style == chain->style && slot->mode == chain->mode &&
	       !memcmp(slot->words, chain->words,
		       chain->count * sizeof(*chain->words));
}

static bool grow(struct stacks *stacks)
{
	size_t capacity = stacks->capacity ? stacks->capacity * 2 : 1024;
	struct stack_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < stacks->capacity; i++) {
		size_t at = stacks->slots[i].hash & (capacity - 1);

		if (!stacks->slots[i].stack)
			continue;
		while (slots[at].stack)
			at = (at + 1) & (capacity - 1);
		slots[at] = stacks->slots[i];
	}
	free(stacks->slots);
	stacks->slots = slots;
	stacks->capacity = capacity;
	return true;
}

/* The chain's slot, or the free one where it goes; NULL without memory. */
static struct stack_slot *find_slot(struct stacks *stacks, uint64_t hash,
				    const struct place *place,
				    const struct chain *chain)
{
	size_t at;

	if (stacks->count >= stacks->capacity / 2 && !grow(stacks))
		return NULL;
	at = hash & (stacks->capacity - 1);
	while (stacks->slots[at].stack &&
	       !same_chain(&stacks->slots[at], hash, place, chain))
		at = (at + 1) & (stacks->capacity - 1);
	return &stacks->slots[at];
}

static struct error *fill_slot(struct stacks *stacks, struct stack_slot *slot,
			       uint64_t hash, const struct place *place,
			       const struct chain *chain)
{
	size_t size = chain->count * sizeof(*chain->words);
	uint64_t *words = arena_alloc(&stacks->arena, size + 1);
	struct convert_stack *stack = NULL;
	struct error *error;

	if (!words)
		return error_no_memory();
	if (size)
		memcpy(words, chain->words, size);
	error = make_stack(stacks, place, chain, &stack);
	if (error)
		return error;
	if (!slot->stack)
		stacks->count++;
	*slot = (struct stack_slot){
		.hash = hash,
		.words = words,
		.stack = stack,
		.space = place->space,
		.pid = place->pid,
		.count = (uint32_t)chain->count,
		.style = (uint8_t)chain->style,
		.mode = (uint8_t)chain->mode,
	};
	return NULL;
}

/* Who has set `user` knows the stack by that: the steps are not needed again. */
static void give_steps_back(struct stacks *stacks)
{
	const struct convert_stack *last = stacks->last;

	stacks->last = NULL;
	if (last && last->user != PROFILE_NONE)
		arena_shrink(&stacks->arena, last,
			     sizeof(*last) + last->count * sizeof(*last->steps),
			     sizeof(*last));
}

struct error *stacks_get(struct stacks *stacks, const struct place *place,
			 const struct chain *chain, struct convert_stack **ret)
{
	uint64_t hash = hash_chain(place, chain);
	struct stack_slot *slot = find_slot(stacks, hash, place, chain);
	struct error *error;

	give_steps_back(stacks);
	if (!slot)
		return error_no_memory();
	if (!slot->stack ||
	    !names_hold(stacks->names, slot->stack->ranges,
			slot->stack->valid_from, slot->stack->valid_to,
			place->time)) {
		error = fill_slot(stacks, slot, hash, place, chain);
		if (error)
			return error;
	}
	*ret = slot->stack;
	return NULL;
}

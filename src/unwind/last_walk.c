// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/last_walk.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a frame that was found by its callee's CFI. */
#define CALLER_MASK \
	(UNWIND_PRESERVED_MASK | 1u << UNWIND_RSP | 1u << UNWIND_RIP)

void unwind_trace_deinit(struct unwind_trace *trace)
{
	free(trace->frames);
	free(trace->links);
	*trace = (struct unwind_trace){};
}

void unwind_trace_clear(struct unwind_trace *trace)
{
	trace->count = 0;
	trace->space = 0;
}

static bool reserve(struct unwind_trace *trace, size_t n)
{
	size_t capacity = trace->capacity ? trace->capacity : 64;
	struct unwind_frame *frames;
	struct unwind_link *links;

	if (n <= trace->capacity - trace->count)
		return true;
	while (capacity < trace->count + n)
		capacity *= 2;
	frames = realloc(trace->frames, capacity * sizeof(*frames));
	if (!frames)
		return false;
	trace->frames = frames;
	links = realloc(trace->links, capacity * sizeof(*links));
	if (!links)
		return false;
	trace->links = links;
	trace->capacity = capacity;
	return true;
}

struct unwind_frame *unwind_trace_add(struct unwind_trace *trace,
				      const struct unwind_regs *regs)
{
	struct unwind_link *link;

	if (!reserve(trace, 1))
		return NULL;
	link = &trace->links[trace->count];
	for (size_t i = 0; i < UNWIND_PRESERVED; i++)
		link->preserved[i] = regs->value[unwind_preserved_regs[i]];
	link->known = regs->known;
	link->rule.depth = 0;
	return &trace->frames[trace->count++];
}

/* The words of a rule below the CFA, in the copy; NULL: not all are there. */
static inline const uint8_t *words_below(const struct unwind_copy *copy,
					 uint64_t cfa, size_t words)
{
	uint64_t offset = cfa - copy->start;

	if (offset > copy->bytes.size || offset < 8 * words)
		return NULL;
	return copy->bytes.data + offset - 8 * words;
}

void unwind_trace_link(struct unwind_trace *trace,
		       const struct unwind_copy *copy, uint64_t cfa,
		       const struct unwind_rule *rule)
{
	struct unwind_link *link = &trace->links[trace->count - 1];
	const uint8_t *words = words_below(copy, cfa, rule->depth);

	if (!words || rule->depth > UNWIND_LINK_WORDS)
		return;
	memcpy(link->words, words, 8 * rule->depth);
	link->rule = *rule;
}

/* Whether the frame had the same registers then. */
static bool has_regs(const struct unwind_link *link,
		     const struct unwind_regs *regs)
{
	uint64_t different = 0;

	if (link->known != regs->known)
		return false;
#pragma GCC unroll 6
	for (size_t i = 0; i < UNWIND_PRESERVED; i++) {
		unsigned int reg = unwind_preserved_regs[i];

		if (unwind_reg_known(regs, reg))
			different |= link->preserved[i] ^ regs->value[reg];
	}
	return !different;
}

static void get_regs(const struct unwind_frame *frame,
		     const struct unwind_link *link, struct unwind_regs *regs)
{
	for (size_t i = 0; i < UNWIND_PRESERVED; i++)
		regs->value[unwind_preserved_regs[i]] = link->preserved[i];
	regs->known = link->known;
	regs->value[UNWIND_RSP] = frame->sp;
	regs->value[UNWIND_RIP] = frame->ip;
}

/* One stretch of the last walk. */
struct follow {
	struct unwind_trace *next;
	const struct unwind_trace *last;
	const struct unwind_copy *copy;
	/* The frame at hand, and the first that is not in `next` yet. */
	size_t at;
	size_t copied;
	/* The registers in the frame at hand are what they were. */
	bool same;
	/* Else they are these. */
	struct unwind_regs *regs;
};

static void copy_until(struct follow *follow, size_t end)
{
	struct unwind_trace *next = follow->next;
	size_t n = end - follow->copied;

	memcpy(next->frames + next->count,
	       follow->last->frames + follow->copied, n * sizeof(*next->frames));
	memcpy(next->links + next->count, follow->last->links + follow->copied,
	       n * sizeof(*next->links));
	next->count += n;
	follow->copied = end;
}

/* Moves regs to the caller; `end` is where the words of the rule end. */
static void apply(const struct unwind_rule *rule, const uint8_t *end,
		  uint64_t cfa, uint64_t ip, struct unwind_regs *regs)
{
#pragma GCC unroll 6
	for (size_t i = 0; i < UNWIND_PRESERVED; i++) {
		unsigned int reg = unwind_preserved_regs[i];

		if (!rule->saved[i])
			continue;
		memcpy(&regs->value[reg], end + 8 * (ptrdiff_t)rule->saved[i],
		       sizeof(uint64_t));
		regs->known |= 1u << reg;
	}
	regs->value[UNWIND_RSP] = cfa;
	regs->value[UNWIND_RIP] = ip;
}

/*
 * The frame at hand has other registers, or other words, than it had. It has the
 * same caller if its CFA and its return address are the same.
 */
static bool follow_changed(struct follow *follow, const uint8_t *words)
{
	const struct unwind_frame *frame = &follow->last->frames[follow->at];
	const struct unwind_link *link = &follow->last->links[follow->at];
	const struct unwind_rule *rule = &link->rule;
	struct unwind_regs *regs = follow->regs;
	struct unwind_link *added;

	if (follow->same)
		get_regs(frame, link, regs);
	if (memcmp(words + 8 * (rule->depth - 1),
		   &link->words[rule->depth - 1], 8) ||
	    !unwind_reg_known(regs, rule->cfa_reg) ||
	    regs->value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset !=
		    frame->cfa)
		return false;
	copy_until(follow, follow->at + 1);
	added = &follow->next->links[follow->next->count - 1];
	for (size_t i = 0; i < UNWIND_PRESERVED; i++)
		added->preserved[i] = regs->value[unwind_preserved_regs[i]];
	added->known = regs->known;
	memcpy(added->words, words, 8 * rule->depth);
	apply(rule, words + 8 * rule->depth, frame->cfa, frame[1].ip, regs);
	follow->same = has_regs(link + 1, regs);
	return true;
}

static inline uint64_t changed_bits(const uint8_t *words, size_t i,
				    const struct unwind_link *link)
{
	uint64_t word;

	memcpy(&word, words + 8 * i, sizeof(word));
	return word ^ link->words[i];
}

static inline bool same_words(const uint8_t *words,
			      const struct unwind_link *link)
{
	uint64_t changed = 0;

	_Static_assert(UNWIND_LINK_WORDS == 8, "one case a word");
	switch (link->rule.depth) {
	case 8:
		changed |= changed_bits(words, 7, link);
		/* fallthrough */
	case 7:
		changed |= changed_bits(words, 6, link);
		/* fallthrough */
	case 6:
		changed |= changed_bits(words, 5, link);
		/* fallthrough */
	case 5:
		changed |= changed_bits(words, 4, link);
		/* fallthrough */
	case 4:
		changed |= changed_bits(words, 3, link);
		/* fallthrough */
	case 3:
		changed |= changed_bits(words, 2, link);
		/* fallthrough */
	case 2:
		changed |= changed_bits(words, 1, link);
		/* fallthrough */
	default:
		changed |= changed_bits(words, 0, link);
	}
	return !changed;
}

/*
 * How far the last walk goes on as it was, from a frame with the same registers:
 * up to the first frame that had other words, or was left in another way. Nothing
 * in this loop waits for memory that another part of it has to wait for.
 */
static size_t same_until(const struct unwind_trace *last, size_t at,
			 size_t end, const struct unwind_copy *copy)
{
	const struct unwind_link *links = last->links;
	const struct unwind_frame *frames = last->frames;

	for (; at < end && links[at].rule.depth; at++) {
		const uint8_t *words = words_below(copy, frames[at].cfa,
						   links[at].rule.depth);

		if (!words || !same_words(words, &links[at]))
			break;
	}
	return at;
}

/* Goes on to the caller of the frame at hand, if that is who it was. */
static bool follow_one(struct follow *follow)
{
	const struct unwind_link *link = &follow->last->links[follow->at];
	const uint8_t *words =
		words_below(follow->copy, follow->last->frames[follow->at].cfa,
			    link->rule.depth);

	return link->rule.depth && words && follow_changed(follow, words);
}

/*
 * Moves *at to the frame of the last walk that has this stack pointer; false if
 * that is another frame. Where more registers are known than a caller has,
 * rules may use these, too: such a frame is none to go on from.
 */
static bool find_frame(const struct unwind_trace *last, size_t *at,
		       const struct unwind_regs *regs)
{
	uint64_t sp = regs->value[UNWIND_RSP];
	size_t i = *at;

	while (i < last->count && last->frames[i].sp < sp)
		i++;
	*at = i;
	return i < last->count && last->frames[i].sp == sp &&
	       last->frames[i].ip == regs->value[UNWIND_RIP] &&
	       (last->frames[i].flags & UNWIND_FRAME_CALLER) &&
	       !((regs->known | last->links[i].known) & ~CALLER_MASK);
}

size_t unwind_trace_follow(struct unwind_trace *next,
			   const struct unwind_trace *last, size_t *at,
			   const struct unwind_copy *copy, size_t room,
			   struct unwind_regs *regs)
{
	struct follow follow = { .next = next,
				 .last = last,
				 .copy = copy,
				 .regs = regs };
	size_t first, end;

	if (!find_frame(last, at, regs))
		return 0;
	first = follow.at = follow.copied = *at;
	/* Who called the last frame is always looked at anew. */
	end = last->count - 1 - first < room ? last->count - 1 : first + room;
	if (!reserve(next, end - first))
		return 0;
	follow.same = has_regs(&last->links[first], regs);
	for (; follow.at < end; follow.at++) {
		if (follow.same)
			follow.at = same_until(last, follow.at, end, copy);
		if (follow.at == end || !follow_one(&follow))
			break;
	}
	copy_until(&follow, follow.at);
	if (follow.same)
		get_regs(&last->frames[follow.at], &last->links[follow.at],
			 regs);
	*at = follow.at;
	return follow.at - first;
}

bool unwind_trace_holds(const struct unwind_trace *trace, size_t i,
			uint64_t value)
{
	const struct unwind_link *link = &trace->links[i];

	for (size_t r = 0; r < UNWIND_PRESERVED; r++)
		if ((link->known >> unwind_preserved_regs[r] & 1) &&
		    link->preserved[r] == value)
			return true;
	return false;
}

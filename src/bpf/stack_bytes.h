/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a stack that lies beyond the kernel's copy, page by page, as BYTES
 * and MEMORY records (docs/deep-stacks.md).
 *
 * A page that is as it was when it was sent is only named, by a hash of what is
 * in it. What is not in memory cannot be read here and is left out.
 */
#ifndef KAA_BPF_STACK_BYTES_H
#define KAA_BPF_STACK_BYTES_H

#include "bpf/left_stack.h"

enum {
	/*
	 * The kernel copies so much if it is asked for that or more: a record
	 * holds 64 KiB, and the other fields of the sample, too.
	 */
	COPY_SURE = 65536 - 8192,
	COPY_PAGES = 65536 / WALKER_PAGE,
	/* Words of a page that are hashed together. */
	BLOCK_WORDS = 32,
	PAGE_BLOCKS = WALKER_PAGE / 8 / BLOCK_WORDS,
};

/* The records of one sample, while they are made. The kernel has one a CPU. */
struct stack_bytes {
	/* What the kernel copies goes at least up to here, and the stack to there. */
	__u64 copied;
	__u64 end;
	__u32 epoch;
	/* How many pages may still be sent. */
	__u32 room;
	struct walker_memory memory;
	struct walker_bytes page;
};

/* --- more of the shell --- */

/* As walk_here() is. */
static __always_inline struct stack_bytes *walk_stack_bytes(void);

/* Whether the page with that key was sent in that epoch; that it was. */
static __always_inline int walk_sent_page(__u64 key, __u32 epoch);
static __always_inline void walk_put_page(__u64 key, __u32 epoch);

/* --- pages --- */

/*
 * A sum of products, none of which waits for another. The upper half of a word
 * counts for the lower one, too: else what differs only there would be lost in the
 * carry of the product.
 */
static __always_inline __u64 block_sum(const walk_word *words)
{
	__u64 sum = 0;

	WALK_UNROLL
	for (int i = 0; i < BLOCK_WORDS; i++)
		sum += (words[i] ^ words[i] >> 32) * factor(i);
	return sum;
}

/* The key of the page that was read last. */
WALK_APART __u64 kaa_page_key(void)
{
	struct stack_bytes *b = walk_stack_bytes();
	const walk_word *words;
	__u64 hash;

	if (!b)
		return 0;
	words = (const walk_word *)b->page.bytes;
	/* One process cannot make a page that passes for another's. */
	hash = mix(0, b->page.header.pid);
	for (__u32 i = 0; i < PAGE_BLOCKS; i++)
		hash = mix(hash, block_sum(words + i * BLOCK_WORDS));
	return hash ? hash : 1;
}

/*
 * Its key, when it is sent; 0: it is not in memory, or it found no room. Then the
 * sample goes on without it, and its stack is cut there.
 */
static __always_inline __u64 take_page(void *ctx, struct stack_bytes *b,
				       __u64 address)
{
	__u64 key;

	if (walk_read(b->page.bytes, WALKER_PAGE, address))
		return 0;
	key = kaa_page_key();
	if (walk_sent_page(key, b->epoch))
		return key;
	if (!b->room)
		return 0;
	b->page.key = key;
	if (walk_emit(ctx, &b->page, sizeof(b->page))) {
		b->room = 0;
		return 0;
	}
	b->room--;
	walk_put_page(key, b->epoch);
	return key;
}

static long page_step(__u32 i, void *arg)
{
	void *ctx = *(void **)arg;
	struct stack_bytes *b = walk_stack_bytes();
	__u64 index = i, address;

	if (!b)
		return 1;
	address = b->memory.start + index * WALKER_PAGE;
	opaque(index);
	if (index >= WALKER_MAX_PAGES || address >= b->end)
		return 1;
	b->memory.keys[index] = take_page(ctx, b, address);
	b->memory.count = index + 1;
	return 0;
}

/* The kernel's copy ends at the first page that is not in memory. */
static long copy_step(__u32 i, void *arg)
{
	struct stack_bytes *b = walk_stack_bytes();
	__u64 word;

	(void)i;
	(void)arg;
	if (!b || b->memory.start + WALKER_PAGE > b->copied ||
	    walk_read(&word, sizeof(word), b->memory.start))
		return 1;
	b->memory.start += WALKER_PAGE;
	return 0;
}

/* --- a sample --- */

/* Whether there is more than the kernel copies, and not too much. */
static __always_inline int begin_pages(struct stack_bytes *b,
				       const struct walk *w, __u64 end,
				       const struct walker_setting *setting)
{
	b->end = end;
	b->copied = w->stack_pointer + (setting->stack_size < COPY_SURE ?
						setting->stack_size :
						COPY_SURE);
	b->epoch = setting->epoch;
	b->room = setting->new_pages;
	b->page.header.type = WALKER_BYTES;
	b->page.header.pid = w->pid;
	b->memory.header.type = WALKER_MEMORY;
	b->memory.header.pid = w->pid;
	b->memory.tid = w->number;
	b->memory.count = 0;
	b->memory.stack_pointer = w->stack_pointer;
	b->memory.start = w->stack_pointer & -(__u64)WALKER_PAGE;
	b->memory.left_size = 0;
	return setting->stack_size && end > b->copied &&
	       end - b->copied <= (WALKER_MAX_PAGES - 1) * WALKER_PAGE;
}

static __always_inline int put_memory(void *ctx, struct stack_bytes *b)
{
	__u64 size = b->memory.count;

	opaque(size);
	if (size > WALKER_MAX_PAGES)
		return 1;
	/* As in flush_chunk(). */
	size *= sizeof(b->memory.keys[0]);
	opaque(size);
	size += __builtin_offsetof(struct walker_memory, keys);
	return walk_emit(ctx, &b->memory, size) != 0;
}

/*
 * Writes what the thread's stack, which goes on to `end`, has beyond the kernel's
 * copy. end 0: nothing is known of it. Not 0: there is no room for the sample.
 */
static __noinline int put_stack_bytes(void *ctx, struct walk *w, __u64 end,
				      const struct walker_setting *setting)
{
	struct stack_bytes *b = walk_stack_bytes();
	int is_deep;

	if (!b)
		return 0;
	is_deep = begin_pages(b, w, end, setting);
	/* The samples of a tracepoint would take the last record for theirs. */
	if (!is_deep && w->has_memory != w->tid)
		return 0;
	if (is_deep) {
		walk_loop(COPY_PAGES, copy_step, &ctx);
		walk_loop(WALKER_MAX_PAGES, page_step, &ctx);
	}
	w->has_memory = is_deep ? w->tid : 0;
	return put_memory(ctx, b);
}

/*
 * Writes what a copy has of the stack that the thread leaves, as *left says; behind
 * put_stack_bytes(), whose thread it takes. Not 0: there is no room for the sample.
 */
static __noinline int put_left_stack(void *ctx, struct walk *w,
				     const struct left_stack *left)
{
	struct stack_bytes *b = walk_stack_bytes();

	if (!b || (!left->start && w->has_left != w->tid))
		return 0;
	b->memory.header.type = WALKER_LEFT;
	b->memory.count = 0;
	b->memory.start = left->copy & -(__u64)WALKER_PAGE;
	b->memory.left = left->start;
	b->memory.left_size = left->size;
	b->memory.left_copy = left->copy;
	b->end = left->copy + left->size;
	if (left->size)
		walk_loop(WALKER_MAX_PAGES, page_step, &ctx);
	w->has_left = left->start ? w->tid : 0;
	return put_memory(ctx, b);
}

#endif

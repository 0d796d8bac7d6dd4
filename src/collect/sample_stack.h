/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From one raw sample to one chain: unwinds the copied stack, names the Python
 * frames that the source has beside it, and merges both; or turns native frames
 * that stand for Python ones into these: a trampoline stands on the caller side
 * of the evaluation function that it called, where a Python frame belongs.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_SAMPLE_STACK_H
#define KAA_COLLECT_SAMPLE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/code_spans.h"
#include "collect/frame_addresses.h"
#include "collect/native_stack.h"
#include "collect/python_source.h"
#include "collect/python_stack.h"
#include "collect/stack_memory.h"
#include "collect/target.h"
#include "perfdata/record.h"
#include "python/merge.h"
#include "unwind/unwind.h"

struct stack_stats {
	uint64_t samples;
	uint64_t with_python;
	/* Native stacks that do not reach the start of the thread. */
	uint64_t truncated;
	/* Python stacks with frames that could not be read. */
	uint64_t unreadable;
	/* Of these: from before the first stack of their process. */
	uint64_t unnoticed;
	uint64_t not_aligned;
	/* Native frames are missing between others. */
	uint64_t missing_native;
	/* Of threads that begin or end, in the kernel: nothing of user space is there. */
	uint64_t without_user;
	/* Those of which one of these is true, but for unnoticed, which are unreadable. */
	uint64_t incomplete;
	/* Of user space, in processes that have no number in the recorder's PID namespace. */
	uint64_t outside;
};

struct stack_builder {
	struct code_table *codes;
	struct native_stack native;
	/* Those of Python frames that samples had. */
	struct frame_addresses addresses;
	/* As the merge wants them: native.frames, one by one. */
	VEC(struct merge_native) natives;
	/* No frame inside that one lacks CFI (stack_frame_lacks_cfi()). */
	size_t first_without_cfi;
	VEC(struct merge_python) pythons;
	struct merge_chain merged;
	/* The chain of the last sample: contexts, kernel, user; leaf first. */
	VEC(uint64_t) chain;
	/*
	 * CODE payloads to be written before the samples built since the owner
	 * last emptied it, each after its u32 size.
	 */
	struct strbuf payloads;
	struct stack_stats stats;
	/* Where the Python frames come from; NULL: nowhere. Borrowed. */
	struct source_state *source;
	/* Python frames of the last sample that native ones stood for. */
	size_t converted;
	/* Python frames of the last sample whose code objects are not known. */
	size_t unnamed;
	/* The marker of what the thread did, as the sample's source says; or 0. */
	uint64_t state;
	/* Bytes of stack that each sample asks for. */
	uint32_t stack_size;
};

struct error *stack_builder_init(struct stack_builder *builder,
				 struct code_table *codes, uint32_t stack_size);
void stack_builder_deinit(struct stack_builder *builder);

/*
 * Native frame i of the last sample may be code that no file has, such as a
 * trampoline: that has no CFI, so its caller was found by its bytes or by frame
 * pointer, or not at all. True of all frames that the kernel walked.
 */
bool stack_frame_lacks_cfi(const struct stack_builder *builder,
			   const struct record *sample, size_t i);

/*
 * Makes builder->chain and builder->payloads of a sample. python: what the
 * source's stack() gave for it, or NULL; memory: what its memory() gave, or NULL. At most
 * `room` entries; a longer chain is cut at its outermost end and marked.
 */
struct error *stack_build(struct stack_builder *builder, struct target *target,
			  const struct record *sample,
			  const struct python_stack *python,
			  const struct sample_memory *memory, size_t room);

#endif

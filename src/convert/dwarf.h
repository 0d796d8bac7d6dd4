/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds the raw stacks of samples with PERF_SAMPLE_REGS_USER and
 * PERF_SAMPLE_STACK_USER (`--call-graph dwarf`).
 */
#ifndef KAA_CONVERT_DWARF_H
#define KAA_CONVERT_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "convert/frame_names.h"
#include "convert/image.h"
#include "convert/jit.h"
#include "perfdata/reader.h"
#include "process/process.h"
#include "unwind/unwind.h"

/* Frames of one stack, at most. */
#define DWARF_MAX_FRAMES 65536

/* Zero-initialise; dwarf_init() before use. */
struct dwarf {
	struct unwinder *unwinder;
	struct images *images;
	struct jits *jits;
	/* Of trampolines; NULL: stacks end there. Set it after dwarf_init(). */
	struct names *names;
	struct unwind_frame *frames;
	/* Of the sample being unwound. */
	struct process *process;
	uint64_t time;
	/* For sets of maps that have no number. */
	uint64_t last_space;
	const struct record_sample *sample;
	struct unwind_stack stack;
};

typedef VEC(uint64_t) address_vec;

struct error *dwarf_init(struct dwarf *dwarf, struct images *images,
			 struct jits *jits);
void dwarf_deinit(struct dwarf *dwarf);

/* True if the sample carries what dwarf_unwind() needs. */
bool dwarf_has_stack(const struct record *record);

/*
 * Appends the frames of the sample's raw stack to addresses, leaf first:
 * callers as their return address minus one, as perf shows them. *complete
 * says whether the walk reached the start of the thread.
 */
struct error *dwarf_unwind(struct dwarf *dwarf, const struct record *record,
			   struct process *process, address_vec *addresses,
			   bool *complete);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw stacks to chains: samples of `--call-graph dwarf` become samples like those
 * of frame pointers, at a fraction of the size. Callers stand as perf shows
 * them after unwinding, one less than the return address.
 */
#ifndef KAA_INJECT_UNWOUND_H
#define KAA_INJECT_UNWOUND_H

#include <stdint.h>

#include "base/error.h"
#include "convert/dwarf.h"
#include "convert/frame_names.h"
#include "perfdata/events.h"
#include "perfdata/record.h"

/* Zero-initialise. */
struct unwound_chains {
	/* As in the output: without registers and stack. */
	struct events events;
	uint64_t unwound;
	uint64_t incomplete;
	/* Private. */
	struct dwarf dwarf;
	address_vec words;
};

/* Events of the output. */
struct error *unwound_init(struct unwound_chains *chains, const struct events *events,
			  struct names *names);
void unwound_deinit(struct unwound_chains *chains);

/*
 * Fills *ret with the sample as it is to be written; it borrows from record and
 * from chains, until the next call.
 */
struct error *unwound_convert(struct unwound_chains *chains, const struct record *record,
			     struct process *process, struct record *ret);

#endif

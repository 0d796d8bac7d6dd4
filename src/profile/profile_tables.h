/* SPDX-License-Identifier: GPL-2.0-only */
/* The hash tables and string memory of a profile: for who fills or cuts it. */
#ifndef KAA_PROFILE_PROFILE_TABLES_H
#define KAA_PROFILE_PROFILE_TABLES_H

#include <stdint.h>

#include "base/arena.h"
#include "profile/index.h"

struct profile_tables {
	struct arena memory;
	struct index strings;
	struct index dsos;
	struct index symbols;
	struct index frames;
	struct index stacks;
	struct index tasks;
	/* Only filled with profile_options.aggregate or slice_ns. */
	struct index rows;
	/* The slice that these rows are of. */
	uint64_t slice;
};

/* Of a stack in the table of stacks. */
uint64_t profile_stack_hash(uint32_t parent, uint32_t frame);

#endif

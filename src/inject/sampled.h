/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code of jitdumps a recording's samples may stand for: what is at any of
 * their addresses, of registers and raw stacks too.
 */
#ifndef KAA_INJECT_SAMPLED_H
#define KAA_INJECT_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "convert/jit.h"
#include "perfdata/record.h"

struct sampled_dump {
	struct jit_dump *dump;
	/* One for each of its codes. */
	bool *wanted;
};

/* Zero-initialise. */
struct sampled {
	VEC(struct sampled_dump) dumps;
};

void sampled_deinit(struct sampled *sampled);

/* A dump that was loaded just now. */
struct error *sampled_add(struct sampled *sampled, struct jit_dump *dump);
/* Marks the code that the sample may stand for. */
void sampled_see(struct sampled *sampled, struct jits *jits,
		 const struct record *sample);
/* For each code of the dump whether it is sampled; NULL: unknown dump. */
const bool *sampled_of(const struct sampled *sampled,
		       const struct jit_dump *dump);

#endif

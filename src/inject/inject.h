/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies a recording, with things added that stock tools need to read it, or
 * dumps of stacks turned into chains: reader, filter, writer.
 *
 * Records are written in time order; what is added stands among them at its own
 * time. Compressed data becomes plain. Sections on the machine that kaa has no
 * use for are handed on.
 */
#ifndef KAA_INJECT_INJECT_H
#define KAA_INJECT_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/faults.h"
#include "convert/jit.h"
#include "perfdata/reader.h"

struct inject_options {
	/* "-": standard input, standard output. */
	const char *input;
	const char *output;
	/* Jitdumps become ELF images, as `perf inject --jit` has it. */
	bool jit;
	/* Only code that samples hit. The input must be a file. */
	bool sampled_only;
	/* kaa's Python frames as an image beside the output. */
	bool python;
	/* Raw stacks become chains. */
	bool convert_callchain;
	/* Build-ids of files that samples hit. */
	bool build_ids;
	/* Jitdumps whoever's they are. */
	bool force;
	const char *symfs;
};

/* What was done. */
struct inject_stats {
	uint64_t records;
	/* Records added, and left out because they hide what was added. */
	uint64_t added;
	uint64_t dropped;
	uint64_t images;
	uint64_t build_ids;
	/* Raw stacks unwound, and those not to their end. */
	uint64_t unwound;
	uint64_t unwound_incomplete;
	/* Of the input. */
	struct jit_stats jit;
};

struct inject;

/* fd: the input, taken over even on failure. Creates the output. */
struct error *inject_open(int fd, const struct inject_options *options,
			  struct inject **ret);
/*
 * Does it all. On failure the output is removed, if it is a file. Options must
 * still be there.
 */
struct error *inject_run(struct inject *inject);
void inject_stats(const struct inject *inject, struct inject_stats *ret);
/* Adds what is wrong with the input. */
struct error *inject_faults(const struct inject *inject, struct faults *ret);
/* Path of the image of Python code that was written, or NULL. */
const char *inject_python_image(const struct inject *inject);
void inject_destroy(struct inject *inject);
DEFINE_CLEANUP(inject, struct inject *, inject_destroy);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The feature sections at the end of the file: the machine, the command line, groups
 * of events, and when the samples are from.
 */
#ifndef KAA_COLLECT_FILE_FEATURES_H
#define KAA_COLLECT_FILE_FEATURES_H

#include "base/error.h"
#include "collect/output.h"
#include "collect/sampler.h"
#include "perfdata/features.h"

/* What they say of the program that records. */
struct recording_program {
	int argc;
	char *const *argv;
	const char *version;
};

/* Of a file whose samples are all there. */
struct error *file_features_fill(struct features *features,
				 const struct recording_program *program,
				 const struct sampler_options *options,
				 const struct output *output);

#endif

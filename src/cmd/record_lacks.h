/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording lacks that its user may have expected, and what to do: a line each. */
#ifndef KAA_CMD_RECORD_LACKS_H
#define KAA_CMD_RECORD_LACKS_H

#include "cmd/record_before.h"
#include "cmd/record_setup.h"
#include "collect/recorder.h"

/* Nothing of Python in it, if no Python ran. false: nothing was said. */
bool record_say_no_python(const struct recorder *recorder,
			  const struct record_setup *setup,
			  const struct recorder_result *result);
/* The same where nothing is kept: only that no Python ran, if none did. */
void record_say_ran_no_python(const struct recorder *recorder,
			      const struct record_setup *setup,
			      const struct recorder_result *result);
/* None of Python in what keeps raw stacks for other tools, though Python ran. */
void record_say_raw_stacks(const struct recorder *recorder,
			   const struct record_setup *setup,
			   const struct recorder_result *result);
/*
 * Samples, of which there are none. before: the recording that is there
 * instead; NULL: the file without samples is.
 */
void record_say_no_samples(const struct recorder *recorder,
			   const struct record_setup *setup,
			   const struct recorder_result *result,
			   const struct record_before *before);

#endif

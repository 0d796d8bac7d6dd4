/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wrong with the samples of a profile, by their flags and stacks. */
#ifndef KAA_PROFILE_SAMPLE_FAULTS_H
#define KAA_PROFILE_SAMPLE_FAULTS_H

#include "base/faults.h"
#include "profile/profile.h"

/*
 * Adds what is wrong with the recording of an event, and then with its samples;
 * PROFILE_NONE: with all. *samples: how many there are.
 */
struct error *sample_faults(const struct profile *profile, uint32_t event,
			    uint64_t *samples, struct faults *ret);

#endif

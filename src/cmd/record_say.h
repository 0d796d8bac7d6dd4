/* SPDX-License-Identifier: GPL-2.0-only */
/* What a user is told of a recorder before it records: a line each. */
#ifndef KAA_CMD_RECORD_SAY_H
#define KAA_CMD_RECORD_SAY_H

#include "cmd/record_setup.h"
#include "collect/recorder.h"

/* command: "record" or "top". Where Python frames come from, if that is not the best way, or verbose. */
void record_say_source(const struct recorder *recorder,
		       const struct record_setup *setup, const char *command,
		       int verbose);
/* That so many samples a second may be too many. */
void record_say_rate(const struct recorder *recorder,
		     const struct record_setup *setup);
/* Why there are no kernel frames. refusal: as recorder_refusal() has it. */
void record_say_user_only(const struct source_refusal *refusal);
/*
 * Of -p: children that run already are not recorded, but for a source that polls.
 * shows: what is recorded is only shown.
 */
void record_say_children(const struct recorder *recorder,
			 const struct record_setup *setup, bool shows);
/* kaa's exit code by the status of the command, as wait() has it; -1: none. */
int record_exit_code(int status);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of the command go on when its recording is over: a line. */
#ifndef KAA_CMD_RECORD_LEFT_H
#define KAA_CMD_RECORD_LEFT_H

#include "cmd/record_setup.h"
#include "collect/recorder.h"

/* After recorder_finish(). Waits for a moment for those that are about to end. */
void record_say_left(const struct recorder *recorder,
		     const struct record_setup *setup);

#endif

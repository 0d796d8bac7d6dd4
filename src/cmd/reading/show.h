/* SPDX-License-Identifier: GPL-2.0-only */
/* What commands that show a recording do around it. */
#ifndef KAA_CMD_READING_SHOW_H
#define KAA_CMD_READING_SHOW_H

#include "cmd/framework/progress.h"
#include "cmd/reading/input.h"

/* arg is its own. It may end the progress before it writes. */
typedef struct error *show_recording(void *arg, struct converter *converter);

/*
 * Opens the recording that the words of input name, has it shown, and says what was
 * missing, and which threads or processes that were asked for are not there: also
 * where showing it failed, whose error comes first. exit_code: cmd/reading/missing.h.
 */
struct error *show_input(struct input *input, struct progress *progress,
			 show_recording *show, void *arg, int *exit_code);

#endif

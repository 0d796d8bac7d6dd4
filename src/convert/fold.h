/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the interpreter's own frames in a stack that has Python frames: the
 * evaluation function and the call glue around it (docs/ARCHITECTURE.md,
 * "A stack").
 */
#ifndef KAA_CONVERT_FOLD_H
#define KAA_CONVERT_FOLD_H

#include "convert/convert.h"

/*
 * Sets PROFILE_FRAME_INTERPRETER on the steps, which are leaf first with kind
 * as their frame has it. Where frames of kaa's own walker are in the stack,
 * trampolines become interpreter frames of kind NATIVE.
 */
void fold_steps(struct convert_step *steps, size_t count);

#endif

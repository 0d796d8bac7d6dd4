/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does this interpreter keep frame pointers, without which `perf record -g` does
 * not get from its C functions to the trampolines?
 */
#ifndef KAA_AGENT_FRAME_POINTERS_H
#define KAA_AGENT_FRAME_POINTERS_H

#include <stdbool.h>

/*
 * By the code of a few functions of the C API; after agent_capi_find(). True on
 * other machines than x86-64, where compilers keep them unasked.
 */
bool frame_pointers_kept(void);

/*
 * One line on stderr if they are not, and `kaa run` wants it said in this process
 * (KAA_SAY_FRAME_POINTERS is its number).
 */
void frame_pointers_say(void);

#endif

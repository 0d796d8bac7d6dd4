/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source `trampoline`: programs that were started with trampolines, as a
 * command that is recorded is, have one in the native stack for each Python
 * frame (collect/trampolines.h).
 */
#ifndef KAA_COLLECT_SOURCE_TRAMPOLINE_H
#define KAA_COLLECT_SOURCE_TRAMPOLINE_H

#include "collect/python_source.h"

extern const struct python_source python_source_trampoline;

#endif

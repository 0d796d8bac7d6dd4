/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over all rings: task records, code objects, then the samples, each
 * paired with the walker's stack. docs/ARCHITECTURE.md, "Record time", says why
 * in this order. See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_ROUND_H
#define KAA_COLLECT_RECORDER_ROUND_H

#include "base/error.h"

struct recorder;

/* Handles what is in the rings by now, and writes it. */
struct error *recorder_run_round(struct recorder *recorder);

#endif

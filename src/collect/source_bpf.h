/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source `bpf`: the walker (collect/walker.h) reads the frames in the
 * kernel when a sample is taken. It needs to know every Python process.
 */
#ifndef KAA_COLLECT_SOURCE_BPF_H
#define KAA_COLLECT_SOURCE_BPF_H

#include "collect/python_source.h"

extern const struct python_source python_source_bpf;

#endif

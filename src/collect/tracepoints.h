/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the file must say about tracepoints that are recorded.
 */
#ifndef KAA_COLLECT_TRACEPOINTS_H
#define KAA_COLLECT_TRACEPOINTS_H

#include "base/error.h"
#include "perfdata/events.h"
#include "perfdata/features.h"

/*
 * Sets TRACING_DATA if one of the events is a tracepoint; nothing otherwise.
 * Needs the privileges that tracefs asks for. `root` goes before /sys.
 */
struct error *tracepoints_describe(const char *root,
				   const struct events *events,
				   struct features *features);

#endif

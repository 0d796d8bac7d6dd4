/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attribute of an imported event: what a kernel would have counted under that
 * name, so that perfdata/event_meaning.h says of it what the file said. An event
 * that no kernel has is a raw one, whose samples are occurrences.
 */
#ifndef KAA_IMPORT_EVENT_ATTR_H
#define KAA_IMPORT_EVENT_ATTR_H

#include <linux/perf_event.h>

#include "import/import_model.h"

/* number: the event's, which raw events differ by. */
struct perf_event_attr import_event_attr(const struct import_model *model,
					 uint32_t number);

#endif

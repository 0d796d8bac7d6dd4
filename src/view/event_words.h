/* SPDX-License-Identifier: GPL-2.0-only */
/* What time an event counts, in words. */
#ifndef KAA_VIEW_EVENT_WORDS_H
#define KAA_VIEW_EVENT_WORDS_H

#include "base/event_kind.h"

/* "CPU time" */
const char *event_time_name(enum event_kind kind);

#endif

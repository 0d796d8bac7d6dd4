// SPDX-License-Identifier: GPL-2.0-only
#include "view/event_words.h"

const char *event_time_name(enum event_kind kind)
{
	switch (kind) {
	case EVENT_WALL:
		return "wall time";
	case EVENT_TASKS:
		return "time of tasks and threads";
	case EVENT_GIL:
		return "time with the GIL";
	case EVENT_WAIT:
		return "waiting time";
	case EVENT_OCCURRENCE:
		return "time";
	default:
		return "CPU time";
	}
}

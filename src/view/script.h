/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa script`: one sample as text, in the default layout of `perf script`
 * (taken from the output of perf 7.2):
 *
 *	comm    1234 [001]  3142.241229:     250000 cpu-clock:
 *	        7f27af23e62a name+0x1a (/path/of/dso)
 *	        ...
 *	<empty line>
 *
 * and one line for a sample of an event without call chains. Works sample by
 * sample, without a model. Control characters in names are shown as '?'.
 */
#ifndef KAA_VIEW_SCRIPT_H
#define KAA_VIEW_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum script_fields {
	/* "pid/tid" instead of "tid". */
	SCRIPT_PID = 1 << 0,
	SCRIPT_TID = 1 << 1,
	SCRIPT_CPU = 1 << 2,
	SCRIPT_TIME = 1 << 3,
	SCRIPT_PERIOD = 1 << 4,
	/* The addresses: chain or sample. */
	SCRIPT_IP = 1 << 5,
	/* "  file:line" on a line of its own after each frame. */
	SCRIPT_SRCLINE = 1 << 6,
	/* Nanoseconds in the time. */
	SCRIPT_NS = 1 << 7,
};

/* Strings are borrowed. */
struct script_frame {
	uint64_t address;
	/* NULL: unknown. */
	const char *name;
	/* address - start of the symbol. */
	uint64_t offset;
	/* Path; NULL: unknown. */
	const char *dso;
	/* For lines: NULL and 0 are unknown; then dso[rel] is shown. */
	const char *file;
	uint32_t line;
	uint64_t rel;
};

struct script_sample {
	const char *comm;
	int32_t pid;
	int32_t tid;
	int32_t cpu;
	/* ns */
	uint64_t time;
	uint64_t period;
	const char *event;
	/* Width of the widest event name of the file. */
	int event_width;
	/* enum script_fields */
	unsigned int fields;
	/* The event has chains: frames stand on lines of their own. */
	bool has_chain;
	/* Leaf first. */
	const struct script_frame *frames;
	size_t count;
};

/* Appends the sample. */
void script_format(const struct script_sample *sample, struct strbuf *out);

#endif

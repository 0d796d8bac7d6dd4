/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where Python frames come from. Each way is a row of a table: `kaa record`
 * takes its frames from one, and `kaa doctor` says which one that will be.
 *
 *	source_bpf.h		the walker reads them in the kernel at each sample
 *	source_trampoline.h	trampolines stand for them in the native stack
 *	none			there are none
 *
 * A new source is a file with its row, and a line in the table.
 */
#ifndef KAA_COLLECT_PYTHON_SOURCE_H
#define KAA_COLLECT_PYTHON_SOURCE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "sys/probe_machine.h"

/* How good the frames of a source are. */
enum source_grade {
	SOURCE_EXACT,
	/* With care: not of every process, without lines, or not for free. */
	SOURCE_LIMITED,
	SOURCE_NO_FRAMES,
};

struct python_source {
	/* As --python and doctor call it. */
	const char *name;
	/* For messages about it. */
	const char *title;
	/* One clause about what it gives. */
	const char *summary;
	enum source_grade grade;
	/*
	 * Whether it can be used on this machine by this process, as far as the
	 * machine tells without trying. If not, the reasons that are its own are
	 * appended to `why`, each "; " apart.
	 */
	bool (*probe)(const struct machine *machine, struct strbuf *why);
};

/* All sources, the one that `auto` tries first in front; NULL at the end. */
extern const struct python_source *const python_sources[];

extern const struct python_source python_source_none;

/* By name; NULL: there is no such source. */
const struct python_source *python_source_named(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Pythons in the recorded processes as these come, fork, call exec and end:
 * the source of Python frames is told, the file of a Python, and the user of one
 * that is refused.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_PYTHONS_H
#define KAA_COLLECT_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "collect/notes.h"
#include "collect/output.h"
#include "collect/python_source.h"
#include "collect/source_hashes.h"
#include "collect/target.h"
#include "process/process.h"

struct pythons {
	/* Borrowed; so is what it points to. */
	struct source_state *source;
	struct output *output;
	const struct notes *notes;
	struct source_hashes *hashes;
	/* Goes before /proc. */
	const char *root;
	/* The user can have trampolines instead of what is refused. */
	bool could_have_trampolines;

	/* Some process was one. */
	bool any;
	/* What the user was told; addresses of the refusals. */
	struct map refusals_told;
	bool left_out_told;
};

void pythons_deinit(struct pythons *pythons);

/*
 * A process turned out to run a Python, or one that cannot be read. Nothing if
 * target->state is PYTHON_NONE. More processes than the source can hold are no
 * error: the user is told, once.
 */
struct error *pythons_appeared(struct pythons *pythons, struct target *target,
			       uint64_t time);

/* Code was mapped. */
struct error *pythons_code_mapped(struct pythons *pythons,
				  struct target *target,
				  const struct process_map *map);
/* To be called when the process calls exec, before target_exec(). */
struct error *pythons_replaced(struct pythons *pythons, struct target *target);
/* A thread of it has ended; to be called after process_table_exit(). */
void pythons_ended(struct pythons *pythons, struct target *target);

#endif

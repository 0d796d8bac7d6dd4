/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The jitdumps of a recording: which code of a JIT compiler stood at an address
 * of a process at a time. Dumps are found by their markers as the records go by.
 *
 * Clocks. A dump tells times of CLOCK_MONOTONIC; a recording made with
 * `-k CLOCK_MONOTONIC` has the same. Dumps with times of the CPU's counter are
 * converted by the recording's TIME_CONV record. Any other recording has its
 * clock aligned by the marker: the process maps it and begins the dump at once,
 * so the two times are the same moment (jit_dump.begun). Two clocks that drift apart
 * meanwhile make no difference where an address is used once (see jit_clock).
 * A process that ran before the recording has no marker with a time: the
 * difference of another dump is taken, else none.
 *
 * A forked child has its parent's code of the time of the fork, unless it has a
 * dump of its own; exec ends it.
 */
#ifndef KAA_CONVERT_JIT_H
#define KAA_CONVERT_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/faults.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/events.h"
#include "perfdata/record.h"
#include "symbolize/jit_table.h"
#include "unwind/unwind.h"

struct jit_process;

struct jit_stats {
	/* Dumps read; markers whose dump could not be. */
	uint64_t dumps;
	uint64_t missing;
	/* Of all dumps. */
	uint64_t codes;
	uint64_t broken_records;
	/* The dumps end inside a record. */
	uint64_t truncated;
	/* Recordings whose clock had to be aligned. */
	uint64_t aligned;
};

/* Zero-initialise; set options. */
struct jits {
	struct jit_dump_options options;
	/* Look for none. */
	bool off;
	struct jit_stats stats;
	/* What went wrong with the first missing dump; NULL: none is. */
	struct error *failure;
	/* Private. */
	VEC(struct jit_process *) processes;
	/* pid to index + 1; 0: none. */
	struct map by_pid;
	/* Bytes of the dumps. */
	uint64_t held;
	bool has_conversion;
	struct jit_clock conversion;
	bool has_offset;
	int64_t offset;
};

void jits_deinit(struct jits *jits);

/*
 * Takes in a record, in time order. *loaded (may be NULL) is the dump whose
 * marker it was, newly read; NULL if it was none. Fails only when memory runs
 * out.
 */
struct error *jits_see(struct jits *jits, const struct events *events,
		       const struct record *record, struct jit_dump **loaded);

/* Adds what is wrong with the dumps. */
struct error *jits_faults(const struct jits *jits, struct faults *ret);

/* True if jits_find() may find something. */
bool jits_has(const struct jits *jits, uint32_t pid);
/* True if a dump of the process itself was read. */
bool jits_has_dump(const struct jits *jits, uint32_t pid);
/* True if such a dump has code, of any time, in [start, end). */
bool jits_has_code(const struct jits *jits, uint32_t pid, uint64_t start,
		   uint64_t end);

/*
 * The code at an address, or NULL; *dump is the one that tells of it. Holds for
 * *valid_from <= time < *valid_to.
 */
struct jit_code *jits_find(struct jits *jits, uint32_t pid, uint64_t address,
			   uint64_t time, struct jit_dump **dump,
			   uint64_t *valid_from, uint64_t *valid_to);

/*
 * The code that the dump of that path told of with that span, or NULL; of several
 * that of the name, else the latest. For what is asked for later, by what a
 * profile has.
 */
const struct jit_code *jits_code(const struct jits *jits, const char *path,
				 uint64_t start, uint64_t end,
				 const char *name,
				 const struct jit_dump **dump);

/*
 * For the unwinder: a number that changes when code takes the place of other
 * code, and the map and bytes of the code at an address; false if there is none.
 */
uint64_t jits_generation(const struct jits *jits, uint32_t pid, uint64_t time);
bool jits_unwind_map(struct jits *jits, uint32_t pid, uint64_t address,
		     uint64_t time, struct unwind_map *ret);
bool jits_read(struct jits *jits, uint32_t pid, uint64_t address,
	       uint64_t time, void *buf, size_t size);

#endif

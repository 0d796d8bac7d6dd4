/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of what is wrong with a recording.
 *
 * Whoever reads, converts or copies a recording adds what it meets. Nothing is
 * worded here: view/fault_text.h has the words, for all that print them.
 */
#ifndef KAA_BASE_FAULTS_H
#define KAA_BASE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

/* The count says how many there are of what is named here. */
enum fault_kind {
	/* --- The file --- */
	/* Once, if the recorder did not end properly; if it said who recorded, but no more. */
	FAULT_UNFINISHED,
	FAULT_ENDED_EARLY,
	/* Bytes that the file, or a pipe's last record, should have at its end, and has not. */
	FAULT_MISSING_BYTES,
	/* Bytes at the end that are no whole record, where nothing else is known. */
	FAULT_TRUNCATED_BYTES,
	/*
	 * Records and samples that the kernel dropped for want of room; records may be
	 * of these samples. Of processes, as far as the recorder told them apart.
	 */
	FAULT_LOST_RECORDS,
	FAULT_LOST_SAMPLES,
	FAULT_LOST_TASKS,
	/* Threads and processes that were not followed; the count says nothing more. */
	FAULT_UNFOLLOWED,
	/* Times that the kernel throttled the sampling. */
	FAULT_THROTTLED,
	/* Records that do not decode; of an invalid size; of unknown types. */
	FAULT_BROKEN_RECORDS,
	FAULT_ODD_RECORDS,
	FAULT_UNKNOWN_RECORDS,

	/* --- What the records say --- */
	/* Chains that hold what none can hold; taken as far as they go. */
	FAULT_BROKEN_CHAINS,
	/* Payloads of the kaa stream that do not decode. */
	FAULT_BROKEN_STREAM,
	/* Records of processes that contradict others. */
	FAULT_DROPPED_TASKS,
	/* Jitdumps that could not be read; subject: why, of the first. */
	FAULT_MISSING_JITDUMPS,
	/* Records in jitdumps that do not decode. */
	FAULT_BROKEN_JIT_RECORDS,

	/* --- Samples, by what their stacks lack --- */
	FAULT_TRUNCATED_STACKS,
	FAULT_NOT_ALIGNED,
	FAULT_MISSING_NATIVE,
	FAULT_UNREADABLE_PYTHON,
	FAULT_NO_USER_STACK,
	/* The address that the event hit has no symbol. */
	FAULT_NO_SYMBOL,
	/* Raw stacks that were not unwound to their end. */
	FAULT_INCOMPLETE_UNWINDS,
	/* Frames, not samples, without a symbol. */
	FAULT_UNNAMED_FRAMES,

	/* --- What the recorder knows of code --- */
	/* Python functions that it could not keep, or whose line table it could not read. */
	FAULT_LEFT_OUT_CODES,
	FAULT_CODES_WITHOUT_LINES,
	/* Code that a process has made and registered: too large or too much. */
	FAULT_LEFT_OUT_MADE,

	/* What the recorder counted; subject: its name for it. */
	FAULT_OF_RECORDER,
	FAULT_KINDS,
};

struct fault {
	enum fault_kind kind;
	uint64_t count;
	/* What it concerns, owned; NULL: the recording as a whole. */
	char *subject;
};

/* What the recorder calls its counts that are faults of a kind of their own. */
#define FAULT_COUNTER_TASKS "lost records of processes"
#define FAULT_COUNTER_UNFOLLOWED "threads not followed"
#define FAULT_COUNTER_CODES "functions left out"
#define FAULT_COUNTER_NO_LINES "functions without lines"
#define FAULT_COUNTER_MADE "registered code left out"

/* The subject of a FAULT_OF_RECORDER. */
#define FAULT_SAMPLES "samples"
#define FAULT_TIME "recorded time in us"
#define FAULT_WITHOUT_SAMPLES "CPU time without samples in us"
#define FAULT_WALL_WITHOUT_SAMPLES "wall time without samples in us"
/* Beside that: what threads, not their tasks, have samples of. */
#define FAULT_WALL_WITH_SAMPLES "wall time with samples in us"
/* For how long threads could have run and had no CPU; of some of them, where kaa cannot ask all. */
#define FAULT_KEPT_OFF "time without a CPU in us"
#define FAULT_UNENDED_WAITS "waits that had not ended in us"
/* Of polling: the moment was the program's choice, and no chance had chosen it. */
#define FAULT_LATE "samples that came too late"
/* Of polling: for how long the recorder itself had no CPU, and how far ticks were apart then. */
#define FAULT_RECORDER_KEPT_OFF "time without a CPU of the recorder in us"
#define FAULT_TICKS_APART "between looks in us"
/* Of polling: the thread ran on while its stack was read; by wall time also too late. */
#define FAULT_LEFT_OUT "samples left out"

enum {
	/* In ns. Less of waits is what is always under way. */
	FAULT_UNENDED_MIN = 100000000,
	/* Of wall time: what lies between the last look at a thread and its end. */
	FAULT_UNTOLD_MIN = 20000000,
	FAULT_UNTOLD_PART = 50,
	/* One sample of so many came too late: others are not where they should be, either. */
	FAULT_LATE_PART = 20,
};

/* So much wall time without samples, in ns, of all of it is worth a word. */
static inline bool fault_is_untold(uint64_t missing, uint64_t all)
{
	return missing >= FAULT_UNTOLD_MIN && missing > all / FAULT_UNTOLD_PART;
}

/*
 * Of polled threads, by chance: what they ran before the first look and since the last
 * one, in ns, of all that they ran.
 */
static inline uint64_t fault_polled_by_chance(uint64_t ran)
{
	const uint64_t least = 40000000, most = 100000000;

	return ran / 3 < least ? least : ran / 3 < most ? ran / 3 : most;
}

/* Zero-initialise to start. */
struct faults {
	/* In the order in which they were added. */
	VEC(struct fault) list;
};

void faults_deinit(struct faults *faults);
#define _cleanup_faults_ _cleanup_(faults_deinit)

/* subject is copied, and may be NULL. A count of 0 is no fault. */
struct error *faults_add(struct faults *faults, enum fault_kind kind,
			 uint64_t count, const char *subject);
/* Adds each of them. */
struct error *faults_add_all(struct faults *faults, const struct fault *all,
			     size_t count);
/* The sum over all subjects. */
uint64_t faults_count(const struct faults *faults, enum fault_kind kind);
/* What the recorder counted under that subject, of those above; 0: nothing. */
uint64_t faults_recorded(const struct faults *faults, const char *subject);
/* The recorder did not write the end, or the file was cut off. */
bool faults_lack_end(const struct faults *faults);

#endif

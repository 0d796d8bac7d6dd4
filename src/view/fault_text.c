// SPDX-License-Identifier: GPL-2.0-only
#include "view/fault_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "view/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct words {
	/* Behind the count in a line, and for a count of one if that differs. */
	const char *line;
	const char *one;
	/* Behind the count, or the share of all samples, in a note. */
	const char *note;
	/* For a count of one. */
	const char *one_note;
	bool is_share;
	/* Without a count. */
	bool is_whole;
};

static const struct words words[FAULT_KINDS] = {
	[FAULT_UNFINISHED] = {
		.line = "the recorder still runs, or could not end the file: the end of the recording is missing",
		.is_whole = true },
	[FAULT_ENDED_EARLY] = {
		.line = "the recorder could not write to the end, as on a full disk: the end of the recording is missing, and so are names of some functions",
		.is_whole = true },
	[FAULT_TRUNCATED_BYTES] = {
		.line = "bytes at the end of the file are not a complete record",
		.one = "byte at the end of the file is not a complete record",
		.note = "bytes at the end of the file are not a complete record",
		.one_note = "byte at the end of the file is not a complete record" },
	[FAULT_MISSING_BYTES] = {
		.line = "bytes are missing: the file was cut off, and so the end of the recording is missing",
		.one = "byte is missing: the file was cut off, and so the end of the recording is missing",
		.note = "bytes are missing: the file was cut off",
		.one_note = "byte is missing: the file was cut off" },
	[FAULT_LOST_RECORDS] = {
		.line = "records were lost while recording",
		.one = "record was lost while recording",
		.note = "records were lost: the recorder could not keep up",
		.one_note = "record was lost: the recorder could not keep up" },
	[FAULT_LOST_SAMPLES] = {
		.line = "samples were lost while recording",
		.one = "sample was lost while recording",
		.note = "were lost: the recorder could not keep up",
		.one_note = "was lost: the recorder could not keep up",
		.is_share = true },
	[FAULT_LOST_TASKS] = {
		.line = "records of processes were lost while recording: some processes and functions have no names",
		.one = "record of a process was lost while recording: some functions have no names",
		.note = "records of processes were lost: the recorder could not keep up, and some processes and functions have no names",
		.one_note = "record of a process was lost: the recorder could not keep up, and some functions have no names" },
	[FAULT_UNFOLLOWED] = {
		.line = "some threads or processes have no samples: kaa could not follow all of them",
		.note = "some threads or processes have no samples: kaa could not follow all of them",
		.is_whole = true },
	[FAULT_THROTTLED] = {
		.note = "times the kernel throttled the sampling",
		.one_note = "time the kernel throttled the sampling" },
	[FAULT_BROKEN_RECORDS] = {
		.line = "damaged records were left out",
		.one = "damaged record was left out",
		.note = "damaged records were left out",
		.one_note = "damaged record was left out" },
	[FAULT_ODD_RECORDS] = {
		.line = "records with an invalid size were left out",
		.one = "record with an invalid size was left out" },
	[FAULT_UNKNOWN_RECORDS] = {
		.note = "records of unknown kinds were left out",
		.one_note = "record of an unknown kind was left out" },
	[FAULT_BROKEN_CHAINS] = {
		.line = "callchains are damaged",
		.one = "callchain is damaged" },
	[FAULT_BROKEN_STREAM] = {
		.line = "damaged records of Python code were left out",
		.one = "damaged record of Python code was left out" },
	[FAULT_DROPPED_TASKS] = {
		.line = "inconsistent records of processes were left out",
		.one = "inconsistent record of a process was left out" },
	[FAULT_MISSING_JITDUMPS] = {
		.line = "jitdumps could not be used",
		.one = "jitdump could not be used" },
	[FAULT_BROKEN_JIT_RECORDS] = {
		.line = "damaged records of jitdumps were left out",
		.one = "damaged record of a jitdump was left out" },
	[FAULT_TRUNCATED_STACKS] = {
		.line = "stacks are truncated",
		.one = "stack is truncated",
		.note = "have a truncated stack: the frames beyond [truncated stack] are missing",
		.one_note = "has a truncated stack: the frames beyond [truncated stack] are missing",
		.is_share = true },
	[FAULT_NOT_ALIGNED] = {
		.line = "stacks have Python frames whose place among the native frames is not known",
		.one = "stack has Python frames whose place among the native frames is not known",
		.note = "have Python frames whose place among the native frames is not known",
		.one_note = "has Python frames whose place among the native frames is not known",
		.is_share = true },
	[FAULT_MISSING_NATIVE] = {
		.line = "stacks lack native frames where code has no unwind information",
		.one = "stack lacks native frames where code has no unwind information",
		.note = "lack native frames, at [missing native frames]: code there has no unwind information, or (--native) the thread could not be stopped",
		.one_note = "lacks native frames, at [missing native frames]: code there has no unwind information, or (--native) the thread could not be stopped",
		.is_share = true },
	[FAULT_UNREADABLE_PYTHON] = {
		.line = "stacks lack Python frames that could not be read",
		.one = "stack lacks Python frames that could not be read",
		.note = "have Python frames that could not be read",
		.one_note = "has Python frames that could not be read",
		.is_share = true },
	[FAULT_NO_USER_STACK] = {
		.note = "show nothing of the program's own code: they are of threads of the kernel, or of processes that begin or end",
		.one_note = "shows nothing of the program's own code: it is of a thread of the kernel, or of a process that begins or ends",
		.is_share = true },
	[FAULT_NO_SYMBOL] = {
		.note = "hit an address without a symbol",
		.one_note = "hit an address without a symbol",
		.is_share = true },
	[FAULT_INCOMPLETE_UNWINDS] = {
		.line = "raw stacks could not be unwound to their end",
		.one = "raw stack could not be unwound to its end" },
	[FAULT_LEFT_OUT_CODES] = {
		.line = "Python functions could not be kept while recording: their frames are [unreadable Python frames]",
		.one = "Python function could not be kept while recording: its frames are [unreadable Python frames]",
		.note = "Python functions could not be kept while recording: their frames are [unreadable Python frames]",
		.one_note = "Python function could not be kept while recording: its frames are [unreadable Python frames]" },
	[FAULT_CODES_WITHOUT_LINES] = {
		.line = "Python functions have no lines but that of their def: their tables of lines are too long, or could not be read",
		.one = "Python function has no lines but that of its def: its table of lines is too long, or could not be read",
		.note = "Python functions have no lines but that of their def: their tables of lines are too long, or could not be read",
		.one_note = "Python function has no lines but that of its def: its table of lines is too long, or could not be read" },
	[FAULT_LEFT_OUT_MADE] = {
		.line = "pieces of code made at run time were too many, or too large, to be read: their functions have no names",
		.one = "piece of code made at run time was too large, or one too many, to be read: its functions have no names",
		.note = "pieces of code made at run time were too many, or too large, to be read: their functions have no names",
		.one_note = "piece of code made at run time was too large, or one too many, to be read: its functions have no names" },
	[FAULT_UNNAMED_FRAMES] = {
		.line = "frames have no name",
		.one = "frame has no name" },
};

/* --- Lines -------------------------------------------------------------- */

static const enum fault_kind damage[] = {
	FAULT_UNFINISHED,    FAULT_ENDED_EARLY,	  FAULT_MISSING_BYTES,
	FAULT_BROKEN_CHAINS, FAULT_BROKEN_STREAM, FAULT_DROPPED_TASKS,
	FAULT_MISSING_JITDUMPS,
};
static const enum fault_kind file[] = {
	FAULT_TRUNCATED_BYTES, FAULT_LOST_RECORDS, FAULT_LOST_SAMPLES,
	FAULT_LOST_TASKS,      FAULT_UNFOLLOWED,   FAULT_BROKEN_RECORDS,
};
static const enum fault_kind stacks[] = {
	FAULT_TRUNCATED_STACKS,	 FAULT_NOT_ALIGNED,	   FAULT_MISSING_NATIVE,
	FAULT_UNREADABLE_PYTHON, FAULT_INCOMPLETE_UNWINDS, FAULT_UNNAMED_FRAMES,
	FAULT_LEFT_OUT_CODES,	 FAULT_CODES_WITHOUT_LINES, FAULT_LEFT_OUT_MADE,
};
static const enum fault_kind jitdumps[] = { FAULT_MISSING_JITDUMPS };
static const enum fault_kind copy[] = {
	FAULT_BROKEN_JIT_RECORDS, FAULT_BROKEN_RECORDS,
	FAULT_ODD_RECORDS,	  FAULT_MISSING_BYTES,
	FAULT_TRUNCATED_BYTES,
};

static const struct {
	const enum fault_kind *kinds;
	size_t count;
} line_sets[] = {
	[FAULT_LINES_DAMAGE] = { damage, COUNT(damage) },
	[FAULT_LINES_FILE] = { file, COUNT(file) },
	[FAULT_LINES_STACKS] = { stacks, COUNT(stacks) },
	[FAULT_LINES_JITDUMPS] = { jitdumps, COUNT(jitdumps) },
	[FAULT_LINES_COPY] = { copy, COUNT(copy) },
};

/* Of the kernel's records of a loss, those that are not said with more words. */
static bool is_said(const struct faults *faults, enum fault_kind kind)
{
	return kind == FAULT_LOST_RECORDS &&
	       faults_count(faults, FAULT_LOST_SAMPLES) +
			       faults_count(faults, FAULT_LOST_TASKS) >=
		       faults_count(faults, FAULT_LOST_RECORDS);
}

static void put_line(const struct fault *fault, struct strbuf *out)
{
	const struct words *w = &words[fault->kind];

	if (!w->is_whole)
		strbuf_printf(out, "%" PRIu64 " ", fault->count);
	strbuf_puts(out, fault->count == 1 && w->one ? w->one : w->line);
	if (fault->subject)
		strbuf_printf(out, ": %s", fault->subject);
	strbuf_putc(out, '\n');
}

void fault_lines(const struct faults *faults, enum fault_lines which,
		 struct strbuf *out)
{
	for (size_t i = 0; i < line_sets[which].count; i++)
		vec_for_each(fault, &faults->list)
			if (fault->kind == line_sets[which].kinds[i] &&
			    !is_said(faults, fault->kind))
				put_line(fault, out);
}

/* --- Notes -------------------------------------------------------------- */

static const enum fault_kind noted[] = {
	FAULT_LOST_SAMPLES,	 FAULT_TRUNCATED_STACKS, FAULT_NOT_ALIGNED,
	FAULT_MISSING_NATIVE,
	FAULT_UNREADABLE_PYTHON, FAULT_LEFT_OUT_CODES,	 FAULT_CODES_WITHOUT_LINES,
	FAULT_LEFT_OUT_MADE,	 FAULT_NO_USER_STACK,	 FAULT_NO_SYMBOL,
	FAULT_LOST_RECORDS,	 FAULT_LOST_TASKS,	 FAULT_UNFOLLOWED,
	FAULT_THROTTLED,
	FAULT_MISSING_BYTES,	 FAULT_TRUNCATED_BYTES,	 FAULT_BROKEN_RECORDS,
	FAULT_UNKNOWN_RECORDS,
};

static void put_note(enum fault_kind kind, uint64_t count, uint64_t samples,
		     const char *prefix, struct strbuf *out)
{
	/* What was lost is not among the samples. */
	uint64_t of = samples + (kind == FAULT_LOST_SAMPLES ? count : 0);
	double percent = of ? (double)count * 100.0 / (double)of : 0.0;

	if (words[kind].is_whole) {
		strbuf_printf(out, "%s%s\n", prefix, words[kind].note);
		return;
	}
	strbuf_printf(out, "%s%" PRIu64, prefix, count);
	if (words[kind].is_share)
		strbuf_printf(out, " of %" PRIu64 " sample%s (%.2f%%)", of,
			      plural(of), percent);
	strbuf_printf(out, " %s\n",
		      count == 1 ? words[kind].one_note : words[kind].note);
}

static void put_recorder(const struct fault *fault, struct strbuf *out)
{
	strbuf_puts(out, "# recorder: ");
	text_append(out, fault->subject, strlen(fault->subject));
	strbuf_printf(out, ": %" PRIu64 "\n", fault->count);
}

void fault_notes(const struct faults *faults, uint64_t samples,
		 const char *prefix, struct strbuf *out)
{
	for (size_t i = 0; i < COUNT(noted); i++) {
		uint64_t count = faults_count(faults, noted[i]);

		if (count && !is_said(faults, noted[i]))
			put_note(noted[i], count, samples, prefix, out);
	}
}

void fault_recorder_notes(const struct faults *faults, struct strbuf *out)
{
	vec_for_each(fault, &faults->list)
		if (fault->kind == FAULT_OF_RECORDER)
			put_recorder(fault, out);
}

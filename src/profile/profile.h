/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * THE MODEL: what a recording says, ready to be shown.
 *
 * Everything is a column with an integer handle: a handle is an index below
 * the column's count, given out in ascending order, valid until the profile is
 * destroyed. PROFILE_NONE means "none" wherever a handle may be missing.
 * Strings, DSOs, symbols, frames, stacks and tasks are unique: equal content
 * gives an equal handle, so that views compare integers.
 *
 *	string    interned text; strings never move
 *	dso       file or pseudo file that code comes from
 *	symbol    named span of a DSO's addresses
 *	frame     one code location: an address with its symbol, or a Python line
 *	stack     prefix tree: (parent stack, frame); the root is the OUTERMOST
 *	          frame and a parent's handle is below its children's
 *	task      (recording, pid, tid, comm, name) at the time of a sample
 *	event     what was counted in a recording
 *	recording a file that was added to the profile
 *	sample    (event, time, period, task, stack, flags), and labels
 *	label     what else is told of samples, in a column of its own
 *
 * To fill it: intern what a sample needs, push its frames from the outermost
 * to the leaf, profile_add_sample(). Readers use the columns directly through
 * the inline accessors and must not write. Not thread-safe while filled;
 * readers may share a finished profile.
 *
 * All functions that take handles expect handles of the same profile.
 * ERROR_LIMIT: a column has more than PROFILE_MAX_HANDLES entries.
 */
#ifndef KAA_PROFILE_PROFILE_H
#define KAA_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/event_kind.h"
#include "base/faults.h"
#include "base/vec.h"
#include "profile/metadata.h"

#define PROFILE_NONE	    UINT32_MAX
#define PROFILE_MAX_HANDLES (UINT32_MAX - 1)

enum profile_dso_kind {
	/* An ELF file, a perf map, [vdso], anything in user space. */
	PROFILE_DSO_USER,
	/* The kernel, a module, a BPF program. */
	PROFILE_DSO_KERNEL,
	/* kaa's synthetic address space of Python code, short name "[python]". */
	PROFILE_DSO_PYTHON,
};

struct profile_dso {
	/* What a report shows: "libc.so.6", "[kernel.kallsyms]". */
	uint32_t short_name;
	/* What a script shows: the path. */
	uint32_t long_name;
	/* Lower-case hex, or PROFILE_NONE. */
	uint32_t build_id;
	enum profile_dso_kind kind;
};

/* start and end are in the DSO's own addresses (struct profile_frame.rel). */
struct profile_symbol {
	uint64_t start;
	/* First address after the symbol. */
	uint64_t end;
	uint32_t dso;
	/* Demangled; "py::<qualname>:<filename>" for Python code. */
	uint32_t name;
	/*
	 * Of Python code the line of its def, or of the first decorator of that, if it
	 * is known; else 0.
	 */
	uint32_t line;
	/* The first line of code behind that; 0: none, or not known. */
	uint32_t body_line;
	/*
	 * No symbol says so: the name is that of the file, and where the
	 * function begins in it.
	 */
	bool is_nameless;
};

enum profile_frame_kind {
	PROFILE_FRAME_NATIVE,
	PROFILE_FRAME_KERNEL,
	PROFILE_FRAME_PYTHON,
	/* "[truncated stack]" and its like; see docs/formats/kaa-stream.md. */
	PROFILE_FRAME_MARKER,
};

enum profile_frame_flags {
	/*
	 * The evaluation function or call glue around it. Views leave such
	 * frames out of stacks that have a Python frame, unless asked.
	 */
	PROFILE_FRAME_INTERPRETER = 1 << 0,
	/* Inlined into the next frame of the stack (its caller). */
	PROFILE_FRAME_INLINED = 1 << 1,
	/*
	 * What the event hit, at the leaf of a stack whose inner steps are left
	 * out: no step of its call chain.
	 */
	PROFILE_FRAME_HIT_ONLY = 1 << 2,
	/* Unwound from a copy of the stack; set only if views ask for it. */
	PROFILE_FRAME_UNWOUND = 1 << 3,
	/* In the file that holds the interpreter: python3.12, libpython. */
	PROFILE_FRAME_IN_CPYTHON = 1 << 4,
	/* It carries calls on, whatever else is in the stack. */
	PROFILE_FRAME_GLUE = 1 << 5,
	/*
	 * It starts the program or a thread. Without a name it may, if nothing else is in
	 * front of it.
	 */
	PROFILE_FRAME_STARTS = 1 << 6,
};

struct profile_frame {
	/* The address as it stands in the chain. */
	uint64_t address;
	/* The same in the DSO's own addresses; == address without a DSO. */
	uint64_t rel;
	/* Or PROFILE_NONE: unresolved. */
	uint32_t symbol;
	/* Or PROFILE_NONE: no mapping known. */
	uint32_t dso;
	/*
	 * With PROFILE_FRAME_INLINED: the frame of the function that holds the
	 * code; follows from the other members. Its span is the symbol's, too.
	 */
	uint32_t real;
	/* Source file or PROFILE_NONE, and line or 0. Always for Python. */
	uint32_t file;
	uint32_t line;
	uint8_t kind;
	uint8_t flags;
};

struct profile_task {
	int32_t pid;
	int32_t tid;
	uint32_t comm;
	/* What the program calls the thread, or PROFILE_NONE. */
	uint32_t name;
	/* Numbers of processes mean nothing beyond their recording. */
	uint32_t recording;
};

struct profile_event {
	uint32_t name;
	/* Whose times, and so those of its samples, are of one clock. */
	uint32_t recording;
	/* What a sample stands for, and what its period counts. */
	enum event_kind kind;
	enum event_unit unit;
	/* Sampling period or, if is_freq, frequency. */
	uint64_t sample_period;
	bool is_freq;
	/* Samples carry call chains. */
	bool has_callchain;
	/* No event of the kernel: kaa has looked from time to time. */
	bool is_polled;
	/* Of Python frames alone, whatever runs below them. */
	bool python_only;
	/* Another tool has taken the samples. */
	bool is_imported;
	/*
	 * Of a group that the kernel counted together: its first event; else
	 * the event itself. And the group's name, or PROFILE_NONE. For the
	 * converter to change.
	 */
	uint32_t leader;
	uint32_t group_name;
	/* Totals of the rows added, by profile_add_sample(). */
	uint64_t samples;
	uint64_t period;
	/* PERF_RECORD_LOST(_SAMPLES) of this event; the converter counts. */
	uint64_t lost;
};

enum profile_sample_flags {
	/* The stack goes on beyond what was copied or could be unwound. */
	PROFILE_SAMPLE_TRUNCATED = 1 << 0,
	/* Native and Python stack disagree. */
	PROFILE_SAMPLE_NOT_ALIGNED = 1 << 1,
	/* Python frames are missing because they could not be read. */
	PROFILE_SAMPLE_UNREADABLE_PYTHON = 1 << 2,
	/* A stack was wanted, none of user space is there. */
	PROFILE_SAMPLE_NO_USER_STACK = 1 << 3,
	/* The event hit in the kernel, user space (else neither is known). */
	PROFILE_SAMPLE_KERNEL = 1 << 4,
	PROFILE_SAMPLE_USER = 1 << 5,
	/* The call chain held what none can hold; it ends there. */
	PROFILE_SAMPLE_DAMAGED = 1 << 6,
	/* Native frames are missing between others. */
	PROFILE_SAMPLE_MISSING_NATIVE = 1 << 7,
};

struct profile_sample {
	/* ns of the recording's clock; 0 if not recorded. */
	uint64_t time;
	uint64_t period;
	/*
	 * The leaf's stack. A sample without a chain has a stack of one
	 * frame; PROFILE_NONE if not even the address is known.
	 */
	uint32_t stack;
	uint32_t task;
	/*
	 * A value for each label of the profile, in their order; PROFILE_NONE
	 * if not recorded. May be NULL if the profile has no labels.
	 */
	const uint32_t *labels;
	/* Samples that the row stands for; at least 1. */
	uint32_t count;
	uint16_t event;
	/* enum profile_sample_flags */
	uint16_t flags;
};

/* A file that the profile was made of. */
struct profile_recording {
	struct metadata metadata;
	/* What is wrong with it, but for what the samples themselves say. */
	struct faults faults;
};

/*
 * What is told of samples beside what all of them have. A value is a number or
 * a string, by the label's name. Absent labels cost nothing.
 */
struct profile_label {
	uint32_t name;
	/* One for each sample, or PROFILE_NONE. */
	uint32_t *values;
};

/* The number of the CPU that the event hit on. */
#define PROFILE_LABEL_CPU "cpu"

/*
 * The samples, a column each. sample i is element i of every column.
 * profile_sample() gathers a row, without labels.
 */
struct profile_samples {
	uint64_t *time;
	uint64_t *period;
	uint32_t *stack;
	uint32_t *task;
	uint32_t *count;
	uint16_t *event;
	uint16_t *flags;
	VEC(struct profile_label) labels;
	size_t rows;
	size_t capacity;
};

struct profile_options {
	/*
	 * One row for all samples that agree in event, task, stack, flags and
	 * labels: period and count add up, time is the first one's. For views that
	 * need no time.
	 */
	bool aggregate;
	/*
	 * The same of samples that are near each other in time: in one slice of
	 * so many ns. 0: time is not looked at.
	 */
	uint64_t slice_ns;
	/* Samples have the label PROFILE_LABEL_CPU. */
	bool keep_cpu;
};

struct profile_tables;

struct profile {
	VEC(const char *) strings;
	VEC(uint32_t) string_lengths;
	VEC(struct profile_dso) dsos;
	VEC(struct profile_symbol) symbols;
	VEC(struct profile_frame) frames;
	/* A stack's parent (or PROFILE_NONE), frame, and number of frames. */
	VEC(uint32_t) stack_parents;
	VEC(uint32_t) stack_frames;
	VEC(uint32_t) stack_depths;
	VEC(struct profile_task) tasks;
	/*
	 * The comm that each task's thread had last, whether a sample saw it
	 * or not. Empty: the comms of the tasks are all that is known.
	 */
	VEC(uint32_t) last_comms;
	/*
	 * The process that started each task's process, by its pid; 0: not
	 * known. Tasks beyond its end are of processes of which nothing is.
	 */
	VEC(int32_t) task_parents;
	VEC(struct profile_event) events;
	struct profile_samples samples;
	VEC(struct profile_recording) recordings;
	struct profile_options options;
	/* Hash tables and string memory of the builder. */
	struct profile_tables *tables;
};

/* options may be NULL: one row a sample. */
struct error *profile_create(const struct profile_options *options,
			     struct profile **ret);
/* Frees the profile with all that its handles name. Legal on NULL. */
void profile_destroy(struct profile *profile);
DEFINE_CLEANUP(profile, struct profile *, profile_destroy);
#define _cleanup_profile_ _cleanup_(cleanup_profile_)

/* --- Filling ----------------------------------------------------------- */

/* n bytes of s, copied; the bytes are taken as they are. */
struct error *profile_intern_string(struct profile *profile, const char *s,
				    size_t n, uint32_t *ret);
/* The same for a NUL-terminated string. */
struct error *profile_intern(struct profile *profile, const char *s,
			     uint32_t *ret);
struct error *profile_intern_dso(struct profile *profile,
				 const struct profile_dso *dso, uint32_t *ret);
struct error *profile_intern_symbol(struct profile *profile,
				    const struct profile_symbol *symbol,
				    uint32_t *ret);
/*
 * Unique by all members, so a frame may be interned again for each chain entry;
 * a converter that caches address -> frame handle is faster.
 */
struct error *profile_intern_frame(struct profile *profile,
				   const struct profile_frame *frame,
				   uint32_t *ret);
struct error *profile_intern_task(struct profile *profile,
				  const struct profile_task *task,
				  uint32_t *ret);
/*
 * The stack that calls `frame` from `parent`; parent is PROFILE_NONE for the
 * outermost frame.
 */
struct error *profile_stack_push(struct profile *profile, uint32_t parent,
				 uint32_t frame, uint32_t *ret);
/* samples, period and lost start at 0, leader as the event. At most 65,535 events. */
struct error *profile_add_event(struct profile *profile,
				const struct profile_event *event,
				uint32_t *ret);
/* The samples that are there have no value. At most 65,535 labels. */
struct error *profile_add_label(struct profile *profile, const char *name,
				uint32_t *ret);
struct error *profile_add_sample(struct profile *profile,
				 const struct profile_sample *sample);
/*
 * A recording, with nothing known of it; to be filled. It keeps its place only
 * until the next is added.
 */
struct error *profile_add_recording(struct profile *profile, uint32_t *ret);

/* --- Reading ----------------------------------------------------------- */

/* NUL-terminated; `none` for PROFILE_NONE. */
static inline const char *profile_string(const struct profile *profile,
					 uint32_t string, const char *none)
{
	return string == PROFILE_NONE ? none : profile->strings.data[string];
}

/* NULL for PROFILE_NONE. */
static inline const struct profile_dso *
profile_dso(const struct profile *profile, uint32_t dso)
{
	return dso == PROFILE_NONE ? NULL : &profile->dsos.data[dso];
}

/* NULL for PROFILE_NONE. */
static inline const struct profile_symbol *
profile_symbol(const struct profile *profile, uint32_t symbol)
{
	return symbol == PROFILE_NONE ? NULL : &profile->symbols.data[symbol];
}

static inline const struct profile_frame *
profile_frame(const struct profile *profile, uint32_t frame)
{
	return &profile->frames.data[frame];
}

static inline const struct profile_task *
profile_task(const struct profile *profile, uint32_t task)
{
	return &profile->tasks.data[task];
}

/* What a thread is called: by the program, else its comm. */
static inline uint32_t profile_task_name(const struct profile_task *task)
{
	return task->name == PROFILE_NONE ? task->comm : task->name;
}

/* The kernel had taken its number away already: some thread at the very end of its exit. */
static inline bool profile_task_is_ending(const struct profile_task *task)
{
	return task->tid == -1;
}

/*
 * Of so many threads of so many processes no process has more than one: a list of them
 * goes by what processes are called, their comms, and not by the threads' names.
 */
static inline bool profile_lists_processes(size_t processes, size_t threads)
{
	return processes > 1 && processes == threads;
}

/* The pid of the process that started that of the task; 0: not known. */
static inline int32_t profile_task_parent(const struct profile *profile,
					  uint32_t task)
{
	return task < profile->task_parents.count ?
		       profile->task_parents.data[task] :
		       0;
}

/* Fills ret, which has room for each stack: whether it has a Python frame. */
void profile_find_python(const struct profile *profile, bool *ret);

/* The label of that name, or PROFILE_NONE. */
uint32_t profile_find_label(const struct profile *profile, const char *name);

/* What a label says of a sample, or PROFILE_NONE; label may be PROFILE_NONE. */
static inline uint32_t profile_label(const struct profile *profile,
				     uint32_t label, size_t row)
{
	return label == PROFILE_NONE ?
		       PROFILE_NONE :
		       profile->samples.labels.data[label].values[row];
}

/* Of all recordings. */
uint64_t profile_fault_count(const struct profile *profile,
			     enum fault_kind kind);

/* Number of frames; 0 for PROFILE_NONE. */
static inline uint32_t profile_stack_depth(const struct profile *profile,
					   uint32_t stack)
{
	return stack == PROFILE_NONE ? 0 : profile->stack_depths.data[stack];
}

static inline struct profile_sample
profile_sample(const struct profile *profile, size_t row)
{
	const struct profile_samples *s = &profile->samples;

	return (struct profile_sample){
		.time = s->time[row],
		.period = s->period[row],
		.stack = s->stack[row],
		.task = s->task[row],
		.count = s->count[row],
		.event = s->event[row],
		.flags = s->flags[row],
	};
}

#endif

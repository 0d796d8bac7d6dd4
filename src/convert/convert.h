/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data to resolved samples, and to the profile model.
 *
 *	converter_open(path, &options, &converter);
 *	converter_run(converter, on_sample, arg);
 *	... converter_stats(converter) ...
 *	converter_destroy(converter);
 *
 * or, for the model, convert_profile(path, &options, NULL, &profile).
 *
 * The converter drives the reader (perfdata/reader.h) over the file, keeps the
 * timeline of processes, reads the kaa stream, unwinds raw stacks, and names
 * every address. Samples come one at a time, in time order, in bounded memory.
 *
 * What is made right, unless options.quirks leaves it as perf has it:
 * - A return address is named by the call before it (address - 1).
 * - A chain of frame pointers ends at _start, or where it leaves all
 *   executable memory: what stands beyond is no code.
 * - Trampoline frames of CPython (`py::` symbols of a perf map) are Python
 *   frames; where kaa's own Python frames are in the same stack they are
 *   interpreter frames.
 * - A raw stack that could not be unwound to its end has the marker
 *   `[truncated stack]` as its outermost frame.
 * - A thread of which no record spoke has the name of its process.
 *
 * Not thread-safe. Linux uapi perf_event.h for contexts and records.
 */
#ifndef KAA_CONVERT_CONVERT_H
#define KAA_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/faults.h"
#include "base/lists.h"
#include "base/quirks.h"
#include "base/vec.h"
#include "convert/seen_tasks.h"
#include "obj/jit_image.h"
#include "perfdata/reader.h"
#include "profile/profile.h"
#include "symbolize/dso.h"

/* [from, to] in ns; to 0: no end. */
struct convert_time {
	uint64_t from;
	uint64_t to;
};

/*
 * A sample's time must be in one of them; none given: all pass. Of a sample that
 * stands for the time before it (EVENT_WAIT, EVENT_WALL) the part in them counts.
 */
struct convert_times {
	const struct convert_time *values;
	size_t count;
};

/* Zero-initialise for the defaults. Strings and arrays are borrowed. */
struct convert_options {
	/* As struct dso_options has them. */
	const char *symfs;
	const char *root;
	const char *debug_dir;
	const char *buildid_dir;
	/* A file to read instead of the running kernel's kallsyms. */
	const char *kallsyms;
	/* Names as the files have them. */
	bool no_demangle;
	/* None set: as above. */
	struct quirks quirks;
	/* A thread has no name once it has ended, as perf script has it. */
	bool names_end;
	/* Use jitdumps whoever's they are. */
	bool force;
	/* Name the source lines of native frames, too. */
	bool lines;
	/* Show functions that are inlined where debug information tells. */
	bool inlines;
	/* Frames of a stack, from the leaf; 0: all. */
	uint32_t max_stack;
	/*
	 * As perf counts where chains are shown from the caller: from the
	 * outermost one, but of what was unwound here. What the event hit
	 * stands before them, with PROFILE_FRAME_HIT_ONLY.
	 */
	bool max_stack_outermost;
	/* May be set after the recording was opened, before it is read. */
	struct convert_times times;
	/* Those are in them by their end, with all of their length, as in perf. */
	bool whole_spans;
	struct id_list pids;
	struct id_list tids;
	struct id_list cpus;
	struct name_list comms;
	/* Bytes that resolved stacks and frames may hold; 0: as many as are good. */
	size_t cache_limit;
	/* Count the threads that samples are of, before all filters. */
	bool count_tasks;
	/* Now and then, of a regular file: bytes read so far, and of all. */
	void (*progress)(void *arg, uint64_t done, uint64_t size);
	void *progress_arg;
};

/* One code location. Lives until the next sample; see convert_stack. */
struct convert_frame {
	/*
	 * What each step of each stack looks at stands first, in one line of
	 * the processor's cache.
	 */
	/* enum profile_frame_kind */
	uint8_t kind;
	/* A CPython perf trampoline: the symbol is py::... of a perf map. */
	bool is_trampoline : 1;
	/* In the file that holds the interpreter; a function of call glue. */
	bool in_interpreter : 1;
	bool is_glue : 1;
	/* It starts the program or a thread: interpreter_frame_starts(). */
	bool starts : 1;
	/*
	 * A function inlined into outer, whose address and span it shares;
	 * of a real function outer is NULL. real: the function that all of an
	 * address's are inlined into, NULL if the frame is that one.
	 */
	bool is_inlined : 1;
	/* As struct symbol_info has it. */
	bool is_nameless : 1;
	/* Imported, without the interpreter's own frames: its name says that it is none. */
	bool is_no_glue : 1;
	/* Lines of Python code from def_line to its first line of code; 0: not known. */
	uint16_t header_lines;
	/* The name holds as long as so many ranges are known; 0: ever. */
	uint32_t ranges;
	struct convert_frame *outer;
	struct convert_frame *real;
	/* NULL: no symbol. Else demangled, and start and end its span. */
	const char *name;
	/* NULL: no mapping. */
	struct dso *dso;
	/* When the name holds, [from, to). */
	uint64_t valid_from;
	uint64_t valid_to;
	/*
	 * For the consumer: start as PROFILE_NONE; [1] with
	 * PROFILE_FRAME_INTERPRETER, [2] and [3] with PROFILE_FRAME_UNWOUND.
	 */
	uint32_t user[4];
	/*
	 * As the chain has it; of an unwound stack's callers, as perf shows
	 * them, one less than the return address.
	 */
	uint64_t address;
	/*
	 * In the DSO's own addresses; a file offset if no symbol is known.
	 * address itself without a DSO.
	 */
	uint64_t rel;
	/* Where in the DSO's file, if a mapping is known; address if not. */
	uint64_t file_offset;
	/* The symbol's span in terms of rel. */
	uint64_t start;
	uint64_t end;
	/* NULL, 0: not known. */
	const char *file;
	uint32_t line;
	/* Of Python code, where its def is; 0: not known. */
	uint32_t def_line;
};

/* As struct profile_symbol has it. */
static inline uint32_t convert_frame_body(const struct convert_frame *frame)
{
	return frame->header_lines ? frame->def_line + frame->header_lines : 0;
}

/* Into the function; 0 without a symbol. */
static inline uint64_t convert_frame_offset(const struct convert_frame *frame)
{
	return frame->name ? frame->rel - frame->start : 0;
}

/* A frame in its stack. */
struct convert_step {
	struct convert_frame *frame;
	/* enum profile_frame_kind: NATIVE for a folded trampoline. */
	uint8_t kind;
	/* enum profile_frame_flags */
	uint8_t flags;
};

/*
 * A resolved chain, leaf first. Equal chains of a process share one object,
 * which lives at least until the callback returns; `user` starts as
 * PROFILE_NONE and is the consumer's as long as the object lives. Once the
 * consumer has set it, the object comes without its steps.
 */
struct convert_stack {
	uint32_t count;
	/* enum profile_sample_flags: what concerns the stack. */
	uint16_t flags;
	uint32_t user;
	/* Steps without a symbol. */
	uint32_t unresolved;
	/* When all names hold, as in struct convert_frame. */
	uint32_t ranges;
	uint64_t valid_from;
	uint64_t valid_to;
	/* The name of the task of asyncio whose stack it is; NULL: of none, or it has no name. */
	const char *task;
	struct convert_step steps[];
};

struct convert_sample {
	const struct event *event;
	/* The raw record, with all its fields; valid during the callback. */
	const struct record *record;
	/* NULL: not known. */
	const char *comm;
	/* What the program calls the thread; NULL: nothing is known of that. */
	const char *thread_name;
	int32_t pid;
	int32_t tid;
	uint64_t time;
	/* -1: not recorded. */
	int32_t cpu;
	uint64_t period;
	uint64_t ip;
	/* enum profile_sample_flags */
	uint16_t flags;
	/* The event's samples have chains, raw or recorded. */
	bool has_chain;
	/* Never NULL; without a chain one step, the address hit. */
	struct convert_stack *stack;
};

struct convert_stats {
	/* Handed to the callback; left out by options. */
	uint64_t samples;
	uint64_t filtered;
	/* Stacks with a marker, by kind; and cut without one. */
	uint64_t truncated;
	uint64_t not_aligned;
	uint64_t missing_native;
	uint64_t unreadable;
	/* Raw stacks unwound, and those that did not reach their end. */
	uint64_t unwound;
	uint64_t unwound_incomplete;
	/* Steps without a symbol, of all. */
	uint64_t unresolved;
	uint64_t steps;
	/* Chains that hold what no chain may hold; taken as far as they go. */
	uint64_t broken_chains;
	/* Payloads of the kaa stream that do not decode. */
	uint64_t broken_stream;
	/* Records that the timeline dropped. */
	uint64_t dropped_tasks;
	/* Jitdumps that could not be read. */
	uint64_t missing_jitdumps;
};

struct converter;

/* An error of the callback ends converter_run(), which returns it. */
typedef struct error *convert_sample_fn(const struct convert_sample *sample,
					void *arg);

/* path "-" is standard input. options must outlive the converter. */
struct error *converter_open(const char *path,
			     const struct convert_options *options,
			     struct converter **ret);
/* The same on a descriptor, taken over even on failure. */
struct error *converter_open_fd(int fd, const char *path,
				const struct convert_options *options,
				struct converter **ret);
void converter_destroy(struct converter *converter);
DEFINE_CLEANUP(converter, struct converter *, converter_destroy);

/* Goes through the file once. fn may be NULL: then nothing is resolved. */
struct error *converter_run(struct converter *converter, convert_sample_fn *fn,
			    void *arg);

/*
 * Calls fn for each record of the kernel's types that is no sample, too: once
 * it has had its effect, an EXIT before. An error ends converter_run().
 */
typedef struct error *convert_record_fn(const struct record *record, void *arg);
void converter_on_record(struct converter *converter, convert_record_fn *fn,
			 void *arg);
/*
 * The frame of an address of the sample's process, without the calls that lead
 * there; the innermost one if others are inlined. By cpumode
 * (PERF_RECORD_MISC_*) it lies in the kernel or not. Lives until the next
 * sample; to be called from the callback alone.
 */
struct error *converter_frame(struct converter *converter, uint64_t address,
			      uint16_t cpumode, struct convert_frame **ret);
/* The name of a thread at that time, as samples have it; NULL: not known. */
const char *converter_comm(struct converter *converter, uint32_t pid,
			   uint32_t tid, uint64_t time);
/*
 * The name of the kernel's function at *address, which becomes the function's;
 * or NULL.
 */
const char *converter_kernel_name(struct converter *converter, uint64_t time,
				  uint64_t *address);

/* Before the next sample all stacks are resolved anew, without their `user`. */
void converter_forget_stacks(struct converter *converter);

/* Events, features, counts of the file. */
struct perfdata_reader *converter_reader(struct converter *converter);
/* The files that code comes from, in the order of their first maps. */
struct dso_store *converter_dsos(struct converter *converter);
/* The dso stands for the addresses of Python code. */
bool converter_is_python(const struct converter *converter,
			 const struct dso *dso);
struct convert_stats converter_stats(const struct converter *converter);
/*
 * Fills *ret, which is empty, with what the recording says of itself; complete
 * after converter_run().
 */
struct error *converter_metadata(const struct converter *converter,
				 struct metadata *ret);
/*
 * Adds what is wrong with the recording; complete after converter_run(). The
 * second adds what is wrong with the stacks of its samples.
 */
struct error *converter_faults(const struct converter *converter,
			       struct faults *ret);
struct error *converter_stack_faults(const struct converter *converter,
				     struct faults *ret);
/*
 * The code of that span and, if there are several, that name out of the jitdump
 * of that path (as the profile's DSO is called), for the time of the converter.
 * False: there is none.
 */
bool converter_jit_code(const struct converter *converter, const char *path,
			uint64_t start, uint64_t end, const char *name,
			struct jit_image *ret);
/* With options.count_tasks; complete after converter_run(). */
const struct seen_tasks *
converter_seen_tasks(const struct converter *converter);
/* convert_options.comms */
const struct name_list *converter_comms(const struct converter *converter);
/*
 * The name that a thread had at last; NULL: not known, or forgotten since the
 * thread ended long ago. After converter_run().
 */
const char *converter_last_comm(const struct converter *converter, int32_t pid,
				int32_t tid);
/*
 * The process that started the one that has that pid by now; 0: not known. While samples
 * are handed over, too.
 */
int32_t converter_parent(const struct converter *converter, int32_t pid);
/*
 * The whole file as a model. profile_options may be NULL.
 */
struct error *convert_profile(const char *path,
			      const struct convert_options *options,
			      const struct profile_options *profile_options,
			      struct profile **ret);
/*
 * Adds a recording to a profile, which may have others: the converter is open and
 * has not run yet. After a failure the profile is of no use.
 */
struct error *convert_add_to_profile(struct converter *converter,
				     struct profile *profile);
/* A profile of this recording alone. */
struct error *convert_to_profile(struct converter *converter,
				 const struct profile_options *profile_options,
				 struct profile **ret);

#endif

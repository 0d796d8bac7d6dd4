/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where Python frames come from. Each way is a row of a table: `kaa record`
 * takes its frames from one, and `kaa doctor` says which one that will be.
 *
 *	source_bpf.c		the walker reads them in the kernel at each sample
 *	source_poll.c		kaa reads them from outside, without any right
 *	source_trampoline.c	trampolines stand for them in the native stack
 *	none			there are none
 *
 * A new source is a file with its row, python_source_NAME, its NAME in
 * PYTHON_SOURCES, and the file's line in meson.build.
 *
 * Who may be used is decided here alone. doctor asks probe(), which tries
 * nothing out, and record calls open(), which has the last word: a kernel may
 * have what its version does not tell, and a container forbid what its settings
 * allow. If it is left to kaa, record takes the first row whose open() succeeds.
 *
 * The life of an open source, and what a row does at each step:
 *
 *	open()			the privileges are there, events are not open yet
 *	ring->follow()		whom the clocks of CPUs shall sample
 *	ring->event_opened()	one of the user's events is open
 *	ring->attach()		all events are open
 *	begin_round()		new records are about to be handled
 *	code_mapped(), process_found(), process_forked(),
 *	process_replaced(), process_ended()
 *				task records, in the order of time
 *	ring->take(), ring->add(), ring->broken()
 *				its own records in the rings of samples
 *	stack(), memory(), code_at()
 *				a sample: its Python frames, more of its stack
 *	ring->stop()		the events are disabled
 *	put_names()		the end of the file
 *	close()
 *
 * Frames are given in one of two forms. stack() has all of a sample beside the
 * native stack, read by whoever is able to: the walker did it when the sample
 * was taken, and a source that reads the memory of the process does it when it
 * is asked. code_at() has a native frame that stands for a Python one.
 *
 * What stack() gives is a struct python_stack with frames, flags and
 * extra_activation. A frame refers to its code object by the key under which
 * code_table_record() took that from a struct walker_code, and has the offset of
 * its instruction, -1 before the first one.
 *
 * probe, open and close are needed, and with a ring all of it. Any other
 * function that a row does not need is NULL. They return an error only if the
 * recording cannot go on. One thread.
 */
#ifndef KAA_COLLECT_PYTHON_SOURCE_H
#define KAA_COLLECT_PYTHON_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "collect/address_names.h"
#include "collect/code_spans.h"
#include "collect/notes.h"
#include "collect/poller.h"
#include "collect/python_stack.h"
#include "collect/sampler.h"
#include "collect/stack_memory.h"
#include "collect/target.h"
#include "perfdata/record.h"
#include "process/process.h"
#include "sys/probe_machine.h"

/* All of them, the one that kaa tries first in front. */
#define PYTHON_SOURCES(X) \
	X(bpf)            \
	X(poll)           \
	X(trampoline)     \
	X(none)

/* What --python takes. */
#define PYTHON_SOURCE_OR_(name) "|" #name
#define PYTHON_SOURCE_NAMES "auto" PYTHON_SOURCES(PYTHON_SOURCE_OR_)

/* How good the frames of a source are. */
enum source_grade {
	SOURCE_EXACT,
	/* With care: not of every process, without lines, or not for free. */
	SOURCE_LIMITED,
	SOURCE_NO_FRAMES,
};

/* What a source works with; all of it outlives the source. */
struct source_setup {
	/* Code objects that it sees get their names and addresses there. */
	struct code_table *codes;
	const struct notes *notes;
	/* Owner of the recorded processes' files; (uid_t)-1: unknown. */
	uid_t owner;
	/* Clocks are to tick for each CPU. */
	bool cpu_clocks;
	/* Waits are sampled; never without the former. */
	bool off_cpu;
	/* Some of the events are of tracepoints. */
	bool tracepoints;
	/*
	 * The CPU time of a command or of whole processes is asked for, by Python
	 * functions and lines: a source can do without events of the kernel's.
	 */
	bool only_time;
	/* Nobody has asked for this source by its name. */
	bool left_to_kaa;
	/* Whom to record, among others. */
	const struct sampler_options *sampler;
};

/* An open source; the first member of what each row keeps besides. */
struct source_state {
	const struct python_source *source;
};

/* The CPU time of followed threads, and what is not known of it. */
struct followed_time {
	/* In ns. */
	uint64_t ran;
	/* Threads and processes that could not be followed. */
	uint64_t missed;
};

/*
 * A source that writes records of its own into the rings of samples, by an
 * event of its own on each CPU. `cpu` is an index of sampler.cpus. raw: the
 * payload of such a record.
 */
struct source_ring {
	/* At once: see struct sampler_walker. */
	struct error *(*event_opened)(struct source_state *state,
				      const struct perf_event_attr *attr,
				      bool by_cpu, int fd);
	/* Before: see struct sampler_walker. */
	bool (*follow)(struct source_state *state,
		       const struct pid_vec *threads, bool on_exec);
	struct error *(*attach)(struct source_state *state,
				const struct sampler *sampler);
	/* The events are enabled. */
	void (*begin)(struct source_state *state);
	void (*stop)(struct source_state *state);
	/* Ahead of all samples that are in the rings by now. */
	struct error *(*take)(struct source_state *state, const void *raw,
			      size_t size);
	/* In its turn among the samples of its ring. */
	struct error *(*add)(struct source_state *state, size_t cpu,
			     const void *raw, size_t size);
	/* Something was lost here: what came before belongs to no later sample. */
	void (*broken)(struct source_state *state, size_t cpu);
	/* Samples of which it could not write all. */
	uint64_t (*lost)(struct source_state *state);
	/*
	 * How long a thread waits by now, in ns, where waits are recorded; *since: as in
	 * struct walker_wait.
	 */
	uint64_t (*waits)(struct source_state *state, pid_t tid, uint64_t *since);
	/* What the threads that it follows ran on sampled CPUs, in ns. */
	struct followed_time (*cpu_time)(struct source_state *state);
};

/* A source that takes the samples itself: the sampler's rings are its own. */
struct source_poll {
	const struct sampler_producer *(*producer)(struct source_state *state);
	/* The sampler is open. */
	struct error *(*attach)(struct source_state *state,
				struct sampler *sampler);
	/* When the sampler is disabled. */
	void (*counts)(struct source_state *state, struct poll_counts *ret);
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
	 * Its frames are put into the chains that kaa writes: of no use where a
	 * sample has no chain, or keeps its raw stack for the reader.
	 */
	bool needs_chains;
	/*
	 * It reads the frames of every Python that kaa knows, at each sample. So
	 * the user is told of a CPython that kaa cannot read, and a sample of a
	 * Python without a stack from here is marked.
	 */
	bool walks;
	/* The command that is recorded is started with trampolines. */
	bool gives_trampolines;

	/*
	 * Whether it can be used on this machine by this process, as far as the
	 * machine tells without trying. If not, the reasons that are its own are
	 * appended to `why`, each "; " apart.
	 */
	bool (*probe)(const struct machine *machine, struct strbuf *why);
	/*
	 * ERROR_PERMISSION or ERROR_UNSUPPORTED says why the machine does not
	 * take it and what to do.
	 */
	struct error *(*open)(const struct source_setup *setup,
			      struct source_state **ret);
	void (*close)(struct source_state *state);

	void (*begin_round)(struct source_state *state);
	/* Executable memory; the map is there from now on. */
	struct error *(*code_mapped)(struct source_state *state,
				     struct target *target,
				     const struct process_map *map);
	/*
	 * The process runs a Python that kaa can read, target->python. ERROR_LIMIT
	 * if there are too many: the recording can go on without this one.
	 */
	struct error *(*process_found)(struct source_state *state,
				       struct target *target);
	/* The parent's target is given to those alone that ask for it. */
	struct error *(*process_forked)(struct source_state *state,
					struct target *child,
					struct target *parent);
	/* It called exec. Samples from before may still be to come. */
	struct error *(*process_replaced)(struct source_state *state,
					  struct target *target);
	/* All its threads have ended; samples may still be to come. */
	void (*process_ended)(struct source_state *state, struct target *target);

	const struct source_ring *ring;
	/* Of its ring are take(), add() and broken() then. NULL: the kernel does. */
	const struct source_poll *polls;

	/*
	 * The Python frames of a sample that comes in its turn in the ring of a
	 * CPU, or *ret NULL: none. They stay valid until the next call.
	 */
	struct error *(*stack)(struct source_state *state, size_t cpu,
			       struct target *target,
			       const struct record *sample,
			       const struct python_stack **ret);
	/*
	 * What it has of the sample's stack beside the kernel's copy. Of a sample in
	 * its turn, as stack() is. Valid until the next call.
	 */
	void (*memory)(struct source_state *state, size_t cpu,
		       const struct record *sample, struct sample_memory *ret);
	/* The Python function that the code at an address stands for, or NULL. */
	struct error *(*code_at)(struct source_state *state,
				 struct target *target, uint64_t address,
				 struct code **ret);
	/* The sample has its stack: what the user shall know by now. */
	void (*sampled)(struct source_state *state, struct target *target);
	/* Names for a reader who unwinds what the file keeps as raw stacks. */
	struct error *(*put_names)(struct source_state *state,
				   const struct name_table *names,
				   symbol_sink *sink, void *arg);
};

#define PYTHON_SOURCE_DECLARE_(name) \
	extern const struct python_source python_source_##name;
PYTHON_SOURCES(PYTHON_SOURCE_DECLARE_)

/* In the order of PYTHON_SOURCES; NULL at the end. */
extern const struct python_source *const python_sources[];

/* By name; NULL: there is no such source. */
const struct python_source *python_source_named(const char *name);

/* Why a source that kaa would rather use is not used. */
struct source_refusal {
	const struct python_source *source;
	/* NULL: there is none. */
	struct error *why;
};

/*
 * Opens the wanted source; NULL: the first that the machine lets us use, and
 * *refusal, which is empty before, is of the first that it does not. Where a
 * source is of no use with what samples hold there are no Python frames.
 */
struct error *python_source_open(const struct python_source *wanted,
				 enum callchain_mode callchain,
				 const struct source_setup *setup,
				 struct source_state **ret,
				 struct source_refusal *refusal);
void python_source_close(struct source_state *state);

/* Something was lost in the ring of a CPU: ring->broken(), if there is one. */
void python_source_broken(struct source_state *state, size_t cpu);

#endif

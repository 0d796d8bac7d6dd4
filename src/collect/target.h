/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded process: its address space as the unwinder wants it, and the
 * Python in it.
 *
 * One for each program that a struct process runs: exec begins a new one. A
 * Python is looked for when an executable mapping comes; a forked child starts
 * without a target, so its Python is found again.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_TARGET_H
#define KAA_COLLECT_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"
#include "collect/kept_code.h"
#include "collect/made_look.h"
#include "collect/target_file.h"
#include "collect/trampolines.h"
#include "process/process.h"
#include "python/threads.h"
#include "sys/remote_memory.h"
#include "unwind/unwind.h"

enum python_state {
	/* No mapping with a CPython so far. */
	PYTHON_NONE,
	/* Found and readable; `python` is filled in. */
	PYTHON_FOUND,
	/* Found, but refused or not readable; `refused` says why. */
	PYTHON_REFUSED,
};

/* Whose numbers the processes have that it sees. */
enum pid_namespace {
	PID_NAMESPACE_UNKNOWN,
	/* Those that kaa sees, too. */
	PID_NAMESPACE_OWN,
	PID_NAMESPACE_NESTED,
};

struct target {
	uint32_t pid;
	struct process *process;
	/* Those of all targets. */
	struct target_files *files;
	enum python_state state;
	struct walker_process python;
	/* The interpreter and where it lies; NULL: none was found. */
	const struct py_binary *binary;
	const char *path;
	uint64_t bias;
	/* Borrowed from the file's module, or `own_refusal`. */
	const struct error *refused;
	struct error *own_refusal;
	/* The time of its exec, or of the fork; 0: before the recording. */
	uint64_t since;
	/* What the process was before that exec, or NULL. */
	struct target *previous;
	/* It has called exec since, then: its memory is no longer there. */
	bool replaced;
	uint64_t until;
	/*
	 * The file in which the image of Python code is mapped for it, or will be
	 * when the round is over: before the first sample that needs it, whose
	 * time this is. 0: none.
	 */
	uint32_t image_in;
	uint64_t image_time;
	/* A sample of it was handled: it was seen to that it has a name. */
	bool is_named;
	/* The walker has read a stack of it; knows where its greenlets are. */
	bool walked;
	bool switches_told;
	/* The file that has a PYTHON record of it; 0: none. */
	uint32_t announced_in;
	/* The interpreter that was refused can have trampolines. */
	bool takes_trampolines;
	/* The user was told about the refusal; that of its perf map. */
	bool reported;
	bool map_reported;
	enum pid_namespace pid_namespace;
	/* Where the names of its threads were found last. */
	struct py_threads_hints thread_hints;
	struct remote_memory memory;
	/* NULL until one is looked for; see target_trampolines(). */
	struct trampolines *trampolines;
	/* Code that is in no file, as it was. */
	struct kept_code kept_code;
	/* The code that it has registered. */
	struct made_look made;
	/* The unwinder's view; arg is this target. */
	struct unwind_target unwind;
	/* Time for which `unwind` answers. */
	uint64_t time;
};

/*
 * All targets of a recording. What a process is now is attached to it
 * (process_attach()), and has what it was before behind it.
 */
struct target_list {
	VEC(struct target *) all;
	/* What they map. */
	struct target_files files;
};
void target_list_deinit(struct target_list *list);

/* The target of a process; NULL: it has none yet. */
struct target *target_find(const struct process *process);
/* The same, made on first use. Fails for want of memory only. */
struct error *target_get(struct target_list *list, struct process *process,
			 struct target **ret);

/*
 * The process called exec: a new target takes its place, for samples from that
 * time on. Samples from before may still be to come; target_of() finds theirs.
 */
struct error *target_exec(struct target_list *list, struct process *process,
			  uint64_t time);

/*
 * Its trampolines, made on first use. owner: see struct trampolines. Fails for
 * want of memory only.
 */
struct error *target_trampolines(struct target *target, uid_t owner,
				 struct trampolines **ret);

/* The target that the process was at that time. */
struct target *target_of(struct target *target, uint64_t time);

/*
 * Frees what was over before that time, to which no sample leads any more; each is
 * shown to `gone` first.
 */
void target_list_forget(struct target_list *list, uint64_t before,
			void (*gone)(void *arg, const struct target *target),
			void *arg);

/*
 * Looks whether a mapping holds a CPython. If the state becomes PYTHON_FOUND,
 * `python` is what the walker needs to know.
 */
struct error *target_mmap(struct target *target, struct process_map *map);

/*
 * A child has at its fork what its parent has: takes over the Python that was found
 * there. False: none was that the child has, too.
 */
bool target_inherit(struct target *child, const struct target *parent,
		    uint64_t time);

/* target_mmap() for all mappings, until a Python is found. */
struct error *target_search(struct target *target);

/* Prepares `unwind` for a sample of that time. */
void target_at(struct target *target, uint64_t time);
/*
 * `unwind.space` names the mappings of that time. Of times before the latest change
 * it does not: those have one number all together.
 */
bool target_knows_maps(const struct target *target);

/*
 * Brings pages of a stack into memory that its thread has not used so far: the
 * kernel's copy of a stack ends at such a page, for it cannot wait for memory
 * at a sample. They are read, which changes nothing in them; what stands there
 * is not used, being of later than any sample at hand. A frame with a large
 * array would else hide its callers in every sample.
 */
void target_populate_stack(struct target *target, uint64_t from, uint64_t to);

/*
 * The function of registered code that an address lies in, at target_at()'s
 * time, or NULL.
 */
const struct made_symbol *target_made_symbol(const struct target *target,
					     uint64_t address);

/* The address lies in the evaluation function of the target's Python. */
static inline bool target_is_eval(const struct target *target, uint64_t address)
{
	return target->binary &&
	       py_binary_is_eval(target->binary, address - target->bias);
}

#endif

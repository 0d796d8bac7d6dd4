/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that a recording and this machine know about names: what stands behind
 * an address of a process.
 *
 * Frames are cached by (set of maps, process, address). The cache is emptied
 * by names_clear(), which ends the life of all frames.
 */
#ifndef KAA_CONVERT_FRAME_NAMES_H
#define KAA_CONVERT_FRAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "convert/convert.h"
#include "convert/frame_cache.h"
#include "convert/image.h"
#include "convert/interpreter.h"
#include "convert/jit.h"
#include "convert/python_code.h"
#include "process/process.h"
#include "profile/index.h"
#include "profile/metadata.h"
#include "symbolize/symbolize.h"

enum address_mode {
	ADDRESS_USER,
	ADDRESS_KERNEL,
	/* The part of an exec's chain that belongs to the program before it. */
	ADDRESS_BEFORE_EXEC,
	/* Neither: a hypervisor's, a guest's, not known. */
	ADDRESS_OTHER,
};

/* Where and when an address is looked up. */
struct place {
	struct process *process;
	uint32_t pid;
	/* Numbers the process's set of maps; see process_generation(). */
	uint64_t space;
	uint64_t time;
};

/* What is known of one process beside its maps. */
struct process_names {
	/* Its perf map, if it has anonymous code. */
	struct dso *perf_map;
	bool loaded;
};

/* What a recording may have; more is left out. */
enum { NAMES_PYTHONS_MAX = 16384, NAMES_SOURCES_MAX = 16384 };

/* A file of an interpreter, and its PY_VERSION_HEX. */
struct names_python {
	const char *path;
	uint32_t version;
};

struct names {
	const struct convert_options *options;
	struct process_table *table;
	struct dso_store *store;
	struct symbolizer *symbolizer;
	struct images images;
	struct python_code code;
	struct jits jits;
	struct interpreters interpreters;
	/* Of PYTHON records; and by their paths. */
	VEC(struct names_python) pythons;
	struct index python_index;
	/* Of those that have one, in the order of the file. */
	VEC(struct metadata_script) scripts;
	/* Of SOURCE records. */
	VEC(struct metadata_source) sources;
	/* pids of SYMBOL records. */
	struct map named_pids;
	/* One more than the ranges that SYMBOL and KSYMBOL records have named. */
	uint32_t ranges;
	/* By process_index(). */
	VEC(struct process_names) processes;
	/* What is mapped at the Python addresses, and what stands for it. */
	struct dso *python_dso;
	struct dso *no_python_dso;
	bool kernel_known;
	struct frame_cache cache;
	/* Strings. */
	struct arena arena;
};

/* table and options must outlive names; features may be NULL. */
struct error *names_init(struct names *names,
			 const struct convert_options *options,
			 struct process_table *table,
			 const struct features *features);
void names_deinit(struct names *names);

/* The file of an interpreter, if it is new. The path is copied. */
struct error *names_add_python(struct names *names, const char *path,
			       uint32_t version);
/* Takes over what a payload of the kaa stream says about names. */
struct error *names_add_payload(struct names *names,
				const struct kaa_payload *payload);
struct error *names_add_ksymbol(struct names *names,
				const struct record *record);
/* Learns the kernel's identity, and the image of Python code, from an MMAP. */
struct error *names_see_map(struct names *names, const struct record *record);

/*
 * Makes the dso of a map that has just been recorded, so that dsos are in the
 * order of their maps, as in perf.
 */
struct error *names_add_map(struct names *names, const struct record *record);

/*
 * The frame of an address; the innermost one, if others are inlined into it
 * (convert_frame.outer). caller: it is a return address, to be named by the
 * call before it.
 */
struct error *names_frame(struct names *names, const struct place *place,
			  uint64_t address, enum address_mode mode,
			  bool caller, struct convert_frame **ret);

/*
 * The user addresses that are asked for next, so that the processor can bring
 * what is known of them nearer, all at a time; others do no harm.
 */
void names_expect(const struct names *names, const struct place *place,
		  const uint64_t *addresses, size_t count);

/*
 * The bytes of a process's memory where its perf map has trampolines, by what
 * CPython's look like; zero between them. False if there are none, or if stacks
 * are to end there (quirks.trampolines_not_unwound).
 */
bool names_trampoline_code(struct names *names, const struct place *place,
			   uint64_t address, void *buf, size_t size);

/* True if a user address is in no map now, but was before an exec. */
bool names_before_exec(const struct place *place, uint64_t address);

/* Whether what a frame or a stack is called still holds at that time. */
static inline bool names_hold(const struct names *names, uint32_t ranges,
			      uint64_t from, uint64_t to, uint64_t time)
{
	return (!ranges || ranges == names->ranges) && time >= from && time < to;
}

/* Bytes that the cache holds. */
size_t names_memory(const struct names *names);
void names_clear(struct names *names);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of another profiler says: functions, places, a tree of stacks,
 * events, threads and samples. Readers fill it (import/import_format.h), and
 * import/recording.h writes it.
 *
 * Everything is a column with numbers from 0 on; equal content has an equal
 * number, but for samples. PROFILE_NONE is "none". Bytes are foreign: a reader
 * checks numbers before it gives them, and the model bounds what they add up to.
 *
 * Errors are no memory and ERROR_LIMIT. Not thread-safe.
 */
#ifndef KAA_IMPORT_IMPORT_MODEL_H
#define KAA_IMPORT_IMPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/event_kind.h"
#include "base/vec.h"
#include "profile/index.h"
#include "profile/profile.h"
#include "profile/texts.h"

/* The most that weights and times may add up to. */
#define IMPORT_SUM_MAX (1ull << 62)
/*
 * The steps of all stacks together. A step costs a file at least a byte, unless
 * it may name several functions that were inlined.
 */
#define IMPORT_STEPS_MAX (1ull << 32)
/* The texts of all places, threads and events together, each time they are named. */
#define IMPORT_TEXTS_MAX (1ull << 38)
enum {
	IMPORT_EVENTS_MAX = 1000,
	IMPORT_FUNCTIONS_MAX = 1 << 26,
	IMPORT_SAMPLES_MAX = 100 * 1000 * 1000,
	IMPORT_NODES_MAX = 1 << 27,
	/* Frames of a stack; readers that make stacks of lists hold to it. */
	IMPORT_DEPTH_MAX = 1 << 20,
	/* Of a text that many bytes are kept: more than the kaa stream has. */
	IMPORT_TEXT_MAX = 1 << 16,
};

struct import_function {
	/* A text; "foo" without "py::". */
	uint32_t name;
	/*
	 * A text or PROFILE_NONE: of Python code its source, of other code the
	 * file that holds it.
	 */
	uint32_t file;
	/* Of Python code that of its def; 0: not known. */
	uint32_t line;
	/* enum profile_frame_kind */
	uint32_t kind;
};

/* line is 0 where it is not known, and of all code but Python's. */
struct import_place {
	uint32_t function;
	uint32_t line;
};

/* The place below its caller; parent is PROFILE_NONE for the outermost one. */
struct import_node {
	uint32_t parent;
	uint32_t place;
};

/* What it stands for, its name says (import/event_attr.h). */
struct import_event {
	uint32_t name;
	enum event_unit unit;
	/* Between two samples, or samples a second; 0: not known. */
	uint64_t period;
	bool is_freq;
	/* No native code is in its stacks, though the program ran some. */
	bool python_only;
};

struct import_thread {
	int32_t pid;
	int32_t tid;
	/* Texts, or PROFILE_NONE. */
	uint32_t name;
	uint32_t process;
};

/* count samples that weigh `weight` together. */
struct import_sample {
	/* ns from the first one of the file. */
	uint64_t time;
	uint64_t weight;
	uint64_t count;
	/* PROFILE_NONE: an empty stack. */
	uint32_t node;
	uint32_t thread;
	uint32_t event;
};

struct import_model {
	struct texts texts;
	VEC(struct import_function) functions;
	VEC(struct import_place) places;
	/* A parent stands before its children. */
	VEC(struct import_node) nodes;
	VEC(struct import_event) events;
	VEC(struct import_thread) threads;
	VEC(struct import_sample) samples;
	/* Samples have times; else they have the order of the file. */
	bool has_times;
	/* The file itself says which events are python_only. */
	bool says_python_only;
	/* The first moment, ns since 1970; 0: not known. */
	uint64_t start;
	/* Texts, or PROFILE_NONE. */
	uint32_t command;
	uint32_t hostname;
	/* What a process is called of which nothing is known: the file. */
	uint32_t title;
	/* Private. */
	struct index function_index;
	struct index place_index;
	struct index node_index;
	struct index thread_index;
	uint64_t weight;
	uint64_t count;
	uint64_t steps;
	uint64_t text_bytes;
};

#define IMPORT_MODEL_INIT          \
	{ .command = PROFILE_NONE, \
	  .hostname = PROFILE_NONE, \
	  .title = PROFILE_NONE }

void import_model_deinit(struct import_model *model);

/* n bytes up to the first NUL, as all texts that are given; what is longer is cut. */
struct error *import_text(struct import_model *model, const char *text, size_t n,
			  uint32_t *ret);

/*
 * What a format says of a step: the name, its file ("": none), the line of the
 * def and that of the place (0: not known). Where the format does not say what
 * kind of code it is, IMPORT_GUESS: a marker of kaa's by its name, Python by its
 * file and line, native code else.
 */
#define IMPORT_GUESS UINT32_MAX

struct import_step {
	const char *name;
	const char *file;
	uint32_t def_line;
	uint32_t line;
	uint32_t kind;
};

/* The place of such a step. */
struct error *import_place(struct import_model *model,
			   const struct import_step *step, uint32_t *ret);
/* parent and place are the model's. */
struct error *import_node(struct import_model *model, uint32_t parent,
			  uint32_t place, uint32_t *ret);
/*
 * Names are NULL where they are not known. Numbers below 1 become 1, but for -1,
 * which is what the kernel calls a thread that is ending.
 */
struct error *import_thread(struct import_model *model, int64_t pid, int64_t tid,
			    const char *name, const char *process,
			    uint32_t *ret);
/*
 * By its name, as perf and kaa call events ("cpu" and "wall" are clocks, "time" is
 * one of which nothing is known); unit is that of its weights, as the file has it.
 * The one of that name and unit, if there is one.
 */
struct error *import_event(struct import_model *model, const char *name,
			   enum event_unit unit, uint32_t *ret);
/* All events have Python code alone, if there is some in the stacks and no other. */
void import_guess_python_only(struct import_model *model);
/* Handles are the model's. A sample that counts nothing is left out. */
struct error *import_sample(struct import_model *model,
			    const struct import_sample *sample);

#endif

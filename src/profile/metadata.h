/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording says of itself: the command, the machine, when.
 *
 * What means something to more than one view is a field. The rest, which tells
 * of the file's own format, is a detail: a text as perf shows it. `order` has
 * what the file says, one after the other, for views that show all of it.
 *
 * Strings live as long as the metadata; NULL: the file does not say.
 */
#ifndef KAA_PROFILE_METADATA_H
#define KAA_PROFILE_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/vec.h"

enum metadata_what {
	/* recorded, and where the data is in the file. */
	METADATA_FILE,
	METADATA_HOSTNAME,
	METADATA_OS_RELEASE,
	METADATA_TOOL_VERSION,
	METADATA_ARCH,
	METADATA_CPUS,
	METADATA_CPU,
	METADATA_CPUID,
	METADATA_MEMORY,
	METADATA_COMMAND,
	METADATA_TIMES,
	METADATA_CLOCK_RESOLUTION,
	METADATA_CLOCK,
	/* A text of its own: "text", or "text : value". */
	METADATA_DETAIL,
	/* The name of something that takes too many lines to be shown. */
	METADATA_UNSHOWN,
	/* The names in `missing`. */
	METADATA_MISSING,
};

struct metadata_item {
	enum metadata_what what;
	const char *text;
	const char *value;
};

/* A Python that was recorded: PY_VERSION_HEX, and the interpreter's file. */
struct metadata_python {
	uint32_t version;
	const char *path;
};

/* What the command line of a process that ran Python says it ran. */
struct metadata_script {
	uint32_t pid;
	const char *script;
};

/* A source file of sampled code, as it was. */
struct metadata_source {
	const char *path;
	uint64_t size;
	struct content_hash hash;
};

/* One moment on the recording's clock (clockid_t) and on the wall, ns. */
struct metadata_clock {
	uint32_t id;
	uint64_t ns;
	uint64_t wall_ns;
};

/* Zero-initialise to start. */
struct metadata {
	/* When the file was written, s since 1970; 0: not known. */
	int64_t recorded;
	uint64_t data_offset;
	uint64_t data_size;
	/* The recorder with its options, and the command. */
	VEC(const char *) command;
	/* Of the machine. */
	const char *hostname;
	const char *os_release;
	const char *arch;
	const char *cpu;
	const char *cpuid;
	uint32_t cpus_online;
	uint32_t cpus_available;
	uint64_t memory_kb;
	/* Of the recorder. */
	const char *tool_version;
	/* ns of the recording's clock. */
	uint64_t first_sample_time;
	uint64_t last_sample_time;
	uint64_t clock_resolution;
	struct metadata_clock clock;
	/* kaa's recorder wrote the Python frames: they need no other file. */
	bool has_python_frames;
	VEC(struct metadata_python) pythons;
	/* As they were seen: what comes later is another program of that process. */
	VEC(struct metadata_script) scripts;
	/* By path, once metadata_sort_sources() was called. */
	VEC(struct metadata_source) sources;

	VEC(struct metadata_item) order;
	VEC(const char *) missing;
	struct arena memory;
};

void metadata_deinit(struct metadata *metadata);
#define _cleanup_metadata_ _cleanup_(metadata_deinit)

/* Copies s, which may be NULL, to *ret. */
struct error *metadata_copy(struct metadata *metadata, const char *s,
			    const char **ret);
/* The field, which is filled, stands here in the file. */
struct error *metadata_add(struct metadata *metadata, enum metadata_what what);
/* Copies the texts. value: NULL if there is none. */
struct error *metadata_add_text(struct metadata *metadata,
				enum metadata_what what, const char *text,
				const char *value);

/* All sources are in. */
void metadata_sort_sources(struct metadata *metadata);
/* What is known of the source file of that path, or NULL. */
const struct metadata_source *
metadata_find_source(const struct metadata *metadata, const char *path);

/* What was recorded. */
enum recording_subject {
	SUBJECT_COMMAND,
	/* Processes or threads that ran already. */
	SUBJECT_RUNNING,
	SUBJECT_MACHINE,
};

/* By the options of the recorder, as kaa and perf have them, which stand before the command. */
enum recording_subject metadata_subject(const struct metadata *metadata);
/*
 * Which word of the command is the first of the recorded program, behind the recorder's
 * options. 0: there is none, or an option is not known, so that the word behind it may
 * be its value.
 */
size_t metadata_program(const struct metadata *metadata);
/* The recorder kept raw stacks for other tools: --call-graph dwarf. */
bool metadata_keeps_raw_stacks(const struct metadata *metadata);
/* A program recorded a part of itself (kaa.profile(), docs/inside-python.md). */
bool metadata_is_of_itself(const struct metadata *metadata);
/*
 * Of SUBJECT_RUNNING the numbers as they were given, "4711" or "12,13", borrowed, and
 * by which option, 'p' or 't'. NULL: another subject, or no numbers.
 */
const char *metadata_running(const struct metadata *metadata, char *option);

#endif

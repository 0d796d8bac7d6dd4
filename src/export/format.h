/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as a file of another tool.
 *
 * How to add a format `foo`:
 *  1. src/export/foo.c: the function that writes it, export_foo(), as in
 *     speedscope.c. What formats share is in stacks.h, groups.h and json.h
 *     (docs/export.md).
 *  2. EXPORT_FORMATS below: one row with its name, what it holds, what it
 *     leaves out, and a sentence or two for the help, in the order of
 *     `kaa help export`.
 *  3. src/export/meson.build: 'foo.c'.
 *  4. tests/cli/test_export.py: its name in FORMATS; and what it writes, held
 *     against `kaa script`. tests/tools/export-readers: a tool that reads it.
 *  5. The table of docs/export.md.
 *
 * What a writer gets: a finished profile (profile/profile.h), to be read only.
 * With EXPORT_TIMES a row of it is a sample, and the rows are in the order of
 * time. Else a row stands for all samples that are equal, as many as its count
 * says, with the time of the first.
 * What it gives: the file, on a stream that its caller opens, checks for failed
 * writes and closes. Names come from recordings and may hold any byte: the
 * writer escapes what its format takes for something else.
 */
#ifndef KAA_EXPORT_FORMAT_H
#define KAA_EXPORT_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "export/stacks.h"
#include "profile/profile.h"

enum export_traits {
	/* The writer needs the time of each sample. */
	EXPORT_TIMES = 1 << 0,
	/* A file holds all events, unless one is asked for. */
	EXPORT_EVENTS = 1 << 1,
	/* Nothing for a terminal. */
	EXPORT_BINARY = 1 << 2,
	/* It has room for what changed since another recording. */
	EXPORT_COMPARES = 1 << 3,
	/* Native code counts as the Python function that calls it, unless it is asked for. */
	EXPORT_PYTHON = 1 << 4,
};

/* Of several formats. */
#define EXPORT_NO_PLACES "the addresses of functions or the CPU of each sample"

/*
 * X(name, traits, what files of it do not hold, help), in the order of `kaa help
 * export`; the first is the default, where the file's name tells no other.
 */
#define EXPORT_FORMATS(X)                                                      \
	X(collapsed, 0, "the time of each sample or the numbers of threads",   \
	  "a line for each stack with its number of samples. For polled "      \
	  "recordings and for off-cpu, whose samples stand for different "     \
	  "lengths of time, the number is in microseconds. FlameGraph, "       \
	  "inferno and speedscope read it. It holds one event and no times.")  \
	X(speedscope, EXPORT_TIMES | EXPORT_EVENTS,                            \
	  "the time of each sample, only their order",                         \
	  "a file for speedscope (https://www.speedscope.app): a profile of "  \
	  "all threads, then each thread in the order of time.")               \
	X(pprof, EXPORT_TIMES | EXPORT_EVENTS | EXPORT_BINARY,                 \
	  "the time of each sample",                                           \
	  "a gzipped profile for pprof (go tool pprof) and what reads its "    \
	  "files: functions and lines, with the labels thread, process, pid "  \
	  "and tid.")                                                          \
	X(otlp, EXPORT_TIMES | EXPORT_EVENTS | EXPORT_BINARY,                  \
	  EXPORT_NO_PLACES,                                                    \
	  "OpenTelemetry profiles (v1development) in the layout of "           \
	  "opentelemetry-proto 1.10, as a Collector takes them by POST: "      \
	  "processes, threads, functions, lines and times. A reader that was "  \
	  "made for another version of the layout shows wrong names.")                                             \
	X(firefox, EXPORT_TIMES | EXPORT_EVENTS,                               \
	  "the source code of functions, so the profiler cannot show it",      \
	  "a file for the Firefox Profiler (https://profiler.firefox.com): "   \
	  "threads over time, with functions and lines.")                      \
	X(callgrind, EXPORT_EVENTS,                                            \
	  "threads, the time of each sample or whole stacks",                  \
	  "callgrind's format for KCachegrind and callgrind_annotate: lines, " \
	  "and which function calls which.")                                   \
	X(pstats, EXPORT_BINARY | EXPORT_PYTHON,                               \
	  "lines, threads, the time of each sample, whole stacks or numbers "  \
	  "of calls: what it calls ncalls are samples",                        \
	  "what cProfile writes, for python3 -m pstats, snakeviz and "         \
	  "gprof2dot: functions and their callers. What these tools show as "  \
	  "the number of calls is that of samples, and tottime is the own "    \
	  "time of kaa report: code in C counts as the Python function that "  \
	  "calls it. --native lists it apart. It holds one event.")             \
	X(chrome, EXPORT_TIMES,                                                \
	  "single samples: a function that goes on is one slice",              \
	  "trace events for Perfetto (https://ui.perfetto.dev) and "           \
	  "about:tracing: for each thread slices over time. It holds one "     \
	  "event, of time.")                                                   \
	X(perfetto, EXPORT_TIMES | EXPORT_EVENTS | EXPORT_BINARY,              \
	  EXPORT_NO_PLACES,                                                    \
	  "a trace for Perfetto (https://ui.perfetto.dev): samples of all "    \
	  "events on the tracks of their threads, with lines. Perfetto's "     \
	  "flame graphs count samples; for each event a counter track adds "   \
	  "up what they weigh.")                                                            \
	X(json, EXPORT_TIMES | EXPORT_EVENTS, EXPORT_NO_PLACES,                \
	  "kaa's own JSON, for scripts (docs/formats/export-json.md): "        \
	  "events, threads, functions, stacks with lines, and samples.")       \
	X(html, EXPORT_TIMES | EXPORT_EVENTS | EXPORT_COMPARES,                \
	  "the address or the CPU of each sample",                             \
	  "a page that any browser opens, without a network (docs/page.md): "  \
	  "functions and lines, flame graph, call tree, source and threads "   \
	  "over time, to search, to filter and to send. It has the text of "   \
	  "source files that have not changed since the recording, and the "   \
	  "instructions of the hottest functions in C. Of two recordings it "  \
	  "shows the second, and what changed since the first.")

struct code_places;
struct page_compare;

struct export_options {
	/* Samples of this event alone, or PROFILE_NONE: of all. */
	uint32_t event;
	struct export_stacks_options stacks;
	/* The current folder, for short names of files, or NULL. */
	const char *folder;
	/* In front of the paths of source files, or NULL. */
	const char *symfs;
	/* The profile has not all samples of its recordings. */
	bool is_filtered;
	/* Of html: where code is (explore/code.h), or NULL. */
	const struct code_places *code;
	/* Of html: what a second recording is compared with (export/page_changes.h), or NULL. */
	const struct page_compare *compare;
	/* NULL; or where writing takes longer than reading: samples so far, and all. */
	void (*progress)(void *arg, uint64_t done, uint64_t size);
	void *progress_arg;
};

/* Errors: no memory, or what the format cannot hold at all. */
typedef struct error *export_write_fn(const struct profile *profile,
				      const struct export_options *options,
				      FILE *out);

#define EXPORT_DECLARE(name, traits, without, help) \
	export_write_fn export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

struct export_row {
	/* For --format. */
	const char *name;
	/* enum export_traits */
	unsigned int traits;
	/* "the time of each sample": what a recording has and the file does not hold. */
	const char *without;
	export_write_fn *write;
};

/* Ends with a row of NULLs. */
extern const struct export_row export_formats[];

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands that read a recording have in common: the file and its
 * ownership check, which samples, and where names come from.
 */
#ifndef KAA_CMD_INPUT_H
#define KAA_CMD_INPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "cmd/options.h"
#include "cmd/time_ranges.h"
#include "convert/convert.h"

struct input_ids VEC_BODY(int64_t);
struct input_words VEC_BODY(const char *);

/* Zero-initialise; input_deinit() frees. */
struct input {
	/* NULL: perf.data, or standard input if that is a pipe. */
	const char *path;
	bool force;
	const char *comms;
	const char *pids;
	const char *tids;
	const char *cpus;
	const char *time;
	/* --time counts from the first sample. */
	bool relative_time;
	const char *symfs;
	const char *kallsyms;
	uint64_t max_stack;
	bool demangle;
	bool inlines;
	bool like_perf;
	int verbose;
	/* Owned; what convert_options points to. */
	struct input_ids pid_list;
	struct input_ids tid_list;
	struct input_ids cpu_list;
	struct input_words comm_list;
	struct time_ranges time_list;
	VEC(char *) words;
	char *buildid_dir;
	struct convert_options options;
};

/* Rows of the option table of a command whose settings have `input`. */
#define INPUT_FILE_OPTIONS(settings)                                         \
	OPT_STRING('i', "input", settings, input.path, "<file>",             \
		   "the recording; '-' is standard input"),                  \
	OPT_BOOL('f', "force", settings, input.force,                        \
		 "read a file that another user owns, too")
#define INPUT_FILTER_OPTIONS(settings)                                       \
	OPT_STRING(0, "pid", settings, input.pids, "<pid,...>",              \
		   "samples of these processes only"),                       \
	OPT_STRING(0, "tid", settings, input.tids, "<tid,...>",              \
		   "samples of these threads only"),                         \
	OPT_STRING('C', "cpu", settings, input.cpus, "<cpu,...>",            \
		   "samples on these CPUs only (0,2-3)"),                    \
	OPT_STRING(0, "time", settings, input.time, "<from,to>",             \
		   "samples between two times in seconds, either may be left out, or in parts of the recording: 10%/2, 0%-10%")
#define INPUT_NAME_OPTIONS(settings)                                         \
	OPT_STRING(0, "symfs", settings, input.symfs, "<dir>",               \
		   "look for files below this directory"),                   \
	OPT_STRING(0, "kallsyms", settings, input.kallsyms, "<file>",        \
		   "symbols of the kernel, instead of the running one's"),   \
	OPT_U64(0, "max-stack", settings, input.max_stack, "<n>",            \
		"frames of a stack, from the leaf (0: all)"),                \
	OPT_BOOL(0, "demangle", settings, input.demangle,                    \
		 "C++ and Rust names for people (the default)"),             \
	OPT_BOOL(0, "inline", settings, input.inlines,                       \
		 "show inlined functions (the default of report)"),        \
	OPT_BOOL(0, "like-perf", settings, input.like_perf,                  \
		 "what perf 7.2 prints, its faults included"),               \
	OPT_COUNT('v', "verbose", settings, input.verbose,                   \
		  "say more about what is missing")

/* A paragraph of the description: profile/symbol_word.h for users. */
#define INPUT_FUNCTION_NAMES                                                   \
	"A Python function has several names: dedupe, Orders.dedupe,\n"        \
	"orders.Orders.dedupe, py::dedupe and dedupe:orders.py may all mean the\n" \
	"same one. orders.py means every function of that file, orders.py:37\n" \
	"the one that was sampled at that line. --like-perf knows whole names\n" \
	"alone, such as py::Orders.dedupe:/srv/orders.py.\n"

void input_set_defaults(struct input *input);
/*
 * Checks the words and fills input->options. To be called once, before
 * input_open().
 */
struct error *input_prepare(struct input *input);
/*
 * Opens the recording's file; *path is what it is called. ERROR_PERMISSION if it
 * is a stranger's, unless input->force.
 */
struct error *input_open_file(const struct input *input, const char **path,
			      int *ret);
/* Opens the recording; input must outlive the converter. */
struct error *input_open(struct input *input, struct converter **ret);
void input_deinit(struct input *input);

/*
 * Splits text at commas into words owned by input, appended to *ret. NULL: no
 * word.
 */
struct error *input_split(struct input *input, const char *text,
			  struct input_words *ret);

#endif

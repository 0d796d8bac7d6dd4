/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands that read a recording have in common: the file and its
 * ownership check, which samples, and where names come from.
 */
#ifndef KAA_CMD_READING_INPUT_H
#define KAA_CMD_READING_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lists.h"
#include "base/quirks.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cmd/framework/options.h"
#include "cmd/reading/time_ranges.h"
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
		   "read this recording (default: perf.data, or standard input if that is a pipe; '-': standard input)"),                  \
	OPT_BOOL('f', "force", settings, input.force,                        \
		 "read the recording even if another user owns it")
#define INPUT_COMMS_OPTION(settings)                                         \
	OPT_STRING('c', "comms", settings, input.comms, "<name,...>",        \
		   "use only samples of threads, or tasks of asyncio, with these names")
#define INPUT_FILTER_OPTIONS(settings)                                       \
	OPT_STRING(0, "pid", settings, input.pids, "<pid,...>",              \
		   "use only samples of these processes"),                       \
	OPT_STRING(0, "tid", settings, input.tids, "<tid,...>",              \
		   "use only samples of these threads"),                         \
	OPT_STRING('C', "cpu", settings, input.cpus, "<cpu,...>",            \
		   "use only samples from these CPUs (0,2-3)"),                    \
	OPT_STRING(0, "time", settings, input.time, "<from,to>",             \
		   "use only samples between two times in seconds; either may be left out. Or use a part of the recording: 10%/2 is the second tenth, 0%-10% the first")
#define INPUT_NAME_OPTIONS(settings)                                         \
	OPT_STRING(0, "symfs", settings, input.symfs, "<dir>",               \
		   "look for files below this directory"),                   \
	OPT_STRING(0, "kallsyms", settings, input.kallsyms, "<file>",        \
		   "read kernel symbols from this file instead of the running kernel"),   \
	OPT_U64(0, "max-stack", settings, input.max_stack, "<n>",            \
		"show at most <n> frames of a stack, counted from the leaf (0: all)"),                \
	OPT_BOOL(0, "demangle", settings, input.demangle,                    \
		 "demangle C++ and Rust names (default)"),             \
	OPT_BOOL(0, "inline", settings, input.inlines,                       \
		 "show inlined functions (default in report)"),        \
	OPT_BOOL(0, "like-perf", settings, input.like_perf,                  \
		 "print what perf 7.2 prints, including its faults"),               \
	OPT_COUNT('v', "verbose", settings, input.verbose,                   \
		  "print more about what is missing")

/* A paragraph of the description: profile/symbol_word.h for users. */
#define INPUT_FUNCTION_NAMES                                                 \
	"A Python function has several names: dedupe, Orders.dedupe, "       \
	"orders.Orders.dedupe, py::dedupe and dedupe:orders.py may all "     \
	"mean the same function. "                                           \
	"orders.py means every function of that file, and orders.py:37 the " \
	"function that was sampled at that line. "                           \
	"--like-perf knows only whole names, such as "                       \
	"py::Orders.dedupe:/srv/orders.py.\n"

void input_set_defaults(struct input *input);
/* As its first bytes tell. */
bool input_is_recording(const char *path);
/* A recording that is named by a word. ERROR_INVALID_ARGUMENT if one is named already. */
struct error *input_name(struct input *input, const char *word);
/* A word that is no option: if it is a recording it is the input, as above; *ret says so. */
struct error *input_take_word(struct input *input, const char *word, bool *ret);
/* The words of a command that has no other use for them. also: what else may be named, or "". */
struct error *input_take_arguments(struct input *input,
				   const struct arguments *args,
				   const char *also);
/* The output is to be the text of another tool. */
bool input_imitates(const struct input *input);
/* Which of that tool's faults and choices the output is to have. */
struct quirks input_quirks(const struct input *input);
/*
 * Checks the words and fills input->options. To be called once, before
 * input_open().
 */
struct error *input_prepare(struct input *input);
/* Not all samples are asked for. After input_prepare(). */
bool input_is_filtered(const struct input *input);
/*
 * Opens the recording's file; *path is what it is called. ERROR_PERMISSION if it
 * is a stranger's, unless input->force.
 */
struct error *input_open_file(const struct input *input, const char **path,
			      int *ret);
/* Opens the recording; input must outlive the converter. */
struct error *input_open(struct input *input, struct converter **ret);
/*
 * Appends the words that name the recording and which of its samples are meant, as they
 * are typed for another command: " -i x.data --pid 7". Nothing for all of perf.data.
 */
void input_put_words(const struct input *input, struct strbuf *out);
void input_deinit(struct input *input);
/*
 * When the recording of that path was written, ns since 1970, as far as its file
 * tells; else 0.
 */
int64_t input_recorded(const char *path);

/*
 * Splits text at commas into words owned by input, appended to *ret. NULL: no
 * word.
 */
struct error *input_split(struct input *input, const char *text,
			  struct input_words *ret);

static inline struct name_list input_word_list(const struct input_words *words)
{
	return (struct name_list){ words->data, words->count };
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a report shows: the options of `kaa report`, with perf's meanings.
 */
#ifndef KAA_VIEW_REPORT_OPTIONS_H
#define KAA_VIEW_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lists.h"
#include "base/quirks.h"
#include "base/strbuf.h"
#include "profile/location.h"
#include "view/symbol_match.h"

enum report_key {
	REPORT_COMM,
	REPORT_DSO,
	REPORT_SYMBOL,
	/* The symbol that --parent's expression finds in the chain. */
	REPORT_PARENT,
	/* Python lines; for frames without one, the function. */
	REPORT_SRCLINE,
	REPORT_SRCFILE,
	/* In pieces of options.time_quantum. */
	REPORT_TIME,
	/* Instructions per cycle, which nobody knows: perf's empty column. */
	REPORT_IPC,
	/* perf's `pid`: one thread. `tid` is the same. */
	REPORT_THREAD,
	/* perf's `tgid`: one process. */
	REPORT_PROCESS,
	REPORT_CPU,
	/* What the program calls the thread, else its comm. */
	REPORT_THREAD_NAME,
	REPORT_KEYS,
};

/* What a column shows. */
enum report_field {
	REPORT_FIELD_CHILDREN,
	/* What hit the entry itself. */
	REPORT_FIELD_OVERHEAD,
	REPORT_FIELD_SAMPLES,
	REPORT_FIELD_PERIOD,
	/* One of enum report_key. */
	REPORT_FIELD_KEY,
};

struct report_column {
	enum report_field field;
	enum report_key key;
};

/* Each at most once. */
struct report_columns {
	struct report_column list[REPORT_KEYS + REPORT_FIELD_KEY];
	size_t count;
};

enum callgraph_type {
	CALLGRAPH_NONE,
	/* Percentages of the whole. */
	CALLGRAPH_GRAPH,
	/* Percentages of the parent. */
	CALLGRAPH_FRACTAL,
	/* One list of functions a chain. */
	CALLGRAPH_FLAT,
	/* One line a chain. */
	CALLGRAPH_FOLDED,
};

enum callgraph_order {
	/* Caller with children, else callee. */
	CALLGRAPH_ORDER_DEFAULT,
	CALLGRAPH_CALLER,
	CALLGRAPH_CALLEE,
};

enum callgraph_value {
	CALLGRAPH_PERCENT,
	CALLGRAPH_PERIOD,
	CALLGRAPH_COUNT,
};

struct report_callgraph {
	enum callgraph_type type;
	enum callgraph_order order;
	enum chain_key key;
	enum callgraph_value value;
	/* Percent below which a branch is not shown; -g has named it. */
	double threshold;
	bool has_threshold;
	/* Siblings shown at one place; 0: all. */
	uint32_t print_limit;
};

enum report_group {
	/* As the recording has them. */
	REPORT_GROUP_RECORDED,
	/* All events, if the recording has none. */
	REPORT_GROUP_ALL,
	REPORT_GROUP_NONE,
};

struct report_options {
	/* Add up callees in their callers (if there are call chains). */
	bool children;
	/* -n, --show-total-period */
	bool samples;
	bool period;
	/* Percent below which an entry is not shown; negative: not given. */
	double percent_limit;
	struct report_callgraph callgraph;
	/* What makes entries, each at most once; by report_arrange(). */
	enum report_key keys[REPORT_KEYS];
	size_t key_count;
	/* The text of --sort, or NULL: perf omits what it repeats. */
	const char *sort_text;
	/* --sort and --fields; what begins with '+' adds to the defaults. */
	struct report_columns sort;
	struct report_columns fields;
	bool fields_add;
	/*
	 * By report_arrange(): columns from left to right, and what entries are
	 * ordered by if that is not the usual: weight, then keys.
	 */
	struct report_columns columns;
	struct report_columns order;
	/*
	 * --parent, or NULL: perf's own; entries with such a parent only; and
	 * --ignore-callees or NULL. Borrowed.
	 */
	const char *parent;
	bool exclude_other;
	const char *ignore_callees;
	/* Of REPORT_TIME; ns. */
	uint64_t time_quantum;
	/* Native and kernel frames count as the Python code that calls them. */
	bool python_only;
	/* The profile has not all samples of its recordings. */
	bool is_filtered;
	/* Sources with their folders. */
	bool full_source_path;
	/* Inlined functions are shown: perf knows callers' lines then only. */
	bool inlines;
	/* Events that were counted as a group have one table. */
	enum report_group group;
	/* The table of this event comes first; PROFILE_NONE: as recorded. */
	uint32_t first_event;
	/* And no other one is shown. */
	bool one_event;
	/* Percentages of what filters leave. */
	bool relative;
	/* Widths of columns, from left to right; 0: what they need. */
	uint32_t widths[REPORT_KEYS + REPORT_FIELD_KEY];
	size_t width_count;
	/* --comms, --dsos, --symbols, --symbol-filter; borrowed. */
	struct name_list comms;
	struct name_list dsos;
	struct name_list symbols;
	const char *symbol_filter;
	/*
	 * What these two choose of the profile, by report_choose(); NULL: the
	 * option is not given.
	 */
	struct symbol_choice *symbols_choice;
	struct symbol_choice *filter_choice;
	/* --pid, --tid as perf has them: percentages stay those of all. */
	struct id_list pids;
	struct id_list tids;
	/* The text of --time, to be shown; borrowed, NULL: none. */
	const char *time;
	/* Between columns instead of alignment; borrowed, NULL: none. */
	const char *field_separator;
	/* Neither headers nor notes. */
	bool quiet;
	/* Only entries with a symbol. */
	bool hide_unresolved;
	/* Show the header of the file. */
	bool header;
	/* Show the frames of the interpreter itself. */
	bool interpreter_frames;
	/* Cut lines of tables and chains here; 0: never. */
	size_t max_columns;
	/* The same for the titles of tables, and lines of notes go on in the next; 0: never. */
	size_t title_columns;
	/* What is to be as perf has it; by default nothing. */
	struct quirks quirks;
};

/*
 * The defaults of `perf report --stdio`: children, callgraph graph,0.5, order by
 * children, keys comm,dso,symbol.
 */
void report_options_init(struct report_options *options);

/*
 * The argument of -g: print type, threshold, print limit, order, sort key and
 * value, in any order, each abbreviable. NULL is a bare -g: graph,0.5,caller.
 * ERROR_INVALID_ARGUMENT names the token.
 */
struct error *report_parse_callgraph(struct report_options *options,
				     const char *text);

/*
 * The arguments of --sort, borrowed, and --fields. ERROR_INVALID_ARGUMENT names
 * the key.
 */
struct error *report_parse_sort(struct report_options *options,
				const char *text);
struct error *report_parse_fields(struct report_options *options,
				  const char *text);
/*
 * What --sort and --fields, and -g, can have between commas: words, each with a
 * blank behind it.
 */
void report_column_words(struct strbuf *out);
void report_callgraph_words(struct strbuf *out);
/* The argument of -w: numbers between commas. */
struct error *report_parse_widths(struct report_options *options,
				  const char *text);

/* Settles keys, columns and order, once all options are known. */
void report_arrange(struct report_options *options);

/* True if key is among options->keys. */
bool report_has_key(const struct report_options *options, enum report_key key);
/*
 * True if a filter for one name leaves nothing to say in the key's column. Then
 * rows are not ordered by it, either.
 */
bool report_is_elided(const struct report_options *options,
		      enum report_key key);

/* The order of call chains that the options come to. */
bool report_caller_order(const struct report_options *options);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What prints samples and records: its options and its state (view/script/print.h). */
#ifndef KAA_VIEW_SCRIPT_PRINTER_H
#define KAA_VIEW_SCRIPT_PRINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "convert/convert.h"
#include "perfdata/reader.h"
#include "view/script/fields.h"
#include "view/script/filter.h"
#include "view/script/records.h"
#include "view/script/trace.h"

/* A file that was written with per_event. */
struct script_file {
	const char *path;
	long bytes;
	uint64_t samples;
};

/* What a printer has to say to its user, at once. */
struct script_say {
	void (*warn)(const struct error *error, void *arg);
	void (*file)(const struct script_file *file, void *arg);
	void *arg;
};

/* Where text goes. */
struct script_output {
	FILE *file;
	/* NULL: the printer's file. */
	char *path;
	struct strbuf text;
	uint64_t samples;
};

struct script_printer {
	/* Options; to be set. The file is borrowed. */
	FILE *file;
	struct script_say say;
	struct script_fields fields;
	struct script_filter filter;
	struct script_shown shown;
	/* Nothing is printed of a damaged chain. */
	bool damaged_chains_dropped;
	/* Nor of an empty one: not where the event hit. */
	bool empty_chains_kept;
	/* libtraceevent's plugins print what they know. */
	bool tracepoint_plugins;
	bool ns;
	bool latency;
	/* Times from the first that is printed, or from the one before. */
	bool from_first;
	bool from_last;
	/* Lines with all of their file's path. */
	bool full_path;
	/* Borrowed; of records, those on these CPUs alone. */
	const struct id_list *cpus;
	/* The recording's path; NULL: all goes to file. */
	const char *per_event;
	/* The rest is private. */
	struct converter *converter;
	struct script_output standard;
	/* By the index of the event. */
	VEC(struct script_output *) outputs;
	/* Width of the widest event name, and events seen for it. */
	int name_width;
	size_t name_count;
	/* Widest data_src so far. */
	size_t data_src_width;
	/* 0: no time was printed yet. */
	uint64_t first_time;
	uint64_t last_time;
	struct script_trace *trace;
	bool trace_tried;
	/* Of the sample at hand. */
	uint64_t time;
	/* cgroup id to an index of paths. */
	struct map cgroups;
	VEC(char *) cgroup_paths;
};

static inline const struct features *
script_features(const struct script_printer *printer)
{
	return perfdata_reader_features(converter_reader(printer->converter));
}

/* The event's samples are printed with their chains. */
static inline bool script_has_chain(const struct script_printer *printer,
				    const struct event *event)
{
	return !printer->fields.no_chains &&
	       (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN);
}

#endif

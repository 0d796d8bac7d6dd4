/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa script`: the samples and records of a converter, printed as they come.
 *
 *	struct script_printer printer = { ... options ... };
 *	script_printer_start(&printer, converter);
 *	... converter_run(converter, script_print_sample, &printer) ...
 *	script_printer_end(&printer);
 *	script_printer_deinit(&printer);
 *
 * Text goes to a file, or, with per_event, into one for each event beside the
 * recording.
 */
#ifndef KAA_VIEW_SCRIPT_PRINT_H
#define KAA_VIEW_SCRIPT_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "convert/convert.h"
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
	void (*warn)(const char *text, void *arg);
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

/* Looks at the events; errors are about what -F and others ask of them. */
struct error *script_printer_start(struct script_printer *printer,
				   struct converter *converter);
/* A convert_sample_fn. */
struct error *script_print_sample(const struct convert_sample *sample,
				  void *printer);
/* Writes what is left, and says what files there are now. */
struct error *script_printer_end(struct script_printer *printer);
void script_printer_deinit(struct script_printer *printer);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as a file of another tool.
 *
 * How to add a format `foo`:
 *  1. src/export/foo.c: the function that writes it, export_foo(), as in
 *     collapsed.c.
 *  2. EXPORT_FORMATS below: one line with its name and a sentence or two for the
 *     help, in the order of `kaa help export`.
 *  3. src/export/meson.build: 'foo.c'.
 *  4. tests/cli/test_export.py: its name in FORMATS; and what it writes, held
 *     against a tool that reads the format.
 *
 * What a writer gets: a finished profile (profile/profile.h), to be read only.
 * A row of it stands for all samples that are equal, as many as its count says,
 * with the time of the first.
 * What it gives: the file, on a stream that its caller opens, checks for failed
 * writes and closes. What the format cannot hold it leaves out; the help says
 * so. Names come from recordings and may hold any byte: the writer
 * escapes what its format takes for something else.
 */
#ifndef KAA_EXPORT_FORMAT_H
#define KAA_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* In the order of `kaa help export`; the first is the default. */
#define EXPORT_FORMATS(X) \
	X(collapsed,                                                           \
	  "a line for each stack with its number of samples. FlameGraph, "     \
	  "inferno and speedscope read it. It holds one event and no times.")

struct export_options {
	/* Samples of this event alone. */
	uint32_t event;
	/* Show the interpreter's own frames below Python frames, too. */
	bool interpreter_frames;
	/* Native and kernel frames count as the Python code that calls them. */
	bool python_only;
	/* Tell the lines of a function apart. */
	bool lines;
};

/* Errors: no memory, or what the format cannot hold at all. */
typedef struct error *export_write_fn(const struct profile *profile,
				      const struct export_options *options,
				      FILE *out);

#define EXPORT_DECLARE(name, help) export_write_fn export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

struct export_row {
	/* For --format. */
	const char *name;
	export_write_fn *write;
};

/* Ends with a row of NULLs. */
extern const struct export_row export_formats[];

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of other profilers, read into a model (docs/import.md).
 *
 * How to add a format `foo`:
 *  1. src/import/from_foo.c: import_foo(), which reads, and import_is_foo(), which
 *     says whether a file looks like one.
 *  2. IMPORT_FORMATS below: one row with its name, and a sentence for the help.
 *  3. src/import/meson.build: 'from_foo.c'.
 *  4. tests/cli/test_import.py: a recording that was exported, or written by
 *     the tool itself, is imported with the totals that it had.
 *  5. tests/fuzz/corpus/fuzz_import: a small file. The table of docs/import.md.
 *
 * Readers do no I/O and take any bytes: what a number leads to is checked first.
 */
#ifndef KAA_IMPORT_IMPORT_FORMAT_H
#define KAA_IMPORT_IMPORT_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "import/import_model.h"

/*
 * X(name, help), in the order in which a file is asked whether it is one; the
 * last takes any text.
 */
#define IMPORT_FORMATS(X)                                                      \
	X(pprof, "a profile of pprof, gzipped or not.")                        \
	X(speedscope, "a file for speedscope, as py-spy, rbspy and kaa "       \
		      "write it.")                                             \
	X(firefox, "a processed profile of the Firefox Profiler, as samply "   \
		   "and kaa write it.")                                        \
	X(json, "kaa's own JSON (docs/formats/export-json.md).")               \
	X(script, "the text of `perf script` or `kaa script`; with '-F "       \
		  "+srcline' of the latter it has lines.")                     \
	X(collapsed, "collapsed stacks, and what py-spy calls raw: a line for " \
		     "each stack, and a number. Frames that read 'name "       \
		     "(file:line)' have lines.")

/* A file, as bytes behind which a NUL stands; unpacked if it was gzipped. */
struct import_input {
	/* For messages. */
	const char *path;
	const char *data;
	size_t size;
	/* The root of JSON, or NULL. */
	const json_t *json;
};

typedef bool import_is_fn(const struct import_input *input);
typedef struct error *import_read_fn(const struct import_input *input,
				     struct import_model *ret);

#define IMPORT_DECLARE(name, help)            \
	import_is_fn import_is_##name;        \
	import_read_fn import_##name;
IMPORT_FORMATS(IMPORT_DECLARE)
#undef IMPORT_DECLARE

struct import_row {
	/* For --format. */
	const char *name;
	import_is_fn *is;
	import_read_fn *read;
};

/* Ends with a row of NULLs. */
extern const struct import_row import_formats[];

/*
 * Reads a file of that format; NULL: of the first that it looks like. The bytes
 * have a NUL behind them. *found: the format. An error names the file and where
 * in it.
 */
struct error *import_read(const char *path, const char *data, size_t size,
			  const struct import_row *format,
			  struct import_model *model,
			  const struct import_row **found);

#endif

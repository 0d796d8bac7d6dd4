// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the live tests ask src/python about:
 *
 *	python_probe layout HEXVERSION       the row of a release before 3.13
 *	python_probe debug-offsets < BYTES   the row that debug offsets give
 *	python_probe detect FILE             what an ELF file is
 *	python_probe lines < RECORDS         checks decoded lines (dump_lines.py)
 *	python_probe stacks PID              validates, and walks all threads
 *	python_probe threads PID             the names of its threads
 *	python_probe moments PID < MOMENTS   stops it, and walks a thread, again and again
 *	python_probe gil PID < THREADS       in how many of 1,000 looks each held the GIL
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "probe.h"

static const struct {
	const char *name;
	struct error *(*run)(const char *argument);
} modes[] = {
	{ "layout", probe_layout },
	{ "debug-offsets", probe_debug_offsets },
	{ "detect", probe_detect },
	{ "lines", probe_lines },
	{ "stacks", probe_stacks },
	{ "threads", probe_threads },
	{ "moments", probe_moments },
	{ "gil", probe_gil },
};

static int report(struct error *error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!error)
		return 0;
	error_format(error, &text);
	fprintf(stderr, "python_probe: %d: %s\n", error->code, text.data);
	error_destroy(error);
	return 1;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			return report(modes[i].run(argc > 2 ? argv[2] : ""));
	fprintf(stderr, "python_probe: unknown mode\n");
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source file in lines, as it is now. A recording names any file it likes:
 * only a regular one is read, of a bounded size, and never waited for.
 */
#ifndef KAA_EXPLORE_SOURCE_H
#define KAA_EXPLORE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define SOURCE_SIZE_MAX (16u << 20)

struct source {
	struct strbuf text;
	/* Where each line begins. */
	VEC(size_t) starts;
	/* ns since 1970. */
	int64_t modified;
};

/*
 * root is put in front of the path, or NULL; a relative path without one is
 * taken from the current folder. ERROR_OS, ERROR_LIMIT, ERROR_UNSUPPORTED: no regular
 * file, or a template. Template engines such as Jinja make Python code that says to be of
 * the template's file, with lines of its own.
 */
struct error *source_read(const char *root, const char *path,
			  struct source *ret);
void source_deinit(struct source *source);

/* Line `line` (from 1), without its end, and its bytes; "" beyond the last. */
const char *source_line(const struct source *source, size_t line, size_t *n);

#endif

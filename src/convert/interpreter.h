/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the functions of an interpreter are that no symbol names: stripped ones,
 * as distributions have them, are folded like any other.
 */
#ifndef KAA_CONVERT_INTERPRETER_H
#define KAA_CONVERT_INTERPRETER_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "symbolize/dso.h"

enum interpreter_function {
	/* One that does work, as far as is known. */
	INTERPRETER_OTHER,
	INTERPRETER_EVAL,
	/* See convert/interpreter_frames.h. */
	INTERPRETER_GLUE,
};

/* Zero-initialise. */
struct interpreters {
	/* struct dso.index to what was found out. */
	struct map by_dso;
};

/*
 * The function of an interpreter's file that begins at that vaddr. A file is
 * looked through when it is first asked about. Fails only when memory runs
 * out.
 */
struct error *interpreters_find(struct interpreters *interpreters,
				struct dso *dso, uint64_t start,
				enum interpreter_function *ret);
void interpreters_deinit(struct interpreters *interpreters);

#endif

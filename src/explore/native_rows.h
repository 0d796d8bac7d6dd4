/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions of a native function, and what samples of several events hit each. */
#ifndef KAA_EXPLORE_NATIVE_ROWS_H
#define KAA_EXPLORE_NATIVE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explore/code.h"
#include "explore/disassembly.h"
#include "explore/native_hits.h"
#include "profile/profile.h"

struct native_rows {
	/* One for each event, in the order in which they were asked for. */
	VEC(struct native_hits *) hits;
	/* Instructions and lines of source: their texts are in the assembly. */
	VEC(struct disassembly_line) all;
	struct strbuf assembly;
	/*
	 * Why there is no code, or NULL. The rows are then the addresses that were
	 * hit, ascending, without texts.
	 */
	struct error *why;
};

/*
 * Of the function of the frame, which has a symbol and is not inlined; has_source:
 * with lines of its source.
 */
struct error *native_rows_create(const struct code_places *places,
				 const struct profile *profile,
				 const uint32_t *events, size_t count,
				 uint32_t frame, bool has_source,
				 struct native_rows **ret);
void native_rows_destroy(struct native_rows *rows);
DEFINE_CLEANUP(native_rows, struct native_rows *, native_rows_destroy);
#define _cleanup_native_rows_ _cleanup_(cleanup_native_rows_)

/* What samples of the event hit a row, or NULL; both by their numbers. */
const struct own_weight *native_rows_hit(const struct native_rows *rows,
					 size_t event, size_t row);
/* Samples of any event hit the row. */
bool native_rows_is_hit(const struct native_rows *rows, size_t row);
/*
 * The frame of the profile whose code that is: of the function, or of one that is
 * inlined there. PROFILE_NONE: no sample hit the row.
 */
uint32_t native_rows_frame(const struct native_rows *rows, size_t row);
/*
 * Appends "2 of 40 samples are at addresses that the code does not have", if so it
 * is with those of the first event.
 */
void native_rows_tell_missing(const struct native_rows *rows,
			      struct strbuf *out);

#endif

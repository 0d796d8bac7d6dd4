/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --sort srcline and srcfile show for a frame.
 *
 * Where no line is known, perf shows `function+offset` or `file[address]`. Of a
 * caller it takes the address as it is for one in the file, so that it knows
 * lines of callers only where inlined functions are shown, which it names with
 * their lines, and adds an offset of the size of an address to the others; it
 * never knows a caller's file.
 */
#ifndef KAA_VIEW_SOURCE_TEXT_H
#define KAA_VIEW_SOURCE_TEXT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "profile/location.h"
#include "view/report_options.h"

/* For location_options.source; arg is a struct report_options. */
void source_text(const struct profile *profile,
		 const struct profile_frame *frame, enum source_kind kind,
		 bool hit, const void *arg, struct strbuf *out);

/*
 * What is shown behind the name of a step of a call chain, with every key but
 * that of functions; nothing if nothing is known. perf writes "??:0" or an
 * offset then. For location_options.step_key; arg is a struct report_options.
 */
void source_step_text(const struct profile *profile,
		      const struct profile_frame *frame, const void *arg,
		      struct strbuf *out);

#endif

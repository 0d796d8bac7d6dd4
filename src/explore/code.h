/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a function of a profile, wherever its code is: in a file, in
 * the kernel, in what a JIT compiler left (explore/disassembly.h).
 */
#ifndef KAA_EXPLORE_CODE_H
#define KAA_EXPLORE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/watch.h"
#include "obj/jit_image.h"
#include "profile/profile.h"
#include "symbolize/dso.h"

/* All is borrowed. */
struct code_places {
	/* The files that code comes from, or NULL. */
	struct dso_store *dsos;
	/*
	 * Fills *ret with code of a JIT compiler, by the path of its dump and
	 * its span, and its name if there are several; false: not known. What
	 * *ret names lives as long as the places. NULL: there is none.
	 */
	bool (*jit_code)(const void *arg, const char *path, uint64_t start,
			 uint64_t end, const char *name,
			 struct jit_image *ret);
	const void *jit_arg;
	/* Who waits for it, or NULL. */
	struct watch *watch;
};

/*
 * Appends what objdump prints for the function of the frame, which has a symbol.
 * *has_source: as disassembly_read() has it. ERROR_NOT_FOUND says why there is no
 * code.
 */
struct error *code_disassemble(const struct code_places *places,
			       const struct profile *profile,
			       const struct profile_frame *frame,
			       struct strbuf *out, bool *has_source);

#endif

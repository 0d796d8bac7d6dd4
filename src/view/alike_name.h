/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that differ in their numbers alone: "Thread-33 (serve)" and "Thread-4 (serve)"
 * are "Thread-N (serve)".
 */
#ifndef KAA_VIEW_ALIKE_NAME_H
#define KAA_VIEW_ALIKE_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct alike_name {
	/* The first one: length bytes, which need not be terminated. */
	const char *text;
	size_t length;
	/* How many there are. */
	size_t count;
	/* Which of their numbers differ, a bit each; the last bit is of all further ones. */
	uint64_t differing;
	/* The caller's; at first ALIKE_NO_ROW. */
	size_t row;
};

#define ALIKE_NO_ROW SIZE_MAX

/* Zero-initialise. Texts are borrowed. */
struct alike_names {
	VEC(struct alike_name) list;
	/* Private. */
	struct map index;
};

/* Names of different owners are not alike. Fails for want of memory. */
struct error *alike_names_add(struct alike_names *names, uint64_t owner,
			      const char *text, size_t length);
/* What was added like that name; NULL: none was. Valid until the next is added. */
struct alike_name *alike_names_find(const struct alike_names *names,
				    uint64_t owner, const char *text,
				    size_t length);
void alike_names_deinit(struct alike_names *names);

/* Appends a name with those numbers as "N"; control characters as '?'. */
void alike_name_put(const char *text, size_t length, uint64_t differing,
		    struct strbuf *out);

#endif

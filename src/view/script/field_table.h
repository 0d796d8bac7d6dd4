/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of `kaa script -F`: a row for each, in the order in which they stand
 * in a line, as far as they are put one by one.
 */
#ifndef KAA_VIEW_SCRIPT_FIELD_TABLE_H
#define KAA_VIEW_SCRIPT_FIELD_TABLE_H

#include "view/script/printer.h"

/* Where a field stands. */
enum script_part {
	/* In the start of the line, or with the place: view/script/put.h knows it. */
	SCRIPT_WITH_OTHERS,
	SCRIPT_BEFORE_PLACE,
	SCRIPT_AFTER_PLACE,
};

/* Appends the value; fields: all that are printed of the sample. */
typedef struct error *script_put_field_fn(struct script_printer *printer,
					  const struct convert_sample *sample,
					  uint64_t fields, struct strbuf *out);

struct script_field {
	const char *name;
	/* SCRIPT_*, view/script/put.h. */
	uint64_t bit;
	/* Sets of 1 << enum script_kind: printed unless -F says otherwise. */
	uint32_t usual;
	/* No event of these has it. */
	uint32_t impossible;
	/* Samples have to have one of these; 0: nothing. */
	uint64_t sample_type;
	/* perf's word for them, and what it adds where they lack; may be NULL. */
	const char *needs;
	const char *hint;
	/* A trace can bring it, too. */
	bool from_trace;
	enum script_part part;
	/* NULL for SCRIPT_WITH_OTHERS. */
	script_put_field_fn *put;
};

/* The last one has no name. */
extern const struct script_field script_field_table[];

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Says on stderr what a recording lacks, as far as it lacks anything. */
#ifndef KAA_CMD_READING_MISSING_H
#define KAA_CMD_READING_MISSING_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "convert/convert.h"

/*
 * After converter_run(): what the model has no counter for: a recording that
 * was not ended, damaged chains and kaa streams.
 */
void missing_report_damage(struct converter *converter);
/* Appends the same as lines of text. */
void missing_damage_text(struct converter *converter, struct strbuf *out);
/*
 * That, and lost samples, a file that ends too soon, damaged records; with
 * `all` also broken stacks and addresses without a name.
 */
void missing_report(struct converter *converter, bool all);

#endif

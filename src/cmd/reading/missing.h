/* SPDX-License-Identifier: GPL-2.0-only */
/* Says on stderr what is wrong with a recording (view/fault_text.h). */
#ifndef KAA_CMD_READING_MISSING_H
#define KAA_CMD_READING_MISSING_H

#include <stdbool.h>

#include "convert/convert.h"
#include "view/fault_text.h"

/* The lines of that set, as warnings. */
void missing_warn(const struct faults *faults, enum fault_lines which);
/* The same of one of several recordings. */
void missing_warn_of(const char *path, const struct faults *faults,
		     enum fault_lines which);
/* A file that was cut off makes a command fail that has shown what is there. */
void missing_set_exit_code(const struct faults *faults, int *exit_code);
/*
 * After converter_run(): what a report has no note for, or what makes it fail.
 * failed: of showing it, or NULL; it is returned, and may be due to what is missing.
 */
struct error *missing_report_damage(struct converter *converter,
				    struct error *failed, int *exit_code);
/*
 * That, and what else is wrong with the file; with `all` also what is wrong with
 * stacks and names.
 */
struct error *missing_report(struct converter *converter, bool all,
			     struct error *failed, int *exit_code);

#endif

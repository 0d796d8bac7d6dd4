/* SPDX-License-Identifier: GPL-2.0-only */
/* What the filters of `kaa report` asked for that the recording does not have. */
#ifndef KAA_CMD_READING_REPORT_UNMATCHED_H
#define KAA_CMD_READING_REPORT_UNMATCHED_H

#include "base/error.h"
#include "base/strbuf.h"
#include "cmd/reading/input.h"
#include "convert/convert.h"
#include "profile/profile.h"
#include "view/report_options.h"

/* With one of these the line begins for each of options->symbols and options->comms. */
#define REPORT_NO_FUNCTION "no sample is in a function called"
#define REPORT_NO_LINE "no sample is at"
#define REPORT_NO_THREAD "no sample is of a thread called"

/*
 * Appends a line for each word that found nothing (view/unmatched.h), after the
 * converter ran. has_no_python: "[no Python code]" is no such word.
 */
struct error *report_unmatched(const struct report_options *options,
			       const struct input *input,
			       const struct profile *profile,
			       const struct converter *converter,
			       bool has_no_python, struct strbuf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Which samples the options of a conversion let through. */
#ifndef KAA_CONVERT_SAMPLE_FILTER_H
#define KAA_CONVERT_SAMPLE_FILTER_H

#include <stdbool.h>

#include "convert/convert.h"
#include "perfdata/record.h"

/*
 * By what the record says. Of a sample that stands for the *period ns before *time,
 * as of a wait, both become those of its part in the times asked for.
 */
bool filter_record(const struct convert_options *options,
		   const struct record *record, uint64_t *time,
		   uint64_t *period);
/*
 * By what its thread is called: the comm, or the name that the program gave it.
 * Each may be NULL, which passes only without a list.
 */
bool filter_names(const struct convert_options *options, const char *comm,
		  const char *name);

#endif

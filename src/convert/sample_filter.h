/* SPDX-License-Identifier: GPL-2.0-only */
/* Which samples the options of a conversion let through. */
#ifndef KAA_CONVERT_SAMPLE_FILTER_H
#define KAA_CONVERT_SAMPLE_FILTER_H

#include <stdbool.h>

#include "convert/convert.h"
#include "perfdata/record.h"

/* By what the record says. */
bool filter_record(const struct convert_options *options,
		   const struct record *record);
/* By name; NULL passes only without a list. */
bool filter_comm(const struct convert_options *options, const char *comm);

#endif

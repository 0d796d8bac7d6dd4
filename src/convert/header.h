/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of `report --header`, worded as perf words them. */
#ifndef KAA_CONVERT_HEADER_H
#define KAA_CONVERT_HEADER_H

#include "base/error.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

/* Appends a line for each thing that the file says of its recording. */
struct error *convert_header(struct perfdata_reader *reader,
			     struct profile *profile);

#endif

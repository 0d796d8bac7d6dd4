/* SPDX-License-Identifier: GPL-2.0-only */
/* What a file says of its recording, as metadata. */
#ifndef KAA_CONVERT_HEADER_H
#define KAA_CONVERT_HEADER_H

#include "base/error.h"
#include "perfdata/reader.h"
#include "profile/metadata.h"

/*
 * Fills *metadata, which is empty, from the head and the sections of the file. Of
 * a pipe what has come so far.
 */
struct error *convert_header(struct perfdata_reader *reader,
			     struct metadata *metadata);

#endif

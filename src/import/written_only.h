/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats that kaa writes (export/format.h, flame/) and does not read: it says so. */
#ifndef KAA_IMPORT_WRITTEN_ONLY_H
#define KAA_IMPORT_WRITTEN_ONLY_H

#include "import/import_format.h"

/* The name of the format that the file looks like; NULL: none of them. */
const char *written_only(const struct import_input *input);

#endif

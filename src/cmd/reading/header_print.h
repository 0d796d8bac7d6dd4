/* SPDX-License-Identifier: GPL-2.0-only */
/* --header: what a recording says of itself, on standard output. */
#ifndef KAA_CMD_READING_HEADER_PRINT_H
#define KAA_CMD_READING_HEADER_PRINT_H

#include "base/error.h"
#include "convert/convert.h"

/* Of a regular file; of a pipe what has come so far. */
struct error *header_print(struct converter *converter);

#endif

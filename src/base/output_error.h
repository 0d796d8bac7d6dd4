/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a file could not be written, in words that say what is in the way. */
#ifndef KAA_BASE_OUTPUT_ERROR_H
#define KAA_BASE_OUTPUT_ERROR_H

#include <stdio.h>

#include "base/error.h"

/*
 * errnum: of the open() that was to make or to write the file. Where its folder is
 * not there, or may not be written to: ERROR_NOT_FOUND, ERROR_PERMISSION. Else
 * ERROR_OS with the text of errnum.
 */
struct error *output_error(int errnum, const char *path);

/*
 * Closes what was written to path. error: its writer's, owned, or NULL. If it is not whole,
 * as on a full disk, nothing is left of it: the file is removed, but for a device or what a
 * link leads to. The error names it.
 */
struct error *output_file_close(FILE *out, const char *path, struct error *error);

#endif

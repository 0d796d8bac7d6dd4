/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording has that ended early, since not all of it could be written. */
#ifndef KAA_CMD_RECORD_KEPT_H
#define KAA_CMD_RECORD_KEPT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How many samples the file at path has, by reading it. False: it is no file, NULL, or it
 * cannot be read to its end.
 */
bool record_kept_samples(const char *path, uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a command prints while `kaa top` has the terminal: a thread reads it, and
 * keeps the end of it.
 */
#ifndef KAA_CMD_TOP_OUTPUT_H
#define KAA_CMD_TOP_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct top_output;

/* *write_fd is where the command is to print; the caller's. */
struct error *top_output_open(struct top_output **ret, int *write_fd);
/*
 * What was printed until now is all that counts, whoever has the other end still.
 * The last of it goes to `out`, below a line that says so; nothing if there is none.
 */
void top_output_end(struct top_output *output, FILE *out);
/* Legal on NULL. */
void top_output_destroy(struct top_output *output);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What `kaa run` has in common with `kaa activate` and `kaa record`. */
#ifndef KAA_CMD_RUN_H
#define KAA_CMD_RUN_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * The path of libkaa_agent.so, beside kaa in its build directory or installed.
 * ERROR_NOT_FOUND says where it was looked for.
 */
struct error *run_find_agent(struct strbuf *ret);

/*
 * Becomes the command as `kaa run --perf` does, with the environment and PATH as they are.
 * Returns if that cannot be: 0, the command is to be run as it is, and its
 * environment then asks the Pythons with support of their own (3.12 on) to
 * use it; or an errno value.
 */
int run_with_trampolines(char *const argv[]);

#endif

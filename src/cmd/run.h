/* SPDX-License-Identifier: GPL-2.0-only */
/* What `kaa run` has in common with `kaa activate`. */
#ifndef KAA_CMD_RUN_H
#define KAA_CMD_RUN_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * The path of libkaa_agent.so, beside kaa in its build directory or installed.
 * ERROR_NOT_FOUND says where it was looked for.
 */
struct error *run_find_agent(struct strbuf *ret);

#endif

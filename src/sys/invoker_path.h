/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PATH of the user behind sudo or doas: that of the shell in which it was
 * typed. Where it cannot be known it is what the user's login shell prints, or
 * "/usr/local/bin:/usr/bin:/bin".
 */
#ifndef KAA_SYS_INVOKER_PATH_H
#define KAA_SYS_INVOKER_PATH_H

#include "sys/invoker.h"

/* *ret is the caller's. May run the shell. */
struct error *invoker_path(const struct invoker *invoker, char **ret);

#endif

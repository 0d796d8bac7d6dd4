/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent's variables in the environment of this process: found, and taken out so
 * that nothing is left of them, neither in environ nor in /proc/self/environ.
 *
 * Not thread-safe, as environ is not.
 */
#ifndef KAA_AGENT_ENVIRONMENT_H
#define KAA_AGENT_ENVIRONMENT_H

#include <stdbool.h>

#include "agent/hand_on.h"

/*
 * In the constructor. False if the library at `path` is not in LD_PRELOAD. Else
 * fills in *hand_on (which must be zero) with what came from the parent, and
 * takes it all out, but for the variables of `kaa run`: these remain in environ
 * (copies, in *hand_on).
 */
bool agent_environment_take(const char *path, struct hand_on *hand_on);

/* Takes the variables out of environ too. */
void agent_environment_hide(const struct hand_on *hand_on);

#endif

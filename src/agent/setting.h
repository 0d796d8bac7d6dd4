/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent's own settings: KAA_* in the environment. What `kaa run` sets is hidden
 * from the program (agent/hand_on.h), so the agent asks here and not getenv().
 */
#ifndef KAA_AGENT_SETTING_H
#define KAA_AGENT_SETTING_H

#include "agent/hand_on.h"

/*
 * The value that `kaa run` gave the name, else the environment's (not in a setuid
 * program), else NULL.
 */
const char *agent_setting(const char *name);

/* Where the former is looked up from now on; borrowed for ever. */
void agent_setting_use(const struct hand_on *hand_on);

#endif

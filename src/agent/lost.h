/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What profilers do not hear of is not lost silently: one line on stderr when it begins,
 * since the process may end without notice, and one with their number when it ends by
 * exit(). Internal to src/agent.
 */
#ifndef KAA_AGENT_LOST_H
#define KAA_AGENT_LOST_H

/* After an announcement. Says it if this was the first that failed. */
void lost_begins(void);

/* There are no trampolines any more in this process, and why. */
void lost_all(const char *why);

/* In the child of a fork: what the parent lost it has said itself. */
void lost_forked(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the backends have in common: they stop at the first failure, and count.
 * Internal to src/agent; called with the agent's lock held.
 */
#ifndef KAA_AGENT_ANNOUNCE_H
#define KAA_AGENT_ANNOUNCE_H

#include <stddef.h>

/* The state of one backend's announcements; 0: none failed. */
struct agent_announcer {
	int failed;
};

/* Notes the outcome of an announcement, an errno value, and returns it. */
int agent_announced(struct agent_announcer *announcer, int error);

/* Counts a function that has no slot, or whose slot has no name. */
void agent_not_announced(int error);

/*
 * Why it failed, for people: an errno value and what it is about, a path or "". What
 * stands where a file is to be made is in the way (agent/files.h).
 */
void agent_error_text(const char *about, int error, char *text, size_t size);

/* What agent_backend_subject() tells. The path is copied, cut if too long. */
void agent_subject_set(const char *path);

#endif

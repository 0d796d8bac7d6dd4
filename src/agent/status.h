/* SPDX-License-Identifier: GPL-2.0-only */
/* What comes of an activation, in words and as exceptions. Needs the GIL. */
#ifndef KAA_AGENT_STATUS_H
#define KAA_AGENT_STATUS_H

/* Why activation failed; messages are CPython's where it has the case. */
enum agent_status {
	AGENT_OK,
	/* No such backend. */
	AGENT_INVALID_BACKEND,
	/* This CPython cannot be hooked: agent_state.unavailable. */
	AGENT_UNAVAILABLE,
	AGENT_JIT_ACTIVE,
	AGENT_FOREIGN_HOOK,
	/* A file or memory: agent_backend_subject() and agent_state.error. */
	AGENT_OS_ERROR,
	AGENT_NO_MEMORY,
};

/* One line about a status that is not AGENT_OK, without a full stop. */
const char *agent_status_text(enum agent_status status, const char *backend);

/* Sets the exception that CPython would. Always NULL. */
void *agent_raise(enum agent_status status, const char *backend);

#endif

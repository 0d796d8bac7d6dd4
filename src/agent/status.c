// SPDX-License-Identifier: GPL-2.0-only
#include "agent/status.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/announce.h"
#include "agent/capi.h"
#include "agent/state.h"

const char *agent_status_text(enum agent_status status, const char *backend)
{
	static char text[PATH_MAX + 128];

	switch (status) {
	case AGENT_INVALID_BACKEND:
		snprintf(text, sizeof(text), "invalid backend: %s", backend);
		return text;
	case AGENT_UNAVAILABLE:
		return agent_state.unavailable ? agent_state.unavailable :
						 "perf trampoline not available";
	case AGENT_JIT_ACTIVE:
		return "Cannot activate the perf trampoline if the JIT is active";
	case AGENT_FOREIGN_HOOK:
		return "Trampoline cannot be initialized as a custom eval frame is already present";
	case AGENT_OS_ERROR:
		agent_error_text(agent_backend_subject(), agent_state.error,
				 text, sizeof(text));
		return text;
	case AGENT_NO_MEMORY:
		return "out of memory";
	default:
		return "";
	}
}

static void *raise_os_error(void)
{
	const char *subject = agent_backend_subject();

	errno = agent_state.error;
	if (*subject)
		return capi.PyErr_SetFromErrnoWithFilename(
			*(void **)capi.PyExc_OSError, subject);
	return capi.PyErr_Format(*(void **)capi.PyExc_OSError, "%s",
				 strerror(agent_state.error));
}

void *agent_raise(enum agent_status status, const char *backend)
{
	void *type = *(void **)capi.PyExc_ValueError;

	switch (status) {
	case AGENT_OS_ERROR:
		return raise_os_error();
	case AGENT_NO_MEMORY:
		return capi.PyErr_NoMemory();
	case AGENT_INVALID_BACKEND:
		return capi.PyErr_Format(type, "invalid backend: %s", backend);
	case AGENT_UNAVAILABLE:
		return capi.PyErr_Format(type, "perf trampoline not available");
	case AGENT_FOREIGN_HOOK:
		type = *(void **)capi.PyExc_RuntimeError;
		break;
	default:
		break;
	}
	capi.PyErr_SetString(type, agent_status_text(status, backend));
	return NULL;
}

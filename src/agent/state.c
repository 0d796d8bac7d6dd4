// SPDX-License-Identifier: GPL-2.0-only
#include "agent/state.h"

struct agent_state agent_state;

const struct agent_backend *const agent_backends[] = {
	&agent_backend_perf_map,
	&agent_backend_jitdump,
	&agent_backend_elf,
	NULL,
};

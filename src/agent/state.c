// SPDX-License-Identifier: GPL-2.0-only
#include "agent/state.h"

struct agent_state agent_state;

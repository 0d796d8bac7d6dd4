// SPDX-License-Identifier: GPL-2.0-only
#include "agent/setting.h"

#include <stdlib.h>
#include <string.h>

static const struct hand_on *from_run;

void agent_setting_use(const struct hand_on *hand_on)
{
	from_run = hand_on;
}

const char *agent_setting(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; from_run && i < from_run->variable_count; i++) {
		const char *variable = from_run->variables[i];

		if (!strncmp(variable, name, len) && variable[len] == '=')
			return variable + len + 1;
	}
	return secure_getenv(name);
}

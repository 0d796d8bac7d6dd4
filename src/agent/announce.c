// SPDX-License-Identifier: GPL-2.0-only
#include "agent/announce.h"

#include <limits.h>
#include <stdio.h>

#include "agent/backend.h"

static unsigned long lost;
static char subject[PATH_MAX];

int agent_announced(struct agent_announcer *announcer, int error)
{
	if (error) {
		announcer->failed = error;
		lost++;
	}
	return error;
}

unsigned long agent_backend_lost(void)
{
	return lost;
}

void agent_subject_set(const char *path)
{
	snprintf(subject, sizeof(subject), "%s", path);
}

const char *agent_backend_subject(void)
{
	return subject;
}

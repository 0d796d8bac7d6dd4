// SPDX-License-Identifier: GPL-2.0-only
#include "agent/announce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/backend.h"

static unsigned long lost;
static int lost_error;
static char lost_subject[PATH_MAX];
static char subject[PATH_MAX];

void agent_not_announced(int error)
{
	if (!lost++) {
		lost_error = error;
		memcpy(lost_subject, subject, sizeof(lost_subject));
	}
}

int agent_announced(struct agent_announcer *announcer, int error)
{
	if (error) {
		announcer->failed = error;
		agent_not_announced(error);
	}
	return error;
}

unsigned long agent_backend_lost(void)
{
	return lost;
}

int agent_backend_lost_error(const char **ret_subject)
{
	*ret_subject = lost_subject;
	return lost_error;
}

void agent_backend_lost_forget(void)
{
	lost = 0;
}

void agent_subject_set(const char *path)
{
	snprintf(subject, sizeof(subject), "%s", path);
}

const char *agent_backend_subject(void)
{
	return subject;
}

void agent_error_text(const char *about, int error, char *text, size_t size)
{
	if (*about && error == EEXIST)
		snprintf(text, size,
			 "%s is in the way: it is another user's, or not a file",
			 about);
	else
		snprintf(text, size, "%s%s%s", about, *about ? ": " : "",
			 strerror(error));
}

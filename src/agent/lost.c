// SPDX-License-Identifier: GPL-2.0-only
#include "agent/lost.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/announce.h"
#include "agent/backend.h"
#include "agent/state.h"

static bool said;

static void say_why(void)
{
	const char *subject;
	int error = agent_backend_lost_error(&subject);
	char text[PATH_MAX + 128];

	agent_error_text(subject, error, text, sizeof(text));
	fprintf(stderr, ": %s\n", text);
}

void lost_begins(void)
{
	if (said || !agent_backend_lost())
		return;
	said = true;
	fprintf(stderr, "kaa: new functions get no more names in process %d",
		(int)getpid());
	say_why();
}

void lost_all(const char *why)
{
	fprintf(stderr, "kaa: no more trampolines in process %d: %s\n",
		(int)getpid(), why);
}

void lost_forked(void)
{
	agent_backend_lost_forget();
	said = false;
}

/* Not in a child that never ran Python. */
__attribute__((destructor)) static void lost_ends(void)
{
	if (!agent_backend_lost() || agent_state.pid != getpid())
		return;
	fprintf(stderr, "kaa: %lu functions have no names in process %d",
		agent_backend_lost(), (int)getpid());
	say_why();
}

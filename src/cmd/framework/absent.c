// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/absent.h"

#include <stddef.h>
#include <string.h>

/* A command that comes to be leaves this table. */
static const struct absent {
	const char *name;
	const char *instead;
} absent[] = {
	{ "list", "'perf list' tells the events that -e of 'kaa record' can name" },
	{ "live", "'kaa top -p PID' shows what a program does now" },
	{ "stat", "'perf stat COMMAND' counts events without samples" },
};

const char *absent_command(const char *name)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (!strcmp(absent[i].name, name))
			return absent[i].instead;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "cmd/framework/command.h"

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	(void)settings;
	(void)exit_code;
	if (args->count > 0)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unexpected argument '%s'",
				    args->values[0]);
	printf("kaa version " KAA_VERSION "\n");
	return NULL;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version of kaa",
	.usage = (const char *const[]){ "", NULL },
	.run = run,
};

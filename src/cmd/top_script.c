// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_script.h"

#include <string.h>
#include <sys/types.h>

#include "base/python_command.h"
#include "collect/sampler_options.h"
#include "sys/process_script.h"

struct error *top_script_find(const char *const *words, size_t count,
			      const struct pid_vec *processes, char **ret)
{
	const char *script = words ? python_script(words, count) : NULL;

	*ret = NULL;
	if (!words && processes->count == 1)
		return process_script("", (pid_t)processes->data[0], ret);
	*ret = script ? strdup(script) : NULL;
	return script && !*ret ? error_no_memory() : NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "python/look/look.h"

#include <stdlib.h>
#include <string.h>

struct error *python_set_text(char **field, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return error_no_memory();
	free(*field);
	*field = copy;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a symbol's name. Slow names count as found. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "obj/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size);

	if (name)
		free(demangle(name));
	free(name);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/recorded_code.h"

static bool find_jit_code(const void *arg, const char *path, uint64_t start,
			  uint64_t end, const char *name,
			  struct jit_image *ret)
{
	return converter_jit_code(arg, path, start, end, name, ret);
}

struct code_places recorded_code(struct converter *converter)
{
	return (struct code_places){ .dsos = converter_dsos(converter),
				     .jit_code = find_jit_code,
				     .jit_arg = converter };
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/polled_loop.h"

#include <stdlib.h>

struct polled_loop *polled_loop_create(uint64_t era)
{
	struct polled_loop *loop = calloc(1, sizeof(*loop));

	if (loop)
		loop->era = era;
	return loop;
}

void polled_loop_destroy(struct polled_loop *loop)
{
	if (!loop)
		return;
	code_names_deinit(&loop->names);
	vec_deinit(&loop->tasks);
	free(loop);
}

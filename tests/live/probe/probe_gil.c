// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of threads whose pthread_self() stdin has: in how many of a thousand looks each held
 * a GIL, while the process runs on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "probe.h"
#include "probe_target.h"
#include "python/gil_held.h"

enum { LOOKS = 1000, THREADS = 8, PAUSE_US = 500 };

static struct error *look(const struct walker_process *process,
			  const struct py_memory *memory,
			  const uint64_t *threads, size_t count)
{
	unsigned int held[THREADS] = {};

	for (int i = 0; i < LOOKS; i++) {
		for (size_t k = 0; k < count; k++) {
			bool is_held;

			if (!py_gil_is_held(process, memory, threads[k],
					    &is_held))
				return error_create(ERROR_FAULT,
						    "cannot read the GIL");
			held[k] += is_held;
		}
		usleep(PAUSE_US);
	}
	for (size_t k = 0; k < count; k++)
		printf("%" PRIu64 " %u\n", threads[k], held[k]);
	return NULL;
}

struct error *probe_gil(const char *pid)
{
	struct probe_target target;
	struct walker_process process = {};
	const struct py_memory memory = { probe_target_read, &target };
	uint64_t threads[THREADS];
	size_t count = 0;
	struct error *error = probe_target_init(&target, pid);

	if (error)
		return error;
	while (count < THREADS && scanf("%" SCNu64, &threads[count]) == 1)
		count++;
	error = probe_target_process(&target, &process);
	if (!error)
		error = py_gil_validate(&process, &memory);
	if (!error)
		error = look(&process, &memory, threads, count);
	probe_target_deinit(&target);
	return error;
}

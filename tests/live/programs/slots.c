// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls a function through the agent's trampolines, without Python:
 *
 *   agent_slots perf|perf_jit|perf_elf SECONDS
 *
 * 1000 slots are announced as py::function_<n>:<dir>/source_<n % 10>.py, with line
 * n + 1. Then round after round DEPTH consecutive slots call each other, and
 * at the bottom spin() works. So the stack of each sample in spin() has DEPTH
 * trampolines whose numbers grow by one towards the leaf.
 *
 * Prints its pid, and at the end how many rounds it ran. Exit code 2: the
 * backend could not be opened, with the reason.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/backend.h"

enum { SLOTS = 1000, DEPTH = 12 };

typedef void *evaluator(void *a, void *b, long c);
typedef void *trampoline(void *a, void *b, long c, evaluator *evaluator);

static trampoline *slots[SLOTS];

static const struct agent_backend *find_backend(const char *name)
{
	static const struct agent_backend *const backends[] = {
		&agent_backend_perf_map, &agent_backend_jitdump,
		&agent_backend_elf,
	};

	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i];
	return NULL;
}

__attribute__((noinline)) void *spin(void *a, void *b, long c);
__attribute__((noinline)) void *call_next(void *a, void *b, long c);

/* About half a millisecond. */
void *spin(void *a, void *b, long c)
{
	volatile unsigned int sum = 0;

	(void)b;
	for (unsigned int i = 0; i < 200000; i++)
		sum += i * (unsigned int)c;
	return (char *)a + sum;
}

/* a: how many more trampolines; c: the slot that called this. */
void *call_next(void *a, void *b, long c)
{
	uintptr_t left = (uintptr_t)a;
	long next = (c + 1) % SLOTS;
	void *result = slots[next]((void *)(left - 1), b, next,
				   left > 1 ? call_next : spin);

	/* No tail call: this frame stays. */
	__asm__ volatile("" ::: "memory");
	return result;
}

static int announce(const struct agent_backend *backend, int n)
{
	char name[200], filename[100];
	struct agent_symbol symbol = { name, 0, filename, n + 1 };
	void *slot = backend->take();

	if (!slot)
		return errno;
	snprintf(filename, sizeof(filename), "/src/source_%d.py", n % 10);
	symbol.name_size = (size_t)snprintf(name, sizeof(name),
					    "py::function_%d:%s", n, filename);
	memcpy(&slots[n], &slot, sizeof(slot));
	return backend->announce(slot, &symbol);
}

/* Of CPU time: on a busy machine there are as many samples of it. */
static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct agent_backend *backend =
		argc > 2 ? find_backend(argv[1]) : NULL;
	int error = backend ? backend->open() : EINVAL;
	double end;
	long round = 0;

	for (int n = 0; !error && n < SLOTS; n++)
		error = announce(backend, n);
	if (error) {
		fprintf(stderr, "agent_slots: %s: %s\n", agent_backend_subject(),
			strerror(error));
		return 2;
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	end = seconds() + atof(argv[2]);
	for (; seconds() < end; round++)
		call_next((void *)(uintptr_t)DEPTH, NULL, round % (SLOTS - DEPTH));
	backend->close();
	printf("%ld rounds\n", round);
	return 0;
}

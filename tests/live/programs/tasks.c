// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recording of tasks may hold: threads, a name with blanks and brackets,
 * a new name, a fork, an exec, deep recursion, and pages touched for the first
 * time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"

enum { PAGE = 4096, PAGES = 256 };

static volatile unsigned long sink;

__attribute__((noinline)) void burn(int milliseconds)
{
	for (double end = cpu_time() + milliseconds / 1e3; cpu_time() < end;) {
		for (unsigned long i = 0; i < 300000; i++)
			sink += i;
	}
}

__attribute__((noinline)) int deep(int levels)
{
	if (levels)
		return deep(levels - 1) + 1;
	burn(20);
	return 1;
}

__attribute__((noinline)) void touch(void)
{
	char *memory = malloc((size_t)PAGES * PAGE);

	for (size_t i = 0; memory && i < PAGES; i++)
		memory[i * PAGE] = 1;
	free(memory);
}

static void *run_thread(void *arg)
{
	prctl(PR_SET_NAME, "two words (x)");
	burn(20);
	return arg;
}

static void fork_and_exec(char *program)
{
	if (fork())
		return;
	burn(10);
	execl(program, "again", "again", NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	burn(10);
	if (argc > 1)
		return 0;
	prctl(PR_SET_NAME, "new name");
	burn(10);
	if (!pthread_create(&thread, NULL, run_thread, NULL))
		pthread_join(thread, NULL);
	fork_and_exec(argv[0]);
	deep(200);
	touch();
	while (wait(NULL) > 0)
		;
	return 0;
}

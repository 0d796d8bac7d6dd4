// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deep and branching recursion in processes whose names hold blanks; exec; code
 * without lines in a file that has some. With an argument, almost nothing of
 * libc, which has no frame pointers.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { CHILDREN = 3 };

static const double seconds = 0.06;

static volatile unsigned long sink;

__attribute__((used)) CALLED static void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

/*
 * Of what an assembler made on its own no compiler tells the lines. It works
 * for long enough to be in every report, and calls what does so too.
 */
void no_lines(void);
__asm__(".text\n.globl no_lines\n.type no_lines, @function\nno_lines:\n"
	".cfi_startproc\npush %rbp\n"
	".cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nmov $2000000, %ecx\n"
	"1: dec %ecx\njnz 1b\nmov $200000, %edi\ncall burn\npop %rbp\n.cfi_def_cfa %rsp, 8\nret\n"
	".cfi_endproc\n.size no_lines, .-no_lines\n");

/* The same, and local: the symbol table tells its file. */
void local_without_lines(void);
__asm__(".text\n.type local_without_lines, @function\nlocal_without_lines:\n"
	".cfi_startproc\nmov $2000000, %ecx\n"
	"1: dec %ecx\njnz 1b\nret\n"
	".cfi_endproc\n.size local_without_lines, .-local_without_lines\n");

CALLED static void even(int depth);

CALLED static void odd(int depth)
{
	burn(20000);
	if (depth)
		even(depth - 1);
	sink++;
}

CALLED static void even(int depth)
{
	burn(30000);
	if (depth > 1)
		odd(depth - 2);
	else if (depth)
		even(depth - 1);
	sink++;
}

CALLED static void tree(int depth)
{
	burn(3000);
	if (depth > 0) {
		tree(depth - 1);
		tree(depth - 2);
	}
	sink++;
}

CALLED static void files(void)
{
	char line[4096];

	for (int i = 0; i < 60; i++) {
		FILE *file = fopen("/proc/self/maps", "r");

		while (file && fgets(line, sizeof(line), file))
			sink += strlen(line);
		if (file)
			fclose(file);
	}
}

CALLED static void child(int number, bool plain)
{
	char name[16];

	snprintf(name, sizeof(name), "kid %d (x)", number);
	prctl(PR_SET_NAME, name);
	for (double end = cpu_time() + seconds; cpu_time() < end;) {
		odd(30 + number);
		tree(12);
		no_lines();
		local_without_lines();
		if (!plain)
			files();
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < CHILDREN; i++) {
		if (!fork()) {
			child(i, argc > 1);
			return 0;
		}
	}
	for (double end = cpu_time() + seconds; cpu_time() < end;) {
		even(20);
		tree(13);
	}
	for (int i = 0; i < CHILDREN; i++)
		wait(NULL);
	execl("/bin/true", "true", NULL);
	return 1;
}

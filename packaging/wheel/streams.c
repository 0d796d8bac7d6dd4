// SPDX-License-Identifier: GPL-2.0-only
/*
 * The standard streams for the static libraries. They were compiled to reach
 * libc's variables directly, which makes the linker copy these into the program.
 * zig's list of what glibc exports gives all variables one address, so they would
 * all share that copy. gather-libraries gives the variables these names there.
 */
#include <stdio.h>

FILE *kaa_stdin, *kaa_stdout, *kaa_stderr;

__attribute__((constructor)) static void take_streams(void)
{
	kaa_stdin = stdin;
	kaa_stdout = stdout;
	kaa_stderr = stderr;
}

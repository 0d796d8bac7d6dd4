// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a program that a process with the agent is about to run. Nothing
 * is executed. A name that begins with "#!" may lead to real files.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_program program;
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	agent_program_identify(fd, "", &program);
	if (memchr(program.interpreter, '\0', sizeof(program.interpreter)) ==
		    NULL ||
	    memchr(program.argument, '\0', sizeof(program.argument)) == NULL)
		abort();
	/* A file without a name is no carrier, and a Python has some substance. */
	if (!*program.interpreter &&
	    (program.kind == AGENT_PROGRAM_CARRIER ||
	     (program.kind == AGENT_PROGRAM_PYTHON && size < 256)))
		abort();
	close(fd);
	return 0;
}

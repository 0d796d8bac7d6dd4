// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program: when it has opened its perf events, and joins the
 * first one to another's buffer, it writes a byte to the FIFO named by ASK and
 * goes on when it has read one from ANSWER. Who answers may have started a
 * thread meanwhile.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void ask(void)
{
	char byte = 0;
	int to = open(getenv("ASK"), O_WRONLY | O_CLOEXEC), from;

	if (write(to, &byte, 1) != 1)
		abort();
	close(to);
	from = open(getenv("ANSWER"), O_RDONLY | O_CLOEXEC);
	if (read(from, &byte, 1) != 1)
		abort();
	close(from);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	static int asked;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == PERF_EVENT_IOC_SET_OUTPUT && !asked++)
		ask();
	return real(fd, request, arg);
}

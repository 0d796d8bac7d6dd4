// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program: what it does to its perf events takes as long as on
 * a machine where it has to wait for a CPU after each step.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <unistd.h>

enum { WAIT_US = 30000 };

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;
	int result;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	result = real(fd, request, arg);
	if (_IOC_TYPE(request) == _IOC_TYPE(PERF_EVENT_IOC_ENABLE))
		usleep(WAIT_US);
	return result;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/window.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* All that are open, and what SIGBUS did before the first. */
static struct window *windows;
static struct sigaction before;

size_t window_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* The page of the address, and all that follow it, become zeros. */
static bool put_zeros(struct window *window, uintptr_t address)
{
	uintptr_t end = (uintptr_t)window->data + window->size;
	uintptr_t page = address & ~(window_page_size() - 1);

	return mmap((void *)page, end - page, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

/* The instruction that touched the page is run again in any case. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	int error = errno;

	(void)context;
	for (struct window *w = windows; w; w = w->next) {
		if (address - (uintptr_t)w->data >= w->size ||
		    !put_zeros(w, address))
			continue;
		w->lost = true;
		errno = error;
		return;
	}
	sigaction(number, &before, NULL);
	errno = error;
}

static bool install(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error,
				    .sa_flags = SA_SIGINFO };

	return !sigaction(SIGBUS, &action, &before);
}

/* Unless somebody else has come since. */
static void uninstall(void)
{
	struct sigaction now;

	if (!sigaction(SIGBUS, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == on_bus_error)
		sigaction(SIGBUS, &before, NULL);
}

bool window_open(struct window *window, int fd, uint64_t offset, size_t size)
{
	void *data;

	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
	if (data == MAP_FAILED)
		return false;
	if (!windows && !install()) {
		munmap(data, size);
		return false;
	}
	/* Read ahead as of a file that is read from its start to its end. */
	madvise(data, size, MADV_SEQUENTIAL);
	*window = (struct window){ .data = data,
				   .size = size,
				   .next = windows,
				   .link = &windows };
	if (windows)
		windows->link = &window->next;
	windows = window;
	return true;
}

void window_close(struct window *window)
{
	if (!window->data)
		return;
	*window->link = window->next;
	if (window->next)
		window->next->link = window->link;
	munmap((void *)(uintptr_t)window->data, window->size);
	window->data = NULL;
	if (!windows)
		uninstall();
}

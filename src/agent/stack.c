// SPDX-License-Identifier: GPL-2.0-only
#include "agent/stack.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/lookup.h"

struct agent_stack_room agent_stack_room;

/* What a thread must have left: a deep C call from Python needs some of it. */
enum { MARGIN = 256 << 10, MARGIN_SHARE = 8 };

/* Those of threads seen before. */
enum { KNOWN_ROOMS = 64 };
static struct agent_stack_room known[KNOWN_ROOMS];
static unsigned int next_known;

/* A mapping, and where the one below it ends. */
struct mapping {
	uintptr_t start;
	uintptr_t end;
	uintptr_t below;
	bool is_main_stack;
};

/*
 * Lines of /proc/self/maps, without stdio and malloc: this may be the child of a
 * process with many threads. proc(5).
 */
struct lines {
	int fd;
	size_t used;
	size_t size;
	char buf[PATH_MAX + 256];
};

/* The next line, NUL-terminated, or NULL. Lines are shorter than the buffer. */
static char *next_line(struct lines *lines)
{
	for (;;) {
		char *start = lines->buf + lines->used;
		char *end = memchr(start, '\n', lines->size - lines->used);
		ssize_t n;

		if (end) {
			*end = '\0';
			lines->used = (size_t)(end + 1 - lines->buf);
			return start;
		}
		lines->size -= lines->used;
		memmove(lines->buf, start, lines->size);
		lines->used = 0;
		n = read(lines->fd, lines->buf + lines->size,
			 sizeof(lines->buf) - lines->size);
		if (n <= 0)
			return NULL;
		lines->size += (size_t)n;
	}
}

static bool ends_with(const char *line, const char *tail)
{
	size_t size = strlen(line), tail_size = strlen(tail);

	return size >= tail_size && !strcmp(line + size - tail_size, tail);
}

/*
 * One mapping may hold the stacks of several threads: since Linux 6.13 the pages
 * that guard them (MADV_GUARD_INSTALL) need none of their own. A thread's
 * descriptor lies at the upper end of its stack, in glibc and musl.
 */
static void end_at_descriptor(uintptr_t sp, struct mapping *mapping)
{
	uintptr_t self = (uintptr_t)pthread_self();

	if (sp < self && self < mapping->end)
		mapping->end = self;
}

static bool find_mapping(uintptr_t address, struct mapping *ret)
{
	struct lines lines = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	struct mapping mapping = {};
	bool found = false;
	char *line, *end;

	if (lines.fd < 0)
		return false;
	while (!found && (line = next_line(&lines))) {
		mapping.below = mapping.end;
		mapping.start = strtoul(line, &end, 16);
		mapping.end = *end == '-' ? strtoul(end + 1, NULL, 16) : 0;
		mapping.is_main_stack = ends_with(line, "[stack]");
		found = mapping.start <= address && address < mapping.end;
	}
	close(lines.fd);
	if (!found)
		return false;
	end_at_descriptor(address, &mapping);
	*ret = mapping;
	return true;
}

/*
 * The lower end of the thread's stack, if sp is on it; else that of the mapping.
 * The functions are looked up: in older glibc another library has them.
 */
static uintptr_t lowest_of_thread(uintptr_t sp, const struct mapping *mapping)
{
	int (*get_attr)(pthread_t, pthread_attr_t *) =
		agent_lookup("pthread_getattr_np");
	int (*get_stack)(const pthread_attr_t *, void **, size_t *) =
		agent_lookup("pthread_attr_getstack");
	pthread_attr_t attr;
	void *start = NULL;
	size_t size = 0;

	if (!get_attr || !get_stack || get_attr(pthread_self(), &attr))
		return mapping->start;
	get_stack(&attr, &start, &size);
	/* Frees a mask of processors; also older glibc has it in libc. */
	pthread_attr_destroy(&attr);
	if (sp - (uintptr_t)start >= size ||
	    (uintptr_t)start < mapping->start)
		return mapping->start;
	return (uintptr_t)start;
}

/* The first thread's stack grows down to its limit, or to what lies below. */
static uintptr_t lowest(uintptr_t sp, const struct mapping *mapping)
{
	/* The kernel keeps 1 MiB free below a stack that grows. */
	uintptr_t floor = mapping->below + (1 << 20);
	struct rlimit limit;

	if (!mapping->is_main_stack)
		return lowest_of_thread(sp, mapping);
	if (!getrlimit(RLIMIT_STACK, &limit) &&
	    limit.rlim_cur < mapping->end - floor)
		floor = mapping->end - limit.rlim_cur;
	return floor < mapping->start ? floor : mapping->start;
}

static bool look_among_known(uintptr_t sp)
{
	for (size_t i = 0; i < KNOWN_ROOMS; i++) {
		if (sp - known[i].low >= known[i].size)
			continue;
		agent_stack_room = known[i];
		return true;
	}
	return false;
}

bool agent_stack_look(uintptr_t sp)
{
	struct mapping mapping;
	uintptr_t low, margin;

	if (look_among_known(sp) || !find_mapping(sp, &mapping))
		return false;
	low = lowest(sp, &mapping);
	margin = (mapping.end - low) / MARGIN_SHARE;
	if (margin > MARGIN)
		margin = MARGIN;
	agent_stack_room.low = low + margin;
	agent_stack_room.size = mapping.end - agent_stack_room.low;
	known[next_known++ % KNOWN_ROOMS] = agent_stack_room;
	return sp < agent_stack_room.low;
}

__attribute__((no_sanitize("address"))) void
agent_stack_words(void (*callback)(uintptr_t word, void *arg), void *arg)
{
	const uintptr_t *word = __builtin_frame_address(0);
	struct mapping mapping;

	if (!find_mapping((uintptr_t)word, &mapping))
		return;
	for (; (uintptr_t)(word + 1) <= mapping.end; word++)
		callback(*word, arg);
}

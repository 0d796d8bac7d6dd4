// SPDX-License-Identifier: GPL-2.0-only
#include "agent/environment.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/program.h"

/* --- /proc/self/environ --- */

enum { STAT_MAX = 2048, STAT_FIRST = 26, STAT_LAST = 51 };

/* Fields 26 to 51 of /proc/self/stat (proc(5)); the addresses of this process. */
static bool read_stat(uint64_t fields[STAT_LAST - STAT_FIRST + 1])
{
	char text[STAT_MAX];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *p;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')');
	for (int i = 3; p && i <= STAT_LAST; i++) {
		p = strchr(p + 1, ' ');
		if (p && i >= STAT_FIRST)
			fields[i - STAT_FIRST] = strtoull(p + 1, NULL, 10);
	}
	return p;
}

/*
 * Cuts what the kernel shows as the environment, which ends at `end`. Where that is
 * not possible (kernels without checkpointing) zeros remain.
 */
static void cut_environ_file(const char *start, const char *end)
{
	uint64_t f[STAT_LAST - STAT_FIRST + 1];
	struct prctl_mm_map map;

	if (!read_stat(f) || f[STAT_LAST - STAT_FIRST] != (uintptr_t)end)
		return;
	map = (struct prctl_mm_map){
		.start_code = f[0],
		.end_code = f[1],
		.start_stack = f[2],
		.start_data = f[19],
		.end_data = f[20],
		.start_brk = f[21],
		.brk = (uint64_t)syscall(SYS_brk, 0),
		.arg_start = f[22],
		.arg_end = f[23],
		.env_start = f[24],
		.env_end = (uintptr_t)start,
		.exe_fd = (uint32_t)-1,
	};
	prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/* Do the strings lie one behind the other, as exec leaves them? */
static bool are_together(char **list, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (list[i - 1] + strlen(list[i - 1]) + 1 != list[i])
			return false;
	return true;
}

/* Wipes strings of environ that have been copied. */
static void wipe(char **list, size_t count)
{
	char *start = list[0], *end;

	if (!are_together(list, count))
		return;
	end = list[count - 1] + strlen(list[count - 1]) + 1;
	memset(start, 0, (size_t)(end - start));
	cut_environ_file(start, end);
}

/* --- environ --- */

static size_t count_environ(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	return count;
}

/* Where what `kaa run` or a parent added begins; `count` if there is none. */
static size_t find_mark(size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (!strcmp(environ[i], HAND_ON_MARK))
			return i;
	return count;
}

/* The last LD_PRELOAD, which the loader took. */
static char **find_preload(size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (!strncmp(environ[i], HAND_ON_PRELOAD,
			     strlen(HAND_ON_PRELOAD)))
			return &environ[i];
	return NULL;
}

/* The path as the list has it may be relative: by the file's name. */
static char *find_library(char *list, const char *path, size_t *size)
{
	const char *name = agent_program_name(path);
	size_t len = strlen(name);

	for (char *p = list; *p; p += *size) {
		char *end;

		p += strspn(p, " :");
		*size = strcspn(p, " :");
		end = p + *size;
		if (*size >= len && !strncmp(end - len, name, len) &&
		    (*size == len || end[-(ptrdiff_t)len - 1] == '/'))
			return p;
	}
	return NULL;
}

static void remove_entry(char **entry)
{
	do {
		entry[0] = entry[1];
	} while (*entry++);
}

/* Set by hand, without `kaa run`: what else is in the list stays. */
static void take_by_hand(char **entry, char *library, size_t size)
{
	char *list = *entry + strlen(HAND_ON_PRELOAD), *rest = library + size;

	if (*rest)
		rest++;
	else if (library > list)
		library--;
	memmove(library, rest, strlen(rest) + 1);
	if (!*list)
		remove_entry(entry);
}

/* All behind the mark: the variables become copies, or go if there is no room. */
static void take_marked(size_t mark, size_t count, struct hand_on *hand_on)
{
	size_t kept = mark;

	for (size_t i = mark + 1; i < count - 1; i++)
		hand_on_add(hand_on, environ[i]);
	wipe(environ + mark, count - mark);
	for (size_t i = 0; i < hand_on->variable_count; i++)
		environ[kept++] = (char *)hand_on->variables[i];
	environ[kept] = NULL;
}

bool agent_environment_take(const char *path, struct hand_on *hand_on)
{
	size_t count = count_environ(), mark = find_mark(count), size;
	char **preload = find_preload(count);
	char *library = preload ? find_library(*preload + strlen(HAND_ON_PRELOAD),
					       path, &size) :
				  NULL;

	if (!library || !hand_on_set_library(hand_on, path))
		return false;
	if (mark < count && preload == &environ[count - 1])
		take_marked(mark, count, hand_on);
	else
		take_by_hand(preload, library, size);
	return true;
}

void agent_environment_hide(const struct hand_on *hand_on)
{
	for (size_t i = 0; i < hand_on->variable_count; i++)
		for (char **entry = environ; entry && *entry; entry++)
			if (*entry == hand_on->variables[i]) {
				remove_entry(entry);
				break;
			}
}

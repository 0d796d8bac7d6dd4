// SPDX-License-Identifier: GPL-2.0-only
#include "agent/hand_on.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *keep(struct hand_on *hand_on, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = hand_on->text + hand_on->text_used;

	if (size > sizeof(hand_on->text) - hand_on->text_used)
		return NULL;
	memcpy(copy, text, size);
	hand_on->text_used += size;
	return copy;
}

bool hand_on_set_library(struct hand_on *hand_on, const char *path)
{
	hand_on->library = keep(hand_on, path);
	return hand_on->library;
}

bool hand_on_add(struct hand_on *hand_on, const char *variable)
{
	const char *copy;

	if (hand_on->variable_count == HAND_ON_VARIABLES_MAX)
		return false;
	copy = keep(hand_on, variable);
	if (copy)
		hand_on->variables[hand_on->variable_count++] = copy;
	return copy;
}

/* --- LD_PRELOAD --- */

/* Is the path one of a list with ' ' and ':' between them? */
static bool list_has(const char *list, const char *path)
{
	size_t size = strlen(path);

	for (const char *p = list; *p; p += strcspn(p, " :")) {
		p += strspn(p, " :");
		if (!strncmp(p, path, size) && strchr(" :", p[size]))
			return true;
	}
	return false;
}

/* The last one counts, as for the loader. */
static const char *find_preload(char *const envp[])
{
	const char *found = "";

	for (; *envp; envp++)
		if (!strncmp(*envp, HAND_ON_PRELOAD, strlen(HAND_ON_PRELOAD)))
			found = *envp + strlen(HAND_ON_PRELOAD);
	return found;
}

/* The agent stands last: a sanitizer's runtime, say, must be the first. */
static bool join_preload(char *buf, size_t size, const char *list,
			 const char *library)
{
	size_t list_len = strlen(list), library_len = strlen(library);
	char *p = buf;

	if (strlen(HAND_ON_PRELOAD) + list_len + 1 + library_len + 1 > size)
		return false;
	p = mempcpy(p, HAND_ON_PRELOAD, strlen(HAND_ON_PRELOAD));
	p = mempcpy(p, list, list_len);
	if (list_len)
		*p++ = ':';
	memcpy(p, library, library_len + 1);
	return true;
}

static bool is_readable(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* --- the list --- */

static bool is_handed_on(const struct hand_on *hand_on, const char *variable)
{
	for (size_t i = 0; i < hand_on->variable_count; i++)
		if (!strcmp(variable, hand_on->variables[i]))
			return true;
	return false;
}

static char **list_of_size(struct hand_on_environment *environment, size_t count)
{
	void *map;

	environment->mapped_size = 0;
	if (count <= HAND_ON_SMALL)
		return environment->small;
	map = mmap(NULL, count * sizeof(char *), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	environment->mapped_size = count * sizeof(char *);
	return map;
}

/* Early in a Python's life its variables are not hidden yet: not twice. */
static void fill(char **list, const struct hand_on *hand_on,
		 char *const envp[], char *preload)
{
	for (; *envp; envp++)
		if (!is_handed_on(hand_on, *envp))
			*list++ = *envp;
	*list++ = (char *)HAND_ON_MARK;
	for (size_t i = 0; i < hand_on->variable_count; i++)
		*list++ = (char *)hand_on->variables[i];
	*list++ = preload;
	*list = NULL;
}

void hand_on_environment_init(struct hand_on_environment *ret,
			      const struct hand_on *hand_on,
			      char *const envp[])
{
	static char *const empty[] = { NULL };
	int errnum = errno;
	const char *preload;
	size_t count = 0;

	ret->list = (char **)envp;
	ret->mapped_size = 0;
	if (!envp)
		envp = empty;
	while (envp[count])
		count++;
	preload = find_preload(envp);
	if (!list_has(preload, hand_on->library) &&
	    is_readable(hand_on->library) &&
	    join_preload(ret->preload, sizeof(ret->preload), preload,
			 hand_on->library)) {
		char **list = list_of_size(ret, count + HAND_ON_VARIABLES_MAX + 3);

		if (list) {
			fill(list, hand_on, envp, ret->preload);
			ret->list = list;
		}
	}
	errno = errnum;
}

void hand_on_environment_deinit(struct hand_on_environment *environment)
{
	int errnum = errno;

	if (environment->mapped_size)
		munmap(environment->list, environment->mapped_size);
	errno = errnum;
}

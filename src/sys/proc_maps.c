// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	/* Below the first thread's stack is nothing for much more than that. */
	STACK_GROWS = 16 << 20,
	/* vm.max_map_count is 65,530 by default; a path at most 4 KiB. */
	MAPS_TEXT_MAX = 256 << 20,
};

/* What is left of one line. */
struct line {
	const char *pos;
	const char *end;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return INT_MAX;
}

/* A number in base 10 or 16, at least one digit. */
static bool take_number(struct line *line, unsigned int base, uint64_t *ret)
{
	const char *start = line->pos;
	uint64_t value = 0;

	while (line->pos < line->end && digit_value(*line->pos) < (int)base) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_value(*line->pos),
					   &value))
			return false;
		line->pos++;
	}
	*ret = value;
	return line->pos > start;
}

static bool take_char(struct line *line, char c)
{
	if (line->pos == line->end || *line->pos != c)
		return false;
	line->pos++;
	return true;
}

/* "r-xp " */
static bool take_protection(struct line *line, struct proc_map *map)
{
	const char *p = line->pos;

	if (line->end - p < 5 || p[4] != ' ')
		return false;
	if ((p[0] != 'r' && p[0] != '-') || (p[1] != 'w' && p[1] != '-') ||
	    (p[2] != 'x' && p[2] != '-') || (p[3] != 'p' && p[3] != 's'))
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0) |
		    (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	map->shared = p[3] == 's';
	line->pos += 5;
	return true;
}

static bool take_device(struct line *line, struct proc_map *map)
{
	uint64_t major, minor;

	if (!take_number(line, 16, &major) || !take_char(line, ':') ||
	    !take_number(line, 16, &minor) || !take_char(line, ' ') ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	map->major = (uint32_t)major;
	map->minor = (uint32_t)minor;
	return true;
}

/* Appends the path with its NUL; the kernel writes newlines as \012. */
static void append_path(struct strbuf *text, const char *path, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (length - i >= 4 && memcmp(path + i, "\\012", 4) == 0) {
			strbuf_putc(text, '\n');
			i += 3;
		} else {
			strbuf_putc(text, path[i]);
		}
	}
	strbuf_putc(text, '\0');
}

/* Fills *map but for the path, which it appends to text. */
static bool parse_line(struct line line, struct proc_map *map,
		       struct strbuf *text)
{
	size_t length;

	if (!take_number(&line, 16, &map->start) || !take_char(&line, '-') ||
	    !take_number(&line, 16, &map->end) || !take_char(&line, ' ') ||
	    !take_protection(&line, map) ||
	    !take_number(&line, 16, &map->offset) || !take_char(&line, ' ') ||
	    !take_device(&line, map) || !take_number(&line, 10, &map->inode) ||
	    map->start >= map->end)
		return false;
	if (line.pos < line.end && *line.pos != ' ')
		return false;
	while (line.pos < line.end && *line.pos == ' ')
		line.pos++;
	length = (size_t)(line.end - line.pos);
	if (memchr(line.pos, '\0', length))
		return false;
	append_path(text, line.pos, length);
	return true;
}

/* Paths were appended one behind the other: the buffer does not move now. */
static void point_to_paths(struct proc_maps *maps)
{
	const char *path = maps->text.data;

	vec_for_each(map, &maps->maps) {
		map->path = path;
		path += strlen(path) + 1;
	}
}

static struct error *parse_lines(const char *text, size_t size,
				 struct proc_maps *maps)
{
	const char *end = text + size;
	size_t number = 1;

	for (const char *pos = text; pos < end; number++) {
		const char *newline = memchr(pos, '\n', (size_t)(end - pos));
		struct line line = { pos, newline ? newline : end };
		struct proc_map map = {};

		if (!parse_line(line, &map, &maps->text))
			return error_create(ERROR_FORMAT,
					    "line %zu is not a mapping", number);
		if (!vec_push(&maps->maps, map))
			return error_no_memory();
		pos = newline ? newline + 1 : end;
	}
	return strbuf_error(&maps->text);
}

struct error *proc_maps_parse(const char *text, size_t size,
			      struct proc_maps *ret)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	struct error *error = parse_lines(text, size, &maps);

	if (error) {
		proc_maps_deinit(&maps);
		return error;
	}
	point_to_paths(&maps);
	*ret = maps;
	return NULL;
}

/*
 * The kernel shows a path from the root of the reader's, or, in another mount
 * namespace, from the root of that. A chroot there stands before each path.
 */
static void paths_below(struct proc_maps *maps, const char *chroot)
{
	size_t length = strlen(chroot);

	vec_for_each(map, &maps->maps) {
		if (strncmp(map->path, chroot, length) == 0 &&
		    map->path[length] == '/')
			map->path += length;
	}
}

/* A process that may not be asked, or is gone, keeps its paths. */
static void paths_as_the_process_sees_them(const char *root, pid_t pid,
					   struct proc_maps *maps)
{
	_cleanup_free_ char *chroot = NULL;
	bool same = true;
	struct error *error = proc_same_namespace(root, pid, "mnt", &same);

	if (!error && !same)
		error = proc_link(root, pid, "root", &chroot);
	error_destroy(error);
	if (chroot && strcmp(chroot, "/") != 0)
		paths_below(maps, chroot);
}

struct error *proc_maps_read(const char *root, pid_t pid,
			     struct proc_maps *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	error = file_read(root, path, MAPS_TEXT_MAX, &text);
	if (error)
		return proc_gone_error(error, pid);
	error = proc_maps_parse(text.data, text.len, ret);
	if (!error)
		paths_as_the_process_sees_them(root, pid, ret);
	return error;
}

void proc_maps_deinit(struct proc_maps *maps)
{
	vec_deinit(&maps->maps);
	strbuf_deinit(&maps->text);
}

const struct proc_map *proc_maps_find(const struct proc_maps *maps,
				      uint64_t address)
{
	size_t low = 0;
	size_t high = maps->maps.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct proc_map *map = &maps->maps.data[middle];

		if (address < map->start)
			high = middle;
		else if (address >= map->end)
			low = middle + 1;
		else
			return map;
	}
	return NULL;
}

/*
 * glibc puts struct pthread at the upper end of a stack that it makes; that of the first
 * thread is the uppermost map of all.
 */
uint64_t proc_maps_stack_start(const struct proc_maps *maps, uint64_t pointer,
			       bool is_first)
{
	const struct proc_map *own = proc_maps_find(maps, pointer);

	if (!is_first)
		return own ? own->start : 0;
	vec_for_each(map, &maps->maps)
		if (!strcmp(map->path, "[stack]"))
			return map->start > pointer + STACK_GROWS ?
				       map->start - STACK_GROWS :
				       map->start;
	return 0;
}

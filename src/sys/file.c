// SPDX-License-Identifier: GPL-2.0-only
#include "sys/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_NAMES = 1000 * 1000,
};

void name_list_deinit(struct name_list *list)
{
	vec_for_each(name, list)
		free(*name);
	vec_deinit(list);
}

/* root and path as one; free() it. NULL when memory runs out. */
static char *join(const char *root, const char *path)
{
	char *full;

	if (asprintf(&full, "%s%s", root ? root : "", path) < 0)
		return NULL;
	return full;
}

FILE *file_open(const char *root, const char *path)
{
	_cleanup_free_ char *full = join(root, path);

	return full ? fopen(full, "re") : NULL;
}

static struct error *read_all(int fd, const char *path, size_t limit,
			      struct strbuf *out)
{
	int errnum = strbuf_read(out, fd, limit);

	if (errnum == EFBIG)
		return error_at(ERROR_LIMIT, path, limit,
				"too long for kaa to read");
	if (errnum && errnum != ENOMEM)
		return error_os(errnum, path, "cannot read");
	return errnum ? error_no_memory() : NULL;
}

struct error *file_read(const char *root, const char *path, size_t limit,
			struct strbuf *out)
{
	_cleanup_free_ char *full = join(root, path);
	_cleanup_close_ int fd = -1;
	size_t before = out->len;
	struct error *error;

	if (!full)
		return error_no_memory();
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_os(errno, full, "cannot open");
	error = read_all(fd, full, limit, out);
	if (error)
		strbuf_truncate(out, before);
	return error;
}

struct error *file_read_i64(const char *root, const char *path, int64_t *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = file_read(root, path, 4096, &text);
	long long value;
	char *end;

	if (error)
		return error;
	errno = 0;
	value = strtoll(text.data, &end, 10);
	if (end == text.data || errno ||
	    (*end && !isspace((unsigned char)*end)))
		return error_at(ERROR_FORMAT, path, 0, "not a number");
	*ret = value;
	return NULL;
}

struct error *kernel_setting(const char *root, const char *name, int64_t *ret)
{
	char path[256];

	if (snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name) >=
	    (int)sizeof(path))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "setting name too long");
	return file_read_i64(root, path, ret);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *add_names(DIR *dir, const char *path,
			       struct name_list *list)
{
	for (;;) {
		struct dirent *entry;
		char *copy;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return errno ? error_os(errno, path, "cannot list") :
				       NULL;
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (list->count >= MAX_NAMES)
			return error_at(ERROR_LIMIT, path, 0,
					"too many names for kaa to read");
		copy = strdup(entry->d_name);
		if (!copy || !vec_push(list, copy)) {
			free(copy);
			return error_no_memory();
		}
	}
}

struct error *dir_list(const char *root, const char *path,
		       struct name_list *ret)
{
	_cleanup_free_ char *full = join(root, path);
	struct name_list names = {};
	struct error *error;
	DIR *dir;

	if (!full)
		return error_no_memory();
	dir = opendir(full);
	if (!dir)
		return error_os(errno, full, "cannot list");
	error = add_names(dir, full, &names);
	closedir(dir);
	if (!error && !vec_reserve(ret, names.count))
		error = error_no_memory();
	if (error) {
		name_list_deinit(&names);
		return error;
	}
	if (names.count)
		qsort(names.data, names.count, sizeof(*names.data),
		      compare_names);
	vec_for_each(name, &names)
		ret->data[ret->count++] = *name;
	vec_deinit(&names);
	return NULL;
}

struct error *file_read_link(const char *root, const char *path, char **ret)
{
	_cleanup_free_ char *full = join(root, path);
	char target[PATH_MAX];
	ssize_t n;
	char *copy;

	if (!full)
		return error_no_memory();
	n = readlink(full, target, sizeof(target));
	if (n < 0)
		return error_os(errno, full, "cannot read the link");
	if ((size_t)n >= sizeof(target))
		return error_at(ERROR_LIMIT, full, 0, "link too long");
	copy = strndup(target, (size_t)n);
	if (!copy)
		return error_no_memory();
	*ret = copy;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/def_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "collect/process_view.h"
#include "symbolize/rooted.h"

enum {
	SOURCE_MAX = 8 << 20,
	FILES_MAX = 16384,
};

void def_files_deinit(struct def_files *files)
{
	vec_for_each(file, &files->files)
		py_def_lines_deinit(file);
	vec_deinit(&files->files);
	map_deinit(&files->by_path);
}

/* A file that is none, or that changed, has no lines. */
static struct error *scan_file(const char *root, const char *path,
			       int64_t started, struct py_def_lines *ret)
{
	_cleanup_free_ uint8_t *buf = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t size;
	struct error *error = rooted_open(root, path, O_NONBLOCK, &fd);

	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (error) {
		error_destroy(error);
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX ||
	    timespec_ns(&st.st_mtim) > started)
		return NULL;
	buf = malloc((size_t)st.st_size + 1);
	if (!buf)
		return error_no_memory();
	if (fd_read(fd, buf, (size_t)st.st_size, &size))
		return NULL;
	return py_def_lines_scan(ret, (struct bytes){ buf, size }) ?
		       NULL :
		       error_no_memory();
}

static uint64_t key_of(const char *root, const char *path)
{
	return hash_combine(XXH3_64bits(path, strlen(path)),
			    XXH3_64bits(root, strlen(root)));
}

static const struct py_def_lines *
known_file(const struct def_files *files, const char *root, const char *path)
{
	const uint64_t *index = map_find(&files->by_path, key_of(root, path));

	return index ? &files->files.data[*index] : NULL;
}

static struct error *get_file(struct def_files *files, const char *root,
			      const char *path, int64_t started,
			      const struct py_def_lines **ret)
{
	struct py_def_lines lines = {};
	struct error *error;

	*ret = known_file(files, root, path);
	if (*ret || files->files.count >= FILES_MAX)
		return NULL;
	error = scan_file(root, path, started, &lines);
	if (!error && !map_insert(&files->by_path, key_of(root, path),
				  files->files.count, NULL))
		error = error_no_memory();
	if (error || !vec_push(&files->files, lines)) {
		py_def_lines_deinit(&lines);
		/* No index without its file. */
		map_clear(&files->by_path);
		return error ? error : error_no_memory();
	}
	*ret = known_file(files, root, path);
	return NULL;
}

struct error *def_files_line(struct def_files *files, pid_t pid,
			   const char *filename, const char *qualname,
			   uint32_t *ret)
{
	const struct py_def_lines *lines = NULL;
	struct process_view view;
	struct error *error;

	*ret = 0;
	if (filename[0] != '/')
		return NULL;
	error = process_view_look(NULL, pid, &view);
	if (!error) {
		error = get_file(files, view.root, filename, view.started, &lines);
	} else {
		error_destroy(error);
		error = NULL;
		lines = known_file(files, "", filename);
	}
	if (!error && lines)
		*ret = py_def_lines_find(lines, qualname);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/flame_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/name_match.h"
#include "base/output_error.h"
#include "cmd/framework/message.h"
#include "view/shell_word.h"

/* Whether there is nothing in the file that kaa did not write. */
static struct error *check_ours(int fd, const char *path)
{
	char begin[FLAME_MARK_WITHIN + 1];
	struct stat status;
	ssize_t n;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return NULL;
	n = pread(fd, begin, sizeof(begin) - 1, 0);
	if (n < 0)
		return error_os(errno, path, "cannot read the file");
	begin[n] = '\0';
	if (!n || strstr(begin, FLAME_MARK))
		return NULL;
	return error_create(
		ERROR_PERMISSION,
		"'%s' is there, and is no flame graph of kaa: remove it, or name another file with -o",
		path);
}

/* Makes room in a file that is open, unless it is another's. */
static struct error *take_over(int fd, const char *path)
{
	struct error *error = check_ours(fd, path);

	/* What is no file has no size. */
	if (!error && ftruncate(fd, 0) && errno != EINVAL)
		error = error_os(errno, path, "cannot write the file");
	return error;
}

static struct error *open_file(const char *path, FILE **ret)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	int errnum = fd < 0 ? errno : 0;
	struct error *error;
	FILE *out;

	/* A pipe may be there to be written alone. */
	if (fd < 0 && errnum != EISDIR)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return output_error(errnum, path);
	out = fdopen(fd, "w");
	if (!out) {
		error = error_os(errno, path, "cannot write the file");
		close(fd);
		return error;
	}
	error = take_over(fd, path);
	if (error)
		fclose(out);
	else
		*ret = out;
	return error;
}

static struct error *draw(const struct flame_file *file,
			  const struct flame_tree *tree,
			  const struct flame_head *head, FILE *out)
{
	return file->svg ? flame_picture_write(tree, head, out) :
			   flame_page_write(tree, head, out);
}

static void say_written(const char *path, long size)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT, bytes = STRBUF_INIT;

	shell_word(path, &word);
	strbuf_size(&bytes, size > 0 ? (uint64_t)size : 0);
	message_note("wrote '%s' (%s): open it in a browser, for example with: xdg-open %s",
		     path, bytes.data, word.data);
}

struct error *flame_file_write(const struct flame_file *file,
			       const struct flame_tree *tree,
			       const struct flame_head *head)
{
	struct error *error;
	FILE *out = NULL;
	long size;

	/* main() flushes standard output and reports what fails there. */
	if (!strcmp(file->path, "-"))
		return draw(file, tree, head, stdout);
	error = open_file(file->path, &out);
	if (error)
		return error;
	error = draw(file, tree, head, out);
	size = ftell(out);
	error = output_file_close(out, file->path, error);
	if (!error)
		say_written(file->path, size);
	return error;
}

struct error *flame_file_choose(struct flame_file *file)
{
	bool is_page;

	if (!file->path)
		file->path = file->svg ? "flamegraph.svg" : "flamegraph.html";
	if (!strcmp(file->path, "-"))
		return NULL;
	is_page = name_ends_with(file->path, ".html") ||
		  name_ends_with(file->path, ".htm");
	if (file->svg && is_page)
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"--svg writes a picture, but '%s' is the name of a page: let it end in .svg",
			file->path);
	file->svg = !is_page;
	return is_page || name_ends_with(file->path, ".svg") ?
		       NULL :
		       error_create(
			       ERROR_INVALID_ARGUMENT,
			       "the name '%s' must end in .html (a page that searches and zooms) or in .svg (a picture)",
			       file->path);
}

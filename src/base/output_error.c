// SPDX-License-Identifier: GPL-2.0-only
#include "base/output_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path_name.h"

/* To be freed; NULL: no memory. */
static char *folder_of(const char *path)
{
	size_t size = (size_t)(path_name(path) - path);

	while (size > 1 && path[size - 1] == '/')
		size--;
	return size ? strndup(path, size) : strdup(".");
}

static bool exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

struct error *output_error(int errnum, const char *path)
{
	_cleanup_free_ char *folder = folder_of(path);

	if (!folder)
		return error_no_memory();
	if (errnum == ENOENT && !exists(folder))
		return error_create(ERROR_NOT_FOUND,
				    "'%s' cannot be written: there is no folder '%s'",
				    path, folder);
	if (errnum == EACCES && exists(path))
		return error_create(ERROR_PERMISSION,
				    "'%s' cannot be written: it is there, and you may not change it",
				    path);
	if (errnum == EACCES)
		return error_create(ERROR_PERMISSION,
				    "'%s' cannot be written: you may not make files in the folder '%s'",
				    path, folder);
	return error_os(errnum, path, "cannot be written");
}

static void remove_file(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}

struct error *output_file_close(FILE *out, const char *path, struct error *error)
{
	bool failed = ferror(out);
	int errnum = errno;

	/* What was not written before is not written now, for the same reason. */
	if (fclose(out)) {
		errnum = errno;
		failed = true;
	}
	if (failed || error)
		remove_file(path);
	if (!failed)
		return error;
	/* The writer does not know which file it is. */
	error_destroy(error);
	return error_os(errnum ? errnum : EIO, path, "cannot write the file");
}

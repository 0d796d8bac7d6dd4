// SPDX-License-Identifier: GPL-2.0-only
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct error no_memory = {
	.code = ERROR_NO_MEMORY,
	.message = (char *)"out of memory",
};

struct error *error_no_memory(void)
{
	return &no_memory;
}

static struct error *error_vcreate(enum error_code code, const char *path,
				   const char *format, va_list args)
{
	struct error *error = calloc(1, sizeof(*error));

	if (!error)
		return &no_memory;
	error->code = code;
	if (vasprintf(&error->message, format, args) < 0) {
		free(error);
		return &no_memory;
	}
	if (path) {
		error->path = strdup(path);
		if (!error->path) {
			error_destroy(error);
			return &no_memory;
		}
	}
	return error;
}

struct error *error_create(enum error_code code, const char *format, ...)
{
	struct error *error;
	va_list args;

	va_start(args, format);
	error = error_vcreate(code, NULL, format, args);
	va_end(args);
	return error;
}

struct error *error_os(int errnum, const char *path, const char *format, ...)
{
	struct error *error;
	va_list args;

	va_start(args, format);
	error = error_vcreate(ERROR_OS, path, format, args);
	va_end(args);
	if (error != &no_memory)
		error->errnum = errnum;
	return error;
}

struct error *error_at(enum error_code code, const char *path, uint64_t offset,
		       const char *format, ...)
{
	struct error *error;
	va_list args;

	va_start(args, format);
	error = error_vcreate(code, path, format, args);
	va_end(args);
	if (error != &no_memory) {
		error->has_offset = true;
		error->offset = offset;
	}
	return error;
}

void error_destroy(struct error *error)
{
	if (!error || error == &no_memory)
		return;
	free(error->path);
	free(error->message);
	free(error);
}

bool error_is_os(const struct error *error, int errnum)
{
	return error && error->code == ERROR_OS && error->errnum == errnum;
}

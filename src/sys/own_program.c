// SPDX-License-Identifier: GPL-2.0-only
#include "sys/own_program.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path_name.h"

/* All that a shell leaves as it is. */
#define PLAIN                        \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"abcdefghijklmnopqrstuvwxyz" \
	"0123456789/._+-@%=:,"

struct error *own_program_path(struct strbuf *ret)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	if (n < 0)
		return error_os(errno, "/proc/self/exe",
				"cannot find the executable of kaa");
	if (n == (ssize_t)sizeof(path) || path[0] != '/')
		return error_create(ERROR_NOT_FOUND,
				    "the executable of kaa has no usable path");
	strbuf_clear(ret);
	strbuf_append(ret, path, (size_t)n);
	return strbuf_error(ret);
}

/* Does sudo, wherever it runs, find this file by its name? */
static bool found_by_name(const char *path, const char *name)
{
	_cleanup_strbuf_ struct strbuf sbin = STRBUF_INIT, bin = STRBUF_INIT;
	size_t folder = (size_t)(name - path);

	if (folder != strlen("/usr/bin/") || memcmp(path, "/usr/bin/", folder))
		return false;
	strbuf_printf(&sbin, "/usr/local/sbin/%s", name);
	strbuf_printf(&bin, "/usr/local/bin/%s", name);
	return access(sbin.data, X_OK) && access(bin.data, X_OK);
}

static bool can_be_typed(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f || *path == '\'')
			return false;
	return true;
}

void own_program_for_sudo(const char *path, struct strbuf *out)
{
	const char *name = path_name(path);

	if (found_by_name(path, name) || !can_be_typed(path))
		strbuf_puts(out, name);
	else if (path[strspn(path, PLAIN)])
		strbuf_printf(out, "'%s'", path);
	else
		strbuf_puts(out, path);
}

void own_program_word(struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct error *error = own_program_path(&path);

	own_program_for_sudo(error ? "kaa" : path.data, out);
	error_destroy(error);
}

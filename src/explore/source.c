// SPDX-License-Identifier: GPL-2.0-only
#include "explore/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/name_match.h"
#include "symbolize/rooted.h"

static struct error *check(int fd, const char *path, struct source *source)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_os(errno, path, "cannot read the attributes of the file");
	if (!S_ISREG(st.st_mode))
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is not a regular file", path);
	if (st.st_size > (off_t)SOURCE_SIZE_MAX)
		return error_create(ERROR_LIMIT,
				    "'%s' is larger than %u MiB", path,
				    SOURCE_SIZE_MAX >> 20);
	source->modified = timespec_ns(&st.st_mtim);
	return NULL;
}

static struct error *read_all(int fd, const char *path, struct strbuf *out)
{
	char buffer[65536];

	/* It may grow meanwhile. */
	while (out->len <= SOURCE_SIZE_MAX) {
		ssize_t n = read(fd, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_os(errno, path, "cannot read");
		if (!n)
			break;
		strbuf_append(out, buffer, (size_t)n);
	}
	return strbuf_error(out);
}

static struct error *split(struct source *source)
{
	const struct strbuf *text = &source->text;
	size_t at = 0;

	while (at < text->len) {
		const char *end =
			memchr(text->data + at, '\n', text->len - at);

		if (!vec_push(&source->starts, at))
			return error_no_memory();
		at = end ? (size_t)(end - text->data) + 1 : text->len;
	}
	return NULL;
}

/* Files of template engines, as people name them. */
static bool is_template(const char *path)
{
	static const char *const ends[] = {
		".html", ".htm", ".xhtml", ".xml",   ".txt", ".css", ".js",
		".j2",	 ".mak", ".mako",  ".jinja", ".jinja2", ".pt", ".tmpl",
		".tpl",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (name_ends_with(path, ends[i]))
			return true;
	return false;
}

struct error *source_read(const char *root, const char *path,
			  struct source *ret)
{
	struct source source = { .text = STRBUF_INIT };
	_cleanup_close_ int fd = -1;
	struct error *error =
		is_template(path) ?
			error_create(ERROR_UNSUPPORTED,
				     "'%s' is a template: the lines are of the Python code that was made from it",
				     path) :
			rooted_open(root, path, 0, &fd);

	if (!error)
		error = check(fd, path, &source);
	if (!error)
		error = read_all(fd, path, &source.text);
	if (!error)
		error = split(&source);
	if (error)
		source_deinit(&source);
	else
		*ret = source;
	return error;
}

void source_deinit(struct source *source)
{
	strbuf_deinit(&source->text);
	vec_deinit(&source->starts);
}

const char *source_line(const struct source *source, size_t line, size_t *n)
{
	const char *text, *end;
	size_t left;

	*n = 0;
	if (!line || line > source->starts.count)
		return "";
	text = source->text.data + source->starts.data[line - 1];
	left = source->text.len - source->starts.data[line - 1];
	end = memchr(text, '\n', left);
	*n = end ? (size_t)(end - text) : left;
	if (*n && text[*n - 1] == '\r')
		--*n;
	return text;
}

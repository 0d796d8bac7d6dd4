// SPDX-License-Identifier: GPL-2.0-only
#include "sys/invoker_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "sys/capture.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

enum { SHELL_TIMEOUT_MS = 5000 };

/* What the login shell says; NULL if it says nothing. */
static struct error *path_of_shell(const struct invoker *invoker, char **ret)
{
	static const char mark[] = "\nkaa-path=";
	const char *const argv[] = {
		invoker->shell, "-l", "-c",
		"printf '\\nkaa-path=%s\\n' \"$PATH\"", NULL
	};
	const struct capture capture = {
		.argv = argv,
		.invoker = invoker,
		.path = DEFAULT_PATH,
		.timeout_ms = SHELL_TIMEOUT_MS,
		.limit = 1 << 20,
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const char *value;
	int status;

	*ret = NULL;
	if (invoker->shell[0] != '/')
		return NULL;
	error_destroy(capture_run(&capture, &out, &status));
	value = strstr(out.data, mark);
	if (!value)
		return NULL;
	value += strlen(mark);
	if (*value == '\n' || !*value)
		return NULL;
	*ret = strndup(value, strcspn(value, "\n"));
	return *ret ? NULL : error_no_memory();
}

struct error *invoker_path(const struct invoker *invoker, char **ret)
{
	const struct typed_environ *typed = &invoker->typed;
	_cleanup_free_ char *path = NULL;
	const char *known = getenv("PATH");
	struct error *error = NULL;

	if (typed->where == TYPED_BEFORE) {
		known = typed_environ_get(typed, "PATH");
	} else if (invoker->present && typed->where == TYPED_UNKNOWN) {
		known = NULL;
		error = path_of_shell(invoker, &path);
	}
	if (error)
		return error;
	if (!path)
		path = strdup(known ? known : DEFAULT_PATH);
	if (!path)
		return error_no_memory();
	*ret = take_ptr(path);
	return NULL;
}

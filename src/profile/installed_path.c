// SPDX-License-Identifier: GPL-2.0-only
#include "profile/installed_path.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* "<attrs generated init app.Order>": its text is no file's. */
#define GENERATED "<attrs generated "

const char *path_last_folder(const char *path, const char *folder)
{
	const char *found = NULL, *at = path;

	for (; (at = strstr(at, folder)); at++)
		found = at;
	return found;
}

/* Behind the last folder of that name, or NULL. */
static const char *behind_folder(const char *path, const char *folder)
{
	const char *found = path_last_folder(path, folder);

	if (found)
		found += strlen(folder);
	return found && *found ? found : NULL;
}

/* Behind ".../lib/python3.12/", or NULL. */
static const char *behind_library(const char *path)
{
	const char *at = behind_folder(path, "/lib/python");

	if (!at || (*at != '2' && *at != '3') || at[1] != '.' ||
	    !isdigit((unsigned char)at[2]))
		return NULL;
	at += 2 + strspn(at + 2, "0123456789t");
	return *at == '/' && at[1] ? at + 1 : NULL;
}

const char *installed_package_path(const char *path)
{
	const char *found = behind_folder(path, "/site-packages/");

	if (!strncmp(path, GENERATED, strlen(GENERATED)))
		return path;
	return found ? found : behind_folder(path, "/dist-packages/");
}

const char *installed_path(const char *path)
{
	const char *found = installed_package_path(path);

	return found ? found : behind_library(path);
}

bool path_is_frozen(const char *path)
{
	return !strncmp(path, "<frozen ", strlen("<frozen "));
}

bool path_is_library(const char *path)
{
	return installed_path(path) || path_is_frozen(path);
}

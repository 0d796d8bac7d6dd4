/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in an installation of Python a source file is. */
#ifndef KAA_PROFILE_INSTALLED_PATH_H
#define KAA_PROFILE_INSTALLED_PATH_H

#include <stdbool.h>

/*
 * The path from the folder of installed packages or the standard library on,
 * "json/decoder.py"; NULL: it is in neither.
 */
const char *installed_path(const char *path);
/* The same of a package alone; of code that attrs generates what it is called. */
const char *installed_package_path(const char *path);
/* Where the last such part of the path begins, "/lib/python"; NULL: it has none. */
const char *path_last_folder(const char *path, const char *folder);
/* A module that the interpreter has within: "<frozen os>". */
bool path_is_frozen(const char *path);
/* In either of them, or frozen. */
bool path_is_library(const char *path);

#endif

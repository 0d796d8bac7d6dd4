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
/* The same of a package alone. */
const char *installed_package_path(const char *path);
/* In either of them, or a module that the interpreter has within ("<frozen os>"). */
bool path_is_library(const char *path);

#endif

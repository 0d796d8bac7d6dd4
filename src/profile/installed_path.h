/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in an installation of Python a source file is. */
#ifndef KAA_PROFILE_INSTALLED_PATH_H
#define KAA_PROFILE_INSTALLED_PATH_H

/*
 * The path from the folder of installed packages or the standard library on,
 * "json/decoder.py"; NULL: it is in neither.
 */
const char *installed_path(const char *path);
/* The same of a package alone. */
const char *installed_package_path(const char *path);

#endif

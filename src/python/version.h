/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of an interpreter from the strings in it, for releases before
 * 3.11, which have no Py_Version.
 */
#ifndef KAA_PYTHON_VERSION_H
#define KAA_PYTHON_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/*
 * rodata is the read-only data of the file. The series is that of the name
 * for compiled files, "cpython-310" (sys.implementation.cache_tag); the micro
 * release that of the one string that ends as "3.10.13" does, else 0. PY_VERSION_HEX;
 * false if no series, or more than one, is named.
 */
bool py_version_from_strings(struct bytes rodata, uint32_t *ret);

/* The same of a Python 2, which has no such name: that of its release, "2.7.18". */
bool py_version_2_from_strings(struct bytes rodata, uint32_t *ret);

#endif

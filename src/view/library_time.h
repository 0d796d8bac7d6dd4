/* SPDX-License-Identifier: GPL-2.0-only */
/* Who looks for a line to change, and finds others' code. */
#ifndef KAA_VIEW_LIBRARY_TIME_H
#define KAA_VIEW_LIBRARY_TIME_H

#include <stdint.h>

#include "profile/own_time.h"

/*
 * The own time of Python code in libraries (library_files_find()), if that is most of it
 * and the program's own files are seen in it, too; else 0: --no-libraries would say little
 * more.
 */
uint64_t library_time(const bool *libraries, const struct own_time *own);

#endif

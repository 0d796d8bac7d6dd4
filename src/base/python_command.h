/* SPDX-License-Identifier: GPL-2.0-only */
/* What the words of a command say of the Python that it runs. */
#ifndef KAA_BASE_PYTHON_COMMAND_H
#define KAA_BASE_PYTHON_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "python", "python3.13t", "python3-dbg": the last part of a path.
 */
bool python_is_name(const char *name);

/*
 * The script that a command runs: "jobs/run.py" of "python3 -X dev -u jobs/run.py 1",
 * "json.tool" of "python3 -m json.tool", "run.py" of "nice ./run.py". Switches are
 * read as CPython reads them (Python/getopt.c), so that their arguments are no
 * script, nor are those of the script. NULL: none, as with -c; what it runs comes
 * from elsewhere. The string is one of the words, or the end of one.
 */
const char *python_script(const char *const *words, size_t count);

#endif

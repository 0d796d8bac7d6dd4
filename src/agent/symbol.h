/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The symbol of a Python function: "py::<qualname>:<filename>", as CPython's own
 * perf support writes it, in bytes that fit in a line of a perf map and are safe
 * to print.
 *
 * Input is UTF-8 as CPython keeps it, surrogates encoded like any other code point
 * ("surrogatepass"), or any bytes at all. What is no printable text comes out as
 * Python's backslashreplace would write it:
 *
 *   newline, tab, carriage return        \n \t \r
 *   other control characters             \x1b, \x85
 *   line and paragraph separators        \u2028
 *   surrogates (undecodable file names)  \udcff
 *   bytes that are no UTF-8              \xff
 *
 * A backslash stays one.
 */
#ifndef KAA_AGENT_SYMBOL_H
#define KAA_AGENT_SYMBOL_H

#include <stddef.h>

/* A longer name is cut at the end of a character, and ends in "...". */
#define AGENT_QUALNAME_MAX 1024
#define AGENT_FILENAME_MAX 4096

/* Room for any symbol and its NUL. */
#define AGENT_SYMBOL_SIZE (AGENT_QUALNAME_MAX + AGENT_FILENAME_MAX + 8)

/* Writes the symbol and a NUL to out; returns its size without the NUL. */
size_t agent_symbol_write(const char *qualname, size_t qualname_size,
			  const char *filename, size_t filename_size,
			  char out[AGENT_SYMBOL_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Perf maps: /tmp/perf-PID.map, by which programs that make code at run time
 * name it. Source: tools/perf/Documentation/jit-interface.txt of Linux: one
 * line an entry, `START SIZE name`, numbers in hex without 0x, the name up to
 * the end of the line.
 *
 * The bytes are hostile. Lines that are no entries are skipped and counted. An
 * entry of size 0, or one that wraps around the address space or reaches into
 * the upper half, is one of them. A last line without newline may still be
 * being written: it is skipped too.
 */
#ifndef KAA_OBJ_PERF_MAP_H
#define KAA_OBJ_PERF_MAP_H

#include <stddef.h>

#include "base/error.h"
#include "obj/symtab.h"

/* Longer lines are skipped. */
#define PERF_MAP_LINE_MAX 65536

/*
 * Adds the entries to *tab, which must not be finished yet; the caller calls
 * symtab_finish(tab, SYMTAB_LAST_WINS, 0). *bad, if not NULL, is the number of
 * lines skipped.
 */
struct error *perf_map_parse(const void *data, size_t size, struct symtab *tab,
			     size_t *bad);

#endif

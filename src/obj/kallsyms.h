/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/kallsyms: `ADDRESS TYPE NAME[\t[MODULE]]` a line (Linux kernel
 * kernel/kallsyms.c, s_show(); types as nm(1) has them). Only code (types t
 * and w) is kept. There are no sizes: a symbol ends where the next begins.
 *
 * An unprivileged reader sees address 0 everywhere (kptr_restrict): then the
 * table has no symbols.
 */
#ifndef KAA_OBJ_KALLSYMS_H
#define KAA_OBJ_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "obj/symtab.h"

/* Name of the kernel itself, as perf has it. */
#define KALLSYMS_KERNEL "[kernel.kallsyms]"

struct kallsyms {
	/* symbol.group is an index of modules. */
	struct symtab symtab;
	/* "[name]"; [0] is KALLSYMS_KERNEL. */
	const char **modules;
	size_t module_count;
	/* Address of _text (else _stext), 0 if not there. */
	uint64_t text;
	/* True if there were symbols, but all had address 0. */
	bool restricted;
	/* All names stand here: there are 100,000 and more. */
	struct strbuf names;
};

/*
 * Leaves of the text those lines that name some addresses: for each the last
 * symbol at or before it, with its aliases, and the first behind that, where it
 * ends. kallsyms_parse() then gives these addresses the same symbols as with all
 * of the text, in a tenth of the time. addresses: ascending, `count` of them.
 */
struct error *kallsyms_select(struct strbuf *text, const uint64_t *addresses,
			      size_t count);

/*
 * Fills *ret and finishes its symtab. Takes the text over, which is empty
 * afterwards, also on failure; it is cut into names where it is.
 */
struct error *kallsyms_parse(struct strbuf *text, struct kallsyms *ret);
void kallsyms_deinit(struct kallsyms *syms);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded evaluator of DWARF expressions as they occur in call frame
 * information (DWARF 5 sections 2.5.1 and 6.4.2). Internal to unwind/.
 *
 * Operations that need more than registers and memory fail: calls, pieces,
 * type operations, and DW_OP_addr, whose load bias is not known here.
 */
#ifndef KAA_UNWIND_DWARF_EXPR_H
#define KAA_UNWIND_DWARF_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "unwind/regs.h"

struct dwarf_expr_env {
	const struct unwind_regs *regs;
	/* Reads 8 bytes; smaller values are the low bytes of them. */
	bool (*read)(void *arg, uint64_t address, uint64_t *ret);
	void *arg;
};

/*
 * Evaluates with *initial (if not NULL) on the stack; the result is the top.
 * false if the expression is damaged, too long, uses what is not known, or if
 * memory cannot be read.
 */
bool dwarf_expr_eval(struct bytes expression, const struct dwarf_expr_env *env,
		     const uint64_t *initial, uint64_t *ret);

#endif

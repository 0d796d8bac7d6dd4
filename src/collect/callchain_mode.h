/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KAA_COLLECT_CALLCHAIN_MODE_H
#define KAA_COLLECT_CALLCHAIN_MODE_H

/* What a sample says about its stack. */
enum callchain_mode {
	CALLCHAIN_NONE,
	/* Registers and the top of the stack, unwound by the recorder. */
	CALLCHAIN_UNWIND,
	/* The kernel's walk along frame pointers. */
	CALLCHAIN_FP,
	/* Registers and the top of the stack, kept for the reader. */
	CALLCHAIN_DWARF,
};

#endif

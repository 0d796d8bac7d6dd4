/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of a trampoline: a function with a frame of its own that calls its
 * fourth argument with its first three, and returns what that returns.
 *
 *   PyObject *trampoline(void *a, void *b, long c, evaluator *evaluator);
 *
 * It keeps a frame pointer, so that stacks by frame pointers pass through it,
 * and its unwind rule is the same at every slot. Position-independent; no data.
 *
 * Sources: System V x86-64 psABI 3.2 and 3.6 (arguments, DWARF registers);
 * AAPCS64 and AADWARF64 for aarch64; DWARF 5 section 6.4.2 for the rules. The
 * x86-64 bytes are those of CPython 3.13.1's own trampoline, so whoever knows
 * that one by its bytes (unwind/template.h) knows this one.
 */
#ifndef KAA_AGENT_TRAMPOLINE_H
#define KAA_AGENT_TRAMPOLINE_H

#include <stddef.h>
#include <stdint.h>

/* What an unwinder is told, as the parts of a CIE and of an FDE. */
struct agent_unwind_rule {
	uint8_t code_align;
	/* One byte of SLEB128. */
	uint8_t data_align;
	uint8_t return_column;
	/* Instructions of the CIE: the state at the first byte. */
	const uint8_t *initial;
	uint8_t initial_size;
	/* Instructions of the FDE: how it changes. */
	const uint8_t *rows;
	uint8_t rows_size;
};

struct agent_trampoline {
	/* One trampoline; slots are at multiples of stride, the rest is traps. */
	const uint8_t *code;
	uint32_t code_size;
	/* The smallest power of two that code fits in. */
	uint32_t stride;
	/* ELF e_machine. */
	uint16_t machine;
	/* What fills the room between two trampolines. */
	uint8_t trap[4];
	struct agent_unwind_rule rule;
};

/* That of the machine this is built for; NULL on others. */
const struct agent_trampoline *agent_trampoline(void);

/* That of an ELF e_machine, for tests; NULL for machines without one. */
const struct agent_trampoline *agent_trampoline_of(uint16_t machine);

/*
 * Fills size bytes with trampolines, one at every multiple of stride, and traps
 * between them. stride is a multiple of four that the code fits in.
 */
void agent_trampoline_fill(const struct agent_trampoline *trampoline,
			   uint32_t stride, uint8_t *out, size_t size);

#endif

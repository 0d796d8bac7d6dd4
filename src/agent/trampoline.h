/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of a trampoline: a function with a frame of its own that calls its
 * fourth argument with its first three, and returns what that returns.
 *
 *   PyObject *trampoline(void *a, void *b, long c, evaluator *evaluator);
 *
 * It keeps a frame pointer, so that stacks by frame pointers pass through it,
 * and its unwind rule is the same at every slot. Position-independent; no data.
 */
#ifndef KAA_AGENT_TRAMPOLINE_H
#define KAA_AGENT_TRAMPOLINE_H

#include <stddef.h>
#include <stdint.h>

struct agent_trampoline {
	/* One trampoline; slots are at multiples of stride, the rest is traps. */
	const uint8_t *code;
	uint32_t code_size;
	/* A power of two. */
	uint32_t stride;
	/* ELF e_machine. */
	uint16_t machine;
};

/* That of the machine this is built for; NULL on others. */
const struct agent_trampoline *agent_trampoline(void);

#endif

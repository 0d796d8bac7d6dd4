/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that no CFI describes, recognised by its bytes. Internal to unwind/.
 *
 * Sources: CPython Python/asm_trampoline.S (the trampolines of 3.12 and 3.13.0
 * keep no frame pointer, later ones do); System V x86-64 psABI section 5.2
 * (PLT, and the second PLT that CET brought); signal return as Linux uapi
 * asm/unistd_64.h numbers it, spelled alike by glibc and musl; the end of a
 * thread in musl's clone; glibc's clone.S and clone3.S, which end their CFI
 * before the system call; libgcc's crtstuff.c as GCC compiles it.
 */
#ifndef KAA_UNWIND_TEMPLATE_H
#define KAA_UNWIND_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/regs.h"

enum { TEMPLATE_REACH = 32 };

/* The code around an instruction pointer. */
struct template_code {
	/* The instruction pointer is at bytes[TEMPLATE_REACH]. */
	uint8_t bytes[2 * TEMPLATE_REACH];
	/* How many bytes are there before it, and from it on. */
	unsigned int before;
	unsigned int after;
};

enum template_kind {
	/* The stack pointer points at a struct ucontext. */
	TEMPLATE_SIGRETURN,
	/* A CPython perf trampoline. */
	TEMPLATE_TRAMPOLINE,
	TEMPLATE_PLT,
	/* GCC's startup object, from which a library's destructors are run. */
	TEMPLATE_CRT,
	/*
	 * glibc's clone and clone3 behind their system call: in the child (rax
	 * is 0 there) this is where a thread begins, in the parent a function
	 * with nothing on the stack.
	 */
	TEMPLATE_CLONE,
	/* The first or last instructions of any function. */
	TEMPLATE_EDGE,
	/* The function of a thread returns to here: the outermost frame. */
	TEMPLATE_THREAD_END,
};

struct template_match {
	enum template_kind kind;
	/* TRAMPOLINE, PLT, CRT, CLONE, EDGE: CFA - stack pointer. */
	int32_t cfa_offset;
	/* The same: the caller's register is saved at CFA - this, if not 0. */
	int32_t saved_below_cfa[UNWIND_REGS];
};

/* false if the code is none of the above (EDGE is left to template_edge()). */
bool template_find(const struct template_code *code,
		   struct template_match *ret);

/*
 * Looks whether the instruction pointer of an interrupted frame stands where
 * instructions alone say what is on the stack: at the start of a function
 * (endbr64; push %rbp; mov %rsp, %rbp), or before instructions that do nothing
 * but take a frame down and return.
 */
bool template_edge(const struct template_code *code,
		   struct template_match *ret);

/* True if the instruction before the instruction pointer can be a call. */
bool template_follows_call(const struct template_code *code);

#endif

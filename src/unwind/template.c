// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/template.h"

#include <stddef.h>
#include <string.h>

#include "unwind/unwind.h"

/* Stands for any byte. */
#define ANY 0x100

/* Reaches from any point of a pattern to both its ends. */
enum { MAX_PATTERN = TEMPLATE_REACH };

/* The state of the stack before the instruction at an offset runs. */
struct point {
	uint8_t at;
	uint8_t cfa_offset;
	uint8_t rbp_below_cfa;
};

struct pattern {
	enum template_kind kind;
	uint8_t size;
	uint16_t bytes[MAX_PATTERN];
	uint8_t n_points;
	struct point points[9];
};

static const struct pattern patterns[] = {
	/* mov $15, %rax; syscall */
	{ TEMPLATE_SIGRETURN,
	  9,
	  { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
	  2,
	  { { 0 }, { 7 } } },
	/* mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall */
	{ TEMPLATE_THREAD_END,
	  8,
	  { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 },
	  4,
	  { { 0 }, { 2 }, { 4 }, { 6 } } },
	/* syscall; test %rax, %rax; jl; je 1f; ret; 1: xor %ebp, %ebp */
	{ TEMPLATE_CLONE,
	  12,
	  { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ANY, 0x74, 0x01, 0xc3, 0x31,
	    0xed },
	  4,
	  { { 2, 8 }, { 5, 8 }, { 7, 8 }, { 9, 8 } } },
	/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	{ TEMPLATE_TRAMPOLINE,
	  11,
	  { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  4,
	  { { 0, 8 }, { 4, 16 }, { 6, 16 }, { 10, 8 } } },
	/* endbr64; push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
	{ TEMPLATE_TRAMPOLINE,
	  12,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d,
	    0xc3 },
	  6,
	  { { 0, 8 },
	    { 4, 8 },
	    { 5, 16, 16 },
	    { 8, 16, 16 },
	    { 10, 16, 16 },
	    { 11, 8 } } },
	/* The same without endbr64. */
	{ TEMPLATE_TRAMPOLINE,
	  8,
	  { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3 },
	  5,
	  { { 0, 8 }, { 1, 16, 16 }, { 4, 16, 16 }, { 6, 16, 16 }, { 7, 8 } } },
	/* jmp *slot(%rip); push $index; jmp plt0 */
	{ TEMPLATE_PLT,
	  16,
	  { 0xff, 0x25, ANY, ANY, ANY, ANY, 0x68, ANY, ANY, ANY, ANY, 0xe9, ANY,
	    ANY, ANY, ANY },
	  3,
	  { { 0, 8 }, { 6, 8 }, { 11, 16 } } },
	/* endbr64; push $index; bnd jmp plt0 */
	{ TEMPLATE_PLT,
	  15,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY, ANY, ANY, ANY, 0xf2, 0xe9, ANY,
	    ANY, ANY, ANY },
	  3,
	  { { 0, 8 }, { 4, 8 }, { 9, 16 } } },
	/* endbr64; push $index; jmp plt0; xchg %ax, %ax */
	{ TEMPLATE_PLT,
	  16,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY, ANY, ANY, ANY, 0xe9, ANY, ANY,
	    ANY, ANY, 0x66, 0x90 },
	  3,
	  { { 0, 8 }, { 4, 8 }, { 9, 16 } } },
	/* endbr64; bnd jmp *slot(%rip); nop */
	{ TEMPLATE_PLT,
	  14,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ANY, ANY, ANY, ANY, 0x0f,
	    0x1f, 0x44 },
	  2,
	  { { 0, 8 }, { 4, 8 } } },
	/* endbr64; jmp *slot(%rip); nop */
	{ TEMPLATE_PLT,
	  13,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY, ANY, ANY, ANY, 0x66, 0x0f,
	    0x1f },
	  2,
	  { { 0, 8 }, { 4, 8 } } },
	/* .plt.got: jmp *slot(%rip); xchg %ax, %ax */
	{ TEMPLATE_PLT,
	  8,
	  { 0xff, 0x25, ANY, ANY, ANY, ANY, 0x66, 0x90 },
	  1,
	  { { 0, 8 } } },
	/*
	 * __do_global_dtors_aux: push %rbp; cmpq $0, __cxa_finalize(%rip);
	 * mov %rsp, %rbp; je; mov __dso_handle(%rip), %rdi;
	 * call __cxa_finalize; call deregister_tm_clones
	 */
	{ TEMPLATE_CRT,
	  27,
	  { 0x55, 0x48, 0x83, 0x3d, ANY,  ANY,	ANY,  ANY, ANY,
	    0x48, 0x89, 0xe5, 0x74, ANY,  0x48, 0x8b, 0x3d, ANY,
	    ANY,  ANY,	ANY,  0xe8, ANY,  ANY,	ANY,  ANY, 0xe8 },
	  6,
	  { { 0, 8 },
	    { 1, 16, 16 },
	    { 9, 16, 16 },
	    { 14, 16, 16 },
	    { 21, 16, 16 },
	    { 26, 16, 16 } } },
	/*
	 * The same in a static program: push %rbp; mov %rsp, %rbp;
	 * call deregister_tm_clones; mov $__deregister_frame_info, %eax;
	 * test %rax, %rax; je; mov $frames, %edi; call __deregister_frame_info
	 */
	{ TEMPLATE_CRT,
	  29,
	  { 0x55, 0x48, 0x89, 0xe5, 0xe8, ANY,	ANY,  ANY,  ANY, 0xb8,
	    ANY,  ANY,	ANY,  ANY,  0x48, 0x85, 0xc0, 0x74, ANY, 0xbf,
	    ANY,  ANY,	ANY,  ANY,  0xe8, ANY,	ANY,  ANY,  ANY },
	  9,
	  { { 0, 8 },
	    { 1, 16, 16 },
	    { 4, 16, 16 },
	    { 9, 16, 16 },
	    { 14, 16, 16 },
	    { 17, 16, 16 },
	    { 19, 16, 16 },
	    { 24, 16, 16 },
	    { 29, 16, 16 } } },
	/*
	 * _init: sub $8, %rsp; mov __gmon_start__(%rip), %rax; test %rax, %rax;
	 * je; call *%rax; add $8, %rsp; ret
	 */
	{ TEMPLATE_CRT,
	  23,
	  { 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, ANY,
	    ANY,  ANY,	ANY,  0x48, 0x85, 0xc0, 0x74, 0x02,
	    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  7,
	  { { 0, 8 },
	    { 4, 16 },
	    { 11, 16 },
	    { 14, 16 },
	    { 16, 16 },
	    { 18, 16 },
	    { 22, 8 } } },
	/* _fini: sub $8, %rsp; add $8, %rsp; ret */
	{ TEMPLATE_CRT,
	  9,
	  { 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  3,
	  { { 0, 8 }, { 4, 16 }, { 8, 8 } } },
	/* plt0: push link_map(%rip); jmp *resolver(%rip); nop */
	{ TEMPLATE_PLT,
	  14,
	  { 0xff, 0x35, ANY, ANY, ANY, ANY, 0xff, 0x25, ANY, ANY, ANY, ANY,
	    0x0f, 0x1f },
	  2,
	  { { 0, 16 }, { 6, 24 } } },
	/* plt0: push link_map(%rip); bnd jmp *resolver(%rip); nop */
	{ TEMPLATE_PLT,
	  15,
	  { 0xff, 0x35, ANY, ANY, ANY, ANY, 0xf2, 0xff, 0x25, ANY, ANY, ANY,
	    ANY, 0x0f, 0x1f },
	  2,
	  { { 0, 16 }, { 6, 24 } } },
};

static bool matches(const struct pattern *pattern,
		    const struct template_code *code, unsigned int at)
{
	const uint8_t *bytes = code->bytes + TEMPLATE_REACH - at;

	if (at > code->before || (unsigned int)pattern->size - at > code->after)
		return false;
	for (unsigned int i = 0; i < pattern->size; i++) {
		if (pattern->bytes[i] != ANY && pattern->bytes[i] != bytes[i])
			return false;
	}
	return true;
}

bool template_find(const struct template_code *code,
		   struct template_match *ret)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct pattern *pattern = &patterns[i];

		for (unsigned int j = 0; j < pattern->n_points; j++) {
			const struct point *point = &pattern->points[j];

			if (!matches(pattern, code, point->at))
				continue;
			*ret = (struct template_match){
				.kind = pattern->kind,
				.cfa_offset = point->cfa_offset,
			};
			ret->saved_below_cfa[UNWIND_RBP] =
				point->rbp_below_cfa;
			return true;
		}
	}
	return false;
}

bool unwind_trampoline_code(size_t size, uint8_t ret[UNWIND_TRAMPOLINE_MAX])
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct pattern *pattern = &patterns[i];

		if (pattern->kind != TEMPLATE_TRAMPOLINE ||
		    pattern->size != size || size > UNWIND_TRAMPOLINE_MAX)
			continue;
		for (size_t k = 0; k < size; k++)
			ret[k] = (uint8_t)pattern->bytes[k];
		return true;
	}
	return false;
}

/* pop of a register: its DWARF number by that of the instruction. */
static const uint8_t popped_regs[16] = {
	UNWIND_RAX, UNWIND_RCX, UNWIND_RDX, UNWIND_RBX,
	UNWIND_RSP, UNWIND_RBP, UNWIND_RSI, UNWIND_RDI,
	UNWIND_R8,  UNWIND_R9,	UNWIND_R10, UNWIND_R11,
	UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15,
};

/* What the instructions so far took off the stack. */
struct epilogue {
	int32_t size;
	/* Where a register was popped from, + 1. */
	int32_t popped_at[UNWIND_REGS];
};

static bool run_pop(struct epilogue *epilogue, unsigned int number)
{
	uint8_t reg = popped_regs[number];

	epilogue->popped_at[reg] = epilogue->size + 1;
	epilogue->size += 8;
	return reg != UNWIND_RSP;
}

/* One instruction of an epilogue; its length, or 0 if it is none. */
static unsigned int run_epilogue(struct epilogue *epilogue, const uint8_t *at,
				 unsigned int left)
{
	int32_t wide;

	if (left >= 1 && at[0] >= 0x58 && at[0] <= 0x5f)
		return run_pop(epilogue, at[0] - 0x58) ? 1 : 0;
	if (left >= 2 && at[0] == 0x41 && at[1] >= 0x58 && at[1] <= 0x5f)
		return run_pop(epilogue, 8 + at[1] - 0x58) ? 2 : 0;
	/* add $imm8, %rsp; add $imm32, %rsp */
	if (left >= 4 && at[0] == 0x48 && at[1] == 0x83 && at[2] == 0xc4) {
		epilogue->size += (int8_t)at[3];
		return 4;
	}
	if (left >= 7 && at[0] == 0x48 && at[1] == 0x81 && at[2] == 0xc4) {
		memcpy(&wide, at + 3, sizeof(wide));
		if (wide < 0 || wide > 1 << 20)
			return 0;
		epilogue->size += wide;
		return 7;
	}
	return 0;
}

static void match_epilogue(const struct epilogue *epilogue,
			   struct template_match *ret)
{
	*ret = (struct template_match){ .kind = TEMPLATE_EDGE,
					.cfa_offset = epilogue->size + 8 };
	for (int i = 0; i < UNWIND_REGS; i++) {
		if (epilogue->popped_at[i])
			ret->saved_below_cfa[i] = ret->cfa_offset -
						  epilogue->popped_at[i] + 1;
	}
}

static bool find_epilogue(const struct template_code *code,
			  struct template_match *ret)
{
	struct epilogue epilogue = {};
	unsigned int at = 0, size;

	do {
		const uint8_t *ip = code->bytes + TEMPLATE_REACH + at;
		unsigned int left = code->after - at;

		/* ret; rep ret */
		if ((left >= 1 && ip[0] == 0xc3) ||
		    (left >= 2 && ip[0] == 0xf3 && ip[1] == 0xc3)) {
			match_epilogue(&epilogue, ret);
			return epilogue.size >= 0;
		}
		size = run_epilogue(&epilogue, ip, left);
		at += size;
	} while (size > 0);
	return false;
}

static bool find_prologue(const struct template_code *code,
			  struct template_match *ret)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	const uint8_t *ip = code->bytes + TEMPLATE_REACH;

	*ret = (struct template_match){ .kind = TEMPLATE_EDGE,
					.cfa_offset = 8 };
	if (code->after < 4)
		return false;
	if (!memcmp(ip, endbr, 4) || !memcmp(ip, frame, 4))
		return true;
	ret->cfa_offset = 16;
	ret->saved_below_cfa[UNWIND_RBP] = 16;
	return code->before >= 1 && !memcmp(ip - 1, frame, 4);
}

bool template_edge(const struct template_code *code,
		   struct template_match *ret)
{
	return find_epilogue(code, ret) || find_prologue(code, ret);
}

/*
 * The length of `ff /2` (call through a register or memory) by its ModRM and
 * SIB bytes; 0 if they say another instruction.
 */
static unsigned int indirect_call_size(uint8_t modrm, uint8_t sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	unsigned int size = 2 + (mod != 3 && rm == 4);

	if ((modrm >> 3 & 7) != 2)
		return 0;
	if (mod == 1)
		return size + 1;
	if (mod == 2 || (mod == 0 && rm == 5) ||
	    (mod == 0 && rm == 4 && (sib & 7) == 5))
		return size + 4;
	return size;
}

bool template_follows_call(const struct template_code *code)
{
	const uint8_t *ip = code->bytes + TEMPLATE_REACH;

	if (code->before >= 5 && ip[-5] == 0xe8)
		return true;
	for (int size = 2; size <= 7 && (unsigned int)size <= code->before;
	     size++) {
		uint8_t sib = size > 2 ? ip[2 - size] : 0;

		if (ip[-size] == 0xff &&
		    indirect_call_size(ip[1 - size], sib) == (unsigned int)size)
			return true;
	}
	return false;
}

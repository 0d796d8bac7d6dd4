// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_native.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <string.h>

#include "unwind/regs.h"

static void take_registers(struct poll_native *native,
			   const struct user_regs_struct *from)
{
	const uint64_t registers[] = {
		from->rax, from->rbx, from->rcx, from->rdx, from->rsi, from->rdi,
		from->rbp, from->rsp, from->rip, from->r8,  from->r9,  from->r10,
		from->r11, from->r12, from->r13, from->r14, from->r15,
	};

	_Static_assert(sizeof(registers) == sizeof(native->registers),
		       "one for each bit of the mask");
	memcpy(native->registers, registers, sizeof(registers));
	native->mask = UNWIND_PERF_REGS_MASK;
}

void poll_native_deinit(struct poll_native *native)
{
	strbuf_deinit(&native->stack);
}

void poll_native_clear(struct poll_native *native)
{
	native->known = false;
	strbuf_clear(&native->stack);
}

void poll_native_take(struct poll_native *native,
		      const struct user_regs_struct *registers)
{
	strbuf_clear(&native->stack);
	take_registers(native, registers);
	native->known = true;
}

void poll_native_take_call(struct poll_native *native, uint64_t stack_pointer,
			   uint64_t instruction)
{
	strbuf_clear(&native->stack);
	native->registers[0] = stack_pointer;
	native->registers[1] = instruction;
	native->mask = UNWIND_PERF_RSP_RIP;
	native->known = true;
}

void poll_native_copy(struct poll_native *native, uint64_t stack_pointer,
		      struct remote_memory *memory, size_t most)
{
	ssize_t n;

	strbuf_fill(&native->stack, '\0', most);
	if (native->stack.failed) {
		poll_native_clear(native);
		return;
	}
	n = remote_memory_read(memory, stack_pointer, native->stack.data, most);
	strbuf_truncate(&native->stack, n < 0 ? 0 : (size_t)n & ~(size_t)7);
}

void poll_native_swap(struct poll_native *a, struct poll_native *b)
{
	struct poll_native swapped = *a;

	*a = *b;
	*b = swapped;
}

void poll_native_keep(const struct poll_native *native, struct poll_native *ret)
{
	struct poll_native kept = *native;

	kept.stack = (struct strbuf)STRBUF_INIT;
	strbuf_append(&kept.stack, native->stack.data, native->stack.len);
	kept.known &= !kept.stack.failed;
	poll_native_deinit(ret);
	*ret = kept;
}

void poll_native_put(const struct poll_native *native,
		     struct record_sample *sample)
{
	if (!native->known)
		return;
	sample->regs_user = (struct record_regs){
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.mask = native->mask,
		.values = native->registers,
		.count = (uint32_t)__builtin_popcountll(native->mask),
	};
	sample->stack_user = (const uint8_t *)native->stack.data;
	sample->stack_size = sample->stack_dyn_size = native->stack.len;
}

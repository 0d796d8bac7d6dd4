// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines, their memory and their unwind rules, by running them: calls
 * through many slots, backtrace() with our CFI registered, and each instruction
 * of a slot stepped over by ptrace with our own unwinder beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/code_memory.h"
#include "agent/trampoline.h"
#include "agent/unwind_table.h"
#include "unwind/cfi.h"

typedef void *evaluator(void *a, void *b, long c);
typedef void *trampoline_fn(void *a, void *b, long c, evaluator *evaluator);

/* Provided by libgcc. */
void __register_frame(void *begin);
void __deregister_frame(void *begin);

enum { CALLS = 3000 };

static struct agent_code_memory memory;
static trampoline_fn *slots[CALLS];
static void *frames[4 * CALLS];

static trampoline_fn *take(struct agent_code_memory *from)
{
	void *slot = agent_code_memory_take(from);
	trampoline_fn *fn;

	assert_non_null(slot);
	memcpy(&fn, &slot, sizeof(fn));
	return fn;
}

static void *combine(void *a, void *b, long c)
{
	return (void *)((uintptr_t)a * 3 + (uintptr_t)b * 5 + (uintptr_t)c);
}

static void test_arguments_and_result_pass(void **state)
{
	(void)state;
	for (uintptr_t i = 0; i < CALLS; i++) {
		trampoline_fn *fn = take(&memory);

		assert_int_equal((uintptr_t)fn((void *)i, (void *)(i + 7),
					       -5, combine),
				 i * 3 + (i + 7) * 5 - 5);
	}
}

/* Each slot once, apart from all others, and known by its addresses. */
static void test_slots_are_never_given_twice(void **state)
{
	static struct agent_code_memory wide = { .stride = 128 };
	uintptr_t before = 0;
	uint32_t arenas = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		const char *slot = agent_code_memory_take(&wide);

		assert_non_null(slot);
		if (wide.arena_count == arenas)
			assert_int_equal((uintptr_t)slot, before + 128);
		arenas = wide.arena_count;
		before = (uintptr_t)slot;
		assert_ptr_equal(agent_code_memory_slot_of(&wide, slot), slot);
		assert_ptr_equal(agent_code_memory_slot_of(&wide, slot + 127),
				 slot);
		/* Behind it: nothing yet, or an earlier arena. */
		assert_ptr_not_equal(agent_code_memory_slot_of(&wide, slot + 128),
				     slot);
	}
	assert_true(arenas > 2);
	for (uint32_t i = 0; i < arenas; i++) {
		assert_true(wide.arenas[i].size >= 64 << 10);
		for (uint32_t k = 0; k < i; k++)
			assert_true(wide.arenas[i].start !=
				    wide.arenas[k].start);
	}
	assert_null(agent_code_memory_slot_of(&wide, &wide));
	assert_null(agent_code_memory_slot_of(&wide, NULL));
}

/* What a fork's child takes is in memory that it has mapped itself. */
static void test_a_child_has_arenas_of_its_own(void **state)
{
	static struct agent_code_memory parents;
	const void *inherited = agent_code_memory_take(&parents);
	const struct agent_arena *arena = &parents.arenas[0];
	const char *own;

	(void)state;
	agent_code_memory_forked(&parents);
	own = agent_code_memory_take(&parents);
	assert_non_null(own);
	assert_true((uintptr_t)own - (uintptr_t)arena->start >= arena->size);
	assert_int_equal(parents.arena_count, 2);
	assert_int_equal(parents.arenas[1].size, arena->size);
	assert_ptr_equal(agent_code_memory_slot_of(&parents, inherited),
			 inherited);
	assert_ptr_equal(agent_code_memory_slot_of(&parents, own), own);
}

/* /proc/self/maps: what holds a slot is r-x, private and without a name. */
static void test_memory_is_never_writable_and_executable(void **state)
{
	uintptr_t slot = (uintptr_t)take(&memory);
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], rights[8];
	bool found = false;

	(void)state;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uintptr_t start, end;
		int name = 0;

		assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR
					" %7s %*x %*s %*u%n",
					&start, &end, rights, &name), 3);
		assert_false(rights[1] == 'w' && rights[2] == 'x');
		if (slot < start || slot >= end)
			continue;
		found = true;
		assert_string_equal(rights, "r-xp");
		assert_int_equal(strspn(line + name, " \n"),
				 strlen(line + name));
	}
	fclose(maps);
	assert_true(found);
}

static void test_no_memory_is_an_error(void **state)
{
	static struct agent_code_memory full = {
		.stride = 16, .arena_count = AGENT_ARENAS_MAX,
		.arenas = { [AGENT_ARENAS_MAX - 1] = { .size = 64 } },
		.used = 64,
	};

	(void)state;
	errno = 0;
	assert_null(agent_code_memory_take(&full));
	assert_int_equal(errno, ENOMEM);
}

static void test_room_between_trampolines_is_traps(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	uint8_t bytes[512];

	(void)state;
	for (size_t m = 0; m < 2; m++) {
		const struct agent_trampoline *t =
			agent_trampoline_of(machines[m]);

		assert_non_null(t);
		assert_true(t->stride >= t->code_size);
		assert_int_equal(t->stride & (t->stride - 1), 0);
		agent_trampoline_fill(t, t->stride, bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes); i++) {
			uint32_t in = i % t->stride;

			assert_int_equal(bytes[i], in < t->code_size ?
					 t->code[in] : t->trap[in % 4]);
		}
	}
	assert_null(agent_trampoline_of(EM_RISCV));
	assert_non_null(agent_trampoline());
}

/* Descends through all slots; at the bottom the stack is walked. */

static int frame_count;

static void *descend(void *a, void *b, long c)
{
	(void)a;
	(void)b;
	if (c == CALLS) {
		frame_count = backtrace(frames, 4 * CALLS);
		return NULL;
	}
	return slots[c](NULL, NULL, c + 1, descend);
}

/* Memory within 2 GiB of an address, as pcrel|sdata4 needs it. */
static uint8_t *map_near(uint8_t *address, size_t size)
{
	for (int i = 1; i < 100; i++) {
		uint8_t *bytes = mmap(address + ((size_t)i << 24), size,
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert_true(bytes != MAP_FAILED);
		if (labs(bytes - address) < INT32_MAX)
			return bytes;
		munmap(bytes, size);
	}
	fail_msg("no memory near %p", (void *)address);
	return NULL;
}

static uint8_t *register_cfi(const struct agent_arena *arena)
{
	struct agent_unwind_table table = {
		.trampoline = agent_trampoline(),
		.text = (uintptr_t)arena->start,
		.stride = agent_trampoline()->stride,
		.slots = (uint32_t)(arena->size / agent_trampoline()->stride),
	};
	size_t size = agent_eh_frame_size(table.trampoline, table.slots);
	uint8_t *bytes = map_near(arena->start, size);

	table.eh_frame = (uintptr_t)bytes;
	agent_eh_frame_write(&table, bytes);
	__register_frame(bytes);
	return bytes;
}

static void test_backtrace_passes_every_trampoline(void **state)
{
	static struct agent_code_memory fresh;
	uint8_t *cfi[AGENT_ARENAS_MAX];
	int next = CALLS;

	(void)state;
	for (int i = 0; i < CALLS; i++)
		slots[i] = take(&fresh);
	for (uint32_t i = 0; i < fresh.arena_count; i++)
		cfi[i] = register_cfi(&fresh.arenas[i]);
	descend(NULL, NULL, 0);
	for (uint32_t i = 0; i < fresh.arena_count; i++)
		__deregister_frame(cfi[i]);
	for (int i = 0; i < frame_count; i++) {
		const void *slot = agent_code_memory_slot_of(&fresh, frames[i]);

		if (!slot)
			continue;
		assert_true(next > 0);
		assert_ptr_equal(slot, *(void **)&slots[--next]);
	}
	assert_int_equal(next, 0);
}

/* The chain of frame pointers has every slot as well. */
static void *follow_frame_pointers(void *a, void *b, long c)
{
	void **frame = __builtin_frame_address(0);
	long found = 0;

	(void)a;
	(void)b;
	(void)c;
	while (found < 3 && frame) {
		if (agent_code_memory_slot_of(&memory, frame[1]))
			found++;
		if (frame[0] <= (void *)frame)
			break;
		frame = frame[0];
	}
	return (void *)found;
}

static void *call_again(void *a, void *b, long c)
{
	trampoline_fn *fn = take(&memory);

	return fn(a, b, c - 1, c > 1 ? call_again : follow_frame_pointers);
}

static void test_frame_pointers_pass(void **state)
{
	(void)state;
	assert_int_equal((uintptr_t)call_again(NULL, NULL, 3), 3);
}

#ifdef __x86_64__
static struct cfi_table *table_of(uintptr_t text, uint32_t stride,
				  uint32_t n_slots)
{
	static uint8_t bytes[64 << 10];
	struct agent_unwind_table table = {
		.trampoline = agent_trampoline(),
		.text = text,
		.stride = stride,
		.slots = n_slots,
		.eh_frame = text + (1 << 20),
	};
	size_t size = agent_eh_frame_size(table.trampoline, n_slots);
	struct cfi_sections sections = {
		.eh_frame = { bytes, size },
		.eh_frame_vaddr = table.eh_frame,
		.eh_frame_hdr = { bytes + size, agent_eh_frame_hdr_size(n_slots) },
		.eh_frame_hdr_vaddr = table.eh_frame + size,
	};
	struct cfi_table *ret;
	uint64_t start;

	table.eh_frame_hdr = sections.eh_frame_hdr_vaddr;
	assert_true(size + sections.eh_frame_hdr.size <= sizeof(bytes));
	agent_eh_frame_write(&table, bytes);
	agent_eh_frame_hdr_write(&table, bytes + size);
	assert_null(cfi_table_create(&sections, &ret));
	assert_true(cfi_hdr_eh_frame(sections.eh_frame_hdr,
				     sections.eh_frame_hdr_vaddr, &start));
	assert_int_equal(start, table.eh_frame);
	return ret;
}

struct stepped {
	uint64_t rsp;
	uint64_t rbp;
	uint64_t return_address;
};

static uint64_t peek(pid_t pid, uint64_t address)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)address, NULL);
}

static void check_rules(pid_t pid, struct cfi_table *table,
			const struct user_regs_struct *regs,
			const struct stepped *entry)
{
	const struct cfi_rules *rules = cfi_find(table, regs->rip);
	uint64_t cfa, rbp = regs->rbp;

	assert_non_null(rules);
	assert_int_equal(rules->cfa.kind, CFI_OFFSET);
	cfa = (rules->cfa.reg == UNWIND_RBP ? regs->rbp : regs->rsp) +
	      (uint64_t)rules->cfa.value;
	assert_int_equal(cfa, entry->rsp + 8);
	assert_int_equal(rules->reg[UNWIND_RIP].kind, CFI_OFFSET);
	assert_int_equal(peek(pid, cfa + (uint64_t)rules->reg[UNWIND_RIP].value),
			 entry->return_address);
	if (rules->reg[UNWIND_RBP].kind == CFI_OFFSET)
		rbp = peek(pid, cfa + (uint64_t)rules->reg[UNWIND_RBP].value);
	else
		assert_int_equal(rules->reg[UNWIND_RBP].kind, CFI_SAME);
	assert_int_equal(rbp, entry->rbp);
}

/* Steps through the slot; returns the number of its instructions met. */
static int step_through(pid_t pid, uint64_t slot, struct cfi_table *table)
{
	struct stepped entry = {};
	uint64_t after = slot + agent_trampoline()->code_size;
	int met = 0;

	for (long steps = 0; steps < 1000000; steps++) {
		struct user_regs_struct regs;
		int status;

		assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
		if (regs.rip == slot)
			entry = (struct stepped){ regs.rsp, regs.rbp,
						  peek(pid, regs.rsp) };
		if (regs.rip >= slot && regs.rip < after) {
			check_rules(pid, table, &regs, &entry);
			met++;
		}
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status))
			break;
		assert_true(WIFSTOPPED(status));
	}
	return met;
}

static void *nothing(void *a, void *b, long c)
{
	(void)a;
	(void)b;
	(void)c;
	return NULL;
}

static void test_rules_hold_at_each_instruction(void **state)
{
	static struct agent_code_memory fresh;
	trampoline_fn *last = NULL;
	struct cfi_table *table;
	pid_t pid;
	int status;

	(void)state;
	for (int i = 0; i < 100; i++)
		last = take(&fresh);
	table = table_of((uintptr_t)fresh.arenas[0].start, fresh.stride, 100);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		last(NULL, NULL, 0, nothing);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		print_message("skipped: no ptrace here\n");
		cfi_table_destroy(table);
		skip();
	}
	assert_int_equal(step_through(pid, (uintptr_t)last, table), 6);
	cfi_table_destroy(table);
}

/* The slots have their FDEs, the room between them none. */
static void test_every_slot_has_rules(void **state)
{
	struct cfi_table *table = table_of(0x10000, 128, 300);
	struct cfi_range range;

	(void)state;
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t slot = 0x10000 + 128 * i;

		assert_true(cfi_find_range(table, slot + 11, &range));
		assert_int_equal(range.start, slot);
		assert_int_equal(range.end, slot + 12);
		assert_false(cfi_find_range(table, slot + 12, &range));
	}
	assert_false(cfi_find_range(table, 0x10000 - 1, &range));
	cfi_table_destroy(table);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_and_result_pass),
		cmocka_unit_test(test_slots_are_never_given_twice),
		cmocka_unit_test(test_a_child_has_arenas_of_its_own),
		cmocka_unit_test(test_memory_is_never_writable_and_executable),
		cmocka_unit_test(test_no_memory_is_an_error),
		cmocka_unit_test(test_room_between_trampolines_is_traps),
		cmocka_unit_test(test_backtrace_passes_every_trampoline),
		cmocka_unit_test(test_frame_pointers_pass),
#ifdef __x86_64__
		cmocka_unit_test(test_rules_hold_at_each_instruction),
		cmocka_unit_test(test_every_slot_has_rules),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

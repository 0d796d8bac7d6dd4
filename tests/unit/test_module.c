// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mapped file, against this very process: where the dynamic linker says that
 * it put the program, the bytes that stand in its memory, and the kernel's vdso.
 */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "module/module.h"
#include "sys/file.h"
#include "sys/proc.h"

/* This program looks like an interpreter at a glance. */
char _PyRuntime[64] = "no interpreter";

/* And like greenlet, with its functions that switch stacks. */
void PyInit__greenlet(void);
void PyInit__greenlet(void)
{
}

extern const char slp_switch[], g_switchstack[], g_initialstub[];
extern const char moved[], called[], switch_end[], stack_end[], stub_end[];
asm(".pushsection .text\n"
    ".type slp_switch, @function\n"
    "slp_switch: .cfi_startproc\n"
    "add %r12, %rax\n add %rax, %r12\n"
    "add %r12, %rsp\n"
    "moved: add %r12, %rbp\n ret\n"
    ".cfi_endproc\n"
    "switch_end: .size slp_switch, .-slp_switch\n"
    ".type g_switchstack, @function\n"
    "g_switchstack: .cfi_startproc\n"
    "call g_initialstub\n call slp_switch\n"
    "called: ret\n"
    ".cfi_endproc\n"
    "stack_end: .size g_switchstack, .-g_switchstack\n"
    ".type g_initialstub, @function\n"
    "g_initialstub: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
    "stub_end: .size g_initialstub, .-g_initialstub\n"
    ".popsection\n");

/* The mapping of this process that an address lies in. */
static struct process_map map_at(uint64_t address)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	const struct proc_map *found;
	struct process_map map;

	assert_null(proc_maps_read(NULL, getpid(), &maps));
	found = proc_maps_find(&maps, address);
	assert_non_null(found);
	map = (struct process_map){ .start = found->start,
				    .end = found->end,
				    .pgoff = found->offset,
				    .prot = found->prot };
	proc_maps_deinit(&maps);
	return map;
}

static uint64_t address_of_code(void)
{
	return (uint64_t)(uintptr_t)address_of_code;
}

/* The program is the first that is told of. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

static void test_mapping_of_this_program(void **state)
{
	const struct process_map map = map_at(address_of_code());
	struct module module = {};
	uint64_t bias = 1, want = 0;
	struct unwind_map unwind;
	struct cfi_table *cfi, *again;
	struct cfi_range range;
	uint8_t bytes[64];

	(void)state;
	assert_null(elf_file_open("/proc/self/exe", &module.elf));
	dl_iterate_phdr(take_bias, &want);
	assert_true(module_bias(&module, &map, &bias));
	assert_true(bias == want);
	assert_null(module_unwind_map(&module, &map, &unwind));
	assert_true(unwind.start == map.start && unwind.end == map.end);
	assert_true(unwind.bias == want);
	assert_true(unwind.entry + want == getauxval(AT_ENTRY));
	assert_null(module_cfi(&module, &cfi));
	assert_ptr_equal(unwind.cfi, cfi);
	assert_null(module_cfi(&module, &again));
	assert_ptr_equal(again, cfi);
	assert_true(cfi_find_range(cfi, address_of_code() - want, &range));
	assert_true(range.start + want == address_of_code());
	assert_true(module_read(&module, &map, address_of_code(), bytes,
				sizeof(bytes)));
	assert_memory_equal(bytes, (void *)(uintptr_t)address_of_code(),
			    sizeof(bytes));
	/* Not beyond the mapping. */
	assert_false(module_read(&module, &map, map.end - 1, bytes, 2));
	module_deinit(&module);
}

static void assert_range(const struct unwind_range *range, uint64_t bias,
			 const char *start, const char *end)
{
	assert_true(range->start + bias == (uint64_t)(uintptr_t)start);
	assert_true(range->end + bias == (uint64_t)(uintptr_t)end);
}

static void test_code_that_switches_stacks(void **state)
{
	const struct process_map map = map_at(address_of_code());
	const struct unwind_switches *switches;
	struct module module = {};
	struct unwind_map unwind;

	(void)state;
	assert_null(elf_file_open("/proc/self/exe", &module.elf));
	assert_null(module_unwind_map(&module, &map, &unwind));
	switches = unwind.switches;
	assert_non_null(switches);
	assert_int_equal(switches->root_count, 1);
	assert_range(&switches->roots[0], unwind.bias, g_initialstub, stub_end);
	assert_int_equal(switches->moving_count, 1);
	assert_range(&switches->moving[0], unwind.bias, moved, switch_end);
	assert_true(switches->settling + unwind.bias ==
		    (uint64_t)(uintptr_t)called);
	assert_true(switches->caller.end + unwind.bias ==
		    (uint64_t)(uintptr_t)stack_end);
	assert_true(switches->caller.start < switches->settling);
	module_deinit(&module);
}

static void test_mapping_that_fits_no_segment(void **state)
{
	struct process_map map = map_at(address_of_code());
	struct module module = {};
	struct unwind_map unwind;
	uint64_t bias;
	uint8_t byte;

	(void)state;
	assert_null(elf_file_open("/proc/self/exe", &module.elf));
	map.pgoff = 1ull << 40;
	assert_false(module_bias(&module, &map, &bias));
	assert_null(module_unwind_map(&module, &map, &unwind));
	assert_null(unwind.cfi);
	assert_true(unwind.entry == 0);
	assert_false(module_read(&module, &map, map.start, &byte, 1));
	module_deinit(&module);
}

static void test_vdso(void **state)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct module module = { .is_vdso = true };
	struct process_map map;
	struct unwind_map unwind;
	uint8_t magic[SELFMAG];

	(void)state;
	if (!start)
		return;
	map = map_at(start);
	assert_null(elf_file_open_memory((void *)(uintptr_t)start,
					 map.end - map.start, "[vdso]",
					 &module.elf));
	assert_null(module_unwind_map(&module, &map, &unwind));
	assert_non_null(unwind.cfi);
	assert_false(cfi_is_empty(unwind.cfi));
	assert_true(module_read(&module, &map, start, magic, sizeof(magic)));
	assert_memory_equal(magic, ELFMAG, SELFMAG);
	module_deinit(&module);
}

/* This program, as one of another processor. */
static struct elf_file *open_foreign(struct strbuf *copy)
{
	struct elf_file *elf;
	Elf64_Ehdr *header;

	assert_null(file_read("", "/proc/self/exe", 64 << 20, copy));
	header = (Elf64_Ehdr *)(void *)copy->data;
	header->e_machine = EM_S390;
	assert_null(elf_file_open_memory(copy->data, copy->len, "foreign",
					 &elf));
	return elf;
}

static void test_nothing_is_known_of_a_file_that_cannot_be_used(void **state)
{
	const struct process_map map = map_at(address_of_code());
	struct strbuf copy = STRBUF_INIT;
	struct module none = {}, foreign = { .elf = open_foreign(&copy) };
	struct module *const modules[] = { NULL, &none, &foreign };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct unwind_map unwind;
		uint8_t byte;

		assert_null(module_unwind_map(modules[i], &map, &unwind));
		assert_true(unwind.start == map.start && unwind.end == map.end);
		assert_null(unwind.cfi);
		assert_true(unwind.entry == 0 && unwind.bias == 0);
		assert_false(modules[i] && module_read(modules[i], &map,
						       address_of_code(),
						       &byte, 1));
	}
	module_deinit(&foreign);
	module_deinit(&none);
	strbuf_deinit(&copy);
}

/* What py_detect() says is kept. */
static void test_python_that_is_none(void **state)
{
	_cleanup_strbuf_ struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct module module = {}, none = {};
	const struct py_binary *python = (void *)&module;
	struct py_binary binary;
	struct error *error;

	(void)state;
	assert_null(elf_file_open("/proc/self/exe", &module.elf));
	assert_true(py_detect_maybe(module.elf));
	error = py_detect(module.elf, NULL, &binary);
	assert_non_null(error);
	for (int i = 0; i < 2; i++) {
		assert_null(module_python(&module, &python));
		assert_null(python);
	}
	if (error->code == ERROR_UNSUPPORTED) {
		assert_non_null(module_refused(&module));
		error_format(error, &want);
		error_format(module_refused(&module), &got);
		assert_string_equal(got.data, want.data);
	} else {
		assert_null(module_refused(&module));
	}
	error_destroy(error);
	assert_null(module_python(&none, &python));
	assert_null(python);
	assert_null(module_refused(&none));
	module_deinit(&module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapping_of_this_program),
		cmocka_unit_test(test_code_that_switches_stacks),
		cmocka_unit_test(test_mapping_that_fits_no_segment),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_nothing_is_known_of_a_file_that_cannot_be_used),
		cmocka_unit_test(test_python_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

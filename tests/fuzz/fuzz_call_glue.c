// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a stripped interpreter: its functions, tables and calls, and names in tables. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "obj/elf_symbols.h"
#include "python/call_glue.h"
#include "python/method_names.h"
#include "unwind/elf_cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find_piece(void *arg, uint64_t vaddr, struct py_range *ret)
{
	struct cfi_range range;

	if (!cfi_find_range(arg, vaddr, &range))
		return false;
	*ret = (struct py_range){ range.start, range.end };
	return true;
}

static bool is_glue(const char *name)
{
	return strstr(name, "Call") || !strncmp(name, "PyRun_", 6) ||
	       !strncmp(name, "PyEval_", 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	_cleanup_cfi_table_ struct cfi_table *cfi = NULL;
	struct py_code_pieces pieces = { .find = find_piece };
	struct py_call_graph graph = {};
	struct py_call_glue glue = {};
	struct py_method_names names = {};
	struct py_binary binary = { .version = 0x030a0000, .eval_count = 1 };
	struct elf_symbol symbol;
	struct error *error;

	error_destroy(elf_file_open_memory(data, size, "fuzz", &file));
	if (!file)
		return 0;
	error_destroy(elf_cfi_create(file, &cfi));
	if (!cfi)
		return 0;
	pieces.arg = cfi;
	error = elf_file_find_symbol(file, "_PyEval_EvalFrameDefault", &symbol);
	if (!error)
		binary.eval_entry = binary.eval[0] = (struct py_range){
			symbol.vaddr, symbol.vaddr + symbol.size };
	error_destroy(error);
	error_destroy(py_call_glue_find(file, &pieces, &binary, is_glue, &graph,
					&glue));
	py_call_glue_deinit(&glue);
	error_destroy(py_method_names_find(file, &pieces, &graph, &names));
	py_method_names_deinit(&names);
	py_call_graph_deinit(&graph);
	return 0;
}

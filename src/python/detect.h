/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is an ELF file a CPython interpreter (an executable or a libpython), and
 * where in it is what a walk over its frames needs.
 *
 * Addresses are vaddrs of the file; add the bias of the mapping.
 */
#ifndef KAA_PYTHON_DETECT_H
#define KAA_PYTHON_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/py_layout.h"
#include "obj/elf_file.h"

#define PY_EVAL_RANGES_MAX 8

struct py_range {
	uint64_t start;
	uint64_t end;
};

struct py_binary {
	/*
	 * PY_VERSION_HEX. Before 3.11 it is put together from strings: where the
	 * file does not tell the micro release, it is that of x.y.0 final.
	 */
	uint32_t version;
	/*
	 * The row of this version. From 3.13 on made from the file's own copy of
	 * the debug offsets; false if the file has zeros there and only the live
	 * process can tell (py_layout_from_debug_offsets()).
	 */
	bool has_layout;
	struct py_layout layout;
	/* _PyRuntime, or what stands for it (python/old_runtime.h). */
	uint64_t runtime;
	/* PyCode_Type */
	uint64_t code_type;
	/* 3.14 on: built as one function for each instruction. */
	bool tail_calls;
	/*
	 * The code of _PyEval_EvalFrameDefault (2.7: PyEval_EvalFrameEx): the
	 * function, and its parts that the compiler put elsewhere. Sorted; the
	 * first one may not be the one that the symbol names. eval_count 0: not
	 * known.
	 *
	 * With tail_calls it is the function that calls the first instruction;
	 * it stays on the stack below the instructions.
	 */
	struct py_range eval[PY_EVAL_RANGES_MAX];
	size_t eval_count;
	/* The one that begins at the symbol, else { 0, 0 }. */
	struct py_range eval_entry;
};

/*
 * Where pieces of code begin and end, for files without symbols: FDEs
 * (unwind/cfi.h). find may be NULL: then only symbols tell.
 */
struct py_code_pieces {
	/* The piece that covers vaddr; false if none does. */
	bool (*find)(void *arg, uint64_t vaddr, struct py_range *ret);
	void *arg;
};

/* A function begins at vaddr. */
static inline bool py_function_begins(const struct elf_file *file,
				      const struct py_code_pieces *pieces,
				      uint64_t vaddr)
{
	struct py_range range;

	return elf_file_is_exec(file, vaddr) &&
	       pieces->find(pieces->arg, vaddr, &range) &&
	       range.start == vaddr;
}

/*
 * True if the file may be an interpreter: it defines _PyRuntime or has a
 * section .PyRuntime, is an older one, or is one that kaa cannot read. Cheap.
 * false also if the symbols cannot be read.
 */
bool py_detect_maybe(struct elf_file *file);

/*
 * pieces may be NULL. ERROR_NOT_FOUND: not a CPython interpreter.
 * ERROR_UNSUPPORTED: one that kaa cannot read, and why: older or newer than known,
 * PyPy, free-threaded, another machine, no PyCode_Type. Other errors as
 * obj/elf_file.h has them.
 */
struct error *py_detect(struct elf_file *file,
			const struct py_code_pieces *pieces,
			struct py_binary *ret);

/*
 * True if `kaa run` can give the interpreter trampolines: a CPython of a version
 * that the agent knows. A free-threaded one has its own.
 */
bool py_takes_trampolines(struct elf_file *file);

/* True if vaddr lies in the evaluation function. */
static inline bool py_binary_is_eval(const struct py_binary *binary,
				     uint64_t vaddr)
{
	for (size_t i = 0; i < binary->eval_count; i++)
		if (vaddr >= binary->eval[i].start && vaddr < binary->eval[i].end)
			return true;
	return false;
}

#endif

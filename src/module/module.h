/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that processes map: its ELF file, its call frame information, and the
 * CPython in it. The recorder has one for each file that its targets map, the
 * converter one in each dso (symbolize/dso.h). Who finds and opens the file is
 * their concern: a recorder may look where a process is, a reader may not.
 *
 * Everything is looked for once, when it is first asked for. No I/O but that
 * of the ELF file. Not thread-safe.
 */
#ifndef KAA_MODULE_MODULE_H
#define KAA_MODULE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "obj/elf_file.h"
#include "process/process.h"
#include "python/detect.h"
#include "python/method_names.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

/* Zero-initialise; read only for users but for the first three. */
struct module {
	/* Owned; NULL: none that can be used. */
	struct elf_file *elf;
	/* Its mapping is not one of file offsets. */
	bool is_vdso;
	/* The owner keeps no bytes of sections of the ELF file. */
	bool is_lean;
	/* Private: bytes of sections that the call frame information refers to. */
	size_t cfi_bytes;
	bool cfi_known;
	struct cfi_table *cfi;
	bool python_known;
	bool is_python;
	struct py_binary python;
	struct error *refused;
	bool methods_known;
	struct py_method_names methods;
	/* Of an interpreter, once somebody has asked for it. */
	struct py_call_graph calls;
	bool native_known;
	bool is_native;
	bool unwinding_known;
	bool switches_stacks;
	struct unwind_switches switches;
};

void module_deinit(struct module *module);

/*
 * Gives back what a lean module has read of its file; what is needed is read
 * again. Its call frame information is gone: see unwinder_forget().
 */
void module_shed(struct module *module);
/* Bytes of memory that module_shed() would give back, about. */
size_t module_memory(const struct module *module);

/*
 * Its call frame information, indexed at first use; NULL if it has none that
 * can be read. Fails only when memory runs out.
 */
struct error *module_cfi(struct module *module, struct cfi_table **ret);

/*
 * The CPython in it, which is what its call frame information and its symbols
 * tell; NULL if there is none that kaa can read. Fails only when memory runs
 * out.
 */
struct error *module_python(struct module *module,
			    const struct py_binary **ret);
/* Why the CPython in it cannot be read; NULL: it can be, or there is none. */
const struct error *module_refused(const struct module *module);
/*
 * What Python calls the function that begins at vaddr start, though no symbol names
 * it (python/method_names.h); NULL if the file does not tell. Valid as long as the
 * module. Fails only when memory runs out.
 */
struct error *module_method_name(struct module *module, uint64_t start,
				 const char **ret);
/* What that needs to know of the file: before its descriptor is closed. */
struct error *module_read_methods(struct module *module);
/* Where pieces of its code begin and end; borrows the module. */
struct py_code_pieces module_pieces(struct module *module);

/*
 * address - bias = vaddr for a mapping of the module; false if the mapping fits
 * none of its segments.
 */
bool module_bias(const struct module *module, const struct process_map *map,
		 uint64_t *ret);

/*
 * The mapping as the unwinder wants it. A module without an ELF file of this
 * machine, or that the mapping does not fit, has neither CFI nor entry. Fails
 * only when memory runs out. module NULL: as one without an ELF file.
 */
struct error *module_unwind_map(struct module *module,
				const struct process_map *map,
				struct unwind_map *ret);

/*
 * Reads the bytes that the file of a mapping has for an address in it; false if
 * there are none.
 */
bool module_read(struct module *module, const struct process_map *map,
		 uint64_t address, void *buf, size_t size);

#endif

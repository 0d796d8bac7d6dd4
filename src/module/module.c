// SPDX-License-Identifier: GPL-2.0-only
#include "module/module.h"

#include <elf.h>

#include "module/stack_switch.h"
#include "unwind/elf_cfi.h"

void module_deinit(struct module *module)
{
	cfi_table_destroy(module->cfi);
	elf_file_destroy(module->elf);
	error_destroy(module->refused);
	py_method_names_deinit(&module->methods);
	py_call_graph_deinit(&module->calls);
}

static size_t section_size(const struct module *module, const char *name)
{
	const struct elf_section *section = elf_file_section(module->elf, name);

	return section ? section->size : 0;
}

static struct error *index_cfi(struct module *module)
{
	struct error *error = elf_cfi_create(module->elf, &module->cfi);

	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	module->cfi_known = true;
	if (module->is_lean && module->cfi &&
	    elf_cfi_unload(module->elf, module->cfi))
		elf_file_drop_sections(module->elf);
	else
		module->cfi_bytes = section_size(module, ".eh_frame") +
				    section_size(module, ".eh_frame_hdr") +
				    section_size(module, ".debug_frame");
	return NULL;
}

void module_shed(struct module *module)
{
	cfi_table_destroy(module->cfi);
	module->cfi = NULL;
	module->cfi_known = false;
	module->cfi_bytes = 0;
	module->unwinding_known = false;
	if (module->elf)
		elf_file_drop_sections(module->elf);
}

size_t module_memory(const struct module *module)
{
	return module->cfi_bytes +
	       (module->cfi ? cfi_table_memory(module->cfi) : 0);
}

struct error *module_cfi(struct module *module, struct cfi_table **ret)
{
	struct error *error = NULL;

	if (!module->cfi_known && module->elf)
		error = index_cfi(module);
	if (!error)
		*ret = module->cfi;
	return error;
}

/* --- Python ------------------------------------------------------------- */

static bool find_piece(void *arg, uint64_t vaddr, struct py_range *ret)
{
	const struct module *module = arg;
	struct cfi_range range;

	if (!module->cfi || !cfi_find_range(module->cfi, vaddr, &range))
		return false;
	*ret = (struct py_range){ range.start, range.end };
	return true;
}

struct py_code_pieces module_pieces(struct module *module)
{
	return (struct py_code_pieces){ find_piece, module };
}

static struct error *detect_python(struct module *module)
{
	struct py_code_pieces pieces = module_pieces(module);
	struct cfi_table *cfi;
	struct error *error;

	if (!module->elf || !py_detect_maybe(module->elf))
		return NULL;
	error = module_cfi(module, &cfi);
	if (error)
		return error;
	error = py_detect(module->elf, cfi ? &pieces : NULL, &module->python);
	module->is_python = !error;
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (error && error->code == ERROR_UNSUPPORTED)
		module->refused = error;
	else
		error_destroy(error);
	return NULL;
}

struct error *module_python(struct module *module,
			    const struct py_binary **ret)
{
	if (!module->python_known) {
		struct error *error = detect_python(module);

		if (error)
			return error;
		module->python_known = true;
	}
	*ret = module->is_python ? &module->python : NULL;
	return NULL;
}

const struct error *module_refused(const struct module *module)
{
	return module->refused;
}

static struct error *find_methods(struct module *module)
{
	struct py_code_pieces pieces = module_pieces(module);
	struct cfi_table *cfi;
	struct error *error;

	if (!module->elf || !py_method_names_maybe(module->elf))
		return NULL;
	error = module_cfi(module, &cfi);
	if (error || !cfi)
		return error;
	error = py_method_names_find(module->elf, &pieces, &module->calls,
				     &module->methods);
	/* Nobody else asks for it. */
	if (module->python_known && !module->is_python)
		py_call_graph_deinit(&module->calls);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

struct error *module_read_methods(struct module *module)
{
	struct error *error =
		module->methods_known ? NULL : find_methods(module);

	if (!error)
		module->methods_known = true;
	return error;
}

struct error *module_method_name(struct module *module, uint64_t start,
				 const char **ret)
{
	struct error *error = module_read_methods(module);

	if (error)
		return error;
	*ret = py_method_name(&module->methods, start);
	return NULL;
}

/* --- Mappings ----------------------------------------------------------- */

bool module_bias(const struct module *module, const struct process_map *map,
		 uint64_t *ret)
{
	const struct elf_segment *load;

	if (!module->elf)
		return false;
	if (!module->is_vdso)
		return elf_file_bias(module->elf, map->start,
				     map->end - map->start, map->pgoff, ret);
	load = elf_file_segment(module->elf, PT_LOAD);
	if (load)
		*ret = map->start - load->vaddr;
	return load;
}

static void check_native(struct module *module)
{
	struct error *error = elf_file_check_native(module->elf);

	module->is_native = !error;
	module->native_known = true;
	error_destroy(error);
}

static struct error *prepare_unwinding(struct module *module)
{
	struct py_code_pieces pieces = module_pieces(module);
	bool maybe = stack_switch_maybe(module->elf);
	struct error *error = NULL;

	/* Symbol tables of large programs do not stay in memory. */
	if (module->is_lean && !module->cfi_known)
		elf_file_drop_sections(module->elf);
	if (!module->cfi_known)
		error = index_cfi(module);
	if (error)
		return error;
	module->switches_stacks =
		maybe && stack_switch_find(module->elf, &pieces,
					   &module->switches);
	module->unwinding_known = true;
	return NULL;
}

static inline bool is_native(struct module *module)
{
	if (!module->native_known && module->elf)
		check_native(module);
	return module->is_native;
}

struct error *module_unwind_map(struct module *module,
				const struct process_map *map,
				struct unwind_map *ret)
{
	struct error *error = NULL;

	*ret = (struct unwind_map){ .start = map->start, .end = map->end };
	if (!module || !is_native(module))
		return NULL;
	if (!module->unwinding_known)
		error = prepare_unwinding(module);
	if (error || !module_bias(module, map, &ret->bias))
		return error;
	ret->cfi = module->cfi;
	ret->switches = module->switches_stacks ? &module->switches : NULL;
	ret->entry = module->elf->entry;
	return NULL;
}

bool module_read(struct module *module, const struct process_map *map,
		 uint64_t address, void *buf, size_t size)
{
	struct error *error;
	uint64_t bias;

	if (!is_native(module) || size > map->end - address ||
	    !module_bias(module, map, &bias))
		return false;
	error = elf_file_read_image(module->elf, address - bias, buf, size);
	if (!error)
		return true;
	error_destroy(error);
	return false;
}

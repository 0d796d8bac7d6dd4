// SPDX-License-Identifier: GPL-2.0-only
#include "collect/module.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mapping_name.h"
#include "obj/elf_symtab.h"
#include "sys/mapped_file.h"
#include "unwind/elf_cfi.h"

/* The vdso has no size of its own in the auxiliary vector; it is two pages. */
enum {
	VDSO_SIZE = 2 * 4096,
	/* Attempts at a file that could not be opened. */
	TRIES_MAX = 16,
};

static struct error *open_vdso(struct elf_file **ret)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return error_create(ERROR_NOT_FOUND, "the process has no vdso");
	return elf_file_open_memory(vdso, VDSO_SIZE, "[vdso]", ret);
}

/* The path may lead to another file by now, or in our mount namespace. */
static struct error *check_identity(const struct process_file *file,
				    const struct elf_file *elf)
{
	struct build_id mapped = build_id_from_bytes(file->build_id,
						     file->build_id_size);

	if (!mapped.size || !elf->build_id.size ||
	    build_id_equal(&mapped, &elf->build_id))
		return NULL;
	return error_create(ERROR_NOT_FOUND,
			    "'%s' is not the file that the process has mapped",
			    file->path);
}

/* Takes fd over; it may be none. */
static struct error *open_fd(const struct process_file *file, int fd,
			     struct elf_file **ret)
{
	struct error *error;

	if (fd < 0)
		return error_os(errno, file->path, "cannot open");
	error = elf_file_open_fd(fd, file->path, ret);
	if (error)
		return error;
	error = elf_file_check_native(*ret);
	if (!error)
		error = check_identity(file, *ret);
	if (error) {
		elf_file_destroy(*ret);
		*ret = NULL;
	}
	return error;
}

static struct error *open_file(const struct process_map *map, uint32_t pid,
			       struct elf_file **ret)
{
	const struct process_file *file = map->file;
	struct error *error;
	int fd;

	if (mapping_is_vdso(file->path))
		return open_vdso(ret);
	if (!mapping_has_file(file->path))
		return error_create(ERROR_NOT_FOUND, "not a regular file");
	error = open_fd(file, mapped_file_open_path((pid_t)pid, file->path), ret);
	fd = error && pid ? mapped_file_open_link((pid_t)pid, map->start,
						   map->end) :
			     -1;
	if (fd < 0)
		return error;
	error_destroy(error);
	return open_fd(file, fd, ret);
}

static bool find_piece(void *arg, uint64_t vaddr, struct py_range *ret)
{
	struct cfi_range range;

	if (!cfi_find_range(arg, vaddr, &range))
		return false;
	*ret = (struct py_range){ range.start, range.end };
	return true;
}

static void detect_python(struct module *module)
{
	struct py_code_pieces pieces = { find_piece, module->cfi };
	struct error *error;

	if (!py_detect_maybe(module->elf))
		return;
	error = py_detect(module->elf, module->cfi ? &pieces : NULL,
			  &module->python);
	module->is_python = !error;
	if (error && error->code == ERROR_UNSUPPORTED)
		module->refused = error;
	else
		error_destroy(error);
}

static void module_destroy(struct module *module)
{
	if (!module)
		return;
	cfi_table_destroy(module->cfi);
	symtab_deinit(&module->symtab);
	elf_file_destroy(module->elf);
	error_destroy(module->refused);
	error_destroy(module->failure);
	free(module);
}

/* Fails for want of memory only; else the module says what it lacks. */
static struct error *module_load(struct module *module,
				 const struct process_map *map, uint32_t pid)
{
	struct error *error;

	module->tries++;
	module->failure = open_file(map, pid, &module->elf);
	if (module->failure)
		return NULL;
	error = elf_cfi_create(module->elf, &module->cfi);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	detect_python(module);
	return NULL;
}

struct error *module_get(const struct process_map *map, uint32_t pid,
			 struct module **ret)
{
	struct module *module = map->file->user;
	struct error *error;

	if (module) {
		*ret = module;
		return NULL;
	}
	module = calloc(1, sizeof(*module));
	if (!module)
		return error_no_memory();
	error = module_load(module, map, pid);
	if (error) {
		module_destroy(module);
		return error;
	}
	map->file->user = module;
	*ret = module;
	return NULL;
}

struct error *module_retry(const struct process_map *map, uint32_t pid)
{
	struct module *module = map->file->user;

	if (!module || !module->failure || module->tries >= TRIES_MAX)
		return NULL;
	error_destroy(module->failure);
	module->failure = NULL;
	return module_load(module, map, pid);
}

uint64_t module_function(struct module *module, uint64_t vaddr)
{
	const struct symbol *symbol;

	if (!module->elf)
		return 0;
	if (!module->has_symtab) {
		module->has_symtab = true;
		error_destroy(elf_symtab_load(module->elf, NULL, false,
					      &module->symtab, NULL));
	}
	symbol = symtab_find(&module->symtab, vaddr);
	return symbol && symbol->type == STT_FUNC ? symbol->start : 0;
}

void module_put(struct process_file *file)
{
	module_destroy(file->user);
	file->user = NULL;
}

bool module_bias(const struct module *module, const struct process_map *map,
		 uint64_t *ret)
{
	if (!module->elf)
		return false;
	/* The mapping of [vdso] is not one of file offsets. */
	if (mapping_is_vdso(map->file->path)) {
		const struct elf_segment *load =
			elf_file_segment(module->elf, PT_LOAD);

		if (!load)
			return false;
		*ret = map->start - load->vaddr;
		return true;
	}
	return elf_file_bias(module->elf, map->start, map->end - map->start,
			     map->pgoff, ret);
}

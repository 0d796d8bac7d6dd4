// SPDX-License-Identifier: GPL-2.0-only
#include "collect/target_file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mapping_name.h"
#include "collect/made_code.h"
#include "obj/elf_symbols.h"
#include "obj/elf_symtab.h"
#include "sys/mapped_file.h"
#include "sys/own_vdso.h"

enum {
	/* Attempts at a file that could not be opened. */
	TRIES_MAX = 16,
	/* Of all files together, and more if more is in use. */
	MEMORY_MAX = 8 << 20,
	/* Descriptors kept, and more if more are in use. */
	OPEN_MAX = 512,
	/* Addresses in one file; libraries of some 100 MiB have fewer functions. */
	HITS_MAX = 1 << 20,
};

static struct error *open_vdso(struct elf_file **ret)
{
	struct bytes vdso;
	struct error *error = own_vdso(&vdso);

	if (error)
		return error;
	return elf_file_open_memory(vdso.data, vdso.size, "[vdso]", ret);
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

static void target_file_destroy(struct target_file *file)
{
	if (!file)
		return;
	module_deinit(&file->module);
	symtab_deinit(&file->symtab);
	vec_deinit(&file->hits);
	map_deinit(&file->hit);
	error_destroy(file->failure);
	free(file);
}

/* What was found out of a file before it was mapped. */
static void take_prepared(struct target_files *files, struct module *module)
{
	vec_for_each(prepared, &files->prepared) {
		const struct elf_file *elf = prepared->elf;

		if (!elf || elf->device != module->elf->device ||
		    elf->inode != module->elf->inode)
			continue;
		module_deinit(module);
		*module = *prepared;
		*prepared = (struct module){};
		return;
	}
}

static bool lacks_descriptor(const struct error *failure)
{
	return failure &&
	       (failure->errnum == EMFILE || failure->errnum == ENFILE);
}

/*
 * Fails for want of memory only; else the file says what it lacks. Most files
 * that are mapped have no sample: what was read of them is given back.
 */
static struct error *load(struct target_files *files, struct target_file *file,
			  const struct process_map *map, uint32_t pid)
{
	struct error *error;

	error_destroy(file->failure);
	file->used = files->turn;
	file->tries++;
	file->module.is_lean = true;
	file->mapped = map->file;
	file->module.is_vdso = mapping_is_vdso(map->file->path);
	file->failure = open_file(map, pid, &file->module.elf);
	if (lacks_descriptor(file->failure) && !file->lacked_descriptor) {
		file->lacked_descriptor = true;
		files->unopened++;
	}
	if (file->failure)
		return NULL;
	take_prepared(files, &file->module);
	error = module_python(&file->module, &file->python);
	module_shed(&file->module);
	return error;
}

static struct error *prepare(const char *path, struct module *module)
{
	int fd = mapped_file_open_path(0, path);
	const struct py_binary *python;
	struct error *error;

	*module = (struct module){ .is_lean = true };
	if (fd < 0)
		return error_os(errno, path, "cannot open");
	error = elf_file_open_fd(fd, path, &module->elf);
	if (!error)
		error = elf_file_check_native(module->elf);
	if (!error)
		error = module_python(module, &python);
	if (error)
		module_deinit(module);
	else
		module_shed(module);
	return error;
}

struct error *target_files_prepare(struct target_files *files, const char *path,
				   const struct module **ret)
{
	struct module module;
	struct error *error;

	*ret = NULL;
	if (!vec_reserve(&files->prepared, 1))
		return error_no_memory();
	error = prepare(path, &module);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (error) {
		error_destroy(error);
		return NULL;
	}
	(void)!vec_push(&files->prepared, module);
	*ret = &files->prepared.data[files->prepared.count - 1];
	return NULL;
}

struct target_file *target_file_find(const struct target_files *files,
				     const struct process_map *map)
{
	uint32_t index = map->file->index;
	struct target_file *file = index < files->by_index.count ?
					   files->by_index.data[index] :
					   NULL;

	if (file)
		file->used = files->turn;
	return file;
}

/* It is known; others have closed their files since there was no descriptor for it. */
static struct error *use(struct target_files *files, struct target_file *file,
			 const struct process_map *map, uint32_t pid)
{
	if (file->used != files->turn && lacks_descriptor(file->failure))
		return load(files, file, map, pid);
	file->used = files->turn;
	return NULL;
}

struct error *target_file_get(struct target_files *files,
			      const struct process_map *map, uint32_t pid,
			      struct target_file **ret)
{
	struct target_file **slot = vec_slot(&files->by_index, map->file->index);
	struct target_file *file;
	struct error *error;

	if (!slot)
		return error_no_memory();
	file = *slot;
	if (!file) {
		file = calloc(1, sizeof(*file));
		error = file ? load(files, file, map, pid) : error_no_memory();
	} else {
		error = use(files, file, map, pid);
	}
	if (error && !*slot)
		target_file_destroy(file);
	if (error)
		return error;
	*ret = *slot = file;
	return NULL;
}

static size_t file_memory(const struct target_file *file)
{
	return module_memory(&file->module) +
	       file->symtab.count * sizeof(*file->symtab.symbols);
}

/* What all files take together. */
struct taken {
	size_t memory;
	size_t descriptors;
	/* Files for which there was none. */
	size_t lacking;
};

static bool has_descriptor(const struct target_file *file)
{
	return file->module.elf && !file->module.is_vdso;
}

static struct taken count_taken(const struct target_files *files)
{
	struct taken taken = {};

	vec_for_each(slot, &files->by_index) {
		const struct target_file *file = *slot;

		if (!file)
			continue;
		taken.memory += file_memory(file);
		taken.descriptors += has_descriptor(file);
		taken.lacking += lacks_descriptor(file->failure);
	}
	return taken;
}

/* Others borrow its Python; its functions cannot be named without it. */
static bool has_to_stay(const struct target_file *file)
{
	return !has_descriptor(file) || file->python || file->hits.count ||
	       module_refused(&file->module);
}

static void shed(struct target_file **slot, bool close)
{
	struct target_file *file = *slot;

	if (close && !has_to_stay(file)) {
		target_file_destroy(file);
		*slot = NULL;
	} else if (file_memory(file)) {
		module_shed(&file->module);
		symtab_deinit(&file->symtab);
		file->has_symtab = false;
	}
}

bool target_files_shed(struct target_files *files)
{
	const struct taken taken = count_taken(files);
	bool close = taken.descriptors > OPEN_MAX || taken.lacking;

	if (taken.memory <= MEMORY_MAX && !close)
		return false;
	vec_for_each(slot, &files->by_index)
		if (*slot && (*slot)->used != files->turn)
			shed(slot, close);
	files->turn++;
	return true;
}

struct error *target_file_retry(struct target_files *files,
				const struct process_map *map, uint32_t pid)
{
	struct target_file *file = target_file_find(files, map);

	if (!file || !file->failure || file->tries >= TRIES_MAX)
		return NULL;
	return load(files, file, map, pid);
}

void target_file_hit(struct target_file *file, uint64_t offset)
{
	bool is_new;

	if (!file->module.elf || file->hits.count >= HITS_MAX ||
	    !map_insert(&file->hit, offset, 1, &is_new))
		return;
	if (is_new)
		(void)!vec_push(&file->hits, offset);
}

static bool is_mapped_inode(const struct process_file *file, int fd)
{
	struct stat st;

	return !file->inode || (!fstat(fd, &st) && st.st_ino == file->inode);
}

bool target_file_is_removed(const struct target_file *file)
{
	int fd = mapped_file_open_path(0, file->mapped->path);
	struct elf_file *elf = NULL;
	bool same;

	if (fd < 0)
		return true;
	/* With a build-id the inode does not matter, as for readers. */
	same = file->mapped->build_id_size ||
	       is_mapped_inode(file->mapped, fd);
	error_destroy(open_fd(file->mapped, fd, &elf));
	same &= elf != NULL;
	elf_file_destroy(elf);
	return !same;
}

const struct symbol *target_file_symbol(struct target_file *file, uint64_t vaddr)
{
	if (!file->module.elf)
		return NULL;
	if (!file->has_symtab) {
		file->has_symtab = true;
		error_destroy(elf_symtab_load(file->module.elf, NULL, false,
					      &file->symtab, NULL));
	}
	return symtab_find(&file->symtab, vaddr);
}

uint64_t target_file_function(struct target_file *file, uint64_t vaddr)
{
	const struct symbol *symbol = target_file_symbol(file, vaddr);

	return symbol && symbol->type == STT_FUNC ? symbol->start : 0;
}

static uint64_t find_descriptor(const struct process_map *map, uint32_t pid)
{
	struct elf_file *elf = NULL;
	struct elf_symbol symbol = {};
	struct error *error = open_file(map, pid, &elf);

	if (!error)
		error = elf_file_find_symbol(elf, MADE_CODE_DESCRIPTOR,
					     &symbol);
	elf_file_destroy(elf);
	error_destroy(error);
	return symbol.vaddr;
}

uint64_t target_file_descriptor(struct target_file *file,
				const struct process_map *map, uint32_t pid)
{
	if (!file->has_descriptor && file->module.elf) {
		file->descriptor = find_descriptor(map, pid);
		file->has_descriptor = true;
	}
	return file->descriptor;
}

void target_files_deinit(struct target_files *files)
{
	vec_for_each(file, &files->by_index)
		target_file_destroy(*file);
	vec_deinit(&files->by_index);
	vec_for_each(module, &files->prepared)
		module_deinit(module);
	vec_deinit(&files->prepared);
}

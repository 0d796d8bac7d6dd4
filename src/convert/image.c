// SPDX-License-Identifier: GPL-2.0-only
#include "convert/image.h"

#include <string.h>

void images_deinit(struct images *images)
{
	vec_for_each(module, &images->modules)
		free(*module);
	vec_deinit(&images->modules);
}

/* Older recordings name build-ids by path, at the end of the file. */
static struct build_id build_id_of(const struct images *images,
				   const struct process_file *file,
				   bool kernel)
{
	if (file->build_id_size || !images->features)
		return build_id_from_bytes(file->build_id,
					   file->build_id_size);
	vec_for_each(entry, &images->features->build_ids) {
		bool is_kernel = (entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
				 PERF_RECORD_MISC_KERNEL;

		if (is_kernel == kernel && !strcmp(entry->filename, file->path))
			return build_id_from_bytes(entry->build_id,
						   entry->size);
	}
	return (struct build_id){};
}

struct error *images_dso(struct images *images, struct process_map *map,
			 uint32_t pid, bool kernel, struct dso **ret)
{
	struct process_file *file = map->file;
	struct dso_key key = {
		.path = file->path,
		.inode = file->inode,
		.major = file->major,
		.minor = file->minor,
		.pid = (int32_t)pid,
		.kernel = kernel,
	};
	struct error *error;

	if (!file->user) {
		struct dso *dso;

		key.build_id = build_id_of(images, file, kernel);
		error = dso_store_get(images->store, &key, &dso);
		if (error)
			return error;
		file->user = dso;
	}
	*ret = file->user;
	return NULL;
}

static struct image_module *load_module(struct images *images, struct dso *dso)
{
	struct image_module *module = calloc(1, sizeof(*module));
	struct error *error;

	if (!module || !vec_push(&images->modules, module)) {
		free(module);
		return NULL;
	}
	dso->user = module;
	if (dso->kind != DSO_FILE && dso->kind != DSO_VDSO)
		return module;
	error = dso_elf(dso, &module->elf);
	if (!error)
		error = elf_file_check_native(module->elf);
	if (error)
		module->elf = NULL;
	else
		error = dso_cfi(dso, &module->cfi);
	error_destroy(error);
	return module;
}

static struct image_module *get_module(struct images *images,
				       struct process_map *map, uint32_t pid,
				       struct dso **dso)
{
	struct error *error = images_dso(images, map, pid, false, dso);

	if (error) {
		error_destroy(error);
		return NULL;
	}
	if ((*dso)->user)
		return (*dso)->user;
	return load_module(images, *dso);
}

static bool module_bias(const struct image_module *module,
			const struct dso *dso, const struct process_map *map,
			uint64_t *ret)
{
	if (!module->elf)
		return false;
	if (dso->kind == DSO_VDSO) {
		/* The mapping of the vdso is not one of file offsets. */
		const struct elf_segment *load =
			elf_file_segment(module->elf, PT_LOAD);

		if (load)
			*ret = map->start - load->vaddr;
		return load != NULL;
	}
	return elf_file_bias(module->elf, map->start, map->end - map->start,
			     map->pgoff, ret);
}

bool images_unwind_map(struct images *images, struct process_map *map,
		       uint32_t pid, struct unwind_map *ret)
{
	struct dso *dso = NULL;
	struct image_module *module = get_module(images, map, pid, &dso);

	if (!module)
		return false;
	*ret = (struct unwind_map){ .start = map->start, .end = map->end };
	if (module_bias(module, dso, map, &ret->bias)) {
		ret->cfi = module->cfi;
		ret->entry = module->elf->entry;
	}
	return true;
}

bool images_read(struct images *images, struct process_map *map, uint32_t pid,
		 uint64_t address, void *buf, size_t size)
{
	struct dso *dso = NULL;
	struct image_module *module = get_module(images, map, pid, &dso);
	struct error *error;
	uint64_t bias;

	if (!module || size > map->end - address ||
	    !module_bias(module, dso, map, &bias))
		return false;
	error = elf_file_read_image(module->elf, address - bias, buf, size);
	if (!error)
		return true;
	error_destroy(error);
	return false;
}

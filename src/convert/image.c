// SPDX-License-Identifier: GPL-2.0-only
#include "convert/image.h"

void images_deinit(struct images *images)
{
	vec_deinit(&images->dsos);
}

/* Older recordings name build-ids by path, at the end of the file. */
static struct build_id build_id_of(const struct images *images,
				   const struct process_file *file,
				   bool kernel)
{
	const struct feature_build_id *entry;

	if (file->build_id_size || !images->features)
		return build_id_from_bytes(file->build_id,
					   file->build_id_size);
	entry = features_find_build_id(images->features, file->path, kernel);
	return entry ? build_id_from_bytes(entry->build_id, entry->size) :
		       (struct build_id){};
}

static struct error *find_dso(struct images *images,
			      const struct process_file *file, uint32_t pid,
			      bool kernel, struct dso **ret)
{
	const struct dso_key key = {
		.path = file->path,
		.build_id = build_id_of(images, file, kernel),
		.inode = file->inode,
		.major = file->major,
		.minor = file->minor,
		.pid = (int32_t)pid,
		.kernel = kernel,
	};

	return dso_store_get(images->store, &key, ret);
}

struct error *images_dso(struct images *images, struct process_map *map,
			 uint32_t pid, bool kernel, struct dso **ret)
{
	struct dso **slot = vec_slot(&images->dsos, map->file->index);

	if (!slot)
		return error_no_memory();
	if (!*slot) {
		struct error *error =
			find_dso(images, map->file, pid, kernel, slot);

		if (error)
			return error;
	}
	*ret = *slot;
	return NULL;
}

/* Fails only when memory runs out; NULL: no file that can be used. */
static struct error *get_module(struct images *images, struct process_map *map,
				uint32_t pid, struct module **ret)
{
	struct dso *dso;
	struct error *error = images_dso(images, map, pid, false, &dso);

	return error ? error : dso_module(dso, ret);
}

bool images_unwind_map(struct images *images, struct process_map *map,
		       uint32_t pid, struct unwind_map *ret)
{
	struct module *module;
	struct error *error = get_module(images, map, pid, &module);

	if (!error)
		error = module_unwind_map(module, map, ret);
	if (!error)
		return true;
	error_destroy(error);
	return false;
}

bool images_read(struct images *images, struct process_map *map, uint32_t pid,
		 uint64_t address, void *buf, size_t size)
{
	struct module *module = NULL;

	error_destroy(get_module(images, map, pid, &module));
	return module && module_read(module, map, address, buf, size);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "inject/build_ids.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/mapping_name.h"

void build_ids_deinit(struct build_ids *ids)
{
	vec_for_each(entry, &ids->found)
		free(entry->filename);
	vec_deinit(&ids->found);
	map_deinit(&ids->seen);
}

/* Size 0: the file has none, or cannot be had. */
static struct error *find_id(struct names *names, struct process_map *map,
			     uint32_t pid, struct build_id *ret)
{
	const struct process_file *file = map->file;
	struct elf_file *elf;
	struct error *error;
	struct dso *dso;

	if (file->build_id_size) {
		*ret = build_id_from_bytes(file->build_id, file->build_id_size);
		return NULL;
	}
	error = images_dso(&names->images, map, pid, false, &dso);
	if (error)
		return error;
	if (dso->kind != DSO_FILE)
		return NULL;
	error = dso_elf(dso, &elf);
	if (!error)
		*ret = elf->build_id;
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

static struct error *add_file(struct build_ids *ids, struct names *names,
			      struct process_map *map, uint32_t pid)
{
	struct feature_build_id entry = { .pid = -1,
					  .misc = PERF_RECORD_MISC_USER };
	struct build_id id = {};
	struct error *error = find_id(names, map, pid, &id);

	if (error || !id.size || id.size > sizeof(entry.build_id))
		return error;
	entry.size = (uint8_t)id.size;
	memcpy(entry.build_id, id.data, id.size);
	entry.filename = strdup(map->file->path);
	if (!entry.filename || !vec_push(&ids->found, entry)) {
		free(entry.filename);
		return error_no_memory();
	}
	return NULL;
}

static struct error *see_address(struct build_ids *ids, struct names *names,
				 struct process *process, uint64_t address,
				 uint64_t time)
{
	struct process_map *map = process_map_at(process, address, time);
	bool is_new = false;

	if (!map || mapping_is_anonymous(map->file->path, map->flags))
		return NULL;
	if (!map_insert(&ids->seen, map->file->index, 0, &is_new))
		return error_no_memory();
	return is_new ? add_file(ids, names, map, process_pid(process)) : NULL;
}

struct error *build_ids_see(struct build_ids *ids, struct names *names,
			    struct process *process,
			    const struct record *record)
{
	const struct record_sample *s = &record->sample;
	struct error *error = NULL;

	if (record->has & PERF_SAMPLE_IP)
		error = see_address(ids, names, process, s->ip, record->time);
	for (size_t i = 0; !error && i < s->callchain_count; i++)
		if (s->callchain[i] < PERFDATA_CONTEXT_MAX)
			error = see_address(ids, names, process,
					    s->callchain[i], record->time);
	return error;
}

static bool has(const struct features *features,
		const struct feature_build_id *entry)
{
	return features_find_build_id(features, entry->filename, false) ||
	       features_find_build_id(features, entry->filename, true);
}

struct error *build_ids_add(const struct build_ids *ids,
			    struct features *features)
{
	struct error *error = NULL;

	vec_for_each(entry, &ids->found)
		if (!error && !has(features, entry))
			error = features_add_build_id(features, entry);
	return error;
}

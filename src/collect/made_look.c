// SPDX-License-Identifier: GPL-2.0-only
#include "collect/made_look.h"

#include <sys/mman.h>

#include "base/mapping_name.h"

enum {
	/* Between two looks, in ns; a list takes longer by its length. */
	INTERVAL = 10000000,
	INTERVAL_OF_ONE = 20000,
};

void made_look_deinit(struct made_look *look)
{
	made_code_deinit(&look->code);
}

struct search {
	struct made_look *look;
	const struct made_owner *owner;
	struct error *error;
};

static struct error *search_file(struct search *search,
				 const struct process_map *map)
{
	const struct made_owner *owner = search->owner;
	struct target_file *file;
	struct error *error =
		target_file_get(owner->files, map, owner->pid, &file);
	uint64_t vaddr, bias;

	if (error || !module_bias(&file->module, map, &bias))
		return error;
	vaddr = target_file_descriptor(file, map, owner->pid);
	return vaddr ? made_code_add(&search->look->code, vaddr + bias) : NULL;
}

static bool search_map(struct process_map *map, void *arg)
{
	struct search *search = arg;

	if ((map->prot & PROT_EXEC) && mapping_has_file(map->file->path))
		search->error = search_file(search, map);
	return !search->error;
}

static struct error *look_now(struct made_look *look,
			      const struct made_owner *owner, bool *changed)
{
	struct search search = { .look = look, .owner = owner };
	uint64_t generation = process_generation(owner->process, UINT64_MAX);

	if (generation != look->generation) {
		look->generation = generation;
		process_each_map(owner->process, search_map, &search);
	}
	return search.error ? search.error :
			      made_code_refresh(&look->code, owner->memory,
						changed);
}

/* Each look sees them anew: the most that one has seen. */
static void note_left_out(struct made_look *look, struct target_files *files)
{
	uint32_t now = look->code.left_out;

	if (now <= look->left_out_told)
		return;
	files->left_out_code += now - look->left_out_told;
	look->left_out_told = now;
}

void made_look_now(struct made_look *look, const struct made_owner *owner,
		   uint64_t time)
{
	bool changed = false;

	/* Samples of another CPU come later, and may be earlier ones. */
	if (time < look->since)
		look->since = time;
	if (!look->is_wanted || time < look->next)
		return;
	error_destroy(look_now(look, owner, &changed));
	note_left_out(look, owner->files);
	if (changed) {
		look->version = ++owner->files->code_versions;
		look->since = time;
	}
	look->next = time + INTERVAL +
		     look->code.objects.count * INTERVAL_OF_ONE;
}

void made_look_want(struct made_look *look, const struct made_owner *owner,
		    uint64_t time)
{
	if (look->is_wanted)
		return;
	look->is_wanted = true;
	made_look_now(look, owner, time);
}

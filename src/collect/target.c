// SPDX-License-Identifier: GPL-2.0-only
#include "collect/target.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mapping_name.h"
#include "python/code_version.h"
#include "python/layout.h"
#include "sys/proc.h"

/* --- the unwinder's view --- */

static struct made_owner owner_of(struct target *target)
{
	return (struct made_owner){ target->process, target->files,
				    target->pid, &target->memory };
}

/* What the target has registered at an address of a map without a file. */
static const struct made_object *find_made(struct target *target,
					   uint64_t address)
{
	struct made_owner owner = owner_of(target);

	if (!target->replaced)
		made_look_want(&target->made, &owner, target->time);
	return made_code_at(&target->made.code, address);
}

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	struct target *target = arg;
	struct process_map *map =
		process_map_at(target->process, address, target->time);
	const struct made_object *made;
	struct target_file *file;
	struct error *error;

	if (!map || !(map->prot & PROT_EXEC))
		return false;
	if (!mapping_has_file(map->file->path) &&
	    !mapping_is_vdso(map->file->path)) {
		made = find_made(target, address);
		*ret = (struct unwind_map){ .start = map->start,
					    .end = map->end,
					    .cfi = made ? made->cfi : NULL,
					    .is_made = true };
		return true;
	}
	error = target_file_get(target->files, map, target->pid, &file);
	if (!error)
		error = module_unwind_map(&file->module, map, ret);
	if (!error)
		target_file_hit(file, map->pgoff + (address - map->start));
	error_destroy(error);
	return !error;
}

static bool read_now(struct target *target, uint64_t address, void *buf,
		     size_t size)
{
	return !target->replaced &&
	       remote_memory_read_all(&target->memory, address, buf, size);
}

/* Of a process that may have ended: as its file has it. */
static bool read_file(const struct target *target,
		      const struct process_map *map, uint64_t address,
		      void *buf, size_t size)
{
	struct target_file *file = target_file_find(target->files, map);

	return file && module_read(&file->module, map, address, buf, size);
}

/*
 * Code only: data may have changed since the sample, and would complete a stack
 * with what was not there.
 */
static bool read_code(void *arg, uint64_t address, void *buf, size_t size)
{
	struct target *target = arg;
	const struct process_map *map =
		process_map_at(target->process, address, target->time);

	if (!map || !(map->prot & PROT_EXEC) || size > map->end - address)
		return false;
	if (mapping_has_file(map->file->path))
		return read_now(target, address, buf, size) ||
		       read_file(target, map, address, buf, size);
	return (!target->replaced &&
		kept_code_read(&target->kept_code, &target->memory, address,
			       buf, size)) ||
	       kept_code_remember(&target->kept_code, address, buf, size) ||
	       (target->trampolines &&
		trampolines_read_code(target->trampolines, address, buf, size));
}

void target_populate_stack(struct target *target, uint64_t from, uint64_t to)
{
	uint8_t bytes[4096];

	if (target->replaced)
		return;
	/* Each read ends at what is no memory, as behind the end of the stack. */
	while (from < to &&
	       remote_memory_read_all(&target->memory, from, bytes,
				      sizeof(bytes)))
		from += sizeof(bytes);
}

static uint64_t find_function(void *arg, uint64_t address)
{
	struct target *target = arg;
	struct process_map *map =
		process_map_at(target->process, address, target->time);
	struct target_file *file =
		map ? target_file_find(target->files, map) : NULL;
	const struct made_symbol *made;
	uint64_t bias, start;

	if (map && !mapping_has_file(map->file->path) &&
	    (made = target_made_symbol(target, address)))
		return made->range.start;
	if (!file || !module_bias(&file->module, map, &bias))
		return 0;
	start = target_file_function(file, address - bias);
	return start ? start + bias : 0;
}

struct error *target_trampolines(struct target *target, uid_t owner,
				 struct trampolines **ret)
{
	struct error *error = NULL;

	if (!target->trampolines)
		error = trampolines_create(target->pid, owner,
					   &target->trampolines);
	*ret = target->trampolines;
	return error;
}

const struct made_symbol *target_made_symbol(const struct target *target,
					     uint64_t address)
{
	const struct made_object *made =
		made_code_at(&target->made.code, address);

	return made ? made_object_symbol(made, address) : NULL;
}

/* Equal maps with other code in them are another space. */
#define SPACE_OF_CODE(version) ((uint64_t)(version) << 40)

void target_at(struct target *target, uint64_t time)
{
	struct made_owner owner = owner_of(target);

	target->time = time;
	if (!target->replaced)
		made_look_now(&target->made, &owner, time);
	target->unwind.space = process_generation(target->process, time);
	if (!target->unwind.space)
		target->unwind.space = ~UINT64_C(0) - target->pid;
	target->unwind.space ^= SPACE_OF_CODE(target->made.version);
}

bool target_knows_maps(const struct target *target)
{
	return process_generation(target->process, target->time);
}

/* --- life --- */

/* NULL when memory runs out. */
static struct target *add_target(struct target_list *list,
				 struct process *process)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target || !vec_push(&list->all, target)) {
		free(target);
		return NULL;
	}
	target->pid = process_pid(process);
	target->process = process;
	target->files = &list->files;
	target->memory = remote_memory_init((pid_t)target->pid);
	target->unwind = (struct unwind_target){
		.find_map = find_map,
		.read = read_code,
		.find_function = find_function,
		.arg = target,
	};
	return target;
}

struct target *target_find(const struct process *process)
{
	return process_attachment(process);
}

struct error *target_get(struct target_list *list, struct process *process,
			 struct target **ret)
{
	*ret = target_find(process);
	if (*ret)
		return NULL;
	*ret = add_target(list, process);
	if (!*ret)
		return error_no_memory();
	process_attach(process, *ret);
	return NULL;
}

static void target_destroy(struct target *target)
{
	error_destroy(target->own_refusal);
	remote_memory_deinit(&target->memory);
	trampolines_destroy(target->trampolines);
	kept_code_deinit(&target->kept_code);
	made_look_deinit(&target->made);
	free(target);
}

void target_list_deinit(struct target_list *list)
{
	vec_for_each(target, &list->all)
		target_destroy(*target);
	vec_deinit(&list->all);
	target_files_deinit(&list->files);
}

static bool is_gone(const struct target *target, uint64_t before)
{
	return target->replaced ? target->until <= before :
				  process_had_ended(target->process, before);
}

/* Takes it out of the row of what its process has been. */
static void detach(struct target *target)
{
	struct target *later = target_find(target->process);

	if (later == target) {
		process_attach(target->process, target->previous);
		return;
	}
	while (later && later->previous != target)
		later = later->previous;
	if (later)
		later->previous = target->previous;
}

void target_list_forget(struct target_list *list, uint64_t before,
			void (*gone)(void *arg, const struct target *target),
			void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->all.count; i++) {
		struct target *target = list->all.data[i];

		if (!is_gone(target, before)) {
			list->all.data[kept++] = target;
			continue;
		}
		gone(arg, target);
		detach(target);
		target_destroy(target);
	}
	list->all.count = kept;
}

struct error *target_exec(struct target_list *list, struct process *process,
			  uint64_t time)
{
	struct target *target = add_target(list, process);

	if (!target)
		return error_no_memory();
	target->since = time;
	target->previous = target_find(process);
	if (target->previous) {
		target->previous->replaced = true;
		target->previous->until = time;
	}
	process_attach(process, target);
	return NULL;
}

struct target *target_of(struct target *target, uint64_t time)
{
	while (target->previous && time < target->since)
		target = target->previous;
	return target;
}

/* --- Python --- */

static bool versions_tell(const struct target *target)
{
	const struct py_layout *layout = &target->python.layout;
	_cleanup_free_ char *exe = NULL;
	struct error *error;
	bool known;

	if (!py_versions_need_exe(layout))
		return py_versions_tell(layout, "");
	error = proc_link(NULL, (pid_t)target->pid, "exe", &exe);
	known = !error;
	error_destroy(error);
	return known && py_versions_tell(layout, exe);
}

/* Usually the file tells the layout, before the process has run at all. */
static struct error *read_layout(struct target *target,
				 const struct py_binary *python, uint64_t bias,
				 struct py_layout *ret)
{
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX];
	struct error *error;

	if (python->has_layout) {
		*ret = python->layout;
		return NULL;
	}
	error = remote_memory_read_exact(&target->memory,
					 python->runtime + bias, bytes,
					 sizeof(bytes));
	if (error)
		return error;
	return py_layout_from_debug_offsets(
		(struct bytes){ bytes, sizeof(bytes) }, python->version, ret);
}

struct error *target_mmap(struct target *target, struct process_map *map)
{
	const struct error *refused;
	struct target_file *file;
	struct error *error;
	uint64_t bias;

	if (!(map->prot & PROT_EXEC))
		return NULL;
	error = target_file_retry(target->files, map, target->pid);
	if (error || target->state == PYTHON_FOUND)
		return error;
	error = target_file_get(target->files, map, target->pid, &file);
	if (error)
		return error;
	refused = module_refused(&file->module);
	if (refused && target->state == PYTHON_NONE) {
		target->state = PYTHON_REFUSED;
		target->refused = refused;
		target->takes_trampolines =
			py_takes_trampolines(file->module.elf);
		target->path = map->file->path;
	}
	if (!file->python || !module_bias(&file->module, map, &bias))
		return NULL;
	error = read_layout(target, file->python, bias,
			    &target->python.layout);
	target->path = map->file->path;
	if (error) {
		if (error->code == ERROR_NO_MEMORY)
			return error;
		target->state = PYTHON_REFUSED;
		error_destroy(target->own_refusal);
		target->refused = target->own_refusal = error;
		target->takes_trampolines =
			py_takes_trampolines(file->module.elf);
		return NULL;
	}
	target->state = PYTHON_FOUND;
	target->binary = file->python;
	target->bias = bias;
	target->python.runtime = target->binary->runtime + bias;
	target->python.code_type = target->binary->code_type + bias;
	target->python.versions_tell = versions_tell(target);
	return NULL;
}

/* The process has the code of that Python mapped where the other one has it. */
static bool has_code_of(const struct target *target, const struct target *other,
			uint64_t time)
{
	const struct py_binary *binary = other->binary;
	const struct process_map *map =
		binary->eval_count ?
			process_map_at(target->process,
				       binary->eval[0].start + other->bias,
				       time) :
			NULL;

	return map && map->file->path == other->path;
}

bool target_inherit(struct target *child, const struct target *parent,
		    uint64_t time)
{
	/* The parent may have loaded its Python after the fork. */
	if (parent->state != PYTHON_FOUND || !has_code_of(child, parent, time))
		return false;
	child->state = PYTHON_FOUND;
	child->python = parent->python;
	child->binary = parent->binary;
	child->path = parent->path;
	child->bias = parent->bias;
	child->thread_hints = parent->thread_hints;
	return true;
}

struct search {
	struct target *target;
	struct error *error;
};

static bool search_map(struct process_map *map, void *arg)
{
	struct search *search = arg;

	search->error = target_mmap(search->target, map);
	return !search->error && search->target->state != PYTHON_FOUND;
}

struct error *target_search(struct target *target)
{
	struct search search = { .target = target };

	if (target->state != PYTHON_FOUND)
		process_each_map(target->process, search_map, &search);
	return search.error;
}

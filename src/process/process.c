// SPDX-License-Identifier: GPL-2.0-only
#include "process/process.h"

#include <stdlib.h>
#include <string.h>

#include "process/address_space.h"
#include "process/string_pool.h"
#include "process/thread_names.h"

#define NEVER UINT64_MAX

enum {
	/* Files of one hash that are compared, the latest first; see string_pool.h. */
	FILE_CHAIN_MAX = 16,
};

struct process {
	uint32_t pid;
	/* Threads that no exit record ended. */
	uint32_t threads;
	uint64_t since;
	/* NEVER while it runs. */
	uint64_t end;
	struct address_space space;
	uint32_t index;
	void *attachment;
	/* The process that had this pid before. */
	struct process *previous;
	/* In process_table.dirty. */
	bool dirty;
};

struct thread {
	uint32_t pid;
	uint32_t tid;
	/* NEVER while it runs. */
	uint64_t end;
	struct thread_names names;
	/* In process_table.dirty_threads. */
	bool dirty;
};

struct file {
	struct process_file file;
	struct file *next;
};

struct process_table {
	/* pid to the latest struct process, 0 for those forgotten. */
	struct map processes;
	size_t process_count;
	/* The next one's. */
	uint32_t process_index;
	/* tid to struct thread, 0 for those forgotten. */
	struct map threads;
	size_t thread_count;
	/* What process_table_forget() has to look at. */
	VEC(struct process *) dirty;
	VEC(struct thread *) dirty_threads;
	struct string_pool names;
	/* Hash to the first struct file of a chain. */
	struct map file_chains;
	VEC(struct file *) files;
	struct space_pool pool;
	struct process_stats stats;
	/* Found last; borrowed. */
	struct process *last;
	bool own_names_only;
	/* A task that was taken for it, from outside the pid namespace. */
	bool idle_has_ended;
};

struct error *process_table_create(struct process_table **ret)
{
	struct process_table *table = calloc(1, sizeof(*table));

	if (!table)
		return error_no_memory();
	/* 0 means "not known", 1 is the empty set. */
	table->pool.last_id = 1;
	*ret = table;
	return NULL;
}

void process_table_own_names_only(struct process_table *table)
{
	table->own_names_only = true;
}

static void process_free(struct process *process)
{
	space_deinit(&process->space);
	free(process);
}

static void thread_free(struct thread *thread)
{
	vec_deinit(&thread->names);
	free(thread);
}

static void *map_pointer(const struct map *map, uint64_t key)
{
	uint64_t *value = map_find(map, key);

	return value ? (void *)(uintptr_t)*value : NULL;
}

static void free_all(struct process_table *table)
{
	for (size_t i = 0; i < table->processes.capacity; i++) {
		struct process *p = NULL;

		if (table->processes.used[i])
			p = (void *)(uintptr_t)table->processes.entries[i].value;
		while (p) {
			struct process *previous = p->previous;

			process_free(p);
			p = previous;
		}
	}
	for (size_t i = 0; i < table->threads.capacity; i++) {
		struct thread *t = NULL;

		if (table->threads.used[i])
			t = (void *)(uintptr_t)table->threads.entries[i].value;
		if (t)
			thread_free(t);
	}
}

void process_table_destroy(struct process_table *table)
{
	if (!table)
		return;
	free_all(table);
	vec_for_each(file, &table->files)
		free(*file);
	map_deinit(&table->processes);
	map_deinit(&table->threads);
	map_deinit(&table->file_chains);
	vec_deinit(&table->dirty);
	vec_deinit(&table->dirty_threads);
	vec_deinit(&table->files);
	string_pool_deinit(&table->names);
	free(table);
}

/* --- Strings and files -------------------------------------------------- */

/* *ret is NULL if there are too many names already. */
static struct error *intern(struct process_table *table, const char *s,
			    const char **ret)
{
	const char *name = NULL;

	if (table->names.arena.used + strlen(s) > PROCESS_MAX_STRINGS) {
		table->stats.over_limit++;
	} else {
		name = string_pool_intern(&table->names, s);
		if (!name)
			return error_no_memory();
	}
	*ret = name;
	return NULL;
}

/* The identity alone: index stays zero. */
static void file_of_mmap(const struct process_mmap *mmap, const char *path,
			 struct process_file *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->path = path;
	ret->major = mmap->major;
	ret->minor = mmap->minor;
	ret->inode = mmap->inode;
	ret->inode_generation = mmap->inode_generation;
	if (mmap->build_id_size && mmap->build_id_size <= PROCESS_BUILD_ID_MAX) {
		ret->build_id_size = (uint8_t)mmap->build_id_size;
		memcpy(ret->build_id, mmap->build_id, mmap->build_id_size);
	}
}

static bool same_file(const struct process_file *a,
		      const struct process_file *b)
{
	return a->path == b->path && a->major == b->major &&
	       a->minor == b->minor && a->inode == b->inode &&
	       a->inode_generation == b->inode_generation &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

static uint64_t hash_file(const struct process_file *file)
{
	uint64_t h = hash_combine((uintptr_t)file->path, file->inode);

	h = hash_combine(h, ((uint64_t)file->major << 32) | file->minor);
	h = hash_combine(h, file->inode_generation);
	return hash_combine(h, hash_bytes(file->build_id, file->build_id_size));
}

static struct process_file *find_file(struct file *chain,
				      const struct process_file *key)
{
	int compared = 0;

	for (; chain && compared < FILE_CHAIN_MAX; chain = chain->next, compared++)
		if (same_file(&chain->file, key))
			return &chain->file;
	return NULL;
}

static struct error *add_file(struct process_table *table, uint64_t *chain,
			      const struct process_file *key,
			      struct process_file **ret)
{
	struct file *file;

	if (table->files.count >= PROCESS_MAX_FILES) {
		table->stats.over_limit++;
		*ret = NULL;
		return NULL;
	}
	file = malloc(sizeof(*file));
	if (!file || !vec_push(&table->files, file)) {
		free(file);
		return error_no_memory();
	}
	file->file = *key;
	file->file.index = (uint32_t)table->files.count - 1;
	file->next = (struct file *)(uintptr_t)*chain;
	*chain = (uintptr_t)file;
	*ret = &file->file;
	return NULL;
}

/* *ret is NULL if a limit is passed. */
static struct error *get_file(struct process_table *table,
			      const struct process_mmap *mmap,
			      struct process_file **ret)
{
	struct process_file key;
	struct error *error;
	const char *path = NULL;
	uint64_t *chain;

	error = intern(table, mmap->path ? mmap->path : "", &path);
	if (error)
		return error;
	if (!path) {
		*ret = NULL;
		return NULL;
	}
	file_of_mmap(mmap, path, &key);
	chain = map_insert(&table->file_chains, hash_file(&key), 0, NULL);
	if (!chain)
		return error_no_memory();
	*ret = find_file((struct file *)(uintptr_t)*chain, &key);
	return *ret ? NULL : add_file(table, chain, &key, ret);
}

size_t process_table_file_count(const struct process_table *table)
{
	return table->files.count;
}

struct process_file *process_table_file(const struct process_table *table,
					size_t index)
{
	return &table->files.data[index]->file;
}

struct process_stats process_table_stats(const struct process_table *table)
{
	return table->stats;
}

/* --- Processes ---------------------------------------------------------- */

static bool mark_dirty(struct process_table *table, struct process *process)
{
	if (!process->dirty && !vec_push(&table->dirty, process))
		return false;
	process->dirty = true;
	return true;
}

static bool mark_dirty_thread(struct process_table *table,
			      struct thread *thread)
{
	if (!thread->dirty && !vec_push(&table->dirty_threads, thread))
		return false;
	thread->dirty = true;
	return true;
}

/* A process that follows those of the same pid; *ret NULL beyond the limit. */
static struct error *add_process(struct process_table *table, uint32_t pid,
				 uint64_t since, struct process **ret)
{
	struct process *process;
	uint64_t *place;

	if (table->process_count >= PROCESS_MAX_PROCESSES) {
		table->stats.over_limit++;
		*ret = NULL;
		return NULL;
	}
	place = map_insert(&table->processes, pid, 0, NULL);
	process = calloc(1, sizeof(*process));
	if (!place || !process) {
		free(process);
		return error_no_memory();
	}
	process->pid = pid;
	process->index = table->process_index++;
	process->since = since;
	process->end = NEVER;
	process->previous = (struct process *)(uintptr_t)*place;
	*place = (uintptr_t)process;
	table->process_count++;
	table->last = NULL;
	*ret = process;
	return NULL;
}

static struct process *newest(struct process_table *table, uint32_t pid)
{
	if (table->last && table->last->pid == pid)
		return table->last;
	table->last = map_pointer(&table->processes, pid);
	return table->last;
}

struct process *process_table_find(struct process_table *table, uint32_t pid,
				   uint64_t time)
{
	struct process *process = newest(table, pid);

	while (process && process->since > time && process->previous)
		process = process->previous;
	return process;
}

/* *ret NULL beyond the limit. */
static struct error *get_process(struct process_table *table, uint32_t pid,
				 uint64_t time, struct process **ret)
{
	struct process *process = process_table_find(table, pid, time);

	if (!process)
		return add_process(table, pid, 0, ret);
	/* A record about an ended process: it goes on after all. */
	if (process == newest(table, pid))
		process->end = NEVER;
	*ret = process;
	return NULL;
}

struct error *process_table_get(struct process_table *table, uint32_t pid,
				uint64_t time, struct process **ret)
{
	struct process *process = process_table_find(table, pid, time);
	struct error *error;

	if (!process) {
		error = add_process(table, pid, 0, &process);
		if (error)
			return error;
		if (!process)
			return error_create(ERROR_LIMIT,
					    "more than %d processes",
					    PROCESS_MAX_PROCESSES);
	}
	*ret = process;
	return NULL;
}

uint32_t process_pid(const struct process *process)
{
	return process->pid;
}

bool process_is_over(const struct process *process)
{
	return process->end != NEVER;
}

bool process_had_ended(const struct process *process, uint64_t time)
{
	return process->end <= time;
}

void *process_attachment(const struct process *process)
{
	return process->attachment;
}

void process_attach(struct process *process, void *attachment)
{
	process->attachment = attachment;
}

uint32_t process_index(const struct process *process)
{
	return process->index;
}

uint64_t process_generation(const struct process *process, uint64_t time)
{
	if (time < process->space.changed)
		return 0;
	return process->space.set ? process->space.set->id : 1;
}

struct process_map *process_map_at(struct process *process, uint64_t addr,
				   uint64_t time)
{
	return space_find(&process->space, addr, time);
}

struct process_map *process_map_before(struct process *process, uint64_t addr)
{
	return space_find_before(&process->space, addr);
}

struct process_map *process_table_map_at(struct process_table *table,
					 uint32_t pid, uint64_t addr,
					 uint64_t time)
{
	struct process *process = process_table_find(table, pid, time);

	return process ? space_find(&process->space, addr, time) : NULL;
}

void process_each_map(struct process *process,
		      bool (*visit)(struct process_map *map, void *arg),
		      void *arg)
{
	const struct map_set *set = process->space.set;

	for (size_t i = 0; set && i < set->count; i++)
		if (!visit(set->maps[i], arg))
			return;
}

/* --- Threads ------------------------------------------------------------ */

/* *ret NULL beyond the limit. */
static struct error *add_thread(struct process_table *table, uint32_t pid,
				uint32_t tid, struct thread **ret)
{
	struct thread *thread;
	uint64_t *place;

	if (table->thread_count >= PROCESS_MAX_THREADS) {
		table->stats.over_limit++;
		*ret = NULL;
		return NULL;
	}
	place = map_insert(&table->threads, tid, 0, NULL);
	thread = calloc(1, sizeof(*thread));
	if (!place || !thread) {
		free(thread);
		return error_no_memory();
	}
	thread->pid = pid;
	thread->tid = tid;
	thread->end = 0;
	*place = (uintptr_t)thread;
	table->thread_count++;
	*ret = thread;
	return NULL;
}

/* The running thread tid of process, made or woken up if need be. */
static struct error *get_thread(struct process_table *table,
				struct process *process, uint32_t tid,
				struct thread **ret)
{
	struct thread *thread = map_pointer(&table->threads, tid);
	struct error *error;

	if (!thread) {
		error = add_thread(table, process->pid, tid, &thread);
		if (error)
			return error;
	}
	if (thread && (thread->end != NEVER || thread->pid != process->pid)) {
		thread->pid = process->pid;
		thread->end = NEVER;
		process->threads++;
	}
	*ret = thread;
	return NULL;
}

static struct error *set_name(struct process_table *table,
			      struct thread *thread, uint64_t time,
			      const char *comm)
{
	if (!thread_names_set(&thread->names, time, comm) ||
	    (thread->names.count > 1 && !mark_dirty_thread(table, thread)))
		return error_no_memory();
	return NULL;
}

static const char *thread_comm(struct process_table *table, uint32_t pid,
			       uint32_t tid, uint64_t time)
{
	struct thread *thread = map_pointer(&table->threads, tid);

	if (!thread || thread->pid != pid)
		return NULL;
	return thread_names_at(&thread->names, time);
}

const char *process_table_comm_at(struct process_table *table, uint32_t pid,
				  uint32_t tid, uint64_t time)
{
	const char *comm = thread_comm(table, pid, tid, time);

	if (!comm && tid != pid && !table->own_names_only)
		comm = thread_comm(table, pid, pid, time);
	if (comm || pid != 0)
		return comm;
	/* No record speaks of the idle task, unless it means another. */
	return table->own_names_only && (map_find(&table->threads, 0) ||
					 table->idle_has_ended)
		       ? NULL
		       : "swapper";
}

bool process_table_has_ended(struct process_table *table, uint32_t pid,
			     uint32_t tid, uint64_t time)
{
	struct thread *thread = map_pointer(&table->threads, tid);

	return thread && thread->pid == pid && thread->end <= time;
}

/* --- Records ------------------------------------------------------------ */

static struct error *space_error(struct process_table *table,
				 enum space_result result)
{
	if (result == SPACE_NO_MEMORY)
		return error_no_memory();
	if (result == SPACE_LIMIT)
		table->stats.over_limit++;
	return NULL;
}

struct error *process_table_mmap(struct process_table *table, uint32_t pid,
				 uint64_t time,
				 const struct process_mmap *mmap)
{
	struct process_map map = {
		.start = mmap->start,
		.end = mmap->start + mmap->length,
		.pgoff = mmap->pgoff,
		.from = time,
		.prot = mmap->prot,
		.flags = mmap->flags,
	};
	struct process *process;
	struct error *error;

	if (map.end <= map.start) {
		table->stats.malformed++;
		return NULL;
	}
	error = get_file(table, mmap, &map.file);
	if (error || !map.file)
		return error;
	error = get_process(table, pid, time, &process);
	if (error || !process)
		return error;
	error = space_error(table,
			    space_insert(&process->space, &table->pool, &map));
	if (!error && process->space.past.count && !mark_dirty(table, process))
		return error_no_memory();
	return error;
}

/* The thread that called exec is the only one left, and the process's first. */
static struct error *exec(struct process_table *table, struct process *process,
			  struct thread *thread, uint64_t time)
{
	process->threads = 1;
	thread->end = NEVER;
	if (space_exec(&process->space, time) != SPACE_OK ||
	    !mark_dirty(table, process))
		return error_no_memory();
	return NULL;
}

struct error *process_table_comm(struct process_table *table, uint32_t pid,
				 uint32_t tid, uint64_t time, const char *comm,
				 bool is_exec)
{
	struct process *process;
	struct thread *thread;
	struct error *error;
	const char *name = NULL;

	error = intern(table, comm, &name);
	if (error)
		return error;
	error = get_process(table, pid, time, &process);
	if (error || !process)
		return error;
	error = get_thread(table, process, tid, &thread);
	if (error || !thread)
		return error;
	/* Beyond the limit of names it has none; what it had is wrong by now. */
	error = set_name(table, thread, time, name);
	if (error || !is_exec)
		return error;
	return exec(table, process, thread, time);
}

/* Makes the child process; *ret NULL beyond the limit. */
static struct error *fork_process(struct process_table *table, uint32_t pid,
				  uint32_t ppid, uint64_t time, bool copy_maps,
				  struct process **ret)
{
	struct process *old = newest(table, pid);
	struct process *parent;
	struct error *error;

	if (old && old->end > time) {
		old->end = time;
		if (!mark_dirty(table, old))
			return error_no_memory();
	}
	error = add_process(table, pid, time, ret);
	if (error || !*ret || !copy_maps)
		return error;
	parent = process_table_find(table, ppid, time);
	if (parent)
		space_fork(&(*ret)->space, &parent->space, time);
	return NULL;
}

/*
 * All tasks outside of a recorder's pid namespace are 0 in its records. When one
 * of them has ended, its name is not the next one's.
 */
static const char *name_to_inherit(struct process_table *table, uint32_t pid,
				   uint32_t tid, uint64_t time)
{
	if (table->own_names_only &&
	    process_table_has_ended(table, pid, tid, time))
		return NULL;
	return process_table_comm_at(table, pid, tid, time);
}

struct error *process_table_fork(struct process_table *table, uint32_t pid,
				 uint32_t ppid, uint32_t tid, uint32_t ptid,
				 uint64_t time, bool copy_maps)
{
	const char *comm = name_to_inherit(table, ppid, ptid, time);
	struct process *process;
	struct thread *thread;
	struct error *error;

	if (pid == ppid)
		error = get_process(table, pid, time, &process);
	else
		error = fork_process(table, pid, ppid, time, copy_maps,
				     &process);
	if (error || !process)
		return error;
	thread = map_pointer(&table->threads, tid);
	if (thread && pid != ppid)
		thread->end = 0;
	error = get_thread(table, process, tid, &thread);
	if (error || !thread)
		return error;
	return set_name(table, thread, time, comm);
}

void process_table_exit(struct process_table *table, uint32_t pid,
			uint32_t tid, uint64_t time)
{
	struct thread *thread = map_pointer(&table->threads, tid);
	struct process *process = newest(table, pid);

	table->idle_has_ended |= tid == 0;
	if (!thread || !process || thread->pid != pid || thread->end != NEVER)
		return;
	thread->end = time;
	/* Without memory for the list it is freed with the table. */
	mark_dirty_thread(table, thread);
	if (process->threads && --process->threads == 0) {
		process->end = time;
		mark_dirty(table, process);
	}
}

/* --- Forgetting --------------------------------------------------------- */

/* Takes process out of the chain of its pid and frees it. */
static void remove_process(struct process_table *table,
			   struct process *process)
{
	uint64_t *place = map_find(&table->processes, process->pid);
	struct process *p = (struct process *)(uintptr_t)*place;

	if (p == process) {
		*place = (uintptr_t)process->previous;
	} else {
		while (p->previous != process)
			p = p->previous;
		p->previous = process->previous;
	}
	table->last = NULL;
	table->process_count--;
	process_free(process);
}

static void forget_processes(struct process_table *table, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->dirty.count; i++) {
		struct process *process = table->dirty.data[i];

		if (process->end <= before) {
			remove_process(table, process);
			continue;
		}
		process->dirty = space_forget(&process->space, before) ||
				 process->end != NEVER;
		if (process->dirty)
			table->dirty.data[kept++] = process;
	}
	table->dirty.count = kept;
}

static void forget_threads(struct process_table *table, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->dirty_threads.count; i++) {
		struct thread *thread = table->dirty_threads.data[i];

		if (thread->end <= before) {
			*map_find(&table->threads, thread->tid) = 0;
			table->thread_count--;
			thread_free(thread);
			continue;
		}
		thread->dirty = thread_names_forget(&thread->names, before) ||
				thread->end != NEVER;
		if (thread->dirty)
			table->dirty_threads.data[kept++] = thread;
	}
	table->dirty_threads.count = kept;
}

static bool has_value(void *arg, const struct map_entry *entry)
{
	(void)arg;
	return entry->value;
}

/* Rebuilds a map in which most keys have the value 0; without memory the big one serves. */
static void drop_zeroes(struct map *map, size_t live)
{
	if (map->count >= 4096 && map->count / 4 >= live)
		(void)!map_keep(map, has_value, NULL);
}

void process_table_forget(struct process_table *table, uint64_t before)
{
	forget_processes(table, before);
	forget_threads(table, before);
	drop_zeroes(&table->processes, table->process_count);
	drop_zeroes(&table->threads, table->thread_count);
}

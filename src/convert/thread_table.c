// SPDX-License-Identifier: GPL-2.0-only
#include "convert/thread_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

void thread_table_deinit(struct thread_table *table)
{
	vec_for_each(names, &table->names)
		vec_deinit(names);
	vec_deinit(&table->names);
	map_deinit(&table->threads);
	string_pool_deinit(&table->pool);
}

struct error *thread_table_add(struct thread_table *table,
			       const struct kaa_thread *thread)
{
	_cleanup_free_ char *text =
		strndup(thread->name.data, thread->name.len);
	const char *name = NULL;
	bool is_new;
	uint64_t *index;

	if (!text)
		return error_no_memory();
	if (*text) {
		name = string_pool_intern(&table->pool, text);
		if (!name)
			return error_no_memory();
	}
	index = map_insert(&table->threads, key_of(thread->pid, thread->tid),
			   table->names.count, &is_new);
	if (!index ||
	    (is_new && !vec_push(&table->names, (struct thread_names){})))
		return error_no_memory();
	return thread_names_set(&table->names.data[*index], thread->valid_from,
				name) ?
		       NULL :
		       error_no_memory();
}

struct error *thread_table_begun(struct thread_table *table, uint32_t pid,
				 uint32_t tid, uint64_t time)
{
	const uint64_t *index = map_find(&table->threads, key_of(pid, tid));
	struct thread_names *names;

	if (!index)
		return NULL;
	names = &table->names.data[*index];
	return thread_names_end(names, time) ? NULL : error_no_memory();
}

const char *thread_table_at(const struct thread_table *table, uint32_t pid,
			    uint32_t tid, uint64_t time)
{
	const uint64_t *index = map_find(&table->threads, key_of(pid, tid));

	return index ? thread_names_at(&table->names.data[*index], time) : NULL;
}

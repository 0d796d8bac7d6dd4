/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that programs gave their threads, over time: what the THREAD records
 * of the kaa stream say (docs/formats/kaa-stream.md).
 *
 * Zero-initialise to start. Names live as long as the table, and equal names are
 * one pointer.
 */
#ifndef KAA_CONVERT_THREAD_TABLE_H
#define KAA_CONVERT_THREAD_TABLE_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/kaa_stream.h"
#include "process/string_pool.h"
#include "process/thread_names.h"

struct thread_table {
	/* pid and tid to index in names. */
	struct map threads;
	VEC(struct thread_names) names;
	struct string_pool pool;
};

void thread_table_deinit(struct thread_table *table);
struct error *thread_table_add(struct thread_table *table,
			       const struct kaa_thread *thread);
/* The thread is a new one: what its number was called before is not its name. */
struct error *thread_table_begun(struct thread_table *table, uint32_t pid,
				 uint32_t tid, uint64_t time);
/* The name of a thread at that time, or NULL. */
const char *thread_table_at(const struct thread_table *table, uint32_t pid,
			    uint32_t tid, uint64_t time);

#endif

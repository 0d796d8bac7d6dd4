/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks a task awaits: dump_tasks.awaits is in order of the one that awaits. */
#ifndef KAA_DUMP_ASYNC_AWAITS_H
#define KAA_DUMP_ASYNC_AWAITS_H

#include <stddef.h>
#include <stdint.h>

#include "dump/dump.h"

/* The first of them, and how many follow each other; NULL: none. */
const struct dump_await *async_awaits_of(const struct dump_tasks *tasks,
					 uint32_t waiter, size_t *count);

#endif

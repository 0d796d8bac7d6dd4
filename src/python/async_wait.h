/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a task waits for, as far as its objects tell: by the innermost function of
 * asyncio that it is in and its variables, or by the future that it waits for. And
 * which tasks those are.
 */
#ifndef KAA_PYTHON_ASYNC_WAIT_H
#define KAA_PYTHON_ASYNC_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "python/code_names.h"
#include "python/coroutine.h"
#include "python/object_text.h"
#include "python/tasks.h"

enum py_wait {
	PY_WAIT_NONE,
	PY_WAIT_TASKS,
	PY_WAIT_SLEEP,
	/* Locks, events, conditions, semaphores, barriers. */
	PY_WAIT_LOCK,
	PY_WAIT_QUEUE,
	PY_WAIT_SOCKET,
	PY_WAIT_PROCESS,
	/* A call that another thread makes. */
	PY_WAIT_THREAD,
	/* Any other. */
	PY_WAIT_FUTURE,
};

/* Links of one task; of more, none is taken. */
#define ASYNC_LINKS_MAX (1u << 16)

/* One object awaits another; tasks among them are found later. */
struct async_link {
	uint64_t waiter;
	uint64_t awaited;
};

struct async_link_list VEC_BODY(struct async_link);

/* A task at hand. */
struct async_task {
	uint64_t address;
	struct py_task task;
	struct py_awaits awaits;
};

struct async_reader {
	struct py_tasks_reader *tasks;
	struct py_value_reader *values;
	struct code_names *names;
};

/*
 * Words may be added to *out, which say more than the kind. Where it seems to wait for
 * tasks, they and *without_tasks say what it waits for if there are none: gather(),
 * wait() and wait_for() take any future.
 */
enum py_wait async_wait(struct async_reader *r, const struct async_task *task,
			  enum py_wait *without_tasks, struct strbuf *out);
/*
 * The kind alone, where no list of tasks is at hand: what it waits for is asked whether
 * it is one. PY_WAIT_NONE also of a task whose wait is over, and that has its turn soon.
 */
enum py_wait async_wait_kind(struct async_reader *r,
			     const struct async_task *task);
/* How many of its innermost frames are functions of asyncio's, but for the outermost. */
size_t async_own_frames(struct async_reader *r, const struct py_awaits *awaits);

/* False: there is no room. Appends more than are tasks. */
bool async_links(struct async_reader *r, const struct async_task *task,
		 struct async_link_list *ret);

#endif

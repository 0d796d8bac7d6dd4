/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of asyncio in a Python process: which there are, and what each says of
 * itself, read from memory as data.
 *
 * Up to 3.13 asyncio.tasks has them in weak sets, from 3.14 on the threads and the
 * interpreters have lists. Tasks of C (_asyncio.Task, and classes derived from it)
 * are read by where that module keeps their fields: no header says it, so it is in
 * a table here, and a build whose objects have other sizes is refused. Tasks of the
 * pure Python class are read by their attributes.
 *
 * Nothing is trusted that is read. The process may run on: who needs to be sure
 * reads while the thread of the loop holds still. Sources: Modules/_asynciomodule.c
 * and Lib/asyncio/tasks.py of each version; tests/live/test_dump_async.py holds the
 * table to what interpreters have in their tasks.
 */
#ifndef KAA_PYTHON_TASKS_H
#define KAA_PYTHON_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "python/object.h"
#include "python/states.h"

/* Of more, none is read. */
#define PY_TASKS_MAX (1u << 16)

/*
 * Where in sys.modules, and in the module asyncio.tasks, the names were found last:
 * there they are looked for first. Zero to begin with.
 */
struct py_task_hints {
	uint32_t module;
	uint32_t sets[3];
	uint32_t current;
};

struct py_tasks_reader {
	struct py_objects_reader *objects;
	const struct py_values *values;
	/*
	 * sizeof(PyThreadState) and of PyInterpreterState, as _PyRuntime says them
	 * from 3.13 on; else 0. They tell where micro releases keep what differs.
	 */
	uint64_t state_size;
	uint64_t interp_size;
	/* Borrowed; or NULL. */
	struct py_task_hints *hints;
};

/* Of a process whose _PyRuntime is there. */
void py_tasks_read_sizes(struct py_tasks_reader *r,
			 const struct py_memory *memory, uint64_t runtime);

struct py_task_list VEC_BODY(uint64_t);

struct py_loop {
	/* The event loop that a thread runs; 0: none. */
	uint64_t loop;
	/* From 3.14 on: the task that it runs; 0: none. */
	uint64_t task;
};

/* Of a thread state. */
void py_loop_read(struct py_tasks_reader *r, uint64_t state,
		  struct py_loop *ret);

/*
 * Appends the addresses of the tasks in the list of a thread state (3.14 on). False:
 * it changed while it was read, or is too long; what was read stays.
 */
bool py_tasks_of_thread(struct py_tasks_reader *r, uint64_t state,
			struct py_task_list *ret);
/*
 * The same of what an interpreter has: its sets, and from 3.14 on its list. False also
 * if one of these cannot be read.
 */
bool py_tasks_of_interpreter(struct py_tasks_reader *r, uint64_t interp,
			     struct py_task_list *ret);
/* Up to 3.13, and where asyncio's tasks are pure Python: the task that a loop runs. */
uint64_t py_tasks_current(struct py_tasks_reader *r, uint64_t interp,
			  uint64_t loop);

enum py_task_state {
	PY_TASK_PENDING,
	PY_TASK_CANCELLED,
	PY_TASK_FINISHED,
};

enum py_task_read {
	PY_TASK_READ,
	/* It is no task, or not any more. */
	PY_TASK_OTHER,
	/* One of a build that keeps its fields elsewhere. */
	PY_TASK_UNKNOWN,
};

/* Objects; 0: none. */
struct py_task {
	enum py_task_state state;
	uint64_t type;
	uint64_t loop;
	/* A str, or an int: N for "Task-N". */
	uint64_t name;
	uint64_t coroutine;
	/* The future that it waits for. */
	uint64_t waiter;
	/* The first callback, and a list of tuples of the others. */
	uint64_t callback;
	uint64_t callbacks;
	/* From 3.14 on: who awaits it, an object or a set of such. */
	uint64_t awaited_by;
	bool awaited_by_set;
};

enum py_task_read py_task_read(struct py_tasks_reader *r, uint64_t object,
			       struct py_task *ret);
/* Appends the name of a task, as it has it. At most so many bytes. */
void py_task_name(struct py_tasks_reader *r, uint64_t name, size_t max,
		  struct strbuf *out);
/* It is a future, of C or of pure Python. */
bool py_is_future(struct py_tasks_reader *r, uint64_t object);
/* One of C that has its result. */
bool py_future_is_done(struct py_tasks_reader *r, uint64_t object);
/* The first callback of a future that is one of C; 0: none. */
uint64_t py_future_callback(struct py_tasks_reader *r, uint64_t object);

/*
 * Calls fn for each item of a set, frozenset, list or tuple, until it returns false.
 * False: it is none of these, has too many, or cannot be read to its end.
 */
bool py_items_each(struct py_tasks_reader *r, uint64_t object,
		   bool (*fn)(void *arg, uint64_t item), void *arg);

/* An attribute of an instance. */
bool py_attribute(struct py_objects_reader *r, uint64_t object,
		  const char *name, uint64_t *ret);

#endif

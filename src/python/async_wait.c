// SPDX-License-Identifier: GPL-2.0-only
#include "python/async_wait.h"

#include <inttypes.h>
#include <string.h>

#include "python/code_name.h"
#include "python/locals.h"
#include "python/releases.h"

enum {
	/* Futures of gather() and shield() within each other. */
	BEHIND_DEPTH = 16,
	/* Futures of which it is asked whether they are alike. */
	OTHERS_MAX = 64,
	NAME_MAX_BYTES = 256,
	/* PyTupleObject of a callback: the function, then its context. */
	CALLBACK_ITEM = 0,
};

/* --- the innermost function --- */

struct inner {
	const struct py_await *frame;
	const char *file;
	const char *function;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* A qualified name has the classes before; up to 3.10 there is none of these. */
static bool is_function(const struct inner *inner, const char *name)
{
	const char *dot = strrchr(inner->function, '.');

	return !strcmp(dot ? dot + 1 : inner->function, name);
}

static bool name_frame(struct async_reader *r, const struct py_await *frame,
		       struct inner *ret)
{
	const struct code_name *name =
		code_names_find(r->names, r->tasks->objects, frame->code);

	if (!name)
		return false;
	*ret = (struct inner){ frame, name->file, name->function };
	return true;
}

/* A future that is pure Python has a function of its own at the end. */
static bool find_inner(struct async_reader *r, const struct py_awaits *awaits,
		       struct inner *ret)
{
	for (size_t i = awaits->count; i-- > 0;) {
		if (!name_frame(r, &awaits->frames[i], ret))
			return false;
		if (!ends_with(ret->file, "/asyncio/futures.py"))
			return true;
	}
	return false;
}

static uint64_t find_local(struct async_reader *r, const struct inner *inner,
			   const char *name)
{
	struct py_local locals[PY_LOCALS_MAX];
	size_t count = py_locals_read(r->values, inner->frame->frame, locals);

	for (size_t i = 0; i < count; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (py_text_read(r->tasks->objects, locals[i].name,
				 NAME_MAX_BYTES, &text) &&
		    !strcmp(text.data, name))
			return locals[i].value;
	}
	return 0;
}

/* --- what it waits for, by that function --- */

static bool put_type(struct async_reader *r, uint64_t object,
		     struct strbuf *out)
{
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;
	const char *own;

	if (!object || !py_type_of(r->tasks->objects, object, &type) ||
	    !py_type_name(r->tasks->objects, type.address, name))
		return false;
	own = strrchr(name, '.');
	own = own ? own + 1 : name;
	py_text_append_utf8(out,
			    (struct bytes){ (const uint8_t *)own, strlen(own) },
			    PY_TYPE_NAME_MAX);
	return true;
}

/* "Lock.acquire 0x7f...": the object tells one from the other. */
static void put_method(struct async_reader *r, const struct inner *inner,
		       struct strbuf *out)
{
	const char *dot = strrchr(inner->function, '.');
	uint64_t self = find_local(r, inner, "self");

	if (put_type(r, self, out))
		strbuf_printf(out, ".%s 0x%" PRIx64,
			      dot ? dot + 1 : inner->function, self);
}

static void put_delay(struct async_reader *r, const struct inner *inner,
		      struct strbuf *out)
{
	uint64_t delay = find_local(r, inner, "delay");

	if (delay)
		py_value_put(r->values, delay, out);
}

static bool put_number(struct async_reader *r, uint64_t number,
		       const char *words, struct strbuf *out)
{
	int64_t value;

	if (!number || !py_int_read(r->tasks->objects, number, &value))
		return false;
	strbuf_printf(out, "%s %" PRId64, words, value);
	return true;
}

static bool put_attribute(struct async_reader *r, uint64_t object,
			  const char *name, const char *words,
			  struct strbuf *out)
{
	uint64_t number;

	return object &&
	       py_attribute(r->tasks->objects, object, name, &number) &&
	       put_number(r, number, words, out);
}

/* A stream knows its transport, and that its socket. */
static void put_stream(struct async_reader *r, const struct inner *inner,
		       struct strbuf *out)
{
	uint64_t self = find_local(r, inner, "self"), transport;

	if (!self || !py_attribute(r->tasks->objects, self, "_transport",
				   &transport) ||
	    !put_attribute(r, transport, "_sock_fd", "socket", out))
		put_method(r, inner, out);
}

/* The class is Python's, its base is that of C: PySocketSockObject begins with the number. */
static void put_socket(struct async_reader *r, const struct inner *inner,
		       struct strbuf *out)
{
	uint64_t sock = find_local(r, inner, "sock");
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;
	int32_t number;

	if (sock && py_type_of(r->tasks->objects, sock, &type) &&
	    py_type_name(r->tasks->objects, type.address, name) &&
	    !strcmp(name, "socket") &&
	    py_read_bytes(r->tasks->objects,
			  py_behind_head(r->tasks->objects, sock), &number,
			  sizeof(number)))
		strbuf_printf(out, "socket %d", number);
}

static void put_process(struct async_reader *r, const struct inner *inner,
			struct strbuf *out)
{
	put_attribute(r, find_local(r, inner, "self"), "_pid", "process", out);
}

#define TASK_GROUPS "/asyncio/taskgroups.py"

static const struct rule {
	const char *file;
	/* NULL: any. */
	const char *function;
	enum py_wait wait;
	void (*put)(struct async_reader *r, const struct inner *inner,
		    struct strbuf *out);
} rules[] = {
	{ "/asyncio/tasks.py", "sleep", PY_WAIT_SLEEP, put_delay },
	{ "/asyncio/tasks.py", "_wait", PY_WAIT_TASKS, NULL },
	{ "/asyncio/tasks.py", "wait_for", PY_WAIT_TASKS, NULL },
	{ TASK_GROUPS, NULL, PY_WAIT_TASKS, NULL },
	{ "/asyncio/locks.py", NULL, PY_WAIT_LOCK, put_method },
	{ "/asyncio/queues.py", NULL, PY_WAIT_QUEUE, put_method },
	{ "/asyncio/streams.py", NULL, PY_WAIT_SOCKET, put_stream },
	{ "/asyncio/base_subprocess.py", "_wait", PY_WAIT_PROCESS, put_process },
	{ "/asyncio/selector_events.py", "sock_recv", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_recv_into", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_recvfrom", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_recvfrom_into", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_sendall", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_sendto", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_connect", PY_WAIT_SOCKET, put_socket },
	{ "/asyncio/selector_events.py", "sock_accept", PY_WAIT_SOCKET, put_socket },
};

static const struct rule *find_rule(const struct inner *inner)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (ends_with(inner->file, rules[i].file) &&
		    (!rules[i].function || is_function(inner, rules[i].function)))
			return &rules[i];
	return NULL;
}

/* --- what it waits for, by the future --- */

/* A function of asyncio that a future calls. */
static bool is_callback(struct async_reader *r, uint64_t function,
			const char *name)
{
	const struct py_tasks_at *at =
		&py_release_of(r->tasks->objects->layout)->tasks;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char type_name[PY_TYPE_NAME_MAX];
	struct py_type type;
	uint64_t qualname;

	return function && py_type_of(r->tasks->objects, function, &type) &&
	       !(type.flags & PY_TYPE_HEAP) &&
	       py_type_name(r->tasks->objects, type.address, type_name) &&
	       !strcmp(type_name, "function") &&
	       py_read_pointer(r->tasks->objects,
			       function + at->function_qualname, &qualname) &&
	       py_text_read(r->tasks->objects, qualname, NAME_MAX_BYTES,
			    &text) &&
	       !strcmp(text.data, name);
}

static bool is_class(struct async_reader *r, uint64_t object, const char *wanted)
{
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;

	return object && py_type_of(r->tasks->objects, object, &type) &&
	       py_type_name(r->tasks->objects, type.address, name) &&
	       !strcmp(name, wanted);
}

#define SHIELD "shield.<locals>._outer_done_callback"
#define CHAIN  "_chain_future.<locals>._call_check_cancel"

/* Of one that no tasks are behind. */
static enum py_wait wait_of_plain(struct async_reader *r, uint64_t future,
				    struct strbuf *out)
{
	if (is_callback(r, py_future_callback(r->tasks, future), CHAIN))
		return PY_WAIT_THREAD;
	if (put_type(r, future, out))
		strbuf_printf(out, " 0x%" PRIx64, future);
	return PY_WAIT_FUTURE;
}

static enum py_wait wait_of_future(struct async_reader *r, uint64_t future,
				     struct strbuf *out)
{
	struct py_task task;

	if (is_class(r, future, "_GatheringFuture") ||
	    is_callback(r, py_future_callback(r->tasks, future), SHIELD) ||
	    (py_task_read(r->tasks, future, &task) == PY_TASK_READ &&
	     task.coroutine))
		return PY_WAIT_TASKS;
	return wait_of_plain(r, future, out);
}

/* --- what is behind it --- */

static bool keep_last(void *arg, uint64_t item)
{
	uint64_t *last = arg;

	*last = item;
	return true;
}

/*
 * What shield() waits for is in a cell of its callback, `inner`. The cells are in order
 * of their names, so it is behind those of functions and, from 3.14 on, `cur_task`.
 */
static bool find_shielded(struct async_reader *r, uint64_t future, uint64_t *ret)
{
	const struct py_tasks_at *at =
		&py_release_of(r->tasks->objects->layout)->tasks;
	uint64_t callback = py_future_callback(r->tasks, future);
	uint64_t closure, cell = 0;

	if (!is_callback(r, callback, SHIELD) ||
	    !py_read_pointer(r->tasks->objects, callback + at->function_closure,
			     &closure))
		return false;
	py_items_each(r->tasks, closure, keep_last, &cell);
	return cell && py_read_pointer(r->tasks->objects,
				       cell + r->tasks->values->cell_value, ret);
}

/* Calls fn for those that a future of gather() or shield() waits for. */
static bool each_behind(struct async_reader *r, uint64_t future,
			bool (*fn)(void *arg, uint64_t future), void *arg)
{
	uint64_t children, shielded;

	if (is_class(r, future, "_GatheringFuture") &&
	    py_attribute(r->tasks->objects, future, "_children", &children)) {
		py_items_each(r->tasks, children, fn, arg);
		return true;
	}
	if (!find_shielded(r, future, &shielded))
		return false;
	fn(arg, shielded);
	return true;
}

/* Calls fn for those that wait() or wait_for() waits for: its variables have them. */
static bool each_in_variables(struct async_reader *r,
			      const struct async_task *task,
			      bool (*fn)(void *arg, uint64_t future), void *arg)
{
	struct inner inner;
	uint64_t found;

	if (task->awaits.end != PY_AWAITS_OBJECT ||
	    !find_inner(r, &task->awaits, &inner) ||
	    !ends_with(inner.file, "/asyncio/tasks.py"))
		return false;
	if (is_function(&inner, "_wait")) {
		found = find_local(r, &inner, "fs");
		py_items_each(r->tasks, found, fn, arg);
		return found;
	}
	found = is_function(&inner, "wait_for") ? find_local(r, &inner, "fut") : 0;
	if (found)
		fn(arg, found);
	return found;
}

/* Futures behind one that tasks may be behind. */
struct others {
	struct async_reader *r;
	struct strbuf *out;
	enum py_wait wait;
	size_t count;
};

static bool take_other(void *arg, uint64_t future)
{
	struct others *others = arg;
	enum py_wait wait;

	if (others->count++ >= OTHERS_MAX)
		return true;
	strbuf_clear(others->out);
	wait = wait_of_plain(others->r, future, others->out);
	others->wait = others->count == 1 || others->wait == wait ?
			       wait :
			       PY_WAIT_FUTURE;
	return true;
}

/* What it waits for if there are no tasks behind the future. */
static enum py_wait wait_without_tasks(struct async_reader *r,
					 const struct async_task *task,
					 struct strbuf *out)
{
	struct others others = { r, out, PY_WAIT_FUTURE, 0 };
	uint64_t future = task->task.waiter;

	if (!each_in_variables(r, task, take_other, &others) &&
	    !each_behind(r, future, take_other, &others))
		take_other(&others, future);
	if (others.count > 1) {
		strbuf_clear(out);
		if (others.wait == PY_WAIT_FUTURE)
			strbuf_printf(out, "%zu futures", others.count);
	}
	return others.wait;
}

enum py_wait async_wait(struct async_reader *r, const struct async_task *task,
			  enum py_wait *without_tasks, struct strbuf *out)
{
	const struct rule *rule;
	struct inner inner;
	enum py_wait wait;

	if (!task->task.waiter)
		return PY_WAIT_NONE;
	rule = task->awaits.end == PY_AWAITS_OBJECT &&
			       find_inner(r, &task->awaits, &inner) ?
		       find_rule(&inner) :
		       NULL;
	wait = rule ? rule->wait : wait_of_future(r, task->task.waiter, out);
	if (rule && rule->put)
		rule->put(r, &inner, out);
	if (wait == PY_WAIT_TASKS)
		*without_tasks = wait_without_tasks(r, task, out);
	return wait;
}

/* --- which tasks --- */

struct linking {
	struct async_reader *r;
	struct async_link_list *list;
	/* Of more links none is taken. */
	size_t most;
	uint64_t task;
	/* Futures that this one is behind. */
	int depth;
	bool failed;
};

static bool add_link(struct linking *linking, uint64_t waiter, uint64_t awaited)
{
	const struct async_link link = { waiter, awaited };

	if (linking->list->count >= linking->most)
		return false;
	linking->failed |= !vec_push(linking->list, link);
	return !linking->failed;
}

static bool take_waiter(void *arg, uint64_t waiter)
{
	struct linking *linking = arg;

	return add_link(linking, waiter, linking->task);
}

static void take_awaited(struct linking *linking, uint64_t future);

static bool take_child(void *arg, uint64_t future)
{
	struct linking *linking = arg;

	if (linking->list->count >= linking->most)
		return false;
	take_awaited(linking, future);
	return !linking->failed;
}

static void take_awaited(struct linking *linking, uint64_t future)
{
	add_link(linking, linking->task, future);
	if (linking->depth == BEHIND_DEPTH)
		return;
	linking->depth++;
	each_behind(linking->r, future, take_child, linking);
	linking->depth--;
}

/* A task of a group tells it when it is done; the group knows who waits for it. */
static void take_group(struct linking *linking, uint64_t callback)
{
	struct async_reader *r = linking->r;
	const struct py_tasks_at *at =
		&py_release_of(r->tasks->objects->layout)->tasks;
	uint64_t group, parent;

	if (is_class(r, callback, "method") &&
	    py_read_pointer(r->tasks->objects, callback + at->method_self,
			    &group) &&
	    is_class(r, group, "TaskGroup") &&
	    py_attribute(r->tasks->objects, group, "_parent_task", &parent))
		add_link(linking, parent, linking->task);
}

static bool take_callback(void *arg, uint64_t tuple)
{
	struct linking *linking = arg;
	uint64_t callback;

	if (py_read_pointer(linking->r->tasks->objects,
			    tuple + linking->r->tasks->values->tuple_items +
				    CALLBACK_ITEM,
			    &callback))
		take_group(linking, callback);
	return true;
}

bool async_links(struct async_reader *r, const struct async_task *task,
		 struct async_link_list *ret)
{
	struct linking linking = { .r = r, .list = ret, .most = ASYNC_LINKS_MAX,
				   .task = task->address };

	if (task->task.awaited_by_set)
		py_items_each(r->tasks, task->task.awaited_by, take_waiter,
			      &linking);
	else if (task->task.awaited_by)
		take_waiter(&linking, task->task.awaited_by);
	if (task->task.waiter)
		take_awaited(&linking, task->task.waiter);
	each_in_variables(r, task, take_child, &linking);
	take_group(&linking, task->task.callback);
	py_items_each(r->tasks, task->task.callbacks, take_callback, &linking);
	return !linking.failed;
}

/* --- the kind alone --- */

/* Of the first of those that it waits for some is a task. */
static bool awaits_task(struct async_reader *r, const struct async_task *task)
{
	struct async_link_list links = {};
	struct linking linking = { .r = r, .list = &links, .most = OTHERS_MAX,
				   .task = task->address };
	struct py_task awaited;
	bool found = false;

	take_awaited(&linking, task->task.waiter);
	each_in_variables(r, task, take_child, &linking);
	vec_for_each(link, &links)
		found |= py_task_read(r->tasks, link->awaited, &awaited) ==
			 PY_TASK_READ;
	vec_deinit(&links);
	return found;
}

/* Its tasks know of a group, and the group of who waits for them; not the other way. */
static bool awaits_group(struct async_reader *r, const struct async_task *task)
{
	struct inner inner;

	return task->awaits.end == PY_AWAITS_OBJECT &&
	       find_inner(r, &task->awaits, &inner) &&
	       ends_with(inner.file, TASK_GROUPS);
}

enum py_wait async_wait_kind(struct async_reader *r,
			     const struct async_task *task)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	enum py_wait without_tasks = PY_WAIT_FUTURE;
	enum py_wait wait;

	/* Another one runs inside it: it has begun that one eagerly (3.12 on). */
	if (task->awaits.end == PY_AWAITS_RUNS)
		return PY_WAIT_TASKS;
	wait = async_wait(r, task, &without_tasks, &text);
	if (wait != PY_WAIT_NONE &&
	    py_future_is_done(r->tasks, task->task.waiter))
		return PY_WAIT_NONE;
	if (wait != PY_WAIT_TASKS || awaits_group(r, task) ||
	    awaits_task(r, task))
		return wait;
	return without_tasks;
}

size_t async_own_frames(struct async_reader *r, const struct py_awaits *awaits)
{
	struct inner inner;
	size_t count = 0;

	while (count + 1 < awaits->count &&
	       name_frame(r, &awaits->frames[awaits->count - 1 - count],
			  &inner) &&
	       strstr(inner.file, "/asyncio/"))
		count++;
	return count;
}

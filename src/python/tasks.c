// SPDX-License-Identifier: GPL-2.0-only
#include "python/tasks.h"

#include <string.h>

#include "python/coroutine.h"
#include "python/releases.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	/* Slots of a set that are looked at, and how many at once. */
	SLOTS_MAX = 1 << 20,
	CHUNK = 64,
	/* Classes between a task's class and asyncio's. */
	BASES_MAX = 32,
	/*
	 * Up to 3.11 a thread's dict has the running loop within an object, behind
	 * its head.
	 */
	LOOP_ITSELF_MINOR = 12,
	HOLDER_LOOP = 16,
};

/*
 * Fields of FutureObj and TaskObj in Modules/_asynciomodule.c, a row for each version,
 * and by which sizes they are known. A state is an int.
 */
struct place {
	uint16_t task_size;
	uint16_t future_size;
	uint16_t state;
	uint16_t waiter;
	uint16_t coroutine;
	uint16_t name;
	/* From 3.14 on. */
	uint16_t awaited_by;
	uint16_t awaited_by_set;
	uint16_t node;
};

enum {
	FIRST_MINOR = 8,
	FIRST_FREE_THREADED_MINOR = 13,
	/* Alike in all: behind the head that each object has. */
	LOOP = 0,
	CALLBACK = 8,
	CALLBACKS = 24,
};

static const struct place places[] = {
	{ 144, 104, 72, 104, 112, 120, 0, 0, 0 },
	{ 184, 144, 80, 144, 152, 160, 0, 0, 0 },
	{ 192, 152, 88, 152, 160, 168, 0, 0, 0 },
	{ 176, 128, 88, 128, 136, 144, 0, 0, 0 },
	{ 176, 128, 88, 128, 136, 144, 0, 0, 0 },
	{ 144, 104, 96, 112, 120, 128, 0, 0, 0 },
	{ 168, 112, 104, 120, 128, 136, 96, 109, 152 },
	{ 168, 112, 104, 120, 128, 136, 96, 109, 152 },
};

static const struct place free_threaded_places[] = {
	{ 160, 120, 112, 128, 136, 144, 0, 0, 0 },
	{ 192, 128, 120, 136, 144, 152, 112, 125, 168 },
	{ 192, 128, 120, 136, 144, 152, 112, 125, 168 },
};

static unsigned int minor_of(const struct py_tasks_reader *r)
{
	return PY_MINOR(r->objects->layout->version);
}

static const struct place *place_in(const struct place *table, size_t count,
				    unsigned int i)
{
	return i < count ? &table[i] : NULL;
}

static const struct place *place_of(const struct py_tasks_reader *r)
{
	if (r->objects->layout->flags & PY_FREE_THREADED)
		return place_in(free_threaded_places, COUNT(free_threaded_places),
				minor_of(r) - FIRST_FREE_THREADED_MINOR);
	return place_in(places, COUNT(places), minor_of(r) - FIRST_MINOR);
}

static const struct py_tasks_at *at_of(const struct py_tasks_reader *r)
{
	return &py_release_of(r->objects->layout)->tasks;
}

bool py_attribute(struct py_objects_reader *r, uint64_t object,
		  const char *name, uint64_t *ret)
{
	struct py_dict attributes;

	return py_instance_attributes(r, object, &attributes) &&
	       py_dict_find(r, &attributes, name, NULL, ret);
}

/* --- items of containers --- */

/* Pairs of a key and its hash; one that was deleted has the hash -1. */
static bool each_of_set(struct py_tasks_reader *r, uint64_t object,
			bool (*fn)(void *arg, uint64_t item), void *arg)
{
	const struct py_values *at = r->values;
	uint64_t mask, table, slots[CHUNK][2];

	if (!py_read_pointer(r->objects, object + at->set_mask, &mask) ||
	    !py_read_pointer(r->objects, object + at->set_table, &table) ||
	    mask >= SLOTS_MAX)
		return false;
	for (uint64_t first = 0; first <= mask; first += CHUNK) {
		uint64_t n = mask + 1 - first < CHUNK ? mask + 1 - first : CHUNK;

		if (!py_read_bytes(r->objects, table + first * sizeof(slots[0]),
				   slots, n * sizeof(slots[0])))
			return false;
		for (uint64_t i = 0; i < n; i++)
			if (slots[i][0] && slots[i][1] != UINT64_MAX &&
			    !fn(arg, slots[i][0]))
				return true;
	}
	return true;
}

static bool each_of_array(struct py_tasks_reader *r, uint64_t object,
			  uint64_t items,
			  bool (*fn)(void *arg, uint64_t item), void *arg)
{
	uint64_t count, item;

	if (!py_read_pointer(r->objects,
			     object + r->objects->layout->bytes_size, &count) ||
	    count > PY_TASKS_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!py_read_pointer(r->objects, items + i * 8, &item))
			return false;
		if (!fn(arg, item))
			return true;
	}
	return true;
}

bool py_items_each(struct py_tasks_reader *r, uint64_t object,
		   bool (*fn)(void *arg, uint64_t item), void *arg)
{
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;
	uint64_t items;

	if (!object || !py_type_of(r->objects, object, &type) ||
	    (type.flags & PY_TYPE_HEAP))
		return false;
	if (type.flags & PY_TYPE_TUPLE)
		return each_of_array(r, object, object + r->values->tuple_items,
				     fn, arg);
	if (type.flags & PY_TYPE_LIST)
		return py_read_pointer(r->objects,
				       object + r->values->list_items, &items) &&
		       each_of_array(r, object, items, fn, arg);
	return py_type_name(r->objects, type.address, name) &&
	       (!strcmp(name, "set") || !strcmp(name, "frozenset")) &&
	       each_of_set(r, object, fn, arg);
}

/* --- what is in asyncio.tasks --- */

static bool pass_entry(void *arg, const struct py_dict_entry *entry)
{
	(void)arg;
	(void)entry;
	return true;
}

/* False: it may be in what of the dict cannot be read. *ret is 0 if it is not there. */
static bool find_or_none(struct py_tasks_reader *r, const struct py_dict *dict,
			 const char *name, uint32_t *hint, uint64_t *ret)
{
	*ret = 0;
	return py_dict_find(r->objects, dict, name, hint, ret) ||
	       py_dict_each(r->objects, dict, pass_entry, NULL);
}

/* False: it cannot be read. *has_module is false where asyncio was not imported. */
static bool open_module(struct py_tasks_reader *r, uint64_t interp,
			bool *has_module, struct py_dict *ret)
{
	const struct py_layout *l = r->objects->layout;
	uint64_t modules, module;
	struct py_dict dict;

	*has_module = false;
	if (!py_read_pointer(r->objects, interp + l->interp_modules, &modules))
		return false;
	if (!modules)
		return true;
	if (!py_dict_open(r->objects, modules, &dict) ||
	    !find_or_none(r, &dict, "asyncio.tasks",
			  r->hints ? &r->hints->module : NULL, &module))
		return false;
	*has_module = module && py_module_attributes(r->objects, module, ret);
	return *has_module || !module;
}

struct weak {
	struct py_tasks_reader *r;
	struct py_task_list *list;
	bool is_whole;
};

static bool add(struct weak *weak, uint64_t task)
{
	if (weak->list->count < PY_TASKS_MAX && vec_push(weak->list, task))
		return true;
	weak->is_whole = false;
	return false;
}

static bool take_item(void *arg, uint64_t item)
{
	return add(arg, item);
}

/* The object of a weak reference; it may be gone. */
static bool take_weak(void *arg, uint64_t reference)
{
	struct weak *weak = arg;
	uint64_t object;

	if (!py_read_pointer(weak->r->objects,
			     reference + at_of(weak->r)->weak_object, &object)) {
		weak->is_whole = false;
		return true;
	}
	return !object || add(weak, object);
}

/* --- lists, from 3.14 on --- */

static bool read_list(struct py_tasks_reader *r, uint64_t head,
		      struct weak *weak)
{
	const struct place *place = place_of(r);
	uint64_t last = head, node[2];

	if (!py_read_bytes(r->objects, head, node, sizeof(node)))
		return false;
	/* Zero: nothing of asyncio was ever there. */
	if (!node[0])
		return true;
	while (node[0] != head) {
		uint64_t at = node[0];

		if (!py_read_bytes(r->objects, at, node, sizeof(node)) ||
		    node[1] != last || !add(weak, at - place->node))
			return false;
		last = at;
	}
	return true;
}

bool py_tasks_of_thread(struct py_tasks_reader *r, uint64_t state,
			struct py_task_list *ret)
{
	const struct py_tasks_at *at = at_of(r);
	struct weak weak = { r, ret, true };

	return at->thread_tasks == PY_ABSENT || !place_of(r) ||
	       read_list(r, state + at->thread_tasks, &weak);
}

/*
 * Where the interpreters of free-threaded builds have their list, by the size of a
 * PyInterpreterState: from 3.14.10 and 3.15.2 on, or somewhat before, what stands in
 * front of it is smaller.
 */
static const struct {
	uint64_t size;
	uint64_t list;
} free_threaded_lists[] = {
	{ 246720, 17632 }, /* 3.14.5 */
	{ 249976, 17304 }, /* 3.14.10 */
	{ 247104, 17632 }, /* 3.15.0rc2 */
	{ 250328, 17256 }, /* 3.15.2 */
};

/* False: nobody knows where the list of this build is. */
static bool read_interpreter_list(struct py_tasks_reader *r, uint64_t interp,
				  struct weak *weak)
{
	const struct py_tasks_at *at = at_of(r);

	if (at->thread_tasks == PY_ABSENT || !place_of(r))
		return true;
	if (at->interp_tasks != PY_ABSENT)
		return read_list(r, interp + at->interp_tasks, weak);
	for (size_t i = 0; i < COUNT(free_threaded_lists); i++)
		if (free_threaded_lists[i].size == r->interp_size)
			return read_list(r, interp + free_threaded_lists[i].list,
					 weak);
	return false;
}

/* Lib/asyncio/tasks.py. */
static const struct task_set {
	const char *name;
	bool is_weak;
	/* Minor versions that have it. */
	unsigned int first;
	unsigned int last;
} task_sets[] = {
	{ "_all_tasks", true, 0, 11 },
	{ "_scheduled_tasks", true, 12, ~0u },
	{ "_eager_tasks", false, 12, ~0u },
};

/* A set of asyncio.tasks, or, if it is weak, the set that is in it. */
static bool read_set(struct py_tasks_reader *r, const struct py_dict *module,
		     const struct task_set *which, struct weak *weak)
{
	uint32_t *hint = r->hints ? &r->hints->sets[which - task_sets] : NULL;
	uint64_t set;

	if (minor_of(r) < which->first || minor_of(r) > which->last)
		return true;
	if (!find_or_none(r, module, which->name, hint, &set))
		return false;
	/* The module is being imported. */
	if (!set)
		return true;
	if (!which->is_weak)
		return py_items_each(r, set, take_item, weak);
	return py_attribute(r->objects, set, "data", &set) &&
	       py_items_each(r, set, take_weak, weak);
}

bool py_tasks_of_interpreter(struct py_tasks_reader *r, uint64_t interp,
			     struct py_task_list *ret)
{
	struct weak weak = { r, ret, true };
	struct py_dict module;
	bool is_whole, has_module;

	is_whole = open_module(r, interp, &has_module, &module);
	if (!has_module)
		return is_whole;
	for (size_t i = 0; i < COUNT(task_sets); i++)
		is_whole &= read_set(r, &module, &task_sets[i], &weak);
	is_whole &= read_interpreter_list(r, interp, &weak);
	return is_whole && weak.is_whole;
}

/* --- what runs --- */

static uint64_t read_slot(const struct py_memory *memory, uint64_t runtime,
			  uint8_t slot)
{
	uint64_t size;

	if (!slot || !memory->read(memory->arg, runtime + slot * sizeof(size),
				   &size, sizeof(size)))
		return 0;
	return size;
}

void py_tasks_read_sizes(struct py_tasks_reader *r,
			 const struct py_memory *memory, uint64_t runtime)
{
	const struct py_debug_slots *slots =
		&py_release_of(r->objects->layout)->slots;

	r->state_size = read_slot(memory, runtime, slots->thread_size);
	r->interp_size = read_slot(memory, runtime, slots->interp_size);
}

/* From 3.13 on the thread's state has it. */
static void read_loop_of_state(struct py_tasks_reader *r, uint64_t state,
			       struct py_loop *ret)
{
	const struct py_tasks_at *at = at_of(r);
	bool behind = at->thread_loop == PY_ABSENT;

	if (behind && !r->state_size)
		return;
	if (!py_read_pointer(r->objects,
			     state + (behind ? r->state_size : at->thread_loop),
			     &ret->loop) ||
	    (at->thread_task != PY_ABSENT &&
	     !py_read_pointer(r->objects, state + at->thread_task, &ret->task)))
		*ret = (struct py_loop){};
}

void py_loop_read(struct py_tasks_reader *r, uint64_t state,
		  struct py_loop *ret)
{
	const struct py_tasks_at *at = at_of(r);
	struct py_dict dict;
	uint64_t object;

	*ret = (struct py_loop){};
	if (at->thread_dict == PY_ABSENT) {
		read_loop_of_state(r, state, ret);
		return;
	}
	if (!py_read_pointer(r->objects, state + at->thread_dict, &object) ||
	    !py_dict_open(r->objects, object, &dict) ||
	    !py_dict_find(r->objects, &dict, "__asyncio_running_event_loop__",
			  NULL, &object))
		return;
	if (minor_of(r) >= LOOP_ITSELF_MINOR)
		ret->loop = object;
	else if (!py_read_pointer(r->objects, object + HOLDER_LOOP, &ret->loop))
		ret->loop = 0;
}

struct current {
	uint64_t loop;
	uint64_t task;
};

static bool is_other_loop(void *arg, const struct py_dict_entry *entry)
{
	struct current *current = arg;

	if (entry->key != current->loop)
		return true;
	current->task = entry->value;
	return false;
}

uint64_t py_tasks_current(struct py_tasks_reader *r, uint64_t interp,
			  uint64_t loop)
{
	struct current current = { .loop = loop };
	struct py_dict module, dict;
	uint64_t object;
	bool has_module;

	if (open_module(r, interp, &has_module, &module) && has_module &&
	    py_dict_find(r->objects, &module, "_current_tasks",
			 r->hints ? &r->hints->current : NULL, &object) &&
	    py_dict_open(r->objects, object, &dict))
		py_dict_each(r->objects, &dict, is_other_loop, &current);
	return current.task;
}

/* --- one task --- */

/* The class of that name among a type and its bases; 0: none. */
static uint64_t find_base(struct py_tasks_reader *r, uint64_t type,
			  const char *wanted)
{
	const struct py_tasks_at *at = at_of(r);
	char name[PY_TYPE_NAME_MAX];

	for (int i = 0; type && i < BASES_MAX; i++) {
		if (!py_type_name(r->objects, type, name))
			return 0;
		if (!strcmp(name, wanted))
			return type;
		if (!py_read_pointer(r->objects, type + at->type_base, &type))
			return 0;
	}
	return 0;
}

static bool has_size(struct py_tasks_reader *r, uint64_t type, uint64_t size)
{
	uint64_t basic;

	return py_read_pointer(r->objects,
			       type + r->objects->at->type_basic_size,
			       &basic) &&
	       basic == size;
}

/* Asyncio's task is a future, and both have the sizes that the place is known by. */
static bool is_known(struct py_tasks_reader *r, uint64_t task_type)
{
	const struct place *place = place_of(r);
	uint64_t future = find_base(r, task_type, "_asyncio.Future");

	return place && future && has_size(r, task_type, place->task_size) &&
	       has_size(r, future, place->future_size);
}

static bool read_state(struct py_tasks_reader *r, uint64_t address,
		       enum py_task_state *ret)
{
	uint32_t state;

	if (!py_read_bytes(r->objects, address, &state, sizeof(state)) ||
	    state > PY_TASK_FINISHED)
		return false;
	*ret = (enum py_task_state)state;
	return true;
}

static bool read_awaited_by(struct py_tasks_reader *r, uint64_t object,
			    struct py_task *ret)
{
	const struct place *place = place_of(r);
	uint8_t is_set;

	if (!place->awaited_by)
		return true;
	if (!py_read_pointer(r->objects, object + place->awaited_by,
			     &ret->awaited_by) ||
	    !py_read_bytes(r->objects, object + place->awaited_by_set, &is_set,
			   sizeof(is_set)))
		return false;
	ret->awaited_by_set = is_set;
	return true;
}

static enum py_task_read read_native(struct py_tasks_reader *r, uint64_t object,
				     struct py_task *ret)
{
	const struct place *place = place_of(r);
	const struct {
		uint64_t at;
		uint64_t *field;
	} fields[] = {
		{ py_behind_head(r->objects, object) + LOOP, &ret->loop },
		{ py_behind_head(r->objects, object) + CALLBACK, &ret->callback },
		{ py_behind_head(r->objects, object) + CALLBACKS, &ret->callbacks },
		{ object + place->waiter, &ret->waiter },
		{ object + place->coroutine, &ret->coroutine },
		{ object + place->name, &ret->name },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!py_read_pointer(r->objects, fields[i].at, fields[i].field))
			return PY_TASK_OTHER;
	return read_state(r, object + place->state, &ret->state) &&
			       read_awaited_by(r, object, ret) ?
		       PY_TASK_READ :
		       PY_TASK_OTHER;
}

/* Its attributes; what is None there is 0. */
static uint64_t attribute_or_none(struct py_tasks_reader *r,
				  const struct py_dict *attributes,
				  const char *name)
{
	char type_name[PY_TYPE_NAME_MAX];
	struct py_type type;
	uint64_t value;

	if (!py_dict_find(r->objects, attributes, name, NULL, &value) ||
	    !py_type_of(r->objects, value, &type) ||
	    !py_type_name(r->objects, type.address, type_name) ||
	    !strcmp(type_name, "NoneType"))
		return 0;
	return value;
}

static bool take_state(struct py_tasks_reader *r, uint64_t text,
		       enum py_task_state *ret)
{
	_cleanup_strbuf_ struct strbuf state = STRBUF_INIT;

	if (!text || !py_text_read(r->objects, text, 16, &state))
		return false;
	*ret = !strcmp(state.data, "PENDING")	? PY_TASK_PENDING :
	       !strcmp(state.data, "CANCELLED") ? PY_TASK_CANCELLED :
						  PY_TASK_FINISHED;
	return true;
}

/* Lib/asyncio/tasks.py, class Task. */
static enum py_task_read read_pure(struct py_tasks_reader *r, uint64_t object,
				   struct py_task *ret)
{
	struct py_dict attributes;

	if (!py_instance_attributes(r->objects, object, &attributes))
		return PY_TASK_OTHER;
	ret->coroutine = attribute_or_none(r, &attributes, "_coro");
	ret->waiter = attribute_or_none(r, &attributes, "_fut_waiter");
	ret->name = attribute_or_none(r, &attributes, "_name");
	ret->callbacks = attribute_or_none(r, &attributes, "_callbacks");
	ret->loop = attribute_or_none(r, &attributes, "_loop");
	ret->awaited_by = attribute_or_none(r, &attributes,
					    "_Future__asyncio_awaited_by");
	ret->awaited_by_set = ret->awaited_by;
	/* The state is an attribute of the class until it is set. */
	if (!take_state(r, attribute_or_none(r, &attributes, "_state"),
			&ret->state))
		ret->state = PY_TASK_PENDING;
	return ret->coroutine || ret->name ? PY_TASK_READ : PY_TASK_OTHER;
}

enum py_task_read py_task_read(struct py_tasks_reader *r, uint64_t object,
			       struct py_task *ret)
{
	struct py_type type;
	uint64_t native;

	*ret = (struct py_task){};
	if (!object || !py_type_of(r->objects, object, &type))
		return PY_TASK_OTHER;
	ret->type = type.address;
	native = find_base(r, type.address, "_asyncio.Task");
	if (native)
		return is_known(r, native) ? read_native(r, object, ret) :
					     PY_TASK_UNKNOWN;
	return read_pure(r, object, ret);
}

/* From 3.12 on a name may be but a number until it is asked for. */
void py_task_name(struct py_tasks_reader *r, uint64_t name, size_t max,
		  struct strbuf *out)
{
	int64_t number;

	if (!name)
		return;
	if (py_int_read(r->objects, name, &number))
		strbuf_printf(out, "Task-%lld", (long long)number);
	else
		py_text_read(r->objects, name, max, out);
}

/* One of C, whose fields are where they are known to be. */
static bool is_known_future(struct py_tasks_reader *r, uint64_t object)
{
	const struct place *place = place_of(r);
	struct py_type type;
	uint64_t future;

	if (!object || !place || !py_type_of(r->objects, object, &type))
		return false;
	future = find_base(r, type.address, "_asyncio.Future");
	return future && has_size(r, future, place->future_size);
}

uint64_t py_future_callback(struct py_tasks_reader *r, uint64_t object)
{
	uint64_t callback;

	return is_known_future(r, object) &&
			       py_read_pointer(r->objects,
					       py_behind_head(r->objects, object) + CALLBACK,
					       &callback) ?
		       callback :
		       0;
}

bool py_future_is_done(struct py_tasks_reader *r, uint64_t object)
{
	enum py_task_state state;

	return is_known_future(r, object) &&
	       read_state(r, object + place_of(r)->state, &state) &&
	       state != PY_TASK_PENDING;
}

/* Lib/asyncio/base_futures.py tells them by that attribute, too. */
bool py_is_future(struct py_tasks_reader *r, uint64_t object)
{
	struct py_type type;
	uint64_t blocking;

	return object && py_type_of(r->objects, object, &type) &&
	       (find_base(r, type.address, "_asyncio.Future") ||
		py_attribute(r->objects, object, "_asyncio_future_blocking",
			     &blocking));
}

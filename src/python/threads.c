// SPDX-License-Identifier: GPL-2.0-only
#include "python/threads.h"

#include <string.h>

#include "base/pthread_fields.h"

/* From here on a Thread has _native_id. */
#define NATIVE_IDS_FROM 0x03080000u

enum {
	INTERPRETERS_MAX = 64,
	/* A thread that changes what is read: so many tries. */
	TRIES = 3,
};

/* One thread as it was read. */
struct reading {
	int64_t native_id;
	struct strbuf name;
};

struct look {
	struct py_objects_reader *r;
	struct py_threads_hints *hints;
	const struct py_threads_visit *visit;
	/* The dict _active, and its table. */
	uint64_t active;
	struct py_dict table;
};

/* As the C library has it. */
static bool read_number(const struct look *look, uint64_t ident, int64_t *ret)
{
	uint64_t self;
	int32_t tid;

	if (!py_read_pointer(look->r, ident + PTHREAD_SELF, &self) ||
	    self != ident ||
	    !py_read_bytes(look->r, ident + PTHREAD_TID, &tid, sizeof(tid)))
		return false;
	*ret = tid;
	return true;
}

static bool read_native_id(const struct look *look,
			   const struct py_dict *attributes, uint64_t ident,
			   int64_t *ret)
{
	struct py_objects_reader *r = look->r;
	uint64_t number;

	if (r->layout->version < NATIVE_IDS_FROM)
		return read_number(look, ident, ret);
	return py_dict_find(r, attributes, "_native_id",
			    &look->hints->native_id, &number) &&
	       py_int_read(r, number, ret);
}

static bool read_thread(const struct look *look,
			const struct py_dict_entry *entry, struct reading *ret)
{
	struct py_objects_reader *r = look->r;
	struct py_dict attributes;
	uint64_t name;

	strbuf_clear(&ret->name);
	return py_instance_attributes(r, entry->value, &attributes) &&
	       py_dict_find(r, &attributes,
			    r->layout->version < PY_SERIES_3 ? "_Thread__name" :
							       "_name",
			    &look->hints->name, &name) &&
	       py_text_read(r, name, PY_THREAD_NAME_MAX, &ret->name) &&
	       read_native_id(look, &attributes, entry->hash, &ret->native_id);
}

static bool same(const struct reading *a, const struct reading *b)
{
	return a->native_id == b->native_id && a->name.len == b->name.len &&
	       (!a->name.len ||
		!memcmp(a->name.data, b->name.data, a->name.len));
}

/* The thread still stands where it was found. */
static bool is_still_there(const struct look *look,
			   const struct py_dict_entry *entry)
{
	struct py_dict table;
	struct py_dict_entry now;

	return py_dict_open(look->r, look->active, &table) &&
	       table.entries == look->table.entries &&
	       py_dict_at(look->r, &table, entry->index, &now) &&
	       now.hash == entry->hash && now.value == entry->value;
}

/* True if it was read alike twice, one after the other. */
static bool read_twice(const struct look *look,
		       const struct py_dict_entry *entry,
		       struct reading readings[2])
{
	if (!read_thread(look, entry, &readings[0]))
		return false;
	for (int i = 1; i < TRIES; i++) {
		if (!read_thread(look, entry, &readings[i & 1]))
			return false;
		if (same(&readings[0], &readings[1]))
			return is_still_there(look, entry);
	}
	return false;
}

static bool visit_entry(void *arg, const struct py_dict_entry *entry)
{
	const struct look *look = arg;
	struct reading readings[2] = { { .name = STRBUF_INIT },
				       { .name = STRBUF_INIT } };

	int64_t key;

	/* The hash of an int below 2^61 - 1 is the int. */
	if (!look->visit->wanted(look->visit->arg, entry->hash) ||
	    !py_int_read(look->r, entry->key, &key) ||
	    (uint64_t)key != entry->hash)
		return true;
	if (read_twice(look, entry, readings))
		look->visit->found(look->visit->arg,
				   &(struct py_thread){
					   .ident = entry->hash,
					   .native_id = readings[0].native_id,
					   .name = readings[0].name.data,
					   .size = readings[0].name.len });
	strbuf_deinit(&readings[0].name);
	strbuf_deinit(&readings[1].name);
	return true;
}

static void visit_interpreter(struct look *look, uint64_t interp)
{
	struct py_objects_reader *r = look->r;
	struct py_threads_hints *hints = look->hints;
	uint64_t modules, module;
	struct py_dict dict;

	if (!py_read_pointer(r, interp + r->layout->interp_modules, &modules) ||
	    !py_dict_open(r, modules, &dict) ||
	    !py_dict_find(r, &dict, "threading", &hints->module, &module) ||
	    !py_module_attributes(r, module, &dict) ||
	    !py_dict_find(r, &dict, "_active", &hints->active, &look->active) ||
	    !py_dict_open(r, look->active, &look->table))
		return;
	/* Without hashes no key is a number. */
	if (look->table.entry_size == 24 && !look->table.values)
		py_dict_each(r, &look->table, visit_entry, look);
}

void py_threads_each(struct py_objects_reader *r, uint64_t runtime,
		     struct py_threads_hints *hints,
		     const struct py_threads_visit *visit)
{
	struct look look = { .r = r, .hints = hints, .visit = visit };
	uint64_t interp;

	if (!r->at || r->layout->runtime_interpreters == PY_ABSENT ||
	    !py_read_pointer(r, runtime + r->layout->runtime_interpreters,
			     &interp))
		return;
	/* The list has the newest first, so the main interpreter last. */
	for (int i = 0; interp && i < INTERPRETERS_MAX; i++) {
		visit_interpreter(&look, interp);
		if (!py_read_pointer(r, interp + r->layout->interp_next,
				     &interp))
			return;
	}
}

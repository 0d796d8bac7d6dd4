/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of a Python process: dicts, attributes of instances, texts and integers,
 * read from its memory while it runs, through a callback.
 *
 * Nothing is trusted that is read. Numbers are bounded, and an object is taken for
 * a dict, str or int only if its type is the interpreter's own (or another built
 * like it: a type that is no heap type, with the flag of such a subclass). The
 * process changes its objects meanwhile: what one call returns may be torn. Who
 * needs to be sure reads twice and compares.
 *
 * Functions return false for what cannot be read, or is not of that type. Sources:
 * Include/cpython/dictobject.h, Include/internal/pycore_dict.h, pycore_object.h,
 * pycore_long.h and Objects/dict-common.h of each version.
 *
 * A reader is not thread-safe. It remembers types, so it is made anew for each
 * look at a process (PY_OBJECTS_INIT).
 */
#ifndef KAA_PYTHON_OBJECT_H
#define KAA_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "python/layout.h"

enum {
	/* Entries of a dict that are read. */
	PY_DICT_MAX = 1 << 17,
	PY_TYPES_KEPT = 8,
	/* Bytes of the name of a type that are read, with the end. */
	PY_TYPE_NAME_MAX = 80,
};

/* What a type object says that matters here. */
struct py_type {
	uint64_t address;
	uint64_t flags;
	int64_t basic_size;
	int64_t dict_offset;
};

struct py_objects_reader {
	/* Borrowed. */
	const struct py_layout *layout;
	const struct py_objects *at;
	const struct py_memory *memory;
	struct py_type types[PY_TYPES_KEPT];
	size_t type_count;
};

#define PY_OBJECTS_INIT(layout_, at_, memory_) \
	{ .layout = (layout_), .at = (at_), .memory = (memory_) }

/* Include/object.h: bits of tp_flags; those of built-in types hold for subclasses. */
#define PY_TYPE_IMMUTABLE (1u << 8)
#define PY_TYPE_HEAP	  (1u << 9)
#define PY_TYPE_INT	  (1u << 24)
#define PY_TYPE_LIST	  (1u << 25)
#define PY_TYPE_TUPLE	  (1u << 26)
#define PY_TYPE_BYTES	  (1u << 27)
#define PY_TYPE_TEXT	  (1u << 28)
#define PY_TYPE_DICT	  (1u << 29)
#define PY_TYPE_ERROR	  (1u << 30)
#define PY_TYPE_TYPE	  (1u << 31)

bool py_read_bytes(const struct py_objects_reader *r, uint64_t address,
		   void *buf, size_t size);
/* The type of an object. */
bool py_type_of(struct py_objects_reader *r, uint64_t object,
		struct py_type *ret);
/* The type at an address. */
bool py_type_at(struct py_objects_reader *r, uint64_t address,
		struct py_type *ret);
/*
 * A `class` statement has made it, or what does the same. Not all other heap types can
 * be told from these: up to 3.9 none of them, later those that may be changed.
 */
bool py_type_is_class(const struct py_type *type);
/* A C string; what is longer, or cannot be read, is cut off. */
bool py_string_read(const struct py_objects_reader *r, uint64_t address,
		    char ret[PY_TYPE_NAME_MAX]);
/* The name of a type, as its tp_name. */
bool py_type_name(const struct py_objects_reader *r, uint64_t type,
		  char ret[PY_TYPE_NAME_MAX]);

bool py_read_pointer(const struct py_objects_reader *r, uint64_t address,
		     uint64_t *ret);

/* Where the fields of an object begin: its head ends with the pointer to its type. */
static inline uint64_t py_behind_head(const struct py_objects_reader *r,
				      uint64_t object)
{
	return object + r->layout->object_type + sizeof(uint64_t);
}

/* A table of keys with their values: a dict, or the attributes of an instance. */
struct py_dict {
	/* The entries; 24 bytes each (hash, key, value) or 16 (key, value). */
	uint64_t entries;
	uint32_t entry_size;
	uint32_t count;
	/* There are more entries than that. */
	bool is_cut;
	/* The values, where they stand apart; else 0. */
	uint64_t values;
};

struct py_dict_entry {
	uint32_t index;
	/* Of the key; 0 where the table does not keep it. */
	uint64_t hash;
	uint64_t key;
	/* Never 0: what was deleted is passed over. */
	uint64_t value;
};

/* Of one with more than PY_DICT_MAX entries it is false. */
bool py_dict_open(struct py_objects_reader *r, uint64_t object,
		  struct py_dict *ret);
/* Of an object whose type has PY_TYPE_DICT, which is not asked; the first of many entries. */
bool py_dict_open_base(const struct py_objects_reader *r, uint64_t object,
		       struct py_dict *ret);
/* Calls fn for each entry, in order, until it returns false. */
bool py_dict_each(const struct py_objects_reader *r, const struct py_dict *dict,
		  bool (*fn)(void *arg, const struct py_dict_entry *entry),
		  void *arg);
bool py_dict_at(const struct py_objects_reader *r, const struct py_dict *dict,
		uint32_t index, struct py_dict_entry *ret);
/*
 * The value of a key that is an ASCII str. *hint is where it is looked for first,
 * and where it was found; anything to begin with. May be NULL.
 */
bool py_dict_find(struct py_objects_reader *r, const struct py_dict *dict,
		  const char *name, uint32_t *hint, uint64_t *ret);

/* The attributes of an instance of a class, those in its __dict__. */
bool py_instance_attributes(struct py_objects_reader *r, uint64_t object,
			    struct py_dict *ret);
/* The attributes of a module. */
bool py_module_attributes(struct py_objects_reader *r, uint64_t module,
			  struct py_dict *ret);

/*
 * Appends a str (2.7: or a unicode object) as UTF-8 without control characters
 * (python/code_name.h); the rest of more than `max` bytes is "...".
 */
bool py_text_read(struct py_objects_reader *r, uint64_t object, size_t max,
		  struct strbuf *out);
/* Of such a type it is: a long of C, as most ints of 2.7 are. */
bool py_int_is_plain(const struct py_objects_reader *r,
		     const struct py_type *type);
/* An int below 2^60. */
bool py_int_read(struct py_objects_reader *r, uint64_t object, int64_t *ret);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "python/object.h"

#include <string.h>

#include "python/code_name.h"

enum {
	/* Bytes of entries, and of values, that are read at a time. */
	CHUNK = 64,
	/* Of a key that is looked for, and characters of a text. */
	NAME_MAX_BYTES = 64,
	/* Bytes of an index table, and how many indices. */
	INDEX_LOG2_MAX = 40,
};

/* Include/object.h: more bits of tp_flags. */
#define TYPE_INLINE_VALUES (1u << 2)
#define TYPE_MANAGED_DICT  (1u << 4)
/* 2.7 */
#define TYPE_PLAIN_INT (1u << 23)

/* pycore_dict.h */
#define DICT_KEYS_GENERAL 0
#define DICT_KEYS_SPLIT	  2

bool py_read_bytes(const struct py_objects_reader *r, uint64_t address,
		   void *buf, size_t size)
{
	return address >= 4096 && address + size > address &&
	       r->memory->read(r->memory->arg, address, buf, size);
}

static bool read_half(const struct py_objects_reader *r, uint64_t address,
		      uint32_t *ret)
{
	return py_read_bytes(r, address, ret, sizeof(*ret));
}

static bool read_byte(const struct py_objects_reader *r, uint64_t address,
		      uint8_t *ret)
{
	return py_read_bytes(r, address, ret, sizeof(*ret));
}

bool py_read_pointer(const struct py_objects_reader *r, uint64_t address,
		     uint64_t *ret)
{
	return py_read_bytes(r, address, ret, sizeof(*ret));
}

/* --- Types -------------------------------------------------------------- */

static const struct py_type *type_at(struct py_objects_reader *r,
				     uint64_t address)
{
	struct py_type type = { .address = address };

	for (size_t i = 0; i < r->type_count && i < PY_TYPES_KEPT; i++)
		if (r->types[i].address == address)
			return &r->types[i];
	if (!py_read_bytes(r, address + r->at->type_flags, &type.flags,
			sizeof(type.flags)) ||
	    !py_read_bytes(r, address + r->at->type_basic_size, &type.basic_size,
			sizeof(type.basic_size)) ||
	    !py_read_bytes(r, address + r->at->type_dict_offset, &type.dict_offset,
			sizeof(type.dict_offset)))
		return NULL;
	r->types[r->type_count % PY_TYPES_KEPT] = type;
	return &r->types[r->type_count++ % PY_TYPES_KEPT];
}

/* NULL: none. Valid until the next call. */
static const struct py_type *type_of(struct py_objects_reader *r,
				     uint64_t object)
{
	uint64_t address;

	if (!py_read_pointer(r, object + r->layout->object_type, &address))
		return NULL;
	return type_at(r, address);
}

bool py_type_of(struct py_objects_reader *r, uint64_t object,
		struct py_type *ret)
{
	const struct py_type *type = type_of(r, object);

	if (!type)
		return false;
	*ret = *type;
	return true;
}

bool py_type_at(struct py_objects_reader *r, uint64_t address,
		struct py_type *ret)
{
	const struct py_type *type = type_at(r, address);

	if (!type)
		return false;
	*ret = *type;
	return true;
}

bool py_type_is_class(const struct py_type *type)
{
	return (type->flags & (PY_TYPE_HEAP | PY_TYPE_IMMUTABLE)) ==
	       PY_TYPE_HEAP;
}

bool py_string_read(const struct py_objects_reader *r, uint64_t address,
		    char ret[PY_TYPE_NAME_MAX])
{
	/* The text may end just before what cannot be read. */
	for (size_t size = PY_TYPE_NAME_MAX; size; size /= 2) {
		if (!py_read_bytes(r, address, ret, size))
			continue;
		ret[size - 1] = '\0';
		return true;
	}
	return false;
}

bool py_type_name(const struct py_objects_reader *r, uint64_t type,
		  char ret[PY_TYPE_NAME_MAX])
{
	uint64_t address;

	return py_read_pointer(r, type + r->layout->type_name, &address) &&
	       py_string_read(r, address, ret);
}

static bool is_builtin(const struct py_type *type, uint64_t flag)
{
	return type && (type->flags & flag) && !(type->flags & PY_TYPE_HEAP);
}

/* --- Dicts -------------------------------------------------------------- */

/* Bytes of an index up to 3.10, by the number of indices (DK_IXSIZE). */
static uint64_t index_bytes(uint64_t size)
{
	if (size <= 0xff)
		return 1;
	if (size <= 0xffff)
		return 2;
	return size <= 0xffffffff ? 4 : 8;
}

/* How many bytes of indices stand before the entries; 0: no such table. */
static uint64_t read_index_size(const struct py_objects_reader *r,
				uint64_t keys)
{
	const struct py_objects *at = r->at;
	uint64_t size;
	uint8_t log2;

	if (at->keys_size == PY_ABSENT)
		return read_byte(r, keys + at->keys_log2_index_bytes, &log2) &&
				       log2 <= INDEX_LOG2_MAX ?
			       UINT64_C(1) << log2 :
			       0;
	if (!py_read_pointer(r, keys + at->keys_size, &size) ||
	    size > UINT64_C(1) << INDEX_LOG2_MAX || (size & (size - 1)))
		return 0;
	return size * index_bytes(size);
}

/* count: of entries. */
static void take_count(struct py_dict *dict, uint64_t count)
{
	dict->is_cut = count > PY_DICT_MAX;
	dict->count = dict->is_cut ? PY_DICT_MAX : (uint32_t)count;
}

static bool open_keys(const struct py_objects_reader *r, uint64_t keys,
		      struct py_dict *ret)
{
	const struct py_objects *at = r->at;
	uint64_t indices = read_index_size(r, keys);
	uint8_t kind = DICT_KEYS_GENERAL;
	uint64_t count;

	if (!indices || !py_read_pointer(r, keys + at->keys_entries, &count) ||
	    count > indices)
		return false;
	if (at->keys_kind != PY_ABSENT &&
	    (!read_byte(r, keys + at->keys_kind, &kind) ||
	     kind > DICT_KEYS_SPLIT))
		return false;
	*ret = (struct py_dict){
		.entries = keys + at->keys_indices + indices,
		.entry_size = kind == DICT_KEYS_GENERAL ? 24 : 16,
	};
	take_count(ret, count);
	return true;
}

/* 2.7: a table with gaps, whose entries are as those of others. */
static bool open_table(const struct py_objects_reader *r, uint64_t object,
		       struct py_dict *ret)
{
	uint64_t entries, mask;

	if (!py_read_pointer(r, object + r->at->dict_keys, &entries) ||
	    !py_read_pointer(r, object + r->at->dict_mask, &mask) ||
	    mask == UINT64_MAX)
		return false;
	*ret = (struct py_dict){ .entries = entries, .entry_size = 24 };
	take_count(ret, mask + 1);
	return true;
}

bool py_dict_open_base(const struct py_objects_reader *r, uint64_t object,
		       struct py_dict *ret)
{
	uint64_t keys, values;
	struct py_dict dict;

	if (r->at->dict_mask != PY_ABSENT)
		return open_table(r, object, ret);
	if (!py_read_pointer(r, object + r->at->dict_keys, &keys) ||
	    !py_read_pointer(r, object + r->at->dict_values, &values) ||
	    !open_keys(r, keys, &dict))
		return false;
	if (values)
		dict.values = values + r->at->values_first;
	*ret = dict;
	return true;
}

bool py_dict_open(struct py_objects_reader *r, uint64_t object,
		  struct py_dict *ret)
{
	struct py_dict dict;

	if (!is_builtin(type_of(r, object), PY_TYPE_DICT) ||
	    !py_dict_open_base(r, object, &dict) || dict.is_cut)
		return false;
	*ret = dict;
	return true;
}

/* Entries from `first` on, at most CHUNK, into buf; values apart likewise. */
static bool read_entries(const struct py_objects_reader *r,
			 const struct py_dict *dict, uint32_t first, size_t n,
			 uint64_t *entries, uint64_t *values)
{
	uint64_t at = dict->entries + (uint64_t)first * dict->entry_size;

	if (!py_read_bytes(r, at, entries, n * dict->entry_size))
		return false;
	return !dict->values ||
	       py_read_bytes(r, dict->values + (uint64_t)first * 8, values, n * 8);
}

/* Entry i of what read_entries() gave. */
static struct py_dict_entry take_entry(const struct py_dict *dict,
				       const uint64_t *entries,
				       const uint64_t *values, size_t i)
{
	size_t words = dict->entry_size / 8;
	const uint64_t *entry = entries + i * words;

	return (struct py_dict_entry){
		.hash = words == 3 ? entry[0] : 0,
		.key = entry[words - 2],
		.value = dict->values ? values[i] : entry[words - 1],
	};
}

bool py_dict_each(const struct py_objects_reader *r, const struct py_dict *dict,
		  bool (*fn)(void *arg, const struct py_dict_entry *entry),
		  void *arg)
{
	uint64_t entries[CHUNK * 3], values[CHUNK];

	for (uint32_t first = 0; first < dict->count; first += CHUNK) {
		size_t n = dict->count - first;

		if (n > CHUNK)
			n = CHUNK;
		if (!read_entries(r, dict, first, n, entries, values))
			return false;
		for (size_t i = 0; i < n; i++) {
			struct py_dict_entry entry =
				take_entry(dict, entries, values, i);

			entry.index = first + (uint32_t)i;
			if (entry.key && entry.value && !fn(arg, &entry))
				return true;
		}
	}
	return true;
}

bool py_dict_at(const struct py_objects_reader *r, const struct py_dict *dict,
		uint32_t index, struct py_dict_entry *ret)
{
	uint64_t entries[3], values[1];
	struct py_dict_entry entry;

	if (index >= dict->count ||
	    !read_entries(r, dict, index, 1, entries, values))
		return false;
	entry = take_entry(dict, entries, values, 0);
	entry.index = index;
	if (!entry.key || !entry.value)
		return false;
	*ret = entry;
	return true;
}

/* --- Text --------------------------------------------------------------- */

struct text_head {
	uint64_t length;
	uint32_t state;
};

static bool read_text_head(struct py_objects_reader *r, uint64_t object,
			   struct text_head *ret)
{
	return py_read_pointer(r, object + r->layout->text_length,
			       &ret->length) &&
	       read_half(r, object + r->layout->text_state, &ret->state) &&
	       (ret->state & r->layout->text_compact_mask) &&
	       is_builtin(type_of(r, object), PY_TYPE_TEXT);
}

/* 2.7: of what is written without a prefix, a str, which is bytes. */
static bool bytes_equal(struct py_objects_reader *r, uint64_t object,
			const char *name, size_t n)
{
	char bytes[NAME_MAX_BYTES];
	uint64_t size;

	return py_read_pointer(r, object + r->layout->bytes_size, &size) &&
	       size == n && is_builtin(type_of(r, object), PY_TYPE_BYTES) &&
	       py_read_bytes(r, object + r->layout->bytes_data, bytes, n) &&
	       !memcmp(bytes, name, n);
}

static bool text_equals(struct py_objects_reader *r, uint64_t object,
			const char *name, size_t n)
{
	char bytes[NAME_MAX_BYTES];
	struct text_head head;

	if (r->layout->flags & PY_BYTE_TEXTS)
		return bytes_equal(r, object, name, n);
	return py_read_pointer(r, object + r->layout->text_length,
			       &head.length) &&
	       head.length == n && read_text_head(r, object, &head) &&
	       (head.state & r->layout->text_ascii_mask) &&
	       py_read_bytes(r, object + r->layout->text_ascii_data, bytes, n) &&
	       !memcmp(bytes, name, n);
}

static bool read_text(struct py_objects_reader *r, uint64_t object, size_t max,
		      struct strbuf *out)
{
	const struct py_layout *l = r->layout;
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct text_head head;
	uint64_t kind, size, data = object;

	if (!read_text_head(r, object, &head))
		return false;
	kind = head.state >> l->text_kind_shift & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return false;
	data += head.state & l->text_ascii_mask ? l->text_ascii_data :
						  l->text_compact_data;
	/* One character too many is enough to tell that there are more. */
	size = (head.length <= max ? head.length : max + 1) * kind;
	if (size && (!strbuf_reserve(&bytes, size) ||
		     !py_read_bytes(r, data, bytes.data, size)))
		return false;
	py_text_append_max(out, (struct bytes){ (const uint8_t *)bytes.data, size },
			   (unsigned int)kind, max);
	return !out->failed;
}

/* 2.7: a str, which should be UTF-8, or a unicode object. */
static bool read_old_text(struct py_objects_reader *r, uint64_t object,
			  size_t max, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	const struct py_layout *l = r->layout;
	const struct py_type *type = type_of(r, object);
	bool is_wide = is_builtin(type, PY_TYPE_TEXT);
	uint64_t width = is_wide ? l->unicode_width : 1;
	uint64_t length, size, data = object + l->bytes_data;
	struct bytes text;

	if ((!is_wide && !is_builtin(type, PY_TYPE_BYTES)) || width > 4 ||
	    !py_read_pointer(r, object + l->text_length, &length) ||
	    (is_wide &&
	     !py_read_pointer(r, object + l->text_data_pointer, &data)))
		return false;
	size = (length <= max ? length : max + 1) * width;
	if (size && (!strbuf_reserve(&bytes, size) ||
		     !py_read_bytes(r, data, bytes.data, size)))
		return false;
	text = (struct bytes){ (const uint8_t *)bytes.data, size };
	if (is_wide)
		py_text_append_max(out, text, (unsigned int)width, max);
	else
		py_text_append_utf8(out, text, max);
	return !out->failed;
}

bool py_text_read(struct py_objects_reader *r, uint64_t object, size_t max,
		  struct strbuf *out)
{
	if (r->layout->flags & PY_BYTE_TEXTS)
		return read_old_text(r, object, max, out);
	return read_text(r, object, max, out);
}

/* --- Look-ups ----------------------------------------------------------- */

struct find {
	struct py_objects_reader *r;
	const char *name;
	size_t n;
	struct py_dict_entry found;
};

static bool is_other(struct find *find, const struct py_dict_entry *entry)
{
	if (!text_equals(find->r, entry->key, find->name, find->n))
		return true;
	find->found = *entry;
	return false;
}

/*
 * Marks the keys that may have the name, by their lengths alone, which are read all
 * at once: most differ there. What could not be read is left to the look itself.
 */
static void mark_likely(const struct find *find,
			const struct py_dict_entry *entries, size_t n,
			bool likely[CHUNK])
{
	const struct py_objects_reader *r = find->r;
	uint64_t addresses[CHUNK], lengths[CHUNK];
	size_t got;

	for (size_t i = 0; i < n; i++) {
		addresses[i] = entries[i].key + r->layout->text_length;
		likely[i] = true;
	}
	if (!r->memory->read_words)
		return;
	got = r->memory->read_words(r->memory->arg, addresses, n, lengths);
	for (size_t i = 0; i < got; i++)
		likely[i] = lengths[i] == find->n;
}

/* False: the name is among those entries, or they cannot be read. */
static bool pass_chunk(struct find *find, const struct py_dict *dict,
		       uint32_t first, size_t n, bool *readable)
{
	uint64_t words[CHUNK * 3], values[CHUNK];
	struct py_dict_entry entries[CHUNK];
	bool likely[CHUNK];
	size_t count = 0;

	*readable = read_entries(find->r, dict, first, n, words, values);
	if (!*readable)
		return false;
	for (size_t i = 0; i < n; i++) {
		entries[count] = take_entry(dict, words, values, i);
		entries[count].index = first + (uint32_t)i;
		count += entries[count].key && entries[count].value;
	}
	mark_likely(find, entries, count, likely);
	for (size_t i = 0; i < count; i++)
		if (likely[i] && !is_other(find, &entries[i]))
			return false;
	return true;
}

/* False: it is not there, or not all of the table can be read. */
static bool find_in_table(struct find *find, const struct py_dict *dict)
{
	bool readable = true;

	for (uint32_t first = 0; first < dict->count; first += CHUNK) {
		size_t n = dict->count - first;

		if (!pass_chunk(find, dict, first, n < CHUNK ? n : CHUNK,
				&readable))
			break;
	}
	return readable && find->found.value;
}

bool py_dict_find(struct py_objects_reader *r, const struct py_dict *dict,
		  const char *name, uint32_t *hint, uint64_t *ret)
{
	struct find find = { .r = r, .name = name, .n = strlen(name) };
	struct py_dict_entry entry;

	if (find.n > NAME_MAX_BYTES)
		return false;
	if (hint && py_dict_at(r, dict, *hint, &entry) &&
	    !is_other(&find, &entry)) {
		*ret = entry.value;
		return true;
	}
	if (!find_in_table(&find, dict))
		return false;
	if (hint)
		*hint = find.found.index;
	*ret = find.found.value;
	return true;
}

/* --- Instances ---------------------------------------------------------- */

/* Values beside the keys that all instances of the type share. */
static bool open_shared(const struct py_objects_reader *r, uint64_t type,
			uint64_t values, struct py_dict *ret)
{
	struct py_dict dict;
	uint64_t keys;

	if (!py_read_pointer(r, type + r->at->type_cached_keys, &keys) ||
	    !open_keys(r, keys, &dict) || dict.is_cut)
		return false;
	dict.values = values + r->at->values_first;
	*ret = dict;
	return true;
}

/* 3.13 on: struct _dictvalues, of which four bytes stand before the values. */
static bool open_inline(const struct py_objects_reader *r, uint64_t object,
			const struct py_type *type, struct py_dict *ret)
{
	enum { CAPACITY, SIZE, EMBEDDED, VALID, HEAD };
	uint64_t values = object + (uint64_t)type->basic_size;
	uint8_t head[HEAD];
	struct py_dict dict;

	if (!(type->flags & TYPE_INLINE_VALUES) || type->basic_size <= 0 ||
	    !py_read_bytes(r, values, head, sizeof(head)) || head[VALID] != 1 ||
	    !open_shared(r, type->address, values, &dict))
		return false;
	if (dict.count > head[CAPACITY])
		dict.count = head[CAPACITY];
	*ret = dict;
	return true;
}

/* 3.11 on: pointers before the object. */
static bool open_managed(struct py_objects_reader *r, uint64_t object,
			 const struct py_type *type, struct py_dict *ret)
{
	const struct py_objects *at = r->at;
	uint64_t address = type->address, place, values;

	if (at->before_values != PY_ABSENT) {
		if (!py_read_pointer(r, object - at->before_values, &values))
			return false;
		if (values)
			return open_shared(r, address, values, ret);
	}
	if (!py_read_pointer(r, object - at->before_dict, &place))
		return false;
	/* 3.12: an odd pointer is one to the values, less 1. */
	if (place & 1)
		return open_shared(r, address, place + 1, ret);
	return place ? py_dict_open(r, place, ret) :
		       open_inline(r, object, type, ret);
}

/*
 * Where an object has the pointer to its dict. Up to 3.11 a negative offset counts from
 * the end of objects of any length, such as those of classes that are derived from int.
 */
static bool dict_place(const struct py_objects_reader *r, uint64_t object,
		       const struct py_type *type, uint64_t *ret)
{
	uint64_t item_size, count, size;

	if (type->dict_offset > 0 && type->dict_offset < PY_OFFSET_MAX) {
		*ret = object + (uint64_t)type->dict_offset;
		return true;
	}
	if (PY_MINOR(r->layout->version) > 11 || type->dict_offset != -8 ||
	    /* tp_itemsize is behind tp_basicsize. */
	    !py_read_pointer(r, type->address + r->at->type_basic_size + 8,
			     &item_size) ||
	    !py_read_pointer(r, object + r->layout->bytes_size, &count))
		return false;
	if ((int64_t)count < 0)
		count = -count;
	if (item_size >= PY_OFFSET_MAX || count >= UINT32_MAX ||
	    type->basic_size < 0 || type->basic_size >= PY_OFFSET_MAX)
		return false;
	size = (uint64_t)type->basic_size + count * item_size;
	*ret = object + ((size + 7) & ~UINT64_C(7)) - 8;
	return true;
}

bool py_instance_attributes(struct py_objects_reader *r, uint64_t object,
			    struct py_dict *ret)
{
	const struct py_type *found = type_of(r, object);
	struct py_type type;
	uint64_t dict;

	if (!found)
		return false;
	type = *found;
	if (r->at->before_dict != PY_ABSENT && (type.flags & TYPE_MANAGED_DICT))
		return open_managed(r, object, &type, ret);
	return dict_place(r, object, &type, &dict) &&
	       py_read_pointer(r, dict, &dict) && py_dict_open(r, dict, ret);
}

bool py_module_attributes(struct py_objects_reader *r, uint64_t module,
			  struct py_dict *ret)
{
	uint64_t dict;

	return py_read_pointer(r, module + r->at->module_dict, &dict) &&
	       py_dict_open(r, dict, ret);
}

/* --- Integers ----------------------------------------------------------- */

/* The number of digits, negative of a negative int. */
static int64_t int_digits(const struct py_objects_reader *r, uint64_t size)
{
	/* pycore_long.h: two bits are 0 positive, 1 zero, 2 negative. */
	uint64_t sign = size & 3;

	if (PY_MINOR(r->layout->version) < 12)
		return (int64_t)size;
	if (sign == 1)
		return 0;
	return sign ? -(int64_t)(size >> 3) : (int64_t)(size >> 3);
}

/* 2.7: an int that is a long of C. */
bool py_int_is_plain(const struct py_objects_reader *r,
		     const struct py_type *type)
{
	return r->at->int_plain != PY_ABSENT && (type->flags & TYPE_PLAIN_INT);
}

bool py_int_read(struct py_objects_reader *r, uint64_t object, int64_t *ret)
{
	const struct py_type *type = type_of(r, object);
	uint32_t digits[2] = {};
	uint64_t size;
	int64_t count, value;

	if (type && py_int_is_plain(r, type))
		return !(type->flags & PY_TYPE_HEAP) &&
		       py_read_bytes(r, object + r->at->int_plain, ret,
				     sizeof(*ret));
	if (!is_builtin(type, PY_TYPE_INT) ||
	    !py_read_pointer(r, object + r->at->int_size, &size))
		return false;
	count = int_digits(r, size);
	if (count < -2 || count > 2)
		return false;
	if (count && !py_read_bytes(r, object + r->at->int_digits, digits,
				 (size_t)(count < 0 ? -count : count) * 4))
		return false;
	if ((digits[0] | digits[1]) >> 30)
		return false;
	value = (int64_t)((uint64_t)digits[1] << 30 | digits[0]);
	*ret = count < 0 ? -value : value;
	return true;
}

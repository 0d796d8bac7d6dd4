// SPDX-License-Identifier: GPL-2.0-only
#include "python/object_text.h"

#include <inttypes.h>
#include <string.h>

#include "obj/elf_symbols.h"
#include "python/code_name.h"
#include "python/double_text.h"
#include "python/library_text.h"
#include "python/releases.h"
#include "python/object_slots.h"

enum {
	/* Containers within each other, and items of one, that are shown. */
	DEPTH_MAX = 3,
	ITEMS_MAX = 6,
	/* Bytes of an item. */
	ITEM_MAX = 60,
	/* Entries of a table that are looked at for items. */
	TABLE_MAX = 4096,
	/* Digits of 30 bits: 4,300 decimal digits, as many as Python prints. */
	DIGITS_MAX = 477,
	BILLION = 1000000000,
	/* Classes between a class and the built-in one that it is derived from. */
	BASES_MAX = 16,
};

/* A value that is being put into words. */
struct put {
	struct py_value_reader *v;
	struct strbuf *out;
	/* The containers that it is in. */
	uint64_t within[DEPTH_MAX];
	int depth;
};

static void put_value(struct put *p, uint64_t object, size_t max);

/* --- the interpreter's own objects --- */

void py_builtins_find(struct elf_file *file, uint64_t bias,
		      struct py_builtins *ret)
{
	const struct {
		const char *name;
		uint64_t *address;
	} symbols[] = {
		{ "_Py_NoneStruct", &ret->none },
		{ "_Py_TrueStruct", &ret->yes },
		{ "_Py_FalseStruct", &ret->no },
		/* 2.7's name of it. */
		{ "_Py_ZeroStruct", &ret->no },
		{ "_Py_EllipsisObject", &ret->ellipsis },
		{ "PyFloat_Type", &ret->float_type },
		{ "PySet_Type", &ret->set_type },
		{ "PyFrozenSet_Type", &ret->frozenset_type },
		{ "PyCell_Type", &ret->cell_type },
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		struct elf_symbol symbol;
		struct error *error = elf_file_find_symbol(
			file, symbols[i].name, &symbol);

		if (!error)
			*symbols[i].address = symbol.vaddr + bias;
		error_destroy(error);
	}
}

/* --- pieces --- */

/* 2.7: a str is bytes, and what repr() says is otherwise, too. */
static bool is_old(const struct put *p)
{
	return p->v->objects->layout->version < PY_SERIES_3;
}

static void put_unreadable(struct put *p)
{
	strbuf_puts(p->out, "<unreadable>");
}

/* Cuts what was put since `start` to max bytes, between characters. */
static void cut(struct put *p, size_t start, size_t max)
{
	size_t end = start + max - 3;

	if (p->out->len - start <= max)
		return;
	while (end > start && ((uint8_t)p->out->data[end] & 0xc0) == 0x80)
		end--;
	strbuf_truncate(p->out, end);
	strbuf_puts(p->out, "...");
}

static bool read_size(const struct put *p, uint64_t object, uint64_t *ret)
{
	const struct py_objects_reader *r = p->v->objects;

	return py_read_pointer(r, object + r->layout->bytes_size, ret);
}

static void put_name(struct put *p, const char *name)
{
	py_text_append_utf8(p->out,
			    (struct bytes){ (const uint8_t *)name, strlen(name) },
			    PY_TYPE_NAME_MAX);
}

static void put_type_name(struct put *p, uint64_t type)
{
	char name[PY_TYPE_NAME_MAX] = "?";

	py_type_name(p->v->objects, type, name);
	put_name(p, name);
}

/* --- numbers --- */

static bool int_size(const struct put *p, uint64_t object, uint64_t *count,
		     bool *negative)
{
	const struct py_objects_reader *r = p->v->objects;
	uint64_t size;

	if (!py_read_pointer(r, object + r->at->int_size, &size))
		return false;
	if (PY_MINOR(r->layout->version) < 12) {
		*negative = (int64_t)size < 0;
		*count = *negative ? -size : size;
		return true;
	}
	/* pycore_long.h: two bits are 0 positive, 1 zero, 2 negative. */
	*negative = (size & 3) == 2;
	*count = (size & 3) == 1 ? 0 : size >> 3;
	return true;
}

/* Divides the number by a billion; returns the rest. */
static uint32_t divide(uint32_t *digits, size_t *count)
{
	uint64_t rest = 0;

	for (size_t i = *count; i-- > 0;) {
		uint64_t part = rest << 30 | digits[i];

		digits[i] = (uint32_t)(part / BILLION);
		rest = part % BILLION;
	}
	while (*count && !digits[*count - 1])
		(*count)--;
	return (uint32_t)rest;
}

static void put_decimal(struct put *p, uint32_t *digits, size_t count,
			bool negative)
{
	uint32_t parts[DIGITS_MAX + 1];
	size_t n = 0;

	do {
		parts[n++] = divide(digits, &count);
	} while (count && n < DIGITS_MAX);
	strbuf_printf(p->out, "%s%" PRIu32, negative ? "-" : "", parts[n - 1]);
	while (--n)
		strbuf_printf(p->out, "%09" PRIu32, parts[n - 1]);
}

static void put_plain_int(struct put *p, uint64_t object)
{
	const struct py_objects_reader *r = p->v->objects;
	int64_t value;

	if (py_read_bytes(r, object + r->at->int_plain, &value, sizeof(value)))
		strbuf_printf(p->out, "%" PRId64, value);
	else
		put_unreadable(p);
}

static void put_int(struct put *p, uint64_t object)
{
	const struct py_objects_reader *r = p->v->objects;
	uint32_t digits[DIGITS_MAX];
	uint64_t count;
	bool negative;

	if (!int_size(p, object, &count, &negative)) {
		put_unreadable(p);
		return;
	}
	if (count > DIGITS_MAX) {
		strbuf_printf(p->out, "<%sint of about %" PRIu64 " bits>",
			      negative ? "negative " : "", count * 30);
		return;
	}
	if (count && !py_read_bytes(r, object + r->at->int_digits, digits,
				    count * sizeof(digits[0]))) {
		put_unreadable(p);
		return;
	}
	for (size_t i = 0; i < count; i++)
		digits[i] &= (1u << 30) - 1;
	put_decimal(p, digits, count, negative);
	if (is_old(p))
		strbuf_putc(p->out, 'L');
}

static void put_float(struct put *p, uint64_t object)
{
	double value;

	if (py_read_bytes(p->v->objects, object + p->v->at->float_value, &value,
			  sizeof(value)))
		py_double_put(p->out, value);
	else
		put_unreadable(p);
}

/* --- texts and bytes --- */

struct text {
	uint32_t kind;
	uint64_t length;
	uint64_t data;
};

static bool open_text(const struct put *p, uint64_t object, struct text *ret)
{
	const struct py_objects_reader *r = p->v->objects;
	const struct py_layout *l = r->layout;
	uint32_t state;

	if (is_old(p)) {
		ret->kind = l->unicode_width;
		return (ret->kind == 2 || ret->kind == 4) &&
		       py_read_pointer(r, object + l->text_length,
				       &ret->length) &&
		       py_read_pointer(r, object + l->text_data_pointer,
				       &ret->data);
	}
	if (!py_read_pointer(r, object + l->text_length, &ret->length) ||
	    !py_read_bytes(r, object + l->text_state, &state, sizeof(state)))
		return false;
	ret->kind = state >> l->text_kind_shift & 7;
	if (ret->kind != 1 && ret->kind != 2 && ret->kind != 4)
		return false;
	if (!(state & l->text_compact_mask))
		return py_read_pointer(r, object + l->text_data_pointer,
				       &ret->data);
	ret->data = object + (state & l->text_ascii_mask ?
				      l->text_ascii_data :
				      l->text_compact_data);
	return true;
}

static uint32_t character_at(const uint8_t *bytes, uint32_t kind, size_t i)
{
	uint32_t c = 0;

	memcpy(&c, bytes + i * kind, kind);
	return c;
}

/* As repr() chooses it. */
static char quote_of(const uint8_t *bytes, uint32_t kind, size_t n)
{
	bool one = false, two = false;

	for (size_t i = 0; i < n; i++) {
		uint32_t c = character_at(bytes, kind, i);

		one |= c == '\'';
		two |= c == '"';
	}
	return one && !two ? '"' : '\'';
}

static void put_character(struct strbuf *out, uint32_t c, char quote)
{
	if (c == '\n' || c == '\r' || c == '\t')
		strbuf_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
	else if (c == '\\' || c == (uint32_t)quote)
		strbuf_printf(out, "\\%c", (char)c);
	else if (c == 0xa0 || c == 0xad)
		strbuf_printf(out, "\\x%02x", c);
	else
		py_text_append(out, (struct bytes){ (const uint8_t *)&c, 4 }, 4);
}

static void put_characters(struct put *p, const uint8_t *bytes, uint32_t kind,
			   size_t n, bool is_cut)
{
	char quote = quote_of(bytes, kind, n);

	strbuf_putc(p->out, quote);
	for (size_t i = 0; i < n; i++)
		put_character(p->out, character_at(bytes, kind, i), quote);
	if (is_cut)
		strbuf_puts(p->out, "...");
	else
		strbuf_putc(p->out, quote);
}

static void put_text(struct put *p, uint64_t object, size_t max)
{
	uint8_t bytes[PY_VALUE_MAX * 4];
	struct text text;
	size_t n;

	if (!open_text(p, object, &text)) {
		put_unreadable(p);
		return;
	}
	if (is_old(p))
		strbuf_putc(p->out, 'u');
	n = text.length < max ? text.length : max;
	if (n && !py_read_bytes(p->v->objects, text.data, bytes, n * text.kind))
		put_unreadable(p);
	else
		put_characters(p, bytes, text.kind, n, n < text.length);
}

/* Those at an address, in quotes. */
static void put_bytes_at(struct put *p, uint64_t address, uint64_t size,
			 size_t max)
{
	uint8_t bytes[PY_VALUE_MAX];
	size_t n = size < max ? size : max;
	char quote;

	if (n && !py_read_bytes(p->v->objects, address, bytes, n)) {
		put_unreadable(p);
		return;
	}
	quote = quote_of(bytes, 1, n);
	if (!is_old(p))
		strbuf_putc(p->out, 'b');
	strbuf_putc(p->out, quote);
	for (size_t i = 0; i < n; i++)
		if (bytes[i] >= 0x7f)
			strbuf_printf(p->out, "\\x%02x", bytes[i]);
		else
			put_character(p->out, bytes[i], quote);
	if (n < size)
		strbuf_puts(p->out, "...");
	else
		strbuf_putc(p->out, quote);
}

static void put_bytes(struct put *p, uint64_t object, size_t max)
{
	uint64_t size;

	if (read_size(p, object, &size))
		put_bytes_at(p, object + p->v->objects->layout->bytes_data, size,
			     max);
	else
		put_unreadable(p);
}

/* PyByteArrayObject: ob_alloc, ob_bytes and ob_start are behind the size. */
static bool put_bytearray(struct put *p, uint64_t object, size_t max)
{
	const struct py_objects_reader *r = p->v->objects;
	uint64_t words[4];

	if (!py_read_bytes(r, py_behind_head(r, object), words, sizeof(words)))
		return false;
	strbuf_puts(p->out, "bytearray(");
	put_bytes_at(p, words[3], words[0], max);
	strbuf_putc(p->out, ')');
	return true;
}

/* --- containers --- */

static bool is_within(const struct put *p, uint64_t object)
{
	for (int i = 0; i < p->depth; i++)
		if (p->within[i] == object)
			return true;
	return false;
}

/* False: it is too deep, or within itself, and said to be so. */
static bool enter(struct put *p, uint64_t object, const char *inside)
{
	if (p->depth == DEPTH_MAX || is_within(p, object)) {
		strbuf_puts(p->out, inside);
		return false;
	}
	p->within[p->depth++] = object;
	return true;
}

static void put_separator(struct put *p, size_t i)
{
	if (i)
		strbuf_puts(p->out, ", ");
}

/* After the items that are shown: that there are more, and how many in all. */
static void put_rest(struct put *p, uint64_t shown, uint64_t count)
{
	if (shown < count)
		strbuf_printf(p->out, "%s...%" PRIu64 " in all", shown ? ", " : "",
			      count);
}

static void put_pointers(struct put *p, uint64_t items, uint64_t count)
{
	uint64_t n = count < ITEMS_MAX ? count : ITEMS_MAX, item;

	for (uint64_t i = 0; i < n; i++) {
		put_separator(p, i);
		if (py_read_pointer(p->v->objects, items + i * 8, &item))
			put_value(p, item, ITEM_MAX);
		else
			put_unreadable(p);
	}
	put_rest(p, n, count);
}

static void put_tuple(struct put *p, uint64_t object)
{
	uint64_t count;

	if (!read_size(p, object, &count)) {
		put_unreadable(p);
		return;
	}
	if (!enter(p, object, "(...)"))
		return;
	strbuf_putc(p->out, '(');
	put_pointers(p, object + p->v->at->tuple_items, count);
	strbuf_puts(p->out, count == 1 ? ",)" : ")");
	p->depth--;
}

static void put_list(struct put *p, uint64_t object)
{
	uint64_t count, items;

	if (!read_size(p, object, &count) ||
	    !py_read_pointer(p->v->objects, object + p->v->at->list_items,
			     &items)) {
		put_unreadable(p);
		return;
	}
	if (!enter(p, object, "[...]"))
		return;
	strbuf_putc(p->out, '[');
	put_pointers(p, items, count);
	strbuf_putc(p->out, ']');
	p->depth--;
}

struct put_entries {
	struct put *p;
	size_t shown;
	/* "name=value", without quotes. */
	bool attributes;
};

static void put_attribute_name(struct put *p, uint64_t name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (py_text_read(p->v->objects, name, ITEM_MAX, &text))
		strbuf_append(p->out, text.data, text.len);
	else
		strbuf_putc(p->out, '?');
}

static bool put_entry(void *arg, const struct py_dict_entry *entry)
{
	struct put_entries *entries = arg;
	struct put *p = entries->p;

	put_separator(p, entries->shown);
	if (entries->attributes) {
		put_attribute_name(p, entry->key);
		strbuf_putc(p->out, '=');
	} else {
		put_value(p, entry->key, ITEM_MAX);
		strbuf_puts(p->out, ": ");
	}
	put_value(p, entry->value, ITEM_MAX);
	return ++entries->shown < ITEMS_MAX;
}

static void put_dict(struct put *p, uint64_t object)
{
	struct put_entries entries = { .p = p };
	struct py_dict dict;
	uint64_t used;

	if (!py_dict_open_base(p->v->objects, object, &dict) ||
	    !py_read_pointer(p->v->objects, object + p->v->at->dict_used,
			     &used)) {
		put_unreadable(p);
		return;
	}
	if (!enter(p, object, "{...}"))
		return;
	strbuf_putc(p->out, '{');
	if (used)
		py_dict_each(p->v->objects, &dict, put_entry, &entries);
	put_rest(p, entries.shown, used);
	strbuf_putc(p->out, '}');
	p->depth--;
}

/*
 * Whether an entry is none; else its key stands first. One that was deleted has the
 * hash -1, in 2.7 a key of the interpreter's own, which is known by its text.
 */
static bool is_free(struct put *p, uint64_t entry[2])
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!is_old(p))
		return !entry[0] || entry[1] == UINT64_MAX;
	/* There the hash stands first. */
	entry[0] = entry[1];
	return !entry[0] ||
	       (py_text_read(p->v->objects, entry[0], ITEM_MAX, &text) &&
		!strcmp(text.data, "<dummy key>"));
}

/* Pairs of a key and its hash. */
static size_t put_set_items(struct put *p, uint64_t table, uint64_t mask)
{
	size_t shown = 0;

	for (uint64_t i = 0; i <= mask && i < TABLE_MAX && shown < ITEMS_MAX;
	     i++) {
		uint64_t entry[2];

		if (!py_read_bytes(p->v->objects, table + i * sizeof(entry),
				   entry, sizeof(entry)))
			break;
		if (is_free(p, entry))
			continue;
		put_separator(p, shown++);
		put_value(p, entry[0], ITEM_MAX);
	}
	return shown;
}

struct set_words {
	const char *before;
	const char *after;
};

/* Of 3 and of 2.7; of sets and of frozen ones. */
static const struct set_words set_words[2][2] = {
	{ { "{", "}" }, { "frozenset({", "})" } },
	{ { "set([", "])" }, { "frozenset([", "])" } },
};

static void put_set(struct put *p, uint64_t object, bool frozen)
{
	const struct py_values *at = p->v->at;
	const struct set_words *words;
	uint64_t used, mask, table;

	if (!py_read_pointer(p->v->objects, object + at->set_used, &used) ||
	    !py_read_pointer(p->v->objects, object + at->set_mask, &mask) ||
	    !py_read_pointer(p->v->objects, object + at->set_table, &table)) {
		put_unreadable(p);
		return;
	}
	if (!used && !is_old(p)) {
		strbuf_puts(p->out, frozen ? "frozenset()" : "set()");
		return;
	}
	if (!enter(p, object, frozen ? "frozenset({...})" : "{...}"))
		return;
	words = &set_words[is_old(p)][frozen];
	strbuf_puts(p->out, words->before);
	put_rest(p, put_set_items(p, table, mask), used);
	strbuf_puts(p->out, words->after);
	p->depth--;
}

/* dequeobject, behind the head; Modules/_collectionsmodule.c. */
struct deque {
	uint64_t count;
	/* The first block and the last one. */
	uint64_t left;
	uint64_t right;
	/* Where the first item is in its block. */
	uint64_t left_index;
	uint64_t right_index;
	uint64_t state;
	/* -1: any number. */
	int64_t max;
};

enum {
	/* Items of a block; before and behind them stand pointers to the next ones. */
	DEQUE_BLOCK = 64,
	DEQUE_ITEMS = 8,
	DEQUE_NEXT = DEQUE_ITEMS + DEQUE_BLOCK * 8,
};

static void put_deque_items(struct put *p, const struct deque *deque)
{
	uint64_t block = deque->left, index = deque->left_index, i, item;

	for (i = 0; i < deque->count && i < ITEMS_MAX; i++, index++) {
		const struct py_objects_reader *r = p->v->objects;

		if (index == DEQUE_BLOCK) {
			index = 0;
			if (!py_read_pointer(r, block + DEQUE_NEXT, &block))
				break;
		}
		if (!py_read_pointer(r, block + DEQUE_ITEMS + index * 8, &item))
			break;
		put_separator(p, i);
		put_value(p, item, ITEM_MAX);
	}
	put_rest(p, i, deque->count);
}

static bool put_deque(struct put *p, uint64_t object)
{
	const struct py_objects_reader *r = p->v->objects;
	struct deque deque;

	if (!py_read_bytes(r, py_behind_head(r, object), &deque,
			   sizeof(deque)) ||
	    deque.left_index >= DEQUE_BLOCK)
		return false;
	if (!enter(p, object, "[...]"))
		return true;
	strbuf_puts(p->out, "deque([");
	put_deque_items(p, &deque);
	strbuf_putc(p->out, ']');
	if (deque.max >= 0)
		strbuf_printf(p->out, ", maxlen=%" PRId64, deque.max);
	strbuf_putc(p->out, ')');
	p->depth--;
	return true;
}

/* --- others --- */

static bool put_slot(void *arg, const char *name, uint64_t value)
{
	struct put_entries *entries = arg;
	struct put *p = entries->p;

	put_separator(p, entries->shown);
	put_name(p, name);
	strbuf_putc(p->out, '=');
	put_value(p, value, ITEM_MAX);
	return ++entries->shown < ITEMS_MAX;
}

/*
 * Those in slots, and in the dict. Of an instance as itself only: what is within it
 * would be too much.
 */
static void put_attributes(struct put *p, uint64_t object)
{
	struct put_entries entries = { .p = p, .attributes = true };
	size_t start = p->out->len;
	struct py_dict dict;

	if (p->depth)
		return;
	p->within[p->depth++] = object;
	strbuf_puts(p->out, ": ");
	py_slots_each(p->v->objects, object, put_slot, &entries);
	if (entries.shown < ITEMS_MAX &&
	    py_instance_attributes(p->v->objects, object, &dict))
		py_dict_each(p->v->objects, &dict, put_entry, &entries);
	if (entries.shown == ITEMS_MAX)
		strbuf_puts(p->out, ", ...");
	if (!entries.shown)
		strbuf_truncate(p->out, start);
	p->depth--;
}

/* Of a type of the interpreter's own with that name. */
static bool is_builtin(const struct put *p, uint64_t object, const char *name)
{
	char found[PY_TYPE_NAME_MAX];
	struct py_type type;

	return py_type_of(p->v->objects, object, &type) &&
	       !(type.flags & PY_TYPE_HEAP) &&
	       py_type_name(p->v->objects, type.address, found) &&
	       !strcmp(found, name);
}

/* " f.<locals>.g" of a function, or of that of a method. */
static void put_function_name(struct put *p, uint64_t object)
{
	struct py_objects_reader *r = p->v->objects;
	const struct py_tasks_at *at = &py_release_of(r->layout)->tasks;
	size_t start = p->out->len;
	uint64_t name;

	/* The function stands before the object that it is a method of. */
	if (!at->function_qualname ||
	    (is_builtin(p, object, "method") &&
	     !py_read_pointer(r, object + at->method_self - 8, &object)) ||
	    !is_builtin(p, object, "function"))
		return;
	strbuf_putc(p->out, ' ');
	if (!py_read_pointer(r, object + at->function_qualname, &name) ||
	    !py_text_read(r, name, PY_TYPE_NAME_MAX, p->out))
		strbuf_truncate(p->out, start);
}

/* PyCFunctionObject: its PyMethodDef, which begins with the name, and what it is of. */
static bool put_c_function(struct put *p, uint64_t object)
{
	struct py_objects_reader *r = p->v->objects;
	char name[PY_TYPE_NAME_MAX];
	uint64_t words[2], place;
	struct py_type type;

	if (!py_read_bytes(r, py_behind_head(r, object), words, sizeof(words)) ||
	    !py_read_pointer(r, words[0], &place) ||
	    !py_string_read(r, place, name))
		return false;
	if (!words[1] || is_builtin(p, words[1], "module")) {
		strbuf_puts(p->out, "<built-in function ");
		put_name(p, name);
	} else if (py_type_of(r, words[1], &type)) {
		strbuf_puts(p->out, "<built-in method ");
		put_name(p, name);
		strbuf_puts(p->out, " of ");
		put_type_name(p, type.address);
		strbuf_printf(p->out, " object at 0x%" PRIx64, words[1]);
	} else {
		return false;
	}
	strbuf_putc(p->out, '>');
	return true;
}

static void put_instance(struct put *p, uint64_t object, uint64_t type)
{
	strbuf_putc(p->out, '<');
	put_type_name(p, type);
	put_function_name(p, object);
	strbuf_printf(p->out, " at 0x%" PRIx64, object);
	put_attributes(p, object);
	strbuf_putc(p->out, '>');
}

static bool put_constant(struct put *p, uint64_t object)
{
	const struct py_builtins *b = p->v->builtins;
	const char *word = object == b->none	 ? "None" :
			   object == b->yes	 ? "True" :
			   object == b->no	 ? "False" :
			   object == b->ellipsis ? "Ellipsis" :
						   NULL;

	if (word)
		strbuf_puts(p->out, word);
	return word;
}

/* Pointers: where it starts, stops, and its step; Objects/rangeobject.c, sliceobject.c. */
static bool put_range(struct put *p, uint64_t object, bool slice)
{
	const struct py_objects_reader *r = p->v->objects;
	uint64_t words[3];
	int64_t step;

	if (!py_read_bytes(r, py_behind_head(r, object), words, sizeof(words)))
		return false;
	if (!enter(p, object, "(...)"))
		return true;
	strbuf_puts(p->out, slice ? "slice(" : "range(");
	for (size_t i = 0; i < 3; i++) {
		if (i == 2 && !slice &&
		    py_int_read(p->v->objects, words[i], &step) && step == 1)
			break;
		put_separator(p, i);
		put_value(p, words[i], ITEM_MAX);
	}
	strbuf_putc(p->out, ')');
	p->depth--;
	return true;
}

/* One that may have others within it, as a date has its time zone. */
struct outer {
	struct put *p;
	uint64_t object;
};

static void put_inner(void *arg, uint64_t object)
{
	const struct outer *outer = arg;

	if (!enter(outer->p, outer->object, "..."))
		return;
	put_value(outer->p, object, ITEM_MAX);
	outer->p->depth--;
}

/* By the name of a type of C: no class of the program has that. */
static bool put_named(struct put *p, uint64_t object,
		      const struct py_type *type, size_t max)
{
	struct outer outer = { p, object };
	const struct py_library_inner inner = { put_inner, &outer };
	struct py_objects_reader *r = p->v->objects;
	char name[PY_TYPE_NAME_MAX];

	if (!py_type_name(r, type->address, name))
		return false;
	if (!strcmp(name, "collections.deque"))
		return put_deque(p, object);
	if (!strcmp(name, "bytearray"))
		return put_bytearray(p, object, max);
	if (!strcmp(name, "builtin_function_or_method"))
		return put_c_function(p, object);
	if (!strcmp(name, "range") || !strcmp(name, "slice"))
		return put_range(p, object, *name == 's');
	return py_library_put(r, object, type, name, &inner, p->out);
}

static bool put_float_or_set(struct put *p, uint64_t object, uint64_t type)
{
	const struct py_builtins *b = p->v->builtins;

	if (!type)
		return false;
	if (type == b->float_type)
		put_float(p, object);
	else if (type == b->set_type || type == b->frozenset_type)
		put_set(p, object, type == b->frozenset_type);
	else
		return false;
	return true;
}

/* Where a type has a pointer to its base; 0: not known, before 3.8. */
static uint32_t base_offset(const struct put *p)
{
	return py_release_of(p->v->objects->layout)->tasks.type_base;
}

/* Of a type without a flag, or derived from one. */
static bool put_unflagged(struct put *p, uint64_t object,
			  const struct py_type *type, size_t max)
{
	struct py_objects_reader *r = p->v->objects;
	uint32_t base = base_offset(p);
	struct py_type now = *type;
	uint64_t address;

	for (int i = 0; i < BASES_MAX; i++) {
		if (base && !py_type_is_class(&now) &&
		    put_named(p, object, &now, max))
			return true;
		if (put_float_or_set(p, object, now.address))
			return true;
		if (!base || !py_read_pointer(r, now.address + base, &address) ||
		    !py_type_at(r, address, &now))
			return false;
	}
	return false;
}

/* --- errors and members of enumerations --- */

/* As BaseException.__repr__: its class, and `args`, which stands behind its dict. */
static bool put_error_words(struct put *p, uint64_t object, uint64_t type)
{
	struct py_objects_reader *r = p->v->objects;
	char name[PY_TYPE_NAME_MAX];
	uint64_t words[2], count;
	struct py_type tuple;
	const char *dot;

	if (!py_read_bytes(r, py_behind_head(r, object), words, sizeof(words)) ||
	    !py_type_of(r, words[1], &tuple) ||
	    !(tuple.flags & PY_TYPE_TUPLE) ||
	    !read_size(p, words[1], &count) || !py_type_name(r, type, name))
		return false;
	if (!enter(p, object, "(...)"))
		return true;
	dot = strrchr(name, '.');
	put_name(p, dot ? dot + 1 : name);
	strbuf_putc(p->out, '(');
	put_pointers(p, words[1] + p->v->at->tuple_items, count);
	strbuf_putc(p->out, ')');
	p->depth--;
	return true;
}

/* With what it has beside that. */
static bool put_error(struct put *p, uint64_t object,
		      const struct py_type *type)
{
	size_t start = p->out->len, end;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	if (!(type->flags & PY_TYPE_ERROR) || !base_offset(p) ||
	    !put_error_words(p, object, type->address))
		return false;
	end = p->out->len;
	put_attributes(p, object);
	if (p->out->len == end)
		return true;
	strbuf_append(&words, p->out->data + start, p->out->len - start);
	strbuf_truncate(p->out, start);
	strbuf_printf(p->out, "<%s>", words.data);
	return true;
}

/* A class whose own class is that of enumerations: EnumMeta, from 3.11 on EnumType. */
static bool is_enumeration(struct put *p, uint64_t class)
{
	struct py_objects_reader *r = p->v->objects;
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;
	uint64_t base;

	if (!py_type_of(r, class, &type))
		return false;
	for (int i = 0; i < BASES_MAX && py_type_is_class(&type); i++)
		if (py_type_name(r, type.address, name) &&
		    (!strcmp(name, "EnumMeta") || !strcmp(name, "EnumType")))
			return true;
		else if (!py_read_pointer(r, type.address + base_offset(p),
					  &base) ||
			 !py_type_at(r, base, &type))
			return false;
	return false;
}

/* As Enum.__repr__: <Colour.RED: 7>. */
static bool put_member(struct put *p, uint64_t object,
		       const struct py_type *type)
{
	struct py_objects_reader *r = p->v->objects;
	struct py_dict attributes;
	uint64_t name, value;
	size_t start;

	if (!base_offset(p) || !py_type_is_class(type) ||
	    !is_enumeration(p, type->address) ||
	    !py_instance_attributes(r, object, &attributes) ||
	    !py_dict_find(r, &attributes, "_name_", NULL, &name) ||
	    !py_dict_find(r, &attributes, "_value_", NULL, &value))
		return false;
	if (!enter(p, object, "..."))
		return true;
	strbuf_putc(p->out, '<');
	put_type_name(p, type->address);
	/* A combination of flags may have no name. */
	start = p->out->len;
	strbuf_putc(p->out, '.');
	if (!py_text_read(r, name, ITEM_MAX, p->out))
		strbuf_truncate(p->out, start);
	strbuf_puts(p->out, ": ");
	put_value(p, value, ITEM_MAX);
	strbuf_putc(p->out, '>');
	p->depth--;
	return true;
}

/* --- any object --- */

/* What an object of a built-in type, or of a class derived from it, holds. */
static bool put_base(struct put *p, uint64_t object,
		     const struct py_type *type, size_t max)
{
	if (py_int_is_plain(p->v->objects, type))
		put_plain_int(p, object);
	else if (type->flags & PY_TYPE_INT)
		put_int(p, object);
	else if (type->flags & PY_TYPE_TEXT)
		put_text(p, object, max);
	else if (type->flags & PY_TYPE_BYTES)
		put_bytes(p, object, max);
	else if (type->flags & PY_TYPE_TUPLE)
		put_tuple(p, object);
	else if (type->flags & PY_TYPE_LIST)
		put_list(p, object);
	else if (type->flags & PY_TYPE_DICT)
		put_dict(p, object);
	else
		return put_unflagged(p, object, type, max);
	return true;
}

static void put_object(struct put *p, uint64_t object,
		       const struct py_type *type, size_t max)
{
	/* In 2.7 the other flag says something else. */
	bool is_class = is_old(p) ? type->flags & PY_TYPE_HEAP :
				    py_type_is_class(type);
	size_t start = p->out->len;

	if (type->flags & PY_TYPE_TYPE) {
		strbuf_puts(p->out, "<class ");
		put_type_name(p, object);
		strbuf_putc(p->out, '>');
		return;
	}
	if (put_error(p, object, type) || put_member(p, object, type))
		return;
	if (is_class) {
		strbuf_putc(p->out, '<');
		put_type_name(p, type->address);
		strbuf_putc(p->out, ' ');
	}
	if (!put_base(p, object, type, max)) {
		strbuf_truncate(p->out, start);
		put_instance(p, object, type->address);
	} else if (is_class) {
		strbuf_putc(p->out, '>');
	}
}

static void put_value(struct put *p, uint64_t object, size_t max)
{
	size_t start = p->out->len;
	struct py_type type;

	if (put_constant(p, object))
		return;
	if (py_type_of(p->v->objects, object, &type))
		put_object(p, object, &type, max);
	else
		put_unreadable(p);
	cut(p, start, max);
}

void py_value_put(struct py_value_reader *v, uint64_t object,
		  struct strbuf *out)
{
	struct put put = { .v = v, .out = out };

	put_value(&put, object, PY_VALUE_MAX);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "agent/qualname.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"

/* Of CPython 3.6 to 3.10, Include/opcode.h. */
enum opcode {
	STORE_NAME = 90,
	LOAD_CONST = 100,
	LOAD_NAME = 101,
	MAKE_FUNCTION = 132,
	EXTENDED_ARG = 144,
};

enum {
	/* Code in constants of code in constants: the compiler stops before. */
	NESTING_MAX = 200,
	/* Failed searches of the heap, for want of a gc module to ask. */
	SEARCHES_MAX = 16,
	/* Code objects whose address has another now, but which may have copies. */
	RETIRED_MAX = 2048,
};

#define AMBIGUOUS UINT64_MAX

/* CPython's functions and types, by the names that they have there. */
static struct {
	void (*Py_IncRef)(void *);
	void (*Py_DecRef)(void *);
	void *(*PyObject_Type)(void *);
	void *(*PyObject_GetAttrString)(void *, const char *);
	void *(*PyObject_CallMethod)(void *, const char *, const char *, ...);
	long (*PyLong_AsLong)(void *);
	ssize_t (*PyTuple_Size)(void *);
	void *(*PyTuple_GetItem)(void *, ssize_t);
	ssize_t (*PyList_Size)(void *);
	void *(*PyList_GetItem)(void *, ssize_t);
	int (*PyBytes_AsStringAndSize)(void *, char **, ssize_t *);
	int (*PyUnicode_CompareWithASCIIString)(void *, const char *);
	ssize_t (*PyUnicode_GetLength)(void *);
	uint32_t (*PyUnicode_ReadChar)(void *, ssize_t);
	ssize_t (*PyUnicode_Tailmatch)(void *, void *, ssize_t, ssize_t, int);
	void *(*PyImport_ImportModule)(const char *);
	void (*PyErr_Fetch)(void **, void **, void **);
	void (*PyErr_Restore)(void *, void *, void *);
	void (*PyErr_Clear)(void);
	void *PyCode_Type;
	void *PyFunction_Type;
	void *PyUnicode_Type;
} api;

#define API(member) { #member, offsetof(__typeof__(api), member) }

static const struct {
	const char *name;
	size_t offset;
} api_names[] = {
	API(Py_IncRef),
	API(Py_DecRef),
	API(PyObject_Type),
	API(PyObject_GetAttrString),
	API(PyObject_CallMethod),
	API(PyLong_AsLong),
	API(PyTuple_Size),
	API(PyTuple_GetItem),
	API(PyList_Size),
	API(PyList_GetItem),
	API(PyBytes_AsStringAndSize),
	API(PyUnicode_CompareWithASCIIString),
	API(PyUnicode_GetLength),
	API(PyUnicode_ReadChar),
	API(PyUnicode_Tailmatch),
	API(PyImport_ImportModule),
	API(PyErr_Fetch),
	API(PyErr_Restore),
	API(PyErr_Clear),
	API(PyCode_Type),
	API(PyFunction_Type),
	API(PyUnicode_Type),
};

/* A code object that some other makes a function of. All references held. */
struct named {
	void *name;
	void *filename;
	void *instructions;
	long first_line;
	void *qualname;
};

static struct {
	/* Address of a code object to index in `entries`. */
	struct map by_address;
	/* The same of its instructions; AMBIGUOUS: of code with several names. */
	struct map by_instructions;
	VEC(struct named) entries;
	/* A ring of indexes of entries; the oldest is at `oldest`. */
	VEC(uint64_t) retired;
	size_t oldest;
	/* Not searched since code was missed. */
	bool search_due;
	bool searching;
	unsigned int failures;
} table = { .search_due = true };

bool agent_qualname_init(void *(*lookup)(const char *name))
{
	for (size_t i = 0; i < sizeof(api_names) / sizeof(api_names[0]); i++) {
		void *address = lookup(api_names[i].name);

		if (!address)
			return false;
		*(void **)((char *)&api + api_names[i].offset) = address;
	}
	return true;
}

void agent_qualname_missed_some(void)
{
	table.search_due = true;
	table.failures = 0;
}

/* --- objects --- */

static void drop(void *object)
{
	if (object)
		api.Py_DecRef(object);
}

static bool is_a(void *object, void *type)
{
	void *actual = api.PyObject_Type(object);

	drop(actual);
	return actual == type;
}

/* A new reference to an attribute, NULL without. */
static void *attribute(void *object, const char *name)
{
	void *value = api.PyObject_GetAttrString(object, name);

	if (!value)
		api.PyErr_Clear();
	return value;
}

static void *str_attribute(void *object, const char *name)
{
	void *value = attribute(object, name);

	if (value && is_a(value, api.PyUnicode_Type))
		return value;
	drop(value);
	return NULL;
}

static void *tuple_item(void *tuple, size_t index)
{
	void *item = api.PyTuple_GetItem(tuple, (ssize_t)index);

	if (!item)
		api.PyErr_Clear();
	return item;
}

/* What a code object is known by; qualname NULL. */
static bool identify(void *code, struct named *ret)
{
	void *line = attribute(code, "co_firstlineno");

	*ret = (struct named){
		.name = str_attribute(code, "co_name"),
		.filename = str_attribute(code, "co_filename"),
		.instructions = attribute(code, "co_code"),
		.first_line = line ? api.PyLong_AsLong(line) : 0,
	};
	drop(line);
	return ret->name && ret->filename && ret->instructions;
}

static void named_drop(struct named *named)
{
	drop(named->name);
	drop(named->filename);
	drop(named->instructions);
	drop(named->qualname);
}

static bool named_same(const struct named *a, const struct named *b)
{
	return a->name == b->name && a->filename == b->filename &&
	       a->instructions == b->instructions &&
	       a->first_line == b->first_line;
}

/* --- the table --- */

static const struct named *find_by(const struct map *map, void *key,
				   const struct named *identity)
{
	const uint64_t *index = map_find(map, (uint64_t)(uintptr_t)key);

	if (!index || *index == AMBIGUOUS ||
	    !named_same(&table.entries.data[*index], identity))
		return NULL;
	return &table.entries.data[*index];
}

/* The entry of a code object, or NULL. */
static const struct named *find(void *code, const struct named *identity)
{
	return find_by(&table.by_address, code, identity);
}

/*
 * That of one it was copied from: types.coroutine and CodeType make code
 * objects with the instructions of another.
 */
static const struct named *find_original(const struct named *identity)
{
	return find_by(&table.by_instructions, identity->instructions,
		       identity);
}

/* From 3.10 on, code that is compiled together shares equal instructions. */
static bool index_instructions(const struct named *named, uint64_t at)
{
	const struct named *other = find_original(named);
	uint64_t *index = map_insert(&table.by_instructions,
				     (uint64_t)(uintptr_t)named->instructions,
				     at, NULL);

	if (!index)
		return false;
	if (other && other->qualname != named->qualname)
		*index = AMBIGUOUS;
	else if (*index != AMBIGUOUS)
		*index = at;
	return true;
}

/* An index for one more entry, empty. */
static bool new_index(uint64_t *ret)
{
	*ret = table.entries.count;
	return vec_push(&table.entries, (struct named){});
}

/* One for the entry that takes the place of another's. */
static bool index_after(uint64_t replaced, uint64_t *ret)
{
	uint64_t *oldest;
	struct named gone;

	if (table.retired.count < RETIRED_MAX)
		return vec_push(&table.retired, replaced) && new_index(ret);
	oldest = &table.retired.data[table.oldest++ % RETIRED_MAX];
	*ret = *oldest;
	*oldest = replaced;
	gone = table.entries.data[*ret];
	table.entries.data[*ret] = (struct named){};
	named_drop(&gone);
	return true;
}

static bool place(void *code, const struct named *named, uint64_t *ret)
{
	uint64_t *index;
	bool is_new;

	index = map_insert(&table.by_address, (uint64_t)(uintptr_t)code,
			   table.entries.count, &is_new);
	if (!index || !(is_new ? new_index(ret) : index_after(*index, ret)))
		return false;
	*index = *ret;
	return index_instructions(named, *ret);
}

/* Puts the entry at the address in place of what may be there; takes it over. */
static void put(void *code, struct named *named)
{
	uint64_t index;

	if (place(code, named, &index)) {
		table.entries.data[index] = *named;
		return;
	}
	/* No memory: an index without an entry would be read later. */
	agent_qualname_clear();
	named_drop(named);
}

static void remember(void *code, void *qualname)
{
	struct named named;

	if (!identify(code, &named) || find(code, &named)) {
		named_drop(&named);
		return;
	}
	api.Py_IncRef(qualname);
	named.qualname = qualname;
	put(code, &named);
}

void agent_qualname_clear(void)
{
	map_deinit(&table.by_address);
	map_deinit(&table.by_instructions);
	while (table.entries.count) {
		struct named last = table.entries.data[--table.entries.count];

		named_drop(&last);
	}
	vec_deinit(&table.entries);
	vec_deinit(&table.retired);
}

/* --- bytecode --- */

struct instruction {
	uint8_t opcode;
	uint32_t arg;
};

/* Two bytes each from 3.6 on; *at is the next one's offset. */
static bool next_instruction(const uint8_t *bytes, size_t size, size_t *at,
			     struct instruction *ret)
{
	uint32_t arg = 0;

	for (; *at + 2 <= size; *at += 2) {
		arg = arg << 8 | bytes[*at + 1];
		if (bytes[*at] == EXTENDED_ARG)
			continue;
		*ret = (struct instruction){ bytes[*at], arg };
		*at += 2;
		return true;
	}
	return false;
}

static bool get_bytes(void *object, const uint8_t **bytes, size_t *size)
{
	char *data;
	ssize_t length;

	if (api.PyBytes_AsStringAndSize(object, &data, &length)) {
		api.PyErr_Clear();
		return false;
	}
	*bytes = (const uint8_t *)data;
	*size = (size_t)length;
	return true;
}

typedef void made_function(void *code, void *qualname);

/* Calls back for each function that the code makes. */
static void each_made(void *code, made_function *callback)
{
	struct instruction now, before[2] = {};
	void *instructions = attribute(code, "co_code");
	void *consts = attribute(code, "co_consts");
	const uint8_t *bytes;
	size_t size, at = 0;

	if (!instructions || !consts || !get_bytes(instructions, &bytes, &size))
		size = 0;
	while (at < size && next_instruction(bytes, size, &at, &now)) {
		if (now.opcode == MAKE_FUNCTION &&
		    before[0].opcode == LOAD_CONST &&
		    before[1].opcode == LOAD_CONST) {
			void *made = tuple_item(consts, before[0].arg);
			void *qualname = tuple_item(consts, before[1].arg);

			if (made && qualname && is_a(made, api.PyCode_Type) &&
			    is_a(qualname, api.PyUnicode_Type))
				callback(made, qualname);
		}
		before[0] = before[1];
		before[1] = now;
	}
	drop(instructions);
	drop(consts);
}

static bool item_is(void *tuple, uint32_t index, const char *text)
{
	void *item = tuple_item(tuple, index);

	return item && is_a(item, api.PyUnicode_Type) &&
	       !api.PyUnicode_CompareWithASCIIString(item, text);
}

/* The constant that the body of a class makes its __qualname__; borrowed. */
static void *prologue_name(const struct instruction *i, void *names,
			   void *consts)
{
	if (i[0].opcode != LOAD_NAME || i[1].opcode != STORE_NAME ||
	    i[2].opcode != LOAD_CONST || i[3].opcode != STORE_NAME ||
	    !item_is(names, i[0].arg, "__name__") ||
	    !item_is(names, i[1].arg, "__module__") ||
	    !item_is(names, i[3].arg, "__qualname__"))
		return NULL;
	return tuple_item(consts, i[2].arg);
}

/* The qualified name that the body of a class says itself; a new reference. */
static void *class_name(void *code, const struct named *identity)
{
	struct instruction first[4];
	void *names, *consts, *qualname = NULL;
	const uint8_t *bytes;
	size_t size, at = 0;

	if (!get_bytes(identity->instructions, &bytes, &size))
		return NULL;
	for (size_t i = 0; i < 4; i++)
		if (!next_instruction(bytes, size, &at, &first[i]))
			return NULL;
	names = attribute(code, "co_names");
	consts = attribute(code, "co_consts");
	if (names && consts)
		qualname = prologue_name(first, names, consts);
	if (qualname && is_a(qualname, api.PyUnicode_Type))
		api.Py_IncRef(qualname);
	else
		qualname = NULL;
	drop(names);
	drop(consts);
	return qualname;
}

/* --- functions that were made unseen --- */

static unsigned int nesting;

/* A function, and what it will make, and what that will make. */
static void remember_tree(void *code, void *qualname)
{
	remember(code, qualname);
	if (nesting >= NESTING_MAX)
		return;
	nesting++;
	each_made(code, remember_tree);
	nesting--;
}

/* "a.b.c" ends in "c"; a function's __qualname__ can be anything. */
static bool ends_in(void *qualname, void *name)
{
	ssize_t whole = api.PyUnicode_GetLength(qualname);
	ssize_t part = api.PyUnicode_GetLength(name);

	if (whole == part)
		return api.PyUnicode_Tailmatch(qualname, name, 0, whole, 1) == 1;
	return whole > part &&
	       api.PyUnicode_ReadChar(qualname, whole - part - 1) == '.' &&
	       api.PyUnicode_Tailmatch(qualname, name, 0, whole, 1) == 1;
}

/* First what bytecode says: it cannot have been overwritten. */
static void remember_made(void *function)
{
	void *code = attribute(function, "__code__");

	if (code && is_a(code, api.PyCode_Type))
		each_made(code, remember_tree);
	drop(code);
}

static void remember_function(void *function)
{
	void *code = attribute(function, "__code__");
	void *qualname = str_attribute(function, "__qualname__");
	void *name = code ? str_attribute(code, "co_name") : NULL;

	if (name && qualname && ends_in(qualname, name))
		remember(code, qualname);
	api.PyErr_Clear();
	drop(name);
	drop(qualname);
	drop(code);
}

static void each_function(void *list, void (*callback)(void *function))
{
	ssize_t count = api.PyList_Size(list);

	for (ssize_t i = 0; i < count; i++) {
		void *object = api.PyList_GetItem(list, i);

		if (object && is_a(object, api.PyFunction_Type))
			callback(object);
	}
}

static void *all_objects(void)
{
	void *gc = api.PyImport_ImportModule("gc");
	void *list = gc ? api.PyObject_CallMethod(gc, "get_objects", NULL) :
			  NULL;

	drop(gc);
	if (!list)
		api.PyErr_Clear();
	return list;
}

/* While Python starts there is no gc to import yet: later, then. */
static void search_heap(void)
{
	void *list;

	table.searching = true;
	list = all_objects();
	if (list) {
		each_function(list, remember_made);
		each_function(list, remember_function);
		drop(list);
	}
	if (list || ++table.failures >= SEARCHES_MAX)
		table.search_due = false;
	table.searching = false;
}

/* --- asking --- */

/* A new reference to the qualified name, or NULL. */
static void *known_name(void *code, const struct named *identity)
{
	const struct named *named = find(code, identity);

	if (!named)
		named = find_original(identity);
	if (!named)
		return NULL;
	api.Py_IncRef(named->qualname);
	return named->qualname;
}

static void *name_of(void *code, const struct named *identity)
{
	void *qualname = class_name(code, identity);

	if (!qualname)
		qualname = known_name(code, identity);
	if (qualname || !table.search_due || table.searching ||
	    !api.PyUnicode_CompareWithASCIIString(identity->name, "<module>"))
		return qualname;
	search_heap();
	return known_name(code, identity);
}

void *agent_qualname(void *code)
{
	void *type, *value, *traceback, *qualname = NULL;
	struct named identity;

	api.PyErr_Fetch(&type, &value, &traceback);
	each_made(code, remember);
	if (identify(code, &identity))
		qualname = name_of(code, &identity);
	if (!qualname && identity.name) {
		qualname = identity.name;
		identity.name = NULL;
	}
	named_drop(&identity);
	api.PyErr_Restore(type, value, traceback);
	return qualname;
}

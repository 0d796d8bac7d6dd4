// SPDX-License-Identifier: GPL-2.0-only
#include "python/method_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/name_match.h"
#include "obj/elf_symbols.h"
#include "python/call_graph.h"
#include "python/collector.h"
#include "python/data_image.h"
#include "python/method_ends.h"

enum {
	WORD = 8,
	/* Names are no longer, and tables neither. */
	NAME_SIZE = 128,
	TEXT_SIZE = 2 * NAME_SIZE,
	/* What names of several types have to have in common. */
	COMMON_MIN = 3,
	TABLE_MAX = 1024,
	/* A file that has more of them is none of Python's. */
	READS_MAX = 1 << 18,
	CHECKS_MAX = 1 << 24,
	/* Each address is searched for in all of them; real files have a dozen. */
	SEGMENTS_MAX = 64,
	/* Objects, and one item of those of variable size. */
	BASICSIZE_MAX = 1 << 16,
	ITEMSIZE_MAX = 1 << 12,

	/* PyTypeObject, from tp_name on: type_slots.def says what is the same where. */
	TYPE_BASICSIZE = 8,
	TYPE_ITEMSIZE = 16,
	TYPE_VECTORCALL_OFFSET = 32,
	TYPE_AS_ASYNC = 56,
	TYPE_AS_NUMBER = 72,
	TYPE_AS_SEQUENCE = 80,
	TYPE_AS_MAPPING = 88,
	TYPE_AS_BUFFER = 136,
	TYPE_FLAGS = 144,
	TYPE_METHODS = 208,
	TYPE_GETSET = 224,
	/* From here to there what a type gets when Python starts: tp_bases to tp_weaklist. */
	TYPE_LATER = 312,
	TYPE_LATER_END = 352,

	/* PyType_Spec */
	SPEC_FLAGS = 16,
	SPEC_SLOTS = 24,
	SLOT_SIZE = 16,
	SLOT_METHODS = 64,
	SLOT_GETSET = 73,
	SLOT_ID_MAX = 128,

	/* PyModuleDef, from m_name on; m_init, m_index and m_copy stand before it. */
	MODULE_SIZE = 16,
	MODULE_METHODS = 24,
	MODULE_SLOTS = 32,
	MODULE_TRAVERSE = 40,
	MODULE_FREE = 56,
	MODULE_SIZE_MAX = 1 << 24,

	/* PyMethodDef, PyGetSetDef */
	METHOD_SIZE = 32,
	METHOD_FLAGS = 16,
	METHOD_FLAGS_MAX = 0x800,
	GETSET_SIZE = 40,

	/* jmp, and 32 bits. */
	JUMP_SIZE = 5,
};

enum slot_group {
	GROUP_TYPE,
	GROUP_ASYNC,
	GROUP_NUMBER,
	GROUP_SEQUENCE,
	GROUP_MAPPING,
	GROUP_BUFFER,
	GROUP_COUNT,
};

/* Where a PyTypeObject points to each; the first is itself. */
static const unsigned int group_offsets[GROUP_COUNT] = {
	0,	       TYPE_AS_ASYNC,	TYPE_AS_NUMBER,
	TYPE_AS_SEQUENCE, TYPE_AS_MAPPING, TYPE_AS_BUFFER,
};

static const struct {
	uint8_t id;
	uint8_t group;
	uint16_t offset;
	const char *name;
} type_slots[] = {
#define TYPE_SLOT(id, group, offset, name) { id, GROUP_##group, offset, name },
#include "python/type_slots.def"
#undef TYPE_SLOT
};

#define TYPE_SLOT_COUNT (sizeof(type_slots) / sizeof(*type_slots))

struct search {
	struct elf_file *file;
	const struct py_code_pieces *pieces;
	struct py_data_image data;
	struct py_method_names *names;
	/* Functions that the file exports: start to name, which is the file's. */
	struct map exported;
	/* Texts that were read, and words that were taken for functions. */
	size_t reads;
	size_t checks;
	bool no_memory;
};

static uint64_t word(const struct search *s, uint64_t vaddr)
{
	return py_data_word(&s->data, vaddr);
}

static bool is_function(struct search *s, uint64_t vaddr)
{
	return vaddr && s->checks++ < CHECKS_MAX &&
	       py_function_begins(s->file, s->pieces, vaddr);
}

/* Nothing, or a function; what another file has is nothing here. */
static bool may_be_function(struct search *s, uint64_t vaddr)
{
	return !vaddr || is_function(s, vaddr);
}

static bool may_be_data(const struct search *s, uint64_t vaddr)
{
	return !vaddr || py_data_has(&s->data, vaddr);
}

/* "list", "_io.TextIOWrapper"; false: no such text is there. */
static bool read_name(struct search *s, uint64_t vaddr,
		      char name[static NAME_SIZE])
{
	const struct elf_segment *segment = elf_file_load_at(s->file, vaddr);
	struct error *error;
	size_t size = NAME_SIZE;

	if (!vaddr || !segment || s->reads++ >= READS_MAX ||
	    vaddr - segment->vaddr >= segment->filesz)
		return false;
	if (segment->filesz - (vaddr - segment->vaddr) < size)
		size = (size_t)(segment->filesz - (vaddr - segment->vaddr));
	error = elf_file_read_image(s->file, vaddr, name, size);
	if (error) {
		error_destroy(error);
		return false;
	}
	size = strnlen(name, size);
	if (!size || size >= NAME_SIZE || isdigit((unsigned char)name[0]) ||
	    name[size - 1] == '.')
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' &&
		    name[i] != '.')
			return false;
	return true;
}

/* --- Names -------------------------------------------------------------- */

static size_t common_length(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/*
 * For a function that both names are of: "set.add" of that and "frozenset.add",
 * "_io.Buffered*.read" of the readers and writers; "" where there is no such name.
 */
static void join_names(const char *a, const char *b, char ret[static TEXT_SIZE])
{
	size_t common = common_length(a, b);

	if (strcmp(name_last_part(a), name_last_part(b)) != 0)
		*ret = '\0';
	else if (name_ends_with(a, b))
		snprintf(ret, TEXT_SIZE, "%s", b);
	else if (name_ends_with(b, a))
		snprintf(ret, TEXT_SIZE, "%s", a);
	else if (common >= COMMON_MIN && common < (size_t)(name_last_part(a) - a) - 1)
		snprintf(ret, TEXT_SIZE, "%.*s*.%s", (int)common, a,
			 name_last_part(a));
	else
		*ret = '\0';
}

static void add_text(struct search *s, uint64_t function, const char *text)
{
	uint64_t *known = map_find(&s->names->names, function);
	const char *before = known ? (const char *)(uintptr_t)*known : NULL;
	char joined[TEXT_SIZE];
	char *copy;

	if (before)
		join_names(before, text, joined);
	if (before && !strcmp(before, joined))
		return;
	copy = arena_strndup(&s->names->memory, before ? joined : text,
			     strlen(before ? joined : text));
	if (known)
		*known = (uint64_t)(uintptr_t)copy;
	else
		known = map_insert(&s->names->names, function,
				   (uint64_t)(uintptr_t)copy, NULL);
	if (!copy || !known)
		s->no_memory = true;
}

static void add_name(struct search *s, uint64_t function, const char *owner,
		     const char *name)
{
	char text[TEXT_SIZE];

	if (!is_function(s, function))
		return;
	if (name_begins_with(owner, "builtins."))
		owner += strlen("builtins.");
	if (!strcmp(owner, "builtins"))
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "%s.%s", owner, name);
	add_text(s, function, text);
}

/* --- Tables ------------------------------------------------------------- */

/* The methods of owner, or NULL: only count them. 0: there is no such table. */
static size_t read_methods(struct search *s, uint64_t table, const char *owner)
{
	char name[NAME_SIZE];
	size_t count = 0;

	for (; table && count < TABLE_MAX; count++, table += METHOD_SIZE) {
		uint64_t function = word(s, table + WORD);
		uint32_t flags = (uint32_t)word(s, table + METHOD_FLAGS);

		if (!flags || flags >= METHOD_FLAGS_MAX ||
		    !may_be_function(s, function) ||
		    !read_name(s, word(s, table), name))
			break;
		if (owner)
			add_name(s, function, owner, name);
	}
	return count;
}

/* How an attribute is read, and set. */
static void read_attributes(struct search *s, uint64_t table, const char *owner)
{
	char name[NAME_SIZE];

	for (size_t i = 0; table && i < TABLE_MAX; i++, table += GETSET_SIZE) {
		uint64_t get = word(s, table + WORD);
		uint64_t set = word(s, table + 2 * WORD);

		if (!may_be_function(s, get) || !may_be_function(s, set) ||
		    !read_name(s, word(s, table), name))
			return;
		add_name(s, get, owner, name);
		add_name(s, set, owner, name);
	}
}

/* Address of a slot of the static type; 0: the type has none such. */
static uint64_t slot_place(const struct search *s, uint64_t type, size_t slot)
{
	uint8_t group = type_slots[slot].group;
	uint64_t base = group == GROUP_TYPE ?
				type :
				word(s, type + group_offsets[group]);

	return base ? base + type_slots[slot].offset : 0;
}

static bool has_type_sizes(const struct search *s, uint64_t type)
{
	for (size_t at = TYPE_LATER; at < TYPE_LATER_END; at += WORD)
		if (word(s, type + at))
			return false;
	return word(s, type + TYPE_BASICSIZE) <= BASICSIZE_MAX &&
	       word(s, type + TYPE_ITEMSIZE) <= ITEMSIZE_MAX &&
	       word(s, type + TYPE_VECTORCALL_OFFSET) <= BASICSIZE_MAX &&
	       word(s, type + TYPE_FLAGS) >> 32 == 0;
}

static bool is_type(struct search *s, uint64_t type,
		    char name[static NAME_SIZE])
{
	size_t functions = 0;

	if (!has_type_sizes(s, type))
		return false;
	for (size_t i = 1; i < GROUP_COUNT; i++)
		if (!may_be_data(s, word(s, type + group_offsets[i])))
			return false;
	for (size_t i = 0; i < TYPE_SLOT_COUNT; i++) {
		uint64_t place = slot_place(s, type, i);
		uint64_t function = place ? word(s, place) : 0;

		if (!may_be_function(s, function))
			return false;
		functions += function != 0;
	}
	return functions && read_name(s, word(s, type), name);
}

static void read_type(struct search *s, uint64_t type, const char *name)
{
	for (size_t i = 0; i < TYPE_SLOT_COUNT; i++) {
		uint64_t place = slot_place(s, type, i);

		if (place)
			add_name(s, word(s, place), name, type_slots[i].name);
	}
	read_methods(s, word(s, type + TYPE_METHODS), name);
	read_attributes(s, word(s, type + TYPE_GETSET), name);
}

static bool is_function_slot(uint64_t id)
{
	for (size_t i = 0; i < TYPE_SLOT_COUNT; i++)
		if (type_slots[i].id == id)
			return true;
	return false;
}

/* All of them, to the empty one at the end. */
static bool are_slots(struct search *s, uint64_t at)
{
	for (size_t i = 0; i < SLOT_ID_MAX; i++, at += SLOT_SIZE) {
		uint64_t id = word(s, at);

		if (!id)
			return i > 0;
		if (id >= SLOT_ID_MAX ||
		    (is_function_slot(id) &&
		     !may_be_function(s, word(s, at + WORD))))
			return false;
	}
	return false;
}

static bool is_spec(struct search *s, uint64_t spec,
		    char name[static NAME_SIZE])
{
	uint64_t sizes = word(s, spec + WORD);
	uint64_t slots = word(s, spec + SPEC_SLOTS);

	/* Behind the flags, which are 32 bits, nothing stands. */
	return (uint32_t)sizes <= BASICSIZE_MAX &&
	       sizes >> 32 <= ITEMSIZE_MAX &&
	       word(s, spec + SPEC_FLAGS) >> 32 == 0 && slots &&
	       are_slots(s, slots) &&
	       read_name(s, word(s, spec), name);
}

static void read_spec_slot(struct search *s, uint64_t id, uint64_t value,
			   const char *name)
{
	if (id == SLOT_METHODS)
		read_methods(s, value, name);
	if (id == SLOT_GETSET)
		read_attributes(s, value, name);
	for (size_t i = 0; i < TYPE_SLOT_COUNT; i++)
		if (type_slots[i].id == id)
			add_name(s, value, name, type_slots[i].name);
}

static void read_spec(struct search *s, uint64_t spec, const char *name)
{
	uint64_t at = word(s, spec + SPEC_SLOTS);

	for (size_t i = 0; i < SLOT_ID_MAX; i++, at += SLOT_SIZE) {
		uint64_t id = word(s, at);

		if (!id || id >= SLOT_ID_MAX)
			return;
		read_spec_slot(s, id, word(s, at + WORD), name);
	}
}

static bool is_module(struct search *s, uint64_t module,
		      char name[static NAME_SIZE])
{
	uint64_t size = word(s, module + MODULE_SIZE);

	for (size_t i = 1; i <= 3; i++)
		if (word(s, module - i * WORD))
			return false;
	for (size_t at = MODULE_TRAVERSE; at <= MODULE_FREE; at += WORD)
		if (!may_be_function(s, word(s, module + at)))
			return false;
	return (size == UINT64_MAX || size <= MODULE_SIZE_MAX) &&
	       may_be_data(s, word(s, module + MODULE_SLOTS)) &&
	       read_methods(s, word(s, module + MODULE_METHODS), NULL) &&
	       read_name(s, word(s, module), name);
}

static void look_at(struct search *s, uint64_t vaddr)
{
	char name[NAME_SIZE];

	if (!word(s, vaddr))
		return;
	if (is_type(s, vaddr, name))
		read_type(s, vaddr, name);
	else if (is_module(s, vaddr, name))
		read_methods(s, word(s, vaddr + MODULE_METHODS), name);
	else if (is_spec(s, vaddr, name))
		read_spec(s, vaddr, name);
}

static void look_through(struct search *s)
{
	vec_for_each(part, &s->data.parts) {
		uint64_t at = (part->vaddr + WORD - 1) / WORD * WORD;

		for (; at < part->vaddr + part->size && !s->no_memory; at += WORD)
			look_at(s, at);
	}
}

/* --- Files -------------------------------------------------------------- */

static bool is_exported(const struct elf_symbol *symbol)
{
	return symbol->shndx != SHN_UNDEF && symbol->type == STT_FUNC;
}

/* CPython exports the first since 3.5, each extension module one of the others. */
static bool is_for_python(const struct elf_symbol *symbol)
{
	return is_exported(symbol) &&
	       (!strcmp(symbol->name, "PyModuleDef_Init") ||
		name_begins_with(symbol->name, "PyInit_"));
}

bool py_method_names_maybe(struct elf_file *file)
{
	struct elf_symbol_iter it;
	struct elf_symbol symbol;
	struct error *error = elf_file_check_native(file);
	bool maybe = false;

	if (!error)
		error = elf_symbol_iter_init_type(file, SHT_DYNSYM, &it);
	while (!error && !maybe && elf_symbol_iter_next(&it, &symbol))
		maybe = is_for_python(&symbol);
	error_destroy(error);
	return maybe && file->segment_count <= SEGMENTS_MAX;
}

static struct error *each_export(struct search *s,
				 void (*take)(struct search *s,
					      const struct elf_symbol *symbol))
{
	struct elf_symbol_iter it;
	struct elf_symbol symbol;
	struct error *error =
		elf_symbol_iter_init_type(s->file, SHT_DYNSYM, &it);

	while (!error && !s->no_memory && elf_symbol_iter_next(&it, &symbol))
		if (is_exported(&symbol))
			take(s, &symbol);
	return error;
}

static void note_export(struct search *s, const struct elf_symbol *symbol)
{
	s->no_memory |= !map_insert(&s->exported, symbol->vaddr,
				    (uint64_t)(uintptr_t)symbol->name, NULL);
}

static bool has_name(const void *arg, uint64_t start)
{
	const struct search *s = arg;

	return map_find(&s->exported, start) ||
	       map_find(&s->names->names, start);
}

/* Which part of the collector each is nobody needs to know. */
static struct error *name_collector(struct search *s)
{
	uint64_t starts[PY_COLLECTOR_MAX];
	size_t count;
	struct error *error = py_collector_find(s->file, s->pieces, has_name, s,
						starts, &count);

	for (size_t i = 0; i < count && !error; i++)
		add_text(s, starts[i], PY_COLLECTOR_NAME);
	return error;
}

/* Where a function goes that does nothing but go there; 0: it does more. */
static uint64_t only_jump(struct search *s, uint64_t start)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[sizeof(endbr64) + JUMP_SIZE];
	struct error *error;
	struct py_range range;
	uint64_t target;
	size_t at = 0, size;

	if (!s->pieces->find(s->pieces->arg, start, &range) ||
	    range.start != start || range.end - start > sizeof(code))
		return 0;
	size = (size_t)(range.end - start);
	error = elf_file_read_image(s->file, start, code, size);
	if (error) {
		error_destroy(error);
		return 0;
	}
	if (size == sizeof(code) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	return size - at == JUMP_SIZE && code[at] == 0xe9 &&
			       py_call_target(code, at + 1, start, &target) ?
		       target :
		       0;
}

/*
 * A compiler may leave of an exported function a jump to the one that does the work,
 * and call that: Py_FinalizeEx() jumps to _Py_Finalize() since 3.13.
 */
static void name_jump(struct search *s, const struct elf_symbol *symbol)
{
	uint64_t target = only_jump(s, symbol->vaddr);

	if (is_function(s, target) && !has_name(s, target))
		add_text(s, target, symbol->name);
}

static const char *method_of(const void *arg, uint64_t start)
{
	const struct search *s = arg;

	return py_method_name(s->names, start);
}

static const char *export_of(const void *arg, uint64_t start)
{
	const struct search *s = arg;
	const uint64_t *name = map_find(&s->exported, start);

	return name ? (const char *)(uintptr_t)*name : NULL;
}

static bool name_end(void *arg, uint64_t start, const char *name)
{
	struct search *s = arg;

	if (!map_find(&s->names->names, start))
		add_text(s, start, name);
	return !s->no_memory;
}

struct error *py_method_names_find(struct elf_file *file,
				   const struct py_code_pieces *pieces,
				   struct py_call_graph *graph,
				   struct py_method_names *ret)
{
	struct search s = { .file = file, .pieces = pieces, .names = ret };
	struct py_named named = { method_of, export_of, name_end, &s };
	struct error *error;

	if (!py_method_names_maybe(file))
		return NULL;
	error = each_export(&s, note_export);
	if (!error)
		error = py_data_image_load(file, &s.data);
	if (!error)
		look_through(&s);
	if (!error)
		error = each_export(&s, name_jump);
	if (!error)
		error = name_collector(&s);
	if (!error)
		error = py_method_ends_name(file, pieces, &s.data, &named,
					    graph);
	py_data_image_deinit(&s.data);
	map_deinit(&s.exported);
	if (!error && s.no_memory)
		error = error_no_memory();
	return error;
}

void py_method_names_deinit(struct py_method_names *names)
{
	map_deinit(&names->names);
	arena_deinit(&names->memory);
}

const char *py_method_name(const struct py_method_names *names, uint64_t start)
{
	const uint64_t *name = map_find(&names->names, start);
	const char *text = name ? (const char *)(uintptr_t)*name : "";

	return *text ? text : NULL;
}

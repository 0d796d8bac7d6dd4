// SPDX-License-Identifier: GPL-2.0-only
#include "python/call_glue.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_match.h"
#include "obj/elf_symbols.h"
#include "python/call_graph.h"
#include "python/data_image.h"
#include "python/layout.h"

/* Include/cpython/object.h: the same in 3.8 to 3.15. */
enum {
	TP_AS_ASYNC = 80,
	TP_CALL = 128,
	TP_ITERNEXT = 224,
	TP_METHODS = 232,
	TP_DESCR_GET = 272,
	TP_NAME = 24,
	TP_NEW = 312,
	AM_SEND = 24,
	/* struct PyType_Spec, PyType_Slot; Include/typeslots.h */
	SPEC_SLOTS = 24,
	SLOT_SIZE = 16,
	SLOTS_MAX = 64,
	SLOT_CALL = 50,
	SLOT_NEW = 65,
	/* Of struct PyMethodDef, struct pytype_slotdef. */
	METHOD_SIZE = 32,
	METHODS_MAX = 64,
	METHOD_FLAGS_MAX = 0x800,
	SLOT_OFFSET_MAX = 0x800,
};

/* Steps from PyRun_*() to PyEval_EvalCode(). */
#define WAY_MAX 10
/* Parts of parts of glue. */
#define ROUNDS_MAX 16
/* What more functions call is no part of call glue alone. */
#define CALLERS_MAX 32
/* A longer function is neither glue nor a maker of functions. */
#define CODE_MAX 65536

enum {
	/* .dynsym has it. */
	IS_EXPORTED = 1,
	/* Glue, whose callees may be glue as well. */
	IS_CALL = 2,
	/* Exported, and runs modules, files, strings. */
	IS_RUN = 4,
	/* Some data point to it: Python code may call it. */
	IS_IN_TABLE = 8,
	/* Glue that has no name. */
	IS_FOUND = 16,
	/* A slot or method of generators. */
	IS_GENERATOR = 32,
	/* Exported, and evaluates a frame. */
	IS_EVALUATOR = 64,
};

struct analysis {
	struct elf_file *file;
	const struct py_code_pieces *pieces;
	const struct py_binary *binary;
	bool (*is_glue)(const char *name);
	struct py_data_image data;
	struct py_call_graph *graph;
	/* Start of a function to IS_*. */
	struct map roles;
	/* The same to its distance from PyEval_EvalCode(). */
	struct map distances;
	uint64_t eval_code;
	uint64_t make_call;
	uint64_t eval_code_ex;
	uint64_t function_vectorcall;
	bool no_memory;
};

static uint64_t roles_of(const struct analysis *a, uint64_t function)
{
	const uint64_t *roles = map_find(&a->roles, function);

	return roles ? *roles : 0;
}

static void add_roles(struct analysis *a, uint64_t function, uint64_t roles)
{
	uint64_t *known = map_insert(&a->roles, function, 0, NULL);

	if (known)
		*known |= roles;
	else
		a->no_memory = true;
}

static bool is_function(const struct analysis *a, uint64_t vaddr)
{
	return py_function_begins(a->file, a->pieces, vaddr);
}

/* One that only its place can tell of: no name, in no table, no evaluation. */
static bool is_helper(const struct analysis *a, uint64_t function)
{
	return !(roles_of(a, function) & (IS_EXPORTED | IS_IN_TABLE)) &&
	       !py_binary_is_eval(a->binary, function);
}

/* *code stays NULL if it is no function, or a long one. To be freed. */
static struct error *read_code(const struct analysis *a, uint64_t function,
			       uint8_t **code, size_t *size)
{
	struct py_range range;

	if (!function || !is_function(a, function) ||
	    !a->pieces->find(a->pieces->arg, function, &range) ||
	    range.end - function > CODE_MAX)
		return NULL;
	*size = (size_t)(range.end - function);
	*code = malloc(*size);
	if (!*code)
		return error_no_memory();
	return elf_file_read_image(a->file, function, *code, *size);
}

/* --- Names -------------------------------------------------------------- */

/* They compile and import, too, so that what they call is not all glue. */
static bool is_run(const char *name)
{
	return name_begins_with(name, "PyRun_") || name_begins_with(name, "_PyRun_") ||
	       name_begins_with(name, "Py_") || name_begins_with(name, "PyImport_");
}

static struct error *read_names(struct analysis *a)
{
	struct elf_symbol_iter it;
	struct elf_symbol s;
	struct error *error =
		elf_symbol_iter_init_type(a->file, SHT_DYNSYM, &it);

	if (error)
		return error;
	while (elf_symbol_iter_next(&it, &s)) {
		if (s.shndx == SHN_UNDEF || s.type != STT_FUNC)
			continue;
		add_roles(a, s.vaddr, IS_EXPORTED);
		if (!strcmp(s.name, "PyEval_EvalCode"))
			a->eval_code = s.vaddr;
		if (!strcmp(s.name, "_PyObject_MakeTpCall"))
			a->make_call = s.vaddr;
		if (!strcmp(s.name, "PyEval_EvalCodeEx"))
			a->eval_code_ex = s.vaddr;
		if (!strcmp(s.name, "_PyFunction_Vectorcall"))
			a->function_vectorcall = s.vaddr;
		/* What the evaluation function calls is work. */
		if (a->is_glue(s.name) && !py_binary_is_eval(a->binary, s.vaddr))
			add_roles(a, s.vaddr, is_run(s.name) ? IS_RUN : IS_CALL);
		if (name_begins_with(s.name, "PyEval_EvalFrame"))
			add_roles(a, s.vaddr, IS_EVALUATOR);
	}
	return NULL;
}

static uint64_t exported(const struct analysis *a, const char *name)
{
	struct elf_symbol symbol;
	struct error *error = elf_file_find_symbol(a->file, name, &symbol);

	if (error) {
		error_destroy(error);
		return 0;
	}
	return symbol.vaddr;
}

/* --- Tables ------------------------------------------------------------- */

static bool read_text(const struct analysis *a, uint64_t vaddr, char *buf,
		      size_t size)
{
	struct error *error =
		vaddr ? elf_file_read_image(a->file, vaddr, buf, size - 1) :
			error_create(ERROR_FAULT, "no text");

	buf[size - 1] = '\0';
	if (!error)
		return true;
	error_destroy(error);
	return false;
}

/* "__add__" */
static bool is_special_name(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && name_begins_with(name, "__") && !strcmp(name + n - 2, "__");
}

/* The words of a table's entry, whatever kind of table it is. */
struct entry {
	uint64_t words[4];
};

/* { name, offset, function, wrapper }, Objects/typeobject.c */
static bool is_slotdef(const struct analysis *a, const struct entry *entry)
{
	char name[32];

	return entry->words[1] < SLOT_OFFSET_MAX &&
	       is_function(a, entry->words[2]) &&
	       (!entry->words[3] || is_function(a, entry->words[3])) &&
	       read_text(a, entry->words[0], name, sizeof(name)) &&
	       is_special_name(name);
}

/* { name, function, flags, doc }, Include/methodobject.h */
static bool is_run_method(const struct analysis *a, const struct entry *entry)
{
	char name[8];

	return entry->words[2] < METHOD_FLAGS_MAX &&
	       is_function(a, entry->words[1]) &&
	       read_text(a, entry->words[0], name, sizeof(name)) &&
	       (!strcmp(name, "exec") || !strcmp(name, "eval"));
}

static void look_at(struct analysis *a, uint64_t vaddr)
{
	struct entry entry;

	for (size_t i = 0; i < 4; i++)
		entry.words[i] =
			py_data_word(&a->data, vaddr + i * sizeof(uint64_t));
	if (is_function(a, entry.words[0]))
		add_roles(a, entry.words[0], IS_IN_TABLE);
	if (is_slotdef(a, &entry))
		add_roles(a, entry.words[2], IS_FOUND | IS_CALL);
	else if (is_run_method(a, &entry))
		add_roles(a, entry.words[1], IS_FOUND);
}

static void read_tables(struct analysis *a)
{
	vec_for_each(part, &a->data.parts) {
		uint64_t at = (part->vaddr + 7) & ~7ull;

		for (; at < part->vaddr + part->size; at += sizeof(uint64_t))
			look_at(a, at);
	}
}

static void add_slot(struct analysis *a, uint64_t function, uint64_t roles)
{
	if (is_function(a, function))
		add_roles(a, function, IS_FOUND | IS_CALL | roles);
}

static void add_generator_methods(struct analysis *a, uint64_t methods)
{
	static const char *const names[] = { "send", "throw", "close" };
	char name[8];

	for (size_t i = 0; i < METHODS_MAX; i++, methods += METHOD_SIZE) {
		if (!read_text(a, py_data_word(&a->data, methods), name,
			       sizeof(name)))
			return;
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (!strcmp(name, names[k]))
				add_slot(a, py_data_word(&a->data, methods + 8),
					 IS_GENERATOR);
	}
}

static void read_types(struct analysis *a)
{
	static const struct {
		const char *name;
		unsigned int slot;
		unsigned int roles;
	} slots[] = {
		{ "PyCFunction_Type", TP_CALL, 0 },
		{ "PyMethod_Type", TP_CALL, 0 },
		{ "PyFunction_Type", TP_CALL, 0 },
		{ "PyInstanceMethod_Type", TP_CALL, 0 },
		{ "PyMethodDescr_Type", TP_CALL, 0 },
		{ "PyClassMethodDescr_Type", TP_CALL, 0 },
		{ "_PyMethodWrapper_Type", TP_CALL, 0 },
		{ "PyProperty_Type", TP_DESCR_GET, 0 },
		{ "PyGen_Type", TP_ITERNEXT, IS_GENERATOR },
	};
	static const char *const generators[] = { "PyGen_Type", "PyCoro_Type",
						  "PyAsyncGen_Type" };

	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		uint64_t type = exported(a, slots[i].name);

		if (type)
			add_slot(a,
				 py_data_word(&a->data, type + slots[i].slot),
				 slots[i].roles);
	}
	for (size_t i = 0; i < sizeof(generators) / sizeof(*generators); i++) {
		uint64_t type = exported(a, generators[i]);
		uint64_t async =
			type ? py_data_word(&a->data, type + TP_AS_ASYNC) : 0;

		if (!type)
			continue;
		if (async)
			add_slot(a, py_data_word(&a->data, async + AM_SEND),
				 IS_GENERATOR);
		add_generator_methods(
			a, py_data_word(&a->data, type + TP_METHODS));
	}
}

/* --- What makers of function objects store ------------------------------ */

/*
 * The 32 bits at code + at are the immediate operand of a comparison: 3D, or
 * 81 /7 with whatever addressing between.
 */
static bool is_compared(const uint8_t *code, size_t at)
{
	static const size_t lengths[] = { 2, 3, 4, 6, 7 };

	if (code[at - 1] == 0x3d)
		return true;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (at >= lengths[i] && code[at - lengths[i]] == 0x81 &&
		    (code[at - lengths[i] + 1] & 0x38) == 0x38)
			return true;
	return false;
}

/* An address that code loads (lea) or has as a constant. */
static uint64_t constant_at(const uint8_t *code, size_t size, size_t at,
			    uint64_t vaddr)
{
	bool is_lea = at >= 2 && code[at - 2] == 0x8d &&
		      (code[at - 1] & 0xc7) == 0x05;
	uint32_t value;

	memcpy(&value, code + at, sizeof(value));
	if (!is_lea)
		return is_compared(code, at) ? 0 : value;
	/* A comparison with what was loaded: 39 or 3B behind a REX prefix. */
	if (at + 6 <= size && (code[at + 5] & 0xfd) == 0x39)
		return 0;
	return vaddr + at + sizeof(value) + (uint64_t)(int64_t)(int32_t)value;
}

static void scan_maker(struct analysis *a, const uint8_t *code, size_t size,
		       uint64_t vaddr)
{
	for (size_t at = 1; at + sizeof(uint32_t) <= size; at++) {
		uint64_t target = constant_at(code, size, at, vaddr);
		uint64_t call;

		if (!target || py_call_target(code, at, vaddr, &call) ||
		    !is_function(a, target))
			continue;
		/* Allocators and the like stand in tables. */
		if (is_helper(a, target))
			add_roles(a, target, IS_FOUND | IS_CALL);
	}
}

static struct error *read_maker(struct analysis *a, uint64_t function)
{
	_cleanup_free_ uint8_t *code = NULL;
	size_t size = 0;
	struct error *error = read_code(a, function, &code, &size);

	if (!error && code)
		scan_maker(a, code, size, function);
	return error;
}

static struct error *read_makers(struct analysis *a)
{
	static const char *const names[] = {
		"PyCMethod_New", "PyCFunction_NewEx", "PyDescr_NewMethod",
		"PyMethod_New", "PyFunction_NewWithQualName",
	};
	struct error *error = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !error; i++)
		error = read_maker(a, exported(a, names[i]));
	return error;
}

/* --- functools.partial -------------------------------------------------- */

/* Its slots, up to 3.9 in a type, since then in a list. */
struct partial {
	uint64_t call;
	uint64_t make;
};

static struct partial read_slots(const struct analysis *a, uint64_t slots)
{
	struct partial partial = {};

	for (size_t i = 0; i < SLOTS_MAX; i++, slots += SLOT_SIZE) {
		uint32_t slot = (uint32_t)py_data_word(&a->data, slots);
		uint64_t function = py_data_word(&a->data, slots + 8);

		if (!slot)
			break;
		if (slot == SLOT_CALL)
			partial.call = function;
		if (slot == SLOT_NEW)
			partial.make = function;
	}
	return partial;
}

/* A pointer to the name is at vaddr. */
static struct error *read_partial(struct analysis *a, uint64_t vaddr)
{
	uint64_t type = vaddr - TP_NAME;
	struct partial partial = read_slots(
		a, py_data_word(&a->data, vaddr + SPEC_SLOTS));

	if (!is_function(a, partial.call) || !is_function(a, partial.make))
		partial = (struct partial){
			py_data_word(&a->data, type + TP_CALL),
			py_data_word(&a->data, type + TP_NEW),
		};
	if (!is_function(a, partial.call) || !is_function(a, partial.make))
		return NULL;
	add_slot(a, partial.call, 0);
	return read_maker(a, partial.make);
}

static bool find_text(struct elf_file *file, const char *text, uint64_t *ret)
{
	const struct elf_section *section = NULL;
	size_t size = strlen(text) + 1;
	const uint8_t *found = NULL;
	struct bytes bytes;
	struct error *error =
		elf_file_section_by_name(file, ".rodata", &section, &bytes);

	if (!error)
		found = memmem(bytes.data, bytes.size, text, size);
	if (found)
		*ret = section->addr + (uint64_t)(found - bytes.data);
	error_destroy(error);
	return found != NULL;
}

static struct error *find_partial(struct analysis *a)
{
	struct error *error = NULL;
	uint64_t name;

	if (!find_text(a->file, "functools.partial", &name))
		return NULL;
	vec_for_each(part, &a->data.parts) {
		uint64_t at = (part->vaddr + 7) & ~7ull;

		for (; at < part->vaddr + part->size && !error;
		     at += sizeof(uint64_t))
			if (py_data_word(&a->data, at) == name)
				error = read_partial(a, at);
	}
	return error;
}

/* --- Calls -------------------------------------------------------------- */

/* How many functions that have one of the roles call it; *all: how many do. */
static size_t count_callers(const struct analysis *a, uint64_t function,
			    uint64_t roles, size_t *all)
{
	struct py_call_span calls = py_calls_to(a->graph, function);
	const struct py_call *last = NULL;
	size_t count = 0;

	*all = 0;
	for (const struct py_call *c = calls.first; c < calls.end; c++) {
		if (last && last->from == c->from)
			continue;
		last = c;
		++*all;
		count += !!(roles_of(a, c->from) & roles);
	}
	return count;
}

typedef VEC(uint64_t) starts_vec;

/* Helpers that call the function and are called by glue; added to *found. */
static void find_between(struct analysis *a, uint64_t callee,
			 starts_vec *found)
{
	struct py_call_span calls = py_calls_to(a->graph, callee);
	size_t all;

	for (const struct py_call *c = calls.first; c < calls.end; c++) {
		if (roles_of(a, c->from) & IS_FOUND || !is_helper(a, c->from) ||
		    !count_callers(a, c->from, IS_CALL, &all))
			continue;
		add_roles(a, c->from, IS_FOUND | IS_CALL);
		if (!vec_push(found, c->from))
			a->no_memory = true;
	}
}

/* Between glue and the evaluation function: one helper, or two. */
static void find_evaluators(struct analysis *a)
{
	starts_vec first = {}, second = {};

	find_between(a, a->binary->eval_entry.start, &first);
	for (size_t i = 0; i < a->roles.capacity; i++)
		if (a->roles.used[i] &&
		    a->roles.entries[i].value & IS_EVALUATOR &&
		    !vec_push(&second, a->roles.entries[i].key))
			a->no_memory = true;
	vec_for_each(function, &second)
		find_between(a, *function, &first);
	vec_clear(&second);
	vec_for_each(function, &first)
		find_between(a, *function, &second);
	vec_deinit(&first);
	vec_deinit(&second);
}

/* Reads tp_call of some type, or calls it: 8B or FF, 32 bits of displacement. */
static bool uses_tp_call(const uint8_t *code, size_t size)
{
	static const uint8_t displacement[] = { TP_CALL, 0, 0, 0 };

	for (size_t i = 0; i + 6 <= size; i++)
		if ((code[i] == 0x8b || code[i] == 0xff) &&
		    (code[i + 1] & 0xc0) == 0x80 &&
		    !memcmp(code + i + 2, displacement, sizeof(displacement)))
			return true;
	return false;
}

static bool calls(const struct analysis *a, uint64_t function, uint64_t callee)
{
	struct py_call_span span = py_calls_from(a->graph, function);

	for (const struct py_call *c = span.first; c < span.end; c++)
		if (c->to == callee)
			return true;
	return false;
}

static struct error *passes_calls_on(const struct analysis *a,
				     uint64_t function, bool *ret)
{
	_cleanup_free_ uint8_t *code = NULL;
	size_t size = 0;
	struct error *error = NULL;

	*ret = a->make_call && calls(a, function, a->make_call);
	if (!*ret)
		error = read_code(a, function, &code, &size);
	if (!error && code)
		*ret = uses_tp_call(code, size);
	return error;
}

/* By who calls it, may the helper be a part of glue if it passes calls on? */
static bool is_shared(const struct analysis *a, uint64_t function)
{
	size_t all, exported_glue = 0;
	size_t glue = count_callers(a, function, IS_CALL, &all);
	struct py_call_span span = py_calls_to(a->graph, function);
	uint64_t last = 0;

	if (glue >= 2 && all <= CALLERS_MAX)
		return true;
	for (const struct py_call *c = span.first; c < span.end; c++) {
		exported_glue += c->from != last &&
				 !(~roles_of(a, c->from) &
				   (IS_CALL | IS_EXPORTED));
		last = c->from;
	}
	return exported_glue >= 2;
}

/*
 * In 3.8 to 3.10 the evaluation function calls by way of call_function(), in 3.15
 * by copies of _Py_VectorCall_StackRefSteal() that the compiler made.
 */
static bool is_of_evaluation(const struct analysis *a, uint64_t function)
{
	struct py_call_span span = py_calls_to(a->graph, function);
	unsigned int minor = PY_MINOR(a->binary->version);

	for (const struct py_call *c = span.first; c < span.end; c++)
		if (!py_binary_is_eval(a->binary, c->from))
			return false;
	return minor < 11 || minor >= 15;
}

/* gen_send_ex(); _PyEval_Vector() where it has the evaluation function called. */
static bool is_known_part(const struct analysis *a, uint64_t function)
{
	size_t callers, generators = count_callers(a, function, IS_GENERATOR,
						   &callers);

	return callers <= CALLERS_MAX &&
	       (generators >= 2 ||
		(calls(a, a->function_vectorcall, function) &&
		 (calls(a, a->eval_code, function) ||
		  calls(a, a->eval_code_ex, function))));
}

/*
 * What PyObject_CallOneArg() and others like it share: object_vacall(), copies
 * of _PyObject_MakeTpCall() that the compiler made; what methods of generators
 * share: gen_send_ex().
 */
static struct error *find_shared(struct analysis *a)
{
	const struct py_calls *all = &a->graph->by_callee;
	struct error *error = NULL;

	for (size_t i = 0; i < all->count && !error; i++) {
		uint64_t function = all->data[i].to;
		bool is_part;

		if ((i && all->data[i - 1].to == function) ||
		    !is_helper(a, function))
			continue;
		is_part = is_known_part(a, function);
		if (!is_part && (is_shared(a, function) ||
				 is_of_evaluation(a, function)))
			error = passes_calls_on(a, function, &is_part);
		if (!error && is_part)
			add_roles(a, function, IS_FOUND | IS_CALL);
	}
	return error;
}

/* Helpers that nothing but glue calls; true if there were new ones. */
static bool find_parts(struct analysis *a)
{
	const struct py_calls *calls = &a->graph->by_callee;
	bool any = false;

	for (size_t i = 0; i < calls->count; i++) {
		uint64_t function = calls->data[i].to;
		size_t all;

		if ((i && calls->data[i - 1].to == function) ||
		    roles_of(a, function) & IS_FOUND ||
		    !is_helper(a, function) ||
		    count_callers(a, function, IS_CALL, &all) < all)
			continue;
		add_roles(a, function, IS_FOUND | IS_CALL);
		any = true;
	}
	return any;
}

/* --- From PyRun_*() to PyEval_EvalCode() -------------------------------- */

static uint64_t distance_of(const struct analysis *a, uint64_t function)
{
	const uint64_t *distance = map_find(&a->distances, function);

	return distance ? *distance : WAY_MAX;
}

/* Numbers the helpers from which there is a way to PyEval_EvalCode(). */
static void measure(struct analysis *a)
{
	VEC(uint64_t) queue = {};
	size_t next = 0;

	if (!vec_push(&queue, a->eval_code) ||
	    !map_insert(&a->distances, a->eval_code, 0, NULL))
		a->no_memory = true;
	while (next < queue.count && !a->no_memory) {
		uint64_t callee = queue.data[next++];
		uint64_t distance = distance_of(a, callee) + 1;
		struct py_call_span calls = py_calls_to(a->graph, callee);

		for (const struct py_call *c = calls.first;
		     c < calls.end && distance < WAY_MAX; c++) {
			bool is_new = false;

			if (!is_helper(a, c->from))
				continue;
			if (!map_insert(&a->distances, c->from, distance,
					&is_new) ||
			    (is_new && !vec_push(&queue, c->from)))
				a->no_memory = true;
		}
	}
	vec_deinit(&queue);
}

/* Marks the shortest way from there. */
static void walk(struct analysis *a, uint64_t function)
{
	uint64_t distance = WAY_MAX;

	while (distance > 1) {
		struct py_call_span calls = py_calls_from(a->graph, function);
		uint64_t next = 0;

		for (const struct py_call *c = calls.first; c < calls.end; c++)
			if (distance_of(a, c->to) < distance) {
				distance = distance_of(a, c->to);
				next = c->to;
			}
		if (!next || next == a->eval_code)
			return;
		add_roles(a, next, IS_FOUND);
		function = next;
	}
}

/* pymain_main() calls Py_RunMain(). */
static bool calls_run(const struct analysis *a, uint64_t function)
{
	struct py_call_span calls = py_calls_from(a->graph, function);

	for (const struct py_call *c = calls.first; c < calls.end; c++)
		if (roles_of(a, c->to) & IS_RUN)
			return true;
	return false;
}

static void find_ways(struct analysis *a)
{
	const struct py_calls *calls = &a->graph->by_caller;

	if (!a->eval_code)
		return;
	measure(a);
	for (size_t i = 0; i < calls->count; i++) {
		const struct py_call *call = &calls->data[i];

		if (!(roles_of(a, call->from) & IS_RUN) ||
		    !is_helper(a, call->to))
			continue;
		if (distance_of(a, call->to) < WAY_MAX ||
		    calls_run(a, call->to))
			add_roles(a, call->to, IS_FOUND);
		if (distance_of(a, call->to) < WAY_MAX)
			walk(a, call->to);
	}
}

/* ------------------------------------------------------------------------ */

static struct error *analyse(struct analysis *a)
{
	struct error *error = read_names(a);

	if (!error)
		error = py_data_image_load(a->file, &a->data);
	if (!error)
		error = py_call_graph_load(a->file, a->pieces, a->graph);
	if (error)
		return error;
	read_tables(a);
	read_types(a);
	error = read_makers(a);
	if (!error)
		error = find_partial(a);
	if (error)
		return error;
	find_evaluators(a);
	error = find_shared(a);
	if (error)
		return error;
	for (int i = 0; i < ROUNDS_MAX && find_parts(a); i++)
		;
	find_ways(a);
	return NULL;
}

static struct error *take_found(struct analysis *a, struct py_call_glue *ret)
{
	for (size_t i = 0; i < a->roles.capacity && !a->no_memory; i++) {
		const struct map_entry *entry = &a->roles.entries[i];

		if (a->roles.used[i] && entry->value & IS_FOUND &&
		    !map_insert(&ret->starts, entry->key, 1, NULL))
			a->no_memory = true;
	}
	return a->no_memory ? error_no_memory() : NULL;
}

struct error *py_call_glue_find(struct elf_file *file,
				const struct py_code_pieces *pieces,
				const struct py_binary *binary,
				bool (*is_glue)(const char *name),
				struct py_call_graph *graph,
				struct py_call_glue *ret)
{
	struct analysis a = { .file = file,
			      .pieces = pieces,
			      .binary = binary,
			      .is_glue = is_glue,
			      .graph = graph };
	struct error *error = analyse(&a);

	if (!error)
		error = take_found(&a, ret);
	py_data_image_deinit(&a.data);
	map_deinit(&a.roles);
	map_deinit(&a.distances);
	return error;
}

void py_call_glue_deinit(struct py_call_glue *glue)
{
	map_deinit(&glue->starts);
}

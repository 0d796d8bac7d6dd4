// SPDX-License-Identifier: GPL-2.0-only
#include "python/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "obj/elf_symbols.h"
#include "obj/elf_symtab.h"
#include "unwind/insn.h"

#define CODE_MAX (32u << 20)
#define PLT "@plt"
#define CALLS_MAX (4u << 20)
/* Bytes that are taken for instructions one after the other; real files take few. */
#define DECODED_MAX (64u << 20)

bool py_call_target(const uint8_t *code, size_t at, uint64_t vaddr,
		    uint64_t *ret)
{
	uint8_t opcode = code[at - 1];
	int32_t distance;

	if (opcode != 0xe8 && opcode != 0xe9 &&
	    (at < 2 || code[at - 2] != 0x0f || (opcode & 0xf0) != 0x80))
		return false;
	memcpy(&distance, code + at, sizeof(distance));
	*ret = vaddr + at + sizeof(distance) + (uint64_t)(int64_t)distance;
	return true;
}

struct scan {
	const struct py_code_pieces *pieces;
	struct py_call_graph *graph;
	/* Entry of the linkage table to the function. */
	struct map linked;
	/* The segment. */
	uint64_t start;
	uint64_t end;
	/* Bytes that were taken for instructions. */
	uint64_t decoded;
};

/* Where a call leads in the end; false if that is no function here. */
static bool resolve(const struct scan *scan, uint64_t *target)
{
	const uint64_t *linked;
	struct py_range callee;

	if (*target < scan->start || *target >= scan->end)
		return false;
	linked = map_find(&scan->linked, *target);
	if (linked)
		*target = *linked;
	return scan->pieces->find(scan->pieces->arg, *target, &callee) &&
	       callee.start == *target;
}

static struct error *add_call(struct scan *scan, struct py_range function,
			      uint64_t target, bool is_jump)
{
	struct py_calls *calls = &scan->graph->by_caller;

	if (!resolve(scan, &target) || target == function.start)
		return NULL;
	if (calls->count >= CALLS_MAX)
		return error_create(ERROR_LIMIT, "too many calls");
	return vec_push(calls, (struct py_call){ function.start, target,
						 is_jump }) ?
		       NULL :
		       error_no_memory();
}

static bool is_short_jump(uint8_t opcode)
{
	return opcode == 0xeb || (opcode & 0xf0) == 0x70;
}

/* One begins at `at`, if they are taken one after the other. */
static bool is_instruction(struct scan *scan, const uint8_t *code, size_t size,
			   size_t at)
{
	struct insn insn;
	size_t n = 0;

	while (n < at && scan->decoded < DECODED_MAX &&
	       insn_decode(code + n, size - n, &insn)) {
		n += insn.size;
		scan->decoded += insn.size;
	}
	return n == at;
}

/* The code of a function from `part`, which lies at vaddr, to its end. */
static struct error *scan_function(struct scan *scan, const uint8_t *part,
				   uint64_t vaddr, struct py_range function)
{
	size_t size = (size_t)(function.end - vaddr);
	struct error *error = NULL;
	uint64_t target;

	for (size_t at = 1; at + sizeof(int32_t) <= size && !error; at++)
		if (py_call_target(part, at, vaddr, &target))
			error = add_call(scan, function, target,
					 part[at - 1] != 0xe8);
	for (size_t at = 1; at < size && !error; at++) {
		target = vaddr + at + 1 + (uint64_t)(int8_t)part[at];
		if (is_short_jump(part[at - 1]) &&
		    (target < function.start || target >= function.end) &&
		    resolve(scan, &target) &&
		    is_instruction(scan, part, size, at - 1))
			error = add_call(scan, function, target, true);
	}
	return error;
}

static struct error *scan_segment(struct elf_file *file, struct scan *scan)
{
	_cleanup_free_ uint8_t *code = malloc(scan->end - scan->start);
	struct py_range function;
	struct error *error;

	if (!code)
		return error_no_memory();
	error = elf_file_read_image(file, scan->start, code,
				    scan->end - scan->start);
	for (uint64_t at = scan->start; at < scan->end && !error;) {
		if (!scan->pieces->find(scan->pieces->arg, at, &function) ||
		    function.start < scan->start || function.end > scan->end ||
		    function.end <= at) {
			at++;
			continue;
		}
		error = scan_function(scan, code + (at - scan->start), at,
				      function);
		at = function.end;
	}
	return error;
}

static int by_caller(const void *a, const void *b)
{
	const struct py_call *x = a, *y = b;
	int order = compare_u64(x->from, y->from);

	return order ? order : compare_u64(x->to, y->to);
}

static int by_callee(const void *a, const void *b)
{
	const struct py_call *x = a, *y = b;
	int order = compare_u64(x->to, y->to);

	return order ? order : compare_u64(x->from, y->from);
}

static struct error *sort(struct py_call_graph *graph)
{
	struct py_calls *from = &graph->by_caller, *to = &graph->by_callee;

	if (!from->count)
		return NULL;
	if (!vec_reserve(to, from->count))
		return error_no_memory();
	memcpy(to->data, from->data, from->count * sizeof(*from->data));
	to->count = from->count;
	qsort(from->data, from->count, sizeof(*from->data), by_caller);
	qsort(to->data, to->count, sizeof(*to->data), by_callee);
	return NULL;
}

/* "name@plt" to the function of that name, if the file itself has it. */
static struct error *link_entry(struct elf_file *file,
				const struct symbol *entry, struct map *linked)
{
	size_t length = strlen(entry->name);
	_cleanup_free_ char *name = NULL;
	struct elf_symbol symbol;
	struct error *error;

	if (length <= strlen(PLT) ||
	    strcmp(entry->name + length - strlen(PLT), PLT))
		return NULL;
	name = strndup(entry->name, length - strlen(PLT));
	if (!name)
		return error_no_memory();
	error = elf_file_find_symbol(file, name, &symbol);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (!error && !map_insert(linked, entry->start, symbol.vaddr, NULL))
		return error_no_memory();
	error_destroy(error);
	return NULL;
}

static struct error *read_linkage_table(struct elf_file *file,
					struct map *linked)
{
	struct symtab symtab = {};
	struct error *error =
		elf_symtab_load(file, NULL, false, &symtab, NULL);

	for (size_t i = 0; i < symtab.count && !error; i++)
		error = link_entry(file, &symtab.symbols[i], linked);
	symtab_deinit(&symtab);
	return error;
}

static struct error *scan_segments(struct elf_file *file, struct scan *scan)
{
	struct error *error = NULL;
	uint64_t total = 0;

	for (size_t i = 0; i < file->segment_count && !error; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || !s->filesz)
			continue;
		if (s->filesz > CODE_MAX - total)
			return error_at(ERROR_LIMIT, file->path, s->offset,
					"more code than kaa looks through");
		total += s->filesz;
		scan->start = s->vaddr;
		scan->end = s->vaddr + s->filesz;
		if (scan->end > scan->start)
			error = scan_segment(file, scan);
	}
	return error;
}

struct error *py_call_graph_load(struct elf_file *file,
				 const struct py_code_pieces *pieces,
				 struct py_call_graph *ret)
{
	struct scan scan = { .pieces = pieces, .graph = ret };
	struct error *error;

	if (ret->is_loaded)
		return NULL;
	error = read_linkage_table(file, &scan.linked);
	if (!error)
		error = scan_segments(file, &scan);
	map_deinit(&scan.linked);
	if (!error)
		error = sort(ret);
	if (error)
		py_call_graph_deinit(ret);
	ret->is_loaded = !error;
	return error;
}

void py_call_graph_deinit(struct py_call_graph *graph)
{
	vec_deinit(&graph->by_caller);
	vec_deinit(&graph->by_callee);
	graph->is_loaded = false;
}

static struct py_call_span span_of(const struct py_calls *calls,
				   struct py_call key,
				   int (*order)(const void *, const void *))
{
	size_t low = 0, high = calls->count;
	struct py_call_span span;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order(&calls->data[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	span.first = span.end = calls->data + low;
	return span;
}

struct py_call_span py_calls_from(const struct py_call_graph *graph,
				  uint64_t function)
{
	const struct py_calls *calls = &graph->by_caller;
	struct py_call_span span = {};

	if (!calls->count)
		return span;
	span = span_of(calls, (struct py_call){ .from = function }, by_caller);
	while (span.end < calls->data + calls->count &&
	       span.end->from == function)
		span.end++;
	return span;
}

struct py_call_span py_calls_to(const struct py_call_graph *graph,
				uint64_t function)
{
	const struct py_calls *calls = &graph->by_callee;
	struct py_call_span span = {};

	if (!calls->count)
		return span;
	span = span_of(calls, (struct py_call){ .to = function }, by_callee);
	while (span.end < calls->data + calls->count &&
	       span.end->to == function)
		span.end++;
	return span;
}

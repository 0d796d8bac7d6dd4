// SPDX-License-Identifier: GPL-2.0-only
#include "python/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/elf_symbols.h"
#include "python/call_graph.h"

enum {
	/* Calls from PyGC_Collect() on, and functions that are looked at. */
	DEPTH_MAX = 4,
	FUNCTIONS_MAX = 512,
	/* Of the collector there are a few dozen. */
	WAYS_MAX = 16384,
	/* gc_collect_main() of 3.11 has 6 KB. */
	CODE_MAX = 65536,
	TP_TRAVERSE = 184,
};

struct reached {
	uint64_t start;
	unsigned int depth;
	bool is_collector;
};

/* Of a function to one that is a step further from PyGC_Collect(); their places. */
struct way {
	uint32_t from;
	uint32_t to;
};

struct search {
	struct elf_file *file;
	const struct py_code_pieces *pieces;
	bool (*has_name)(const void *arg, uint64_t start);
	const void *arg;
	VEC(struct reached) reached;
	/* Starts of those, to their places. */
	struct map known;
	VEC(struct way) ways;
};

/* call *184(%rax), or by another register that needs no more bytes for it. */
static bool calls_traverse(const uint8_t *code, size_t size)
{
	static const uint8_t offset[] = { TP_TRAVERSE, 0, 0, 0 };

	for (size_t at = 0; at + 2 + sizeof(offset) <= size; at++)
		if (code[at] == 0xff && (code[at + 1] & 0xf8) == 0x90 &&
		    code[at + 1] != 0x94 &&
		    !memcmp(code + at + 2, offset, sizeof(offset)))
			return true;
	return false;
}

static struct error *reach(struct search *s, uint64_t start, unsigned int depth)
{
	bool is_new;

	if (s->reached.count >= FUNCTIONS_MAX ||
	    !py_function_begins(s->file, s->pieces, start) || (depth && s->has_name(s->arg, start)))
		return NULL;
	if (!map_insert(&s->known, start, s->reached.count, &is_new) ||
	    (is_new && !vec_push(&s->reached, (struct reached){ start, depth })))
		return error_no_memory();
	return NULL;
}

static struct error *note_way(struct search *s, uint32_t from, uint64_t start)
{
	const uint64_t *to = map_find(&s->known, start);
	struct way way = { from, to ? (uint32_t)*to : 0 };

	if (!to || s->ways.count >= WAYS_MAX ||
	    s->reached.data[*to].depth != s->reached.data[from].depth + 1)
		return NULL;
	return vec_push(&s->ways, way) ? NULL : error_no_memory();
}

static struct error *reach_callees(struct search *s, const uint8_t *code,
				   size_t size, uint32_t from)
{
	const struct reached function = s->reached.data[from];
	struct error *error = NULL;
	uint64_t target;

	for (size_t at = 1; at + sizeof(int32_t) <= size && !error; at++) {
		if (!py_call_target(code, at, function.start, &target))
			continue;
		error = reach(s, target, function.depth + 1);
		if (!error)
			error = note_way(s, from, target);
	}
	return error;
}

/* Looks at a function, and notes what it calls. */
static struct error *look_at(struct search *s, uint32_t at)
{
	const struct reached function = s->reached.data[at];
	_cleanup_free_ uint8_t *code = NULL;
	struct py_range range;
	struct error *error;
	size_t size;

	if (!s->pieces->find(s->pieces->arg, function.start, &range) ||
	    range.end - range.start > CODE_MAX)
		return NULL;
	size = (size_t)(range.end - range.start);
	code = malloc(size);
	if (!code)
		return error_no_memory();
	error = elf_file_read_image(s->file, function.start, code, size);
	if (error)
		return error;
	s->reached.data[at].is_collector = function.depth &&
					   calls_traverse(code, size);
	return function.depth < DEPTH_MAX ? reach_callees(s, code, size, at) :
					    NULL;
}

/* What lies on the way to a part of the collector is one, too: all that it does is to collect. */
static void mark_ways(struct search *s)
{
	bool more = true;

	while (more) {
		more = false;
		vec_for_each(way, &s->ways) {
			struct reached *from = &s->reached.data[way->from];

			if (!from->depth || from->is_collector ||
			    !s->reached.data[way->to].is_collector)
				continue;
			from->is_collector = more = true;
		}
	}
}

static struct error *begin(struct search *s)
{
	struct elf_symbol symbol;
	struct error *error =
		elf_file_find_symbol(s->file, "PyGC_Collect", &symbol);

	if (!error)
		return reach(s, symbol.vaddr, 0);
	if (error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

struct error *py_collector_find(struct elf_file *file,
				const struct py_code_pieces *pieces,
				bool (*has_name)(const void *arg, uint64_t start),
				const void *arg,
				uint64_t ret[static PY_COLLECTOR_MAX],
				size_t *count)
{
	struct search s = { .file = file,
			    .pieces = pieces,
			    .has_name = has_name,
			    .arg = arg };
	struct error *error = begin(&s);

	*count = 0;
	for (uint32_t i = 0; i < s.reached.count && !error; i++)
		error = look_at(&s, i);
	mark_ways(&s);
	vec_for_each(function, &s.reached)
		if (!error && function->is_collector && *count < PY_COLLECTOR_MAX)
			ret[(*count)++] = function->start;
	vec_deinit(&s.reached);
	vec_deinit(&s.ways);
	map_deinit(&s.known);
	return error;
}

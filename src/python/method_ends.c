// SPDX-License-Identifier: GPL-2.0-only
#include "python/method_ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/name_match.h"

enum {
	/* Ends of ends of methods. */
	PASSES_MAX = 4,
	NAME_SIZE = 512,
	/* What a name has to have at least, to be looked for in another one. */
	PART_MIN = 3,
	/* Of a segment. */
	SIZE_MAX_READ = 64 << 20,
	/* What takes a quarter of a second; CPython has 3 MiB. */
	CODE_MAX = 8 << 20,
};

struct search {
	const struct py_named *named;
	const struct py_call_graph *graph;
	/* Starts of functions that are called, from first to last; 1: there are other ways. */
	struct map called;
	uint64_t first;
	uint64_t last;
};

/* The methods that a function is the end of; the second may be NULL. */
struct methods {
	const char *names[2];
};

/* False: it is the third. */
static bool note_method(struct methods *methods, const char *name)
{
	for (size_t i = 0; i < 2; i++) {
		if (!methods->names[i])
			methods->names[i] = name;
		if (!strcmp(methods->names[i], name))
			return true;
	}
	return false;
}

/* Methods that call the function, one of them as its last. False: others do, too. */
static bool find_methods(const struct search *s, struct py_call_span calls,
			 struct methods *methods)
{
	bool is_end = false;

	for (const struct py_call *c = calls.first; c < calls.end; c++) {
		const char *name = s->named->method(s->named->arg, c->from);

		if (s->named->export(s->named->arg, c->from))
			continue;
		if (!name || !note_method(methods, name))
			return false;
		is_end |= c->is_jump;
	}
	return is_end;
}

/* Exported functions that call it do what the method does, by their names. */
static bool exports_fit(const struct search *s, struct py_call_span calls,
			const char *method)
{
	const char *part = name_last_part(method);

	for (const struct py_call *c = calls.first; c < calls.end; c++) {
		const char *export = s->named->export(s->named->arg, c->from);

		if (export && (strlen(part) < PART_MIN ||
			       strnlen(export, NAME_SIZE) == NAME_SIZE ||
			       !strcasestr(export, part)))
			return false;
	}
	return true;
}

/* The one that a reader is likelier to know. */
static bool goes_first(const char *a, const char *b)
{
	bool is_private = *name_last_part(a) == '_';

	if (is_private != (*name_last_part(b) == '_'))
		return !is_private;
	return strlen(a) != strlen(b) ? strlen(a) < strlen(b) :
					strcmp(a, b) < 0;
}

/* False: one name cannot say both. */
static bool join(const struct methods *methods, char ret[static NAME_SIZE])
{
	const char *a = methods->names[0], *b = methods->names[1];
	size_t owner;

	if (!b)
		return snprintf(ret, NAME_SIZE, "%s", a) < NAME_SIZE;
	if (!goes_first(a, b)) {
		a = methods->names[1];
		b = methods->names[0];
	}
	if (strchr(a, '/') || strchr(b, '/'))
		return false;
	owner = (size_t)(name_last_part(a) - a);
	if (owner == (size_t)(name_last_part(b) - b) && !memcmp(a, b, owner))
		b += owner;
	else if (strcmp(name_last_part(a), name_last_part(b)) != 0)
		return false;
	return snprintf(ret, NAME_SIZE, "%s/%s", a, b) < NAME_SIZE;
}

static bool has_other_ways(const struct search *s, uint64_t function)
{
	const uint64_t *is_reached = map_find(&s->called, function);

	return !is_reached || *is_reached;
}

/* *named: it has a name now. */
static struct error *name_function(struct search *s, uint64_t function,
				   bool *named)
{
	struct py_call_span calls = py_calls_to(s->graph, function);
	struct methods methods = {};
	char name[NAME_SIZE];

	if (s->named->method(s->named->arg, function) ||
	    s->named->export(s->named->arg, function) ||
	    !find_methods(s, calls, &methods) ||
	    !exports_fit(s, calls, methods.names[0]) ||
	    has_other_ways(s, function) || !join(&methods, name))
		return NULL;
	*named = true;
	return s->named->add(s->named->arg, function, name) ?
		       NULL :
		       error_no_memory();
}

static struct error *name_functions(struct search *s)
{
	const struct py_calls *calls = &s->graph->by_callee;
	struct error *error = NULL;
	bool more = true;

	for (int pass = 0; pass < PASSES_MAX && more && !error; pass++) {
		more = false;
		for (size_t i = 0; i < calls->count && !error; i++)
			if (!i || calls->data[i - 1].to != calls->data[i].to)
				error = name_function(s, calls->data[i].to, &more);
	}
	return error;
}

/* --- Other ways to a function -------------------------------------------- */

static void note_address(struct search *s, uint64_t address)
{
	uint64_t *is_reached;

	if (address < s->first || address > s->last)
		return;
	is_reached = map_find(&s->called, address);
	if (is_reached)
		*is_reached = 1;
}

static void look_at_words(struct search *s, const uint8_t *bytes, uint64_t size)
{
	uint64_t word;

	for (uint64_t at = 0; at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		note_address(s, word);
	}
}

/*
 * Code and constants, which lie at vaddr: 32 bits that are an address, or are one from
 * where they end, in a lea.
 */
static void look_at_bytes(struct search *s, const uint8_t *bytes, uint64_t size,
			  uint64_t vaddr)
{
	int32_t bits;

	for (uint64_t at = 2; at + sizeof(bits) <= size; at++) {
		memcpy(&bits, bytes + at, sizeof(bits));
		note_address(s, (uint64_t)(int64_t)bits);
		if (bytes[at - 2] == 0x8d && (bytes[at - 1] & 0xc7) == 0x05)
			note_address(s, vaddr + at + sizeof(bits) +
						(uint64_t)(int64_t)bits);
	}
}

static struct error *look_at_segment(struct search *s, struct elf_file *file,
				     const struct elf_segment *segment)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct error *error;

	if (segment->filesz > SIZE_MAX_READ)
		return error_at(ERROR_LIMIT, file->path, segment->offset,
				"more of it than kaa looks through");
	bytes = malloc(segment->filesz);
	if (!bytes)
		return error_no_memory();
	error = elf_file_read_image(file, segment->vaddr, bytes,
				    segment->filesz);
	if (!error)
		look_at_bytes(s, bytes, segment->filesz, segment->vaddr);
	return error;
}

static struct error *note_called(struct search *s)
{
	const struct py_calls *calls = &s->graph->by_callee;

	for (size_t i = 0; i < calls->count; i++)
		if (!map_insert(&s->called, calls->data[i].to, 0, NULL))
			return error_no_memory();
	if (calls->count) {
		s->first = calls->data[0].to;
		s->last = calls->data[calls->count - 1].to;
	}
	return NULL;
}

static struct error *find_other_ways(struct search *s, struct elf_file *file,
				     const struct py_data_image *data)
{
	struct error *error = note_called(s);

	vec_for_each(part, &data->parts)
		look_at_words(s, part->bytes, part->size);
	for (size_t i = 0; i < file->segment_count && !error; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->type == PT_LOAD && segment->filesz &&
		    !(segment->flags & PF_W))
			error = look_at_segment(s, file, segment);
	}
	return error;
}

static bool has_much_code(const struct elf_file *file)
{
	uint64_t left = CODE_MAX;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X))
			continue;
		if (s->filesz > left)
			return true;
		left -= s->filesz;
	}
	return false;
}

struct error *py_method_ends_name(struct elf_file *file,
				  const struct py_code_pieces *pieces,
				  const struct py_data_image *data,
				  const struct py_named *named,
				  struct py_call_graph *graph)
{
	struct search s = { .named = named, .graph = graph };
	struct error *error;

	if (has_much_code(file))
		return NULL;
	error = py_call_graph_load(file, pieces, graph);
	if (!error)
		error = find_other_ways(&s, file, data);
	if (!error)
		error = name_functions(&s);
	map_deinit(&s.called);
	return error;
}

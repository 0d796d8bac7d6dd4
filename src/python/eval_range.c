// SPDX-License-Identifier: GPL-2.0-only
#include "python/eval_range.h"

#include <stdlib.h>
#include <string.h>

#include "obj/elf_symbols.h"
#include "python/layout.h"

#define TAIL_CALL_PREFIX "_TAIL_CALL_"
/* A longer function is not searched for jumps. */
#define CODE_MAX (4u << 20)
#define CANDIDATES_MAX 32
/* An evaluation function with all instructions in it is longer than this. */
#define BODY_MIN 16384

static const char *eval_name(const struct py_binary *binary)
{
	return binary->version < PY_SERIES_3 ? "PyEval_EvalFrameEx" :
					       "_PyEval_EvalFrameDefault";
}

static bool contains(const struct py_range *range, uint64_t vaddr)
{
	return vaddr >= range->start && vaddr < range->end;
}

static bool add_range(struct py_binary *binary, struct py_range range)
{
	if (binary->eval_count == PY_EVAL_RANGES_MAX ||
	    range.start >= range.end)
		return false;
	for (size_t i = 0; i < binary->eval_count; i++)
		if (binary->eval[i].start == range.start)
			return false;
	binary->eval[binary->eval_count++] = range;
	return true;
}

/* The function itself, or a part that the compiler split off. */
static bool is_eval_name(const struct py_binary *binary, const char *name)
{
	const char *eval = eval_name(binary);
	size_t n = strlen(eval);

	return !strncmp(name, eval, n) && (!name[n] || name[n] == '.');
}

/* The parts that .symtab names; a broken one is as good as none. */
static void add_symbols(struct elf_file *file, struct py_binary *binary)
{
	struct elf_symbol_iter it;
	struct elf_symbol s;
	struct error *error = elf_symbol_iter_init_type(file, SHT_SYMTAB, &it);

	while (!error && elf_symbol_iter_next(&it, &s)) {
		if (s.type != STT_FUNC)
			continue;
		if (is_eval_name(binary, s.name))
			add_range(binary, (struct py_range){
						  s.vaddr, s.vaddr + s.size });
		else if (!strncmp(s.name, TAIL_CALL_PREFIX,
				  strlen(TAIL_CALL_PREFIX)))
			binary->tail_calls = true;
	}
	error_destroy(error);
}

/*
 * Calls fn with the target of everything in [range) that looks like a direct
 * jump: E9 rel32, 0F 8x rel32. Some of it is no jump but other bytes.
 */
static struct error *scan_jumps(struct elf_file *file, struct py_range range,
				void (*fn)(void *arg, uint64_t target),
				void *arg)
{
	size_t size = (size_t)(range.end - range.start);
	_cleanup_free_ uint8_t *code = NULL;
	struct error *error;

	if (range.end - range.start > CODE_MAX)
		return NULL;
	code = malloc(size);
	if (!code)
		return error_no_memory();
	error = elf_file_read_image(file, range.start, code, size);
	if (error)
		return error;
	for (size_t i = 1; i + 4 < size; i++) {
		bool jump = code[i] == 0xe9 || (code[i - 1] == 0x0f &&
						(code[i] & 0xf0) == 0x80);
		int32_t distance;

		if (!jump)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		fn(arg, range.start + i + 5 + (uint64_t)(int64_t)distance);
	}
	return NULL;
}

struct candidate {
	struct py_range range;
	unsigned int jumps_in;
	unsigned int jumps_back;
};

struct search {
	const struct py_code_pieces *pieces;
	const struct py_binary *binary;
	struct candidate candidates[CANDIDATES_MAX];
	size_t count;
	struct candidate *current;
};

static void note_jump_in(void *arg, uint64_t target)
{
	struct search *search = arg;
	struct py_range piece;

	if (py_binary_is_eval(search->binary, target) ||
	    !search->pieces->find(search->pieces->arg, target, &piece) ||
	    piece.start == target)
		return;
	for (size_t i = 0; i < search->count; i++) {
		if (search->candidates[i].range.start == piece.start) {
			search->candidates[i].jumps_in++;
			return;
		}
	}
	if (search->count < CANDIDATES_MAX)
		search->candidates[search->count++] =
			(struct candidate){ .range = piece, .jumps_in = 1 };
}

static void note_jump_back(void *arg, uint64_t target)
{
	struct search *search = arg;
	const struct py_binary *binary = search->binary;

	for (size_t i = 0; i < binary->eval_count; i++)
		if (contains(&binary->eval[i], target) &&
		    target != binary->eval[i].start)
			search->current->jumps_back++;
}

/* Adds the parts that one known part jumps into. */
static struct error *add_parts_of(struct elf_file *file,
				  const struct py_code_pieces *pieces,
				  struct py_range part,
				  struct py_binary *binary)
{
	struct search search = { .pieces = pieces, .binary = binary };
	struct error *error = scan_jumps(file, part, note_jump_in, &search);

	for (size_t i = 0; !error && i < search.count; i++) {
		struct candidate *c = search.current = &search.candidates[i];

		error = scan_jumps(file, c->range, note_jump_back, &search);
		/* Bytes that only look like a jump do so once. */
		if (!error && c->jumps_back && c->jumps_in + c->jumps_back > 2)
			add_range(binary, c->range);
	}
	return error;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct py_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t total_size(const struct py_binary *binary)
{
	uint64_t total = 0;

	for (size_t i = 0; i < binary->eval_count; i++)
		total += binary->eval[i].end - binary->eval[i].start;
	return total;
}

static struct error *add_entry(struct elf_file *file,
			       const struct py_code_pieces *pieces,
			       struct py_binary *binary)
{
	struct elf_symbol symbol;
	struct py_range range;
	struct error *error = elf_file_find_symbol(file, eval_name(binary), &symbol);

	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return NULL;
	}
	if (error)
		return error;
	range = (struct py_range){ symbol.vaddr, symbol.vaddr + symbol.size };
	if (!symbol.size &&
	    (!pieces || !pieces->find(pieces->arg, symbol.vaddr, &range)))
		return NULL;
	if (add_range(binary, range))
		binary->eval_entry = range;
	return NULL;
}

struct error *py_eval_find(struct elf_file *file,
			   const struct py_code_pieces *pieces,
			   struct py_binary *binary)
{
	struct error *error = add_entry(file, pieces, binary);

	if (error || !binary->eval_count)
		return error;
	add_symbols(file, binary);
	/* Without names for the parts; the list may grow on the way. */
	if (binary->eval_count == 1 && pieces)
		for (size_t i = 0; !error && i < binary->eval_count; i++)
			error = add_parts_of(file, pieces, binary->eval[i],
					     binary);
	if (error)
		return error;
	qsort(binary->eval, binary->eval_count, sizeof(binary->eval[0]),
	      compare_ranges);
	if (PY_MINOR(binary->version) >= 14 && total_size(binary) < BODY_MIN &&
	    pieces)
		binary->tail_calls = true;
	return NULL;
}

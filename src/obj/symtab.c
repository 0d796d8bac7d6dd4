// SPDX-License-Identifier: GPL-2.0-only
#include "obj/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define NO_OUTER UINT32_MAX

void symtab_deinit(struct symtab *tab)
{
	free(tab->symbols);
	arena_deinit(&tab->names);
	*tab = (struct symtab){};
}

static struct error *push(struct symtab *tab, const struct symbol *symbol)
{
	if (tab->count >= SYMTAB_COUNT_MAX)
		return error_create(ERROR_LIMIT, "too many symbols");
	if (tab->count == tab->capacity &&
	    !vec_grow_((void **)&tab->symbols, &tab->capacity, tab->count + 1,
		       sizeof(*tab->symbols)))
		return error_no_memory();
	tab->symbols[tab->count++] = *symbol;
	return NULL;
}

char *symtab_copy_name(struct arena *arena, const char *name, size_t len)
{
	char *copy = arena_strndup(arena, name, len);

	for (char *p = copy; p && p < copy + len; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return copy;
}

struct error *symtab_add_borrowed(struct symtab *tab, uint64_t start,
				  uint64_t size, const char *name, uint8_t type,
				  uint8_t binding, uint16_t group)
{
	const struct symbol symbol = {
		.start = start,
		.end = size > UINT64_MAX - start ? UINT64_MAX : start + size,
		.name = name,
		/* The order of adding, until symtab_finish(). */
		.outer = (uint32_t)tab->count,
		.type = type,
		.binding = binding & 0x7f,
		.group = group,
	};

	return push(tab, &symbol);
}

struct error *symtab_add(struct symtab *tab, uint64_t start, uint64_t size,
			 const char *name, size_t len, uint8_t type,
			 uint8_t binding, uint16_t group)
{
	const char *copy = symtab_copy_name(&tab->names, name, len);

	if (!copy)
		return error_no_memory();
	return symtab_add_borrowed(tab, start, size, copy, type, binding,
				   group);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By start, then in the order of adding. */
static int compare_added(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return compare(x->start, y->start);
	return compare(x->outer, y->outer);
}

/* Higher is better. */
static int binding_rank(const struct symbol *symbol)
{
	if (symbol->binding == STB_WEAK)
		return 0;
	return symbol->binding == STB_GLOBAL ? 2 : 1;
}

/* By start, then the alias added last first. */
static int compare_latest(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return compare(x->start, y->start);
	return compare(y->outer, x->outer);
}

/* By start, then the better alias first. */
static int compare_alias(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int order;

	if (x->start != y->start)
		return compare(x->start, y->start);
	order = (y->end > y->start) - (x->end > x->start);
	if (!order)
		order = (y->type != STT_NOTYPE) - (x->type != STT_NOTYPE);
	if (!order)
		order = binding_rank(y) - binding_rank(x);
	if (!order)
		order = compare(strspn(x->name, "_"), strspn(y->name, "_"));
	if (!order)
		order = compare(strlen(y->name), strlen(x->name));
	return order ? order : compare(x->outer, y->outer);
}

/* Keeps the first of each start. */
static void drop_aliases(struct symtab *tab)
{
	size_t kept = 0;

	for (size_t i = 0; i < tab->count; i++) {
		if (kept && tab->symbols[i].start ==
				    tab->symbols[kept - 1].start)
			continue;
		tab->symbols[kept++] = tab->symbols[i];
	}
	tab->count = kept;
}

/* Gives symbols of size 0 an end. */
static void close_ends(struct symtab *tab, uint64_t tail)
{
	for (size_t i = 0; i < tab->count; i++) {
		struct symbol *s = &tab->symbols[i];
		const struct symbol *next = s + 1;
		uint64_t end = tail > UINT64_MAX - s->start ? UINT64_MAX :
							      s->start + tail;

		if (s->end > s->start)
			continue;
		if (i + 1 < tab->count &&
		    (next->group == s->group || next->start < end))
			end = next->start;
		s->end = end;
		s->is_open = 1;
	}
}

static void drop_empty(struct symtab *tab)
{
	size_t kept = 0;

	for (size_t i = 0; i < tab->count; i++) {
		if (tab->symbols[i].end > tab->symbols[i].start)
			tab->symbols[kept++] = tab->symbols[i];
	}
	tab->count = kept;
}

/*
 * A symbol's outer one is the nearest before it whose end lies beyond its
 * start. Whoever covers an address at or after start is on this chain.
 */
static void link_outer(struct symtab *tab)
{
	for (size_t i = 0; i < tab->count; i++) {
		struct symbol *s = &tab->symbols[i];
		uint32_t outer = i ? (uint32_t)(i - 1) : NO_OUTER;

		while (outer != NO_OUTER &&
		       tab->symbols[outer].end <= s->start)
			outer = tab->symbols[outer].outer;
		s->outer = outer;
	}
}

/* Entries of a perf map that reach over the current address, latest first. */
struct heap VEC_BODY(const struct symbol *);

static bool later(const struct symbol *a, const struct symbol *b)
{
	return a->outer > b->outer;
}

static bool heap_push(struct heap *heap, const struct symbol *symbol)
{
	size_t i = heap->count;

	if (!vec_push(heap, symbol))
		return false;
	while (i && later(symbol, heap->data[(i - 1) / 2])) {
		heap->data[i] = heap->data[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->data[i] = symbol;
	return true;
}

static void heap_pop(struct heap *heap)
{
	const struct symbol *last = heap->data[--heap->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    later(heap->data[child + 1], heap->data[child]))
			child++;
		if (!later(heap->data[child], last))
			break;
		heap->data[i] = heap->data[child];
		i = child;
	}
	if (heap->count)
		heap->data[i] = last;
}

/* [start, end) of an entry, joined to the piece before if it goes on. */
static struct error *put_piece(struct symtab *out, const struct symbol *from,
			       uint64_t start, uint64_t end)
{
	struct symbol piece = *from;
	struct symbol *last = out->count ? &out->symbols[out->count - 1] : NULL;

	if (last && last->end == start && last->outer == from->outer) {
		last->end = end;
		return NULL;
	}
	piece.start = start;
	piece.end = end;
	return push(out, &piece);
}

/* Walks the entries by start; at each address the latest one covering wins. */
static struct error *sweep(const struct symtab *tab, struct heap *active,
			   struct symtab *out)
{
	size_t next = 0;
	uint64_t at = 0, until;
	struct error *error;

	while (active->count || next < tab->count) {
		if (!active->count)
			at = tab->symbols[next].start;
		while (next < tab->count && tab->symbols[next].start <= at) {
			if (!heap_push(active, &tab->symbols[next++]))
				return error_no_memory();
		}
		while (active->count && active->data[0]->end <= at)
			heap_pop(active);
		if (!active->count)
			continue;
		until = active->data[0]->end;
		if (next < tab->count && tab->symbols[next].start < until)
			until = tab->symbols[next].start;
		error = put_piece(out, active->data[0], at, until);
		if (error)
			return error;
		at = until;
	}
	return NULL;
}

static struct error *split_overlaps(struct symtab *tab)
{
	struct symtab out = {};
	struct heap active = {};
	struct error *error = sweep(tab, &active, &out);

	vec_deinit(&active);
	if (error) {
		free(out.symbols);
		return error;
	}
	free(tab->symbols);
	tab->symbols = out.symbols;
	tab->count = out.count;
	tab->capacity = out.capacity;
	return NULL;
}

/* How many symbols at the front are where they belong, by their starts. */
static size_t count_sorted(const struct symtab *tab)
{
	const struct symbol *symbols = tab->symbols;
	uint64_t least = UINT64_MAX;
	size_t sorted = 1;

	while (sorted < tab->count &&
	       symbols[sorted].start >= symbols[sorted - 1].start)
		sorted++;
	for (size_t i = sorted; i < tab->count; i++)
		if (symbols[i].start < least)
			least = symbols[i].start;
	while (sorted && symbols[sorted - 1].start >= least)
		sorted--;
	return sorted;
}

/*
 * kallsyms and perf maps come by address, but for BPF programs and the like at
 * the end: of the others only what begins at one address is sorted.
 */
static void sort_symbols(struct symtab *tab,
			 int (*order)(const void *, const void *))
{
	struct symbol *symbols = tab->symbols;
	size_t size = sizeof(*symbols);
	size_t sorted = count_sorted(tab);
	size_t start = 0;

	qsort(symbols + sorted, tab->count - sorted, size, order);
	for (size_t i = 1; i <= sorted; i++) {
		if (i < sorted && symbols[i].start == symbols[start].start)
			continue;
		if (i - start > 1)
			qsort(symbols + start, i - start, size, order);
		start = i;
	}
}

struct error *symtab_finish(struct symtab *tab, enum symtab_overlap overlap,
			    uint64_t tail)
{
	static int (*const orders[])(const void *, const void *) = {
		[SYMTAB_BEST_ALIAS] = compare_alias,
		[SYMTAB_LAST_ALIAS] = compare_latest,
		[SYMTAB_LAST_WINS] = compare_added,
	};
	struct error *error = NULL;

	if (!tab->count)
		return NULL;
	sort_symbols(tab, orders[overlap]);
	if (overlap != SYMTAB_LAST_WINS)
		drop_aliases(tab);
	close_ends(tab, tail);
	drop_empty(tab);
	if (overlap == SYMTAB_LAST_WINS)
		error = split_overlaps(tab);
	link_outer(tab);
	return error;
}

/* How many symbols begin at or before addr. */
static size_t count_before(const struct symtab *tab, uint64_t addr)
{
	size_t low = 0, high = tab->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tab->symbols[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void symtab_narrow_gap(const struct symtab *tab, uint64_t addr, uint64_t *start,
		       uint64_t *end)
{
	size_t next = count_before(tab, addr);

	if (next < tab->count && tab->symbols[next].start < *end)
		*end = tab->symbols[next].start;
	if (next && tab->symbols[next - 1].end <= addr &&
	    tab->symbols[next - 1].end > *start)
		*start = tab->symbols[next - 1].end;
}

const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr)
{
	/* A chain of outer symbols longer than this is no real table. */
	enum { NESTING_MAX = 64 };
	size_t low = count_before(tab, addr);
	uint32_t at;

	at = low ? (uint32_t)(low - 1) : NO_OUTER;
	for (int i = 0; i < NESTING_MAX && at != NO_OUTER; i++) {
		if (addr < tab->symbols[at].end)
			return &tab->symbols[at];
		at = tab->symbols[at].outer;
	}
	return NULL;
}

const struct symbol *symtab_find_name(const struct symtab *tab,
				      const char *name)
{
	for (size_t i = 0; i < tab->count; i++) {
		if (!strcmp(tab->symbols[i].name, name))
			return &tab->symbols[i];
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "symbolize/known_code.h"
#include "symbolize/ranges.h"

/* A power of two. */
#define CACHE_SIZE 8192

struct cache_entry {
	/* NULL: free. */
	const struct dso *dso;
	uint64_t offset;
	const struct symbol_info *info;
};

struct symbolizer {
	struct dso_store *store;
	bool symbols_only;
	struct arena memory;
	uint32_t info_count;
	struct cache_entry cache[CACHE_SIZE];

	/* pid to the index of tables. */
	struct map table_of_pid;
	VEC(struct range_table) tables;
	uint64_t range_count;

	/* Parallel to the symbols and modules of kallsyms. */
	const struct symbol_info **kernel_infos;
	struct dso **module_dsos;
};

struct error *symbolizer_create(struct dso_store *store,
				struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return error_no_memory();
	symbolizer->store = store;
	*ret = symbolizer;
	return NULL;
}

/* The infos that hang on the store's dsos are gone with our memory. */
static void forget_infos(struct dso_store *store)
{
	for (size_t i = 0; i < dso_store_count(store); i++) {
		struct dso *dso = dso_store_at(store, i);

		free(dso->infos);
		dso->infos = NULL;
		map_deinit(&dso->functions);
	}
}

void symbolizer_destroy(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	forget_infos(symbolizer->store);
	vec_for_each(table, &symbolizer->tables)
		range_table_deinit(table);
	vec_deinit(&symbolizer->tables);
	map_deinit(&symbolizer->table_of_pid);
	free(symbolizer->kernel_infos);
	free(symbolizer->module_dsos);
	arena_deinit(&symbolizer->memory);
	free(symbolizer);
}

void symbolizer_set_symbols_only(struct symbolizer *symbolizer,
				 bool symbols_only)
{
	symbolizer->symbols_only = symbols_only;
}

static const char *readable(struct symbolizer *symbolizer, const char *name)
{
	_cleanup_free_ char *text = demangle(name);

	if (!text)
		return name;
	return arena_strndup(&symbolizer->memory, text, strlen(text));
}

/* As symtab_add() copies names: none breaks a line. */
static char *copy_name(struct arena *arena, const char *name)
{
	char *copy = arena_strndup(arena, name, strlen(name));

	for (char *p = copy; p && *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return copy;
}

/* raw_name must live as long as the symbolizer. */
static struct symbol_info *create_info(struct symbolizer *symbolizer,
				       struct dso *dso, const char *raw_name,
				       uint64_t start, uint64_t end)
{
	struct symbol_info *info =
		arena_alloc(&symbolizer->memory, sizeof(*info));

	if (!info)
		return NULL;
	*info = (struct symbol_info){
		.id = symbolizer->info_count,
		.dso = dso,
		.name = readable(symbolizer, raw_name),
		.raw_name = raw_name,
		.start = start,
		.end = end,
	};
	if (!info->name)
		return NULL;
	symbolizer->info_count++;
	return info;
}

/* The info of a symbol of a table; infos is parallel to the table. */
static struct error *info_of(struct symbolizer *symbolizer, struct dso *dso,
			     const struct symtab *symtab,
			     const struct symbol_info **infos,
			     const struct symbol *symbol, bool kernel,
			     const struct symbol_info **ret)
{
	const struct symbol_info **place = &infos[symbol - symtab->symbols];
	struct symbol_info *info;

	if (!*place) {
		info = create_info(symbolizer, dso, symbol->name,
				   symbol->start, symbol->end);
		if (!info)
			return error_no_memory();
		info->kernel = kernel;
		*place = info;
	}
	*ret = *place;
	return NULL;
}

static struct error *symbol_of_file(struct symbolizer *symbolizer,
				    struct dso *dso,
				    const struct symtab *symtab,
				    const struct symbol *symbol,
				    const struct symbol_info **ret)
{
	if (!dso->infos) {
		dso->infos = calloc(symtab->count, sizeof(*dso->infos));
		if (!dso->infos)
			return error_no_memory();
	}
	return info_of(symbolizer, dso, symtab, dso->infos, symbol, false, ret);
}

/* Code that no symbol covers. */
struct piece {
	struct cfi_range range;
	/* NULL: none but its place. */
	const char *name;
	/* Between functions, not a function. */
	bool is_gap;
};

/* The name of a piece by its place; NULL: no memory. */
static const char *name_by_place(struct symbolizer *symbolizer,
				 const struct dso *dso,
				 const struct piece *piece)
{
	const struct cfi_range range = piece->range;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "%s+0x%llx", dso->name,
		      (unsigned long long)range.start);
	if (piece->is_gap)
		strbuf_printf(&text, "-0x%llx", (unsigned long long)range.end);
	return text.failed ? NULL : copy_name(&symbolizer->memory, text.data);
}

/* What Python calls the function; *ret stays as it is if it has no such name. */
static struct error *method_name(struct dso *dso, uint64_t start,
				 const char **ret)
{
	struct module *module;
	struct error *error = dso_module(dso, &module);

	if (error || !module)
		return error;
	return module_method_name(module, start, ret);
}

static struct error *info_of_piece(struct symbolizer *symbolizer,
				   struct dso *dso, const struct piece *piece,
				   const struct symbol_info **ret)
{
	const struct cfi_range range = piece->range;
	const uint64_t *known = map_find(&dso->functions, range.start);
	struct symbol_info *info;
	const char *name = piece->name;
	bool is_nameless, is_method;
	struct error *error = NULL;

	if (known) {
		*ret = (const struct symbol_info *)(uintptr_t)*known;
		return NULL;
	}
	if (!name && !piece->is_gap)
		error = method_name(dso, range.start, &name);
	if (error)
		return error;
	is_method = name && name != piece->name;
	is_nameless = !name;
	if (!name)
		name = name_by_place(symbolizer, dso, piece);
	info = name ? create_info(symbolizer, dso, name, range.start, range.end) :
		      NULL;
	if (!info || !map_insert(&dso->functions, range.start,
				 (uint64_t)(uintptr_t)info, NULL))
		return error_no_memory();
	info->is_nameless = is_nameless;
	info->is_method = is_method;
	*ret = info;
	return NULL;
}

/*
 * Code in a section that has functions, but between them: beginnings of
 * threads, assembly without CFI. It may be several functions: its name says from
 * where to where, if it is not known by its bytes.
 */
static bool find_gap(struct dso *dso, const struct cfi_table *cfi,
		     const struct symtab *symtab, uint64_t vaddr,
		     struct piece *ret)
{
	struct cfi_range *range = &ret->range;
	const struct elf_section *section;
	struct elf_file *elf;
	struct error *error = dso_elf(dso, &elf);

	if (error || cfi_is_empty(cfi)) {
		error_destroy(error);
		return false;
	}
	section = elf_file_exec_section(elf, vaddr);
	if (!section)
		return false;
	*range = (struct cfi_range){ section->addr,
				     section->addr + section->size };
	cfi_narrow_gap(cfi, vaddr, range);
	symtab_narrow_gap(symtab, vaddr, &range->start, &range->end);
	ret->name = known_code_find(elf, vaddr, range);
	return true;
}

/* The piece of code that vaddr lies in, as far as CFI tells. */
static bool find_piece(struct dso *dso, const struct cfi_table *cfi,
		       const struct symtab *symtab, uint64_t vaddr,
		       struct piece *ret)
{
	if (!cfi)
		return false;
	*ret = (struct piece){};
	ret->is_gap = !cfi_find_range(cfi, vaddr, &ret->range);
	return !ret->is_gap || find_gap(dso, cfi, symtab, vaddr, ret);
}

/*
 * Where symbols say nothing, or not how far they reach: the function that CFI
 * tells. It has a symbol's name if that begins where it does. symbol: the one
 * before vaddr that may reach there, or NULL.
 */
static struct error *find_by_cfi(struct symbolizer *symbolizer, struct dso *dso,
				 const struct symtab *symtab, uint64_t vaddr,
				 const struct symbol *symbol,
				 const struct symbol_info **ret)
{
	struct cfi_table *cfi = NULL;
	struct piece piece;
	struct error *error =
		symbolizer->symbols_only ? NULL : dso_cfi(dso, &cfi);

	if (error)
		return error;
	if (find_piece(dso, cfi, symtab, vaddr, &piece) &&
	    (!symbol || symbol->start < piece.range.start)) {
		symbol = symtab_find(symtab, piece.range.start);
		if (!symbol || symbol->start != piece.range.start)
			return info_of_piece(symbolizer, dso, &piece, ret);
	}
	if (symbol)
		return symbol_of_file(symbolizer, dso, symtab, symbol, ret);
	*ret = NULL;
	return NULL;
}

static struct error *find_in_file(struct symbolizer *symbolizer,
				  struct dso *dso, uint64_t offset,
				  const struct symbol_info **ret)
{
	const struct symbol *symbol;
	const struct symtab *symtab;
	uint64_t vaddr;
	struct error *error = dso_symtab(dso, &symtab);

	if (error)
		return error;
	/* What the recording holds of a removed file, it holds by offsets. */
	if (dso->state != DSO_OPEN) {
		vaddr = offset;
	} else if (!dso_offset_to_vaddr(dso, offset, &vaddr)) {
		*ret = NULL;
		return NULL;
	}
	symbol = symtab_find(symtab, vaddr);
	if (!symbol && dso->state != DSO_OPEN) {
		*ret = NULL;
		return NULL;
	}
	if (!symbol || symbol->is_open)
		return find_by_cfi(symbolizer, dso, symtab, vaddr, symbol, ret);
	return symbol_of_file(symbolizer, dso, symtab, symbol, ret);
}

struct error *symbolizer_file(struct symbolizer *symbolizer, struct dso *dso,
			      uint64_t offset, const struct symbol_info **ret)
{
	uint64_t hash = hash_combine(offset, dso->index);
	struct cache_entry *entry = &symbolizer->cache[hash % CACHE_SIZE];
	struct error *error;

	if (entry->dso != dso || entry->offset != offset) {
		const struct symbol_info *info = NULL;

		error = find_in_file(symbolizer, dso, offset, &info);
		if (error)
			return error;
		*entry = (struct cache_entry){ dso, offset, info };
	}
	*ret = entry->info;
	return NULL;
}

static struct range_table *find_table(const struct symbolizer *symbolizer,
				      int32_t pid)
{
	const uint64_t *index =
		map_find(&symbolizer->table_of_pid, (uint32_t)pid);

	return index ? &symbolizer->tables.data[*index] : NULL;
}

static struct range_table *get_table(struct symbolizer *symbolizer,
				     int32_t pid)
{
	struct range_table *table = find_table(symbolizer, pid);

	if (table)
		return table;
	if (!vec_push(&symbolizer->tables, (struct range_table){}))
		return NULL;
	if (!map_insert(&symbolizer->table_of_pid, (uint32_t)pid,
			symbolizer->tables.count - 1, NULL)) {
		symbolizer->tables.count--;
		return NULL;
	}
	return vec_last(&symbolizer->tables);
}

/* The range's name is copied; its dso is known already. */
static struct error *add_range(struct symbolizer *symbolizer,
			       const struct symbol_range *range,
			       struct dso *dso)
{
	struct range_table *table = get_table(symbolizer, range->pid);
	const char *name = copy_name(&symbolizer->memory, range->name);
	struct symbol_info *info;

	if (!table || !name)
		return error_no_memory();
	info = create_info(symbolizer, dso, name, range->start,
			   range->start + range->size);
	if (!info)
		return error_no_memory();
	info->is_range = true;
	info->kernel = range->pid == SYMBOLIZE_KERNEL;
	if (!range_table_add(table, &(struct range){
					    .start = info->start,
					    .end = info->end,
					    .from = range->from,
					    .to = range->to,
					    .sequence = symbolizer->range_count,
					    .info = info }))
		return error_no_memory();
	symbolizer->range_count++;
	return NULL;
}

static struct error *check_range(const struct symbolizer *symbolizer,
				 const struct symbol_range *range)
{
	if (symbolizer->range_count >= SYMBOLIZE_RANGES_MAX)
		return error_create(ERROR_LIMIT, "too many named ranges");
	if (!range->size || range->size > UINT64_MAX - range->start)
		return error_create(ERROR_FORMAT,
				    "a named range is empty or wraps around");
	return NULL;
}

/* The kernel's ranges and kallsyms share their dsos. */
static struct error *dso_of_range(struct dso_store *store,
				  const struct symbol_range *range,
				  struct dso **ret)
{
	const struct dso_key key = { .path = range->dso_name, .kernel = true };

	if (range->pid == SYMBOLIZE_KERNEL)
		return dso_store_get(store, &key, ret);
	return dso_store_named(store, range->dso_name, ret);
}

struct error *symbolizer_add_range(struct symbolizer *symbolizer,
				   const struct symbol_range *range)
{
	struct dso *dso;
	struct error *error = check_range(symbolizer, range);

	if (!error)
		error = dso_of_range(symbolizer->store, range, &dso);
	if (!error)
		error = add_range(symbolizer, range, dso);
	return error;
}

struct error *symbolizer_add_perf_map(struct symbolizer *symbolizer,
				      int32_t pid, const struct symtab *map,
				      const char *dso_name)
{
	struct dso *dso;
	struct error *error;

	error = dso_store_named(symbolizer->store, dso_name, &dso);
	for (size_t i = 0; i < map->count && !error; i++) {
		const struct symbol *symbol = &map->symbols[i];
		const struct symbol_range range = {
			.pid = pid,
			.start = symbol->start,
			.size = symbol->end - symbol->start,
			.to = SYMBOLIZE_FOREVER,
			.name = symbol->name,
		};

		error = check_range(symbolizer, &range);
		if (!error)
			error = add_range(symbolizer, &range, dso);
	}
	return error;
}

struct error *symbolizer_range(struct symbolizer *symbolizer, int32_t pid,
			       uint64_t address, uint64_t time,
			       const struct symbol_info **ret, uint64_t *until)
{
	struct range_table *table = find_table(symbolizer, pid);
	const struct range *range =
		table ? range_table_find(table, address, time, until) : NULL;

	if (!table)
		*until = UINT64_MAX;
	*ret = range ? range->info : NULL;
	return NULL;
}

static struct error *load_modules(struct symbolizer *symbolizer,
				  const struct kallsyms *kallsyms)
{
	struct error *error = NULL;

	if (symbolizer->kernel_infos)
		return NULL;
	free(symbolizer->module_dsos);
	symbolizer->module_dsos = calloc(kallsyms->module_count,
					 sizeof(*symbolizer->module_dsos));
	if (!symbolizer->module_dsos)
		return error_no_memory();
	for (size_t i = 0; i < kallsyms->module_count && !error; i++) {
		const struct dso_key key = { .path = kallsyms->modules[i],
					     .kernel = true };

		error = dso_store_get(symbolizer->store, &key,
				      &symbolizer->module_dsos[i]);
	}
	if (error)
		return error;
	symbolizer->kernel_infos = calloc(kallsyms->symtab.count + 1,
					  sizeof(*symbolizer->kernel_infos));
	return symbolizer->kernel_infos ? NULL : error_no_memory();
}

/*
 * After a new boot only the kernel proper is where the bias says. BPF programs
 * come and go: what is at an address by now is not what was there.
 */
static const struct symbol *find_kernel(const struct kallsyms *kallsyms,
					uint64_t bias, uint64_t address)
{
	const struct symbol *symbol =
		symtab_find(&kallsyms->symtab, address - bias);

	if (!symbol || !symbol->group)
		return symbol;
	return bias || !strcmp(kallsyms->modules[symbol->group], "[bpf]")
		       ? NULL
		       : symbol;
}

struct error *symbolizer_kernel(struct symbolizer *symbolizer,
				uint64_t address, uint64_t time,
				const struct symbol_info **ret, uint64_t *until)
{
	const struct kallsyms *kallsyms;
	const struct symbol_info *info;
	const struct symbol *symbol;
	uint64_t bias = 0;
	struct error *error;

	error = symbolizer_range(symbolizer, SYMBOLIZE_KERNEL, address, time,
				 &info, until);
	if (error)
		return error;
	kallsyms = info ? NULL : dso_store_kallsyms(symbolizer->store, &bias);
	symbol = kallsyms ? find_kernel(kallsyms, bias, address) : NULL;
	if (!symbol) {
		*ret = info;
		return NULL;
	}
	error = load_modules(symbolizer, kallsyms);
	if (error)
		return error;
	return info_of(symbolizer, symbolizer->module_dsos[symbol->group],
		       &kallsyms->symtab, symbolizer->kernel_infos, symbol,
		       true, ret);
}

/* The names of a frame, as long-lived as the symbolizer. */
static struct error *name_frame(struct symbolizer *symbolizer,
				const struct dwarf_function *function,
				struct symbol_frame *ret)
{
	ret->inlined = function->inlined;
	ret->is_linkage_name = function->is_linkage_name;
	ret->is_new = function->is_new;
	ret->was_innermost = function->was_innermost;
	ret->start = function->start;
	if (!function->name)
		return NULL;
	ret->raw_name = function->name;
	ret->name = readable(symbolizer, function->name);
	return ret->name ? NULL : error_no_memory();
}

/* Each function is where it calls the one inlined into it. */
static void place_frames(const struct dwarf_function *functions, size_t count,
			 const char *file, uint32_t line,
			 struct symbol_frame *ret)
{
	for (size_t i = 0; i < count; i++) {
		ret[i].file = file;
		ret[i].line = line;
		file = functions[i].call_file;
		line = file ? functions[i].call_line : 0;
	}
}

/* As dso_dwarf() has it; count stays if there is nothing better. */
static struct error *add_inlines(struct symbolizer *symbolizer,
				 struct dwarf_info *dwarf, uint64_t vaddr,
				 bool lines, struct symbol_frame *ret,
				 size_t max, size_t *count)
{
	const struct symbol_info *info = ret[0].symbol;
	struct dwarf_function functions[SYMBOLIZE_FRAMES_MAX];
	const char *file = NULL;
	uint32_t line = 0;
	size_t n;
	struct error *error;

	if (max > SYMBOLIZE_FRAMES_MAX)
		max = SYMBOLIZE_FRAMES_MAX;
	error = dwarf_info_functions(dwarf, vaddr, functions, max, &n);
	if (!error && lines)
		error = dwarf_info_line(dwarf, vaddr, &file, &line);
	for (size_t i = 0; i < n && !error; i++) {
		ret[i] = (struct symbol_frame){ .symbol = info };
		error = name_frame(symbolizer, &functions[i], &ret[i]);
	}
	if (error)
		return error;
	if (n)
		*count = n;
	if (n)
		place_frames(functions, n, file, line, ret);
	else
		ret[0].file = file, ret[0].line = line;
	return NULL;
}

struct error *symbolizer_frames(struct symbolizer *symbolizer,
				struct dso *dso, uint64_t offset, bool caller,
				bool lines, struct symbol_frame *ret,
				size_t max, size_t *count)
{
	const struct symbol_info *info;
	struct dwarf_info *dwarf = NULL;
	struct error *error;
	uint64_t vaddr;

	if (!max)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "no room for a frame");
	offset -= caller && offset;
	error = symbolizer_file(symbolizer, dso, offset, &info);
	if (error)
		return error;
	*count = info ? 1 : 0;
	if (!info)
		return NULL;
	ret[0] = (struct symbol_frame){ .symbol = info };
	error = dso_dwarf(dso, lines, &dwarf);
	if (error || !dwarf || !dso_offset_to_vaddr(dso, offset, &vaddr))
		return error;
	return add_inlines(symbolizer, dwarf, vaddr, lines, ret, max, count);
}

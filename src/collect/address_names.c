// SPDX-License-Identifier: GPL-2.0-only
#include "collect/address_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/strbuf.h"
#include "obj/kallsyms.h"
#include "symbolize/perf_map_file.h"
#include "sys/file.h"

enum {
	KALLSYMS_MAX = 256 << 20,
	WISHES_MAX = 4 << 20,
};

void name_table_deinit(struct name_table *names)
{
	map_deinit(&names->seen);
	vec_deinit(&names->user);
	vec_deinit(&names->kernel);
}

/* True if the pair is new in this file. */
static struct error *note(struct name_table *names, uint32_t pid,
			  uint64_t address, bool *is_new)
{
	uint64_t *file;

	*is_new = false;
	if (names->seen.count >= WISHES_MAX)
		return NULL;
	file = map_insert(&names->seen, hash_combine(pid, address),
			  names->file, is_new);
	if (!file)
		return error_no_memory();
	*is_new |= *file != names->file;
	*file = names->file;
	return NULL;
}

struct error *name_table_user(struct name_table *names, uint32_t pid,
			      uint64_t address)
{
	bool is_new;
	struct error *error = note(names, pid, address, &is_new);

	if (!error && is_new &&
	    !vec_push(&names->user, (struct name_wish){ pid, address }))
		return error_no_memory();
	return error;
}

struct error *name_table_kernel(struct name_table *names, uint64_t address)
{
	bool is_new;
	struct error *error = note(names, KAA_KERNEL_PID, address, &is_new);

	if (!error && is_new && !vec_push(&names->kernel, address))
		return error_no_memory();
	return error;
}

static struct error *tell_symbol(struct map *told, const struct symbol *symbol,
				 uint32_t pid, enum kaa_symbol_kind kind,
				 const char *dso, symbol_sink *sink, void *arg)
{
	struct kaa_symbol out = {
		.pid = pid,
		.kind = kind,
		.start = symbol->start,
		.size = symbol->end - symbol->start,
		.valid_to = UINT64_MAX,
		.dso = { dso, strlen(dso) },
		.name = { symbol->name, strlen(symbol->name) },
	};
	bool is_new;

	if (!map_insert(told, symbol->start, 0, &is_new))
		return error_no_memory();
	return is_new ? sink(arg, &out) : NULL;
}

static struct error *load_map(const struct name_table *names, uint32_t pid,
			      struct perf_map_file *ret)
{
	struct error *error =
		perf_map_file_load_live(NULL, (pid_t)pid, ret);

	if (!error || error->code != ERROR_NOT_FOUND)
		return error;
	error_destroy(error);
	return perf_map_file_load(NULL, (pid_t)pid, names->owner, ret);
}

static struct error *tell_wishes(struct name_table *names, uint32_t pid,
				 const struct perf_map_file *map,
				 symbol_sink *sink, void *arg)
{
	struct error *error = NULL;
	struct map told = {};

	for (size_t i = 0; !error && i < names->user.count; i++) {
		const struct name_wish *wish = &names->user.data[i];
		const struct symbol *symbol =
			wish->pid != pid ?
				NULL :
				symtab_find(&map->symtab, wish->address);

		/* A return address may stand behind the last byte. */
		if (!symbol && wish->pid == pid)
			symbol = symtab_find(&map->symtab, wish->address - 1);
		if (symbol)
			error = tell_symbol(&told, symbol, pid,
					    KAA_SYMBOL_PERF_MAP, map->path,
					    sink, arg);
	}
	map_deinit(&told);
	return error;
}

static void forget_wishes(struct name_table *names, uint32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->user.count; i++)
		if (names->user.data[i].pid != pid)
			names->user.data[kept++] = names->user.data[i];
	names->user.count = kept;
}

struct error *name_table_tell_process(struct name_table *names, uint32_t pid,
				      symbol_sink *sink, void *arg)
{
	struct perf_map_file map = {};
	struct error *error = NULL;
	bool wished = false;

	vec_for_each(wish, &names->user)
		wished = wished || wish->pid == pid;
	if (!wished)
		return NULL;
	error = load_map(names, pid, &map);
	if (!error) {
		error = tell_wishes(names, pid, &map, sink, arg);
		perf_map_file_deinit(&map);
	} else if (error->code != ERROR_NO_MEMORY) {
		/* None, or one that is not to be trusted: unresolved then. */
		error_destroy(error);
		error = NULL;
	}
	forget_wishes(names, pid);
	return error;
}

static struct error *tell_python(const struct perf_map_file *map, uint32_t pid,
				 symbol_sink *sink, void *arg)
{
	struct error *error = NULL;
	struct map told = {};

	for (size_t i = 0; !error && i < map->symtab.count; i++)
		if (!strncmp(map->symtab.symbols[i].name, "py::", 4))
			error = tell_symbol(&told, &map->symtab.symbols[i], pid,
					    KAA_SYMBOL_PERF_MAP, map->path,
					    sink, arg);
	map_deinit(&told);
	return error;
}

struct error *name_table_tell_trampolines(const struct name_table *names,
					  uint32_t pid, symbol_sink *sink,
					  void *arg)
{
	struct perf_map_file map = {};
	struct error *error = load_map(names, pid, &map);

	if (!error) {
		error = tell_python(&map, pid, sink, arg);
		perf_map_file_deinit(&map);
	} else if (error->code != ERROR_NO_MEMORY) {
		error_destroy(error);
		error = NULL;
	}
	return error;
}

/*
 * What is at the address of a BPF program by now need not be what was there.
 * KSYMBOL records name those (collect/loaded_programs.h).
 */
static bool is_bpf_program(const struct kallsyms *syms,
			   const struct symbol *symbol)
{
	return symbol->group && !strcmp(syms->modules[symbol->group], "[bpf]");
}

/* Of 120,000 lines only some hundred are asked for. */
static struct error *load_kallsyms(struct name_table *names,
				   struct kallsyms *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error =
		file_read(NULL, "/proc/kallsyms", KALLSYMS_MAX, &text);

	qsort(names->kernel.data, names->kernel.count,
	      sizeof(*names->kernel.data), compare_u64_items);
	if (!error)
		error = kallsyms_select(&text, names->kernel.data,
					names->kernel.count);
	return error ? error : kallsyms_parse(&text, ret);
}

static struct error *tell_kernel(struct name_table *names, symbol_sink *sink,
				 void *arg)
{
	struct kallsyms syms = {};
	struct map told = {};
	struct error *error;

	if (!names->kernel.count)
		return NULL;
	error = load_kallsyms(names, &syms);
	for (size_t i = 0; !error && i < names->kernel.count; i++) {
		const struct symbol *symbol =
			symtab_find(&syms.symtab, names->kernel.data[i]);

		if (symbol && !is_bpf_program(&syms, symbol))
			error = tell_symbol(&told, symbol, KAA_KERNEL_PID,
					    KAA_SYMBOL_KERNEL,
					    syms.modules[symbol->group], sink,
					    arg);
	}
	map_deinit(&told);
	kallsyms_deinit(&syms);
	return error;
}

struct error *name_table_tell_all(struct name_table *names, symbol_sink *sink,
				  void *arg)
{
	struct error *error = NULL;

	while (!error && names->user.count)
		error = name_table_tell_process(names, names->user.data[0].pid,
						sink, arg);
	if (!error)
		error = tell_kernel(names, sink, arg);
	return error;
}

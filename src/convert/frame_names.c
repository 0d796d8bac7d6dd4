// SPDX-License-Identifier: GPL-2.0-only
#include "convert/frame_names.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mapping_name.h"
#include "base/name_match.h"
#include "base/path_name.h"
#include "convert/interpreter_frames.h"
#include "obj/demangle.h"
#include "obj/elf_symbols.h"
#include "symbolize/perf_map_file.h"

/* An address on its way to a frame. */
struct lookup {
	struct names *names;
	const struct place *place;
	/* As shown, and as it is looked up: one less for callers. */
	uint64_t shown;
	uint64_t address;
	struct convert_frame *frame;
};

struct error *names_init(struct names *names,
			 const struct convert_options *options,
			 struct process_table *table,
			 const struct features *features)
{
	struct dso_options dso_options = {
		.symfs = options->symfs,
		.root = options->root,
		.debug_dir = options->debug_dir,
		.buildid_dir = options->buildid_dir,
		.versions = options->quirks.symbol_versions,
	};
	struct error *error;

	names->options = options;
	names->table = table;
	names->ranges = 1;
	error = dso_store_create(&dso_options, &names->store);
	if (error)
		return error;
	names->images.store = names->store;
	names->jits.options = (struct jit_dump_options){
		.symfs = options->symfs,
		.root = options->root,
		.force = options->force,
	};
	names->jits.off = options->quirks.jitdumps_unread;
	names->images.features = features;
	error = symbolizer_create(names->store, &names->symbolizer);
	if (!error)
		symbolizer_set_symbols_only(names->symbolizer,
					    options->quirks.symbols_only);
	return error;
}

void names_deinit(struct names *names)
{
	symbolizer_destroy(names->symbolizer);
	images_deinit(&names->images);
	interpreters_deinit(&names->interpreters);
	dso_store_destroy(names->store);
	python_code_deinit(&names->code);
	jits_deinit(&names->jits);
	vec_deinit(&names->processes);
	vec_deinit(&names->pythons);
	vec_deinit(&names->scripts);
	index_deinit(&names->python_index);
	vec_deinit(&names->sources);
	map_deinit(&names->named_pids);
	frame_cache_deinit(&names->cache);
	arena_deinit(&names->arena);
}

size_t names_memory(const struct names *names)
{
	return names->cache.arena.held +
	       names->cache.capacity * sizeof(struct frame_slot);
}

void names_clear(struct names *names)
{
	frame_cache_deinit(&names->cache);
}

/* --- What the recording says -------------------------------------------- */

static char *copy(struct names *names, const struct kaa_string *s)
{
	return arena_strndup(&names->arena, s->data, s->len);
}

static struct error *add_symbol(struct names *names,
				const struct kaa_symbol *symbol)
{
	struct symbol_range range = {
		.pid = (int32_t)symbol->pid,
		.start = symbol->start,
		.size = symbol->size,
		.from = symbol->valid_from,
		.to = symbol->valid_to,
		.name = copy(names, &symbol->name),
		.dso_name = copy(names, &symbol->dso),
	};

	if (!range.name || !range.dso_name ||
	    !map_insert(&names->named_pids, symbol->pid, 1, NULL))
		return error_no_memory();
	names->ranges++;
	return symbolizer_add_range(names->symbolizer, &range);
}

static struct error *add_file_symbol(struct names *names,
				     const struct kaa_file_symbol *symbol)
{
	_cleanup_free_ char *path = strndup(symbol->path.data, symbol->path.len);
	_cleanup_free_ char *name = strndup(symbol->name.data, symbol->name.len);
	const struct dso_symbol added = {
		.path = path,
		.build_id = build_id_from_bytes(
			(const uint8_t *)symbol->build_id.data,
			symbol->build_id.len),
		.offset = symbol->offset,
		.size = symbol->size,
		.name = name,
	};

	if (!path || !name)
		return error_no_memory();
	return dso_store_add_symbol(names->store, &added);
}

static bool python_equal(const void *column, uint32_t handle, const void *key)
{
	return !strcmp(((const struct names_python *)column)[handle].path, key);
}

static bool is_python(const struct names *names, const char *path)
{
	return names->pythons.count &&
	       index_find(&names->python_index, hash_string(path), python_equal,
			  names->pythons.data, path) != UINT32_MAX;
}

struct error *names_add_python(struct names *names, const char *path,
			       uint32_t version)
{
	struct names_python new = { .version = version };

	if (is_python(names, path) || names->pythons.count >= NAMES_PYTHONS_MAX)
		return NULL;
	new.path = arena_strndup(&names->arena, path, strlen(path));
	return new.path && vec_push(&names->pythons, new) &&
			       index_add(&names->python_index,
					 hash_string(path),
					 (uint32_t)names->pythons.count - 1) ?
		       NULL :
		       error_no_memory();
}

static struct error *add_script(struct names *names,
				const struct kaa_python *python)
{
	const struct kaa_string *script = &python->script;
	struct metadata_script new = { .pid = python->pid };
	const struct metadata_script *last =
		names->scripts.count ? vec_last(&names->scripts) : NULL;

	if (!script->len || names->scripts.count >= NAMES_PYTHONS_MAX)
		return NULL;
	/* Processes that come one after the other mostly run the same. */
	if (last && strlen(last->script) == script->len &&
	    !memcmp(last->script, script->data, script->len))
		new.script = last->script;
	if (new.script && last->pid == new.pid)
		return NULL;
	if (!new.script)
		new.script = copy(names, script);
	return new.script && vec_push(&names->scripts, new) ? NULL :
							      error_no_memory();
}

static struct error *add_python(struct names *names,
				const struct kaa_python *python)
{
	_cleanup_free_ char *path =
		strndup(python->path.data, python->path.len);

	struct error *error =
		path ? names_add_python(names, path, python->version) :
		       error_no_memory();

	return error ? error : add_script(names, python);
}

static struct error *add_source(struct names *names,
				const struct kaa_source *source)
{
	struct metadata_source new = { .size = source->size,
				       .hash = source->hash };

	if (names->sources.count >= NAMES_SOURCES_MAX)
		return NULL;
	new.path = copy(names, &source->path);
	return new.path && vec_push(&names->sources, new) ? NULL :
							    error_no_memory();
}

struct error *names_add_payload(struct names *names,
				const struct kaa_payload *payload)
{
	switch (payload->type) {
	case KAA_CODE:
		return python_code_add(&names->code, &payload->code);
	case KAA_SYMBOL:
		return add_symbol(names, &payload->symbol);
	case KAA_PYTHON:
		return add_python(names, &payload->python);
	case KAA_FILE_SYMBOL:
		return add_file_symbol(names, &payload->file_symbol);
	case KAA_SOURCE:
		return add_source(names, &payload->source);
	case KAA_VDSO:
		return dso_store_set_vdso(names->store, &payload->vdso.image);
	default:
		return NULL;
	}
}

struct error *names_add_ksymbol(struct names *names,
				const struct record *record)
{
	const struct record_ksymbol *k = &record->ksymbol;
	struct symbol_range range = {
		.pid = SYMBOLIZE_KERNEL,
		.start = k->addr,
		.size = k->len,
		.from = record->time,
		.to = SYMBOLIZE_FOREVER,
		.name = k->name,
		.dso_name = k->name,
	};
	struct error *error;

	if (k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		return NULL;
	names->ranges++;
	error = symbolizer_add_range(names->symbolizer, &range);
	if (error && error->code == ERROR_FORMAT) {
		error_destroy(error);
		return NULL;
	}
	return error;
}

static void set_kernel(struct names *names, uint64_t text,
		       const uint8_t *build_id, size_t size)
{
	struct build_id id = build_id_from_bytes(build_id, size);

	dso_store_set_kernel(names->store, text, id.size ? &id : NULL);
	names->kernel_known = true;
}

static bool kernel_build_id(const struct names *names, struct build_id *ret)
{
	const struct features *features = names->images.features;

	if (!features)
		return false;
	vec_for_each(entry, &features->build_ids) {
		if ((entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) !=
			    PERF_RECORD_MISC_KERNEL ||
		    strncmp(entry->filename, "[kernel.kallsyms]", 17) != 0)
			continue;
		*ret = build_id_from_bytes(entry->build_id, entry->size);
		return true;
	}
	return false;
}

static void see_kernel(struct names *names, const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	struct build_id id = build_id_from_bytes(m->build_id, m->build_id_size);

	if (names->kernel_known ||
	    strncmp(m->filename, "[kernel.kallsyms]", 17) != 0)
		return;
	if (!id.size)
		kernel_build_id(names, &id);
	set_kernel(names, m->pgoff, id.data, id.size);
}

/* In a pipe it comes as a record, before the first map. */
static struct error *see_release(struct names *names)
{
	const struct features *features = names->images.features;

	if (!features || !features->osrelease)
		return NULL;
	return dso_store_set_release(names->store, features->osrelease);
}

/* One recording has one image of its Python code, for all processes. */
struct error *names_see_map(struct names *names, const struct record *record)
{
	struct error *error = see_release(names);

	if (error)
		return error;
	see_kernel(names, record);
	if (record->mmap.start != KAA_BASE || names->python_dso)
		return NULL;
	return dso_store_named(names->store, record->mmap.filename,
			       &names->python_dso);
}

struct error *names_add_map(struct names *names, const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	bool kernel = m->pid == PROCESS_KERNEL;
	struct process_map *map = process_table_map_at(
		names->table, m->pid, m->start, record->time);
	struct dso *dso;

	if (!map || m->start == KAA_BASE ||
	    mapping_is_anonymous(map->file->path, map->flags))
		return NULL;
	return images_dso(&names->images, map, m->pid, kernel, &dso);
}

/* --- Addresses to frames ------------------------------------------------ */

static void set_symbol(struct lookup *l, const struct symbol_info *info,
		       uint64_t rel)
{
	struct convert_frame *frame = l->frame;

	/* The address shown may lie one behind the one that was named. */
	frame->rel = rel + (l->shown - l->address);
	frame->name = l->names->options->no_demangle ? info->raw_name
						     : info->name;
	frame->is_nameless = info->is_nameless;
	frame->start = info->start;
	frame->end = info->end;
	frame->dso = info->dso;
}

/* Of an address that a range names, or may come to name. */
static void set_validity(struct lookup *l, uint64_t until)
{
	l->frame->valid_from = l->place->time;
	l->frame->valid_to = until;
	l->frame->ranges = l->names->ranges;
}

static struct error *python_dso(struct lookup *l, struct dso **ret)
{
	struct names *names = l->names;

	struct error *error;

	if (!names->python_dso && !names->no_python_dso) {
		error = dso_store_named(names->store, "[python]",
					&names->no_python_dso);
		if (error)
			return error;
	}
	*ret = names->python_dso ? names->python_dso : names->no_python_dso;
	return NULL;
}

static struct error *python_frame(struct lookup *l)
{
	const struct python_span *span =
		python_code_find(&l->names->code, l->shown);
	struct convert_frame *frame = l->frame;

	frame->rel = l->shown;
	if (span) {
		frame->kind = span->is_marker ? PROFILE_FRAME_MARKER
					      : PROFILE_FRAME_PYTHON;
		frame->name = span->name;
		frame->start = span->start;
		frame->end = span->end;
		frame->file = span->filename;
		frame->line = python_span_line(span, l->shown);
		frame->def_line = span->first_line;
		frame->header_lines = span->header_lines;
		return python_dso(l, &frame->dso);
	}
	frame->kind = PROFILE_FRAME_PYTHON;
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++) {
		if (kaa_markers[i].address != l->shown)
			continue;
		frame->kind = PROFILE_FRAME_MARKER;
		frame->name = kaa_markers[i].name;
		frame->start = l->shown - 1;
		frame->end = frame->start + KAA_SLOT_SIZE;
	}
	return python_dso(l, &frame->dso);
}

static struct error *kernel_dso(struct lookup *l)
{
	struct process_map *map = process_table_map_at(
		l->names->table, PROCESS_KERNEL, l->address, l->place->time);

	l->frame->rel = l->shown;
	if (!map)
		return NULL;
	return images_dso(&l->names->images, map, PROCESS_KERNEL, true,
			  &l->frame->dso);
}

/* Neither kernel nor vdso, if files are to be looked for elsewhere. */
static bool has_files_only(const struct names *names)
{
	const char *symfs = names->options->symfs;

	return names->options->quirks.symfs_hides_kernel && symfs && *symfs &&
	       strcmp(symfs, "/");
}

/* The DSO of a BPF program, which has no brackets, begins at 0. */
static void place_bpf_program(struct convert_frame *frame)
{
	if (!frame->dso || frame->dso->path[0] == '[')
		return;
	frame->rel -= frame->start;
	frame->end -= frame->start;
	frame->start = 0;
}

/* What the recording itself names is named wherever files are looked for. */
static struct error *kernel_symbol(struct lookup *l, uint64_t address,
				   const struct symbol_info **ret,
				   uint64_t *until)
{
	struct symbolizer *symbolizer = l->names->symbolizer;
	uint64_t time = l->place->time;

	if (has_files_only(l->names))
		return symbolizer_range(symbolizer, SYMBOLIZE_KERNEL, address,
					time, ret, until);
	return symbolizer_kernel(symbolizer, address, time, ret, until);
}

/* Is that before a function of the kernel where nothing calls from? */
static bool may_be_padding(const struct symbol_info *info)
{
	return !info || name_begins_with(info->name, "__pfx_") ||
	       name_begins_with(info->name, "bpf_prog_");
}

/*
 * Nothing calls from the bytes before a function of the kernel, or before a BPF
 * program, where there is no symbol, or one of a program that was there earlier.
 * The address after them is where the thunk of an indirect call returns to in order
 * to call: *info becomes what begins there.
 */
static struct error *take_called(struct lookup *l,
				 const struct symbol_info **info,
				 uint64_t *until)
{
	uint64_t called_until;
	const struct symbol_info *called = NULL;
	struct error *error;

	if (l->address == l->shown || !may_be_padding(*info))
		return NULL;
	error = kernel_symbol(l, l->shown, &called, &called_until);
	*until = called_until < *until ? called_until : *until;
	if (error || !called || called->start != l->shown)
		return error;
	l->address = l->shown;
	*info = called;
	return NULL;
}

static struct error *kernel_frame(struct lookup *l)
{
	struct names *names = l->names;
	const struct symbol_info *info = NULL;
	struct build_id id = {};
	struct error *error;
	uint64_t until;

	l->frame->kind = PROFILE_FRAME_KERNEL;
	if (!names->kernel_known) {
		kernel_build_id(names, &id);
		set_kernel(names, 0, id.data, id.size);
	}
	error = kernel_symbol(l, l->address, &info, &until);
	if (!error)
		error = take_called(l, &info, &until);
	if (error)
		return error;
	if (!info || info->is_range)
		set_validity(l, until);
	if (!info)
		return kernel_dso(l);
	set_symbol(l, info, l->address);
	if (names->options->quirks.bpf_programs_at_zero)
		place_bpf_program(l->frame);
	return NULL;
}

/* Names of the process from /tmp, unless the recording brought some. */
static struct error *load_perf_map(struct names *names, uint32_t pid,
				   const char *dso_name)
{
	struct perf_map_file file = {};
	struct error *error;

	if (map_find(&names->named_pids, pid))
		return NULL;
	error = perf_map_file_load(names->options->symfs, (pid_t)pid,
				   (uid_t)-1, &file);
	if (!error)
		error = symbolizer_add_perf_map(names->symbolizer, (int32_t)pid,
						&file.symtab, dso_name);
	perf_map_file_deinit(&file);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	/* Most processes with anonymous code have no map. */
	error_destroy(error);
	return NULL;
}

static struct error *process_names(struct lookup *l,
				   struct process_names **ret)
{
	struct process_names *p = vec_slot(&l->names->processes,
					   process_index(l->place->process));
	struct error *error;
	char name[64];

	if (!p)
		return error_no_memory();
	if (!p->loaded) {
		snprintf(name, sizeof(name), "/tmp/perf-%u.map", l->place->pid);
		error = dso_store_named(l->names->store, name, &p->perf_map);
		if (!error)
			error = load_perf_map(l->names, l->place->pid, name);
		if (error)
			return error;
		p->loaded = true;
	}
	*ret = p;
	return NULL;
}

static bool is_interpreter(const struct names *names, const struct dso *dso)
{
	return is_python(names, dso->path) || interpreter_path(dso->path);
}

/* As the symbolizer names functions without names: "python3.11+0x1a0". */
static bool is_place(const char *name, const char *path)
{
	const char *file = path_name(path);
	size_t n = strlen(file);

	return !strncmp(name, file, n) && !strncmp(name + n, "+0x", 3);
}

/*
 * A range may be said to be of a file, as those of imported recordings are. perf and
 * others have "[python3.11]" for what they have no name for.
 */
static void set_range_file(struct lookup *l, const struct symbol_info *info)
{
	struct convert_frame *frame = l->frame;
	bool is_jit = interpreter_frame_is_jit(info->name);

	frame->in_interpreter = is_jit || is_interpreter(l->names, frame->dso);
	frame->is_glue = is_jit ||
			 (frame->in_interpreter &&
			  interpreter_frame_is_glue(info->raw_name));
	frame->starts = interpreter_frame_starts(
		info->raw_name, frame->dso->path, frame->in_interpreter);
	frame->is_nameless |= is_place(info->raw_name, frame->dso->path);
	frame->is_no_glue = frame->in_interpreter && !frame->is_glue &&
			    info->raw_name[0] != '[';
}

/* The file name in "py::<qualname>:<filename>". */
static const char *trampoline_file(const char *name)
{
	const char *colon = strchr(name + 4, ':');

	return colon ? colon + 1 : NULL;
}

static struct error *anonymous_frame(struct lookup *l)
{
	const struct symbol_info *info = NULL;
	struct process_names *process = NULL;
	struct error *error;
	uint64_t until;

	error = process_names(l, &process);
	if (!error)
		error = symbolizer_range(l->names->symbolizer,
					 (int32_t)l->place->pid, l->address,
					 l->place->time, &info, &until);
	if (error)
		return error;
	set_validity(l, until);
	l->frame->rel = l->shown;
	l->frame->dso = process->perf_map;
	if (!info)
		return NULL;
	set_symbol(l, info, l->address);
	set_range_file(l, info);
	if (interpreter_frame_is_trampoline(info->name)) {
		l->frame->is_trampoline = true;
		l->frame->kind = PROFILE_FRAME_PYTHON;
		l->frame->file = trampoline_file(l->frame->name);
	}
	return NULL;
}

/* A name for people, if it is mangled; lives as long as names. */
static const char *jit_name(struct names *names, const char *name)
{
	char *readable, *copy;

	if (names->options->no_demangle)
		return name;
	readable = demangle(name);
	if (!readable)
		return name;
	copy = arena_strndup(&names->arena, readable, strlen(readable));
	free(readable);
	return copy;
}

static struct error *jit_frame(struct lookup *l, struct jit_code *code,
			       const struct jit_dump *dump)
{
	struct convert_frame *frame = l->frame;
	const struct jit_line *line = NULL;

	frame->rel = l->shown;
	frame->name = jit_name(l->names, code->name);
	if (!frame->name)
		return error_no_memory();
	frame->start = code->start;
	frame->end = code->end;
	if (interpreter_frame_is_trampoline(code->name)) {
		frame->is_trampoline = true;
		frame->kind = PROFILE_FRAME_PYTHON;
		frame->file = trampoline_file(frame->name);
	}
	if (frame->is_trampoline || l->names->options->lines)
		line = jit_code_line(code, l->address);
	if (line) {
		frame->file = line->file;
		frame->line = line->line;
	}
	return dso_store_named(l->names->store, dump->path, &frame->dso);
}

/* The part of [at, end) that is one trampoline; returns where to go on. */
static uint64_t copy_trampoline(const struct symbol_info *info, uint64_t at,
				uint64_t end, uint8_t *out, bool *found)
{
	uint8_t code[UNWIND_TRAMPOLINE_MAX];
	uint64_t stop = info->end < end ? info->end : end;

	if (info->end <= at || info->start > at)
		return at + 1;
	if (!interpreter_frame_is_trampoline(info->name) ||
	    !unwind_trampoline_code(info->end - info->start, code))
		return stop;
	memcpy(out, code + (at - info->start), stop - at);
	*found = true;
	return stop;
}

bool names_trampoline_code(struct names *names, const struct place *place,
			   uint64_t address, void *buf, size_t size)
{
	struct lookup l = { .names = names, .place = place };
	const struct symbol_info *info;
	struct process_names *process;
	uint64_t at = address, end = address + size, until;
	uint8_t *out = buf;
	bool found = false;
	struct error *error;

	if (names->options->quirks.trampolines_not_unwound || end < address)
		return false;
	memset(out, 0, size);
	error = process_names(&l, &process);
	while (!error && at < end) {
		info = NULL;
		error = symbolizer_range(names->symbolizer, (int32_t)place->pid,
					 at, place->time, &info, &until);
		at = info && !error ?
			     copy_trampoline(info, at, end,
					     out + (at - address), &found) :
			     at + 1;
	}
	error_destroy(error);
	return found && !error;
}

static const char *frame_name(const struct names *names,
			      const struct symbol_frame *frame)
{
	return names->options->no_demangle ? frame->raw_name : frame->name;
}

/*
 * perf asks elfutils first. They give a position-independent file addresses
 * from 0x10000 on, and perf looks for the file's own among these: below that,
 * it finds nothing, and asks binutils' addr2line.
 */
static bool is_asked_of_addr2line(const struct lookup *l)
{
	const uint64_t elfutils_first = 0x10000;
	struct elf_file *elf = NULL;
	struct error *error = dso_elf(l->frame->dso, &elf);

	error_destroy(error);
	return elf && elf->type == ET_DYN && l->frame->rel < elfutils_first;
}

/*
 * What addr2line says, asked for the first time for a function without a name
 * for the linker, is the symbol's name; and ever after if the function begins
 * where the symbol does.
 */
static bool is_named_by_symbol(const struct symbol_frame *frame)
{
	return !frame->is_linkage_name &&
	       (frame->is_new || (frame->was_innermost &&
				  frame->start == frame->symbol->start));
}

/*
 * perf takes a function by what debug information calls it for an inlined
 * one, unless the symbol is called the same.
 */
static bool is_shown_inlined(const struct lookup *l,
			     const struct symbol_frame *frame)
{
	const struct quirks *quirks = &l->names->options->quirks;
	const char *name = frame_name(l->names, frame);
	bool by_addr2line =
		(quirks->addr2line_names || quirks->inlined_by_name) &&
		is_asked_of_addr2line(l);

	if (by_addr2line && quirks->addr2line_names &&
	    is_named_by_symbol(frame))
		return false;
	if (!quirks->inlined_by_name || (!by_addr2line && !frame->inlined))
		return frame->inlined;
	return name ? strcmp(name, l->frame->name) != 0 : frame->inlined;
}

/* Puts a frame within l->frame, the real function's. */
static struct error *add_inlined(struct lookup *l,
				 const struct symbol_frame *inlined,
				 struct convert_frame **inner)
{
	struct convert_frame *frame = frame_cache_new(&l->names->cache);
	const char *name = frame_name(l->names, inlined);

	if (!frame)
		return error_no_memory();
	*frame = *l->frame;
	frame->file = inlined->file;
	frame->line = inlined->line;
	frame->outer = *inner;
	if (is_shown_inlined(l, inlined)) {
		frame->name = name ? name : "??";
		frame->is_inlined = true;
		frame->real = l->frame;
	}
	*inner = frame;
	return NULL;
}

static struct error *set_file_by_symbol(struct lookup *l)
{
	const char *source = NULL;
	struct elf_file *elf = NULL;
	struct error *error = dso_elf(l->frame->dso, &elf);

	l->frame->file = "??";
	if (!error && elf)
		error = elf_file_source_of(elf, l->frame->start, &source);
	if (error || !source || !*source)
		return error;
	l->frame->file = arena_strndup(&l->names->arena, source, strlen(source));
	return l->frame->file ? NULL : error_no_memory();
}

/* An entry of a linkage table, or what stands before the first: for addr2line no functions. */
static bool is_linkage(const char *name)
{
	return name_ends_with(name, "@plt") || !strcmp(name, ".plt");
}

/* perf's ??:0, or a.c:0: a function of a file that has lines, but none for it. */
static struct error *set_unknown_line(struct lookup *l)
{
	const struct convert_options *options = l->names->options;
	struct dwarf_info *dwarf = NULL;
	struct error *error;

	if (!options->quirks.unknown_lines || !options->lines || l->frame->file ||
	    is_linkage(l->frame->name))
		return NULL;
	error = dso_dwarf(l->frame->dso, true, &dwarf);
	if (!error && dwarf)
		error = set_file_by_symbol(l);
	return error;
}

/* *ret is the innermost frame. */
static struct error *add_debug_info(struct lookup *l, uint64_t offset)
{
	const struct convert_options *options = l->names->options;
	struct symbol_frame frames[SYMBOLIZE_FRAMES_MAX];
	struct convert_frame *inner = NULL;
	size_t count = 0;
	struct error *error = symbolizer_frames(
		l->names->symbolizer, l->frame->dso, offset, false,
		options->lines, frames, SYMBOLIZE_FRAMES_MAX, &count);

	if (error || !count)
		return error;
	l->frame->file = frames[count - 1].file;
	l->frame->line = frames[count - 1].line;
	if (!options->inlines) {
		l->frame->file = frames[0].file;
		l->frame->line = frames[0].line;
		return set_unknown_line(l);
	}
	if (count == 1) {
		error = set_unknown_line(l);
		if (error)
			return error;
	}
	/* As a rule, the outermost is l->frame itself. */
	if (!is_shown_inlined(l, &frames[count - 1])) {
		inner = l->frame;
		count--;
	}
	while (count-- && !error)
		error = add_inlined(l, &frames[count], &inner);
	if (!error)
		l->frame = inner;
	return error;
}

/* Of a function in an interpreter's file. */
static struct error *set_glue(struct lookup *l, const struct symbol_info *info)
{
	enum interpreter_function function;
	struct error *error;

	if (!info->is_nameless && !info->is_method) {
		l->frame->is_glue = interpreter_frame_is_glue(info->raw_name);
		return NULL;
	}
	error = interpreters_find(&l->names->interpreters, l->frame->dso,
				  info->start, &function);
	if (error)
		return error;
	l->frame->is_glue = function != INTERPRETER_OTHER;
	if (function == INTERPRETER_EVAL)
		l->frame->name = INTERPRETER_EVAL_NAME;
	return NULL;
}

static struct error *file_frame(struct lookup *l, struct process_map *map)
{
	uint64_t offset = l->address - map->start + map->pgoff;
	const struct symbol_info *info = NULL;
	struct error *error;
	uint64_t rel;

	error = images_dso(&l->names->images, map, l->place->pid, false,
			   &l->frame->dso);
	if (!error && !(l->frame->dso->kind == DSO_VDSO &&
			has_files_only(l->names)))
		error = symbolizer_file(l->names->symbolizer, l->frame->dso,
					offset, &info);
	if (error)
		return error;
	l->frame->in_interpreter = is_interpreter(l->names, l->frame->dso);
	l->frame->file_offset = offset + (l->shown - l->address);
	l->frame->starts = interpreter_frame_starts(
		info && !info->is_nameless ? info->raw_name : NULL,
		l->frame->dso->path, l->frame->in_interpreter);
	if (info && l->frame->dso->state != DSO_OPEN) {
		/* Of a removed file: its symbols are by offsets. */
		set_symbol(l, info, offset);
		return NULL;
	}
	if (!info || !dso_offset_to_vaddr(l->frame->dso, offset, &rel)) {
		l->frame->rel = offset + (l->shown - l->address);
		return NULL;
	}
	set_symbol(l, info, rel);
	if (l->frame->in_interpreter) {
		error = set_glue(l, info);
		if (error)
			return error;
	}
	if (!l->names->options->lines && !l->names->options->inlines)
		return NULL;
	return add_debug_info(l, offset);
}

bool names_before_exec(const struct place *place, uint64_t address)
{
	return !process_map_at(place->process, address, place->time) &&
	       process_map_before(place->process, address);
}

static struct error *mapped_frame(struct lookup *l, enum address_mode mode)
{
	struct process *process = l->place->process;
	struct process_map *map;

	map = mode == ADDRESS_BEFORE_EXEC
		      ? process_map_before(process, l->address)
		      : process_map_at(process, l->address, l->place->time);
	l->frame->rel = l->shown;
	if (!map)
		return NULL;
	if ((map->prot & PROT_EXEC) &&
	    mapping_is_anonymous(map->file->path, map->flags))
		return anonymous_frame(l);
	return file_frame(l, map);
}

static struct error *user_frame(struct lookup *l, enum address_mode mode)
{
	struct jits *jits = &l->names->jits;
	uint64_t from = 0, to = UINT64_MAX;
	struct jit_code *code = NULL;
	struct jit_dump *dump;
	struct error *error;

	if (kaa_in_range(l->shown))
		return python_frame(l);
	if (mode == ADDRESS_USER && jits_has(jits, l->place->pid))
		code = jits_find(jits, l->place->pid, l->address,
				 l->place->time, &dump, &from, &to);
	error = code ? jit_frame(l, code, dump) : mapped_frame(l, mode);
	if (from > l->frame->valid_from)
		l->frame->valid_from = from;
	if (to < l->frame->valid_to)
		l->frame->valid_to = to;
	return error;
}

static struct error *make_frame(struct names *names, const struct place *place,
				const struct frame_key *key,
				enum address_mode mode, bool caller,
				struct convert_frame **ret)
{
	struct lookup l = { .names = names,
			    .place = place,
			    .shown = key->address,
			    .address = key->address - caller,
			    .frame = frame_cache_new(&names->cache) };
	struct error *error = NULL;

	if (!l.frame)
		return error_no_memory();
	l.frame->address = l.frame->file_offset = l.shown;
	l.frame->valid_to = UINT64_MAX;
	memset(l.frame->user, 0xff, sizeof(l.frame->user));
	if (mode == ADDRESS_USER || mode == ADDRESS_BEFORE_EXEC)
		error = user_frame(&l, mode);
	else if (mode == ADDRESS_KERNEL)
		error = kernel_frame(&l);
	else
		l.frame->rel = l.shown;
	if (error)
		return error;
	*ret = l.frame;
	return NULL;
}

void names_expect(const struct names *names, const struct place *place,
		  const uint64_t *addresses, size_t count)
{
	frame_cache_expect(&names->cache, place->space, place->pid, addresses,
			   count);
}

struct error *names_frame(struct names *names, const struct place *place,
			  uint64_t address, enum address_mode mode,
			  bool caller, struct convert_frame **ret)
{
	struct frame_key key = {
		.space = mode == ADDRESS_KERNEL ? 0 : place->space,
		.pid = mode == ADDRESS_KERNEL ? 0 : place->pid,
		.address = address,
		.how = (uint32_t)mode * 2 + caller,
	};
	struct convert_frame **slot = frame_cache_get(&names->cache, &key);
	struct convert_frame *frame;
	struct error *error;

	if (!slot)
		return error_no_memory();
	frame = *slot;
	if (!frame || !names_hold(names, frame->ranges, frame->valid_from,
				  frame->valid_to, place->time)) {
		error = make_frame(names, place, &key, mode, caller, &frame);
		if (error) {
			if (!*slot)
				names->cache.count--;
			return error;
		}
		*slot = frame;
	}
	*ret = frame;
	return NULL;
}

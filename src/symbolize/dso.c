// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/dso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mapping_name.h"
#include "base/name_match.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "obj/elf_symtab.h"
#include "symbolize/dso_find.h"
#include "sys/file.h"
#include "sys/own_vdso.h"

/*
 * Files kept open. The limit of a process is often 1,024, and a recorder needs
 * some for its events; a whole system maps thousands of files.
 */
#define OPEN_FILES_MAX 128
/* Dsos of one store; more are refused. */
#define DSO_COUNT_MAX (1u << 20)
#define KALLSYMS_SIZE_MAX (256u << 20)
#define NOTES_SIZE_MAX (1u << 20)

/* What a recording says of one removed file. */
struct recorded_file {
	const char *path;
	struct build_id build_id;
	struct symtab symtab;
};

struct dso_store {
	struct dso_options options;
	struct arena strings;
	VEC(struct dso *) dsos;
	/* Hash of the key to the index of the last dso with it. */
	struct map by_key;
	/* For each dso, the one with the same hash before it, or -1. */
	VEC(int64_t) next;
	/* Inodes and devices of the keys; parallel to dsos. */
	VEC(struct dso_key) keys;
	struct dso_stats stats;
	/* Files in the order in which they were opened; closed are those
	 * before first_open. */
	VEC(struct dso *) opened;
	size_t first_open;

	uint64_t recorded_text;
	struct build_id recorded_kernel;
	/* Empty: the recording has none. */
	struct strbuf recorded_vdso;
	/* Moved to the dso that they belong to. */
	VEC(struct recorded_file) recorded_files;
	/* Hash of path and build-id, and of the path alone, to the first of them. */
	struct map recorded_by_key;
	/* As uname -r has it; NULL: not known. */
	const char *recorded_release;
	bool kallsyms_loaded;
	/* Of the kernel that was recorded. */
	bool kallsyms_usable;
	uint64_t kernel_bias;
	struct kallsyms kallsyms;
};

static char *copy_option(struct arena *arena, const char *s)
{
	return s ? arena_strndup(arena, s, strlen(s)) : NULL;
}

struct error *dso_store_create(const struct dso_options *options,
			       struct dso_store **ret)
{
	struct dso_store *store = calloc(1, sizeof(*store));
	struct dso_options *own;

	if (!store)
		return error_no_memory();
	store->recorded_vdso = (struct strbuf)STRBUF_INIT;
	own = &store->options;
	*own = (struct dso_options){
		.symfs = copy_option(&store->strings, options->symfs),
		.root = copy_option(&store->strings, options->root),
		.debug_dir = copy_option(&store->strings, options->debug_dir),
		.buildid_dir = copy_option(&store->strings,
					   options->buildid_dir),
		.live = options->live,
		.versions = options->versions,
	};
	if (!own->symfs != !options->symfs || !own->root != !options->root ||
	    !own->debug_dir != !options->debug_dir ||
	    !own->buildid_dir != !options->buildid_dir) {
		dso_store_destroy(store);
		return error_no_memory();
	}
	*ret = store;
	return NULL;
}

static void dso_destroy(struct dso *dso)
{
	dwarf_info_destroy(dso->dwarf);
	module_deinit(&dso->module);
	elf_file_destroy(dso->debug);
	symtab_deinit(&dso->symtab);
	free(dso->infos);
	map_deinit(&dso->functions);
	free(dso->root);
	free(dso);
}

void dso_store_destroy(struct dso_store *store)
{
	if (!store)
		return;
	vec_for_each(dso, &store->dsos)
		dso_destroy(*dso);
	vec_deinit(&store->dsos);
	vec_deinit(&store->next);
	vec_deinit(&store->keys);
	vec_deinit(&store->opened);
	map_deinit(&store->by_key);
	kallsyms_deinit(&store->kallsyms);
	strbuf_deinit(&store->recorded_vdso);
	vec_for_each(file, &store->recorded_files)
		symtab_deinit(&file->symtab);
	vec_deinit(&store->recorded_files);
	map_deinit(&store->recorded_by_key);
	arena_deinit(&store->strings);
	free(store);
}

const struct dso_stats *dso_store_stats(const struct dso_store *store)
{
	return &store->stats;
}

size_t dso_store_count(const struct dso_store *store)
{
	return store->dsos.count;
}

struct dso *dso_store_at(const struct dso_store *store, size_t index)
{
	return index < store->dsos.count ? store->dsos.data[index] : NULL;
}

static enum dso_kind kind_of(const struct dso_key *key)
{
	if (key->kernel || name_begins_with(key->path, "[kernel.kallsyms]"))
		return DSO_KERNEL;
	if (mapping_is_vdso(key->path))
		return DSO_VDSO;
	return mapping_has_path(key->path) ? DSO_FILE : DSO_NAMED;
}

/* The process of "/tmp/perf-PID.map", or -1. */
static int perf_map_pid(const char *path)
{
	int pid, len = 0;

	if (sscanf(path, "/tmp/perf-%d.map%n", &pid, &len) != 1 ||
	    !len || path[len] || pid < 0)
		return -1;
	return pid;
}

/* NULL when memory runs out. */
static const char *short_name(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	int pid = perf_map_pid(path);
	char buf[32];

	if (pid >= 0) {
		snprintf(buf, sizeof(buf), "[JIT] tid %d", pid);
		return arena_strndup(arena, buf, strlen(buf));
	}
	if (path[0] == '[' || !slash || !slash[1])
		return path;
	return slash + 1;
}

static uint64_t hash_key(enum dso_kind kind, const struct dso_key *key)
{
	uint64_t hash = hash_combine(hash_string(key->path), kind);

	for (size_t i = 0; i < key->build_id.size; i++)
		hash = hash_combine(hash, key->build_id.data[i]);
	if (key->build_id.size)
		return hash;
	hash = hash_combine(hash, key->inode);
	return hash_combine(hash, (uint64_t)key->major << 32 | key->minor);
}

/* With a build-id the inode does not matter. */
static bool same_key(const struct dso_key *a, const struct dso_key *b)
{
	if (strcmp(a->path, b->path) ||
	    a->build_id.size != b->build_id.size ||
	    memcmp(&a->build_id, &b->build_id, sizeof(a->build_id)))
		return false;
	return a->build_id.size || (a->inode == b->inode &&
				    a->major == b->major &&
				    a->minor == b->minor);
}

static struct dso *find_dso(struct dso_store *store, uint64_t hash,
			    enum dso_kind kind, const struct dso_key *key)
{
	const uint64_t *first = map_find(&store->by_key, hash);

	for (int64_t i = first ? (int64_t)*first : -1; i >= 0;
	     i = store->next.data[i]) {
		store->stats.compared++;
		if (store->dsos.data[i]->kind == kind &&
		    same_key(&store->keys.data[i], key))
			return store->dsos.data[i];
	}
	return NULL;
}

static struct error *insert(struct dso_store *store, uint64_t hash,
			    struct dso *dso, struct dso_key key)
{
	int64_t next = -1;
	bool is_new;
	uint64_t *head;

	key.path = dso->path;
	if (!vec_reserve(&store->dsos, 1) || !vec_reserve(&store->next, 1) ||
	    !vec_reserve(&store->keys, 1))
		return error_no_memory();
	head = map_insert(&store->by_key, hash, dso->index, &is_new);
	if (!head)
		return error_no_memory();
	if (!is_new) {
		next = (int64_t)*head;
		*head = dso->index;
	}
	vec_push(&store->dsos, dso);
	vec_push(&store->next, next);
	vec_push(&store->keys, key);
	return NULL;
}

static struct error *create_dso(struct dso_store *store, uint64_t hash,
				enum dso_kind kind, const struct dso_key *key,
				struct dso **ret)
{
	_cleanup_free_ struct dso *dso = calloc(1, sizeof(*dso));
	struct error *error;

	if (store->dsos.count >= DSO_COUNT_MAX)
		return error_create(ERROR_LIMIT, "too many mapped files");
	if (!dso)
		return error_no_memory();
	dso->store = store;
	dso->kind = kind;
	dso->build_id = key->build_id;
	dso->pid = key->pid;
	dso->index = (uint32_t)store->dsos.count;
	dso->path = arena_strndup(&store->strings, key->path,
				  strlen(key->path));
	if (dso->path)
		dso->name = short_name(&store->strings, dso->path);
	if (!dso->name)
		return error_no_memory();
	error = insert(store, hash, dso, *key);
	if (error)
		return error;
	*ret = take_ptr(dso);
	return NULL;
}

static struct error *get(struct dso_store *store, enum dso_kind kind,
			 const struct dso_key *key, struct dso **ret)
{
	uint64_t hash = hash_key(kind, key);
	struct dso *found = find_dso(store, hash, kind, key);

	if (!found)
		return create_dso(store, hash, kind, key, ret);
	*ret = found;
	return NULL;
}

/*
 * The one name of a kernel image or module: "[kernel.kallsyms]_text" is
 * KALLSYMS_KERNEL, "/lib/modules/.../snd-pcm.ko.xz" is "[snd_pcm]" as in
 * kallsyms. Long names are cut to buf.
 */
static const char *kernel_name(const char *path, char *buf, size_t size)
{
	const char *base = strrchr(path, '/');
	size_t len;

	if (name_begins_with(path, KALLSYMS_KERNEL))
		return KALLSYMS_KERNEL;
	if (path[0] == '[' || !base)
		return path;
	base++;
	len = strcspn(base, ".");
	snprintf(buf, size, "[%.*s]", (int)(len < size ? len : size), base);
	for (char *p = buf; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	return buf;
}

struct error *dso_store_get(struct dso_store *store, const struct dso_key *key,
			    struct dso **ret)
{
	enum dso_kind kind = kind_of(key);
	char name[256];
	const struct dso_key kernel = {
		.path = kernel_name(key->path, name, sizeof(name)),
		.kernel = true,
	};

	return get(store, kind, kind == DSO_KERNEL ? &kernel : key, ret);
}

struct error *dso_store_named(struct dso_store *store, const char *name,
			      struct dso **ret)
{
	const struct dso_key key = { .path = name };

	return get(store, DSO_NAMED, &key, ret);
}

/* Is the running kernel the recorded one, as far as is known? */
static bool same_kernel(const struct dso_store *store)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	struct build_id running;
	struct error *error;

	if (store->options.live)
		return true;
	if (!store->recorded_kernel.size)
		return false;
	error = file_read(store->options.root, "/sys/kernel/notes",
			  NOTES_SIZE_MAX, &notes);
	if (error) {
		error_destroy(error);
		return false;
	}
	return build_id_from_notes(notes.data, notes.len, false, &running) &&
	       build_id_equal(&running, &store->recorded_kernel);
}

/* For recordings without the kernel's build-id, which say no more of its vdso. */
static bool same_release(const struct dso_store *store)
{
	struct utsname running;

	return !store->recorded_kernel.size && store->recorded_release &&
	       !uname(&running) &&
	       !strcmp(running.release, store->recorded_release);
}

/* The image that the recording holds. */
static struct error *open_recorded_vdso(struct dso *dso)
{
	const struct strbuf *image = &dso->store->recorded_vdso;

	if (!image->len)
		return error_at(ERROR_NOT_FOUND, dso->path, 0,
				"not in the recording");
	return elf_file_open_memory(image->data, image->len, dso->path,
				    &dso->module.elf);
}

static struct error *open_cached_vdso(struct dso *dso)
{
	return dso_find_vdso(&dso->store->options, &dso->build_id,
			     &dso->module.elf);
}

/* That of this process: the same as long as the machine was not booted anew. */
static struct error *open_own_vdso(struct dso *dso)
{
	struct bytes image;
	struct error *error;

	if (!dso->build_id.size && !same_kernel(dso->store) &&
	    !same_release(dso->store))
		return error_at(ERROR_NOT_FOUND, dso->path, 0,
				"recorded on another kernel");
	error = own_vdso(&image);
	if (error)
		return error;
	return elf_file_open_memory(image.data, image.size, dso->path,
				    &dso->module.elf);
}

static bool has_other_build_id(const struct dso *dso)
{
	return dso->build_id.size &&
	       !build_id_equal(&dso->build_id, &dso->module.elf->build_id);
}

/* From where it is known for sure to where it is found out by its build-id. */
static struct error *open_vdso(struct dso *dso)
{
	struct error *(*const places[])(struct dso *) = {
		open_recorded_vdso,
		open_own_vdso,
		open_cached_vdso,
	};
	bool mismatch = false;

	dso->module.is_vdso = true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct error *error = places[i](dso);

		if (!error && !has_other_build_id(dso))
			return NULL;
		if (!error) {
			mismatch = true;
			elf_file_destroy(take_ptr(dso->module.elf));
		} else if (error->code == ERROR_NO_MEMORY) {
			return error;
		}
		error_destroy(error);
	}
	if (mismatch)
		dso->state = DSO_MISMATCH;
	return error_at(ERROR_NOT_FOUND, dso->path, 0,
			"recorded with another vdso");
}

static struct error *open_file(struct dso *dso)
{
	bool mismatch = false;
	struct error *error;

	error = dso_find_file(&dso->store->options, dso->path, &dso->build_id,
			      dso->pid, &dso->root, &mismatch,
			      &dso->module.elf);
	if (mismatch)
		dso->state = DSO_MISMATCH;
	return error;
}

static void count_failure(struct dso *dso, const struct error *error)
{
	struct dso_stats *stats = &dso->store->stats;

	if (dso->state == DSO_MISMATCH) {
		stats->mismatched++;
	} else if (error->code == ERROR_NOT_FOUND) {
		dso->state = DSO_MISSING;
		stats->missing++;
	} else {
		dso->state = DSO_BROKEN;
		stats->broken++;
	}
}

/* Errors but those of memory mean: no symbols. */
static struct error *forgive(struct error *error)
{
	if (error && error->code != ERROR_NO_MEMORY) {
		error_destroy(error);
		return NULL;
	}
	return error;
}

static struct error *load_symbols(struct dso *dso, struct elf_file *elf)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *debug = NULL;
	struct error *error = NULL;

	if (dso->kind == DSO_FILE && !elf_file_section(elf, ".symtab"))
		error = forgive(dso_find_debug(&dso->store->options, dso->root,
					       dso->path, elf, &debug));
	if (!error)
		error = elf_symtab_load(elf, debug,
					dso->store->options.versions,
					&dso->symtab, NULL);
	if (error)
		symtab_deinit(&dso->symtab);
	return forgive(error);
}

/*
 * Closes the file that has been open longest, once there are too many. What
 * others may still ask for is read before: symbols, unwind tables, and the names of
 * a stripped file's functions.
 */
static struct error *close_oldest(struct dso_store *store)
{
	static const char *const kept[] = { ".eh_frame", ".eh_frame_hdr" };
	struct dso *oldest = store->opened.data[store->first_open++];
	struct elf_file *elf = oldest->module.elf;
	struct bytes bytes;
	struct error *error = NULL;

	if (!oldest->symbols_loaded) {
		error = load_symbols(oldest, elf);
		oldest->symbols_loaded = !error;
	}
	for (size_t i = 0; i < 2 && !error; i++)
		error = forgive(elf_file_section_by_name(elf, kept[i], NULL,
							 &bytes));
	if (!error && !elf_file_section(elf, ".symtab"))
		error = module_read_methods(&oldest->module);
	elf_file_close_fd(elf);
	return error;
}

static struct error *note_opened(struct dso *dso)
{
	struct dso_store *store = dso->store;

	if (dso->kind != DSO_FILE)
		return NULL;
	if (!vec_push(&store->opened, dso))
		return error_no_memory();
	if (store->opened.count - store->first_open <= OPEN_FILES_MAX)
		return NULL;
	return close_oldest(store);
}

struct error *dso_elf(struct dso *dso, struct elf_file **ret)
{
	struct error *error;

	if (dso->state == DSO_OPEN) {
		*ret = dso->module.elf;
		return NULL;
	}
	if (dso->state != DSO_UNOPENED || dso->kind == DSO_NAMED ||
	    dso->kind == DSO_KERNEL)
		return error_at(ERROR_NOT_FOUND, dso->path, 0,
				"no usable file was found");
	error = dso->kind == DSO_VDSO ? open_vdso(dso) : open_file(dso);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (error) {
		count_failure(dso, error);
		return error;
	}
	dso->state = DSO_OPEN;
	error = note_opened(dso);
	if (!error)
		*ret = dso->module.elf;
	return error;
}

/* dso_module() of a dso that is not open. */
static struct error *open_module(struct dso *dso, struct module **ret)
{
	struct elf_file *elf;

	if (dso->state == DSO_UNOPENED &&
	    (dso->kind == DSO_FILE || dso->kind == DSO_VDSO)) {
		struct error *error = forgive(dso_elf(dso, &elf));

		if (error)
			return error;
	}
	*ret = dso->state == DSO_OPEN ? &dso->module : NULL;
	return NULL;
}

struct error *dso_module(struct dso *dso, struct module **ret)
{
	if (dso->state != DSO_OPEN)
		return open_module(dso, ret);
	*ret = &dso->module;
	return NULL;
}

/* id: NULL for any. */
static uint64_t recorded_key(const char *path, const struct build_id *id)
{
	uint64_t of_id = !id ? UINT64_MAX :
			 id->size ? hash_bytes(id->data, sizeof(id->data)) :
				    0;

	return hash_combine(hash_string(path), of_id);
}

/* The number of the first of that key, or SIZE_MAX. */
static size_t recorded_at(const struct dso_store *store, const char *path,
			  const struct build_id *id)
{
	const uint64_t *number =
		map_find(&store->recorded_by_key, recorded_key(path, id));
	const struct recorded_file *file;
	bool is_it;

	if (!number)
		return SIZE_MAX;
	file = &store->recorded_files.data[*number];
	is_it = !id	 ? true :
		id->size ? build_id_equal(&file->build_id, id) :
			   !file->build_id.size;
	return is_it && !strcmp(file->path, path) ? (size_t)*number : SIZE_MAX;
}

/* The first of them. A key without a build-id says less than the file itself. */
static struct recorded_file *find_recorded(struct dso_store *store,
					   const char *path,
					   const struct build_id *id)
{
	static const struct build_id not_known;
	size_t same = recorded_at(store, path, id->size ? id : NULL);
	size_t other = recorded_at(store, path, &not_known);
	size_t first = same < other ? same : other;

	return first == SIZE_MAX ? NULL : &store->recorded_files.data[first];
}

static struct error *add_recorded(struct dso_store *store,
				  const struct dso_symbol *symbol,
				  struct recorded_file **ret)
{
	struct recorded_file new = {
		.path = arena_strndup(&store->strings, symbol->path,
				      strlen(symbol->path)),
		.build_id = symbol->build_id,
	};
	size_t number = store->recorded_files.count;

	if (!new.path || !vec_push(&store->recorded_files, new) ||
	    !map_insert(&store->recorded_by_key,
			recorded_key(new.path, &new.build_id), number, NULL) ||
	    !map_insert(&store->recorded_by_key, recorded_key(new.path, NULL),
			number, NULL))
		return error_no_memory();
	*ret = vec_last(&store->recorded_files);
	return NULL;
}

struct error *dso_store_add_symbol(struct dso_store *store,
				   const struct dso_symbol *symbol)
{
	struct recorded_file *file =
		find_recorded(store, symbol->path, &symbol->build_id);
	struct error *error = NULL;
	const char *name;

	if (!symbol->size || symbol->size > UINT64_MAX - symbol->offset)
		return NULL;
	if (!file)
		error = add_recorded(store, symbol, &file);
	if (error)
		return error;
	/* A table that has names itself has a block of memory for them. */
	name = symtab_copy_name(&store->strings, symbol->name,
				strlen(symbol->name));
	if (!name)
		return error_no_memory();
	return symtab_add_borrowed(&file->symtab, symbol->offset, symbol->size,
				   name, STT_FUNC, STB_GLOBAL, 0);
}

/* Of a file that was not found. */
static struct error *take_recorded(struct dso *dso)
{
	struct recorded_file *file;
	struct error *error;

	file = dso->kind == DSO_FILE ? find_recorded(dso->store, dso->path,
						     &dso->build_id) :
				       NULL;
	if (!file || !file->symtab.count)
		return NULL;
	error = symtab_finish(&file->symtab, SYMTAB_BEST_ALIAS, 0);
	if (error)
		return error;
	dso->symtab = file->symtab;
	file->symtab = (struct symtab){};
	return NULL;
}

struct error *dso_symtab(struct dso *dso, const struct symtab **ret)
{
	struct elf_file *elf;
	struct error *error;

	if (!dso->symbols_loaded) {
		error = dso_elf(dso, &elf);
		if (!error)
			error = load_symbols(dso, elf);
		error = forgive(error);
		if (!error && dso->state != DSO_OPEN)
			error = take_recorded(dso);
		if (error)
			return error;
		dso->symbols_loaded = true;
	}
	*ret = &dso->symtab;
	return NULL;
}

static struct error *load_dwarf(struct dso *dso, bool lines)
{
	struct elf_file *elf;
	struct error *error = dso_elf(dso, &elf);

	if (error)
		return error;
	if (dso->kind == DSO_FILE && !elf_file_section(elf, ".debug_info")) {
		error = dso_find_debug(&dso->store->options, dso->root,
				       dso->path, elf, &dso->debug);
		if (error)
			return error;
		elf = dso->debug;
	}
	error = dwarf_info_create(elf, lines, &dso->dwarf);
	/* All that is used of it has been read. */
	if (dso->debug)
		elf_file_close_fd(dso->debug);
	return error;
}

struct error *dso_dwarf(struct dso *dso, bool lines, struct dwarf_info **ret)
{
	struct error *error;

	if (!dso->dwarf_loaded) {
		error = forgive(load_dwarf(dso, lines));
		if (error)
			return error;
		dso->dwarf_loaded = true;
	}
	*ret = dso->dwarf;
	return NULL;
}

struct error *dso_cfi(struct dso *dso, struct cfi_table **ret)
{
	struct module *module;
	struct error *error = dso_module(dso, &module);

	if (error)
		return error;
	*ret = NULL;
	return module ? module_cfi(module, ret) : NULL;
}

bool dso_offset_to_vaddr(struct dso *dso, uint64_t offset, uint64_t *ret)
{
	struct elf_file *elf;
	struct error *error = dso_elf(dso, &elf);

	if (error) {
		error_destroy(error);
		return false;
	}
	return elf_file_offset_to_vaddr(elf, offset, ret);
}

struct error *dso_store_set_vdso(struct dso_store *store,
				 const struct bytes *image)
{
	struct strbuf *vdso = &store->recorded_vdso;

	if (vdso->len)
		return NULL;
	strbuf_append(vdso, image->data, image->size);
	return vdso->failed ? error_no_memory() : NULL;
}

struct error *dso_store_set_release(struct dso_store *store,
				    const char *release)
{
	if (!store->recorded_release)
		store->recorded_release =
			copy_option(&store->strings, release);
	return store->recorded_release ? NULL : error_no_memory();
}

void dso_store_set_kernel(struct dso_store *store, uint64_t text,
			  const struct build_id *build_id)
{
	store->recorded_text = text;
	if (build_id)
		store->recorded_kernel = *build_id;
}

/* Reading kallsyms takes the kernel 50 ms and more: only if it may be of use. */
static void load_kallsyms(struct dso_store *store)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool same = same_kernel(store);
	struct error *error;
	uint64_t running;

	if (!same && (store->recorded_kernel.size || !store->recorded_text))
		return;
	error = file_read(store->options.root, "/proc/kallsyms",
			  KALLSYMS_SIZE_MAX, &text);
	if (!error)
		error = kallsyms_parse(&text, &store->kallsyms);
	if (error) {
		error_destroy(error);
		return;
	}
	running = store->kallsyms.text;
	store->kallsyms_usable = same || running == store->recorded_text;
	if (store->recorded_text && running)
		store->kernel_bias = store->recorded_text - running;
}

const struct kallsyms *dso_store_kallsyms(struct dso_store *store,
					  uint64_t *bias)
{
	if (!store->kallsyms_loaded) {
		store->kallsyms_loaded = true;
		load_kallsyms(store);
	}
	if (!store->kallsyms_usable)
		return NULL;
	*bias = store->kernel_bias;
	return &store->kallsyms;
}

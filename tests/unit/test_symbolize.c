// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>

#include "base/strbuf.h"
#include "obj/elf_symbols.h"
#include "symbolize/dso.h"
#include "symbolize/perf_map_file.h"
#include "symbolize/ranges.h"
#include "symbolize/rooted.h"
#include "symbolize/symbolize.h"
#include "sys/file.h"
#include "sys/own_vdso.h"
#include "sys/proc.h"
#include "assert_ok.h"
#include "fake_tree.h"
#include "synthetic_elf.h"

/* A folder of our own; its path is in *state. */
static int setup(void **state)
{
	char *path = strdup("/tmp/kaa-test-symbolize-XXXXXX");

	*state = path;
	return mkdtemp(path) ? 0 : -1;
}

static int teardown(void **state)
{
	int status = fake_tree_remove(*state);

	free(*state);
	return status;
}

__attribute__((format(printf, 2, 3)))
static char *path_in(const char *dir, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	va_list args;

	strbuf_printf(&path, "%s/", dir);
	va_start(args, format);
	strbuf_vprintf(&path, format, args);
	va_end(args);
	return strbuf_take(&path);
}

static void write_file(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_rooted_links_stay_inside(void **state)
{
	_cleanup_free_ char *inside = path_in(*state, "secret");
	_cleanup_free_ char *link = path_in(*state, "link");
	_cleanup_free_ char *up = path_in(*state, "up");
	_cleanup_close_ int fd = -1;
	char buf[8] = "";

	write_file(inside, "inside");
	assert_int_equal(symlink("/secret", link), 0);
	assert_int_equal(symlink("../../../../etc/passwd", up), 0);
	assert_null(rooted_open(*state, "/link", 0, &fd));
	assert_int_equal(read(fd, buf, 6), 6);
	assert_string_equal(buf, "inside");
	assert_fails(rooted_open(*state, "/up", 0, &fd), ERROR_OS);
	assert_fails(rooted_open(*state, "/link", O_NOFOLLOW, &fd), ERROR_OS);
	assert_fails(rooted_open(*state, "/../etc/passwd", 0, &fd), ERROR_OS);
}

static void make_tmp(const char *dir)
{
	_cleanup_free_ char *tmp = path_in(dir, "tmp");

	assert_int_equal(mkdir(tmp, 0700), 0);
}

static void test_perf_map_file(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct perf_map_file map = {};

	make_tmp(*state);
	path = path_in(*state, "tmp/perf-123.map");
	assert_fails(perf_map_file_load(*state, 123, -1, &map),
		     ERROR_NOT_FOUND);
	write_file(path, "1000 10 py::f:/x.py\nnonsense\n");
	assert_null(perf_map_file_load(*state, 123, -1, &map));
	assert_string_equal(map.path, "/tmp/perf-123.map");
	assert_int_equal(map.bad, 1);
	assert_string_equal(symtab_find(&map.symtab, 0x100f)->name,
			    "py::f:/x.py");
	perf_map_file_deinit(&map);
}

/* A link, a folder or a FIFO in place of the map: refused, at once. */
static void test_perf_map_that_is_no_file(void **state)
{
	_cleanup_free_ char *link = path_in(*state, "tmp/perf-1.map");
	_cleanup_free_ char *fifo = path_in(*state, "tmp/perf-2.map");
	_cleanup_free_ char *folder = path_in(*state, "tmp/perf-3.map");
	struct perf_map_file map = {};

	assert_int_equal(symlink("perf-123.map", link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_fails(perf_map_file_load(*state, 1, -1, &map), ERROR_OS);
	assert_fails(perf_map_file_load(*state, 2, -1, &map),
		     ERROR_UNSUPPORTED);
	assert_fails(perf_map_file_load(*state, 3, -1, &map),
		     ERROR_UNSUPPORTED);
}

static void test_perf_map_of_a_stranger(void **state)
{
	_cleanup_free_ char *path = path_in(*state, "tmp/perf-4.map");
	struct perf_map_file map = {};

	if (geteuid() != 0)
		skip();
	write_file(path, "1000 10 planted\n");
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_fails(perf_map_file_load(*state, 4, -1, &map), ERROR_PERMISSION);
	assert_fails(perf_map_file_load(*state, 4, 54321, &map),
		     ERROR_PERMISSION);
	assert_null(perf_map_file_load(*state, 4, 12345, &map));
	perf_map_file_deinit(&map);
}

static void test_perf_map_of_a_live_process(void **state)
{
	struct perf_map_file map = {};
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	/* Of another process that had the number before. */
	(void)unlink(path);
	write_file(path, "2000 10 mine\n");
	assert_null(perf_map_file_load_live(NULL, getpid(), &map));
	assert_int_equal(unlink(path), 0);
	assert_string_equal(map.path, path);
	assert_string_equal(symtab_find(&map.symtab, 0x2000)->name, "mine");
	perf_map_file_deinit(&map);
	assert_fails(perf_map_file_load_live(NULL, getpid(), &map),
		     ERROR_NOT_FOUND);
}

static const struct range *best_of(const struct range *ranges, int count,
				   uint64_t address, uint64_t time)
{
	const struct range *best = NULL;

	for (int i = 0; i < count; i++) {
		if (address >= ranges[i].start && address < ranges[i].end &&
		    time >= ranges[i].from && time < ranges[i].to &&
		    (!best || ranges[i].from >= best->from))
			best = &ranges[i];
	}
	return best;
}

static void test_ranges_in_space_and_time(void **state)
{
	enum { COUNT = 700, SPACE = 300, TIME = 50, END = TIME + 5 };
	static struct range ranges[COUNT];
	struct range_table table = {};
	unsigned int seed = 5;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		uint64_t start = (uint64_t)rand_r(&seed) % SPACE;
		uint64_t from = (uint64_t)rand_r(&seed) % TIME;

		ranges[i] = (struct range){
			.start = start,
			.end = start + 1 + (uint64_t)rand_r(&seed) % 20,
			.from = from,
			.to = from + 1 + (uint64_t)rand_r(&seed) % 5,
			.sequence = (uint64_t)i,
			.info = (const struct symbol_info *)&ranges[i],
		};
		assert_true(range_table_add(&table, &ranges[i]));
		for (int k = 0; k < 50; k++) {
			uint64_t at = (uint64_t)rand_r(&seed) % SPACE;
			uint64_t time = (uint64_t)rand_r(&seed) % TIME;
			const struct range *best =
				best_of(ranges, i + 1, at, time);
			uint64_t until, t = time;
			const struct range *found = range_table_find(
				&table, at, time, &until);

			assert_ptr_equal(found ? found->info : NULL, best);
			while (t < END && best_of(ranges, i + 1, at, t) == best)
				t++;
			assert_int_equal(until, t < END ? t : UINT64_MAX);
		}
	}
	range_table_deinit(&table);
}

/* What was sorted, in elements. */
static size_t sorted;

static int compare_with(const void *a, const void *b, void *arg)
{
	return (*(int (**)(const void *, const void *))arg)(a, b);
}

void qsort(void *base, size_t n, size_t size,
	   int (*compare)(const void *, const void *))
{
	sorted += n;
	qsort_r(base, n, size, compare_with, &compare);
}

/* A compiler makes functions as long as the program runs, and samples hit them. */
static void test_many_ranges_and_questions(void **state)
{
	enum { COUNT = 1 << 17, STEP = 3 };
	struct range_table table = {};
	uint64_t until;

	(void)state;
	sorted = 0;
	for (uint64_t i = 0; i < COUNT; i++) {
		/* An odd number, so all places have their turn. */
		uint64_t start = i * 40503 % COUNT * 16;

		assert_true(range_table_add(
			&table, &(struct range){ .start = start,
						 .end = start + 16,
						 .to = UINT64_MAX,
						 .sequence = i }));
		if (i % STEP)
			continue;
		assert_int_equal(range_table_find(&table, start + 1, 0, &until)
					 ->sequence, i);
		start = i / 2 * 40503 % COUNT * 16;
		assert_int_equal(range_table_find(&table, start + 1, 0, &until)
					 ->sequence, i / 2);
	}
	/* All of them, again for every 256 new ones, would be 255 times as many. */
	assert_in_range(sorted, COUNT / 2, 20 * COUNT);
	range_table_deinit(&table);
}

static void create(const struct dso_options *options, struct dso_store **store,
		   struct symbolizer **symbolizer)
{
	assert_null(dso_store_create(options, store));
	assert_null(symbolizer_create(*store, symbolizer));
}

/* The dso and file offset of an address in this process. */
static uint64_t locate(struct dso_store *store, const void *address,
		       struct dso **dso)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	const struct proc_map *map;
	uint64_t at = (uint64_t)(uintptr_t)address, offset;
	struct dso_key key = {};

	assert_null(proc_maps_read(NULL, getpid(), &maps));
	map = proc_maps_find(&maps, at);
	assert_non_null(map);
	key.path = map->path;
	key.inode = map->inode;
	assert_null(dso_store_get(store, &key, dso));
	offset = at - map->start + map->offset;
	proc_maps_deinit(&maps);
	return offset;
}

__attribute__((noinline)) static int some_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

static void test_own_functions(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_info *first, *second;
	struct symbol_frame frame;
	struct dso *dso, *again;
	uint64_t offset;
	size_t count;

	(void)state;
	create(&(struct dso_options){ .live = true }, &store, &symbolizer);
	offset = locate(store, some_function, &dso);
	locate(store, some_function, &again);
	assert_ptr_equal(dso, again);
	assert_string_equal(dso->name, "test_symbolize");
	assert_null(symbolizer_file(symbolizer, dso, offset, &first));
	assert_string_equal(first->name, "some_function");
	assert_null(symbolizer_file(symbolizer, dso, offset + 2, &second));
	assert_ptr_equal(first, second);
	/* The byte before a function's first is the caller's last. */
	assert_null(symbolizer_frames(symbolizer, dso, offset, true, false,
				      &frame, 1, &count));
	assert_true(count == 0 || frame.symbol != first);
	assert_null(symbolizer_frames(symbolizer, dso, offset + 1, true,
				      false, &frame, 1, &count));
	assert_int_equal(count, 1);
	assert_ptr_equal(frame.symbol, first);
	assert_int_equal(some_function(1), 3);
}

static void test_function_of_libc(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_info *info;
	struct dso *dso;
	uint64_t offset;

	(void)state;
	create(&(struct dso_options){ .live = true }, &store, &symbolizer);
	offset = locate(store, dlsym(RTLD_DEFAULT, "qsort_r"), &dso);
	assert_null(symbolizer_file(symbolizer, dso, offset, &info));
	/* Perhaps by an alias, if debug files of libc are installed. */
	assert_non_null(strstr(info->name, "qsort_r"));
}

static void test_vdso(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_info *info;
	struct elf_symbol symbol;
	struct elf_file *elf;
	struct dso *dso, *other;
	struct dso_key key = { .path = "[vdso]", .build_id = { .size = 20 } };
	uint64_t offset;

	(void)state;
	assert_true(getauxval(AT_SYSINFO_EHDR));
	create(&(struct dso_options){ .live = true }, &store, &symbolizer);
	locate(store, (void *)getauxval(AT_SYSINFO_EHDR), &dso);
	assert_int_equal(dso->kind, DSO_VDSO);
	assert_null(dso_elf(dso, &elf));
	assert_null(elf_file_find_symbol(elf, "__vdso_clock_gettime",
					 &symbol));
	assert_true(elf_file_vaddr_to_offset(elf, symbol.vaddr, &offset));
	assert_null(symbolizer_file(symbolizer, dso, offset, &info));
	assert_non_null(strstr(info->name, "clock_gettime"));
	/* Another build-id: another kernel's. */
	assert_null(dso_store_get(store, &key, &other));
	assert_ptr_not_equal(dso, other);
	assert_fails(dso_elf(other, &elf), ERROR_NOT_FOUND);
	assert_int_equal(other->state, DSO_MISMATCH);
}

/* With another name for the one function; the bytes are read where they lie. */
static void copy_own_vdso(struct strbuf *out)
{
	static const char name[] = "__vdso_clock_gettime";
	struct bytes image;
	char *found;

	assert_null(own_vdso(&image));
	strbuf_append(out, image.data, image.size);
	found = memmem(out->data, out->len, name, sizeof(name));
	assert_non_null(found);
	memcpy(found, "__ours", 6);
}

static void set_vdso(struct dso_store *store, const char *data, size_t size)
{
	const struct bytes image = { (const uint8_t *)data, size };

	assert_null(dso_store_set_vdso(store, &image));
}

/* Of a recording that says neither kernel nor build-id, read where another may run. */
static void test_vdso_of_the_recording(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	const struct dso_key key = { .path = "[vdso]" };
	struct elf_symbol symbol;
	struct elf_file *elf;
	struct dso *dso;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	assert_null(dso_store_get(store, &key, &dso));
	assert_fails(dso_elf(dso, &elf), ERROR_NOT_FOUND);
	assert_int_equal(dso->state, DSO_MISSING);
	cleanup_symbolizer_(&symbolizer);
	cleanup_dso_store_(&store);
	symbolizer = NULL;
	store = NULL;

	copy_own_vdso(&image);
	create(&(struct dso_options){}, &store, &symbolizer);
	set_vdso(store, image.data, image.len);
	set_vdso(store, "x", 1);
	assert_null(dso_store_get(store, &key, &dso));
	assert_null(dso_elf(dso, &elf));
	assert_null(elf_file_find_symbol(elf, "__ours_clock_gettime", &symbol));
}

/* Bytes of somebody's file: no names, and no more. */
static void test_vdso_that_is_none(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	const struct dso_key key = { .path = "[vdso]" };
	const struct symtab *symtab;
	struct dso *dso;

	(void)state;
	copy_own_vdso(&image);
	for (size_t size = 0; size <= image.len; size += image.len / 16) {
		create(&(struct dso_options){}, &store, &symbolizer);
		set_vdso(store, image.data, size);
		assert_null(dso_store_get(store, &key, &dso));
		assert_null(dso_symtab(dso, &symtab));
		cleanup_symbolizer_(&symbolizer);
		cleanup_dso_store_(&store);
		symbolizer = NULL;
		store = NULL;
	}
}

static void test_other_build_id_gives_no_names(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_info *info;
	struct dso_key key = {};
	struct elf_file *elf;
	struct dso *right, *wrong, *absent;
	uint64_t offset;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	offset = locate(store, some_function, &right);
	assert_null(dso_elf(right, &elf));
	assert_true(elf->build_id.size);
	key.path = right->path;
	key.build_id = elf->build_id;
	assert_null(dso_store_get(store, &key, &right));
	assert_null(symbolizer_file(symbolizer, right, offset, &info));
	assert_string_equal(info->name, "some_function");
	key.build_id.data[3] ^= 1;
	assert_null(dso_store_get(store, &key, &wrong));
	assert_ptr_not_equal(right, wrong);
	assert_null(symbolizer_file(symbolizer, wrong, offset, &info));
	assert_null(info);
	assert_int_equal(wrong->state, DSO_MISMATCH);
	key.path = "/nonexistent/file.so";
	assert_null(dso_store_get(store, &key, &absent));
	assert_null(symbolizer_file(symbolizer, absent, offset, &info));
	assert_null(info);
	assert_int_equal(absent->state, DSO_MISSING);
	assert_int_equal(dso_store_stats(store)->mismatched, 1);
	assert_int_equal(dso_store_stats(store)->missing, 1);
}

/* One path and inode on many devices, as in containers: none is taken for another. */
static void test_devices_are_told_apart_at_once(void **state)
{
	enum { DEVICES = 200 };
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	struct dso_key key = { .path = "/nonexistent/file.so", .inode = 7 };
	struct dso *dso;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < DEVICES; i++) {
			key.major = i % 2;
			key.minor = i / 2;
			assert_null(dso_store_get(store, &key, &dso));
			assert_int_equal(dso->index, i);
		}
	/* Once each in the second round, and a few whose hashes are equal. */
	assert_in_range(dso_store_stats(store)->compared, DEVICES, 2 * DEVICES);
}

/* By offsets in the file, and only where the file itself is not found. */
static void test_names_of_a_removed_file(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	struct dso_symbol symbol = { .path = "/nonexistent/file.so",
				     .build_id = { .size = 3, .data = { 1, 2, 3 } },
				     .offset = 0x1000,
				     .size = 0x20,
				     .name = "_ZN1a1bEv" };
	struct dso_key key = { .path = symbol.path };
	const struct symbol_info *info;
	struct dso *here, *removed, *other;
	uint64_t offset;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	offset = locate(store, some_function, &here);
	assert_null(dso_store_add_symbol(store, &symbol));
	symbol.offset = 0x1040;
	symbol.name = "c";
	assert_null(dso_store_add_symbol(store, &symbol));
	/* Bounds that wrap around, and none, are no function. */
	symbol.offset = UINT64_MAX - 4;
	assert_null(dso_store_add_symbol(store, &symbol));
	symbol.size = 0;
	assert_null(dso_store_add_symbol(store, &symbol));
	symbol = (struct dso_symbol){ .path = here->path,
				      .offset = offset,
				      .size = 1,
				      .name = "wrong" };
	assert_null(dso_store_add_symbol(store, &symbol));

	key.build_id = (struct build_id){
		.size = 3, .data = { 1, 2, 3 }
	};
	assert_null(dso_store_get(store, &key, &removed));
	assert_null(symbolizer_file(symbolizer, removed, 0x101f, &info));
	assert_non_null(info);
	assert_string_equal(info->name, "a::b()");
	assert_string_equal(info->raw_name, "_ZN1a1bEv");
	assert_true(info->start == 0x1000 && info->end == 0x1020);
	assert_ptr_equal(info->dso, removed);
	assert_null(symbolizer_file(symbolizer, removed, 0x1020, &info));
	assert_null(info);
	assert_null(symbolizer_file(symbolizer, removed, 0x1040, &info));
	assert_string_equal(info->name, "c");
	key.build_id.data[0] = 9;
	assert_null(dso_store_get(store, &key, &other));
	assert_null(symbolizer_file(symbolizer, other, 0x1000, &info));
	assert_null(info);
	assert_null(symbolizer_file(symbolizer, here, offset, &info));
	assert_string_equal(info->name, "some_function");
}

/* id 0: not known. */
static void add_recorded(struct dso_store *store, const char *path, uint32_t id,
			 uint64_t size, const char *name)
{
	struct dso_symbol symbol = { .path = path,
				     .offset = 0x1000,
				     .size = size,
				     .name = name };

	if (id) {
		symbol.build_id.size = sizeof(id);
		memcpy(symbol.build_id.data, &id, sizeof(id));
	}
	assert_null(dso_store_add_symbol(store, &symbol));
}

/* What the function of such a file is called, or "". */
static const char *recorded_name(struct dso_store *store,
				 struct symbolizer *symbolizer, const char *path,
				 uint32_t id)
{
	struct dso_key key = { .path = path };
	const struct symbol_info *info;
	struct dso *dso;

	if (id) {
		key.build_id.size = sizeof(id);
		memcpy(key.build_id.data, &id, sizeof(id));
	}
	assert_null(dso_store_get(store, &key, &dso));
	assert_null(symbolizer_file(symbolizer, dso, 0x1000, &info));
	return info ? info->name : "";
}

/* Build-ids differ, or one is not known: then the first of the path is it. */
static void test_removed_files_of_one_path(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	add_recorded(store, "/nonexistent/a", 1, 4, "a1");
	add_recorded(store, "/nonexistent/a", 2, 4, "a2");
	add_recorded(store, "/nonexistent/b", 2, 4, "b2");
	/* One function of the first. */
	add_recorded(store, "/nonexistent/b", 0, 4, "b2");
	add_recorded(store, "/nonexistent/b", 3, 4, "b3");
	add_recorded(store, "/nonexistent/c", 0, 4, "c");
	add_recorded(store, "/nonexistent/c", 5, 4, "c");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/a", 2),
			    "a2");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/a", 0),
			    "a1");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/a", 3),
			    "");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/b", 3),
			    "b3");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/c", 6),
			    "c");
	assert_string_equal(recorded_name(store, symbolizer, "/nonexistent/d", 1),
			    "");
}

/* Files are not searched one by one: it would not end in the time that tests have. */
static void test_many_removed_files(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	enum { FILES = 20 * 1000, FUNCTIONS = 500 * 1000 };
	char path[1000];

	(void)state;
	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	create(&(struct dso_options){}, &store, &symbolizer);
	for (uint32_t i = 1; i <= FILES; i++)
		add_recorded(store, path, i, 4, "f");
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		add_recorded(store, path, FILES, 4, "f");
	assert_string_equal(recorded_name(store, symbolizer, path, FILES - 1),
			    "f");
}

/* --- Functions that no symbol names ------------------------------------- */

#define CODE SYNTHETIC_TEXT_VADDR

/* A CIE whose FDEs have absolute addresses, and four FDEs. */
struct __attribute__((packed)) frames {
	struct __attribute__((packed)) {
		uint32_t length, id;
		uint8_t version, augmentation, code_align, data_align, ra;
		uint8_t def_cfa[3], padding[4];
	} cie;
	struct __attribute__((packed)) {
		uint32_t length, cie;
		uint64_t start, size;
	} fdes[4];
	uint32_t end;
};

static struct frames make_frames(void)
{
	static const struct { uint64_t start, size; } ranges[] = {
		{ CODE + 0x00, 0x20 },
		{ CODE + 0x20, 0x20 },
		{ CODE + 0x40, 0x30 },
		{ CODE + 0x80, 0x10 },
	};
	struct frames frames = {
		.cie = { .length = sizeof(frames.cie) - 4,
			 .version = 1, .code_align = 1, .data_align = 0x78,
			 .ra = 16, .def_cfa = { 0x0c, 7, 8 } },
	};

	for (size_t i = 0; i < 4; i++) {
		frames.fdes[i].length = sizeof(frames.fdes[i]) - 4;
		frames.fdes[i].cie = (uint32_t)(
			offsetof(struct frames, fdes[i].cie));
		frames.fdes[i].start = ranges[i].start;
		frames.fdes[i].size = ranges[i].size;
	}
	return frames;
}

/* __clone of musl 1.2.3 as Debian has it. */
enum { CLONE_SIZE = 57 };
static const uint8_t musl_clone[CLONE_SIZE + 1] =
	"\x31\xc0\xb0\x38\x49\x89\xfb\x48\x89\xd7\x4c\x89\xc2\x4d\x89\xc8"
	"\x4c\x8b\x54\x24\x08\x4d\x89\xd9\x48\x83\xe6\xf0\x48\x83\xee\x08"
	"\x48\x89\x0e\x0f\x05\x85\xc0\x75\x0f\x31\xed\x5f\x41\xff\xd1\x89"
	"\xc7\x31\xc0\xb0\x3c\x0f\x05\xf4\xc3";

/*
 * A stripped library as libnameless.so in dir: exports "sized" of 0x10 bytes,
 * "sizeless", which no size keeps from reaching up to "last", and "last"; and
 * "memset", behind which are __clone and what looks like it.
 */
static char *make_stripped(const char *dir)
{
	static const char strings[] = "\0sized\0sizeless\0last\0memset";
	static uint8_t text[0x200];
	static const Elf64_Sym symbols[] = {
		{},
		{ .st_name = 1, .st_info = STB_GLOBAL << 4 | STT_FUNC,
		  .st_shndx = 1, .st_value = CODE, .st_size = 0x10 },
		{ .st_name = 7, .st_info = STB_GLOBAL << 4 | STT_FUNC,
		  .st_shndx = 1, .st_value = CODE + 0x20 },
		{ .st_name = 16, .st_info = STB_GLOBAL << 4 | STT_FUNC,
		  .st_shndx = 1, .st_value = CODE + 0xc0, .st_size = 0x10 },
		{ .st_name = 21, .st_info = STB_GLOBAL << 4 | STT_FUNC,
		  .st_shndx = 1, .st_value = CODE + 0x110 },
	};
	const struct frames frames = make_frames();
	const struct synthetic_elf elf = {
		.elf_class = ELFCLASS64, .encoding = ELFDATA2LSB,
		.machine = EM_X86_64,
		.sections = {
			{ .name = ".text", .type = SHT_PROGBITS,
			  .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = CODE,
			  .offset = SYNTHETIC_TEXT_OFFSET, .data = text,
			  .size = sizeof(text) },
			{ .name = ".dynsym", .type = SHT_DYNSYM, .link = 3,
			  .data = symbols, .size = sizeof(symbols),
			  .entsize = sizeof(*symbols), .data_type = ELF_T_SYM },
			{ .name = ".dynstr", .type = SHT_STRTAB,
			  .data = strings, .size = sizeof(strings) },
			{ .name = ".eh_frame", .type = SHT_PROGBITS,
			  .flags = SHF_ALLOC, .addr = 0x500000,
			  .data = &frames, .size = sizeof(frames) },
		},
		.count = 4,
	};
	_cleanup_close_ int in = -1, out = -1;
	char *path = path_in(dir, "libnameless.so");
	char buf[0x8000];
	ssize_t size;

	memcpy(text + 0x121, musl_clone, CLONE_SIZE);
	memcpy(text + 0x171, musl_clone, CLONE_SIZE);
	text[0x171 + CLONE_SIZE - 2]++;
	/* The last bytes of the section. */
	memcpy(text + sizeof(text) - CLONE_SIZE, musl_clone, CLONE_SIZE);
	in = synthetic_elf_write(&elf);
	size = pread(in, buf, sizeof(buf), 0);
	out = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(size > 0 && write(out, buf, (size_t)size) == size);
	return path;
}

static void check_name(struct symbolizer *symbolizer, struct dso *dso,
		       uint64_t at, const char *name, uint64_t start,
		       uint64_t end)
{
	const struct symbol_info *info, *again;
	uint64_t offset = at + SYNTHETIC_TEXT_OFFSET;

	assert_null(symbolizer_file(symbolizer, dso, offset, &info));
	assert_non_null(info);
	assert_string_equal(info->name, name);
	assert_int_equal(info->is_nameless, strchr(name, '+') != NULL);
	if (!info->is_nameless)
		return;
	assert_int_equal(info->start, CODE + start);
	assert_int_equal(info->end, CODE + end);
	assert_null(symbolizer_file(symbolizer, dso,
				    start + SYNTHETIC_TEXT_OFFSET, &again));
	assert_ptr_equal(info, again);
}

static void test_functions_without_symbols(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_free_ char *path = make_stripped(*state);
	const struct dso_key key = { .path = path };
	struct dso *dso;

	create(&(struct dso_options){}, &store, &symbolizer);
	assert_null(dso_store_get(store, &key, &dso));
	check_name(symbolizer, dso, 0x0f, "sized", 0, 0);
	/* Beyond its size, and still within the function. */
	check_name(symbolizer, dso, 0x10, "sized", 0, 0);
	check_name(symbolizer, dso, 0x20, "sizeless", 0, 0);
	check_name(symbolizer, dso, 0x3f, "sizeless", 0, 0);
	/* A function of its own, which no symbol reaches into. */
	check_name(symbolizer, dso, 0x40, "libnameless.so+0x401040", 0x40,
		   0x70);
	check_name(symbolizer, dso, 0x6f, "libnameless.so+0x401040", 0x40,
		   0x70);
	check_name(symbolizer, dso, 0x78, "libnameless.so+0x401070-0x401080", 0x70,
		   0x80);
	check_name(symbolizer, dso, 0x8f, "libnameless.so+0x401080", 0x80,
		   0x90);
	check_name(symbolizer, dso, 0xcf, "last", 0, 0);
	/* What is behind all functions, up to the next symbol, is one piece. */
	check_name(symbolizer, dso, 0xf0, "libnameless.so+0x4010d0-0x401110", 0xd0,
		   0x110);
	assert_int_equal(unlink(path), 0);
}

/* A function in the reach of another's symbol, by all of its bytes. */
static void test_function_known_by_its_bytes(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_free_ char *path = make_stripped(*state);
	const struct dso_key key = { .path = path };
	const struct symbol_info *info;
	struct dso *dso;

	create(&(struct dso_options){}, &store, &symbolizer);
	assert_null(dso_store_get(store, &key, &dso));
	check_name(symbolizer, dso, 0x120, "memset", 0, 0);
	check_name(symbolizer, dso, 0x121, "__clone", 0, 0);
	check_name(symbolizer, dso, 0x121 + CLONE_SIZE - 1, "__clone", 0, 0);
	check_name(symbolizer, dso, 0x121 + CLONE_SIZE, "memset", 0, 0);
	/* One byte is another. */
	check_name(symbolizer, dso, 0x171, "memset", 0, 0);
	check_name(symbolizer, dso, 0x1ff - CLONE_SIZE, "memset", 0, 0);
	check_name(symbolizer, dso, 0x1ff, "__clone", 0, 0);
	check_name(symbolizer, dso, 0x200 - CLONE_SIZE, "__clone", 0, 0);
	assert_null(symbolizer_file(symbolizer, dso,
				    SYNTHETIC_TEXT_OFFSET + 0x140, &info));
	assert_int_equal(info->start, CODE + 0x121);
	assert_int_equal(info->end, CODE + 0x121 + CLONE_SIZE);
	assert_int_equal(unlink(path), 0);
}

/* What perf has no name for has none, if that is asked for. */
static void test_symbols_only(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_free_ char *path = make_stripped(*state);
	const struct dso_key key = { .path = path };
	const struct symbol_info *info;
	struct dso *dso;

	create(&(struct dso_options){}, &store, &symbolizer);
	symbolizer_set_symbols_only(symbolizer, true);
	assert_null(dso_store_get(store, &key, &dso));
	assert_null(symbolizer_file(symbolizer, dso,
				    SYNTHETIC_TEXT_OFFSET + 0x10, &info));
	assert_null(info);
	assert_null(symbolizer_file(symbolizer, dso,
				    SYNTHETIC_TEXT_OFFSET + 0x44, &info));
	assert_string_equal(info->name, "sizeless");
	assert_null(symbolizer_file(symbolizer, dso,
				    SYNTHETIC_TEXT_OFFSET + 0x140, &info));
	assert_string_equal(info->name, "memset");
	assert_int_equal(unlink(path), 0);
}

static int count_open_files(void)
{
	struct name_list names = {};
	int count;

	assert_null(dir_list(NULL, "/proc/self/fd", &names));
	count = (int)names.count;
	name_list_deinit(&names);
	return count;
}

static void test_many_files_need_few_descriptors(void **state)
{
	enum { COUNT = 400 };
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
	struct dso *dsos[COUNT];
	struct elf_file *elf;
	struct bytes bytes;
	uint64_t offset;

	create(&(struct dso_options){}, &store, &symbolizer);
	offset = locate(store, some_function, &dsos[0]);
	for (int i = 0; i < COUNT; i++) {
		_cleanup_free_ char *path = path_in(*state, "lib%d.so", i);
		struct dso_key key = { .path = path };

		assert_int_equal(symlink(self, path), 0);
		assert_null(dso_store_get(store, &key, &dsos[i]));
		assert_null(dso_elf(dsos[i], &elf));
	}
	assert_true(count_open_files() < 200);
	for (int i = 0; i < COUNT; i += COUNT - 1) {
		const struct symbol_info *info;

		assert_null(symbolizer_file(symbolizer, dsos[i], offset, &info));
		assert_string_equal(info->name, "some_function");
		assert_null(dso_elf(dsos[i], &elf));
		assert_null(elf_file_section_by_name(elf, ".eh_frame", NULL,
						     &bytes));
	}
}

static void test_kinds_of_dsos(void **state)
{
	static const struct {
		const char *path, *name;
		enum dso_kind kind;
		bool kernel;
	} cases[] = {
		{ "/usr/lib/libc.so.6", "libc.so.6", DSO_FILE, false },
		{ "[vdso]", "[vdso]", DSO_VDSO, false },
		{ "[heap]", "[heap]", DSO_NAMED, false },
		{ "//anon", "anon", DSO_NAMED, false },
		{ "/memfd:x (deleted)", "memfd:x (deleted)", DSO_NAMED, false },
		{ "[kernel.kallsyms]_text", "[kernel.kallsyms]", DSO_KERNEL,
		  true },
		{ "[nf_tables]", "[nf_tables]", DSO_KERNEL, true },
		{ "/lib/modules/6.1/kernel/snd-pcm.ko.xz", "[snd_pcm]",
		  DSO_KERNEL, true },
	};
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;

	(void)state;
	assert_null(dso_store_create(&(struct dso_options){}, &store));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dso_key key = { .path = cases[i].path,
				       .kernel = cases[i].kernel };
		struct dso *dso, *again;

		assert_null(dso_store_get(store, &key, &dso));
		assert_null(dso_store_get(store, &key, &again));
		assert_ptr_equal(dso, again);
		assert_int_equal(dso->kind, cases[i].kind);
		assert_string_equal(dso->name, cases[i].name);
		assert_int_equal(dso->index, i);
	}
}

static void test_range_holds_for_its_time(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	struct symbol_range range = {
		.pid = 7, .start = 0x1000, .size = 0x10, .from = 100, .to = 200,
		.name = "_Z3oldv", .dso_name = "/tmp/perf-7.map",
	};
	const struct symbol_info *info;
	uint64_t until;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	assert_null(symbolizer_add_range(symbolizer, &range));
	range.name = "new";
	range.from = 200;
	range.to = SYMBOLIZE_FOREVER;
	assert_null(symbolizer_add_range(symbolizer, &range));
	assert_null(symbolizer_range(symbolizer, 7, 0x1008, 99, &info,
				     &until));
	assert_null(info);
	assert_null(symbolizer_range(symbolizer, 7, 0x1008, 199, &info,
				     &until));
	assert_string_equal(info->name, "old()");
	assert_string_equal(info->dso->path, "/tmp/perf-7.map");
	assert_string_equal(info->dso->name, "[JIT] tid 7");
	assert_null(symbolizer_range(symbolizer, 7, 0x1008, 200, &info,
				     &until));
	assert_string_equal(info->name, "new");
	assert_null(symbolizer_range(symbolizer, 8, 0x1008, 200, &info,
				     &until));
	assert_null(info);
	range.size = 0;
	assert_fails(symbolizer_add_range(symbolizer, &range), ERROR_FORMAT);
	range.start = UINT64_MAX;
	range.size = 2;
	assert_fails(symbolizer_add_range(symbolizer, &range), ERROR_FORMAT);
}

/* One entry in a table for what a range and kallsyms name in one module. */
static void test_kernel_range_shares_the_dso_of_kallsyms(void **state)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_range range = {
		.pid = SYMBOLIZE_KERNEL, .start = 0xffffffffa0000000,
		.size = 0x10, .to = SYMBOLIZE_FOREVER, .name = "odd\nname",
		.dso_name = "[kernel.kallsyms]",
	};
	const struct dso_key key = { .path = "[kernel.kallsyms]_text",
				     .kernel = true };
	const struct symbol_info *info;
	struct dso *dso;
	uint64_t until;

	(void)state;
	create(&(struct dso_options){}, &store, &symbolizer);
	assert_null(symbolizer_add_range(symbolizer, &range));
	assert_null(symbolizer_kernel(symbolizer, range.start, 1, &info,
				      &until));
	assert_string_equal(info->name, "odd?name");
	assert_true(info->kernel);
	assert_null(dso_store_get(store, &key, &dso));
	assert_ptr_equal(info->dso, dso);
}

/* A fake /proc and /sys, so that neither root nor a kernel is needed. */
static void make_kernel(const char *dir)
{
	static const char note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\1\2\3\4";
	_cleanup_free_ char *proc = path_in(dir, "proc");
	_cleanup_free_ char *sys = path_in(dir, "sys");
	_cleanup_free_ char *kernel = path_in(dir, "sys/kernel");
	_cleanup_free_ char *kallsyms = path_in(dir, "proc/kallsyms");
	_cleanup_free_ char *notes = path_in(dir, "sys/kernel/notes");
	FILE *file;

	assert_int_equal(mkdir(proc, 0700), 0);
	assert_int_equal(mkdir(sys, 0700), 0);
	assert_int_equal(mkdir(kernel, 0700), 0);
	write_file(kallsyms, "ffffffff81000000 T _text\n"
			     "ffffffff81000100 t do_work\n"
			     "ffffffff81000200 t do_more\n"
			     "ffffffffc0001000 t mod_work\t[mod]\n"
			     "ffffffffc0002000 t bpf_prog_1_run\t[bpf]\n");
	file = fopen(notes, "w");
	assert_int_equal(fwrite(note, sizeof(note) - 1, 1, file), 1);
	fclose(file);
}

static const char *kernel_name(struct dso_options *options, uint64_t text,
			       const struct build_id *build_id,
			       uint64_t address, char *buf)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct symbol_info *info;
	uint64_t until;

	create(options, &store, &symbolizer);
	dso_store_set_kernel(store, text, build_id);
	assert_null(symbolizer_kernel(symbolizer, address, 1, &info,
				      &until));
	if (!info)
		return "-";
	assert_true(info->kernel);
	snprintf(buf, 100, "%s %s", info->dso->name, info->name);
	return buf;
}

static void test_kernel_symbols_of_the_same_kernel_only(void **state)
{
	static const uint64_t text = 0xffffffff81000000;
	const struct build_id same = { .size = 4, .data = { 1, 2, 3, 4 } };
	const struct build_id other = { .size = 4, .data = { 4, 3, 2, 1 } };
	struct dso_options options = { .root = *state };
	char buf[100];

	make_kernel(*state);
	/* Same boot: by _text, or by build-id, or because it is live. */
	assert_string_equal(kernel_name(&options, text, NULL, text + 0x108,
					buf), "[kernel.kallsyms] do_work");
	assert_string_equal(kernel_name(&options, text, &same,
					0xffffffffc0001004, buf),
			    "[mod] mod_work");
	/* Another BPF program may have been there. */
	assert_string_equal(kernel_name(&options, text, &same,
					0xffffffffc0002004, buf), "-");
	/* Booted anew: the kernel moved, modules are anywhere. */
	assert_string_equal(kernel_name(&options, text + 0x1000000, &same,
					text + 0x1000108, buf),
			    "[kernel.kallsyms] do_work");
	assert_string_equal(kernel_name(&options, text + 0x1000000, &same,
					0xffffffffc1001004, buf), "-");
	/* Another kernel, or nothing known. */
	assert_string_equal(kernel_name(&options, text, &other, text + 0x108,
					buf), "-");
	assert_string_equal(kernel_name(&options, 0, NULL, text + 0x108, buf),
			    "-");
	options.live = true;
	assert_string_equal(kernel_name(&options, 0, NULL, text + 0x108, buf),
			    "[kernel.kallsyms] do_work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rooted_links_stay_inside),
		cmocka_unit_test(test_perf_map_file),
		cmocka_unit_test(test_perf_map_that_is_no_file),
		cmocka_unit_test(test_perf_map_of_a_stranger),
		cmocka_unit_test(test_perf_map_of_a_live_process),
		cmocka_unit_test(test_ranges_in_space_and_time),
		cmocka_unit_test(test_many_ranges_and_questions),
		cmocka_unit_test(test_own_functions),
		cmocka_unit_test(test_function_of_libc),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_vdso_of_the_recording),
		cmocka_unit_test(test_vdso_that_is_none),
		cmocka_unit_test(test_other_build_id_gives_no_names),
		cmocka_unit_test(test_devices_are_told_apart_at_once),
		cmocka_unit_test(test_names_of_a_removed_file),
		cmocka_unit_test(test_removed_files_of_one_path),
		cmocka_unit_test(test_many_removed_files),
		cmocka_unit_test(test_functions_without_symbols),
		cmocka_unit_test(test_function_known_by_its_bytes),
		cmocka_unit_test(test_symbols_only),
		cmocka_unit_test(test_many_files_need_few_descriptors),
		cmocka_unit_test(test_kinds_of_dsos),
		cmocka_unit_test(test_range_holds_for_its_time),
		cmocka_unit_test(test_kernel_range_shares_the_dso_of_kallsyms),
		cmocka_unit_test(test_kernel_symbols_of_the_same_kernel_only),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

// SPDX-License-Identifier: GPL-2.0-only
/* What a recorder keeps of processes and of their files, and what it lets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assert_ok.h"
#include "collect/launched_python.h"
#include "collect/python_source.h"
#include "collect/target.h"
#include "synthetic_elf.h"

static size_t open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* --- files --- */

enum { FILES = 700, BASE = 1 << 20, LENGTH = 1 << 12 };

struct mapped {
	struct process_table *processes;
	struct target_files files;
};

/* A process maps very many files, which are all this program. */
static void map_files(struct mapped *mapped)
{
	char path[4096] = "";

	*mapped = (struct mapped){};
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_ok(process_table_create(&mapped->processes));
	for (uint64_t i = 0; i < FILES; i++) {
		const struct process_mmap map = { .start = BASE + i * LENGTH, .length = LENGTH,
						  .prot = PROT_EXEC, .path = path, .inode = 1 + i };

		assert_ok(process_table_mmap(mapped->processes, 7, 1, &map));
	}
}

static void unmap_files(struct mapped *mapped)
{
	target_files_deinit(&mapped->files);
	process_table_destroy(mapped->processes);
}

static struct target_file *ask_for(struct mapped *mapped, uint64_t i)
{
	const struct process_map *map =
		process_table_map_at(mapped->processes, 7, BASE + i * LENGTH, 2);
	struct target_file *file;

	assert_non_null(map);
	assert_ok(target_file_get(&mapped->files, map, 0, &file));
	return file;
}

/* Of many files only those that somebody asks for, or whose functions are named later. */
static void test_descriptors_of_many_files(void **state)
{
	size_t before = open_descriptors();
	struct mapped mapped;

	(void)state;
	map_files(&mapped);
	for (uint64_t i = 0; i < FILES; i++)
		assert_non_null(ask_for(&mapped, i)->module.elf);
	assert_int_equal(open_descriptors(), before + FILES);
	target_file_hit(ask_for(&mapped, 3), 0);
	/* All were asked for since the beginning. */
	assert_true(target_files_shed(&mapped.files));
	assert_int_equal(open_descriptors(), before + FILES);
	ask_for(&mapped, 5);
	assert_true(target_files_shed(&mapped.files));
	assert_int_equal(open_descriptors(), before + 2);
	assert_false(target_files_shed(&mapped.files));
	assert_non_null(ask_for(&mapped, 6)->module.elf);
	assert_int_equal(open_descriptors(), before + 3);
	assert_int_equal(mapped.files.unopened, 0);
	unmap_files(&mapped);
	assert_int_equal(open_descriptors(), before);
}

/* A file for which there was no descriptor is counted, and opened when there is one. */
static void test_no_descriptor_left(void **state)
{
	struct mapped mapped;
	struct rlimit limit, none;

	(void)state;
	map_files(&mapped);
	assert_non_null(ask_for(&mapped, 0)->module.elf);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 3; i++) {
		assert_null(ask_for(&mapped, 1)->module.elf);
		assert_null(ask_for(&mapped, 2)->module.elf);
		assert_true(target_files_shed(&mapped.files));
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(mapped.files.unopened, 2);
	/* Nobody has asked for it meanwhile. */
	assert_null(mapped.files.by_index.data[0]);
	assert_non_null(ask_for(&mapped, 1)->module.elf);
	assert_null(ask_for(&mapped, 1)->failure);
	assert_non_null(ask_for(&mapped, 2)->module.elf);
	assert_false(target_files_shed(&mapped.files));
	assert_int_equal(mapped.files.unopened, 2);
	unmap_files(&mapped);
}

/* --- files that nobody has mapped yet --- */

/* The first that maps the file has what was found out before; another looks by itself. */
static void test_prepared_file(void **state)
{
	size_t before = open_descriptors();
	const struct module *module;
	const struct elf_file *elf;
	struct mapped mapped;

	(void)state;
	map_files(&mapped);
	assert_ok(target_files_prepare(&mapped.files, "/proc/self/exe", &module));
	assert_non_null(module);
	assert_true(module->python_known);
	elf = module->elf;
	assert_ptr_equal(ask_for(&mapped, 0)->module.elf, elf);
	assert_null(mapped.files.prepared.data[0].elf);
	assert_ptr_equal(ask_for(&mapped, 0)->module.elf, elf);
	assert_non_null(ask_for(&mapped, 1)->module.elf);
	assert_ptr_not_equal(ask_for(&mapped, 1)->module.elf, elf);
	assert_int_equal(open_descriptors(), before + 2);
	/* Nobody maps these. */
	assert_ok(target_files_prepare(&mapped.files, "/proc/self/exe", &module));
	assert_non_null(module);
	assert_ok(target_files_prepare(&mapped.files, "/dev/null", &module));
	assert_null(module);
	assert_ok(target_files_prepare(&mapped.files, "/nonexistent", &module));
	assert_null(module);
	unmap_files(&mapped);
	assert_int_equal(open_descriptors(), before);
}

/* .dynstr of a program: where names begin. */
#define LIBRARY "libpython3.99.so.1.0"
static const char strings[] = "\0libc.so.6\0" LIBRARY
			      "\0/nonexistent:${ORIGIN}/../lib\0libpython3.so";
enum { AT_LIBC = 1, AT_LIBRARY = 11, AT_FOLDERS = 32, AT_STABLE = 62 };

static void copy_file(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
	char bytes[16384];
	ssize_t count = pread(from, bytes, sizeof(bytes), 0);

	assert_true(to >= 0 && count > 0 && count < (ssize_t)sizeof(bytes));
	assert_int_equal(write(to, bytes, (size_t)count), count);
	close(to);
	close(from);
}

static void make_program(const char *path, const Elf64_Dyn *dynamic, size_t size)
{
	const struct synthetic_elf elf = {
		.elf_class = ELFCLASS64, .encoding = ELFDATA2LSB, .machine = EM_X86_64,
		.sections = { { .name = ".dynstr", .type = SHT_STRTAB, .data = strings, .size = sizeof(strings) },
			      { .name = ".dynamic", .type = SHT_DYNAMIC, .data = dynamic, .size = size,
				.link = 1, .entsize = sizeof(*dynamic) } },
		.count = dynamic ? 2 : 1,
	};

	copy_file(synthetic_elf_write(&elf), path);
}

struct installed {
	char folder[32], bin[64], lib[64], program[96], library[96];
};

static void install(struct installed *in)
{
	strcpy(in->folder, "/tmp/kaa-launched.XXXXXX");
	assert_non_null(mkdtemp(in->folder));
	snprintf(in->bin, sizeof(in->bin), "%s/bin", in->folder);
	snprintf(in->lib, sizeof(in->lib), "%s/lib", in->folder);
	snprintf(in->program, sizeof(in->program), "%s/python3", in->bin);
	snprintf(in->library, sizeof(in->library), "%s/" LIBRARY, in->lib);
	assert_int_equal(mkdir(in->bin, 0700), 0);
	assert_int_equal(mkdir(in->lib, 0700), 0);
	make_program(in->library, NULL, 0);
}

static void remove_installed(const struct installed *in)
{
	unlink(in->library);
	assert_int_equal(rmdir(in->lib), 0);
	assert_int_equal(rmdir(in->bin), 0);
	assert_int_equal(rmdir(in->folder), 0);
}

/* How many files are looked into; *inode: that of the last. */
static size_t prepared_by(const struct installed *in, const Elf64_Dyn *dynamic, size_t size,
			  uint64_t *inode)
{
	struct target_files files = {};
	size_t count;

	make_program(in->program, dynamic, size);
	assert_ok(launched_python_prepare(&files, in->program));
	count = files.prepared.count;
	*inode = count ? files.prepared.data[count - 1].elf->inode : 0;
	target_files_deinit(&files);
	unlink(in->program);
	return count;
}

#define NEEDED(at) { .d_tag = DT_NEEDED, .d_un = { (at) } }
#define FOLDERS(tag) { .d_tag = (tag), .d_un = { AT_FOLDERS } }

static void test_library_of_a_launched_python(void **state)
{
	static const Elf64_Dyn needed[] = { NEEDED(AT_LIBC), NEEDED(AT_LIBRARY),
					    FOLDERS(DT_RUNPATH), {} };
	static const Elf64_Dyn old[] = { FOLDERS(DT_RPATH), NEEDED(AT_LIBRARY),
					 NEEDED(AT_STABLE), {} };
	static const Elf64_Dyn none[] = { NEEDED(AT_LIBC), FOLDERS(DT_RUNPATH), {},
					  NEEDED(AT_LIBRARY) };
	static const Elf64_Dyn elsewhere[] = { NEEDED(AT_LIBRARY), {} };
	static const Elf64_Dyn damaged[] = { FOLDERS(DT_RUNPATH), NEEDED(UINT64_MAX),
					     NEEDED(sizeof(strings)),
					     NEEDED(sizeof(strings) - 1) };
	struct installed in;
	struct stat library;
	uint64_t inode;

	(void)state;
	assert_string_equal(strings + AT_LIBRARY, LIBRARY);
	assert_string_equal(strings + AT_FOLDERS, "/nonexistent:${ORIGIN}/../lib");
	assert_string_equal(strings + AT_STABLE, "libpython3.so");
	install(&in);
	assert_int_equal(stat(in.library, &library), 0);
	assert_int_equal(prepared_by(&in, needed, sizeof(needed), &inode), 2);
	assert_int_equal(inode, library.st_ino);
	assert_int_equal(prepared_by(&in, old, sizeof(old), &inode), 2);
	assert_int_equal(inode, library.st_ino);
	assert_int_equal(prepared_by(&in, none, sizeof(none), &inode), 1);
	assert_int_equal(prepared_by(&in, elsewhere, sizeof(elsewhere), &inode), 1);
	assert_int_equal(prepared_by(&in, damaged, sizeof(damaged), &inode), 1);
	assert_int_equal(prepared_by(&in, NULL, 0, &inode), 1);
	remove_installed(&in);
}

/* --- trampolines --- */

/* Above what Linux gives to any process. */
enum { CHILD = 1 << 30 };

struct forked {
	struct process_table *processes;
	struct target_list targets;
	struct code_table codes;
	struct source_state *source;
	struct target *parent, *child;
	char path[64];
};

static struct target *target_of_process(struct forked *forked, uint32_t pid)
{
	struct process *process = process_table_find(forked->processes, pid, UINT64_MAX);
	struct target *target;

	assert_non_null(process);
	assert_ok(target_get(&forked->targets, process, &target));
	return target;
}

/* This process, which has a perf map, and a child that has none. */
static void set_up_forked(struct forked *forked)
{
	const struct process_mmap code = { .start = BASE, .length = LENGTH, .prot = PROT_EXEC,
					   .path = "//anon" };
	const struct source_setup setup = { .codes = &forked->codes, .owner = getuid() };
	uint32_t pid = (uint32_t)getpid();
	char line[64];
	int fd;

	*forked = (struct forked){};
	code_table_init(&forked->codes);
	assert_ok(python_source_trampoline.open(&setup, &forked->source));
	forked->source->source = &python_source_trampoline;
	python_source_trampoline.begin_round(forked->source);
	snprintf(forked->path, sizeof(forked->path), "/tmp/perf-%u.map", pid);
	unlink(forked->path);
	fd = open(forked->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	snprintf(line, sizeof(line), "%x 10 py::f:/x.py\n", BASE);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
	assert_ok(process_table_create(&forked->processes));
	assert_ok(process_table_comm(forked->processes, pid, pid, 1, "app", true));
	assert_ok(process_table_mmap(forked->processes, pid, 1, &code));
	assert_ok(process_table_fork(forked->processes, CHILD, pid, CHILD, pid, 2, true));
	forked->parent = target_of_process(forked, pid);
	forked->child = target_of_process(forked, CHILD);
	assert_ok(python_source_trampoline.process_forked(forked->source, forked->child,
							  forked->parent));
}

static void tear_down_forked(struct forked *forked)
{
	target_list_deinit(&forked->targets);
	process_table_destroy(forked->processes);
	python_source_trampoline.close(forked->source);
	code_table_deinit(&forked->codes);
	unlink(forked->path);
}

static void count_gone(void *arg, const struct target *target)
{
	(void)target;
	++*(int *)arg;
}

static struct error *note_symbol(void *arg, const struct kaa_symbol *symbol)
{
	int *told = arg;

	assert_int_equal(symbol->pid, getpid());
	++*told;
	return NULL;
}

/* The child still looks into the map of the parent, and both are named at the end. */
static void test_trampolines_of_a_process_that_ended(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	struct name_table names = { .owner = getuid() };
	struct forked forked;
	struct code *code;
	int gone = 0, told = 0;

	(void)state;
	set_up_forked(&forked);
	process_table_exit(forked.processes, pid, pid, 10);
	target_list_forget(&forked.targets, 9, count_gone, &gone);
	assert_int_equal(gone, 0);
	target_list_forget(&forked.targets, 10, count_gone, &gone);
	assert_int_equal(gone, 1);
	assert_int_equal(forked.targets.all.count, 1);
	target_at(forked.child, 20);
	assert_ok(python_source_trampoline.code_at(forked.source, forked.child, BASE, &code));
	assert_non_null(code);
	assert_string_equal(code->qualname, "f");
	process_table_exit(forked.processes, CHILD, CHILD, 20);
	target_list_forget(&forked.targets, 20, count_gone, &gone);
	assert_int_equal(gone, 2);
	assert_int_equal(forked.targets.all.count, 0);
	assert_ok(python_source_trampoline.put_names(forked.source, &names, note_symbol, &told));
	assert_int_equal(told, 1);
	name_table_deinit(&names);
	tear_down_forked(&forked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors_of_many_files),
		cmocka_unit_test(test_no_descriptor_left),
		cmocka_unit_test(test_prepared_file),
		cmocka_unit_test(test_library_of_a_launched_python),
		cmocka_unit_test(test_trampolines_of_a_process_that_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

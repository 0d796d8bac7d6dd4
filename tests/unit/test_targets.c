// SPDX-License-Identifier: GPL-2.0-only
/* What a recorder keeps of processes and of their files, and what it lets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "assert_ok.h"
#include "collect/target.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors_of_many_files),
		cmocka_unit_test(test_no_descriptor_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

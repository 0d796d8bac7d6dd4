// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of mappings. The oracle is the kernel: a mapping of each kind that a
 * process can make is made, and its name read from /proc/self/maps. The names
 * that only some kernels give, or only perf events, are in a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/mapping_name.h"
#include "sys/proc.h"

/* prctl() of Linux 5.17. */
#define SET_VMA 0x53564d41

enum { PAGE = 4096 };

/* What each question says of a name. */
struct answers {
	enum mapping_kind kind;
	bool file, path, anonymous, jit, vdso;
};

static const struct answers answers_of[] = {
	{ MAPPING_FILE, true, true, false, false, false },
	{ MAPPING_LOST_PATH, false, true, false, false, false },
	{ MAPPING_MEMFD, true, false, false, true, false },
	{ MAPPING_SHARED, true, false, true, false, false },
	{ MAPPING_ANON, false, false, true, true, false },
	{ MAPPING_NAMED_ANON, false, false, true, true, false },
	{ MAPPING_HEAP, false, false, true, false, false },
	{ MAPPING_STACK, false, false, true, false, false },
	{ MAPPING_VDSO, false, false, false, false, true },
	{ MAPPING_OTHER, false, false, false, false, false },
};

static void check(const char *name, enum mapping_kind kind)
{
	const struct answers *want = &answers_of[kind];

	assert_int_equal(want->kind, kind);
	if (mapping_kind(name) != kind)
		fail_msg("'%s' is of kind %d, not %d", name,
			 (int)mapping_kind(name), (int)kind);
	assert_int_equal(mapping_has_file(name), want->file);
	assert_int_equal(mapping_has_path(name), want->path);
	assert_int_equal(mapping_is_anonymous(name, MAP_PRIVATE),
			 want->anonymous);
	assert_true(mapping_is_anonymous(name, MAP_PRIVATE | MAP_HUGETLB));
	assert_int_equal(mapping_is_for_jit(name), want->jit);
	assert_int_equal(mapping_is_vdso(name), want->vdso);
}

static void test_all_forms(void **state)
{
	static const struct {
		const char *name;
		enum mapping_kind kind;
	} forms[] = {
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", MAPPING_FILE },
		{ "/tmp/x.so (deleted)", MAPPING_FILE },
		{ "/dev/shm/sem.x", MAPPING_FILE },
		{ "/dev/nvidia0", MAPPING_FILE },
		{ "/memfd", MAPPING_FILE },
		{ "/anon", MAPPING_FILE },
		{ "/", MAPPING_FILE },
		{ "//toolong", MAPPING_LOST_PATH },
		{ "//enomem", MAPPING_LOST_PATH },
		{ "/memfd:doublemapper (deleted)", MAPPING_MEMFD },
		{ "/dev/zero", MAPPING_SHARED },
		{ "/dev/zero (deleted)", MAPPING_SHARED },
		{ "/SYSV0000002a (deleted)", MAPPING_SHARED },
		{ "/anon_hugepage (deleted)", MAPPING_SHARED },
		{ "//anon", MAPPING_ANON },
		{ "[anon:cpython:pymalloc]", MAPPING_NAMED_ANON },
		{ "[anon_shmem:x]", MAPPING_OTHER },
		{ "[heap]", MAPPING_HEAP },
		{ "[heap", MAPPING_OTHER },
		{ "[stack]", MAPPING_STACK },
		{ "[stack:1234]", MAPPING_STACK },
		{ "[vdso]", MAPPING_VDSO },
		{ "[vdso]x", MAPPING_OTHER },
		{ "[vvar]", MAPPING_OTHER },
		{ "[vsyscall]", MAPPING_OTHER },
		{ "[uprobes]", MAPPING_OTHER },
		{ "anon_inode:[perf_event]", MAPPING_OTHER },
		{ "socket:[17]", MAPPING_OTHER },
		{ "[kernel.kallsyms]_text", MAPPING_OTHER },
		{ "relative.so", MAPPING_OTHER },
		{ "", MAPPING_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		check(forms[i].name, forms[i].kind);
}

static char name_found[PATH_MAX];

/* The kernel's name of what is mapped at an address. */
static const char *name_at(const void *address)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	const struct proc_map *map;

	assert_null(proc_maps_read(NULL, getpid(), &maps));
	map = proc_maps_find(&maps, (uint64_t)(uintptr_t)address);
	assert_non_null(map);
	assert_true(strlen(map->path) < sizeof(name_found));
	strcpy(name_found, map->path);
	proc_maps_deinit(&maps);
	return name_found;
}

static void check_mapped(void *address, enum mapping_kind kind)
{
	assert_ptr_not_equal(address, MAP_FAILED);
	check(name_at(address), kind);
	munmap(address, PAGE);
}

static void test_files(void **state)
{
	char path[] = "/tmp/kaa-mapping-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, PAGE) == 0);
	check_mapped(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0),
		     MAPPING_FILE);
	unlink(path);
	check_mapped(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0),
		     MAPPING_FILE);
	assert_non_null(strstr(name_found, " (deleted)"));
	close(fd);
	fd = memfd_create("doublemapper", MFD_CLOEXEC);
	assert_true(fd >= 0 && ftruncate(fd, PAGE) == 0);
	check_mapped(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0),
		     MAPPING_MEMFD);
	close(fd);
	fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	check_mapped(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0),
		     MAPPING_SHARED);
	close(fd);
}

static void test_shared_memory(void **state)
{
	int id = shmget(IPC_PRIVATE, PAGE, 0600);
	void *memory;

	(void)state;
	check_mapped(mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1,
			  0),
		     MAPPING_SHARED);
	/* Kernels may be built without it. */
	if (id < 0)
		return;
	memory = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	assert_ptr_not_equal(memory, (void *)-1);
	check(name_at(memory), MAPPING_SHARED);
	shmdt(memory);
}

static void test_named_anonymous_memory(void **state)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	/* Kernels may be built without it. */
	if (prctl(SET_VMA, 0, memory, PAGE, "pymalloc") == 0)
		check(name_at(memory), MAPPING_NAMED_ANON);
	munmap(memory, PAGE);
}

static void test_what_a_process_begins_with(void **state)
{
	int local = 0;
	char *end = sbrk(PAGE);

	(void)state;
	check(name_at(&local), MAPPING_STACK);
	if (end != (void *)-1)
		check(name_at(end), MAPPING_HEAP);
	if (getauxval(AT_SYSINFO_EHDR))
		check(name_at((void *)getauxval(AT_SYSINFO_EHDR)),
		      MAPPING_VDSO);
	check(name_at((void *)(uintptr_t)check), MAPPING_FILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_forms),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_shared_memory),
		cmocka_unit_test(test_named_anonymous_memory),
		cmocka_unit_test(test_what_a_process_begins_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

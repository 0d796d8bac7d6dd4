// SPDX-License-Identifier: GPL-2.0-only
/*
 * The jitdump backend, read back record by record as the specification in the
 * kernel's tools/perf has them, its unwind information by kaa's own CFI reader. What
 * perf makes of a dump: tests/live/test_agent_backends.py.
 */
#include "agent_backend.h"

#include <elf.h>
#include <time.h>

#include "agent/jitdump_backend.h"
#include "agent/trampoline.h"
#include "agent/unwind_table.h"
#include "base/bytes.h"
#include "unwind/cfi.h"

static const struct agent_backend *const backend = &agent_backend_jitdump;

static const char *dump_path(pid_t pid)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", test_dir, (int)pid);
	return path;
}

/* One announced slot. */
struct load {
	struct jitdump_load head;
	char name[128];
	uint8_t code[128];
	int line;
	uint64_t line_end;
	char filename[128];
	struct jitdump_unwinding_info unwinding;
	uint8_t unwind[128];
};

struct dump {
	struct jitdump_header header;
	struct load *loads;
	size_t count;
	bool closed;
	uint64_t last_time;
};

static void copy(struct reader *r, void *out, size_t size)
{
	const uint8_t *bytes = reader_bytes(r, size);

	assert_non_null(bytes);
	memcpy(out, bytes, size);
}

static void copy_string(struct reader *r, char *out, size_t max)
{
	size_t size = strnlen((const char *)r->pos, reader_left(r)) + 1;

	assert_true(size <= max);
	copy(r, out, size);
}

static void read_load(struct reader *r, struct load *load)
{
	copy(r, &load->head, sizeof(load->head));
	copy_string(r, load->name, sizeof(load->name));
	assert_true(load->head.code_size <= sizeof(load->code));
	copy(r, load->code, load->head.code_size);
}

/* One line from the first byte of the code to its last. */
static void read_debug(struct reader *r, struct load *load)
{
	struct jitdump_debug_info info;
	struct jitdump_debug_entry entry;
	char filename[128];

	copy(r, &info, sizeof(info));
	assert_int_equal(info.nr_entry, 2);
	copy(r, &entry, sizeof(entry));
	assert_int_equal(entry.addr, info.code_addr);
	load->line = entry.line;
	copy_string(r, load->filename, sizeof(load->filename));
	copy(r, &entry, sizeof(entry));
	load->line_end = entry.addr;
	assert_int_equal(entry.line, load->line);
	copy_string(r, filename, sizeof(filename));
	assert_string_equal(filename, load->filename);
}

static void read_unwinding(struct reader *r, struct load *load)
{
	copy(r, &load->unwinding, sizeof(load->unwinding));
	assert_true(load->unwinding.unwinding_size <= sizeof(load->unwind));
	copy(r, load->unwind, load->unwinding.unwinding_size);
}

static void read_record(struct reader *r, struct dump *dump)
{
	struct load *load = &dump->loads[dump->count];
	const uint8_t *start = r->pos;
	struct jitdump_prefix prefix;

	copy(r, &prefix, sizeof(prefix));
	r->pos = start;
	assert_false(dump->closed);
	assert_true(prefix.timestamp >= dump->last_time);
	dump->last_time = prefix.timestamp;
	switch (prefix.id) {
	case JIT_CODE_DEBUG_INFO:
		read_debug(r, load);
		break;
	case JIT_CODE_UNWINDING_INFO:
		read_unwinding(r, load);
		break;
	case JIT_CODE_LOAD:
		read_load(r, load);
		dump->count++;
		break;
	case JIT_CODE_CLOSE:
		copy(r, &prefix, sizeof(prefix));
		dump->closed = true;
		break;
	default:
		fail_msg("record %u", prefix.id);
	}
	assert_int_equal(r->pos - start, prefix.total_size);
}

static bool next_is_whole(const struct reader *r)
{
	struct jitdump_prefix prefix;

	if (reader_left(r) < sizeof(prefix))
		return false;
	memcpy(&prefix, r->pos, sizeof(prefix));
	return prefix.total_size <= reader_left(r);
}

/* The kernel may cut the very write in which a process is killed. */
static void read_dump_of(pid_t pid, bool killed, struct dump *ret)
{
	size_t size;
	char *bytes = read_whole(dump_path(pid), &size);
	struct reader r = reader_init(bytes, size);

	*ret = (struct dump){ .loads = calloc(size / 64, sizeof(*ret->loads)) };
	copy(&r, &ret->header, sizeof(ret->header));
	assert_int_equal(ret->header.magic, 0x4a695444);
	assert_int_equal(ret->header.version, 1);
	assert_int_equal(ret->header.total_size, 40);
	assert_int_equal(ret->header.elf_mach, agent_trampoline()->machine);
	assert_int_equal(ret->header.pid, pid);
	assert_int_equal(ret->header.flags, 0);
	ret->last_time = ret->header.timestamp;
	while (reader_left(&r) && (!killed || next_is_whole(&r)))
		read_record(&r, ret);
	assert_true(reader_left(&r) < 4096);
	free(bytes);
}

static void read_dump(pid_t pid, struct dump *ret)
{
	read_dump_of(pid, false, ret);
}

static void free_dump(struct dump *dump)
{
	free(dump->loads);
}

static uint64_t monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void check_load(const struct load *load, char *slot, int n)
{
	const struct agent_trampoline *trampoline = agent_trampoline();
	uint64_t covered = (load->head.code_size + 7) / 8 * 8 +
			   load->unwinding.mapped_size;

	assert_int_equal(load->head.code_addr, (uintptr_t)slot);
	assert_int_equal(load->head.vma, (uintptr_t)slot);
	assert_int_equal(load->head.pid, getpid());
	assert_string_equal(load->name, function_name(n));
	assert_int_equal(load->line, n);
	assert_int_equal(load->line_end,
			 load->head.code_addr + load->head.code_size);
	assert_string_equal(load->filename, "/src/module.py");
	assert_memory_equal(load->code, slot, trampoline->code_size);
	/* perf maps a file over this: nothing else may stand there. */
	assert_ptr_equal(backend->slot_of(slot + covered - 1), slot);
	assert_true(load->unwinding.mapped_size >=
		    load->unwinding.unwinding_size);
}

/* The rules where perf puts them: at the first multiple of 8 behind the code. */
static void check_unwinding(const struct load *load)
{
	uint64_t at = (load->head.code_size + 7) / 8 * 8;
	uint64_t eh_size = load->unwinding.unwinding_size -
			   load->unwinding.eh_frame_hdr_size;
	struct cfi_sections sections = {
		.eh_frame = { load->unwind, eh_size },
		.eh_frame_vaddr = at,
		.eh_frame_hdr = { load->unwind + eh_size,
				  load->unwinding.eh_frame_hdr_size },
		.eh_frame_hdr_vaddr = at + eh_size,
	};
	struct cfi_table *table;
	struct cfi_range range;
	uint64_t start;

	assert_true(cfi_hdr_eh_frame(sections.eh_frame_hdr,
				     sections.eh_frame_hdr_vaddr, &start));
	assert_int_equal(start, at);
	assert_null(cfi_table_create(&sections, &table));
	assert_true(cfi_find_range(table, 0, &range));
	assert_int_equal(range.start, 0);
	assert_int_equal(range.end, agent_trampoline()->code_size);
#ifdef __x86_64__
	assert_int_equal(cfi_find(table, 0)->cfa.value, 8);
	assert_int_equal(cfi_find(table, 9)->cfa.reg, UNWIND_RBP);
#endif
	cfi_table_destroy(table);
}

static int compare_code(const void *a, const void *b)
{
	return memcmp(((const struct load *)a)->code,
		      ((const struct load *)b)->code, 128);
}

static void test_every_slot_is_loaded(void **state)
{
	static char *slots[2000];
	uint64_t before = monotonic();
	struct dump dump;

	(void)state;
	assert_int_equal(backend->open(), 0);
	for (int i = 0; i < 2000; i++) {
		slots[i] = take_function(backend, i);
		assert_true(is_trampoline(slots[i]));
	}
	read_dump(getpid(), &dump);
	assert_true(dump.header.timestamp >= before);
	assert_true(dump.last_time <= monotonic());
	assert_int_equal(dump.count, 2000);
	for (int i = 0; i < 2000; i++) {
		check_load(&dump.loads[i], slots[i], i);
		check_unwinding(&dump.loads[i]);
		assert_int_equal(dump.loads[i].head.code_index, i);
	}
	qsort(dump.loads, dump.count, sizeof(*dump.loads), compare_code);
	for (size_t i = 1; i < dump.count; i++)
		assert_true(compare_code(&dump.loads[i - 1], &dump.loads[i]));
	free_dump(&dump);
}

/* How many executable mappings of the dump this process has. */
static int count_markers(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	int count = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, path) && strstr(line, " r-xp "))
			count++;
	fclose(maps);
	return count;
}

static void test_marker_is_mapped_while_open(void **state)
{
	(void)state;
	assert_int_equal(backend->open(), 0);
	assert_int_equal(count_markers(dump_path(getpid())), 1);
	assert_int_equal(backend->open(), 0);
	assert_int_equal(count_markers(dump_path(getpid())), 1);
	backend->close();
	assert_int_equal(count_markers(dump_path(getpid())), 0);
	assert_int_equal(backend->open(), 0);
	assert_int_equal(count_markers(dump_path(getpid())), 1);
}

/* The record of closing stands at the end or nowhere: readers may stop there. */
static void test_closed_dump_goes_on(void **state)
{
	struct dump dump;
	size_t count;

	(void)state;
	assert_int_equal(backend->open(), 0);
	read_dump(getpid(), &dump);
	assert_false(dump.closed);
	count = dump.count;
	free_dump(&dump);
	backend->close();
	backend->close();
	read_dump(getpid(), &dump);
	assert_true(dump.closed);
	assert_int_equal(dump.count, count);
	free_dump(&dump);
	assert_int_equal(backend->open(), 0);
	take_function(backend, 5);
	read_dump(getpid(), &dump);
	assert_false(dump.closed);
	assert_int_equal(dump.count, count + 1);
	assert_string_equal(dump.loads[count].name, function_name(5));
	free_dump(&dump);
}

static void *inherited;
static struct load parents_load;

static void be_child(void)
{
	char parents[PATH_MAX];
	struct dump dump;

	strcpy(parents, dump_path(getppid()));
	CHECK(count_markers(parents) == 1);
	backend->forked();
	CHECK(count_markers(parents) == 0);
	CHECK(backend->open() == 0);
	CHECK(count_markers(dump_path(getpid())) == 1);
	CHECK(announce_as(backend, inherited, function_name(7), 7) == 0);
	read_dump(getpid(), &dump);
	CHECK(dump.count == 1 && dump.loads[0].head.code_index == 0);
	check_load(&dump.loads[0], inherited, 7);
	CHECK(compare_code(&dump.loads[0], &parents_load) != 0);
}

static void test_fork_begins_a_dump_of_its_own(void **state)
{
	struct stat before, after;
	struct dump dump;

	(void)state;
	assert_int_equal(backend->open(), 0);
	inherited = take_function(backend, 7);
	read_dump(getpid(), &dump);
	parents_load = dump.loads[dump.count - 1];
	free_dump(&dump);
	assert_int_equal(stat(dump_path(getpid()), &before), 0);
	in_child(be_child);
	assert_int_equal(stat(dump_path(getpid()), &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(count_markers(dump_path(getpid())), 1);
}

static void test_kill_loses_nothing(void **state)
{
	void *slots[300];
	struct dump dump;
	pid_t pid;
	int count = kill_announcing(backend, slots, 300, &pid);

	(void)state;
	assert_int_equal(count, 300);
	read_dump_of(pid, true, &dump);
	assert_true(dump.count >= 300);
	for (int i = 0; i < count; i++) {
		assert_int_equal(dump.loads[i].head.code_addr,
				 (uintptr_t)slots[i]);
		assert_string_equal(dump.loads[i].name, function_name(i));
	}
	free_dump(&dump);
}

static void fill_disk(void)
{
	unsigned long lost = agent_backend_lost();
	struct dump dump;
	void *slot = NULL;
	int i = fill_small_disk(backend, "size=64k", 100000, &slot);

	CHECK(i > 100 && agent_backend_lost() == lost + 1);
	CHECK(announce_as(backend, slot, "py::late:x", 1) == ENOSPC);
	CHECK(is_trampoline(slot));
	read_dump(getpid(), &dump);
	CHECK(dump.count == (size_t)i);
	backend->close();
}

static void test_full_disk_leaves_whole_records(void **state)
{
	(void)state;
	in_child(fill_disk);
}

/* No marker, no reader: said at once, and nothing is announced in vain. */
static void open_without_exec(void)
{
	mount_without_exec();
	backend->forked();
	CHECK(backend->open() == EPERM);
	CHECK(strcmp(agent_backend_subject(), dump_path(getpid())) == 0);
}

static void test_folder_without_exec_is_an_error(void **state)
{
	(void)state;
	in_child(open_without_exec);
}

/* The layout of a slot has room for what both machines need. */
static void test_unwinding_fits_on_both_machines(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct agent_trampoline *t =
			agent_trampoline_of(machines[i]);
		size_t unwind = agent_eh_frame_size(t, 1) +
				agent_eh_frame_hdr_size(1);

		assert_true((t->code_size + 7) / 8 * 8 + 8 + unwind <= 128);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_slot_is_loaded),
		cmocka_unit_test(test_marker_is_mapped_while_open),
		cmocka_unit_test(test_closed_dump_goes_on),
		cmocka_unit_test(test_fork_begins_a_dump_of_its_own),
		cmocka_unit_test(test_kill_loses_nothing),
		cmocka_unit_test(test_full_disk_leaves_whole_records),
		cmocka_unit_test(test_folder_without_exec_is_an_error),
		cmocka_unit_test(test_unwinding_fits_on_both_machines),
	};

	return cmocka_run_group_tests(tests, make_test_dir, remove_test_dir);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf map backend, with kaa's own reader of perf maps beside it. Everything
 * happens in a folder of the test's own.
 */
#include "agent_backend.h"

#include "agent/announce.h"
#include "agent/trampoline.h"
#include "obj/perf_map.h"
#include "obj/symtab.h"

static const struct agent_backend *const backend = &agent_backend_perf_map;

static const char *map_path(pid_t pid)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/perf-%d.map", test_dir, (int)pid);
	return path;
}

/* max_bad: 1 where the writer was killed, since a kill may cut its last line. */
static void read_map_of(pid_t pid, size_t max_bad, struct symtab *ret)
{
	size_t size, bad;
	char *text = read_whole(map_path(pid), &size);

	*ret = (struct symtab){};
	assert_null(perf_map_parse(text, size, ret, &bad));
	assert_true(bad <= max_bad);
	/* Only what has no end may be bad: whatever ends is a whole line. */
	assert_true(!bad || text[size - 1] != '\n');
	assert_null(symtab_finish(ret, SYMTAB_LAST_WINS, 0));
	free(text);
}

static void read_map(pid_t pid, struct symtab *ret)
{
	read_map_of(pid, 0, ret);
}

static const char *name_at(const struct symtab *map, const void *address)
{
	const struct symbol *symbol = symtab_find(map, (uintptr_t)address);

	return symbol ? symbol->name : "-";
}

static void test_every_slot_has_its_name(void **state)
{
	char *slots[5000];
	struct symtab map;

	(void)state;
	assert_int_equal(backend->open(), 0);
	for (int i = 0; i < 5000; i++) {
		slots[i] = take_function(backend, i);
		assert_true(is_trampoline(slots[i]));
	}
	read_map(getpid(), &map);
	assert_int_equal(map.count, 5000);
	for (int i = 0; i < 5000; i++) {
		size_t last = agent_trampoline()->code_size - 1;

		assert_string_equal(name_at(&map, slots[i]), function_name(i));
		assert_string_equal(name_at(&map, slots[i] + last),
				    function_name(i));
		assert_string_equal(name_at(&map, slots[i] + last + 1), "-");
		assert_ptr_equal(backend->slot_of(slots[i] + last), slots[i]);
	}
	symtab_deinit(&map);
}

/* A line is, to the byte, what CPython's printf("%lx %x %s\n") gives. */
static void test_line_is_as_cpython_writes_it(void **state)
{
	char line[200], symbol[AGENT_SYMBOL_SIZE], *text;
	void *slot;
	size_t size;

	(void)state;
	assert_int_equal(backend->open(), 0);
	slot = backend->take();
	agent_symbol_write("f\ng", 3, "/a\177", 3, symbol);
	assert_int_equal(announce_as(backend, slot, symbol, 1), 0);
	text = read_whole(map_path(getpid()), &size);
	snprintf(line, sizeof(line), "%lx %x py::f\\ng:/a\\x7f\n",
		 (unsigned long)slot, agent_trampoline()->code_size);
	assert_true(size > strlen(line));
	assert_string_equal(text + size - strlen(line), line);
	free(text);
}

static void test_closed_map_goes_on(void **state)
{
	struct symtab map;
	void *before, *after;

	(void)state;
	assert_int_equal(backend->open(), 0);
	before = take_function(backend, 1);
	backend->close();
	assert_int_equal(backend->open(), 0);
	after = take_function(backend, 2);
	assert_ptr_not_equal(before, after);
	read_map(getpid(), &map);
	assert_string_equal(name_at(&map, before), function_name(1));
	assert_string_equal(name_at(&map, after), function_name(2));
	assert_ptr_equal(backend->slot_of(before), before);
	symtab_deinit(&map);
}

/* A child's map has what the child announced, inherited slots too. */
static void *inherited;

static void be_child(void)
{
	struct symtab map;
	void *own;

	backend->forked();
	CHECK(access(map_path(getpid()), F_OK) == -1);
	CHECK(backend->open() == 0);
	CHECK(backend->slot_of(inherited) == inherited);
	own = take_function(backend, 3);
	CHECK(announce_as(backend, inherited, "py::again:x", 1) == 0);
	CHECK(own != inherited && is_trampoline(own));
	read_map(getpid(), &map);
	CHECK(map.count == 2);
	CHECK(strcmp(name_at(&map, own), function_name(3)) == 0);
	CHECK(strcmp(name_at(&map, inherited), "py::again:x") == 0);
}

static void test_fork_begins_a_map_of_its_own(void **state)
{
	struct stat before, after;

	(void)state;
	assert_int_equal(backend->open(), 0);
	inherited = take_function(backend, 1);
	assert_int_equal(stat(map_path(getpid()), &before), 0);
	in_child(be_child);
	assert_int_equal(stat(map_path(getpid()), &after), 0);
	assert_int_equal(before.st_size, after.st_size);
}

static void test_kill_loses_nothing(void **state)
{
	void *slots[300];
	struct symtab map;
	pid_t pid;
	int count = kill_announcing(backend, slots, 300, &pid);

	(void)state;
	assert_int_equal(count, 300);
	read_map_of(pid, 1, &map);
	for (int i = 0; i < count; i++)
		assert_string_equal(name_at(&map, slots[i]), function_name(i));
	symtab_deinit(&map);
}

/*
 * On a full disk: an error, whole lines, no further attempt even when there is
 * room again, and a count; the slots work on.
 */
static void fill_disk(void)
{
	unsigned long lost = agent_backend_lost();
	struct symtab map;
	void *slot = NULL;
	size_t count;
	int i = fill_small_disk(backend, "size=64k", 100000, &slot);

	CHECK(i > 100);
	CHECK(agent_backend_lost() == lost + 1);
	CHECK(strcmp(agent_backend_subject(), map_path(getpid())) == 0);
	read_map(getpid(), &map);
	count = map.count;
	CHECK(count == (size_t)i);
	CHECK(mount("none", test_dir, "tmpfs", MS_REMOUNT, "size=1m") == 0);
	CHECK(announce_as(backend, slot, "py::late:x", 1) == ENOSPC);
	CHECK(agent_backend_lost() == lost + 2);
	CHECK(is_trampoline(slot));
	backend->close();
	CHECK(backend->open() == 0);
	CHECK(announce_as(backend, slot, "py::late:x", 1) == 0);
	read_map(getpid(), &map);
	CHECK(map.count == count + 1);
}

static void test_full_disk_stops_announcing(void **state)
{
	(void)state;
	in_child(fill_disk);
}

static void test_failure_names_the_file(void **state)
{
	char path[PATH_MAX], text[2 * PATH_MAX], wanted[2 * PATH_MAX];

	(void)state;
	backend->forked();
	strcpy(path, map_path(getpid()));
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(backend->open(), EEXIST);
	assert_string_equal(agent_backend_subject(), path);
	/* "File exists" is no reason for who has not made it. */
	agent_error_text(agent_backend_subject(), EEXIST, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "%s is in the way: it is another user's, or not a file", path);
	assert_string_equal(text, wanted);
	agent_error_text(path, ENOSPC, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "%s: No space left on device", path);
	assert_string_equal(text, wanted);
	agent_error_text("", ENOMEM, text, sizeof(text));
	assert_string_equal(text, "Cannot allocate memory");
	unlink(path);
	assert_int_equal(backend->open(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_slot_has_its_name),
		cmocka_unit_test(test_line_is_as_cpython_writes_it),
		cmocka_unit_test(test_closed_map_goes_on),
		cmocka_unit_test(test_fork_begins_a_map_of_its_own),
		cmocka_unit_test(test_kill_loses_nothing),
		cmocka_unit_test(test_full_disk_stops_announcing),
		cmocka_unit_test(test_failure_names_the_file),
	};

	return cmocka_run_group_tests(tests, make_test_dir, remove_test_dir);
}

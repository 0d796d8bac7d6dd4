// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process timeline, against a naive model: a table of pages a process,
 * copied whole after every record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/map.h"
#include "process/process.h"

enum {
	PIDS = 6,
	PAGES = 48,
	RECORDS = 150,
	HISTORIES = 400,
	QUERIES = 2000,
	PAGE = 0x1000,
	BASE = 0x10000,
};

struct page {
	/* 0: not mapped. */
	int file;
	uint64_t pgoff;
};

struct state {
	uint64_t time;
	bool exists[PIDS];
	/* 0: no name known. */
	int comm[PIDS];
	/* Time of the fork that made it. */
	uint64_t since[PIDS];
	struct page pages[PIDS][PAGES];
};

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

static void ok(struct error *error)
{
	assert_null(error);
}

static struct process_table *new_table(void)
{
	struct process_table *table = NULL;

	ok(process_table_create(&table));
	return table;
}

static void add_map(struct process_table *table, uint32_t pid, uint64_t time,
		    uint64_t start, uint64_t length, uint64_t pgoff,
		    const char *path)
{
	struct process_mmap mmap = {
		.start = start,
		.length = length,
		.pgoff = pgoff,
		.path = path,
	};

	ok(process_table_mmap(table, pid, time, &mmap));
}

static uint32_t pid_of(int i)
{
	return 100 + (uint32_t)i;
}

static void random_mmap(struct process_table *table, struct state *s, int i)
{
	uint32_t first = random_below(PAGES);
	uint32_t n = 1 + random_below(PAGES - first);
	uint64_t pgoff = (uint64_t)random_below(16) * PAGE;
	int file = 1 + (int)random_below(5);
	char path[16];

	if (random_below(2) && n > 4)
		n = 4;
	snprintf(path, sizeof(path), "/f%d", file);
	add_map(table, pid_of(i), s->time, BASE + (uint64_t)first * PAGE,
		(uint64_t)n * PAGE, pgoff, path);
	for (uint32_t p = 0; p < n; p++)
		s->pages[i][first + p] =
			(struct page){ file, pgoff + (uint64_t)p * PAGE };
	s->exists[i] = true;
}

static void random_comm(struct process_table *table, struct state *s, int i,
			bool exec)
{
	int comm = 1 + (int)random_below(5);
	char name[16];

	snprintf(name, sizeof(name), "c%d", comm);
	ok(process_table_comm(table, pid_of(i), pid_of(i), s->time, name,
			      exec));
	s->comm[i] = comm;
	s->exists[i] = true;
	if (exec)
		memset(s->pages[i], 0, sizeof(s->pages[i]));
}

static void random_fork(struct process_table *table, struct state *s, int i)
{
	int child = (int)random_below(PIDS);
	bool copy = random_below(8) != 0;

	if (child == i)
		return;
	ok(process_table_fork(table, pid_of(child), pid_of(i), pid_of(child),
			      pid_of(i), s->time, copy));
	s->exists[child] = true;
	s->since[child] = s->time;
	s->comm[child] = s->comm[i];
	if (copy)
		memcpy(s->pages[child], s->pages[i], sizeof(s->pages[i]));
	else
		memset(s->pages[child], 0, sizeof(s->pages[child]));
}

static void random_record(struct process_table *table, struct state *s)
{
	int i = (int)random_below(PIDS);

	s->time += 1 + random_below(10);
	switch (random_below(10)) {
	case 0:
		random_comm(table, s, i, true);
		break;
	case 1:
		random_comm(table, s, i, false);
		break;
	case 2:
	case 3:
		random_fork(table, s, i);
		break;
	case 4:
		process_table_exit(table, pid_of(i), pid_of(i), s->time);
		break;
	default:
		random_mmap(table, s, i);
	}
}

static void check_page(struct process_table *table, const struct state *s,
		       uint64_t time, int i, uint32_t p)
{
	uint64_t addr = BASE + (uint64_t)p * PAGE + random_below(PAGE);
	struct process_map *map =
		process_table_map_at(table, pid_of(i), addr, time);
	const struct page *page = &s->pages[i][p];
	char path[16];

	if (!page->file) {
		assert_null(map);
		return;
	}
	assert_non_null(map);
	snprintf(path, sizeof(path), "/f%d", page->file);
	assert_string_equal(map->file->path, path);
	assert_true(map->start <= addr && addr < map->end);
	assert_int_equal(map->pgoff + addr / PAGE * PAGE - map->start,
			 page->pgoff);
	assert_true(map->from <= time);
}

static void check_comm(struct process_table *table, const struct state *s,
		       uint64_t time, int i)
{
	const char *comm =
		process_table_comm_at(table, pid_of(i), pid_of(i), time);
	char name[16];

	if (!s->comm[i])
		return;
	snprintf(name, sizeof(name), "c%d", s->comm[i]);
	assert_non_null(comm);
	assert_string_equal(comm, name);
}

/* The state that held at `time`. */
static const struct state *state_at(const struct state *states, int n,
				    uint64_t time)
{
	while (n > 1 && states[n - 1].time > time)
		n--;
	return &states[n - 1];
}

static void check_history(struct process_table *table,
			  const struct state *states, int n, uint64_t from)
{
	uint64_t last = states[n - 1].time;

	for (int q = 0; q < QUERIES; q++) {
		uint64_t time =
			from + random_below((uint32_t)(last - from) + 20);
		const struct state *s = state_at(states, n, time);
		int i = (int)random_below(PIDS);

		if (!s->exists[i])
			continue;
		check_page(table, s, time, i, random_below(PAGES));
		check_comm(table, s, time, i);
	}
}

static void test_random_histories(void **unused)
{
	struct state *states = calloc(RECORDS + 1, sizeof(*states));

	(void)unused;
	assert_non_null(states);
	for (int h = 0; h < HISTORIES; h++) {
		struct process_table *table = new_table();

		seed = 1000 + (uint64_t)h;
		memset(states, 0, sizeof(*states));
		for (int i = 1; i <= RECORDS; i++) {
			states[i] = states[i - 1];
			random_record(table, &states[i]);
		}
		check_history(table, states, RECORDS + 1, 0);
		process_table_destroy(table);
	}
	free(states);
}

static void random_record_without_exit(struct process_table *table,
				       struct state *s)
{
	int i = (int)random_below(PIDS);

	s->time += 5 + random_below(10);
	switch (random_below(8)) {
	case 0:
		random_comm(table, s, i, true);
		break;
	case 1:
		random_fork(table, s, i);
		break;
	default:
		random_mmap(table, s, i);
	}
}

/* What ends processes is tested apart: here all of them live on. */
static void test_forget_keeps_what_is_later(void **unused)
{
	struct state *states = calloc(RECORDS + 1, sizeof(*states));

	(void)unused;
	assert_non_null(states);
	for (int h = 0; h < HISTORIES; h++) {
		struct process_table *table = new_table();
		uint64_t before = 0;

		seed = 9000 + (uint64_t)h;
		memset(states, 0, sizeof(*states));
		for (int i = 1; i <= RECORDS; i++) {
			states[i] = states[i - 1];
			random_record_without_exit(table, &states[i]);
			if (random_below(20) == 0) {
				before = states[i].time - random_below(5);
				process_table_forget(table, before);
			}
		}
		check_history(table, states, RECORDS + 1, before);
		process_table_destroy(table);
	}
	free(states);
}

static void test_generation(void **unused)
{
	struct process_table *table = new_table();
	struct process *parent, *child;
	uint64_t before;

	(void)unused;
	add_map(table, 1, 10, 0x1000, 0x1000, 0, "/a");
	ok(process_table_fork(table, 2, 1, 2, 1, 20, true));
	parent = process_table_find(table, 1, 20);
	child = process_table_find(table, 2, 20);
	before = process_generation(parent, 20);
	assert_int_not_equal(before, 0);
	assert_int_equal(process_generation(child, 20), before);
	assert_int_equal(process_generation(parent, 9), 0);
	add_map(table, 2, 30, 0x5000, 0x1000, 0, "/b");
	assert_int_equal(process_generation(parent, 30), before);
	assert_int_not_equal(process_generation(child, 30), before);
	assert_null(process_map_at(parent, 0x5000, 40));
	assert_non_null(process_map_at(child, 0x5000, 40));
	process_table_destroy(table);
}

static void test_threads(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	ok(process_table_comm(table, 1, 1, 0, "main", false));
	ok(process_table_fork(table, 1, 1, 11, 1, 10, true));
	assert_string_equal(process_table_comm_at(table, 1, 11, 10), "main");
	ok(process_table_comm(table, 1, 11, 20, "worker", false));
	assert_string_equal(process_table_comm_at(table, 1, 11, 19), "main");
	assert_string_equal(process_table_comm_at(table, 1, 11, 20), "worker");
	assert_string_equal(process_table_comm_at(table, 1, 1, 20), "main");
	/* A thread that nothing spoke of has its process's name. */
	assert_string_equal(process_table_comm_at(table, 1, 12, 20), "main");
	/* A child has the name of the thread that forked. */
	ok(process_table_fork(table, 5, 1, 5, 11, 30, true));
	assert_string_equal(process_table_comm_at(table, 5, 5, 30), "worker");
	process_table_destroy(table);
}

static void test_own_names_only(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	process_table_own_names_only(table);
	ok(process_table_comm(table, 1, 1, 0, "main", false));
	ok(process_table_fork(table, 1, 1, 11, 1, 10, true));
	assert_string_equal(process_table_comm_at(table, 1, 11, 10), "main");
	assert_null(process_table_comm_at(table, 1, 12, 20));
	/* Nor has its child one, until a record gives it one. */
	ok(process_table_fork(table, 5, 1, 5, 12, 30, true));
	assert_null(process_table_comm_at(table, 5, 5, 30));
	ok(process_table_comm(table, 5, 5, 40, "child", true));
	assert_string_equal(process_table_comm_at(table, 5, 5, 40), "child");
	assert_string_equal(process_table_comm_at(table, 0, 0, 40), "swapper");
	process_table_destroy(table);
}

/* As perf has it that removes a thread at its exit record. */
static void test_tasks_outside_of_the_namespace(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	process_table_own_names_only(table);
	ok(process_table_comm(table, 0, 0, 10, "outside", true));
	ok(process_table_fork(table, 0, 0, 0, 0, 20, true));
	assert_string_equal(process_table_comm_at(table, 0, 0, 20), "outside");
	process_table_exit(table, 0, 0, 30);
	assert_true(process_table_has_ended(table, 0, 0, 30));
	ok(process_table_fork(table, 0, 0, 0, 0, 40, true));
	assert_false(process_table_has_ended(table, 0, 0, 40));
	assert_null(process_table_comm_at(table, 0, 0, 40));
	ok(process_table_comm(table, 0, 0, 50, "other", true));
	assert_string_equal(process_table_comm_at(table, 0, 0, 50), "other");
	process_table_destroy(table);
}

static void test_process_ends_with_its_last_thread(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	ok(process_table_comm(table, 1, 1, 0, "main", false));
	ok(process_table_fork(table, 1, 1, 11, 1, 5, true));
	add_map(table, 1, 6, 0x1000, 0x1000, 0, "/a");
	process_table_exit(table, 1, 1, 10);
	assert_false(process_table_has_ended(table, 1, 1, 9));
	assert_true(process_table_has_ended(table, 1, 1, 10));
	assert_false(process_table_has_ended(table, 1, 11, 10));
	process_table_forget(table, 20);
	assert_non_null(process_table_map_at(table, 1, 0x1000, 20));
	process_table_exit(table, 1, 11, 30);
	process_table_forget(table, 29);
	assert_non_null(process_table_map_at(table, 1, 0x1000, 29));
	process_table_forget(table, 30);
	assert_null(process_table_find(table, 1, 30));
	process_table_destroy(table);
}

static void test_pid_reuse(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	ok(process_table_comm(table, 7, 7, 0, "shell", false));
	add_map(table, 7, 0, 0x1000, 0x1000, 0, "/shell");
	ok(process_table_fork(table, 8, 7, 8, 7, 10, true));
	add_map(table, 8, 11, 0x2000, 0x1000, 0, "/first");
	process_table_exit(table, 8, 8, 20);
	ok(process_table_fork(table, 8, 7, 8, 7, 30, true));
	add_map(table, 8, 31, 0x2000, 0x1000, 0, "/second");
	assert_string_equal(
		process_table_map_at(table, 8, 0x2000, 15)->file->path,
		"/first");
	assert_null(process_table_map_at(table, 8, 0x2000, 30));
	assert_string_equal(
		process_table_map_at(table, 8, 0x2000, 31)->file->path,
		"/second");
	process_table_forget(table, 25);
	assert_string_equal(
		process_table_map_at(table, 8, 0x2000, 31)->file->path,
		"/second");
	process_table_destroy(table);
}

static void test_no_index_is_used_twice(void **unused)
{
	struct process_table *table = new_table();
	bool seen[100] = {};

	(void)unused;
	for (uint32_t i = 0; i < 100; i++) {
		struct process *process;
		uint64_t time = 10 * i + 10;

		/* Two pids that take turns; what has ended is forgotten. */
		ok(process_table_fork(table, 5 + i % 2, 1, 5 + i % 2, 1, time,
				      false));
		process = process_table_find(table, 5 + i % 2, time);
		assert_non_null(process);
		assert_in_range(process_index(process), 0, 99 + 1);
		assert_false(seen[process_index(process) % 100]);
		seen[process_index(process) % 100] = true;
		process_table_exit(table, 5 + i % 2, 5 + i % 2, time + 5);
		process_table_forget(table, time);
	}
	process_table_destroy(table);
}

static void test_files_are_shared_by_identity(void **unused)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	struct process_table *table = new_table();
	struct process_mmap m = { .start = 0x1000, .length = 0x1000,
				  .path = "/a", .inode = 5 };
	struct process_map *first, *second, *third;

	(void)unused;
	ok(process_table_mmap(table, 1, 0, &m));
	ok(process_table_mmap(table, 2, 0, &m));
	m.build_id = id;
	m.build_id_size = 20;
	ok(process_table_mmap(table, 3, 0, &m));
	first = process_table_map_at(table, 1, 0x1000, 0);
	second = process_table_map_at(table, 2, 0x1000, 0);
	third = process_table_map_at(table, 3, 0x1000, 0);
	assert_ptr_equal(first->file, second->file);
	assert_ptr_not_equal(first->file, third->file);
	assert_memory_equal(third->file->build_id, id, 20);
	assert_int_equal(process_table_file_count(table), 2);
	assert_ptr_equal(process_table_file(table, 1), third->file);
	process_table_destroy(table);
}

/* The second word of 16 or 20 bytes that begin with `first`, so that all have one hash. */
static uint64_t word_behind(uint64_t first, uint64_t size)
{
	uint64_t hash = (size ^ first) * 0x9e3779b97f4a7c15u;

	return hash ^ hash >> 32 ^ 0x6b61613a;
}

static void map_file(struct process_table *table, const char *path,
		     const void *build_id)
{
	struct process_mmap mmap = { .start = 0x1000,
				     .length = 0x1000,
				     .path = path,
				     .build_id = build_id,
				     .build_id_size = build_id ? 20 : 0 };

	ok(process_table_mmap(table, 1, 10, &mmap));
}

/* A path of 16 bytes, of which there are as many as one likes of one hash. */
static void path_of_one_hash(uint64_t i, char path[17])
{
	uint64_t words[2] = { 0x2f2f2f2f2f2f2f2f, 0 };

	/* Without a NUL. */
	for (int digit = 0; digit < 8; digit++)
		words[0] += (i >> 3 * digit & 7) << 8 * digit;
	words[1] = word_behind(words[0], sizeof(words));
	memcpy(path, words, sizeof(words));
	path[16] = '\0';
}

enum { OF_ONE_HASH = 2000 };

/* What is compared is counted by what is not found again: all but the latest few. */
static void test_paths_of_one_hash(void **unused)
{
	struct process_table *table = new_table();
	size_t different = 0, before;
	uint64_t hash = 0;
	char path[17], last[17];

	(void)unused;
	for (int again = 0; again < 2; again++) {
		before = process_table_file_count(table);
		different = 0;
		for (uint64_t i = 0; i < OF_ONE_HASH; i++) {
			path_of_one_hash(i, path);
			if (strlen(path) < 16)
				continue;
			hash = hash ? hash : hash_bytes(path, 16);
			assert_int_equal(hash_bytes(path, 16), hash);
			map_file(table, path, NULL);
			memcpy(last, path, sizeof(last));
			different++;
		}
		assert_in_range(different, OF_ONE_HASH / 2, OF_ONE_HASH);
		assert_int_equal(process_table_file_count(table) - before,
				 different);
	}
	/* The latest is still there. */
	before = process_table_file_count(table);
	map_file(table, last, NULL);
	assert_int_equal(process_table_file_count(table), before);
	process_table_destroy(table);
}

static void test_build_ids_of_one_hash(void **unused)
{
	struct process_table *table = new_table();
	uint64_t words[3] = {}, hash;

	(void)unused;
	for (int again = 0; again < 2; again++) {
		for (uint64_t i = 0; i < OF_ONE_HASH; i++) {
			words[0] = i;
			words[1] = word_behind(i, 20);
			hash = i ? hash : hash_bytes(words, 20);
			assert_int_equal(hash_bytes(words, 20), hash);
			map_file(table, "/lib/x.so", words);
			/* One that is mapped again at once is the same. */
			map_file(table, "/lib/x.so", words);
		}
		assert_int_equal(process_table_file_count(table),
				 (again + 1) * OF_ONE_HASH);
	}
	process_table_destroy(table);
}

static void test_nonsense_is_counted(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	add_map(table, 1, 0, 0x1000, 0, 0, "/zero");
	add_map(table, 1, 0, UINT64_MAX - 10, 100, 0, "/wraps");
	assert_int_equal(process_table_stats(table).malformed, 2);
	assert_null(process_table_find(table, 1, 0));
	process_table_destroy(table);
}

static void test_map_limit(void **unused)
{
	struct process_table *table = new_table();

	(void)unused;
	for (uint64_t i = 0; i < PROCESS_MAX_MAPS + 10; i++)
		add_map(table, 1, i, i * 0x2000, 0x1000, 0, "/a");
	assert_true(process_table_stats(table).over_limit >= 10);
	assert_non_null(process_table_map_at(table, 1, 0x2000, UINT64_MAX));
	process_table_destroy(table);
}

/* A program whose name finds no room is still another one than before. */
static void test_exec_beyond_the_limit_of_names(void **unused)
{
	struct process_table *table = new_table();
	char *name = malloc(PROCESS_MAX_STRINGS + 1);

	(void)unused;
	assert_non_null(name);
	memset(name, 'x', PROCESS_MAX_STRINGS);
	name[PROCESS_MAX_STRINGS] = '\0';
	ok(process_table_comm(table, 1, 1, 1, "before", true));
	add_map(table, 1, 2, BASE, PAGE, 0, "/before");
	ok(process_table_comm(table, 1, 1, 3, name, true));
	assert_string_equal(process_table_comm_at(table, 1, 1, 2), "before");
	assert_non_null(process_table_map_at(table, 1, BASE, 2));
	assert_null(process_table_comm_at(table, 1, 1, 3));
	assert_null(process_table_map_at(table, 1, BASE, 3));
	assert_int_equal(process_table_stats(table).over_limit, 1);
	free(name);
	process_table_destroy(table);
}

/* 10,000 children of a process with 300 maps, a third of them exec. */
static void test_fork_storm(void **unused)
{
	struct process_table *table = new_table();
	int64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	(void)unused;
	for (uint64_t i = 0; i < 300; i++)
		add_map(table, 1, 1, 0x100000 + i * 0x2000, 0x1000, 0, "/a");
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t pid = 1000 + i;

		ok(process_table_fork(table, pid, 1, pid, 1, 10 + i, true));
		if (i % 3 == 0)
			ok(process_table_comm(table, pid, pid, 11 + i, "sh",
					      true));
		assert_non_null(process_table_map_at(table, pid, 0x100000,
						     10 + i));
	}
	/* Three million copied maps take longer than this. */
	assert_true(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start < 100000000);
	process_table_destroy(table);
}

static void test_lookup_is_fast(void **unused)
{
	struct process_table *table = new_table();
	uint64_t sum = 0;
	int64_t start;
	const int rounds = 2000000;

	(void)unused;
	for (uint64_t i = 0; i < 300; i++)
		add_map(table, 1, 1, 0x100000 + i * 0x2000, 0x1000, 0, "/a");
	start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < rounds; i++)
		sum += process_table_map_at(table, 1,
					    0x100000 + (i * 7 % 300) * 0x2000,
					    5)->start;
	assert_int_not_equal(sum, 0);
	print_message("%.1f ns a look-up\n",
		      (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / rounds);
	process_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_histories),
		cmocka_unit_test(test_forget_keeps_what_is_later),
		cmocka_unit_test(test_generation),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_own_names_only),
		cmocka_unit_test(test_tasks_outside_of_the_namespace),
		cmocka_unit_test(test_process_ends_with_its_last_thread),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_no_index_is_used_twice),
		cmocka_unit_test(test_files_are_shared_by_identity),
		cmocka_unit_test(test_paths_of_one_hash),
		cmocka_unit_test(test_build_ids_of_one_hash),
		cmocka_unit_test(test_nonsense_is_counted),
		cmocka_unit_test(test_map_limit),
		cmocka_unit_test(test_exec_beyond_the_limit_of_names),
		cmocka_unit_test(test_fork_storm),
		cmocka_unit_test(test_lookup_is_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

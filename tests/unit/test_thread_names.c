// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of threads (python/threads.h) on images of the memory of real
 * processes (tests/data/threads), whole and damaged. What is right is what the
 * programs told of themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "assert_ok.h"
#include "memory_image.h"
#include "python/releases.h"
#include "python/threads.h"

enum { BYTES_MAX = 1 << 20 };

struct trial {
	const char *name;
	struct memory_image image;
	struct py_threads_hints hints;
	/* Read first, until `reads` is this; then memory is another's. */
	size_t reads;
	size_t torn_from;
	/* Lines as the program tells them. */
	struct strbuf lines;
	size_t count;
	/* One that is wanted; 0: all. */
	uint64_t wanted;
	/* Words are read together, but no more of them at once. */
	size_t words_max;
};

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct trial *t = arg;

	if (!memory_image_read(&t->image, address, buf, size))
		return false;
	if (t->reads++ == t->torn_from)
		memset(buf, 0x41, size);
	return true;
}

static size_t read_words(void *arg, const uint64_t *addresses, size_t count,
			 uint64_t *words)
{
	struct trial *t = arg;

	for (size_t i = 0; i < count && i < t->words_max; i++)
		if (!read_memory(t, addresses[i], &words[i], sizeof(*words)))
			return i;
	return count < t->words_max ? count : t->words_max;
}

static bool is_wanted(void *arg, uint64_t ident)
{
	const struct trial *t = arg;

	return !t->wanted || t->wanted == ident;
}

static void put_line(void *arg, const struct py_thread *thread)
{
	struct trial *t = arg;

	strbuf_printf(&t->lines, "%" PRIu64 " %" PRId64 " ", thread->ident,
		      thread->native_id);
	strbuf_append(&t->lines, thread->name, thread->size);
	strbuf_putc(&t->lines, '\n');
	t->count++;
}

static void look(struct trial *t)
{
	const struct py_layout *layout = &t->image.thread.process.layout;
	const struct py_memory memory = { read_memory, t,
					  t->words_max ? read_words : NULL };
	const struct py_threads_visit visit = { is_wanted, put_line, t };
	struct py_objects_reader reader = PY_OBJECTS_INIT(
		layout, &py_release_of(layout)->objects, &memory);

	strbuf_clear(&t->lines);
	t->count = 0;
	t->reads = 0;
	py_threads_each(&reader, t->image.thread.process.runtime, &t->hints,
			&visit);
	assert_ok(strbuf_error(&t->lines));
}

static bool is_as_told(const struct trial *t)
{
	return t->lines.len == t->image.stack_size &&
	       !memcmp(t->lines.data, t->image.stack, t->lines.len);
}

/* Each line that was read is one that the program told. */
static bool is_part_of_told(const struct trial *t)
{
	const char *end;

	for (const char *line = t->lines.data; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!memmem(t->image.stack, t->image.stack_size, line,
			    (size_t)(end + 1 - line)))
			return false;
	}
	return true;
}

static void each_image(void (*fn)(struct trial *t))
{
	static uint8_t bytes[BYTES_MAX];
	static const size_t together[] = { 0, 3, 64 };
	static struct trial t;
	unsigned int images = 0;
	struct dirent *entry;
	DIR *dir = opendir(THREAD_IMAGES);

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[4096];
		FILE *file;
		size_t size, hole;

		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", THREAD_IMAGES,
			 entry->d_name);
		file = fopen(path, "re");
		assert_non_null(file);
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		t = (struct trial){ .name = entry->d_name,
				    .torn_from = SIZE_MAX,
				    .lines = STRBUF_INIT };
		assert_ok(memory_image_open((struct bytes){ bytes, size },
					    &t.image));
		hole = t.image.hole;
		/* Each key by itself, all together, and something in between. */
		for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++) {
			t.words_max = together[i];
			t.torn_from = SIZE_MAX;
			t.wanted = 0;
			t.hints = (struct py_threads_hints){};
			t.image.hole = hole;
			fn(&t);
		}
		strbuf_deinit(&t.lines);
		images++;
	}
	closedir(dir);
	/* 3.8 to 3.15 */
	assert_true(images >= 8);
}

static void check_whole(struct trial *t)
{
	look(t);
	if (!is_as_told(t))
		fail_msg("%s: %s", t->name, t->lines.data);
	/* With hints, too. */
	look(t);
	assert_true(is_as_told(t));
	assert_true(t->hints.name || t->hints.native_id || t->hints.module);
}

static void test_names_are_those_of_the_program(void **state)
{
	(void)state;
	each_image(check_whole);
}

static void check_one(struct trial *t)
{
	look(t);
	t->wanted = strtoull(t->lines.data, NULL, 10);
	look(t);
	assert_int_equal(t->count, 1);
	assert_true(is_part_of_told(t));
	t->wanted = 12345;
	look(t);
	assert_int_equal(t->count, 0);
}

static void test_only_what_is_wanted_is_read(void **state)
{
	(void)state;
	each_image(check_one);
}

static void check_holes(struct trial *t)
{
	size_t fewer = 0, all;

	look(t);
	all = t->count;
	for (size_t i = 0; i < t->image.piece_count; i++) {
		t->image.hole = i;
		look(t);
		if (!is_part_of_told(t))
			fail_msg("%s without piece %zu: %s", t->name, i,
				 t->lines.data);
		fewer += t->count < all;
	}
	assert_true(fewer > 10);
}

static void test_a_hole_hides_names_and_makes_none(void **state)
{
	(void)state;
	each_image(check_holes);
}

/* One read of all gives other bytes, as of memory that changes. */
static void check_torn(struct trial *t)
{
	size_t reads;

	look(t);
	reads = t->reads;
	for (size_t i = 0; i < reads; i++) {
		t->torn_from = i;
		look(t);
		if (!is_part_of_told(t))
			fail_msg("%s with read %zu torn: %s", t->name, i,
				 t->lines.data);
	}
}

static void test_what_changes_meanwhile_gives_no_wrong_name(void **state)
{
	(void)state;
	each_image(check_torn);
}

/* --- Texts -------------------------------------------------------------- */

enum { TEXT_AT = 4096, TYPE_AT = 8192, TEXT_MEMORY = 12288 };

static bool read_text_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	const uint8_t *memory = arg;

	if (address > TEXT_MEMORY || size > TEXT_MEMORY - address)
		return false;
	memcpy(buf, memory + address, size);
	return true;
}

/* A str of n letters, as CPython 3.12 has it; `max` bytes of it are read. */
static void check_text(size_t n, size_t max, const char *expected)
{
	static uint8_t bytes[TEXT_MEMORY];
	const struct py_release *release = py_release_find(0x030c0000);
	const struct py_layout *l = &release->layout;
	const struct py_memory memory = { read_text_memory, bytes };
	struct py_objects_reader reader =
		PY_OBJECTS_INIT(l, &release->objects, &memory);
	const uint64_t type = TYPE_AT, length = n, is_text = 1 << 28;
	const uint32_t text_state = l->text_compact_mask | l->text_ascii_mask |
				    1u << l->text_kind_shift;
	struct strbuf text = STRBUF_INIT;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes + TEXT_AT + l->object_type, &type, 8);
	memcpy(bytes + TEXT_AT + l->text_length, &length, 8);
	memcpy(bytes + TEXT_AT + l->text_state, &text_state, 4);
	memset(bytes + TEXT_AT + l->text_ascii_data, 'a', n);
	memcpy(bytes + TYPE_AT + release->objects.type_flags, &is_text, 8);
	assert_true(py_text_read(&reader, TEXT_AT, max, &text));
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
}

static void test_a_text_that_just_fits_is_whole(void **state)
{
	(void)state;
	check_text(0, 8, "");
	check_text(7, 8, "aaaaaaa");
	check_text(8, 8, "aaaaaaaa");
	check_text(9, 8, "aaaaa...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_those_of_the_program),
		cmocka_unit_test(test_only_what_is_wanted_is_read),
		cmocka_unit_test(test_a_hole_hides_names_and_makes_none),
		cmocka_unit_test(test_what_changes_meanwhile_gives_no_wrong_name),
		cmocka_unit_test(test_a_text_that_just_fits_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

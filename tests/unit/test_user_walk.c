// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over Python frames on images of real processes (tests/data/memory),
 * whole and damaged. What is right is what the programs told of themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "assert_ok.h"
#include "memory_image.h"
#include "walked.h"

enum { BYTES_MAX = 1 << 20 };

/* An image, and what the walk makes of it. */
struct trial {
	const char *name;
	uint8_t *bytes;
	size_t size;
	struct memory_image image;
	struct walked walked;
	struct strbuf text;
	/* The stack that the program told; not terminated. */
	const char *told;
	size_t told_size;
	/* It is without what names are in. */
	bool plain;
	struct py_memory memory;
};

typedef void trial_fn(struct trial *trial);

static void read_file(const char *name, uint8_t *bytes, size_t *ret)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", MEMORY_IMAGES, name);
	file = fopen(path, "re");
	assert_non_null(file);
	*ret = fread(bytes, 1, BYTES_MAX, file);
	assert_true(*ret < BYTES_MAX);
}

static void begin(struct trial *t)
{
	walked_deinit(&t->walked);
	assert_ok(walked_init(&t->walked));
}

static void run(struct trial *t)
{
	walked_run(&t->walked, &t->image.thread, &t->memory);
	assert_false(t->walked.failed);
	strbuf_clear(&t->text);
	walked_text(&t->walked, t->plain, &t->text);
	assert_ok(strbuf_error(&t->text));
}

/* The line before the stack says how it is told. */
static void read_told(struct trial *t)
{
	const char *end = memchr(t->image.stack, '\n', t->image.stack_size);

	assert_non_null(end);
	t->plain = *t->image.stack == 'p';
	t->told = end + 1;
	t->told_size = t->image.stack_size - (size_t)(t->told - t->image.stack);
}

static bool is_as_told(const struct trial *t)
{
	return t->text.len == t->told_size &&
	       !memcmp(t->text.data, t->told, t->told_size);
}

static void try_image(const char *name, trial_fn *fn)
{
	static uint8_t bytes[BYTES_MAX];
	static struct trial t;

	t = (struct trial){ .name = name, .bytes = bytes,
			    .text = STRBUF_INIT,
			    .memory = { memory_image_read, &t.image } };
	read_file(name, bytes, &t.size);
	assert_ok(memory_image_open((struct bytes){ bytes, t.size }, &t.image));
	read_told(&t);
	assert_ok(walked_init(&t.walked));
	fn(&t);
	walked_deinit(&t.walked);
	strbuf_deinit(&t.text);
}

/* Calls fn with each image whose name begins so. Returns how many there are. */
static size_t for_each_image(const char *prefix, trial_fn *fn)
{
	DIR *dir = opendir(MEMORY_IMAGES);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		try_image(entry->d_name, fn);
		count++;
	}
	closedir(dir);
	return count;
}

/* --- whole images --- */

static void walks_as_told(struct trial *t)
{
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_STACK);
	assert_true(t->walked.stack.whole);
	if (t->walked.stack.flags & ~WALKER_IN_PROLOGUE & ~WALKER_BY_REGISTER &
	    ~WALKER_LEAVING)
		fail_msg("%s: flags %u", t->name, t->walked.stack.flags);
	if (!is_as_told(t))
		fail_msg("%s: the stack is\n%sand not\n%.*s", t->name,
			 t->text.data, (int)t->told_size, t->told);
	/* Again: the same, with no code object written anew. */
	t->walked.room = 1 + t->walked.stack.frames.count / WALKER_CHUNK_FRAMES;
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_STACK);
	assert_true(is_as_told(t));
}

static void is_there(struct trial *t)
{
	(void)t;
}

static void test_stacks_are_those_of_the_programs(void **state)
{
	static const char *const versions[] = { "3.8.",	 "3.9.",  "3.10.",
						"3.11.", "3.12.", "3.13.",
						"3.14.", "3.15." };
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		size_t of_version = for_each_image(versions[i], walks_as_told);

		assert_in_range(of_version, 10, 100);
		count += of_version;
	}
	/* There are none of other versions. */
	assert_int_equal(count, for_each_image("", is_there));
	assert_in_range(count, 100, 1000);
}

/* --- other code at the same place --- */

/* The piece of the image that holds the address. */
static uint8_t *bytes_at(struct trial *t, uint64_t address)
{
	for (size_t i = 0; i < t->image.piece_count; i++) {
		const uint8_t *bytes = memory_image_at(&t->image, i, address);

		if (bytes)
			return t->bytes + (bytes - t->bytes);
	}
	fail();
	return NULL;
}

/* What the last run wrote of code objects. */
static size_t records;
static uint64_t first_code;

static bool count_code(void *arg, const void *record, size_t size)
{
	const struct walker_code *code = record;

	if (code->header.type == WALKER_CODE && !records++)
		first_code = code->address;
	return walked_emit(arg, record, size);
}

static void run_counting(struct trial *t)
{
	records = 0;
	walked_run_with(&t->walked, &t->image.thread, &t->memory, count_code);
	strbuf_clear(&t->text);
	walked_text(&t->walked, t->plain, &t->text);
	assert_ok(strbuf_error(&t->text));
}

/*
 * Of another process, as a child of the same parent or a later one of the same pid,
 * code at the same place is never taken for that of the first.
 */
static void processes_are_told_apart(struct trial *t)
{
	struct walker_process *process = &t->image.thread.process;
	size_t all;

	run_counting(t);
	all = records;
	assert_in_range(all, 1, 10000);
	run_counting(t);
	assert_int_equal(records, 0);
	t->image.thread.pid++;
	run_counting(t);
	assert_int_equal(records, all);
	process->birth++;
	run_counting(t);
	assert_int_equal(records, all);
	process->era++;
	run_counting(t);
	assert_int_equal(records, all);
	/* All three are the same as before only for the same process. */
	process->era--;
	process->birth--;
	run_counting(t);
	assert_int_equal(records, 0);
}

static void test_code_of_another_process_is_written_again(void **state)
{
	(void)state;
	assert_in_range(for_each_image("", processes_are_told_apart), 100, 1000);
}

static bool is_of_interpreters(const struct trial *t)
{
	return strstr(t->name, "-interpreters");
}

/* Changes one byte of the image, has the stack walked, and changes it back. */
static void run_with_other_byte(struct trial *t, uint64_t address)
{
	uint8_t *byte = bytes_at(t, address);

	*byte ^= 1;
	run_counting(t);
	*byte ^= 1;
}

/* Are names read again, where a version is enough if there is one interpreter? */
static bool is_looked_at(const struct trial *t)
{
	return is_of_interpreters(t) ||
	       t->image.thread.process.layout.code_version == PY_ABSENT;
}

/*
 * A code object at the place of one that was freed, whose parts are at the places of
 * that one's parts, too: what it says, or the version that CPython gave it, differs.
 */
static void code_is_told_apart(struct trial *t)
{
	const struct py_layout *l = &t->image.thread.process.layout;
	uint64_t code, name, lines;
	size_t all;

	run_counting(t);
	code = first_code;
	all = records;
	memcpy(&name, bytes_at(t, code + (l->code_qualname == PY_ABSENT ?
						  l->code_name : l->code_qualname)),
	       sizeof(name));
	memcpy(&lines, bytes_at(t, code + l->code_lines), sizeof(lines));
	/* The hash of its text; others may have the same name. */
	run_with_other_byte(t, name + l->text_length + 8);
	assert_in_range(records, 1, all);
	/* The same in a process in which a version tells more than it does. */
	t->image.thread.process.versions_tell = l->code_version != PY_ABSENT;
	run_counting(t);
	run_with_other_byte(t, name + l->text_length + 9);
	if (is_looked_at(t))
		assert_in_range(records, 1, all);
	else
		assert_int_equal(records, 0);
	run_with_other_byte(t, l->code_version == PY_ABSENT ?
				       lines + l->bytes_data : code + l->code_version);
	assert_in_range(records, 1, all);
	run_with_other_byte(t, code + l->code_first_line);
	assert_in_range(records, 1, all);
	run_counting(t);
	assert_int_equal(records, 0);
}

static void test_other_code_at_the_same_place_is_written(void **state)
{
	(void)state;
	assert_in_range(for_each_image("", code_is_told_apart), 100, 1000);
}

/* --- damaged ones --- */

static bool is_flagged(const struct walked *walked)
{
	return walked->stack.flags & (WALKER_UNREADABLE | WALKER_TOO_DEEP);
}

/* Where a line of the told stack begins; NULL: it has no such line. */
static const char *nth_line(const char *text, size_t size, size_t n)
{
	const char *end = text + size;

	for (; n && text; n--) {
		text = memchr(text, '\n', (size_t)(end - text));
		text = text ? text + 1 : NULL;
	}
	return text && text < end ? text : NULL;
}

/*
 * Function or file: the one that was told, or none, as that of a str whose head could
 * not be read. Both end at a tab, to which the pointers are moved.
 */
static bool same_word(const char **actual, const char **told)
{
	size_t size = strcspn(*actual, "\t"), told_size = strcspn(*told, "\t");
	bool same = !size || (size == told_size && !memcmp(*actual, *told, size));

	*actual += size + 1;
	*told += told_size + 1;
	return same;
}

/* Of the frames that are there, from the innermost on. */
static void names_are_right(struct trial *t)
{
	size_t i = 0;

	for (const char *line = t->text.data; *line; line = strchr(line, '\n') + 1) {
		const char *right = nth_line(t->told, t->told_size, i++), *word = line;

		/* Perhaps of a frame that tracebacks leave out. */
		if (*line == '?')
			return;
		assert_non_null(right);
		if (!same_word(&word, &right) || !same_word(&word, &right))
			fail_msg("%s: without piece %zu: %.40s", t->name,
				 t->image.hole, line);
	}
}

static size_t count_lines(const char *text, size_t size)
{
	size_t lines = 0;

	while (nth_line(text, size, lines))
		lines++;
	return lines;
}

static void hole_is_noticed(struct trial *t, size_t hole)
{
	begin(t);
	t->image.hole = hole;
	run(t);
	if (t->walked.result == USER_WALK_NO_FRAMES)
		return;
	assert_int_equal(t->walked.result, USER_WALK_STACK);
	/* It began further out, and says so. */
	if (t->walked.stack.flags & WALKER_IN_PROLOGUE)
		return;
	names_are_right(t);
	if (!is_flagged(&t->walked) &&
	    count_lines(t->text.data, t->text.len) <
		    count_lines(t->told, t->told_size))
		fail_msg("%s: without piece %zu frames are missing, and no flag is set",
			 t->name, hole);
}

/*
 * Without any one piece of what was read: what is there is right, and a stack that
 * is not whole says so. A piece may hold nothing but text of names or lines.
 */
static void holes_are_noticed(struct trial *t)
{
	/* Other interpreters may be out of sight altogether. */
	if (is_of_interpreters(t))
		return;
	for (size_t i = 0; i < t->image.piece_count; i++)
		hole_is_noticed(t, i);
}

static void test_what_cannot_be_read_is_flagged(void **state)
{
	(void)state;
	assert_in_range(for_each_image("", holes_are_noticed), 100, 1000);
}

/* The outermost frame is followed by the innermost one, without an end. */
static void rings_end(struct trial *t)
{
	const struct py_layout *l = &t->image.thread.process.layout;
	const struct walker_frame *frames;
	size_t count;

	/* The frames of an interpreter end within that ring. */
	if (is_of_interpreters(t))
		return;
	run(t);
	frames = t->walked.stack.frames.data;
	count = t->walked.stack.frames.count;
	memcpy(bytes_at(t, frames[count - 1].frame + l->frame_previous),
	       &frames[0].frame, sizeof(frames[0].frame));
	begin(t);
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_STACK);
	if (!is_flagged(&t->walked))
		fail_msg("%s: %zu frames", t->name, t->walked.stack.frames.count);
	assert_in_range(t->walked.stack.frames.count, count, WALKER_MAX_FRAMES);
}

static void test_a_ring_of_frames_ends(void **state)
{
	(void)state;
	assert_in_range(for_each_image("3.8", rings_end), 10, 100);
	assert_in_range(for_each_image("3.11", rings_end), 10, 100);
	assert_in_range(for_each_image("3.13", rings_end), 10, 100);
}

/* Records for which there is no room are said to be lost, and written again. */
static void loss_is_told(struct trial *t)
{
	t->walked.room = 0;
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_LOST);
	t->walked.room = SIZE_MAX;
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_STACK);
	assert_true(is_as_told(t));
}

static void test_lost_records_are_written_again(void **state)
{
	(void)state;
	assert_in_range(for_each_image("", loss_is_told), 100, 1000);
}

static void is_unknown(struct trial *t)
{
	t->image.thread.thread_pointer += 4096;
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_NO_FRAMES);
	assert_int_equal(t->walked.stack.frames.count, 0);
	t->image.thread.thread_pointer = 0;
	run(t);
	assert_int_equal(t->walked.result, USER_WALK_NO_FRAMES);
}

static void test_a_thread_without_a_state_has_no_frames(void **state)
{
	(void)state;
	assert_in_range(for_each_image("", is_unknown), 100, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_are_those_of_the_programs),
		cmocka_unit_test(test_code_of_another_process_is_written_again),
		cmocka_unit_test(test_other_code_at_the_same_place_is_written),
		cmocka_unit_test(test_what_cannot_be_read_is_flagged),
		cmocka_unit_test(test_a_ring_of_frames_ends),
		cmocka_unit_test(test_lost_records_are_written_again),
		cmocka_unit_test(test_a_thread_without_a_state_has_no_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

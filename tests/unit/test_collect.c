// SPDX-License-Identifier: GPL-2.0-only
/* The walker's records as the recorder puts them together, also where some were lost. */
#include <setjmp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/address_names.h"
#include "collect/code_spans.h"
#include "collect/loaded_programs.h"
#include "collect/sample_stack.h"
#include "collect/source_hashes.h"
#include "collect/stack_memory.h"
#include "perfdata/kaa_stream.h"
#include "fake_tree.h"
#include "stack_of_one.h"

/* --- BPF programs --- */

static const uint8_t tag[] = { 0x26, 0x58, 0x65, 0x34, 0x96, 0x6a, 0x16, 0x34 };

static void test_names_of_functions(void **state)
{
	char long_name[1024];
	struct arena arena = {};

	(void)state;
	assert_string_equal(loaded_function_name(&arena, tag, "outer"), "bpf_prog_26586534966a1634_outer");
	assert_string_equal(loaded_function_name(&arena, tag, ""), "bpf_prog_26586534966a1634");
	assert_string_equal(loaded_function_name(&arena, tag, NULL), "bpf_prog_26586534966a1634");
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(strlen(loaded_function_name(&arena, tag, long_name)), 511);
	arena_deinit(&arena);
}

static struct error *write_down(void *arg, const struct record *record)
{
	struct strbuf *text = arg;

	assert_int_equal(record->time, 0);
	if (record->type == PERF_RECORD_KSYMBOL)
		strbuf_printf(text, "%s at %llx, %u\n", record->ksymbol.name,
			      (unsigned long long)record->ksymbol.addr, record->ksymbol.len);
	else
		strbuf_printf(text, "program %u %02x\n", record->bpf_event.prog_id,
			      record->bpf_event.tag[0]);
	return NULL;
}

static void test_loaded_programs_are_told(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct loaded_programs programs = {};
	struct loaded_program first = { .id = 3, .functions_end = 2 };
	struct loaded_program second = { .id = 5, .functions_end = 3 };

	(void)state;
	first.tag[0] = 0x26;
	assert_true(vec_push(&programs.functions, (struct loaded_function){ 0x1000, 8, "a" }));
	assert_true(vec_push(&programs.functions, (struct loaded_function){ 0x2000, 9, "b" }));
	assert_true(vec_push(&programs.functions, (struct loaded_function){ 0x3000, 7, "c" }));
	assert_true(vec_push(&programs.programs, first));
	assert_true(vec_push(&programs.programs, second));
	assert_null(loaded_programs_tell(&programs, write_down, &text));
	assert_string_equal(text.data, "a at 1000, 8\nb at 2000, 9\nprogram 3 26\nc at 3000, 7\nprogram 5 00\n");
	loaded_programs_deinit(&programs);
}

/* --- the kernel --- */

static void test_kernel_code(void **state)
{
	static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
				       "ffffffff81000000 T _stext\n"
				       "ffffffff81000000 T _text\n"
				       "ffffffff81000100 t do_work\n"
				       "ffffffff82209988 T _etext\n";
	static const struct {
		const char *iomem;
		uint64_t end;
	} cases[] = {
		{ "00100000-3fffffff : System RAM\n  01000000-02209987 : Kernel code\n", 0xffffffff8220a000 },
		/* Who may not know. */
		{ "00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n", 0xffffffff8220a000 },
		{ "  02000000-01000000 : Kernel code\n", 0xffffffff8220a000 },
		{ "  01000000-02000fff : Kernel code\n", 0xffffffff82001000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char root[] = "/tmp/kaa-test-collect-XXXXXX";
		const struct fake_file files[] = { { "/proc/kallsyms", kallsyms },
						   { "/proc/iomem", cases[i].iomem } };
		struct kernel_code code;

		fake_tree_make(root, files, 2);
		code = kernel_code_find(root);
		assert_int_equal(code.start, 0xffffffff81000000);
		assert_int_equal(code.end, cases[i].end);
		assert_int_equal(fake_tree_remove(root), 0);
	}
}

static void test_hidden_kernel_code(void **state)
{
	char root[] = "/tmp/kaa-test-collect-XXXXXX";
	const struct fake_file file = { "/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n" };
	struct kernel_code code;

	(void)state;
	fake_tree_make(root, &file, 1);
	code = kernel_code_find(root);
	assert_int_equal(code.start, 0);
	assert_int_equal(fake_tree_remove(root), 0);
}

/* --- stacks --- */

static void add_stack(struct python_stack *stack, uint32_t before, uint32_t count, uint32_t flags)
{
	static struct walker_stack record;

	record = (struct walker_stack){ .header = { WALKER_STACK, 7 }, .tid = 8, .flags = flags,
					.count = count, .before = before };
	for (uint32_t i = 0; i < count; i++)
		record.frames[i].frame = before + i;
	assert_null(python_stack_add(stack, &record,
				     offsetof(struct walker_stack, frames) +
					     count * sizeof(record.frames[0])));
}

static void test_stack_of_two_records(void **state)
{
	struct python_stack stack = {};

	(void)state;
	add_stack(&stack, 0, 512, WALKER_CONTINUES);
	assert_false(stack.whole);
	add_stack(&stack, 512, 10, 0);
	assert_true(stack.whole);
	assert_int_equal(stack.frames.count, 522);
	for (size_t i = 0; i < stack.frames.count; i++)
		assert_int_equal(stack.frames.data[i].frame, i);
	assert_int_equal(stack.flags, 0);
	python_stack_deinit(&stack);
}

/* What is left of a stack without its innermost frames would be a wrong one. */
static void test_stack_without_its_first_record(void **state)
{
	struct python_stack stack = {};

	(void)state;
	add_stack(&stack, 0, 512, WALKER_CONTINUES);
	python_stack_clear(&stack);
	add_stack(&stack, 512, 512, WALKER_CONTINUES);
	assert_false(stack.whole);
	add_stack(&stack, 1024, 10, 0);
	assert_true(stack.whole);
	assert_int_equal(stack.frames.count, 0);
	assert_int_equal(stack.flags, WALKER_UNREADABLE);
	assert_int_equal(stack.pid, 7);
	assert_int_equal(stack.tid, 8);
	python_stack_deinit(&stack);
}

static void test_stack_without_its_last_record(void **state)
{
	struct python_stack stack = {};

	(void)state;
	add_stack(&stack, 0, 512, WALKER_CONTINUES);
	add_stack(&stack, 0, 3, 0);
	assert_true(stack.whole);
	assert_int_equal(stack.frames.count, 3);
	assert_int_equal(stack.flags, 0);
	python_stack_deinit(&stack);
}

/* Several events may listen to one tracepoint; its stack is read once. */
static void test_stack_of_several_samples(void **state)
{
	struct python_stack stack = {};

	(void)state;
	assert_null(python_stack_of(&stack, 7, 8, true));
	add_stack(&stack, 0, 2, 0);
	assert_ptr_equal(python_stack_of(&stack, 7, 8, true), &stack);
	assert_ptr_equal(python_stack_of(&stack, 7, 8, true), &stack);
	/* A timer, at whose hit the thread had no frames. */
	assert_null(python_stack_of(&stack, 7, 8, false));
	assert_ptr_equal(python_stack_of(&stack, 7, 8, true), &stack);
	add_stack(&stack, 0, 0, WALKER_NO_FRAMES);
	assert_null(python_stack_of(&stack, 7, 8, true));
	add_stack(&stack, 0, 1, 0);
	assert_ptr_equal(python_stack_of(&stack, 7, 8, false), &stack);
	/* Another thread ran here since. */
	assert_null(python_stack_of(&stack, 7, 9, true));
	assert_null(python_stack_of(&stack, 7, 8, true));
	python_stack_deinit(&stack);
}

/* A frame whose code object was lost is shown as one that cannot be read, and counted. */
static void test_frame_without_code(void **state)
{
	struct record sample = { .pid = 7, .tid = 7, .time = 1 };
	struct python_stack python = {};
	struct stack_of_one one;
	struct stack_builder *builder = &one.builder;

	(void)state;
	stack_of_one_init(&one);
	add_stack(&python, 0, 1, 0);
	assert_null(stack_build(builder, one.target, &sample, &python, NULL, 100));
	assert_int_equal(builder->chain.count, 2);
	assert_int_equal(builder->chain.data[1], KAA_MARKER_UNREADABLE);
	assert_int_equal(builder->stats.unreadable, 1);
	assert_null(stack_build(builder, one.target, &sample, NULL, NULL, 100));
	assert_int_equal(builder->stats.unreadable, 1);
	/* The other one has nothing of user space. */
	assert_int_equal(builder->stats.without_user, 1);
	assert_int_equal(builder->stats.incomplete, 2);
	assert_int_equal(builder->stats.samples, 2);
	python_stack_deinit(&python);
	stack_of_one_deinit(&one);
}

/* --- stacks beyond the kernel's copy --- */

static void add_page(struct page_store *store, uint64_t key, uint8_t fill)
{
	static struct walker_bytes record;

	record = (struct walker_bytes){ .header = { WALKER_BYTES, 7 }, .key = key };
	memset(record.bytes, fill, sizeof(record.bytes));
	assert_null(page_store_add(store, &record, sizeof(record)));
}

static struct walker_memory memory_record(uint32_t count)
{
	struct walker_memory record = { .header = { WALKER_MEMORY, 7 }, .tid = 8, .count = count,
					.stack_pointer = 0x10010, .start = 0x20000 };

	for (uint32_t i = 0; i < count; i++)
		record.keys[i] = 100 + i;
	return record;
}

static void set_memory(struct stack_memory *memory, const struct walker_memory *record)
{
	size_t keys = record->count * sizeof(record->keys[0]);

	assert_null(stack_memory_set(memory, record, offsetof(struct walker_memory, keys) + keys));
}

static void test_words_of_pages(void **state)
{
	struct walker_memory record = memory_record(4);
	struct page_store store = {};
	struct stack_memory memory = { .pages = &store };
	uint64_t word, missing[4];

	(void)state;
	add_page(&store, 100, 0x11);
	add_page(&store, 101, 0x22);
	add_page(&store, 103, 0x44);
	record.keys[2] = 0;
	set_memory(&memory, &record);
	assert_true(stack_memory_read(&memory, 0x20000, &word));
	assert_int_equal(word, 0x1111111111111111);
	/* In two pages. */
	assert_true(stack_memory_read(&memory, 0x20ffc, &word));
	assert_int_equal(word, 0x2222222211111111);
	/* The third is not in memory. */
	assert_false(stack_memory_read(&memory, 0x21ffc, &word));
	assert_false(stack_memory_read(&memory, 0x22000, &word));
	assert_true(stack_memory_read(&memory, 0x23ff8, &word));
	assert_int_equal(word, 0x4444444444444444);
	assert_false(stack_memory_read(&memory, 0x23ffc, &word));
	assert_false(stack_memory_read(&memory, 0x1fffc, &word));
	assert_false(stack_memory_read(&memory, UINT64_MAX - 3, &word));
	assert_int_equal(stack_memory_missing(&memory, missing, 4), 1);
	assert_int_equal(missing[0], 0x22000);
	assert_int_equal(stack_memory_missing(&memory, missing, 0), 0);
	stack_memory_deinit(&memory);
	page_store_deinit(&store);
}

/* A page whose record was lost is not there, whatever the sample says. */
static void test_page_that_was_not_sent(void **state)
{
	struct walker_memory record = memory_record(1);
	struct page_store store = {};
	struct stack_memory memory = { .pages = &store };
	uint64_t word;

	(void)state;
	set_memory(&memory, &record);
	assert_false(stack_memory_read(&memory, 0x20000, &word));
	stack_memory_deinit(&memory);
	page_store_deinit(&store);
}

/* What was sent in an epoch stays for the samples of that epoch that still wait. */
static void test_generations_of_pages(void **state)
{
	struct walker_memory record = memory_record(1);
	struct page_store store = {};
	struct stack_memory memory = { .pages = &store };
	uint64_t word, key = 1000;

	(void)state;
	set_memory(&memory, &record);
	add_page(&store, 100, 1);
	assert_false(page_store_is_full(&store));
	while (!page_store_is_full(&store) && key < 100000)
		add_page(&store, key++, 2);
	assert_true(page_store_is_full(&store));
	page_store_turn(&store, 100000);
	assert_false(page_store_is_full(&store));
	assert_true(stack_memory_read(&memory, 0x20000, &word));
	page_store_turn(&store, 200000);
	assert_false(stack_memory_read(&memory, 0x20000, &word));
	stack_memory_deinit(&memory);
	page_store_deinit(&store);
}

/* Adds pages until a generation is full; how many it took. */
static size_t fill_generation(struct page_store *store, uint64_t *key)
{
	size_t count = 0;

	while (!page_store_is_full(store)) {
		add_page(store, (*key)++, 3);
		assert_true(++count < 1000000);
	}
	return count;
}

/* Pages come slowly for hours: the memory that they take stays. At once: it grows. */
static void test_size_of_generations(void **state)
{
	struct page_store store = {};
	uint64_t key = 1;
	size_t least = fill_generation(&store, &key), size = least;
	int64_t now = 5000;

	(void)state;
	for (int i = 0; i < 20; i++) {
		page_store_turn(&store, now += 10000);
		assert_int_equal(fill_generation(&store, &key), least);
	}
	for (int i = 0; i < 4; i++) {
		page_store_turn(&store, now += 10);
		size *= 2;
		assert_int_equal(fill_generation(&store, &key), size);
	}
	for (int i = 0; i < 8; i++)
		page_store_turn(&store, now += 10);
	assert_true(fill_generation(&store, &key) < 100000);
	for (int i = 0; i < 10; i++) {
		page_store_turn(&store, now += 10000);
		size = fill_generation(&store, &key);
	}
	assert_int_equal(size, least);
	page_store_deinit(&store);
}

static void test_sample_of_memory(void **state)
{
	struct walker_memory record = memory_record(2), none = memory_record(0);
	struct stack_memory memory = {};

	(void)state;
	assert_null(stack_memory_of(&memory, 7, 8, 0x10010, false));
	set_memory(&memory, &record);
	/* The stack pointer is another: a sample of another moment. */
	assert_null(stack_memory_of(&memory, 7, 8, 0x10018, true));
	assert_ptr_equal(stack_memory_of(&memory, 7, 8, 0x10010, false), &memory);
	/* The next sample of a timer would have a record of its own. */
	assert_null(stack_memory_of(&memory, 7, 8, 0x10010, false));
	/* Another event of the tracepoint's hit. */
	assert_ptr_equal(stack_memory_of(&memory, 7, 8, 0x10010, true), &memory);
	set_memory(&memory, &none);
	assert_null(stack_memory_of(&memory, 7, 8, 0x10010, true));
	set_memory(&memory, &record);
	/* Another thread ran here since. */
	assert_null(stack_memory_of(&memory, 7, 9, 0x10010, true));
	assert_null(stack_memory_of(&memory, 7, 8, 0x10010, true));
	stack_memory_deinit(&memory);
}

static void test_damaged_memory_records(void **state)
{
	struct walker_memory record = memory_record(2);
	struct stack_memory memory = {};
	struct page_store store = {};
	size_t size = offsetof(struct walker_memory, keys) + 2 * sizeof(record.keys[0]);

	(void)state;
	for (size_t cut = 1; cut <= 2 * sizeof(record.keys[0]); cut += 7) {
		set_memory(&memory, &record);
		assert_null(stack_memory_set(&memory, &record, size - cut));
		assert_null(stack_memory_of(&memory, 7, 8, 0x10010, true));
	}
	record.count = WALKER_MAX_PAGES + 1;
	assert_null(stack_memory_set(&memory, &record, 65536));
	assert_null(stack_memory_of(&memory, 7, 8, 0x10010, true));
	assert_null(page_store_add(&store, &record, sizeof(struct walker_bytes) - 1));
	assert_int_equal(store.now.by_key.count, 0);
	stack_memory_deinit(&memory);
	page_store_deinit(&store);
}

/* --- code objects --- */

static void add_code_of(struct code_table *table, uint32_t pid, uint64_t key, const char *name,
			uint32_t lines_size)
{
	static struct walker_code record;
	size_t size = strlen(name);

	record = (struct walker_code){ .header = { WALKER_CODE, pid }, .key = key, .first_line = 3,
				       .lines_size = lines_size, .lines_format = PY_LINES_LNOTAB,
				       .filename = { 4, 1, 0 }, .name = { (uint32_t)size, 1, 0 } };
	memcpy(record.text, "a.py", 4);
	memcpy(record.text + 4, name, size);
	assert_null(code_table_record(table, &record,
				      offsetof(struct walker_code, text) + 4 + size));
}

static void add_code(struct code_table *table, uint64_t key, const char *name, uint32_t lines_size)
{
	add_code_of(table, 7, key, name, lines_size);
}

/* So many times: two bytes of code, then a line further. */
static void add_lines(struct code_table *table, uint64_t key, uint32_t offset, uint32_t size)
{
	static struct walker_lines record;

	record = (struct walker_lines){ .header = { WALKER_LINES, 7 }, .key = key,
					.offset = offset, .size = size };
	for (uint32_t i = 0; i < size; i++)
		record.bytes[i] = i % 2 ? 1 : 2;
	assert_null(code_table_record(table, &record, offsetof(struct walker_lines, bytes) + size));
}

/* A ring may have been read up to the middle of a capture; others come meanwhile. */
static void test_capture_in_two_parts(void **state)
{
	struct code_table table;
	const struct code *code;

	(void)state;
	code_table_init(&table);
	add_code(&table, 1, "waits", 8);
	add_lines(&table, 1, 0, 4);
	for (uint64_t key = 2; key < 20000; key++) {
		add_code(&table, key, "other", 2);
		add_lines(&table, key, 0, 2);
	}
	assert_null(code_table_find(&table, 1));
	add_lines(&table, 1, 4, 4);
	code = code_table_find(&table, 1);
	assert_non_null(code);
	assert_string_equal(code->qualname, "waits");
	assert_int_equal(py_lines_find(&code->lines, 6), 6);
	assert_int_equal(table.broken, 0);
	code_table_deinit(&table);
}

/* --- hashes of source files --- */

/* A function of a file below the folder; sampled, it has an address. */
static void add_function(struct code_table *table, const char *folder, const char *path,
			 bool is_sampled)
{
	_cleanup_strbuf_ struct strbuf payloads = STRBUF_INIT;
	char full[512];
	uint64_t index, address;

	snprintf(full, sizeof(full), "%s%s", folder, path);
	assert_null(code_table_named(table, 1, (struct bytes){ (uint8_t *)full, strlen(full) },
				     (struct bytes){ (const uint8_t *)"f", 1 }, &index));
	if (is_sampled)
		assert_null(code_table_address(table, table->codes.data[index], -1,
					       &payloads, &address));
}

static struct error *note_hash(void *arg, const struct kaa_source *source)
{
	struct content_hash hash = content_hash_of("f\n", 2);

	assert_int_equal(source->size, 2);
	assert_memory_equal(&source->hash, &hash, sizeof(hash));
	strbuf_append(arg, source->path.data + source->path.len - 4, 4);
	return NULL;
}

static void set_time(const char *folder, const char *path, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	char full[512];

	snprintf(full, sizeof(full), "%s%s", folder, path);
	assert_int_equal(utimensat(AT_FDCWD, full, times, 0), 0);
}

/* Files that were sampled and not changed since: each once, whatever else code names. */
static void test_hashes_of_sources(void **state)
{
	static const char *const names[] = { "a.py", "b.py", "c.py" };
	char folder[] = "/tmp/kaa-sources-XXXXXX", fifo[64], path[64];
	_cleanup_strbuf_ struct strbuf told = STRBUF_INIT;
	struct source_hashes hashes = { .since = 2000000000 };
	struct code_table table;

	(void)state;
	assert_non_null(mkdtemp(folder));
	code_table_init(&table);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/%s", names[i]);
		fake_file_write_bytes(folder, path, "f\n", 2);
		/* The last one was changed since. */
		set_time(folder, path, i == 2 ? 3 : 2);
		add_function(&table, folder, path, i != 1);
	}
	snprintf(fifo, sizeof(fifo), "%s/f.py", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	set_time(folder, "/f.py", 2);
	add_function(&table, folder, "/f.py", true);
	add_function(&table, folder, "/none", true);
	add_function(&table, folder, "", true);
	add_function(&table, "", "a.py", true);
	add_function(&table, "/dev", "/zero", true);
	add_function(&table, "", "<string>", true);
	assert_null(source_hashes_tell(&hashes, &table, note_hash, &told));
	assert_string_equal(told.data, "a.py");
	hashes.other_files = true;
	assert_null(source_hashes_tell(&hashes, &table, note_hash, &told));
	assert_string_equal(told.data, "a.py");
	code_table_deinit(&table);
	unlink(fifo);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

/* A Python that ran before the recording may have read a file that was changed since. */
static void test_pythons_that_hashes_depend_on(void **state)
{
	struct source_hashes hashes;
	int64_t began;

	(void)state;
	source_hashes_init(&hashes);
	began = hashes.since;
	source_hashes_python(&hashes, NULL, (uint32_t)getpid(), false);
	assert_true(hashes.since == began && !hashes.other_files);
	source_hashes_python(&hashes, NULL, INT32_MAX, true);
	assert_true(hashes.since == began && !hashes.other_files);
	hashes.since = INT64_MAX;
	source_hashes_python(&hashes, NULL, (uint32_t)getpid(), true);
	/* The tick in which it began may not be over. */
	assert_true(hashes.since <= began + 1000000000 && !hashes.other_files);
}

/* Captures whose rest never comes do not pile up, and others work on. */
static void test_captures_without_an_end(void **state)
{
	struct code_table table;

	(void)state;
	code_table_init(&table);
	for (uint64_t key = 1; key < 100000; key++)
		add_code(&table, key, "cut", 8);
	assert_true(table.pending.count < 10000);
	add_code(&table, 100000, "whole", 2);
	add_lines(&table, 100000, 0, 2);
	assert_non_null(code_table_find(&table, 100000));
	code_table_deinit(&table);
}

/* Every process that starts has the same code objects under keys of its own. */
static void test_the_same_code_takes_no_more_room(void **state)
{
	struct code_table table;
	size_t used;

	(void)state;
	code_table_init(&table);
	add_code(&table, 1, "same", 2);
	add_lines(&table, 1, 0, 2);
	used = table.strings.used;
	for (uint64_t key = 2; key < 1000; key++) {
		add_code(&table, key, "same", 2);
		add_lines(&table, key, 0, 2);
		assert_ptr_equal(code_table_find(&table, key), code_table_find(&table, 1));
	}
	assert_int_equal(table.codes.count, 1);
	assert_int_equal(table.strings.used, used);
	code_table_deinit(&table);
}

/* Nothing that a program does takes all memory. */
static void test_code_without_end(void **state)
{
	struct code_table table;
	char name[32];

	(void)state;
	code_table_init(&table);
	table.memory_max = 1 << 20;
	for (uint64_t key = 1; key < 20000; key++) {
		snprintf(name, sizeof(name), "made_%d", (int)key);
		add_code(&table, key, name, 200);
		add_lines(&table, key, 0, 200);
	}
	assert_true(table.memory < 2 << 20);
	assert_true(table.codes.count > 100 && table.codes.count < 2000);
	assert_int_equal(table.broken, 20000 - 1 - table.codes.count);
	assert_true(code_table_is_full(&table));
	assert_non_null(code_table_find(&table, 1));
	assert_null(code_table_find(&table, 19999));
	code_table_deinit(&table);
}

/* The walker reads what is in memory at that moment, and a table of lines may not be. */
static void test_code_without_lines(void **state)
{
	static struct walker_code record;
	static const struct {
		uint32_t format, size;
		bool lacks;
	} cases[] = {
		{ PY_LINES_LNOTAB, 0, false },	   { PY_LINES_UNSIGNED, 0, false },
		{ PY_LINES_LNOTAB, ~0u, true },	   { PY_LINES_PAIRS, 0, true },
		{ PY_LINES_LOCATIONS, 0, true },   { PY_LINES_LOCATIONS, ~0u, true },
		/* kaa's own, of a task of asyncio. */
		{ 0, ~0u, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code_table table;

		code_table_init(&table);
		/* Of two processes: it is one function. */
		for (uint64_t key = 1; key <= 2; key++) {
			record = (struct walker_code){ .header = { WALKER_CODE, 7 }, .key = key,
						       .first_line = 3,
						       .lines_size = cases[i].size,
						       .lines_format = cases[i].format,
						       .filename = { 1, 1, 0 },
						       .name = { 1, 1, 0 },
						       .text = "ab" };
			assert_null(code_table_record(&table, &record,
						      offsetof(struct walker_code, text) + 2));
			assert_non_null(code_table_find(&table, key));
		}
		assert_int_equal(table.without_lines, cases[i].lacks);
		assert_int_equal(table.broken, 0);
		code_table_deinit(&table);
	}
}

static bool is_one_of(void *arg, uint32_t pid)
{
	const uint32_t *first = arg;

	return pid == 7 || pid >= *first;
}

/* Processes that come and go all day leave no keys; one that stays keeps its own. */
static void test_code_of_processes_that_ended(void **state)
{
	enum { PROCESSES = 5000, CODES = 100 };
	struct code_table table;
	uint64_t key = 1;
	size_t lasting;

	(void)state;
	code_table_init(&table);
	add_code(&table, key, "lasting", 2);
	add_lines(&table, key, 0, 2);
	add_code(&table, ++key, "started", 0);
	lasting = table.memory;
	table.memory_max = lasting + ((size_t)8 << 20);
	for (uint32_t pid = 1000; pid < 1000 + PROCESSES; pid++) {
		uint32_t first = pid - 1;

		for (int i = 0; i < CODES; i++)
			add_code_of(&table, pid, ++key, "started", 0);
		code_table_forget(&table, is_one_of, &first);
		/* Of these samples may still come. */
		assert_non_null(code_table_find(&table, key));
		assert_non_null(code_table_find(&table, key - CODES + 1));
	}
	assert_int_equal(table.broken, 0);
	assert_true(table.by_key.count < 1 << 17);
	assert_string_equal(code_table_find(&table, 1)->qualname, "lasting");
	assert_string_equal(code_table_find(&table, key)->qualname, "started");
	assert_null(code_table_find(&table, 3));
	code_table_deinit(&table);
}

/* The spans of the payloads lie one behind the other, from `start` to what is returned. */
static uint64_t end_of_spans(const struct strbuf *payloads, uint64_t start)
{
	struct kaa_payload payload;
	uint32_t size;

	for (size_t at = 0; at < payloads->len; at += 4 + size) {
		memcpy(&size, payloads->data + at, 4);
		assert_null(kaa_stream_decode(payloads->data + at + 4, size, &payload));
		assert_int_equal(payload.type, KAA_CODE);
		assert_int_equal(payload.code.start, start);
		start += KAA_SLOT_SIZE * (uint64_t)payload.code.slots;
	}
	return start;
}

/* Addresses hold for the recording; each of its files says what they are, once. */
static void test_code_in_two_files(void **state)
{
	const uint32_t size = WALKER_CHUNK_LINES * 40;
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT, other = STRBUF_INIT;
	uint64_t address, again, behind;
	struct code_table table;
	struct code *code;

	(void)state;
	code_table_init(&table);
	add_code(&table, 1, "long", size);
	for (uint32_t at = 0; at < size; at += WALKER_CHUNK_LINES)
		add_lines(&table, 1, at, WALKER_CHUNK_LINES);
	code = code_table_find(&table, 1);
	assert_non_null(code);
	assert_null(code_table_address(&table, code, size - 2, &first, &address));
	assert_true(code->pieces.count > 1);
	assert_int_equal(end_of_spans(&first, code->start), table.next_address);
	assert_null(code_table_address(&table, code, 0, &second, &again));
	assert_int_equal(second.len, 0);

	table.file = 2;
	add_code(&table, 2, "other", 0);
	assert_null(code_table_address(&table, code_table_find(&table, 2), 0, &other, &behind));
	assert_int_equal(end_of_spans(&other, end_of_spans(&first, code->start)),
			 table.next_address);
	assert_null(code_table_address(&table, code, size - 2, &second, &again));
	assert_int_equal(again, address);
	assert_int_equal(second.len, first.len);
	assert_memory_equal(second.data, first.data, first.len);
	assert_null(code_table_address(&table, code, 0, &second, &again));
	assert_int_equal(second.len, first.len);
	strbuf_deinit(&first);
	strbuf_deinit(&second);
	strbuf_deinit(&other);
	code_table_deinit(&table);
}

static uint64_t address_of(struct frame_addresses *addresses, struct code_table *table,
			   uint64_t key, int32_t offset, struct strbuf *payloads)
{
	const struct walker_frame frame = { .key = key, .offset = offset };
	const struct frame_address *found;

	assert_null(frame_addresses_find(addresses, table, &frame, payloads, &found));
	return found ? found->address : 0;
}

/* A frame seen before has the address that the table gives, whatever came to it since. */
static void test_frames_seen_before(void **state)
{
	struct strbuf payloads = STRBUF_INIT;
	struct frame_addresses addresses = {};
	struct code_table table;
	uint64_t address;
	size_t size;

	(void)state;
	code_table_init(&table);
	assert_int_equal(address_of(&addresses, &table, 1, 0, &payloads), 0);
	add_code(&table, 1, "first", 8);
	add_lines(&table, 1, 0, 8);
	for (int32_t offset = 0; offset < 8; offset += 2) {
		assert_null(code_table_address(&table, code_table_find(&table, 1), offset,
					       &payloads, &address));
		for (int i = 0; i < 2; i++)
			assert_int_equal(address_of(&addresses, &table, 1, offset, &payloads),
					 address);
	}
	/* The address of another file has to be said there, too. */
	size = payloads.len;
	table.file = 2;
	assert_int_equal(address_of(&addresses, &table, 1, 6, &payloads), address);
	assert_int_equal(payloads.len, 2 * size);
	/* The key is another code object's now. */
	add_code(&table, 1, "second", 0);
	assert_null(code_table_address(&table, code_table_find(&table, 1), 6, &payloads, &address));
	assert_int_equal(address_of(&addresses, &table, 1, 6, &payloads), address);
	frame_addresses_deinit(&addresses);
	strbuf_deinit(&payloads);
	code_table_deinit(&table);
}

/* A walk of a time before the latest mapping may have seen others. */
static void test_known_maps(void **state)
{
	const struct process_mmap map = { .start = 0x1000, .length = 0x1000, .prot = 5, .path = "/a" };
	struct stack_of_one one;

	(void)state;
	stack_of_one_init(&one);
	target_at(one.target, 10);
	assert_true(target_knows_maps(one.target));
	assert_null(process_table_mmap(one.processes, 7, 20, &map));
	target_at(one.target, 10);
	assert_false(target_knows_maps(one.target));
	target_at(one.target, 20);
	assert_true(target_knows_maps(one.target));
	stack_of_one_deinit(&one);
}

/* Threads may have one place; memory has a limit, at which all begin anew. */
static void test_places_of_walks(void **state)
{
	struct last_walks walks = {};
	struct unwind_trace *trace = last_walks_of(&walks, 7);

	(void)state;
	assert_ptr_equal(last_walks_of(&walks, 7), trace);
	assert_ptr_not_equal(last_walks_of(&walks, 8), trace);
	for (uint32_t tid = 0; tid < 4 * LAST_WALKS; tid++) {
		trace = last_walks_of(&walks, tid);
		/* As a walk of a deep stack leaves it. */
		unwind_trace_deinit(trace);
		trace->frames = calloc(8192, sizeof(*trace->frames));
		trace->capacity = 8192;
		assert_true(walks.room <= 1 << 17);
	}
	last_walks_deinit(&walks);
}

static void test_names_in_two_files(void **state)
{
	struct name_table names = { .file = 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_null(name_table_user(&names, 7, 0x1000));
		assert_null(name_table_kernel(&names, 0x1000));
		assert_int_equal(names.user.count, 1);
		assert_int_equal(names.kernel.count, 1);
	}
	names.file = 2;
	for (int i = 0; i < 2; i++) {
		assert_null(name_table_user(&names, 7, 0x1000));
		assert_null(name_table_kernel(&names, 0x1000));
		assert_int_equal(names.user.count, 2);
		assert_int_equal(names.kernel.count, 2);
	}
	name_table_deinit(&names);
}

/* Of the stack that a thread leaves there may be no page. */
static void test_sample_of_a_switch(void **state)
{
	struct walker_memory record = memory_record(0);
	struct page_store store = {};
	struct stack_memory memory = { .pages = &store };
	uint32_t pid = record.header.pid, tid = record.tid;
	uint64_t sp = record.stack_pointer;

	(void)state;
	set_memory(&memory, &record);
	assert_null(stack_memory_left(&memory, pid, tid, sp, false));
	record.left = 0x7000;
	set_memory(&memory, &record);
	assert_null(stack_memory_left(&memory, pid, tid, sp + 8, false));
	assert_ptr_equal(stack_memory_left(&memory, pid, tid, sp, false), &memory);
	assert_int_equal(memory.left, 0x7000);
	/* It is of one sample, and of all of a tracepoint's hit. */
	assert_null(stack_memory_left(&memory, pid, tid, sp, false));
	assert_ptr_equal(stack_memory_left(&memory, pid, tid, sp, true), &memory);
	assert_null(stack_memory_left(&memory, pid, tid + 1, sp, true));
	assert_null(stack_memory_left(&memory, pid, tid, sp, true));
	stack_memory_deinit(&memory);
	page_store_deinit(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_functions),
		cmocka_unit_test(test_loaded_programs_are_told),
		cmocka_unit_test(test_kernel_code),
		cmocka_unit_test(test_hidden_kernel_code),
		cmocka_unit_test(test_stack_of_two_records),
		cmocka_unit_test(test_stack_without_its_first_record),
		cmocka_unit_test(test_stack_without_its_last_record),
		cmocka_unit_test(test_stack_of_several_samples),
		cmocka_unit_test(test_words_of_pages),
		cmocka_unit_test(test_page_that_was_not_sent),
		cmocka_unit_test(test_generations_of_pages),
		cmocka_unit_test(test_size_of_generations),
		cmocka_unit_test(test_sample_of_memory),
		cmocka_unit_test(test_sample_of_a_switch),
		cmocka_unit_test(test_damaged_memory_records),
		cmocka_unit_test(test_frame_without_code),
		cmocka_unit_test(test_capture_in_two_parts),
		cmocka_unit_test(test_hashes_of_sources),
		cmocka_unit_test(test_pythons_that_hashes_depend_on),
		cmocka_unit_test(test_captures_without_an_end),
		cmocka_unit_test(test_the_same_code_takes_no_more_room),
		cmocka_unit_test(test_code_without_end),
		cmocka_unit_test(test_code_without_lines),
		cmocka_unit_test(test_code_of_processes_that_ended),
		cmocka_unit_test(test_code_in_two_files),
		cmocka_unit_test(test_frames_seen_before),
		cmocka_unit_test(test_known_maps),
		cmocka_unit_test(test_places_of_walks),
		cmocka_unit_test(test_names_in_two_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

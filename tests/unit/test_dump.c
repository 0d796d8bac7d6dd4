// SPDX-License-Identifier: GPL-2.0-only
/* `kaa dump`: core files that are made here, whole and cut, and how a dump is worded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "assert_ok.h"
#include "dump/dump.h"
#include "obj/elf_core.h"
#include "sys/task_syscall.h"

enum {
	CORE_MAX = 8192,
	NOTES_AT = 512,
	MEMORY_AT = 4096,
	STATUS_SIZE = 336,
	STATUS_SIGNAL = 12,
	STATUS_PID = 32,
	STATUS_REGISTERS = 112,
	INFO_SIZE = 136,
};

/* --- a core --- */

struct made_core {
	uint8_t bytes[CORE_MAX];
	size_t size;
	size_t notes_end;
};

static void put_note(struct made_core *made, uint32_t type, const void *desc,
		     size_t size)
{
	const Elf64_Nhdr head = { 5, (Elf64_Word)size, type };
	uint8_t *to = made->bytes + made->notes_end;

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), "CORE\0\0\0", 8);
	memcpy(to + sizeof(head) + 8, desc, size);
	made->notes_end += sizeof(head) + 8 + (size + 3) / 4 * 4;
}

static void put_thread(struct made_core *made, int32_t tid, int16_t signal)
{
	uint8_t status[STATUS_SIZE] = {};

	memcpy(status + STATUS_SIGNAL, &signal, sizeof(signal));
	memcpy(status + STATUS_PID, &tid, sizeof(tid));
	for (uint64_t i = 0; i < CORE_REGISTERS; i++) {
		uint64_t value = (uint64_t)tid * 100 + i;

		memcpy(status + STATUS_REGISTERS + i * 8, &value,
		       sizeof(value));
	}
	put_note(made, NT_PRSTATUS, status, sizeof(status));
}

static void put_maps(struct made_core *made)
{
	static const struct {
		uint64_t head[2];
		uint64_t maps[2][3];
		char paths[16];
	} file = { { 2, 4096 },
		   { { 0x30000, 0x32000, 1 }, { 0x10000, 0x12000, 0 } },
		   "/two\0/one" };

	put_note(made, NT_FILE, &file,
		 offsetof(__typeof__(file), paths) + sizeof("/two\0/one"));
}

/* Memory: 0x10000 to 0x12000, of which the first page is there. */
static void make_core_of(struct made_core *made, const char *arguments)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = sizeof(head),
		.e_ehsize = sizeof(head), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_NOTE, .p_offset = NOTES_AT },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		  .p_offset = MEMORY_AT, .p_vaddr = 0x10000, .p_filesz = 4096,
		  .p_memsz = 0x2000 },
	};
	uint8_t info[INFO_SIZE] = {};

	*made = (struct made_core){ .notes_end = NOTES_AT };
	info[24] = 77;
	memcpy(info + 40, "python3.11-debug", 16);
	memcpy(info + 56, arguments, strlen(arguments));
	put_thread(made, 77, 11);
	put_note(made, NT_PRPSINFO, info, sizeof(info));
	put_maps(made);
	put_thread(made, 78, 0);
	segments[0].p_filesz = made->notes_end - NOTES_AT;
	memcpy(made->bytes, &head, sizeof(head));
	memcpy(made->bytes + sizeof(head), segments, sizeof(segments));
	memset(made->bytes + MEMORY_AT, 0xab, 4096);
	made->size = MEMORY_AT + 4096;
}

static void make_core(struct made_core *made)
{
	make_core_of(made, "python3 x.py ");
}

static struct error *open_core(const void *bytes, size_t size,
			       struct elf_file **file, struct elf_core *ret)
{
	struct error *error = elf_file_open_memory(bytes, size, "core", file);

	return error ? error : elf_core_open(*file, ret);
}

/* A program may clear its arguments: then the kernel has written blanks, or nothing. */
static void test_core_without_arguments(void **state)
{
	static const char *const arguments[] = { "", "    ", "  x", NULL };
	static const char *const commands[] = { "python3.11-debug",
						"python3.11-debug", "  x" };
	struct elf_file *file = NULL;
	struct made_core made;
	struct elf_core core;

	(void)state;
	for (size_t i = 0; arguments[i]; i++) {
		make_core_of(&made, arguments[i]);
		assert_ok(open_core(made.bytes, made.size, &file, &core));
		assert_string_equal(core.command, commands[i]);
		elf_core_deinit(&core);
		elf_file_destroy(file);
	}
}

static void test_core(void **state)
{
	struct elf_file *file = NULL;
	struct made_core made;
	struct elf_core core;
	uint8_t bytes[8192];

	(void)state;
	make_core(&made);
	assert_ok(open_core(made.bytes, made.size, &file, &core));
	assert_int_equal(core.pid, 77);
	assert_int_equal(core.signal, 11);
	assert_string_equal(core.command, "python3 x.py ");
	assert_int_equal(core.threads.count, 2);
	assert_int_equal(core.threads.data[1].tid, 78);
	assert_int_equal(core.threads.data[1].registers[CORE_FS_BASE],
			 7800 + 21);
	assert_int_equal(core.maps.count, 2);
	assert_string_equal(elf_core_path(&core, &core.maps.data[0]), "/one");
	assert_string_equal(elf_core_path(&core, elf_core_map_at(&core, 0x31fff)),
			    "/two");
	assert_int_equal(elf_core_map_at(&core, 0x30000)->offset, 4096);
	assert_null(elf_core_map_at(&core, 0x12000));
	/* What was not stored is not zero: it is not there. */
	assert_int_equal(elf_core_read(&core, 0x10ff0, bytes, 64), 16);
	assert_int_equal(bytes[15], 0xab);
	assert_int_equal(elf_core_read(&core, 0x11000, bytes, 8), 0);
	assert_int_equal(elf_core_read(&core, 0xffff, bytes, 8), 0);
	assert_true(elf_core_segment_at(&core, 0x11fff)->executable);
	elf_core_deinit(&core);
	elf_file_destroy(file);
}

/* Whatever is left of it: an error, or no more than there is. */
static void test_core_that_is_cut(void **state)
{
	struct made_core made;

	(void)state;
	make_core(&made);
	for (size_t size = 0; size < made.size; size += 7) {
		struct elf_file *file = NULL;
		struct elf_core core;
		struct error *error =
			open_core(made.bytes, size, &file, &core);
		uint8_t bytes[4096];

		if (!error) {
			size_t stored = size > MEMORY_AT ? size - MEMORY_AT : 0;

			/* Without the list of segments there is nothing. */
			if (!core.segments.count)
				assert_int_equal(core.threads.count, 0);
			else
				assert_true(size >= made.notes_end);
			assert_int_equal(elf_core_read(&core, 0x10000, bytes,
						       sizeof(bytes)),
					 stored);
			elf_core_deinit(&core);
		}
		error_destroy(error);
		elf_file_destroy(file);
	}
}

/* Each byte of head and notes in turn is another one. */
static void test_core_that_is_wrong(void **state)
{
	struct made_core made;

	(void)state;
	make_core(&made);
	for (size_t i = 0; i < made.notes_end; i++) {
		struct elf_file *file = NULL;
		struct elf_core core;
		uint8_t before = made.bytes[i], bytes[4096];
		struct error *error;

		made.bytes[i] ^= 0xff;
		error = open_core(made.bytes, made.size, &file, &core);
		if (!error) {
			elf_core_read(&core, 0x10000, bytes, sizeof(bytes));
			elf_core_deinit(&core);
		}
		error_destroy(error);
		elf_file_destroy(file);
		made.bytes[i] = before;
	}
}

static void test_other_files(void **state)
{
	struct elf_file *file = NULL;
	struct made_core made;
	struct elf_core core;

	(void)state;
	make_core(&made);
	made.bytes[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
	assert_fails(open_core(made.bytes, made.size, &file, &core),
		     ERROR_FORMAT);
	elf_file_destroy(file);
	make_core(&made);
	made.bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_AARCH64;
	assert_fails(open_core(made.bytes, made.size, &file, &core),
		     ERROR_UNSUPPORTED);
	elf_file_destroy(file);
}

/* --- system calls --- */

static void test_system_calls(void **state)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct task_syscall call;

	(void)state;
	assert_true(task_syscall_parse("202 0x7f12 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f13\n", &call));
	assert_int_equal(call.number, 202);
	assert_int_equal(call.first, 0x7f12);
	assert_int_equal(call.stack_pointer, 0x7ffc);
	assert_int_equal(call.instruction, 0x7f13);
	/* A text that is cut tells the call alone. */
	assert_true(task_syscall_parse("202 0x7f12 0x189 0x0 0x0 0x0 0x0 0x7ffc\n", &call));
	assert_int_equal(call.stack_pointer, 0);
	assert_true(task_syscall_parse("-1 0x7ffc 0x7f13\n", &call));
	assert_int_equal(call.number, -1);
	assert_int_equal(call.stack_pointer, 0x7ffc);
	assert_int_equal(call.instruction, 0x7f13);
	assert_false(task_syscall_parse("running\n", &call));
	assert_false(task_syscall_parse("202\n", &call));
	assert_false(task_syscall_parse("", &call));
	task_syscall_name(202, &name);
	strbuf_putc(&name, ' ');
	task_syscall_name(9999, &name);
	assert_string_equal(name.data, "futex system call 9999");
}

/* futex() called at 0x7f11, and what a stop makes of it until the thread calls again. */
static void test_a_call_goes_on_behind_a_stop(void **state)
{
	static const struct {
		uint64_t stack_pointer, instruction;
		int64_t result;
		bool is_in;
	} cases[] = {
		{ 0x7ffc, 0x7f13, -512, true },	 { 0x7ffc, 0x7f13, -516, true },
		{ 0x7ffc, 0x7f11, 202, true },	 { 0x7ffc, 0x7f13, 0, false },
		{ 0x7ffc, 0x7f13, -4, false },	 { 0x7ffc, 0x7f13, INT64_MIN, false },
		{ 0x7ff4, 0x7f13, -512, false }, { 0x7ffc, 0x7f20, -512, false },
	};
	struct task_syscall call, none = {};

	(void)state;
	assert_true(task_syscall_parse(
		"202 0x7f12 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f13\n", &call));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct user_regs_struct registers = {
			.rsp = cases[i].stack_pointer,
			.rip = cases[i].instruction,
			.rax = (uint64_t)cases[i].result
		};

		assert_int_equal(task_syscall_is_in(&call, &registers),
				 cases[i].is_in);
		assert_false(task_syscall_is_in(&none, &registers));
	}
}

/* --- a process that ends --- */

static enum subject_read begin(struct subject *subject,
			       struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
	return SUBJECT_GONE;
}

static void release(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
}

static bool has_ended(struct subject *subject)
{
	return subject->signal;
}

static bool read_nothing(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)arg;
	(void)address;
	(void)buf;
	(void)size;
	return false;
}

/* It is neither another program, nor one without threads. */
static void test_a_process_that_ends(void **state)
{
	static const struct subject_kind kind = { .begin = begin,
						  .release = release,
						  .has_ended = has_ended };
	static char word[] = "x";
	struct subject_thread thread = { .tid = 7, .files = TASK_FILES_INIT };
	struct subject subject = { .kind = &kind,
				   .pid = 7,
				   .command = word,
				   .memory = { read_nothing, NULL, NULL } };
	const struct dump_options options = {};
	struct dump *dump = NULL;

	(void)state;
	assert_fails(subject_find_python(&subject), ERROR_NOT_FOUND);
	subject.signal = SIGKILL;
	assert_fails(subject_find_python(&subject), ERROR_FAULT);
	subject.interpreter = word;
	subject.python.layout.version = 0x030c01f0;
	subject.threads.data = &thread;
	subject.threads.count = 1;
	assert_fails(dump_create(&subject, &options, &dump), ERROR_FAULT);
}

/* --- words --- */

static const char long_path[] =
	"/a/very/long/path/that/has/no/room/in/any/line/of/eighty/columns/at/all/file.py";

/* Two threads: one with all that is long, one that could not be read. */
static void make_dump(struct dump *dump, struct dump_thread threads[2])
{
	static struct dump_frame frames[] = {
		{ "short", "/x.py", 3, 0, 1 },
		{ "a_function_with_a_name_that_is_longer_than_half_of_a_line_is_wide",
		  long_path, 123456 },
		{ "<module>", long_path, 0 },
	};
	static struct dump_local local = { 0, 5, true };
	static char text[] = "name\0\"a\\b\" and so on, and on, and on, and on, and on, and on, and on, and on";

	*dump = (struct dump){ .pid = 12, .command = "python3 \"x\"",
			       .interpreter = long_path,
			       .version = 0x030e00c2, .has_locals = true };
	threads[0] = (struct dump_thread){
		.tid = 12, .ident = 7, .name = "quote\" and \\", .comm = "x",
		.state = 'S', .has_call = true, .call = 202,
		.has_python = true, .wants_gil = true,
		.problem = DUMP_UNREADABLE,
		.frames = { frames, 3, 3 },
		.locals = { { &local, 1, 1 },
			    { text, sizeof(text) - 1, sizeof(text), false } },
	};
	threads[1] = (struct dump_thread){ .tid = 13, .comm = "native",
					   .state = 'R', .has_python = true,
					   .holds_gil = true,
					   .problem = DUMP_RAN_ON };
	dump->threads.data = threads;
	dump->threads.count = 2;
}

static void put_source(void *arg, const char *file, uint32_t line,
		       struct strbuf *out)
{
	(void)arg;
	strbuf_printf(out, "\t\tline %u of %s", line, file);
}

static void test_text(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct dump_words words = { .width = 80, .put_source = put_source };
	struct dump_thread threads[2];
	struct dump dump;
	size_t line = 0;

	(void)state;
	make_dump(&dump, threads);
	dump_text(&dump, &words, &out);
	for (const char *p = out.data; *p; p++) {
		line = *p == '\n' ? 0 : line + 1;
		assert_true(line <= 80);
	}
	assert_non_null(strstr(out.data, "CPython 3.14.0rc2, "));
	assert_non_null(strstr(out.data,
			       "\n2 threads; native (13) held the GIL, 1 waited for it\n"));
	assert_non_null(strstr(out.data,
			       "\nquote\" and \\ 12 (waits for the GIL)\n    short (/x.py:3)\n      | line 3 of /x.py\n        arg name = \"a\\b\" and"));
	assert_non_null(strstr(out.data, "file.py:123456)\n"));
	assert_non_null(strstr(out.data, "file.py)\n    [the frames beyond could not be read]\n"));
	assert_non_null(strstr(out.data, "\nnative 13 (holds the GIL, running)\n    [not read: "));
}

/* Functions that call each other a thousand times are shown twice, and counted. */
static void test_text_of_a_recursion(void **state)
{
	enum { DEPTH = 1000 };
	static const struct {
		size_t size;
		const char *words;
	} cases[] = {
		{ 1, "\n    leaf (/x.py:9)\n    f0 (/x.py:10)\n    f0 (/x.py:10)\n    [the same 1 function 998 more times]\n    <module> (/x.py:1)\n" },
		{ 3, "\n    f0 (/x.py:10)\n    f1 (/x.py:11)\n    f2 (/x.py:12)\n    [the same 3 functions 331 more times]\n    f0 (/x.py:10)\n    <module> (/x.py:1)\n" },
		{ 9, "\n    f0 (/x.py:10)\n    <module> (/x.py:1)\n" },
	};
	static const char *const names[] = { "f0", "f1", "f2", "f3", "f4",
					     "f5", "f6", "f7", "f8" };
	const struct dump_words words = { .width = 80 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dump_frame frames[DEPTH + 2] = {};
		struct dump_thread thread = { .tid = 12, .comm = "x",
					      .has_python = true,
					      .frames = { frames, DEPTH + 2,
							  DEPTH + 2 } };
		struct dump dump = { .pid = 12, .command = "x",
				     .interpreter = "y" };

		frames[0] = (struct dump_frame){ "leaf", "/x.py", 9 };
		for (uint32_t j = 0; j < DEPTH; j++)
			frames[j + 1] = (struct dump_frame){
				names[j % cases[i].size], "/x.py",
				(uint32_t)(10 + j % cases[i].size)
			};
		frames[DEPTH + 1] = (struct dump_frame){ "<module>", "/x.py", 1 };
		dump.threads.data = &thread;
		dump.threads.count = 1;
		for (int locals = 0; locals < 2; locals++) {
			_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
			size_t lines = 0;

			dump.has_locals = locals;
			dump_text(&dump, &words, &out);
			for (const char *p = out.data; *p; p++)
				lines += *p == '\n';
			/* Variables may differ. */
			assert_true(lines < 20 ||
				    (locals || cases[i].size == 9));
			assert_int_equal(!strstr(out.data, cases[i].words),
					 locals && cases[i].size < 9);
		}
	}
}

/* Names are shown with their letters, and the columns stand below each other all the same. */
static void test_text_of_other_letters(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct dump_words words = { .width = 80 };
	struct dump_task task = { .name = "gr\xc3\xb6\xc3\x9f" "e", .state = DUMP_TASK_WAITING,
				  .wait = PY_WAIT_LOCK, .frame_count = 1 };
	struct dump_thread threads[2];
	struct dump dump;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	make_dump(&dump, threads);
	dump.has_tasks = true;
	dump.tasks.list.data = &task;
	dump.tasks.list.count = 1;
	dump.tasks.frames = threads[0].frames;
	dump.tasks.locals = threads[0].locals;
	dump_text(&dump, &words, &out);
	assert_non_null(strstr(out.data,
			       "\ngr\xc3\xb6\xc3\x9f" "e              waits for a lock                       short:3\n"));
	setlocale(LC_CTYPE, "C");
}

/* Lines that count lose nothing. */
static void test_text_of_many_holders(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct dump_words words = { .width = 80 };
	struct dump_thread threads[3] = {};
	struct dump dump = { .pid = 12, .command = "x", .interpreter = "y" };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		threads[i] = (struct dump_thread){
			.tid = 1234567,
			.comm = "a thread with a name that takes all of 50 columns",
			.holds_gil = true
		};
	threads[2] = (struct dump_thread){ .comm = "x", .wants_gil = true };
	dump.threads.data = threads;
	dump.threads.count = 3;
	dump_text(&dump, &words, &out);
	assert_non_null(strstr(out.data,
			       "\n3 threads; a thread with a name that takes all o... (1234567), a thread with a\n  name that takes all o... (1234567) held the GIL, 1 waited for it\n\n"));
}

/* Of a core the thread that died says so, and not that it sent the signal to itself. */
static void test_text_of_a_death(void **state)
{
	static const struct {
		int signal;
		bool has_call;
		int64_t call;
		const char *words;
	} cases[] = {
		{ SIGABRT, true, SYS_tgkill, "\nnative 13 (holds the GIL, died of SIGABRT)\n" },
		{ SIGSEGV, false, 0, "\nnative 13 (holds the GIL, died of SIGSEGV)\n" },
		{ SIGQUIT, true, SYS_read, "\nnative 13 (holds the GIL, died of SIGQUIT, in read)\n" },
		{ 0, true, SYS_tgkill, "\nnative 13 (holds the GIL, in tgkill)\n" },
	};
	const struct dump_words words = { .width = 80, .put_source = put_source };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
		struct dump_thread threads[2];
		struct dump dump;

		make_dump(&dump, threads);
		dump.core = "/x/core";
		dump.signal = cases[i].signal;
		dump.signalled = cases[i].signal ? 13 : 0;
		threads[1].state = 0;
		threads[1].has_call = cases[i].has_call;
		threads[1].call = cases[i].call;
		dump_text(&dump, &words, &out);
		if (!strstr(out.data, cases[i].words))
			fail_msg("'%s' is not in:\n%s", cases[i].words,
				 out.data);
	}
}

static void test_json(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct dump_thread threads[2];
	struct dump dump;

	(void)state;
	make_dump(&dump, threads);
	dump_json(&dump, &out);
	assert_non_null(strstr(out.data, "\"command\": \"python3 \\u0022x\\u0022\""));
	assert_non_null(strstr(out.data, "\"name\": \"quote\\u0022 and \\u005c\""));
	assert_non_null(strstr(out.data, "\"value\": \"\\u0022a\\u005cb\\u0022 and"));
	assert_non_null(strstr(out.data, "\"line\": null"));
	assert_non_null(strstr(out.data, "\"problem\": \"ran on\", \"frames\": []}]}\n"));
}

/* Two that await each other, which both await a third; and those that have no frames. */
static void add_tasks(struct dump *dump)
{
	static struct dump_frame frames[] = {
		{ "sleep", "/lib/asyncio/tasks.py", 7 },
		{ "a_function_with_a_name_that_is_longer_than_half_of_a_line_is_wide",
		  long_path, 5 },
	};
	static struct dump_await awaits[] = { { 0, 1 }, { 0, 2 }, { 1, 0 },
					      { 1, 2 } };
	static struct dump_task tasks[] = {
		{ .address = 1, .name = "first", .state = DUMP_TASK_WAITING,
		  .wait = PY_WAIT_TASKS, .is_awaited = true },
		{ .address = 2, .name = "second \"2\"", .state = DUMP_TASK_WAITING,
		  .wait = PY_WAIT_TASKS, .is_awaited = true, .tid = 12 },
		{ .address = 3, .name = "third", .state = DUMP_TASK_WAITING,
		  .wait = PY_WAIT_SLEEP, .waits_for = "0.5", .frame_count = 2,
		  .is_awaited = true },
		{ .address = 4, .problem = DUMP_TASK_RAN_ON },
		{ .address = 5, .name = "other", .state = DUMP_TASK_SCHEDULED,
		  .problem = DUMP_TASK_FOREIGN, .is_unproven = true },
		{ .address = 6, .name = "over", .state = DUMP_TASK_DONE },
	};

	dump->has_tasks = true;
	dump->tasks.list.data = tasks;
	dump->tasks.list.count = sizeof(tasks) / sizeof(tasks[0]);
	dump->tasks.awaits.data = awaits;
	dump->tasks.awaits.count = sizeof(awaits) / sizeof(awaits[0]);
	dump->tasks.frames.data = frames;
	dump->tasks.frames.count = sizeof(frames) / sizeof(frames[0]);
	dump->tasks.unknown = 9;
	dump->tasks.is_cut = true;
}

static void test_text_of_tasks(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct dump_words words = { .width = 80 };
	struct dump_thread threads[2];
	struct dump dump;
	size_t line = 0;

	(void)state;
	make_dump(&dump, threads);
	add_tasks(&dump);
	dump_text(&dump, &words, &out);
	for (const char *p = out.data; *p; p++) {
		line = *p == '\n' ? 0 : line + 1;
		assert_true(line <= 80);
	}
	assert_non_null(strstr(out.data,
			       "\n6 tasks: 3 waiting, 1 scheduled, 1 done, 1 not read\nwaiting for: tasks 2, sleep 1\n[9 tasks not read: "));
	assert_non_null(strstr(out.data, "\n[there may be more: "));
	assert_non_null(strstr(out.data, "\nover               done, not collected\n"));
	/* Any of a circle may be its root, and each is shown once. */
	assert_non_null(strstr(out.data,
			       "\nfirst (waits for 2 tasks)\n    < second \"2\" (waits for 2 tasks)\n        < first (see above)\n        < third (sleeps for 0.5 s)\n            sleep (/lib/asyncio/tasks.py:7)\n"));
	assert_non_null(strstr(out.data, "\n    < third (see above)\n"));
	assert_non_null(strstr(out.data,
			       "\n[no name] (not read)\n    [not read: its thread ran on at each try]\n"));
	assert_non_null(strstr(out.data,
			       "\nother (scheduled)\n    [goes on in a coroutine of another kind, whose frames are not known]\n    [read without proof: no thread is known that runs its loop]\n"));
	assert_null(strstr(out.data, "\nover (done"));
}

/* What waits, with nothing more to say of it, and of an asyncio that is not known. */
static void test_text_of_one_task(void **state)
{
	static const struct {
		enum py_wait wait;
		const char *words;
	} waits[] = {
		{ PY_WAIT_LOCK, "\nfirst (waits for a lock)\n" },
		{ PY_WAIT_QUEUE, "\nfirst (waits for a queue)\n" },
		{ PY_WAIT_SOCKET, "\nfirst (waits for a socket)\n" },
		{ PY_WAIT_PROCESS, "\nfirst (waits for a process)\n" },
		{ PY_WAIT_THREAD, "\nfirst (waits for another thread)\n" },
		{ PY_WAIT_FUTURE, "\nfirst (waits for a future)\n" },
		{ PY_WAIT_SLEEP, "\nfirst (sleeps)\n" },
	};
	const struct dump_words words = { .width = 80 };
	struct dump_task task = { .name = "first", .state = DUMP_TASK_WAITING };
	struct dump_thread threads[2];
	struct dump dump;

	(void)state;
	make_dump(&dump, threads);
	dump.has_tasks = true;
	dump.tasks.list.data = &task;
	dump.tasks.list.count = dump.tasks.unknown = 1;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		task.wait = waits[i].wait;
		dump_text(&dump, &words, &out);
		assert_non_null(strstr(out.data, waits[i].words));
		assert_non_null(strstr(out.data, "\n1 task: 1 waiting\n"));
		assert_non_null(strstr(out.data, "\n[1 task not read: "));
	}
}

static void test_json_of_tasks(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct dump_thread threads[2];
	struct dump dump;

	(void)state;
	make_dump(&dump, threads);
	add_tasks(&dump);
	dump_json(&dump, &out);
	assert_non_null(strstr(out.data, "\"unknown_tasks\": 9, \"tasks_complete\": false"));
	assert_non_null(strstr(out.data,
			       "{\"index\": 1, \"id\": 2, \"name\": \"second \\u00222\\u0022\", \"state\": \"waiting\", \"tid\": 12, \"waits_for\": \"tasks\", \"detail\": null, \"awaits\": [0, 2], \"problem\": null, \"proven\": true, \"frames\": []}"));
	assert_non_null(strstr(out.data,
			       "\"name\": null, \"state\": null, \"tid\": null, \"waits_for\": null, \"detail\": null, \"awaits\": [], \"problem\": \"ran on\", \"proven\": false"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_core_without_arguments),
		cmocka_unit_test(test_core_that_is_cut),
		cmocka_unit_test(test_core_that_is_wrong),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_a_call_goes_on_behind_a_stop),
		cmocka_unit_test(test_a_process_that_ends),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_of_a_recursion),
		cmocka_unit_test(test_text_of_other_letters),
		cmocka_unit_test(test_text_of_many_holders),
		cmocka_unit_test(test_text_of_a_death),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text_of_tasks),
		cmocka_unit_test(test_text_of_one_task),
		cmocka_unit_test(test_json_of_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

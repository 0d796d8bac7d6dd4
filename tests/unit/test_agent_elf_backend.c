// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ELF backend: its images as elfutils reads them (symbols by libelf, unwind
 * rules and lines by libdw), while they are being filled and after. What perf makes
 * of them: tests/live/test_agent_backends.py.
 */
#include "agent_backend.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fnmatch.h>
#include <gelf.h>
#include <glob.h>
#include <libelf.h>

#include "agent/elf_slots.h"
#include "agent/trampoline.h"
#include "read_elf.h"

static const struct agent_backend *const backend = &agent_backend_elf;

/* The path of a process's n-th image; one that is nowhere if there is none. */
static const char *image_path(pid_t pid, unsigned int n)
{
	static char path[PATH_MAX];
	glob_t found;

	snprintf(path, sizeof(path), "%s/kaa-%d-%u-*.elf", test_dir, (int)pid,
		 n);
	if (glob(path, 0, NULL, &found) == 0) {
		assert_int_equal(found.gl_pathc, 1);
		snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	return path;
}

struct image {
	int fd;
	Elf *elf;
	/* Where the image is mapped in this process. */
	uintptr_t base;
	uint8_t build_id[20];
};

/* The executable mapping of a file; asserts that it begins at its first byte. */
static uintptr_t find_mapping(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	uintptr_t start = 0, offset;
	char rights[8];

	assert_non_null(maps);
	while (!start && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, path))
			continue;
		assert_int_equal(sscanf(line, "%" SCNxPTR "-%*x %7s %" SCNxPTR,
					&start, rights, &offset), 3);
		assert_string_equal(rights, "r-xp");
		assert_int_equal(offset, 0);
	}
	fclose(maps);
	return start;
}

static Elf_Scn *section(const struct image *image, const char *name,
			GElf_Shdr *ret)
{
	Elf_Scn *scn = find_section(image->elf, name, ret);

	if (!scn)
		fail_msg("no section %s", name);
	return scn;
}

static void open_image(const char *path, struct image *ret)
{
	GElf_Shdr header;
	Elf_Data *note;

	elf_version(EV_CURRENT);
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(ret->fd >= 0);
	ret->elf = elf_begin(ret->fd, ELF_C_READ, NULL);
	assert_non_null(ret->elf);
	ret->base = find_mapping(path);
	note = elf_getdata(section(ret, ".note.gnu.build-id", &header), NULL);
	assert_int_equal(note->d_size, 36);
	memcpy(ret->build_id, (char *)note->d_buf + 16, 20);
}

static void close_image(struct image *image)
{
	elf_end(image->elf);
	close(image->fd);
}

/* The symbol that covers an address of this process, as perf would find it. */
static const char *name_at(const struct image *image, const void *address)
{
	uint64_t at = (uintptr_t)address - image->base;
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(section(image, ".symtab", &header), NULL);

	for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
		GElf_Sym symbol;

		assert_non_null(gelf_getsym(data, (int)i, &symbol));
		if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    at >= symbol.st_value &&
		    at < symbol.st_value + symbol.st_size)
			return elf_strptr(image->elf, header.sh_link,
					  symbol.st_name);
	}
	return "-";
}

static size_t count_symbols(const struct image *image)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(section(image, ".symtab", &header), NULL);
	size_t count = 0;

	for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
		GElf_Sym symbol;

		assert_non_null(gelf_getsym(data, (int)i, &symbol));
		count += GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
	}
	return count;
}

static void test_every_slot_has_its_name(void **state)
{
	char *slots[900];
	struct image image;

	(void)state;
	assert_int_equal(backend->open(), 0);
	for (int i = 0; i < 900; i++) {
		slots[i] = take_function(backend, i);
		assert_true(is_trampoline(slots[i]));
		assert_ptr_equal(backend->slot_of(slots[i] + 5), slots[i]);
	}
	open_image(image_path(getpid(), 0), &image);
	assert_int_equal(count_symbols(&image), 900);
	for (int i = 0; i < 900; i++) {
		size_t size = agent_trampoline()->code_size;

		assert_string_equal(name_at(&image, slots[i]),
				    function_name(i));
		assert_string_equal(name_at(&image, slots[i] + size - 1),
				    function_name(i));
		assert_string_equal(name_at(&image, slots[i] + size), "-");
	}
	close_image(&image);
}

/* What is mapped is what is in the file: an unwinder may read either. */
static void test_mapping_is_the_file(void **state)
{
	struct image image;
	GElf_Phdr header;
	size_t size;
	char *bytes;

	(void)state;
	open_image(image_path(getpid(), 0), &image);
	bytes = read_whole(image_path(getpid(), 0), &size);
	assert_non_null(gelf_getphdr(image.elf, 0, &header));
	assert_int_equal(header.p_type, PT_LOAD);
	assert_int_equal(header.p_flags, PF_R | PF_X);
	assert_int_equal(header.p_offset, 0);
	assert_int_equal(header.p_vaddr, 0);
	assert_true(header.p_filesz <= size);
	assert_memory_equal(bytes, (void *)image.base, header.p_filesz);
	free(bytes);
	close_image(&image);
}

/* Of all slots, announced or not, at each of their bytes. */
static void test_cfi_covers_every_slot(void **state)
{
	static const struct {
		unsigned int at;
		int offset;
	} x86_rows[] = { { 0, 8 }, { 4, 8 }, { 5, 16 }, { 8, 16 }, { 10, 16 },
			 { 11, 8 } };
	const struct agent_trampoline *trampoline = agent_trampoline();
	struct image image;
	Dwarf_CFI *cfi;
	GElf_Shdr text;

	(void)state;
	open_image(image_path(getpid(), 0), &image);
	section(&image, ".text", &text);
	cfi = dwarf_getcfi_elf(image.elf);
	assert_non_null(cfi);
	for (uint64_t slot = text.sh_addr; slot < text.sh_addr + text.sh_size;
	     slot += trampoline->stride) {
		for (uint32_t i = 0; i < trampoline->code_size; i++) {
			Dwarf_Addr start, end;
			Dwarf_Frame *frame;

			assert_int_equal(dwarf_cfi_addrframe(cfi, slot + i,
							     &frame), 0);
			dwarf_frame_info(frame, &start, &end, NULL);
			assert_true(start >= slot);
			assert_true(end <= slot + trampoline->code_size);
			free(frame);
		}
	}
	for (size_t i = 0; trampoline->machine == EM_X86_64 &&
			   i < sizeof(x86_rows) / sizeof(*x86_rows); i++) {
		Dwarf_Frame *frame;
		Dwarf_Op *ops;
		size_t n;

		assert_int_equal(dwarf_cfi_addrframe(cfi, text.sh_addr +
					trampoline->stride * 77 +
					x86_rows[i].at, &frame), 0);
		assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(ops[0].number2, x86_rows[i].offset);
		free(frame);
	}
	dwarf_cfi_end(cfi);
	close_image(&image);
}

static void check_line(Dwarf *dwarf, uint64_t at, const char *filename,
		       int expected)
{
	Dwarf_Die unit;
	Dwarf_Line *row;
	Dwarf_Addr start;
	const char *found;
	int line;

	assert_non_null(dwarf_addrdie(dwarf, at, &unit));
	row = dwarf_getsrc_die(&unit, at);
	assert_non_null(row);
	/* What is in the folder "" libdw shows with a "/" in front. */
	found = dwarf_linesrc(row, NULL, NULL);
	assert_string_equal(found + (*filename != '/' && *found == '/'),
			    filename);
	assert_int_equal(dwarf_lineno(row, &line), 0);
	assert_int_equal(line, expected);
	assert_int_equal(dwarf_lineaddr(row, &start), 0);
	assert_true(start <= at);
}

static void test_lines_are_those_of_the_functions(void **state)
{
	static const char *const filenames[] = { "/a/ö b.py", "<string>",
						 "/a/c.py", "/a/c.py" };
	static const int lines[] = { 1, 100000, 0, 63 };
	char *slots[4];
	struct image image;
	Dwarf *dwarf;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct agent_symbol symbol = { "py::x", 5, filenames[i],
					       lines[i] };

		slots[i] = backend->take();
		assert_int_equal(backend->announce(slots[i], &symbol), 0);
	}
	open_image(image_path(getpid(), 0), &image);
	dwarf = dwarf_begin_elf(image.elf, DWARF_C_READ, NULL);
	assert_non_null(dwarf);
	for (int i = 0; i < 4; i++) {
		uint64_t at = (uintptr_t)slots[i] - image.base;

		check_line(dwarf, at, filenames[i], lines[i]);
		check_line(dwarf, at + agent_trampoline()->code_size - 1,
			   filenames[i], lines[i]);
	}
	dwarf_end(dwarf);
	close_image(&image);
}

/* Many and long names: the next image begins before one is out of room. */
static void test_full_image_is_followed_by_another(void **state)
{
	static char name[AGENT_SYMBOL_SIZE];
	void *slots[3000];
	struct image image;
	int found = 0;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	for (int i = 0; i < 3000; i++) {
		size_t length = i % 3 ? 40 : 1500;

		slots[i] = backend->take();
		assert_non_null(slots[i]);
		snprintf(name, sizeof(name), "py::%d", i);
		name[strlen(name)] = ':';
		name[length] = '\0';
		assert_int_equal(announce_as(backend, slots[i], name, i), 0);
		name[length] = 'n';
		assert_ptr_equal(backend->slot_of(slots[i]), slots[i]);
	}
	for (unsigned int n = 0; access(image_path(getpid(), n), F_OK) == 0;
	     n++) {
		open_image(image_path(getpid(), n), &image);
		for (int i = 0; i < 3000; i += 7) {
			const char *at = name_at(&image, slots[i]);

			if (strcmp(at, "-") == 0)
				continue;
			snprintf(name, sizeof(name), "py::%d:", i);
			assert_memory_equal(at, name, strlen(name));
			assert_int_equal(strlen(at), i % 3 ? 40 : 1500);
			found++;
		}
		close_image(&image);
	}
	assert_int_equal(found, 429);
	assert_int_equal(access(image_path(getpid(), 2), F_OK), 0);
}

static unsigned int last_image(pid_t pid)
{
	unsigned int last = 0;

	for (unsigned int n = 0; n < 64; n++)
		if (access(image_path(pid, n), F_OK) == 0)
			last = n;
	return last;
}

static void test_closed_image_goes_on(void **state)
{
	unsigned int n = last_image(getpid());
	struct image image;
	void *before = take_function(backend, 1), *after;

	(void)state;
	backend->close();
	assert_int_equal(backend->open(), 0);
	after = take_function(backend, 2);
	assert_int_equal(last_image(getpid()), n);
	open_image(image_path(getpid(), n), &image);
	assert_string_equal(name_at(&image, before), function_name(1));
	assert_string_equal(name_at(&image, after), function_name(2));
	close_image(&image);
}

/* Somebody tidied up: what is mapped works on, new names go to a new file. */
static void test_deleted_image_is_replaced(void **state)
{
	unsigned int n = last_image(getpid());
	void *before = take_function(backend, 1), *after;
	struct image image;

	(void)state;
	backend->close();
	assert_int_equal(unlink(image_path(getpid(), n)), 0);
	assert_int_equal(backend->open(), 0);
	after = take_function(backend, 2);
	assert_true(is_trampoline(before) && is_trampoline(after));
	open_image(image_path(getpid(), n + 1), &image);
	assert_string_equal(name_at(&image, after), function_name(2));
	close_image(&image);
}

static void *inherited;
static uint8_t parents_build_id[20];

static void be_child(void)
{
	struct image image;
	void *own;

	backend->forked();
	CHECK(backend->slot_of(inherited) == inherited);
	CHECK(backend->open() == 0);
	CHECK(announce_as(backend, inherited, "py::wrong:x", 1) == 0);
	own = take_function(backend, 3);
	CHECK(is_trampoline(own) && is_trampoline(inherited));
	open_image(image_path(getpid(), 0), &image);
	CHECK(strcmp(name_at(&image, own), function_name(3)) == 0);
	CHECK(memcmp(image.build_id, parents_build_id, 20) != 0);
	close_image(&image);
}

static void test_fork_begins_an_image_of_its_own(void **state)
{
	unsigned int n = last_image(getpid());
	struct image image;
	size_t count;

	(void)state;
	inherited = take_function(backend, 7);
	open_image(image_path(getpid(), n), &image);
	count = count_symbols(&image);
	memcpy(parents_build_id, image.build_id, 20);
	close_image(&image);
	in_child(be_child);
	open_image(image_path(getpid(), n), &image);
	assert_int_equal(count_symbols(&image), count);
	assert_string_equal(name_at(&image, inherited), function_name(7));
	close_image(&image);
}

/* More generations of forks than there are images in a process. */
static void fork_on(void)
{
	for (int i = 0; i < 80; i++) {
		pid_t pid = fork();
		int status;

		CHECK(pid >= 0);
		if (pid) {
			CHECK(waitpid(pid, &status, 0) == pid);
			_exit(status ? 1 : 0);
		}
		backend->forked();
		CHECK(backend->open() == 0);
		CHECK(is_trampoline(take_function(backend, i)));
		backend->close();
	}
}

static void test_many_generations(void **state)
{
	(void)state;
	in_child(fork_on);
}

static void test_kill_loses_nothing(void **state)
{
	void *slots[300];
	struct image image;
	pid_t pid;
	int count = kill_announcing(backend, slots, 300, &pid);
	GElf_Shdr text;

	(void)state;
	assert_int_equal(count, 300);
	open_image(image_path(pid, 0), &image);
	/* It was mapped in the killed process: the first slot tells where. */
	section(&image, ".text", &text);
	image.base = (uintptr_t)slots[0] - text.sh_addr;
	for (int i = 0; i < count; i++)
		assert_string_equal(name_at(&image, slots[i]),
				    function_name(i));
	close_image(&image);
}

static void fill_disk(void)
{
	struct image image;
	void *slot = NULL;
	int i = fill_small_disk(backend, "size=100k", 1024, &slot);

	CHECK(i > 10);
	CHECK(strcmp(agent_backend_subject(), image_path(getpid(), 0)) == 0);
	CHECK(announce_as(backend, slot, "py::late:x", 1) == ENOSPC);
	CHECK(is_trampoline(slot));
	open_image(image_path(getpid(), 0), &image);
	CHECK(count_symbols(&image) == (size_t)i);
	CHECK(strcmp(name_at(&image, slot), "-") == 0);
	CHECK(mount("none", test_dir, "tmpfs", MS_REMOUNT, "size=1m") == 0);
	backend->close();
	CHECK(backend->open() == 0);
	CHECK(announce_as(backend, slot, "py::l:x", 1) == 0);
	close_image(&image);
	open_image(image_path(getpid(), 0), &image);
	CHECK(strcmp(name_at(&image, slot), "py::l:x") == 0);
	close_image(&image);
}

static void test_full_disk_stops_announcing(void **state)
{
	(void)state;
	in_child(fill_disk);
}

/* Not even the code has room: no image, no file left behind. */
static void open_on_full_disk(void)
{
	mount_small("size=20k");
	backend->forked();
	CHECK(backend->open() == ENOSPC);
	CHECK(access(image_path(getpid(), 0), F_OK) == -1);
}

static void test_no_room_is_an_error(void **state)
{
	(void)state;
	in_child(open_on_full_disk);
}

static void open_without_exec(void)
{
	mount_without_exec();
	backend->forked();
	CHECK(backend->open() == EPERM);
	CHECK(fnmatch(image_path(getpid(), 0), agent_backend_subject(), 0) == 0);
	CHECK(access(image_path(getpid(), 0), F_OK) == -1);
}

static void test_folder_without_exec_is_an_error(void **state)
{
	(void)state;
	in_child(open_without_exec);
}

/* An image of either machine, in memory. */
static Elf *make_image(uint16_t machine, struct elf_slots *plan, char **ret)
{
	static const uint8_t build_id[20];

	elf_slots_plan(agent_trampoline_of(machine), 256, plan);
	*ret = calloc(1, plan->size);
	assert_non_null(*ret);
	elf_slots_write(plan, build_id, (uint8_t *)*ret);
	elf_slots_line_header((uint8_t *)*ret + plan->line);
	return open_elf(*ret, plan->size);
}

/* All bytes are where the plan says. */
static void test_plan_holds_on_both_machines(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct elf_slots plan;
		GElf_Ehdr header;
		char *bytes;
		Elf *elf = make_image(machines[i], &plan, &bytes);

		assert_non_null(gelf_getehdr(elf, &header));
		assert_int_equal(header.e_machine, machines[i]);
		assert_memory_equal(bytes + elf_slots_address(&plan, 255),
				    plan.trampoline->code,
				    plan.trampoline->code_size);
		elf_end(elf);
		free(bytes);
	}
}

/*
 * What holds before each instruction of aarch64's trampoline, from what the
 * instructions do; no debugger steps through them here.
 */
static const struct {
	unsigned int at;
	/* The CFA: register and offset. */
	int reg, offset;
	/* Whether x29 and x30 are saved below it. */
	bool saved;
} arm_rows[] = {
	{ 0, 31, 0, false },  /* bti c */
	{ 4, 31, 0, false },  /* stp x29, x30, [sp, #-16]! */
	{ 8, 31, 16, true },  /* mov x29, sp */
	{ 12, 29, 16, true }, /* blr x3 */
	{ 16, 29, 16, true }, /* ldp x29, x30, [sp], #16 */
	{ 20, 31, 0, false }, /* ret */
};

/* libdw's form of "saved at CFA + offset". */
static bool is_saved(Dwarf_Frame *frame, int reg, int offset)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &n), 0);
	if (n == 0)
		return false;
	assert_int_equal(n, 2);
	assert_int_equal(ops[0].atom, DW_OP_call_frame_cfa);
	assert_int_equal(ops[1].atom, DW_OP_plus_uconst);
	assert_int_equal((int)ops[1].number, offset);
	return true;
}

static void test_rules_of_aarch64(void **state)
{
	struct elf_slots plan;
	char *bytes;
	Elf *elf = make_image(EM_AARCH64, &plan, &bytes);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);

	(void)state;
	assert_non_null(cfi);
	for (size_t i = 0; i < sizeof(arm_rows) / sizeof(*arm_rows); i++) {
		Dwarf_Frame *frame;
		Dwarf_Op *ops;
		size_t n;

		assert_int_equal(dwarf_cfi_addrframe(cfi,
				elf_slots_address(&plan, 99) + arm_rows[i].at,
				&frame), 0);
		assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(ops[0].atom, DW_OP_bregx);
		assert_int_equal(ops[0].number, arm_rows[i].reg);
		assert_int_equal(ops[0].number2, arm_rows[i].offset);
		assert_int_equal(is_saved(frame, 29, -16), arm_rows[i].saved);
		assert_int_equal(is_saved(frame, 30, -8), arm_rows[i].saved);
		free(frame);
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_slot_has_its_name),
		cmocka_unit_test(test_mapping_is_the_file),
		cmocka_unit_test(test_cfi_covers_every_slot),
		cmocka_unit_test(test_lines_are_those_of_the_functions),
		cmocka_unit_test(test_full_image_is_followed_by_another),
		cmocka_unit_test(test_closed_image_goes_on),
		cmocka_unit_test(test_deleted_image_is_replaced),
		cmocka_unit_test(test_fork_begins_an_image_of_its_own),
		cmocka_unit_test(test_many_generations),
		cmocka_unit_test(test_kill_loses_nothing),
		cmocka_unit_test(test_full_disk_stops_announcing),
		cmocka_unit_test(test_no_room_is_an_error),
		cmocka_unit_test(test_folder_without_exec_is_an_error),
		cmocka_unit_test(test_plan_holds_on_both_machines),
		cmocka_unit_test(test_rules_of_aarch64),
	};

	return cmocka_run_group_tests(tests, make_test_dir, remove_test_dir);
}

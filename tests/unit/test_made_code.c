// SPDX-License-Identifier: GPL-2.0-only
/* Lists of registered code in this very process, as compilers make them, and as nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "collect/made_code.h"
#include "synthetic_elf.h"

enum { CODE = 0x7000000000, CODE_SIZE = 0x100, IMAGE_MAX = 16384 };

struct entry {
	struct entry *next;
	struct entry *previous;
	const void *image;
	uint64_t size;
};

struct descriptor {
	uint32_t version;
	uint32_t action;
	struct entry *relevant;
	struct entry *first;
};

struct image {
	uint8_t bytes[IMAGE_MAX];
	size_t size;
};

/* What is right of .eh_frame lies in the process: CFA = rsp + 8 in the first half of the code. */
struct rows {
	uint8_t cie[24];
	uint8_t fde_head[8];
	uint64_t start;
	uint64_t size;
	uint8_t fde_tail[4];
} __attribute__((packed));

struct scene {
	struct rows rows;
	struct image image;
	struct entry entries[2];
	struct descriptor descriptor;
	struct made_code code;
	struct remote_memory memory;
};

static void rows_init(struct rows *rows)
{
	*rows = (struct rows){
		.cie = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 4,
			 0x0c, 7, 8, 0x90, 1 },
		.fde_head = { 24, 0, 0, 0, 28, 0, 0, 0 },
		.start = CODE,
		.size = CODE_SIZE / 2,
	};
}

/* `function` begins in the middle of the code. */
static void make_image(struct image *image, const char *function, const void *rows,
		       uint16_t type)
{
	static const uint8_t nothing[CODE_SIZE];
	char strings[2048] = "";
	GElf_Sym symbols[2] = { [1] = {
		.st_name = 1, .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
		.st_value = type == ET_REL ? 0x80 : CODE + 0x80, .st_size = 0x80,
	} };
	struct synthetic_elf in = {
		.elf_class = ELFCLASS64, .encoding = ELFDATA2LSB, .machine = EM_X86_64, .count = 4,
		.sections = {
			{ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
			  .addr = CODE, .data = nothing, .size = CODE_SIZE },
			{ .name = ".eh_frame", .type = SHT_PROGBITS, .flags = SHF_ALLOC,
			  .addr = (uintptr_t)rows, .data = type == ET_REL ? nothing : rows,
			  .size = sizeof(struct rows) },
			{ .name = ".symtab", .type = SHT_SYMTAB, .data = symbols,
			  .size = sizeof(symbols), .link = 4, .entsize = sizeof(symbols[0]),
			  .data_type = ELF_T_SYM },
			{ .name = ".strtab", .type = SHT_STRTAB, .data = strings, .size = sizeof(strings) },
		},
	};
	ssize_t size;
	int fd;

	strcpy(strings + 1, function);
	fd = synthetic_elf_write(&in);
	size = pread(fd, image->bytes, sizeof(image->bytes), 0);
	close(fd);
	assert_true(size > 0 && size < (ssize_t)IMAGE_MAX);
	image->size = (size_t)size;
	memcpy(image->bytes + offsetof(Elf64_Ehdr, e_type), &type, sizeof(type));
}

static void scene_init(struct scene *scene, uint16_t type)
{
	*scene = (struct scene){ .memory = remote_memory_init(getpid()) };
	rows_init(&scene->rows);
	make_image(&scene->image, "first", &scene->rows, type);
	scene->entries[0] = (struct entry){ NULL, NULL, scene->image.bytes, scene->image.size };
	scene->descriptor = (struct descriptor){ 1, 1, scene->entries, scene->entries };
	assert_ok(made_code_add(&scene->code, (uintptr_t)&scene->descriptor));
}

static void scene_deinit(struct scene *scene)
{
	made_code_deinit(&scene->code);
	remote_memory_deinit(&scene->memory);
}

static bool refresh(struct scene *scene)
{
	bool changed;

	assert_ok(made_code_refresh(&scene->code, &scene->memory, &changed));
	return changed;
}

static void check_object(uint16_t type)
{
	const struct made_object *object;
	struct scene scene;

	scene_init(&scene, type);
	assert_null(made_code_at(&scene.code, CODE));
	assert_true(refresh(&scene));
	object = made_code_at(&scene.code, CODE);
	assert_non_null(object);
	assert_null(made_object_symbol(object, CODE + 0x7f));
	assert_string_equal(made_object_symbol(object, CODE + 0x80)->name, "first");
	assert_int_equal(made_object_symbol(object, CODE + 0xff)->range.start, CODE + 0x80);
	assert_ptr_equal(made_code_at(&scene.code, CODE + 0xff), object);
	assert_null(made_code_at(&scene.code, CODE + 0x100));
	assert_null(made_code_at(&scene.code, CODE - 1));
	assert_non_null(object->cfi);
	assert_int_equal(cfi_find(object->cfi, CODE)->cfa.value, 8);
	assert_null(cfi_find(object->cfi, CODE + 0x80));
	assert_false(refresh(&scene));
	scene_deinit(&scene);
}

static void test_objects(void **state)
{
	(void)state;
	check_object(ET_REL);
	check_object(ET_DYN);
}

/* The list changes: what is gone is not found; what is at its place is another. */
static void test_changes(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, ET_REL);
	assert_true(refresh(&scene));
	scene.descriptor.first = NULL;
	assert_true(refresh(&scene));
	assert_null(made_code_at(&scene.code, CODE));
	make_image(&scene.image, "other", &scene.rows, ET_REL);
	scene.descriptor.first = scene.entries;
	assert_true(refresh(&scene));
	assert_string_equal(made_object_symbol(made_code_at(&scene.code, CODE), CODE + 0x80)->name, "other");
	assert_int_equal(scene.code.objects.count, 1);
	/* The first again. */
	make_image(&scene.image, "first", &scene.rows, ET_REL);
	assert_true(refresh(&scene));
	assert_string_equal(made_object_symbol(made_code_at(&scene.code, CODE), CODE + 0x80)->name, "first");
	assert_int_equal(scene.code.objects.count, 1);
	scene_deinit(&scene);
}

/* Who makes and removes code all day has room for more, and what is there is found. */
static void test_code_comes_and_goes(void **state)
{
	enum { TIMES = 300 };
	const struct made_object *object;
	struct scene scene;
	uint64_t bytes = 0;
	char name[32];

	(void)state;
	scene_init(&scene, ET_REL);
	for (int i = 0; i < TIMES; i++) {
		snprintf(name, sizeof(name), "made_%03d", i);
		make_image(&scene.image, name, &scene.rows, ET_REL);
		assert_true(refresh(&scene));
		object = made_code_at(&scene.code, CODE);
		assert_string_equal(made_object_symbol(object, CODE + 0x80)->name, name);
		bytes = i ? bytes : scene.code.bytes;
		assert_int_equal(scene.code.bytes, bytes);
		assert_int_equal(scene.code.objects.count, 1);
		assert_int_equal(scene.code.by_identity.count, 1);
	}
	assert_int_equal(scene.code.left_out, 0);
	scene.descriptor.first = NULL;
	assert_true(refresh(&scene));
	assert_int_equal(scene.code.bytes, 0);
	scene_deinit(&scene);
}

/* What is too large, or behind what one look reads, is counted, and not again in the next look. */
static void test_code_that_is_left_out(void **state)
{
	enum { LARGE = 15 << 20 };
	static struct entry more[8];
	uint8_t *large = calloc(1, LARGE);
	struct scene scene;

	(void)state;
	assert_non_null(large);
	scene_init(&scene, ET_REL);
	scene.entries[0].next = more;
	for (size_t i = 0; i < 8; i++)
		more[i] = (struct entry){ i < 7 ? &more[i + 1] : NULL, NULL, large, LARGE };
	more[7].size = 17 << 20;
	for (uint32_t action = 0; action < 3; action++) {
		scene.descriptor.action = action;
		assert_true(refresh(&scene));
		/* 64 MiB have room for four. */
		assert_int_equal(scene.code.left_out, 4);
	}
	assert_non_null(made_code_at(&scene.code, CODE));
	scene.entries[0].next = NULL;
	assert_true(refresh(&scene));
	assert_int_equal(scene.code.left_out, 0);
	scene_deinit(&scene);
	free(large);
}

/* Registered before its rows are relocated: they are read again, but not for ever. */
static void test_relocated_late(void **state)
{
	struct scene scene;
	size_t looks = 0;

	(void)state;
	scene_init(&scene, ET_REL);
	scene.rows.start = 0x1000;
	assert_true(refresh(&scene));
	scene.rows.start = CODE;
	assert_true(refresh(&scene));
	assert_non_null(cfi_find(made_code_at(&scene.code, CODE)->cfi, CODE));
	assert_false(refresh(&scene));
	scene_deinit(&scene);
	scene_init(&scene, ET_REL);
	scene.rows.start = 0x1000;
	while (looks < 100 && refresh(&scene))
		looks++;
	assert_in_range(looks, 2, 99);
	scene_deinit(&scene);
}

/* A name is cut; code that is compressed is not looked into. */
static void test_bounds(void **state)
{
	const struct made_object *object;
	char name[2000];
	Elf64_Shdr *text;
	struct scene scene;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	scene_init(&scene, ET_REL);
	make_image(&scene.image, name, &scene.rows, ET_REL);
	scene.entries[0].size = scene.image.size;
	assert_true(refresh(&scene));
	object = made_code_at(&scene.code, CODE);
	assert_int_equal(strlen(made_object_symbol(object, CODE + 0x80)->name), 1024);
	/* What is kept is counted. */
	assert_true(scene.code.bytes > scene.image.size + sizeof(struct made_object) + 1024);
	text = (Elf64_Shdr *)(scene.image.bytes + ((Elf64_Ehdr *)scene.image.bytes)->e_shoff) + 1;
	text->sh_flags |= SHF_COMPRESSED;
	assert_true(refresh(&scene));
	assert_null(made_code_at(&scene.code, CODE));
	scene_deinit(&scene);
}

static void test_broken_lists(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, ET_REL);
	/* A circle ends. */
	scene.entries[0].next = scene.entries;
	assert_true(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	assert_int_equal(scene.code.objects.count, 1);
	/* What cannot be read is looked at again. */
	scene.entries[0].next = (struct entry *)8;
	scene.descriptor.relevant = NULL;
	assert_true(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	assert_true(refresh(&scene));
	scene.entries[0].next = NULL;
	assert_true(refresh(&scene));
	assert_false(refresh(&scene));
	/* One list that cannot be read does not hide the other's changes. */
	assert_ok(made_code_add(&scene.code, 8));
	assert_true(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	assert_false(refresh(&scene));
	scene.descriptor.action = 2;
	assert_true(refresh(&scene));
	/* Nor is anything forgotten when none can be read. */
	scene.code.descriptors.data[0] = 8;
	assert_false(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	scene.code.descriptors.data[0] = (uintptr_t)&scene.descriptor;
	scene.code.descriptors.count--;
	/* Another version's list is not read. */
	scene.descriptor.version = 2;
	assert_true(refresh(&scene));
	assert_null(made_code_at(&scene.code, CODE));
	scene_deinit(&scene);
}

/* What a list that was cut does not show may be there still. */
static void test_cut_list(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, ET_REL);
	assert_true(refresh(&scene));
	scene.entries[1].next = &scene.entries[1];
	scene.descriptor.first = &scene.entries[1];
	assert_true(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	assert_false(refresh(&scene));
	scene.entries[1].next = NULL;
	assert_true(refresh(&scene));
	assert_null(made_code_at(&scene.code, CODE));
	scene_deinit(&scene);
}

static void test_broken_images(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, ET_REL);
	memset(scene.image.bytes, 'x', 64);
	scene.entries[0].next = &scene.entries[1];
	scene.entries[1] = (struct entry){ .image = scene.image.bytes, .size = UINT64_MAX };
	assert_true(refresh(&scene));
	assert_null(made_code_at(&scene.code, CODE));
	/* Every length of a good one. */
	make_image(&scene.image, "first", &scene.rows, ET_REL);
	for (size_t size = 0; size < scene.image.size; size += 61) {
		scene.entries[0].size = size;
		scene.descriptor.action = (uint32_t)size;
		refresh(&scene);
	}
	/* Rows that lie nowhere. */
	make_image(&scene.image, "first", (const void *)8, ET_REL);
	scene.entries[0].size = scene.image.size;
	scene.descriptor.action = 1;
	assert_true(refresh(&scene));
	assert_non_null(made_code_at(&scene.code, CODE));
	assert_null(made_code_at(&scene.code, CODE)->cfi);
	scene_deinit(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_code_comes_and_goes),
		cmocka_unit_test(test_code_that_is_left_out),
		cmocka_unit_test(test_relocated_late),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_broken_lists),
		cmocka_unit_test(test_cut_list),
		cmocka_unit_test(test_broken_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

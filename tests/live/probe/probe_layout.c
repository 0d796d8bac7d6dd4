// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "obj/elf_file.h"
#include "probe.h"
#include "python/layout.h"
#include "unwind/cfi.h"

/* The fields of struct py_layout, each of u32. */
#define FIELDS(F)                                                           \
	F(version) F(flags) F(runtime_interpreters) F(runtime_current)      \
	F(runtime_lock) F(runtime_lock_end) F(unicode_width)                \
	F(interp_next) F(interp_threads) F(interp_modules) F(thread_next)   \
	F(thread_id) F(thread_native_id) F(thread_frame) F(thread_cframe)   \
	F(thread_root_cframe) F(thread_base_frame) F(cframe_frame)          \
	F(cframe_previous) F(frame_previous) F(frame_code)                  \
	F(frame_instruction) F(frame_owner) F(frame_is_entry) F(frame_size) \
	F(thread_stack_chunk) F(thread_stack_top) F(thread_exc_info)        \
	F(thread_exc_state) F(generator_exc_state) F(generator_frame)       \
	F(frame_stack_top) F(code_locals) F(code_stack_size)                \
	F(code_tag_mask) F(lasti_unit) F(shim_owner) F(generator_owner)     \
	F(object_type) F(type_name) F(code_filename) F(code_name)           \
	F(code_qualname) F(code_lines) F(code_first_line) F(code_flags)     \
	F(code_adaptive) F(code_bytes) F(code_units) F(code_version)        \
	F(code_id_start) F(code_id_end) F(code_id_hole_start)               \
	F(code_id_hole_end) F(lines_format) F(text_length) F(text_state)    \
	F(text_ascii_data) F(text_compact_data) F(text_data_pointer)        \
	F(text_kind_shift) F(text_compact_mask) F(text_ascii_mask)          \
	F(bytes_size) F(bytes_data) F(frame_copy) F(code_copies)

static void print_field(const char *name, uint32_t value)
{
	if (value == PY_ABSENT)
		printf("%s absent\n", name);
	else
		printf("%s %" PRIu32 "\n", name, value);
}

static void print_layout(const struct py_layout *layout)
{
#define F(field) +1
	_Static_assert(sizeof(*layout) == (0 FIELDS(F)) * sizeof(uint32_t), "every field is listed");
#undef F
#define F(field) print_field(#field, layout->field);
	FIELDS(F)
#undef F
}

struct error *probe_layout(const char *version)
{
	struct py_layout layout;
	struct error *error = py_layout_find(
		(uint32_t)strtoul(version, NULL, 16), &layout);

	if (!error)
		print_layout(&layout);
	return error;
}

struct error *probe_debug_offsets(const char *unused)
{
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX];
	size_t size = fread(bytes, 1, sizeof(bytes), stdin);
	struct py_layout layout;
	struct error *error = py_layout_from_debug_offsets(
		(struct bytes){ bytes, size }, 0, &layout);

	(void)unused;
	if (!error)
		print_layout(&layout);
	return error;
}

static bool find_piece(void *arg, uint64_t vaddr, struct py_range *ret)
{
	struct cfi_range range;

	if (!cfi_find_range(arg, vaddr, &range))
		return false;
	*ret = (struct py_range){ range.start, range.end };
	return true;
}

struct error *probe_detect_file(struct elf_file *file, struct py_binary *ret)
{
	struct cfi_sections sections = { .path = file->path };
	const struct elf_section *section;
	_cleanup_cfi_table_ struct cfi_table *table = NULL;
	struct py_code_pieces pieces = { find_piece, NULL };
	struct error *error = elf_file_section_by_name(
		file, ".eh_frame", &section, &sections.eh_frame);

	if (error)
		return error;
	sections.eh_frame_vaddr = section->addr;
	error = elf_file_section_by_name(file, ".eh_frame_hdr", &section,
					 &sections.eh_frame_hdr);
	if (error)
		return error;
	sections.eh_frame_hdr_vaddr = section->addr;
	error = cfi_table_create(&sections, &table);
	if (error)
		return error;
	pieces.arg = table;
	return py_detect(file, &pieces, ret);
}

struct error *probe_detect(const char *path)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct py_binary binary;
	struct error *error = elf_file_open(path, &file);

	if (!error)
		error = probe_detect_file(file, &binary);
	if (error)
		return error;
	printf("version %" PRIx32 "\nruntime %" PRIx64 "\ncode_type %" PRIx64
	       "\ntail_calls %d\nhas_layout %d\n",
	       binary.version, binary.runtime, binary.code_type,
	       binary.tail_calls, binary.has_layout);
	printf("interpreters %" PRIx64 "\n",
	       binary.runtime + binary.layout.runtime_interpreters);
	if (binary.layout.runtime_current != PY_ABSENT)
		printf("current %" PRIx64 "\n",
		       binary.runtime + binary.layout.runtime_current);
	for (size_t i = 0; i < binary.eval_count; i++)
		printf("eval %" PRIx64 " %" PRIx64 "\n", binary.eval[i].start,
		       binary.eval[i].end);
	return NULL;
}

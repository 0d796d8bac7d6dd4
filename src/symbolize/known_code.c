// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/known_code.h"

#include <elf.h>
#include <string.h>

static const uint8_t musl_clone[] = {
	/* xor %eax, %eax; mov $56, %al */
	0x31, 0xc0, 0xb0, 0x38,
	/* mov %rdi, %r11; mov %rdx, %rdi; mov %r8, %rdx; mov %r9, %r8 */
	0x49, 0x89, 0xfb, 0x48, 0x89, 0xd7, 0x4c, 0x89, 0xc2, 0x4d, 0x89, 0xc8,
	/* mov 8(%rsp), %r10; mov %r11, %r9 */
	0x4c, 0x8b, 0x54, 0x24, 0x08, 0x4d, 0x89, 0xd9,
	/* and $-16, %rsi; sub $8, %rsi; mov %rcx, (%rsi) */
	0x48, 0x83, 0xe6, 0xf0, 0x48, 0x83, 0xee, 0x08, 0x48, 0x89, 0x0e,
	/* syscall; test %eax, %eax; jne 1f */
	0x0f, 0x05, 0x85, 0xc0, 0x75, 0x0f,
	/* xor %ebp, %ebp; pop %rdi; call *%r9 */
	0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1,
	/* mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall; hlt */
	0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4,
	/* 1: ret */
	0xc3,
};

/*
 * Copies what lies around vaddr, less than that far from it, of one segment, to buf;
 * false: it cannot be read.
 */
static bool read_around(struct elf_file *elf, uint64_t vaddr, uint64_t near,
			uint8_t *buf, uint64_t *start, size_t *size)
{
	const struct elf_segment *segment = elf_file_load_at(elf, vaddr);
	struct error *error;
	uint64_t before, behind;

	if (!segment)
		return false;
	before = vaddr - segment->vaddr;
	behind = segment->memsz - before;
	before = before < near ? before : near - 1;
	behind = behind < near ? behind : near;
	*start = vaddr - before;
	*size = before + behind;
	error = elf_file_read_image(elf, *start, buf, *size);
	error_destroy(error);
	return !error;
}

const char *known_code_find(struct elf_file *elf, uint64_t vaddr,
			    struct cfi_range *ret)
{
	uint8_t code[2 * sizeof(musl_clone)];
	const uint8_t *found;
	uint64_t start;
	size_t size;

	if (elf->machine != EM_X86_64 ||
	    !read_around(elf, vaddr, sizeof(musl_clone), code, &start, &size))
		return NULL;
	found = memmem(code, size, musl_clone, sizeof(musl_clone));
	if (!found)
		return NULL;
	start += (uint64_t)(found - code);
	*ret = (struct cfi_range){ start, start + sizeof(musl_clone) };
	return "__clone";
}

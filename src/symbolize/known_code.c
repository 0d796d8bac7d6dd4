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

static bool has_bytes(struct elf_file *elf, uint64_t vaddr,
		      const uint8_t *bytes, size_t size)
{
	uint8_t code[sizeof(musl_clone)];
	struct error *error = elf_file_read_image(elf, vaddr, code, size);
	bool equal = !error && !memcmp(code, bytes, size);

	error_destroy(error);
	return equal;
}

const char *known_code_find(struct elf_file *elf, uint64_t vaddr,
			    struct cfi_range *ret)
{
	const uint64_t size = sizeof(musl_clone);
	uint64_t first = vaddr < size ? 0 : vaddr - size + 1;

	if (elf->machine != EM_X86_64)
		return NULL;
	for (uint64_t start = first; start <= vaddr; start++) {
		if (!has_bytes(elf, start, musl_clone, size))
			continue;
		*ret = (struct cfi_range){ start, start + size };
		return "__clone";
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A compiler of code at run time, as LLVM's is one: made_load() copies an object
 * file's code and rows into memory of no file, and made_register() says so by the GDB
 * JIT interface (GDB manual, "JIT Compilation Interface").
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct jit_code_entry {
	struct jit_code_entry *next, *previous;
	const char *image;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
};

/* Not exported, as in llvmlite. */
__attribute__((visibility("hidden"))) struct jit_descriptor __jit_debug_descriptor = { .version = 1 };

static char *image;
static long image_size;
static struct jit_code_entry entry;

static Elf64_Shdr *section(unsigned int i)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;

	return (Elf64_Shdr *)(image + header->e_shoff) + i;
}

static unsigned int section_count(void)
{
	return ((Elf64_Ehdr *)image)->e_shnum;
}

static void read_image(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) || (image_size = ftell(file)) <= 0)
		abort();
	image = malloc((size_t)image_size);
	rewind(file);
	if (!image || fread(image, 1, (size_t)image_size, file) != (size_t)image_size)
		abort();
	fclose(file);
}

/* Code gets pages of its own, all else the pages behind. */
static void place(char *memory, size_t half)
{
	size_t code = 0, data = half;

	for (unsigned int i = 1; i < section_count(); i++) {
		Elf64_Shdr *s = section(i);
		size_t *at = s->sh_flags & SHF_EXECINSTR ? &code : &data;

		if (!(s->sh_flags & SHF_ALLOC))
			continue;
		*at = (*at + 15) & ~(size_t)15;
		s->sh_addr = (uint64_t)(memory + *at);
		if (s->sh_type != SHT_NOBITS)
			memcpy(memory + *at, image + s->sh_offset, s->sh_size);
		*at += s->sh_size;
		if (*at > (at == &code ? half : 2 * half))
			abort();
	}
}

static void relocate(const Elf64_Shdr *s)
{
	const Elf64_Rela *rela = (const Elf64_Rela *)(image + s->sh_offset);
	const Elf64_Sym *symbols = (const Elf64_Sym *)(image + section(s->sh_link)->sh_offset);

	for (size_t i = 0; i < s->sh_size / sizeof(*rela); i++) {
		const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(rela[i].r_info)];
		char *at = (char *)section(s->sh_info)->sh_addr + rela[i].r_offset;
		uint64_t value = section(symbol->st_shndx)->sh_addr + symbol->st_value;
		uint32_t type = ELF64_R_TYPE(rela[i].r_info);
		uint32_t word;

		value += (uint64_t)rela[i].r_addend;
		word = (uint32_t)(value - (uint64_t)at);
		if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
			abort();
		memcpy(at, &word, sizeof(word));
	}
}

void made_load(const char *path)
{
	const size_t half = 4096;
	char *memory;

	read_image(path);
	memory = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	place(memory, half);
	for (unsigned int i = 1; i < section_count(); i++)
		if (section(i)->sh_type == SHT_RELA && section(section(i)->sh_info)->sh_addr)
			relocate(section(i));
	if (mprotect(memory, half, PROT_READ | PROT_EXEC) ||
	    mprotect(memory + half, half, PROT_READ))
		abort();
}

void made_register(void)
{
	entry = (struct jit_code_entry){ .image = image, .size = (uint64_t)image_size };
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = &entry;
	__jit_debug_descriptor.action = 1;
}

void *made_function(const char *name)
{
	for (unsigned int i = 1; i < section_count(); i++) {
		const Elf64_Shdr *s = section(i);
		const Elf64_Sym *symbol = (const Elf64_Sym *)(image + s->sh_offset) + 1;
		const char *strings;

		if (s->sh_type != SHT_SYMTAB)
			continue;
		strings = image + section(s->sh_link)->sh_offset;
		for (size_t n = 1; n < s->sh_size / sizeof(*symbol); n++, symbol++)
			if (!strcmp(strings + symbol->st_name, name))
				return (char *)section(symbol->st_shndx)->sh_addr +
				       symbol->st_value;
	}
	abort();
}

/* Both keep a frame pointer; the second is called by pointer. */
__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
long made_call(void (*function)(long), long n)
{
	function(n);
	return n + 1;
}

__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
long made_call_twice(long (*volatile call)(void (*)(long), long), void (*function)(long), long n)
{
	return call(function, n) + 1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests: the executable mappings of a live process as unwind/ wants them,
 * with CFI read by libelf.
 */
#ifndef KAA_TESTS_UNWIND_PROCESS_H
#define KAA_TESTS_UNWIND_PROCESS_H

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "unwind/cfi.h"
#include "unwind/unwind.h"

/* One ELF file with its CFI. */
struct test_module {
	char path[512];
	Elf *elf;
	int fd;
	/* Bytes of the vdso, which no file holds. */
	void *image;
	uint64_t entry;
	struct cfi_table *cfi;
	struct test_module *next;
};

struct test_map {
	uint64_t start, end, bias;
	struct test_module *module;
};

struct test_process {
	pid_t pid;
	struct test_map maps[256];
	size_t n_maps;
	struct test_module *modules;
	uint64_t space;
	/* Answer reads of data too, not of code alone. */
	bool read_all;
};

static inline void test_section(Elf *elf, const char *want, struct bytes *bytes,
				uint64_t *vaddr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || strcmp(name, want) || shdr.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data)
			continue;
		*bytes = (struct bytes){ data->d_buf, data->d_size };
		*vaddr = shdr.sh_addr;
		return;
	}
}

static inline void test_sections(Elf *elf, const char *path,
				 struct cfi_sections *ret)
{
	struct bytes ignored = {};
	uint64_t unused;

	*ret = (struct cfi_sections){ .path = path };
	test_section(elf, ".eh_frame", &ret->eh_frame, &ret->eh_frame_vaddr);
	test_section(elf, ".eh_frame_hdr", &ret->eh_frame_hdr,
		     &ret->eh_frame_hdr_vaddr);
	test_section(elf, ".debug_frame", &ret->debug_frame, &unused);
	test_section(elf, ".text", &ignored, &ret->text_vaddr);
	test_section(elf, ".got", &ignored, &ret->got_vaddr);
}

static inline bool test_module_open(struct test_module *module,
				    const char *path)
{
	struct cfi_sections sections;
	GElf_Ehdr ehdr;

	elf_version(EV_CURRENT);
	snprintf(module->path, sizeof(module->path), "%s", path);
	module->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (module->fd < 0)
		return false;
	module->elf = elf_begin(module->fd, ELF_C_READ, NULL);
	if (!module->elf || !gelf_getehdr(module->elf, &ehdr))
		return false;
	module->entry = ehdr.e_entry;
	test_sections(module->elf, path, &sections);
	return !cfi_table_create(&sections, &module->cfi);
}

static inline bool test_module_open_image(struct test_module *module,
					  void *image, size_t size)
{
	struct cfi_sections sections;

	elf_version(EV_CURRENT);
	module->fd = -1;
	module->image = image;
	module->elf = elf_memory(image, size);
	if (!module->elf)
		return false;
	test_sections(module->elf, module->path, &sections);
	return !cfi_table_create(&sections, &module->cfi);
}

static inline void test_module_close(struct test_module *module)
{
	cfi_table_destroy(module->cfi);
	elf_end(module->elf);
	if (module->fd >= 0)
		close(module->fd);
	free(module->image);
}

static inline bool test_process_read(void *arg, uint64_t address, void *buf,
				     size_t size)
{
	struct test_process *process = arg;
	struct iovec local = { buf, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(process->pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

static inline bool test_process_find_map(void *arg, uint64_t address,
					 struct unwind_map *ret)
{
	struct test_process *process = arg;

	for (size_t i = 0; i < process->n_maps; i++) {
		const struct test_map *map = &process->maps[i];

		if (address < map->start || address >= map->end)
			continue;
		*ret = (struct unwind_map){ .start = map->start,
					    .end = map->end,
					    .bias = map->bias };
		if (map->module) {
			ret->cfi = map->module->cfi;
			ret->entry = map->module->entry;
		}
		return true;
	}
	return false;
}

static inline bool test_process_read_code(void *arg, uint64_t address,
					  void *buf, size_t size)
{
	struct test_process *process = arg;
	struct unwind_map map;

	return (process->read_all ||
		test_process_find_map(arg, address, &map)) &&
	       test_process_read(process, address, buf, size);
}

static inline struct test_module *
test_process_module(struct test_process *process, const char *path,
		    uint64_t start, uint64_t end)
{
	struct test_module *module;
	bool ok;

	for (module = process->modules; module; module = module->next) {
		if (!strcmp(module->path, path))
			return module;
	}
	module = calloc(1, sizeof(*module));
	module->fd = -1;
	if (!strcmp(path, "[vdso]")) {
		void *image = malloc(end - start);

		snprintf(module->path, sizeof(module->path), "%s", path);
		ok = test_process_read(process, start, image, end - start) &&
		     test_module_open_image(module, image, end - start);
	} else {
		ok = test_module_open(module, path);
	}
	if (!ok) {
		test_module_close(module);
		free(module);
		return NULL;
	}
	module->next = process->modules;
	process->modules = module;
	return module;
}

/* start - vaddr of the segment that holds the file offset. */
static inline uint64_t test_module_bias(const struct test_module *module,
					uint64_t start, uint64_t offset)
{
	size_t count = 0;
	GElf_Phdr phdr;

	if (!module || elf_getphdrnum(module->elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(module->elf, (int)i, &phdr) ||
		    phdr.p_type != PT_LOAD)
			continue;
		if (offset >= (phdr.p_offset & ~0xfffull) &&
		    offset < phdr.p_offset + phdr.p_filesz)
			return start - (phdr.p_vaddr - phdr.p_offset + offset);
	}
	return start - offset;
}

/* Reads /proc/PID/maps anew. */
static inline void test_process_refresh(struct test_process *process)
{
	char name[64], line[1024], perms[8], path[512];
	uint64_t start, end, offset;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)process->pid);
	file = fopen(name, "r");
	if (!file)
		return;
	process->n_maps = 0;
	process->space++;
	while (fgets(line, sizeof(line), file)) {
		struct test_map *map = &process->maps[process->n_maps];

		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
				 " %*s %*s %511s",
			   &start, &end, perms, &offset, path) < 4 ||
		    perms[2] != 'x' || process->n_maps == 256)
			continue;
		*map = (struct test_map){ .start = start, .end = end };
		if (path[0] == '/' || !strcmp(path, "[vdso]"))
			map->module = test_process_module(process, path, start,
							  end);
		map->bias = test_module_bias(map->module, start, offset);
		process->n_maps++;
	}
	fclose(file);
}

static inline void test_process_deinit(struct test_process *process)
{
	while (process->modules) {
		struct test_module *module = process->modules;

		process->modules = module->next;
		test_module_close(module);
		free(module);
	}
}

#endif

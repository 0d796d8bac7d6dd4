// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"

/* Headers beyond these numbers are refused. */
#define SEGMENT_COUNT_MAX 65536
#define SECTION_COUNT_MAX (1u << 20)
#define NOTE_SIZE_MAX (1u << 20)

struct elf_file_bytes {
	Elf *elf;
	/* -1: closed, or the file is in memory. */
	int fd;
	/* NULL: read from fd. */
	const uint8_t *memory;
	/* Of sections: as they are in the file, and what more they became. */
	uint64_t read;
	uint64_t decompressed;
};

static struct error *format_error(const struct elf_file *file,
				  const char *what)
{
	struct error *error = error_create(ERROR_FORMAT, "%s: %s", what,
					   elf_errmsg(-1));

	if (error->code == ERROR_FORMAT)
		error->path = strdup(file->path);
	return error;
}

static struct error *read_fd(struct elf_file *file, uint64_t offset, void *buf,
			     size_t size)
{
	size_t got;
	int errnum;

	if (file->bytes->fd < 0)
		return error_at(ERROR_FAULT, file->path, offset,
				"the file was closed");
	errnum = fd_read_at(file->bytes->fd, buf, size, offset, &got);
	if (errnum)
		return error_os(errnum, file->path, "cannot read");
	return got == size ? NULL
			   : error_at(ERROR_TRUNCATED, file->path, offset + got,
				      "the file ends too soon");
}

struct error *elf_file_read_at(struct elf_file *file, uint64_t offset,
			       void *buf, size_t size)
{
	if (offset > file->size || size > file->size - offset)
		return error_at(ERROR_TRUNCATED, file->path, offset,
				"the file ends before the end of these %zu bytes", size);
	if (!file->bytes->memory)
		return read_fd(file, offset, buf, size);
	if (size)
		memcpy(buf, file->bytes->memory + offset, size);
	return NULL;
}

static struct error *load_header(struct elf_file *file)
{
	GElf_Ehdr header;

	if (elf_kind(file->bytes->elf) != ELF_K_ELF)
		return error_at(ERROR_FORMAT, file->path, 0, "not an ELF file");
	if (!gelf_getehdr(file->bytes->elf, &header))
		return format_error(file, "broken ELF header");
	file->type = header.e_type;
	file->machine = header.e_machine;
	file->entry = header.e_entry;
	file->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
	file->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
	return NULL;
}

static struct error *load_segments(struct elf_file *file)
{
	GElf_Phdr phdr;
	size_t count;

	if (elf_getphdrnum(file->bytes->elf, &count) ||
	    count > SEGMENT_COUNT_MAX)
		return format_error(file, "broken program headers");
	file->segments = calloc(count + 1, sizeof(*file->segments));
	if (!file->segments)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->bytes->elf, (int)i, &phdr))
			return format_error(file, "broken program header");
		file->segments[i] = (struct elf_segment){
			.type = phdr.p_type,
			.flags = phdr.p_flags,
			.offset = phdr.p_offset,
			.vaddr = phdr.p_vaddr,
			.filesz = phdr.p_filesz,
			.memsz = phdr.p_memsz,
		};
	}
	file->segment_count = count;
	return NULL;
}

/* Not elf_strptr(): in a table without NULs it searches all of it for each name. */
static struct bytes section_names(struct elf_file *file, size_t index)
{
	Elf_Scn *scn = elf_getscn(file->bytes->elf, index);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		return (struct bytes){};
	return (struct bytes){ .data = data->d_buf, .size = data->d_size };
}

static void load_section(struct elf_file *file, struct bytes names,
			 size_t index)
{
	struct elf_section *section = &file->sections[index];
	Elf_Scn *scn = elf_getscn(file->bytes->elf, index);
	GElf_Shdr shdr;
	const char *name;

	section->index = (uint32_t)index;
	section->name = "";
	if (!scn || !gelf_getshdr(scn, &shdr))
		return;
	name = bytes_cstr(names, shdr.sh_name, ELF_FILE_SECTION_NAME_MAX);
	if (name)
		section->name = name;
	section->type = shdr.sh_type;
	section->flags = shdr.sh_flags;
	section->addr = shdr.sh_addr;
	section->offset = shdr.sh_offset;
	section->size = shdr.sh_size;
	section->entsize = shdr.sh_entsize;
	section->link = shdr.sh_link;
	section->info = shdr.sh_info;
}

/* A file without usable section headers still has segments. */
static struct error *load_sections(struct elf_file *file)
{
	struct bytes names;
	size_t count, names_index;

	if (elf_getshdrnum(file->bytes->elf, &count) ||
	    elf_getshdrstrndx(file->bytes->elf, &names_index) ||
	    count > SECTION_COUNT_MAX)
		count = 0;
	file->sections = calloc(count + 1, sizeof(*file->sections));
	if (!file->sections)
		return error_no_memory();
	names = section_names(file, names_index);
	for (size_t i = 0; i < count; i++)
		load_section(file, names, i);
	file->section_count = count;
	return NULL;
}

static bool build_id_at(struct elf_file *file, uint64_t offset, uint64_t size)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct error *error;

	if (size > NOTE_SIZE_MAX)
		return false;
	data = malloc(size + 1);
	if (!data)
		return false;
	error = elf_file_read_at(file, offset, data, size);
	if (error) {
		error_destroy(error);
		return false;
	}
	return build_id_from_notes(data, size, file->big_endian,
				   &file->build_id);
}

static void load_build_id(struct elf_file *file)
{
	unsigned int sections = 0, segments = 0;

	/* Debug files keep the segments' numbers but not their bytes. */
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type == SHT_NOTE &&
		    sections++ < ELF_FILE_NOTES_MAX &&
		    build_id_at(file, file->sections[i].offset,
				file->sections[i].size))
			return;
	}
	for (size_t i = 0; i < file->segment_count; i++) {
		if (file->segments[i].type == PT_NOTE &&
		    segments++ < ELF_FILE_NOTES_MAX &&
		    build_id_at(file, file->segments[i].offset,
				file->segments[i].filesz))
			return;
	}
}

static struct error *load(struct elf_file *file)
{
	struct error *error;

	elf_version(EV_CURRENT);
	if (file->bytes->memory)
		file->bytes->elf = elf_memory((char *)file->bytes->memory,
					      file->size);
	else
		file->bytes->elf = elf_begin(file->bytes->fd, ELF_C_READ, NULL);
	if (!file->bytes->elf)
		return format_error(file, "not an ELF file");
	error = load_header(file);
	if (!error)
		error = load_segments(file);
	if (!error)
		error = load_sections(file);
	if (!error)
		load_build_id(file);
	return error;
}

/* Takes fd over. */
static struct error *create(int fd, const void *memory, uint64_t size,
			    const char *path, struct elf_file **ret)
{
	_cleanup_close_ int own_fd = fd;
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct error *error;

	if (size > ELF_FILE_SIZE_MAX)
		return error_at(ERROR_LIMIT, path, 0, "the file is too large");
	file = calloc(1, sizeof(*file));
	if (!file)
		return error_no_memory();
	file->bytes = calloc(1, sizeof(*file->bytes));
	if (!file->bytes)
		return error_no_memory();
	file->bytes->fd = take_fd(&own_fd);
	file->bytes->memory = memory;
	file->size = size;
	file->path = strdup(path);
	if (!file->path)
		return error_no_memory();
	error = load(file);
	if (error)
		return error;
	*ret = take_ptr(file);
	return NULL;
}

struct error *elf_file_open_fd(int fd, const char *path, struct elf_file **ret)
{
	_cleanup_close_ int own_fd = fd;
	struct error *error;
	struct stat st;

	if (fstat(fd, &st))
		return error_os(errno, path, "cannot read");
	if (!S_ISREG(st.st_mode))
		return error_at(ERROR_UNSUPPORTED, path, 0,
				"not a regular file");
	error = create(take_fd(&own_fd), NULL, (uint64_t)st.st_size, path, ret);
	if (error)
		return error;
	(*ret)->device = st.st_dev;
	(*ret)->inode = st.st_ino;
	return NULL;
}

struct error *elf_file_open(const char *path, struct elf_file **ret)
{
	/* O_NONBLOCK: a FIFO must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return error_os(errno, path, "cannot open");
	return elf_file_open_fd(fd, path, ret);
}

struct error *elf_file_open_memory(const void *data, size_t size,
				   const char *path, struct elf_file **ret)
{
	return create(-1, data, size, path, ret);
}

void elf_file_destroy(struct elf_file *file)
{
	if (!file)
		return;
	elf_file_destroy(file->minidebug);
	free(file->minidebug_data);
	if (file->bytes) {
		elf_end(file->bytes->elf);
		if (file->bytes->fd >= 0)
			close(file->bytes->fd);
		free(file->bytes);
	}
	free(file->segments);
	free(file->sections);
	free(file->path);
	free(file);
}

void elf_file_close_fd(struct elf_file *file)
{
	if (file->bytes->fd < 0)
		return;
	elf_cntl(file->bytes->elf, ELF_C_FDDONE);
	close(file->bytes->fd);
	file->bytes->fd = -1;
}

/* Names are in memory of libelf. */
static bool name_sections(struct elf_file *file, Elf *elf)
{
	struct elf_file_bytes bytes = { .elf = elf };
	struct elf_file renamed = { .bytes = &bytes, .path = file->path };
	struct error *error = load_sections(&renamed);
	bool same = !error && renamed.section_count == file->section_count;

	for (size_t i = 0; same && i < file->section_count; i++)
		same = renamed.sections[i].offset == file->sections[i].offset &&
		       renamed.sections[i].size == file->sections[i].size &&
		       !strcmp(renamed.sections[i].name, file->sections[i].name);
	for (size_t i = 0; same && i < file->section_count; i++)
		file->sections[i].name = renamed.sections[i].name;
	free(renamed.sections);
	error_destroy(error);
	return same;
}

void elf_file_drop_sections(struct elf_file *file)
{
	Elf *elf;

	if (file->bytes->memory || file->bytes->fd < 0)
		return;
	elf = elf_begin(file->bytes->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !name_sections(file, elf)) {
		elf_end(elf);
		return;
	}
	elf_end(file->bytes->elf);
	file->bytes->elf = elf;
	file->bytes->read = file->bytes->decompressed = 0;
	for (size_t i = 0; i < file->section_count; i++)
		file->sections[i].counted = false;
	elf_file_destroy(file->minidebug);
	free(file->minidebug_data);
	file->minidebug = NULL;
	file->minidebug_data = NULL;
}

struct error *elf_file_check_native(const struct elf_file *file)
{
	if (file->machine == EM_X86_64 && file->is_64 && !file->big_endian)
		return NULL;
	return error_at(ERROR_UNSUPPORTED, file->path, 0,
			"not a 64-bit x86-64 file (machine %u)", file->machine);
}

const struct elf_section *elf_file_section(const struct elf_file *file,
					   const char *name)
{
	for (size_t i = 0; i < file->section_count; i++) {
		if (!strcmp(file->sections[i].name, name))
			return &file->sections[i];
	}
	return NULL;
}

/* A section that was read stays in memory, and its bytes are not counted again. */
static struct error *count_section(struct elf_file *file,
				   const struct elf_section *section)
{
	struct elf_section *own = &file->sections[section->index];

	if (own->counted)
		return NULL;
	if (own->size > ELF_FILE_READ_FACTOR * file->size - file->bytes->read)
		return error_at(ERROR_FORMAT, file->path, own->offset,
				"too many sections overlap");
	file->bytes->read += own->size;
	own->counted = true;
	return NULL;
}

static uint64_t decompress_room(const struct elf_file *file)
{
	return ELF_FILE_DECOMPRESS_MIN +
	       ELF_FILE_DECOMPRESS_FACTOR * file->size -
	       file->bytes->decompressed;
}

/* Decompresses in place; libelf keeps the result. */
static struct error *decompress(struct elf_file *file, Elf_Scn *scn)
{
	GElf_Chdr header;

	/* Not compressed any more: an earlier call did it. */
	if (!gelf_getchdr(scn, &header))
		return NULL;
	if (header.ch_size > ELF_FILE_SECTION_MAX)
		return error_at(ERROR_LIMIT, file->path, 0,
				"a compressed section is too large");
	if (header.ch_size > decompress_room(file))
		return error_at(ERROR_FORMAT, file->path, 0,
				"compressed sections are too large for the file");
	file->bytes->decompressed += header.ch_size;
	if (elf_compress(scn, 0, 0) < 0)
		return format_error(file, "broken compressed section");
	return NULL;
}

struct error *elf_file_section_bytes(struct elf_file *file,
				     const struct elf_section *section,
				     struct bytes *ret)
{
	Elf_Scn *scn;
	Elf_Data *data;
	struct error *error;

	if (section->type == SHT_NOBITS || !section->size) {
		*ret = (struct bytes){ .data = (const uint8_t *)"" };
		return NULL;
	}
	if (section->size > ELF_FILE_SECTION_MAX ||
	    section->offset > file->size ||
	    section->size > file->size - section->offset)
		return error_at(ERROR_FORMAT, file->path, section->offset,
				"section %u is not in the file",
				section->index);
	error = count_section(file, section);
	if (error)
		return error;
	scn = elf_getscn(file->bytes->elf, section->index);
	if (!scn)
		return format_error(file, "broken section");
	if (section->flags & SHF_COMPRESSED) {
		error = decompress(file, scn);
		if (error)
			return error;
	}
	data = elf_rawdata(scn, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return format_error(file, "cannot read a section");
	*ret = (struct bytes){ .data = data->d_buf, .size = data->d_size };
	return NULL;
}

struct error *elf_file_section_by_name(struct elf_file *file, const char *name,
				       const struct elf_section **section,
				       struct bytes *ret)
{
	const struct elf_section *found = elf_file_section(file, name);
	struct error *error;

	if (section)
		*section = NULL;
	if (!found || found->type == SHT_NOBITS)
		return error_at(ERROR_NOT_FOUND, file->path, 0,
				"there is no section %s", name);
	error = elf_file_section_bytes(file, found, ret);
	if (!error && section)
		*section = found;
	return error;
}

static bool in_range(uint64_t value, uint64_t start, uint64_t size)
{
	return value >= start && value - start < size;
}

const struct elf_section *elf_file_exec_section(const struct elf_file *file,
						uint64_t vaddr)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *s = &file->sections[i];

		if (s->flags & SHF_EXECINSTR && in_range(vaddr, s->addr, s->size))
			return s;
	}
	return NULL;
}

const struct elf_segment *elf_file_load_at(const struct elf_file *file,
					   uint64_t vaddr)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type == PT_LOAD && in_range(vaddr, s->vaddr, s->memsz))
			return s;
	}
	return NULL;
}

struct error *elf_file_read_image(struct elf_file *file, uint64_t vaddr,
				  void *buf, size_t size)
{
	const struct elf_segment *segment = elf_file_load_at(file, vaddr);
	struct error *error = NULL;
	uint64_t at, stored = 0;

	if (!segment || size > segment->memsz - (vaddr - segment->vaddr))
		return error_at(ERROR_FAULT, file->path, vaddr,
				"no segment contains this address");
	at = vaddr - segment->vaddr;
	if (at < segment->filesz)
		stored = segment->filesz - at;
	if (stored > size)
		stored = size;
	if (stored)
		error = elf_file_read_at(file, segment->offset + at, buf,
					 stored);
	if (!error)
		memset((uint8_t *)buf + stored, 0, size - stored);
	return error;
}

/* How well a PT_LOAD serves: 0 not at all, executable ones best. */
static int load_rank(const struct elf_segment *segment)
{
	if (segment->type != PT_LOAD)
		return 0;
	return segment->flags & PF_X ? 2 : 1;
}

bool elf_file_offset_to_vaddr(const struct elf_file *file, uint64_t offset,
			      uint64_t *ret)
{
	int best = 0;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (load_rank(s) <= best ||
		    !in_range(offset, s->offset, s->filesz))
			continue;
		best = load_rank(s);
		*ret = offset - s->offset + s->vaddr;
	}
	return best;
}

bool elf_file_vaddr_to_offset(const struct elf_file *file, uint64_t vaddr,
			      uint64_t *ret)
{
	int best = 0;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (load_rank(s) <= best ||
		    !in_range(vaddr, s->vaddr, s->filesz))
			continue;
		best = load_rank(s);
		*ret = vaddr - s->vaddr + s->offset;
	}
	return best;
}

bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t len,
		   uint64_t pgoff, uint64_t *ret)
{
	int best = 0;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		/* Segment and mapping share some byte of the file. */
		if (load_rank(s) <= best ||
		    (!in_range(s->offset, pgoff, len) &&
		     !in_range(pgoff, s->offset, s->filesz)))
			continue;
		best = load_rank(s);
		*ret = start - pgoff + s->offset - s->vaddr;
	}
	return best;
}

bool elf_file_is_exec(const struct elf_file *file, uint64_t vaddr)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (load_rank(s) == 2 && in_range(vaddr, s->vaddr, s->memsz))
			return true;
	}
	return false;
}

const struct elf_segment *elf_file_segment(const struct elf_file *file,
					   uint32_t type)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		if (file->segments[i].type == type)
			return &file->segments[i];
	}
	return NULL;
}

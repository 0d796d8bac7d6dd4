// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/kernel_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "symbolize/rooted.h"

#define KCORE "/proc/kcore"

enum {
	/* Ranges of memory; machines have some dozens. */
	SEGMENTS_MAX = 4096,
};

/* Of the ELF header: what e_phentsize has to be; the header's own size. */
#define SEGMENT_SIZE sizeof(Elf64_Phdr)
#define HEADER_SIZE  sizeof(Elf64_Ehdr)

struct segments {
	uint64_t offset;
	uint16_t count;
};

struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

static struct error *read_at(int fd, void *out, size_t size, uint64_t offset)
{
	size_t got;
	int errnum = fd_read_at(fd, out, size, offset, &got);

	if (errnum)
		return error_os(errnum, KCORE, "cannot read");
	return got == size ? NULL
			   : error_at(ERROR_TRUNCATED, KCORE, offset + got,
				      "ends too soon");
}

static struct error *read_header(int fd, struct segments *ret)
{
	uint8_t data[HEADER_SIZE];
	struct error *error = read_at(fd, data, sizeof(data), 0);
	struct reader r = reader_init(data, sizeof(data));
	uint64_t offset = 0;
	uint16_t size = 0, count = 0;

	if (error)
		return error;
	reader_skip(&r, offsetof(Elf64_Ehdr, e_phoff));
	reader_u64(&r, &offset);
	reader_skip(&r, offsetof(Elf64_Ehdr, e_phentsize) -
				offsetof(Elf64_Ehdr, e_shoff));
	reader_u16(&r, &size);
	reader_u16(&r, &count);
	if (memcmp(data, ELFMAG, SELFMAG) || data[EI_CLASS] != ELFCLASS64 ||
	    data[EI_DATA] != ELFDATA2LSB || r.failed || size != SEGMENT_SIZE ||
	    count > SEGMENTS_MAX || offset > INT64_MAX)
		return error_at(ERROR_FORMAT, KCORE, 0,
				"is not a readable core file");
	*ret = (struct segments){ offset, count };
	return NULL;
}

/* The members in the order of Elf64_Phdr. */
static bool read_segment(struct reader *r, struct segment *ret)
{
	struct reader one = reader_sub(r, SEGMENT_SIZE);

	reader_u32(&one, &ret->type);
	reader_skip(&one, sizeof(uint32_t));
	reader_u64(&one, &ret->offset);
	reader_u64(&one, &ret->address);
	reader_skip(&one, sizeof(uint64_t));
	reader_u64(&one, &ret->size);
	return !one.failed;
}

static bool holds(const struct segment *segment, uint64_t address, size_t size)
{
	return segment->type == PT_LOAD && address >= segment->address &&
	       size <= segment->size && segment->offset <= INT64_MAX &&
	       address - segment->address <= segment->size - size;
}

/* Where in the file the bytes at an address stand. */
static struct error *find(int fd, const struct segments *segments,
			  uint64_t address, size_t size, uint64_t *ret)
{
	size_t bytes = segments->count * SEGMENT_SIZE;
	_cleanup_free_ uint8_t *all = malloc(bytes + 1);
	struct error *error =
		all ? read_at(fd, all, bytes, segments->offset)
		    : error_no_memory();
	struct reader r = reader_init(all, error ? 0 : bytes);
	struct segment segment = {};

	if (error)
		return error;
	while (reader_left(&r) && read_segment(&r, &segment))
		if (holds(&segment, address, size)) {
			*ret = segment.offset + (address - segment.address);
			return NULL;
		}
	return error_at(ERROR_NOT_FOUND, KCORE, 0,
			"has no memory at %#llx", (unsigned long long)address);
}

struct error *kernel_code_read(const char *root, uint64_t address, size_t size,
			       struct strbuf *out)
{
	_cleanup_close_ int fd = -1;
	struct segments segments = {};
	uint64_t offset = 0;
	size_t before = out->len;
	struct error *error = rooted_open(root, KCORE, 0, &fd);

	if (!error)
		error = read_header(fd, &segments);
	if (!error)
		error = find(fd, &segments, address, size, &offset);
	if (error)
		return error;
	if (!strbuf_reserve(out, size))
		return error_no_memory();
	error = read_at(fd, out->data + before, size, offset);
	if (error)
		return error;
	out->len += size;
	out->data[out->len] = '\0';
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "obj/jitdump.h"

#include <string.h>

#include "base/path_name.h"

/* "JiTD" as a number of the writer's byte order. */
#define MAGIC 0x4a695444u
#define MAGIC_SWAPPED 0x4454694au
#define VERSION 1

enum {
	HEADER_SIZE = 40,
	PREFIX_SIZE = 16,
	FLAG_ARCH_TIMESTAMP = 1,
	/* Of an ELF header. */
	V8_SKEW = 64,
};

struct prefix {
	uint32_t id;
	uint32_t size;
	uint64_t time;
};

static struct error *read_magic(struct jitdump *dump)
{
	uint32_t magic;

	reader_u32(&dump->reader, &magic);
	if (dump->reader.failed)
		return reader_error(&dump->reader, "the header of a jitdump");
	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return error_at(ERROR_FORMAT, dump->reader.path, 0,
				"this is not a jitdump");
	dump->big_endian = magic == MAGIC_SWAPPED;
	dump->reader.big_endian = dump->big_endian;
	return NULL;
}

static struct error *read_header(struct jitdump *dump)
{
	struct reader *r = &dump->reader;
	uint32_t version, size, pad;
	uint64_t flags;

	reader_u32(r, &version);
	reader_u32(r, &size);
	reader_u32(r, &dump->machine);
	reader_u32(r, &pad);
	reader_u32(r, &dump->pid);
	reader_u64(r, &dump->timestamp);
	reader_u64(r, &flags);
	if (!r->failed && version != VERSION)
		return error_at(ERROR_UNSUPPORTED, r->path, 4,
				"the jitdump has version %u; kaa supports version %u",
				version, VERSION);
	if (!r->failed && (flags & ~(uint64_t)FLAG_ARCH_TIMESTAMP))
		return error_at(ERROR_UNSUPPORTED, r->path, 32,
				"the jitdump has unknown flags");
	/* A later header may have more fields. */
	if (r->failed || size < HEADER_SIZE ||
	    !reader_skip(r, size - HEADER_SIZE))
		return reader_error(r, "the header of a jitdump");
	dump->arch_timestamp = flags & FLAG_ARCH_TIMESTAMP;
	return NULL;
}

struct error *jitdump_init(struct jitdump *dump, const void *data, size_t size,
			   const char *path)
{
	struct error *error;

	*dump = (struct jitdump){ .reader = reader_init(data, size) };
	dump->reader.path = path;
	error = read_magic(dump);
	return error ? error : read_header(dump);
}

/* --- Records ------------------------------------------------------------ */

static void drop_pending(struct jitdump *dump)
{
	dump->lines = (struct jitdump_lines){};
	dump->unwinding = (struct jitdump_unwinding){};
}

static bool read_debug_info(struct jitdump *dump, struct reader *body)
{
	uint64_t address, count;

	reader_u64(body, &address);
	reader_u64(body, &count);
	if (body->failed)
		return false;
	dump->lines_address = address;
	dump->lines = (struct jitdump_lines){ .reader = *body, .left = count };
	return true;
}

static bool read_unwinding(struct jitdump *dump, struct reader *body)
{
	uint64_t size, header_size, mapped;
	const uint8_t *data;

	reader_u64(body, &size);
	reader_u64(body, &header_size);
	reader_u64(body, &mapped);
	if (body->failed || header_size > size || size > reader_left(body))
		return false;
	data = reader_bytes(body, (size_t)size);
	if (!data)
		return false;
	dump->unwinding = (struct jitdump_unwinding){
		.eh_frame = { data, (size_t)(size - header_size) },
		.eh_frame_hdr = { data + (size - header_size),
				  (size_t)header_size },
		.mapped_size = mapped,
	};
	return true;
}

static bool wraps(uint64_t start, uint64_t size)
{
	return start + size < start;
}

/* No control characters; UTF-8 as far as its form goes. */
static bool is_text(const char *s)
{
	int more = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		uint8_t c = (uint8_t)*s;
		bool continues = (c & 0xc0) == 0x80;

		if (c < 0x20 || c == 0x7f || c >= 0xf8 || continues != !!more)
			return false;
		if (continues)
			more--;
		else if (c >= 0xc0)
			more = 1 + (c >= 0xe0) + (c >= 0xf0);
	}
	return !more;
}

static bool lines_fit(struct jitdump *dump, uint64_t address, uint64_t size)
{
	struct jitdump_lines lines = dump->lines;
	const char *known = NULL;
	struct jitdump_line line;

	while (lines.left) {
		if (!jitdump_next_line(&lines, &line) ||
		    line.address - address > size)
			return false;
		if (line.file == known)
			continue;
		dump->names++;
		if (!is_text(line.file))
			return false;
		known = line.file;
	}
	return true;
}

/* Kinds of code that V8 has lines for. */
static bool is_v8(const char *name)
{
	static const char *const kinds[] = {
		"JS:", "LazyCompile:", "Function:", "Script:", "Eval:",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

static void take_lines(struct jitdump *dump, struct jitdump_record *ret)
{
	if (!dump->lines.left || dump->lines_address != ret->address)
		return;
	if (is_v8(ret->name))
		dump->lines.skew = V8_SKEW;
	if (lines_fit(dump, ret->address, ret->size))
		ret->lines = dump->lines;
	else
		dump->broken_lines++;
}

static bool read_load(struct jitdump *dump, struct reader *body,
		      struct jitdump_record *ret)
{
	uint64_t vma;

	reader_u32(body, &ret->pid);
	reader_u32(body, &ret->tid);
	reader_u64(body, &vma);
	reader_u64(body, &ret->address);
	reader_u64(body, &ret->size);
	reader_u64(body, &ret->index);
	ret->name = reader_cstr(body, NULL);
	if (body->failed || ret->size > reader_left(body) ||
	    wraps(ret->address, ret->size))
		return false;
	ret->code = (struct bytes){ reader_bytes(body, (size_t)ret->size),
				    (size_t)ret->size };
	take_lines(dump, ret);
	ret->unwinding = dump->unwinding;
	return true;
}

static bool read_move(struct reader *body, struct jitdump_record *ret)
{
	uint64_t vma;

	reader_u32(body, &ret->pid);
	reader_u32(body, &ret->tid);
	reader_u64(body, &vma);
	reader_u64(body, &ret->old_address);
	reader_u64(body, &ret->address);
	reader_u64(body, &ret->size);
	reader_u64(body, &ret->index);
	return !body->failed && !wraps(ret->address, ret->size);
}

/* *give: the record is one that is handed out. False: it is broken. */
static bool read_record(struct jitdump *dump, const struct prefix *prefix,
			struct reader *body, struct jitdump_record *ret,
			bool *give)
{
	bool good;

	*give = true;
	switch (prefix->id) {
	case JITDUMP_LOAD:
		good = read_load(dump, body, ret);
		drop_pending(dump);
		return good;
	case JITDUMP_MOVE:
		return read_move(body, ret);
	case JITDUMP_CLOSE:
		return true;
	case JITDUMP_DEBUG_INFO:
		*give = false;
		return read_debug_info(dump, body);
	case JITDUMP_UNWINDING_INFO:
		*give = false;
		return read_unwinding(dump, body);
	default:
		*give = false;
		dump->unknown++;
		return true;
	}
}

/* False if no whole record follows. */
static bool next_body(struct jitdump *dump, struct prefix *prefix,
		      struct reader *body)
{
	size_t left = reader_left(&dump->reader);

	if (!left)
		return false;
	reader_u32(&dump->reader, &prefix->id);
	reader_u32(&dump->reader, &prefix->size);
	reader_u64(&dump->reader, &prefix->time);
	if (!dump->reader.failed && prefix->size >= PREFIX_SIZE) {
		*body = reader_sub(&dump->reader, prefix->size - PREFIX_SIZE);
		if (!body->failed)
			return true;
	}
	dump->truncated_bytes = left;
	dump->reader.pos = dump->reader.end;
	return false;
}

bool jitdump_next(struct jitdump *dump, struct jitdump_record *ret)
{
	struct prefix prefix;
	struct reader body;

	while (next_body(dump, &prefix, &body)) {
		struct jitdump_record record = {
			.type = prefix.id,
			.time = prefix.time,
		};
		bool give;

		if (!read_record(dump, &prefix, &body, &record, &give)) {
			dump->broken++;
			continue;
		}
		if (give) {
			*ret = record;
			return true;
		}
	}
	return false;
}

bool jitdump_next_line(struct jitdump_lines *lines, struct jitdump_line *ret)
{
	struct reader *r = &lines->reader;
	const char *file;

	if (!lines->left)
		return false;
	lines->left--;
	reader_u64(r, &ret->address);
	reader_u32(r, &ret->line);
	reader_u32(r, &ret->discriminator);
	file = reader_cstr(r, NULL);
	if (r->failed) {
		lines->left = 0;
		return false;
	}
	if (lines->file && !strcmp(file, "\xff"))
		file = lines->file;
	lines->file = file;
	ret->file = file;
	ret->address -= lines->skew;
	if (ret->line > INT32_MAX)
		ret->line = 0;
	return true;
}

bool jitdump_name(const char *path, uint32_t *pid)
{
	const char *p = path_name(path);
	uint64_t value = 0;

	if (strncmp(p, "jit-", 4) != 0)
		return false;
	p += 4;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9' && value <= INT32_MAX; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	if (value > INT32_MAX || strcmp(p, ".dump") != 0)
		return false;
	*pid = (uint32_t)value;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/kaa_stream.h"

#include <inttypes.h>
#include <string.h>

#define HEADER_SIZE 8
/* An encoded line difference takes at most this much: 33 bits of 7 each. */
#define MAX_LINE_SIZE 5

const struct kaa_marker kaa_markers[KAA_MARKER_COUNT] = {
	{ KAA_MARKER_TRUNCATED, "[truncated stack]" },
	{ KAA_MARKER_UNREADABLE, "[unreadable Python frames]" },
	{ KAA_MARKER_NOT_ALIGNED, "[Python stack not aligned]" },
	{ KAA_MARKER_MISSING_NATIVE, "[missing native frames]" },
	{ KAA_MARKER_IDLE, "[idle]" },
	{ KAA_MARKER_CPU_WAIT, "[CPU wait]" },
	{ KAA_MARKER_NO_PYTHON, "[no Python code]" },
	{ KAA_MARKER_AWAITS_TASK, "[awaits task]" },
	{ KAA_MARKER_AWAITS_SLEEP, "[awaits sleep]" },
	{ KAA_MARKER_AWAITS_LOCK, "[awaits lock]" },
	{ KAA_MARKER_AWAITS_QUEUE, "[awaits queue]" },
	{ KAA_MARKER_AWAITS_SOCKET, "[awaits socket]" },
	{ KAA_MARKER_AWAITS_PROCESS, "[awaits process]" },
	{ KAA_MARKER_AWAITS_THREAD, "[awaits thread]" },
	{ KAA_MARKER_AWAITS_FUTURE, "[awaits future]" },
	{ KAA_MARKER_AWAITS_TURN, "[awaits its turn]" },
};

void kaa_stream_attr(struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*ret),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_RAW,
		.sample_id_all = 1,
	};
}

/* Decoding */

static void take_string(struct reader *r, struct kaa_string *ret)
{
	uint16_t len;

	reader_u16(r, &len);
	ret->data = (const char *)reader_bytes(r, len);
	ret->len = ret->data ? len : 0;
}

/* The span lies behind the markers' page, or is one slot in it. */
static bool span_is_valid(const struct kaa_code *code)
{
	uint64_t room;

	if (!kaa_in_range(code->start) || code->start % KAA_SLOT_SIZE)
		return false;
	room = KAA_BASE + KAA_RANGE_SIZE - code->start;
	return code->slots > 0 && code->slots <= KAA_MAX_SLOTS &&
	       code->slots <= room / KAA_SLOT_SIZE;
}

static struct error *decode_code(struct reader *r, struct kaa_code *ret)
{
	struct reader lines;
	int64_t difference;

	reader_u64(r, &ret->start);
	reader_u32(r, &ret->slots);
	reader_u32(r, &ret->first_line);
	take_string(r, &ret->filename);
	take_string(r, &ret->qualname);
	if (r->failed)
		return reader_error(r, "a CODE record");
	if (!span_is_valid(ret))
		return error_create(ERROR_FORMAT,
				    "a CODE record has %" PRIu32
				    " slots at 0x%" PRIx64,
				    ret->slots, ret->start);
	lines = *r;
	for (uint32_t i = 1; i < ret->slots; i++)
		if (!reader_sleb128(&lines, &difference))
			return reader_error(&lines, "a CODE record's lines");
	ret->encoded_lines.data = r->pos;
	ret->encoded_lines.size = (size_t)(lines.pos - r->pos);
	return NULL;
}

struct error *kaa_code_lines(const struct kaa_code *code, uint32_t *lines)
{
	struct reader r = reader_init(code->encoded_lines.data,
				      code->encoded_lines.size);
	int64_t line = code->first_line;
	int64_t difference;

	for (uint32_t i = 1; i < code->slots; i++) {
		if (!reader_sleb128(&r, &difference))
			return reader_error(&r, "a CODE record's lines");
		if (__builtin_add_overflow(line, difference, &line) ||
		    line < 0 || line > UINT32_MAX)
			return error_create(ERROR_FORMAT,
					    "a CODE record's line is out of range");
		lines[i - 1] = (uint32_t)line;
	}
	return NULL;
}

static void decode_symbol(struct reader *r, struct kaa_symbol *ret)
{
	reader_u32(r, &ret->pid);
	reader_u32(r, &ret->kind);
	reader_u64(r, &ret->start);
	reader_u64(r, &ret->size);
	reader_u64(r, &ret->valid_from);
	reader_u64(r, &ret->valid_to);
	take_string(r, &ret->dso);
	take_string(r, &ret->name);
}

static void decode_python(struct reader *r, struct kaa_python *ret)
{
	reader_u32(r, &ret->pid);
	reader_u32(r, &ret->version);
	reader_u64(r, &ret->valid_from);
	reader_u64(r, &ret->eval_start);
	reader_u64(r, &ret->eval_size);
	take_string(r, &ret->path);
	/* Older recordings have none, but up to seven bytes of padding. */
	if (reader_left(r) >= sizeof(uint16_t))
		take_string(r, &ret->script);
}

static void decode_thread(struct reader *r, struct kaa_thread *ret)
{
	reader_u32(r, &ret->pid);
	reader_u32(r, &ret->tid);
	reader_u64(r, &ret->valid_from);
	take_string(r, &ret->name);
}

static void decode_vdso(struct reader *r, struct kaa_vdso *ret)
{
	uint32_t size;

	reader_u32(r, &size);
	ret->image.data = reader_bytes(r, size);
	ret->image.size = ret->image.data ? size : 0;
}

static void decode_file_symbol(struct reader *r, struct kaa_file_symbol *ret)
{
	reader_u64(r, &ret->offset);
	reader_u64(r, &ret->size);
	take_string(r, &ret->build_id);
	take_string(r, &ret->path);
	take_string(r, &ret->name);
}

static void decode_source(struct reader *r, struct kaa_source *ret)
{
	const uint8_t *hash;
	uint64_t modified = 0;

	reader_u64(r, &ret->size);
	reader_u64(r, &modified);
	hash = reader_bytes(r, sizeof(ret->hash));
	if (hash)
		memcpy(&ret->hash, hash, sizeof(ret->hash));
	take_string(r, &ret->path);
	ret->modified = (int64_t)modified;
}

bool kaa_summary_next(struct kaa_summary *summary, struct kaa_counter *ret)
{
	struct kaa_counter counter;

	if (!summary->count)
		return false;
	take_string(&summary->rest, &counter.name);
	reader_u64(&summary->rest, &counter.value);
	if (summary->rest.failed)
		return false;
	summary->count--;
	*ret = counter;
	return true;
}

static struct error *decode_body(struct reader *r, struct kaa_payload *ret)
{
	switch (ret->type) {
	case KAA_CODE:
		return decode_code(r, &ret->code);
	case KAA_SYMBOL:
		decode_symbol(r, &ret->symbol);
		break;
	case KAA_PYTHON:
		decode_python(r, &ret->python);
		break;
	case KAA_SUMMARY:
		reader_u32(r, &ret->summary.count);
		ret->summary.rest = *r;
		break;
	case KAA_THREAD:
		decode_thread(r, &ret->thread);
		break;
	case KAA_VDSO:
		decode_vdso(r, &ret->vdso);
		break;
	case KAA_FILE_SYMBOL:
		decode_file_symbol(r, &ret->file_symbol);
		break;
	case KAA_SOURCE:
		decode_source(r, &ret->source);
		break;
	default:
		break;
	}
	return r->failed ? reader_error(r, "a record of the kaa stream") : NULL;
}

struct error *kaa_stream_decode(const void *payload, size_t size,
				struct kaa_payload *ret)
{
	struct reader r = reader_init(payload, size);
	struct kaa_payload decoded = {};
	struct error *err;
	uint16_t reserved;
	uint32_t magic;

	reader_u32(&r, &magic);
	reader_u16(&r, &decoded.type);
	reader_u16(&r, &reserved);
	if (r.failed)
		return reader_error(&r, "a record of the kaa stream");
	if (magic != KAA_STREAM_MAGIC)
		return error_create(ERROR_FORMAT,
				    "a sample is not of the kaa stream");
	err = decode_body(&r, &decoded);
	if (err)
		return err;
	*ret = decoded;
	return NULL;
}

/* Encoding */

static void put_u16(struct strbuf *out, uint16_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_header(struct strbuf *out, uint16_t type)
{
	put_u32(out, KAA_STREAM_MAGIC);
	put_u16(out, type);
	put_u16(out, 0);
}

/* The length of s cut to at most `most` bytes between two characters. */
static size_t cut_length(const struct kaa_string *s, size_t most)
{
	size_t len = s->len;

	if (len <= most)
		return len;
	len = most;
	while (len && ((uint8_t)s->data[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void put_string(struct strbuf *out, const struct kaa_string *s,
		       size_t most)
{
	size_t len = cut_length(s, most);

	put_u16(out, (uint16_t)len);
	strbuf_append(out, s->data, len);
}

static void put_sleb128(struct strbuf *out, int64_t value)
{
	bool more;

	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		more = !(value == 0 && !(byte & 0x40)) &&
		       !(value == -1 && (byte & 0x40));
		strbuf_putc(out, (char)(byte | (more ? 0x80 : 0)));
	} while (more);
}

/* Takes the payload back that begins at start if it is too long. */
static struct error *end(struct strbuf *out, size_t start)
{
	if (out->failed)
		return error_no_memory();
	if (out->len - start <= KAA_STREAM_MAX)
		return NULL;
	strbuf_truncate(out, start);
	return error_create(ERROR_LIMIT,
			    "a record of the kaa stream is too long");
}

/* Two strings of a record share this, half each, so that lines have room. */
#define MAX_NAMES (KAA_STREAM_MAX / 2)

struct error *kaa_encode_code(const struct kaa_code *code, struct strbuf *out,
			      uint32_t *encoded_slots)
{
	size_t start = out->len;
	size_t slots_at = start + HEADER_SIZE + 8;
	int64_t last = code->first_line;
	uint32_t slots = 1;
	struct error *err;

	if (!span_is_valid(code))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "a span of %" PRIu32 " slots at 0x%" PRIx64,
				    code->slots, code->start);
	put_header(out, KAA_CODE);
	put_u64(out, code->start);
	put_u32(out, 0);
	put_u32(out, code->first_line);
	put_string(out, &code->filename, MAX_NAMES / 2);
	put_string(out, &code->qualname, MAX_NAMES / 2);
	for (; slots < code->slots; slots++) {
		if (out->len - start + MAX_LINE_SIZE > KAA_STREAM_MAX)
			break;
		put_sleb128(out, (int64_t)code->lines[slots - 1] - last);
		last = code->lines[slots - 1];
	}
	err = end(out, start);
	if (err)
		return err;
	memcpy(out->data + slots_at, &slots, sizeof(slots));
	*encoded_slots = slots;
	return NULL;
}

struct error *kaa_encode_symbol(const struct kaa_symbol *symbol,
				struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_SYMBOL);
	put_u32(out, symbol->pid);
	put_u32(out, symbol->kind);
	put_u64(out, symbol->start);
	put_u64(out, symbol->size);
	put_u64(out, symbol->valid_from);
	put_u64(out, symbol->valid_to);
	put_string(out, &symbol->dso, MAX_NAMES / 2);
	put_string(out, &symbol->name, MAX_NAMES);
	return end(out, start);
}

struct error *kaa_encode_python(const struct kaa_python *python,
				struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_PYTHON);
	put_u32(out, python->pid);
	put_u32(out, python->version);
	put_u64(out, python->valid_from);
	put_u64(out, python->eval_start);
	put_u64(out, python->eval_size);
	put_string(out, &python->path, MAX_NAMES / 2);
	put_string(out, &python->script, MAX_NAMES / 2);
	return end(out, start);
}

struct error *kaa_encode_thread(const struct kaa_thread *thread,
				struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_THREAD);
	put_u32(out, thread->pid);
	put_u32(out, thread->tid);
	put_u64(out, thread->valid_from);
	put_string(out, &thread->name, MAX_NAMES);
	return end(out, start);
}

struct error *kaa_encode_vdso(const struct kaa_vdso *vdso, struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_VDSO);
	put_u32(out, (uint32_t)vdso->image.size);
	strbuf_append(out, vdso->image.data, vdso->image.size);
	return end(out, start);
}

struct error *kaa_encode_file_symbol(const struct kaa_file_symbol *symbol,
				     struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_FILE_SYMBOL);
	put_u64(out, symbol->offset);
	put_u64(out, symbol->size);
	put_string(out, &symbol->build_id, MAX_NAMES / 4);
	put_string(out, &symbol->path, MAX_NAMES / 2);
	put_string(out, &symbol->name, MAX_NAMES);
	return end(out, start);
}

struct error *kaa_encode_source(const struct kaa_source *source,
				struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_SOURCE);
	put_u64(out, source->size);
	put_u64(out, (uint64_t)source->modified);
	strbuf_append(out, source->hash.bytes, sizeof(source->hash));
	put_string(out, &source->path, MAX_NAMES);
	return end(out, start);
}

struct error *kaa_encode_summary(const struct kaa_counter *counters,
				 size_t count, struct strbuf *out)
{
	size_t start = out->len;

	put_header(out, KAA_SUMMARY);
	put_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count && out->len - start <= KAA_STREAM_MAX;
	     i++) {
		put_string(out, &counters[i].name, MAX_NAMES);
		put_u64(out, counters[i].value);
	}
	return end(out, start);
}

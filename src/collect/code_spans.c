// SPDX-License-Identifier: GPL-2.0-only
#include "collect/code_spans.h"

#include <string.h>
#include <xxhash.h>

#include "perfdata/kaa_stream.h"
#include "python/code_name.h"

/* A code object whose line table is still being put together. */
struct code_pending {
	uint64_t key;
	uint32_t pid;
	uint32_t first_line;
	enum py_lines_format format;
	char *filename;
	char *qualname;
	/* 0 once the table is whole. */
	uint32_t lines_size;
	uint32_t lines_have;
	uint8_t *lines;
};

enum {
	/* Bytes of a name as it is shown. */
	TEXT_MAX = 8192,
	/* Started captures that wait for the rest of their line table. */
	PENDING_MAX = 4096,
	MEMORY_MAX = 1 << 30,
	/* A map is at most half full or so. */
	KEY_MEMORY = 2 * sizeof(struct map_entry),
	/* Keys among which no look is worth its time. */
	FORGET_AT_LEAST = 1 << 16,
};

void code_table_init(struct code_table *table)
{
	*table = (struct code_table){ .next_address = KAA_FIRST_SPAN,
				      .file = 1,
				      .forget_at = FORGET_AT_LEAST,
				      .memory_max = MEMORY_MAX };
}

static void code_destroy(struct code *code)
{
	py_lines_deinit(&code->lines);
	vec_deinit(&code->pieces);
	free(code);
}

/* What is left stands in its place until room is made. */
static void release(struct code_pending *pending)
{
	free(pending->filename);
	free(pending->qualname);
	free(pending->lines);
	*pending = (struct code_pending){ .key = pending->key };
}

static void pending_destroy(struct code_pending *pending)
{
	if (!pending)
		return;
	release(pending);
	free(pending);
}

void code_table_deinit(struct code_table *table)
{
	vec_for_each(code, &table->codes)
		code_destroy(*code);
	vec_for_each(pending, &table->pending)
		pending_destroy(*pending);
	vec_deinit(&table->codes);
	vec_deinit(&table->pending);
	map_deinit(&table->by_key);
	map_deinit(&table->by_content);
	map_deinit(&table->pending_by_key);
	arena_deinit(&table->strings);
}

struct code *code_table_find(const struct code_table *table, uint64_t key)
{
	const uint64_t *place = map_find(&table->by_key, key);

	return place ? table->codes.data[(uint32_t)*place] : NULL;
}

struct forgetting {
	bool (*is_known)(void *arg, uint32_t pid);
	void *arg;
};

static bool is_needed(void *arg, const struct map_entry *entry)
{
	const struct forgetting *forgetting = arg;

	return forgetting->is_known(forgetting->arg,
				    (uint32_t)(entry->value >> 32));
}

void code_table_forget(struct code_table *table,
		       bool (*is_known)(void *arg, uint32_t pid), void *arg)
{
	struct forgetting forgetting = { is_known, arg };
	size_t before = table->by_key.count;

	if (before < table->forget_at ||
	    !map_keep(&table->by_key, is_needed, &forgetting))
		return;
	table->memory -= KEY_MEMORY * (before - table->by_key.count);
	table->forget_at = 2 * table->by_key.count;
	if (table->forget_at < FORGET_AT_LEAST)
		table->forget_at = FORGET_AT_LEAST;
}

/* --- from capture to content --- */

static uint64_t content_hash(const struct code *code)
{
	uint64_t h = XXH3_64bits(code->filename, strlen(code->filename));

	h = hash_combine(h, XXH3_64bits(code->qualname, strlen(code->qualname)));
	h = hash_combine(h, code->first_line);
	return hash_combine(h, XXH3_64bits(code->lines.lines,
					   code->lines.line_count *
						   sizeof(*code->lines.lines)));
}

static bool same_lines(const struct py_lines *a, const struct py_lines *b)
{
	return a->line_count == b->line_count &&
	       a->range_count == b->range_count &&
	       (!a->line_count || !memcmp(a->lines, b->lines,
					  a->line_count * sizeof(*a->lines))) &&
	       (!a->range_count ||
		!memcmp(a->ranges, b->ranges,
			a->range_count * sizeof(*a->ranges)));
}

static bool same_content(const struct code *a, const struct code *b)
{
	return a->first_line == b->first_line &&
	       !strcmp(a->filename, b->filename) &&
	       !strcmp(a->qualname, b->qualname) &&
	       same_lines(&a->lines, &b->lines);
}

static size_t code_memory(const struct code *code)
{
	return sizeof(*code) + strlen(code->filename) + strlen(code->qualname) +
	       code->lines.line_count * sizeof(*code->lines.lines) +
	       code->lines.range_count * sizeof(*code->lines.ranges);
}

/* Most contents are seen again and again: only those that stay have a copy. */
static bool own_strings(struct code_table *table, struct code *code)
{
	code->filename = arena_strndup(&table->strings, code->filename,
				       strlen(code->filename));
	code->qualname = arena_strndup(&table->strings, code->qualname,
				       strlen(code->qualname));
	return code->filename && code->qualname;
}

/*
 * Finds or adds the content; takes *code over, whose strings are borrowed. Two
 * contents with one hash are rare enough to keep both, the second without an entry.
 */
static struct error *intern(struct code_table *table, struct code *code,
			    uint64_t *ret)
{
	uint64_t *index;
	bool is_new;

	code->content_hash = content_hash(code);
	index = map_insert(&table->by_content, code->content_hash,
			   table->codes.count, &is_new);
	if (!index)
		goto no_memory;
	if (!is_new && same_content(table->codes.data[*index], code)) {
		*ret = *index;
		code_destroy(code);
		return NULL;
	}
	*ret = table->codes.count;
	if (!own_strings(table, code) || !vec_push(&table->codes, code))
		goto no_memory;
	table->memory += code_memory(code);
	return NULL;
no_memory:
	code_destroy(code);
	return error_no_memory();
}

/*
 * A table that is empty, or has no size, was out of the walker's reach; up to 3.9 there
 * are empty ones. What kaa makes itself has no lines.
 */
static bool lacks_lines(const struct code_pending *pending)
{
	switch (pending->format) {
	case PY_LINES_PAIRS:
	case PY_LINES_LOCATIONS:
		return !pending->lines_size || pending->lines_size == ~0u;
	case PY_LINES_LNOTAB:
	case PY_LINES_UNSIGNED:
		return pending->lines_size == ~0u;
	}
	return false;
}

static struct error *finish(struct code_table *table,
			    const struct code_pending *pending)
{
	struct code *code = calloc(1, sizeof(*code));
	struct bytes lines = { pending->lines, pending->lines_size };
	struct error *error;
	uint64_t index = 0, *place;
	size_t known = table->codes.count;
	bool is_new, lacks = lacks_lines(pending);

	if (!code)
		return error_no_memory();
	code->filename = pending->filename;
	code->qualname = pending->qualname;
	code->first_line = pending->first_line;
	code->internal = py_code_is_internal(code->filename, code->qualname);
	code->no_lines = pending->lines_size == ~0u;
	if (!code->no_lines) {
		error = py_lines_decode(pending->format, pending->first_line,
					lines, &code->lines);
		lacks |= code->no_lines = error != NULL;
		error_destroy(error);
	}
	error = intern(table, code, &index);
	if (error)
		return error;
	table->without_lines += lacks && table->codes.count > known;
	index |= (uint64_t)pending->pid << 32;
	place = map_insert(&table->by_key, pending->key, index, &is_new);
	if (!place)
		return error_no_memory();
	*place = index;
	table->changes++;
	table->memory += is_new ? KEY_MEMORY : 0;
	return NULL;
}

bool code_table_is_full(const struct code_table *table)
{
	return table->memory >= table->memory_max;
}

static struct error *finish_if_room(struct code_table *table,
				    const struct code_pending *pending)
{
	if (!code_table_is_full(table))
		return finish(table, pending);
	table->broken++;
	return NULL;
}

struct error *code_table_named(struct code_table *table, uint32_t pid,
			       struct bytes filename, struct bytes qualname,
			       uint64_t *ret)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT, name = STRBUF_INIT;
	struct code *code = calloc(1, sizeof(*code));
	struct error *error = NULL;

	if (!code)
		return error_no_memory();
	code->no_lines = true;
	py_text_append_utf8(&file, filename, TEXT_MAX);
	py_text_append_utf8(&name, qualname, TEXT_MAX);
	if (file.failed || name.failed)
		error = error_no_memory();
	code->filename = file.data;
	code->qualname = name.data;
	if (!error && table->def_files)
		error = def_files_line(table->def_files, (pid_t)pid, code->filename,
				     code->qualname, &code->first_line);
	if (error) {
		code_destroy(code);
		return error;
	}
	return intern(table, code, ret);
}

static struct error *take_text(struct reader *r, const struct walker_text *text,
			       char **ret)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const uint8_t *bytes = reader_bytes(r, text->size);

	if (!bytes)
		return reader_error(r, "a captured name");
	if (text->kind == WALKER_BYTES_TEXT)
		py_text_append_utf8(&out, (struct bytes){ bytes, text->size },
				    TEXT_MAX);
	else
		py_text_append_max(&out, (struct bytes){ bytes, text->size },
				   text->kind, TEXT_MAX);
	if (text->cut)
		strbuf_puts(&out, "...");
	if (out.failed)
		return error_no_memory();
	*ret = strndup(out.data, out.len);
	return *ret ? NULL : error_no_memory();
}

static struct error *take_code(const void *record, size_t size,
			       struct code_pending **ret)
{
	const struct walker_code *raw = record;
	size_t fixed = offsetof(struct walker_code, text);
	struct reader r = reader_init(record, size);
	struct code_pending *pending;
	struct error *error;

	if (!reader_skip(&r, fixed))
		return reader_error(&r, "a captured code object");
	if (raw->lines_size != ~0u && raw->lines_size > WALKER_MAX_LINES)
		return error_create(ERROR_FORMAT, "a line table of %u bytes",
				    raw->lines_size);
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return error_no_memory();
	pending->key = raw->key;
	pending->pid = raw->header.pid;
	pending->first_line = raw->first_line;
	pending->format = (enum py_lines_format)raw->lines_format;
	pending->lines_size = raw->lines_size;
	error = take_text(&r, &raw->filename, &pending->filename);
	if (!error)
		error = take_text(&r, &raw->name, &pending->qualname);
	if (!error && pending->lines_size != ~0u && pending->lines_size) {
		pending->lines = malloc(pending->lines_size);
		if (!pending->lines)
			error = error_no_memory();
	}
	if (error) {
		pending_destroy(pending);
		return error;
	}
	*ret = pending;
	return NULL;
}

/*
 * Makes room among the captures. The walker will not write the rest of one again,
 * so those that wait for it stay, unless they are too many to have one coming.
 */
static bool drop_finished(struct code_table *table)
{
	size_t count = table->pending.count, kept = 0;
	bool ok = true;

	vec_for_each(pending, &table->pending)
		kept += (*pending)->lines_size != 0;
	if (kept > PENDING_MAX / 2)
		kept = 0;
	map_clear(&table->pending_by_key);
	vec_clear(&table->pending);
	for (size_t i = 0; i < count; i++) {
		struct code_pending *pending = table->pending.data[i];

		if (!kept || !pending->lines_size) {
			pending_destroy(pending);
			continue;
		}
		ok &= map_insert(&table->pending_by_key, pending->key,
				 table->pending.count, NULL) != NULL;
		table->pending.data[table->pending.count++] = pending;
	}
	return ok;
}

/* Keeps a capture until its line table is whole; the newest of a key counts. */
static struct error *keep_pending(struct code_table *table,
				  struct code_pending *pending)
{
	uint64_t *index;
	bool is_new;

	if (table->pending.count >= PENDING_MAX && !drop_finished(table)) {
		pending_destroy(pending);
		return error_no_memory();
	}
	index = map_insert(&table->pending_by_key, pending->key,
			   table->pending.count, &is_new);
	if (index && !is_new) {
		pending_destroy(table->pending.data[*index]);
		table->pending.data[*index] = pending;
		return NULL;
	}
	if (!index || !vec_push(&table->pending, pending)) {
		pending_destroy(pending);
		return error_no_memory();
	}
	return NULL;
}

static struct error *record_code(struct code_table *table, const void *record, size_t size)
{
	struct code_pending *pending = NULL;
	struct error *error = take_code(record, size, &pending);

	if (error)
		return error;
	if (pending->lines_size && pending->lines_size != ~0u)
		return keep_pending(table, pending);
	error = finish_if_room(table, pending);
	pending_destroy(pending);
	return error;
}

static struct error *record_lines(struct code_table *table, const void *record,
				  size_t size)
{
	const struct walker_lines *raw = record;
	struct reader r = reader_init(record, size);
	struct code_pending *pending;
	const uint8_t *bytes;
	struct error *error;
	uint64_t *index;

	if (!reader_skip(&r, offsetof(struct walker_lines, bytes)))
		return reader_error(&r, "a captured line table");
	bytes = reader_bytes(&r, raw->size);
	index = map_find(&table->pending_by_key, raw->key);
	pending = index ? table->pending.data[*index] : NULL;
	if (!bytes || !pending || raw->offset != pending->lines_have ||
	    raw->size > pending->lines_size - pending->lines_have)
		return error_create(ERROR_FORMAT,
				    "a piece of a line table out of place");
	memcpy(pending->lines + raw->offset, bytes, raw->size);
	pending->lines_have += raw->size;
	if (pending->lines_have < pending->lines_size)
		return NULL;
	error = finish_if_room(table, pending);
	release(pending);
	return error;
}

struct error *code_table_record(struct code_table *table, const void *record, size_t size)
{
	const struct walker_header *header = record;
	struct error *error = NULL;

	if (size < sizeof(*header))
		error = error_create(ERROR_TRUNCATED, "a record of the walker");
	else if (header->type == WALKER_CODE)
		error = record_code(table, record, size);
	else if (header->type == WALKER_LINES)
		error = record_lines(table, record, size);
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	table->broken++;
	return NULL;
}

/* --- addresses --- */

static struct error *append_payload(struct strbuf *payloads,
				    const struct strbuf *payload)
{
	uint32_t size = (uint32_t)payload->len;

	strbuf_append(payloads, &size, sizeof(size));
	strbuf_append(payloads, payload->data, payload->len);
	return strbuf_error(payloads);
}

/*
 * What is at the span, payload by payload. The first time tells how many slots
 * are in each.
 */
static struct error *put_span(struct code *code, uint64_t start,
			      struct strbuf *payloads)
{
	size_t lines = code->lines.line_count, done = 0, count = 0;
	struct kaa_code piece = {
		.start = start,
		.first_line = code->first_line,
		.filename = { code->filename, strlen(code->filename) },
		.qualname = { code->qualname, strlen(code->qualname) },
	};

	do {
		_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
		size_t left = lines - done;
		uint32_t encoded = 0;
		struct error *error;

		piece.slots = 1 + (uint32_t)(left < KAA_MAX_SLOTS - 1 ?
						     left :
						     KAA_MAX_SLOTS - 1);
		piece.lines = code->lines.lines + done;
		error = kaa_encode_code(&piece, &payload, &encoded);
		if (!error)
			error = append_payload(payloads, &payload);
		if (error)
			return error;
		if (count++ == code->pieces.count &&
		    !vec_push(&code->pieces, encoded))
			return error_no_memory();
		done += encoded - 1;
		piece.start += KAA_SLOT_SIZE * (uint64_t)encoded;
	} while (done < lines);
	return NULL;
}

/* Gives the code object its span. */
static struct error *assign(struct code_table *table, struct code *code,
			    struct strbuf *payloads)
{
	size_t lines = code->lines.line_count;
	uint64_t start = table->next_address;
	struct error *error;

	if (KAA_SLOT_SIZE * (lines + lines / 1024 + 2) >
	    KAA_BASE + KAA_RANGE_SIZE - start)
		return error_create(ERROR_LIMIT,
				    "the address range for Python code is full");
	error = put_span(code, start, payloads);
	if (error)
		return error;
	vec_for_each(slots, &code->pieces)
		code->slots += *slots;
	code->start = start;
	table->next_address += KAA_SLOT_SIZE * (uint64_t)code->slots;
	return NULL;
}

/* The slot in the span, counting the extra slot 0 of each later piece. */
static uint32_t span_slot(const struct code *code, size_t slot)
{
	size_t before = 0;
	size_t line = slot - 1;

	if (!slot)
		return 0;
	vec_for_each(piece, &code->pieces) {
		if (line < *piece - 1u)
			return (uint32_t)(before + 1 + line);
		line -= *piece - 1u;
		before += *piece;
	}
	return 0;
}

struct error *code_table_address(struct code_table *table, struct code *code,
				 int64_t offset, struct strbuf *payloads,
				 uint64_t *ret)
{
	size_t slot = py_lines_slot(&code->lines,
				    py_lines_find(&code->lines, offset));

	if (code->written_in != table->file) {
		struct error *error =
			code->start ? put_span(code, code->start, payloads) :
				      assign(table, code, payloads);

		if (error)
			return error;
		code->written_in = table->file;
	}
	*ret = kaa_slot_address(code->start, span_slot(code, slot));
	return NULL;
}

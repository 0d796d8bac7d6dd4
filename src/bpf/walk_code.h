/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the walk says of code objects: a key that identifies one, and at first
 * sight its names and its line table.
 */
#ifndef KAA_BPF_WALK_CODE_H
#define KAA_BPF_WALK_CODE_H

#include "bpf/walk.h"

static __always_inline __u32 name_offset(const struct py_layout *l)
{
	return l->code_qualname == PY_ABSENT ? l->code_name : l->code_qualname;
}

/* Fills in size and kind of a str; returns the address of its text. */
static __always_inline __u64 text_describe(const struct py_layout *l, __u64 str,
					   __u32 max, struct walker_text *ret)
{
	__u64 length = read_u64(str + l->text_length);
	__u32 state = 0, kind;

	if (l->flags & PY_BYTE_TEXTS) {
		ret->kind = WALKER_BYTES_TEXT;
		ret->cut = length > max;
		ret->size = ret->cut ? max : length;
		return str + l->text_ascii_data;
	}
	walk_read(&state, sizeof(state), str + l->text_state);
	kind = state >> l->text_kind_shift & 7;
	if (kind != 2 && kind != 4)
		kind = 1;
	ret->kind = kind;
	ret->cut = length > max / kind;
	ret->size = (ret->cut ? max / kind : length) * kind;
	if (!(state & l->text_compact_mask))
		return read_u64(str + l->text_data_pointer);
	return str + (state & l->text_ascii_mask ? l->text_ascii_data :
						   l->text_compact_data);
}

/* Bytes whose hash is wanted. */
struct hash_context {
	__u64 address;
	__u64 size;
	__u64 hash;
};

/* Of as many of w->hashed; what is behind them in the last word does not count. */
WALK_APART __u64 hash_more(__u64 hash, __u64 start, __u64 size)
{
	struct walk *w = walk_here();
	__u64 unused = -size & 7;

	if (!w)
		return 0;
	for (__u64 j = 0; j < HASH_BYTES / 8 && j * 8 < size; j++) {
		__u64 word = word_at(w->hashed, start + j * 8);

		if (j * 8 + 8 > size)
			word = word << unused * 8 >> unused * 8;
		hash = mix(hash, word);
	}
	return hash;
}

static long hash_step(__u32 i, void *arg)
{
	struct hash_context *c = arg;
	struct walk *w = walk_here();
	__u64 offset = (__u64)i * HASH_BYTES;
	__u64 size;

	if (!w || offset >= c->size)
		return 1;
	size = c->size - offset;
	if (size > HASH_BYTES)
		size = HASH_BYTES;
	opaque(size);
	if (size > HASH_BYTES ||
	    walk_read(w->hashed, size, c->address + offset))
		return 1;
	c->hash = hash_more(c->hash, 0, size);
	return 0;
}

static __always_inline __u64 bytes_hash(__u64 address, __u64 size)
{
	struct hash_context c = { .address = address, .size = size,
				  .hash = size };

	if (c.size > HASHED_BYTES)
		c.size = HASHED_BYTES;
	walk_loop((c.size + HASH_BYTES - 1) / HASH_BYTES, hash_step, &c);
	return c.hash;
}

/*
 * Of a str so many bytes of which stand in w->hashed: by the hash that it has already,
 * else by its text, if that is there. 0: it is not.
 */
static __always_inline __u64 short_text_hash(struct walk *w, __u32 bytes)
{
	const struct py_layout *l = &w->process.layout;
	__u64 size = word_at(w->hashed, l->text_length);
	__u64 hash = word_at(w->hashed, l->text_length + 8);
	__u32 state = half_at(w->hashed, l->text_state);

	if (hash != ~0ULL)
		return mix(size, hash);
	if ((l->flags & PY_BYTE_TEXTS) || !(state & l->text_compact_mask) ||
	    !(state & l->text_ascii_mask) ||
	    l->text_ascii_data > bytes || size > bytes - l->text_ascii_data)
		return 0;
	return hash_more(size, l->text_ascii_data, size);
}

/* Of any str; several reads. */
static __always_inline __u64 long_text_hash(struct walk *w, __u64 str)
{
	const struct py_layout *l = &w->process.layout;
	/* Length and hash follow each other in every release. */
	__u64 head[2] = {};
	struct walker_text text;
	__u64 address;

	if (walk_read(head, sizeof(head), str + l->text_length))
		return 0;
	if (head[1] != ~0ULL)
		return mix(head[0], head[1]);
	address = text_describe(l, str, WALKER_MAX_FILENAME, &text);
	return bytes_hash(address, text.size);
}

/*
 * What a str says. Filenames and qualified names often have no hash, so the text is read
 * with the head.
 */
WALK_APART __u64 text_hash(__u64 str)
{
	struct walk *w = walk_here();
	__u64 hash = 0;

	if (!w)
		return 0;
	if (!walk_read(w->hashed, HASH_BYTES, str))
		hash = short_text_hash(w, HASH_BYTES);
	return hash ? hash : long_text_hash(w, str);
}

/* Of a name, which is short. */
static __always_inline __u64 name_hash(struct walk *w, __u64 str)
{
	__u64 hash = 0;

	if (!walk_read(w->hashed, SHORT_TEXT_BYTES, str))
		hash = short_text_hash(w, SHORT_TEXT_BYTES);
	return hash ? hash : text_hash(str);
}

static __always_inline __u64 filename_hash(struct walk *w, __u64 filename)
{
	struct walk_filename_slot *slot;
	__u64 i = mix(0, filename) >> 32;

	opaque(i);
	slot = &w->filenames[i & (FILENAME_SLOTS - 1)];
	if (slot->filename != filename || slot->walk != w->number_of_walk) {
		slot->hash = text_hash(filename);
		slot->filename = filename;
		slot->walk = w->number_of_walk;
	}
	return slot->hash;
}

/*
 * What no other process has, and no other program in this one: pids and addresses
 * are used again, also by the children of one process, one after the other.
 */
static __always_inline __u64 process_identity(const struct walker_process *process,
					      __u32 pid)
{
	return mix(mix(mix(0, process->birth), pid), process->era);
}

/* Takes what is looked at of a code object; not a byte more, there may be none. */
static __always_inline long read_code(struct walk *w, __u64 code)
{
	__u64 size = w->process.layout.code_id_end;

	opaque(size);
	if (size > CODE_BYTES)
		return 1;
	return walk_read(w->code, size, code);
}

static __always_inline __u64 identity_term(const struct walk *w, __u32 at)
{
	return *(const walk_word *)(w->code + at) * factor(at);
}

/*
 * The numbers and pointers that stay the same while a code object lives. A sum
 * of products, none of which waits for another as those of mix() do: this is
 * done for every frame. In one loop that asks for both bounds, clang 19 would unroll
 * nothing.
 */
static __always_inline __u64 identity_hash(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 sum = 0;

	/* 3.11 counts in here how often the code has run. */
	if (l->code_id_hole_end > l->code_id_hole_start)
		*(walk_half *)(w->code + (l->code_id_hole_start & 0xfc)) = 0;
	WALK_UNROLL
	for (__u32 at = 16; at < CODE_ID_START; at += 8)
		if (at >= l->code_id_start)
			sum += identity_term(w, at);
	WALK_UNROLL
	for (__u32 at = CODE_ID_START; at < CODE_ID_END; at += 8)
		sum += identity_term(w, at);
	WALK_UNROLL
	for (__u32 at = CODE_ID_END; at < CODE_BYTES; at += 8)
		if (at < l->code_id_end)
			sum += identity_term(w, at);
	return sum;
}

/* The texts behind the pointers. */
static __always_inline __u64 names_hash(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 filename = word_at(w->code, l->code_filename);
	__u64 name = word_at(w->code, name_offset(l));

	return mix(filename_hash(w, filename), name_hash(w, name));
}

/* Of a line table that one read takes in with its head; 0: it does not. */
static __always_inline __u64 short_lines_hash(struct walk *w, __u64 lines,
					      __u32 bytes)
{
	const struct py_layout *l = &w->process.layout;
	__u64 size;

	if (walk_read(w->hashed, bytes, lines))
		return 0;
	size = word_at(w->hashed, l->bytes_size);
	if (size > bytes - SHORT_LINES_HEAD ||
	    l->bytes_data != SHORT_LINES_HEAD)
		return 0;
	return hash_more(size, SHORT_LINES_HEAD, size);
}

static __always_inline __u64 lines_hash(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 lines = word_at(w->code, l->code_lines);
	__u64 hash = 0;

	/* Of releases whose tables tell of lines alone, and are short. */
	if (l->lines_format != PY_LINES_LOCATIONS)
		hash = short_lines_hash(w, lines, SHORT_LINES_BYTES);
	if (!hash)
		hash = short_lines_hash(w, lines, HASH_BYTES);
	return hash ? hash :
		      bytes_hash(lines + l->bytes_data,
				 read_u64(lines + l->bytes_size));
}

/*
 * The key of a code object that its version tells from any other that was or will be
 * at its address. 0: that is not known, or this is no code object.
 */
static __always_inline __u64 version_key(struct walk *w, __u64 code)
{
	const struct py_layout *l = &w->process.layout;
	__u64 sum = 0;

	if (!w->versions_tell || walk_read(w->code, VERSION_BYTES, code) ||
	    word_at(w->code, l->object_type) != w->process.code_type ||
	    !half_at(w->code, l->code_version))
		return 0;
	WALK_UNROLL
	for (__u32 at = VERSION_ID_START; at < VERSION_BYTES; at += 8)
		sum += identity_term(w, at);
	return mix(mix(w->identity, code), sum);
}

/*
 * Names the code object by what it is. Its address and its pointers alone would not do:
 * the memory of a freed code object is used again by the next one, and so is
 * that of its parts. From 3.12 on it has a version that no other one of its process has;
 * but the children of one process, or two without random addresses, give the
 * same versions to different code at the same place. 0 if this is no code object.
 */
WALK_APART __u64 code_key(__u64 code)
{
	struct walk *w = walk_here();
	const struct py_layout *l;
	__u64 key;

	if (!w)
		return 0;
	l = &w->process.layout;
	if (read_code(w, code))
		return 0;
	if (word_at(w->code, l->object_type) != w->process.code_type)
		return 0;
	key = mix(mix(w->identity, code), identity_hash(w));
	key = mix(key, names_hash(w));
	if (l->code_version == PY_ABSENT ||
	    !half_at(w->code, l->code_version))
		key = mix(key, lines_hash(w));
	return key ? key : 1;
}

struct lines_context {
	void *ctx;
	__u64 key;
	__u64 address;
	__u32 size;
	__u32 pid;
	__u32 failed;
};

static long emit_lines_step(__u32 i, void *arg)
{
	struct lines_context *c = arg;
	struct walker_lines *r = walk_lines_record();
	__u32 offset = i * WALKER_CHUNK_LINES;
	__u64 size;

	if (!r || offset >= c->size)
		return 1;
	size = c->size - offset;
	if (size > WALKER_CHUNK_LINES)
		size = WALKER_CHUNK_LINES;
	r->header.type = WALKER_LINES;
	r->header.pid = c->pid;
	r->key = c->key;
	r->offset = offset;
	r->size = size;
	opaque(size);
	if (size > WALKER_CHUNK_LINES)
		return 1;
	if (walk_read(r->bytes, size, c->address + offset) ||
	    walk_emit(c->ctx, r,
		      __builtin_offsetof(struct walker_lines, bytes) + size)) {
		c->failed = 1;
		return 1;
	}
	return 0;
}

static __always_inline int emit_lines(void *ctx,
				      struct walk *w, __u64 key, __u64 table,
				      __u32 size)
{
	struct lines_context c = {
		.ctx = ctx,
		.key = key,
		.address = table + w->process.layout.bytes_data,
		.size = size,
		.pid = w->pid,
	};

	walk_loop(WALKER_MAX_LINES_CHUNKS, emit_lines_step, &c);
	return c.failed;
}

/* Writes the records of a code object. */
static __noinline int emit_code(void *ctx, __u64 code, __u64 key)
{
	struct walk *w = walk_here();
	struct walker_code *r = walk_code_record();
	const struct py_layout *l;
	__u64 filename, name, lines, size;
	__u64 a, b;

	if (!w || !r || read_code(w, code))
		return 1;
	l = &w->process.layout;
	r->header.type = WALKER_CODE;
	r->header.pid = w->pid;
	r->key = key;
	r->address = code;
	r->first_line = half_at(w->code, l->code_first_line);
	lines = word_at(w->code, l->code_lines);
	size = read_u64(lines + l->bytes_size);
	r->lines_size = size <= WALKER_MAX_LINES ? size : ~0u;
	r->lines_format = l->lines_format;
	filename = text_describe(l, word_at(w->code, l->code_filename),
				 WALKER_MAX_FILENAME, &r->filename);
	name = text_describe(l, word_at(w->code, name_offset(l)),
			     WALKER_MAX_NAME, &r->name);
	a = r->filename.size;
	b = r->name.size;
	opaque(a);
	opaque(b);
	if (a > WALKER_MAX_FILENAME || b > WALKER_MAX_NAME)
		return 1;
	if (walk_read(r->text, a, filename))
		return 1;
	if (walk_read(r->text + a, b, name))
		return 1;
	if (walk_emit(ctx, r,
		      __builtin_offsetof(struct walker_code, text) + a + b))
		return 1;
	if (r->lines_size == ~0u)
		return 0;
	return emit_lines(ctx, w, key, lines, r->lines_size);
}

/*
 * Has the records of a code object written, unless they are. What finds no room is tried
 * again at the next sight; until then its frames count as unreadable.
 */
static __always_inline int tell_code(void *ctx, __u64 code, __u64 key)
{
	if (walk_has_code(key))
		return 1;
	if (emit_code(ctx, code, key))
		return 0;
	walk_put_code(key);
	return 1;
}

/* The key of a code object, whose records are in the ring afterwards. */
static __always_inline __u64 code_of(void *ctx,
				     struct walk *w, __u64 code)
{
	struct walk_code_slot *slot = walk_code_slot(code);
	__u64 key;

	if (!slot)
		return 0;
	if (slot->code == code && slot->walk == w->number_of_walk)
		return slot->key;
	key = version_key(w, code);
	if (!key)
		key = code_key(code);
	if (!key)
		return 0;
	if (key != slot->key || !slot->told)
		slot->told = tell_code(ctx, code, key);
	slot->code = code;
	slot->key = key;
	slot->walk = w->number_of_walk;
	return key;
}

#endif

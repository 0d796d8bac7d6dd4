// SPDX-License-Identifier: GPL-2.0-only
#include "agent/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/announce.h"
#include "agent/capi.h"
#include "agent/evaluator.h"
#include "agent/lock.h"
#include "agent/lost.h"
#include "agent/qualname.h"
#include "agent/symbol.h"

/* --- strings --- */

/* One more character than can be shown, so that the cut is seen. */
enum {
	QUALNAME_BYTES = AGENT_QUALNAME_MAX + 4,
	FILENAME_BYTES = AGENT_FILENAME_MAX + 4,
};

#define FORKED " [forked]"

struct text {
	char symbol[AGENT_SYMBOL_SIZE];
	char qualname[QUALNAME_BYTES + sizeof(FORKED)];
	char filename[FILENAME_BYTES + 1];
};

static size_t put_utf8(char *out, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (size == 1) {
		*out = (char)c;
		return 1;
	}
	for (size_t i = size - 1; i; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[size] | c);
	return size;
}

/*
 * A str in UTF-8, surrogates like any other code point: CPython's own encoders would
 * refuse them or run Python code. At most max bytes, and a NUL; its size.
 */
static size_t put_str(char *out, size_t max, void *str)
{
	ssize_t length = str ? capi.PyUnicode_GetLength(str) : 0;
	size_t size = 0;

	if (length < 0)
		capi.PyErr_Clear();
	for (ssize_t i = 0; i < length && size + 4 <= max; i++)
		size += put_utf8(out + size, capi.PyUnicode_ReadChar(str, i));
	out[size] = '\0';
	return size;
}

/* --- announcing --- */

static bool has_slot(const struct code_entry *entry, uint8_t id)
{
	return entry->backend == id && entry->call &&
	       entry->call != (void *)agent_call_plainly;
}

/* Under the lock. What a full disk or the like means is the backend's matter. */
static void announce_text(struct code_entry *entry, const struct text *text,
			  size_t size, const struct agent_backend *backend,
			  uint8_t id)
{
	const struct agent_symbol symbol = {
		.name = text->symbol,
		.name_size = size,
		.filename = text->filename,
		.first_line = entry->first_line,
	};

	if (!has_slot(entry, id)) {
		entry->call = backend->take();
		entry->backend = id;
	}
	if (entry->call) {
		backend->announce(entry->call, &symbol);
		return;
	}
	agent_not_announced(errno);
	entry->call = (void *)agent_call_plainly;
}

static void announce(struct code_entry *entry, const char *suffix,
		     const struct agent_backend *backend, uint8_t id)
{
	struct text *text = malloc(sizeof(*text));
	size_t qualname, filename, size;

	if (!text) {
		/* Tried again at the next call. */
		entry->call = (void *)agent_call_plainly;
		return;
	}
	qualname = put_str(text->qualname, QUALNAME_BYTES, entry->qualname);
	memcpy(text->qualname + qualname, suffix, strlen(suffix));
	qualname += strlen(suffix);
	filename = put_str(text->filename, FILENAME_BYTES, entry->filename);
	size = agent_symbol_write(text->qualname, qualname, text->filename,
				  filename, text->symbol);
	agent_lock();
	announce_text(entry, text, size, backend, id);
	agent_unlock();
	lost_begins();
	free(text);
	entry->code &= ~(uintptr_t)1;
}

void slots_announce(struct code_entry *entry,
		    const struct agent_backend *backend, uint8_t id)
{
	announce(entry, "", backend, id);
}

void slots_announce_forked(struct code_entry *entry,
			   const struct agent_backend *backend, uint8_t id)
{
	announce(entry, FORKED, backend, id);
	entry->code |= 1;
	entry->call = NULL;
}

/* --- what a code object is --- */

/* What an entry says of a code object; borrowed, without a qualified name. */
static struct code_entry identify(void *code)
{
	const struct py_layout *layout = &capi.layout;
	bool has_qualname = layout->code_qualname != PY_ABSENT;

	return (struct code_entry){
		.code = (uintptr_t)code | 1,
		.name = capi_pointer_at(code, capi_name_offset(layout)),
		.filename = capi_pointer_at(code, layout->code_filename),
		.bytes = has_qualname ? NULL :
					capi_pointer_at(code, layout->code_bytes),
		.first_line = *(const int *)((const char *)code +
					     layout->code_first_line),
	};
}

static bool same(const struct code_entry *a, const struct code_entry *b)
{
	return a->name == b->name && a->filename == b->filename &&
	       a->bytes == b->bytes && a->first_line == b->first_line;
}

static void take_references(const struct code_entry *entry)
{
	capi.Py_IncRef(entry->name);
	capi.Py_IncRef(entry->filename);
	capi.Py_IncRef(entry->bytes);
}

/* Legal for NULLs. */
static void drop_references(const struct code_entry *entry)
{
	capi.Py_DecRef(entry->name);
	capi.Py_DecRef(entry->filename);
	capi.Py_DecRef(entry->bytes);
	capi.Py_DecRef(entry->qualname);
}

void slots_drop_references(struct codes *codes)
{
	for (struct code_entry *entry = codes_next(codes, NULL); entry;
	     entry = codes_next(codes, entry))
		drop_references(entry);
}

/* A new reference, NULL if there is no name. */
static void *qualname_of(void *code, const struct code_entry *identity)
{
	if (!identity->bytes)
		capi.Py_IncRef(identity->name);
	return identity->bytes ? agent_qualname(code) : identity->name;
}

const struct code_entry *slots_entry(struct codes *codes, void *code,
				     const struct agent_backend *backend,
				     uint8_t id)
{
	struct code_entry *entry = codes_find(codes, (uintptr_t)code);
	struct code_entry old = {}, made = identify(code);

	if (!entry || !same(entry, &made)) {
		/* May come here again for other code, or for this one. */
		made.qualname = qualname_of(code, &made);
		take_references(&made);
		entry = codes_insert(codes, (uintptr_t)code);
		if (!entry) {
			drop_references(&made);
			return NULL;
		}
		old = *entry;
		*entry = made;
	}
	if (!code_entry_announced(entry) || entry->backend != id)
		slots_announce(entry, backend, id);
	/* A str of a class of its own may run code now, and move entries. */
	drop_references(&old);
	return codes_find(codes, (uintptr_t)code);
}

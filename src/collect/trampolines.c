// SPDX-License-Identifier: GPL-2.0-only
#include "collect/trampolines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "obj/perf_map.h"
#include "symbolize/perf_map_file.h"
#include "sys/proc.h"

enum {
	/* Read at once; a line is at most PERF_MAP_LINE_MAX. */
	CHUNK = 1 << 20,
	/* More pieces are put together into one. */
	PIECES_MAX = 8,
	/* Ancestors that are asked: a daemon forks twice. */
	ANCESTORS_MAX = 64,
};

/* docs/agent.md: "py::<qualname>:<filename>". */
#define PREFIX "py::"
/* Behind the qualified name of what a child's stack has from before the fork. */
#define FORKED " [forked]"

struct error *trampolines_create(uint32_t pid, uid_t owner,
				 struct trampolines **ret)
{
	struct trampolines *trampolines = calloc(1, sizeof(*trampolines));

	if (!trampolines)
		return error_no_memory();
	trampolines->pid = pid;
	trampolines->owner = owner;
	trampolines->owners = 1;
	*ret = trampolines;
	return NULL;
}

static void forget(struct trampolines *trampolines)
{
	vec_for_each(piece, &trampolines->pieces)
		symtab_deinit(piece);
	vec_deinit(&trampolines->pieces);
	map_clear(&trampolines->codes);
	trampolines->read_to = 0;
}

void trampolines_destroy(struct trampolines *trampolines)
{
	while (trampolines && !--trampolines->owners) {
		struct trampolines *parent = trampolines->parent;

		forget(trampolines);
		map_deinit(&trampolines->codes);
		error_destroy(trampolines->refusal);
		free(trampolines);
		trampolines = parent;
	}
}

/* --- reading the map --- */

/* Puts all pieces into one: later ones win. */
static struct error *merge_pieces(struct trampolines *trampolines)
{
	struct symtab all = {};
	struct error *error = NULL;

	vec_for_each(piece, &trampolines->pieces) {
		for (size_t i = 0; !error && i < piece->count; i++) {
			const struct symbol *s = &piece->symbols[i];

			error = symtab_add(&all, s->start, s->end - s->start,
					   s->name, strlen(s->name), s->type,
					   s->binding, 0);
		}
	}
	if (!error)
		error = symtab_finish(&all, SYMTAB_LAST_WINS, 0);
	if (error) {
		symtab_deinit(&all);
		return error;
	}
	vec_for_each(piece, &trampolines->pieces)
		symtab_deinit(piece);
	trampolines->pieces.data[0] = all;
	trampolines->pieces.count = 1;
	return NULL;
}

static struct error *add_piece(struct trampolines *trampolines,
			       struct symtab *piece)
{
	struct error *error = symtab_finish(piece, SYMTAB_LAST_WINS, 0);

	if (!error && piece->count) {
		if (!vec_push(&trampolines->pieces, *piece))
			return error_no_memory();
		*piece = (struct symtab){};
		map_clear(&trampolines->codes);
	}
	if (!error && trampolines->pieces.count > PIECES_MAX)
		error = merge_pieces(trampolines);
	return error;
}

/* Parses whole lines; how many bytes that were is *used. */
static struct error *parse_lines(struct symtab *piece, const char *buf,
				 size_t size, size_t *used)
{
	const char *newline = memrchr(buf, '\n', size);

	*used = newline ? (size_t)(newline + 1 - buf) : 0;
	/* No map has such a line; what follows is taken for the next. */
	if (!newline && size == CHUNK)
		*used = size;
	return newline ? perf_map_parse(buf, *used, piece, NULL) : NULL;
}

static struct error *read_on(struct trampolines *trampolines, int fd,
			     struct symtab *piece)
{
	_cleanup_free_ char *buf = malloc(CHUNK);
	struct error *error = NULL;
	size_t used = 0;
	ssize_t n;

	if (!buf)
		return error_no_memory();
	do {
		n = pread(fd, buf, CHUNK, (off_t)trampolines->read_to);
		used = 0;
		if (n > 0)
			error = parse_lines(piece, buf, (size_t)n, &used);
		trampolines->read_to += used;
	} while (!error && (used || (n < 0 && errno == EINTR)) &&
		 trampolines->read_to < TRAMPOLINE_MAP_MAX);
	return error;
}

static struct error *read_file(struct trampolines *trampolines,
			       const struct perf_map_handle *file)
{
	const struct stat *st = &file->status;
	struct symtab piece = {};
	struct error *error;

	if ((uint64_t)st->st_size > TRAMPOLINE_MAP_MAX)
		return error_at(ERROR_LIMIT, file->path, 0,
				"the perf map is too large");
	/* Made anew: what an earlier process with this pid left is void. */
	if (st->st_dev != trampolines->device ||
	    st->st_ino != trampolines->inode ||
	    (uint64_t)st->st_size < trampolines->read_to)
		forget(trampolines);
	trampolines->device = st->st_dev;
	trampolines->inode = st->st_ino;
	if ((uint64_t)st->st_size == trampolines->read_to)
		return NULL;
	error = read_on(trampolines, file->fd, &piece);
	if (!error)
		error = add_piece(trampolines, &piece);
	symtab_deinit(&piece);
	return error;
}

static struct error *open_file(const struct trampolines *trampolines,
			       struct perf_map_handle *ret)
{
	pid_t pid = (pid_t)trampolines->pid;
	struct error *error = perf_map_file_open_live(NULL, pid, ret);

	if (!error || error->code != ERROR_NOT_FOUND)
		return error;
	error_destroy(error);
	return perf_map_file_open(NULL, pid, trampolines->owner, ret);
}

static struct error *refresh(struct trampolines *trampolines, uint64_t round)
{
	struct perf_map_handle file = { .fd = -1 };
	struct error *error;

	if (trampolines->frozen || trampolines->round == round)
		return NULL;
	trampolines->round = round;
	error = open_file(trampolines, &file);
	if (!error)
		error = read_file(trampolines, &file);
	perf_map_handle_deinit(&file);
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	/* None; or not to be trusted, or too large: no names then. */
	if (error->code == ERROR_NOT_FOUND || trampolines->refusal)
		error_destroy(error);
	else
		trampolines->refusal = error;
	return NULL;
}

struct error *trampolines_freeze(struct trampolines *trampolines)
{
	struct error *error = refresh(trampolines, UINT64_MAX);

	trampolines->frozen = true;
	return error;
}

/* --- asking --- */

static const struct symbol *known(const struct trampolines *trampolines,
				  uint64_t address)
{
	for (size_t i = trampolines->pieces.count; i-- > 0;) {
		const struct symbol *symbol = symtab_find(
			&trampolines->pieces.data[i], address);

		if (symbol)
			return symbol;
	}
	return NULL;
}

static bool is_python(const struct symbol *symbol)
{
	return !strncmp(symbol->name, PREFIX, strlen(PREFIX));
}

static bool ends_in(struct bytes text, const char *end)
{
	size_t size = strlen(end);

	return text.size > size &&
	       !memcmp(text.data + text.size - size, end, size);
}

static struct error *take_code(struct trampolines *trampolines,
			       const struct symbol *symbol,
			       struct code_table *codes, struct code **ret)
{
	uint64_t *index = map_find(&trampolines->codes, symbol->start);
	const char *name = symbol->name + strlen(PREFIX);
	const char *colon = strchrnul(name, ':');
	struct bytes qualname = { (const uint8_t *)name,
				  (size_t)(colon - name) };
	struct bytes filename = { (const uint8_t *)colon + (*colon == ':'),
				  strlen(colon) - (*colon == ':') };
	uint64_t made;
	struct error *error;

	if (ends_in(qualname, FORKED))
		qualname.size -= strlen(FORKED);
	if (!index) {
		error = code_table_named(codes, trampolines->pid, filename,
					 qualname, &made);
		if (error)
			return error;
		index = map_insert(&trampolines->codes, symbol->start, made,
				   NULL);
		if (!index)
			return error_no_memory();
	}
	*ret = codes->codes.data[*index];
	return NULL;
}

/*
 * The process was there before the recording, and what it was forked from may not be
 * recorded.
 */
static struct error *find_parent(struct trampolines *trampolines)
{
	struct proc_status status;
	struct error *error;

	if (trampolines->parent_sought || trampolines->frozen)
		return NULL;
	trampolines->parent_sought = true;
	error = proc_status_read(NULL, (pid_t)trampolines->pid, &status);
	if (error || status.ppid <= 1) {
		error_destroy(error);
		return NULL;
	}
	return trampolines_create((uint32_t)status.ppid, trampolines->owner,
				  &trampolines->parent);
}

/* In this process's own map; read on if need be. */
static struct error *find_own(struct trampolines *trampolines,
			      uint64_t address, uint64_t round,
			      const struct symbol **ret)
{
	struct error *error;

	*ret = known(trampolines, address);
	if (*ret)
		return NULL;
	error = refresh(trampolines, round);
	if (!error)
		*ret = known(trampolines, address);
	return error;
}

struct error *trampolines_find(struct trampolines *trampolines,
			       uint64_t address, uint64_t round,
			       struct code_table *codes, struct code **ret)
{
	const struct symbol *symbol = NULL;
	struct error *error = NULL;

	*ret = NULL;
	for (int i = 0; !error && trampolines && i < ANCESTORS_MAX; i++) {
		error = find_own(trampolines, address, round, &symbol);
		if (error || symbol)
			break;
		if (!trampolines->parent)
			error = find_parent(trampolines);
		trampolines = trampolines->parent;
	}
	if (error || !symbol || !is_python(symbol))
		return error;
	return take_code(trampolines, symbol, codes, ret);
}

void trampolines_set_parent(struct trampolines *trampolines,
			    struct trampolines *parent)
{
	if (parent)
		parent->owners++;
	trampolines_destroy(trampolines->parent);
	trampolines->parent = parent;
	trampolines->parent_sought = true;
}

/* --- code --- */

void trampolines_set_code(struct trampolines *trampolines, const void *code,
			  size_t size)
{
	if (size > TRAMPOLINE_CODE_MAX)
		size = TRAMPOLINE_CODE_MAX;
	memcpy(trampolines->code, code, size);
	trampolines->code_size = size;
}

static const struct trampolines *
with_code(const struct trampolines *trampolines)
{
	for (int i = 0; trampolines && i < ANCESTORS_MAX; i++) {
		if (trampolines->code_size)
			return trampolines;
		trampolines = trampolines->parent;
	}
	return NULL;
}

static const struct symbol *
known_to_any(const struct trampolines *trampolines, uint64_t address)
{
	const struct symbol *symbol = NULL;

	for (int i = 0; !symbol && trampolines && i < ANCESTORS_MAX; i++) {
		symbol = known(trampolines, address);
		trampolines = trampolines->parent;
	}
	return symbol;
}

bool trampolines_read_code(const struct trampolines *trampolines,
			   uint64_t address, void *buf, size_t size)
{
	const struct trampolines *source = with_code(trampolines);
	uint8_t *out = buf;
	bool found = false;

	if (!source)
		return false;
	memset(out, 0, size);
	for (size_t i = 0; i < size; i++) {
		const struct symbol *symbol =
			known_to_any(trampolines, address + i);
		uint64_t offset = symbol ? address + i - symbol->start : 0;

		if (!symbol || !is_python(symbol) ||
		    offset >= source->code_size)
			continue;
		out[i] = source->code[offset];
		found = true;
	}
	return found;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code objects of a recording: from what the walker captured to addresses
 * in the reserved range. A code object has its address for the whole recording;
 * each file of the recording has to say of it what it is.
 *
 * Of those that trampolines tell of, only the names are known.
 *
 * The walker names a code object by a key (a hash of what it is and where it
 * lies); one code object may be captured under several keys, in several
 * processes. Here it is told by its content (names, first line, lines), which
 * gets one span of addresses for the whole recording.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_CODE_SPANS_H
#define KAA_COLLECT_CODE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"
#include "collect/def_files.h"
#include "python/linetable.h"

/* One code object, by content. */
struct code {
	/* Start of its span; 0 until an address is asked for. It keeps it. */
	uint64_t start;
	uint32_t slots;
	/* The file that its CODE payloads were made for last; 0: none. */
	uint32_t written_in;
	/* 0: not known. */
	uint32_t first_line;
	/* UTF-8, escaped; owned by the table. */
	const char *filename;
	const char *qualname;
	struct py_lines lines;
	/* A frame of the interpreter's own that no traceback shows. */
	bool internal;
	/* There is no line table, or it could not be read or decoded. */
	bool no_lines;
	/*
	 * Slots of the first payload, and of each that follows: a long function
	 * takes several, each with a slot 0 of its own. Only if slots are more
	 * than fit into one.
	 */
	VEC(uint32_t) pieces;
	uint64_t content_hash;
};

struct code_table {
	/* Key of the walker to the process that has it << 32 | index in codes. */
	struct map by_key;
	/* So many keys are looked through for those that nobody has any more. */
	size_t forget_at;
	/* Hash of the content to index in codes. */
	struct map by_content;
	VEC(struct code *) codes;
	/* Captured in part: lines are still to come. */
	struct map pending_by_key;
	VEC(struct code_pending *) pending;
	struct arena strings;
	/* For those of which only names are known; NULL: they have no lines. */
	struct def_files *def_files;
	/* How often a key was given a code object, which may be a second one. */
	uint32_t changes;
	uint64_t next_address;
	/* The file that payloads are for, from 1 up: struct output. */
	uint32_t file;
	/* Captures that make no sense or found no room: their frames are unreadable. */
	uint64_t broken;
	/* Code objects whose line table could not be read. */
	uint64_t without_lines;
	/*
	 * Bytes of all contents and keys, and how many there may be: a program can
	 * make new code for ever. What comes then is counted in broken. Contents
	 * stay, and the keys of processes that are there (code_table_forget()).
	 */
	size_t memory;
	size_t memory_max;
};

void code_table_init(struct code_table *table);
void code_table_deinit(struct code_table *table);

/* There is no room for new code objects any more. */
bool code_table_is_full(const struct code_table *table);

/*
 * Takes a CODE or LINES record of the walker. Records that make no sense are
 * counted in broken.
 */
struct error *code_table_record(struct code_table *table, const void *record,
				size_t size);

/*
 * The code object of which nothing but these names is known, in a process that
 * runs it: its first line is that of its source (collect/def_files.h), or 0, and
 * it has no other lines. *ret is its index in codes; it is added if it is
 * new. Names are UTF-8, or claim to be.
 */
struct error *code_table_named(struct code_table *table, uint32_t pid,
			       struct bytes filename, struct bytes qualname,
			       uint64_t *ret);

/* The code object that the walker calls key, or NULL. */
struct code *code_table_find(const struct code_table *table, uint64_t key);

/*
 * Frees the keys of processes of which no sample can come any more, which
 * is_known(pid) denies: each process has keys of its own. Looks only once there are
 * twice as many as the last look has left; to be called now and then.
 */
void code_table_forget(struct code_table *table,
		       bool (*is_known)(void *arg, uint32_t pid), void *arg);

/*
 * The callchain address for an instruction at a byte offset of the code (-1:
 * not begun). If the file does not have them yet, its CODE payloads are appended to
 * *payloads, each after a u32 with its size, before anything refers to it.
 * ERROR_LIMIT when the reserved range is full.
 */
struct error *code_table_address(struct code_table *table, struct code *code,
				 int64_t offset, struct strbuf *payloads,
				 uint64_t *ret);

#endif

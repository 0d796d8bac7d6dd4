/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a jitdump (version 1): what a JIT compiler tells of the code that it
 * makes, with names, bytes, lines, unwind information and times.
 *
 *	struct jitdump dump;
 *	err = jitdump_init(&dump, data, size, path);
 *	while (jitdump_next(&dump, &record)) ...
 *
 * No I/O, no allocation: all pointers in a record lead into the data and live as
 * long as it. The bytes are hostile, and may be those of a file that still
 * grows: a record that does not end, or whose size makes no sense, ends the
 * reading (truncated_bytes); one whose fields do not fit into it is left out
 * (broken). Lines outside their code, or of a file whose name is no text, are
 * those of a broken writer (Node.js 20): the load has none. Both byte orders
 * are read.
 *
 * Source: tools/perf/Documentation/jitdump-specification.txt of Linux. What it
 * leaves open is as tools/perf/util/jitdump.c and genelf.c have it: lines and
 * unwind information belong to the next load; of the unwind information
 * .eh_frame comes first, then .eh_frame_hdr; they are made for the first
 * multiple of eight behind the code; an entry's file name "\xff" is that of the
 * entry before. V8 adds the size of an ELF header to the addresses of lines, which
 * old perfs did not (src/diagnostics/perf-jit.cc; seen in Node.js 20): undone here.
 */
#ifndef KAA_OBJ_JITDUMP_H
#define KAA_OBJ_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

enum jitdump_type {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
};

/* Where code of an address comes from. */
struct jitdump_line {
	uint64_t address;
	/* From 1; a negative one in the file is 0. */
	uint32_t line;
	uint32_t discriminator;
	/* NUL-terminated; the same pointer in entries that take over the one before. */
	const char *file;
};

/* The lines of a load, in the order of the file. A copy can be read anew. */
struct jitdump_lines {
	struct reader reader;
	/* Entries to come. */
	uint64_t left;
	/* Of the entry before; NULL: this is the first. */
	const char *file;
	/* What the writer added to the addresses. */
	uint64_t skew;
};

struct jitdump_unwinding {
	/* Empty: none. */
	struct bytes eh_frame;
	struct bytes eh_frame_hdr;
	/* Bytes behind the code that the process has mapped for them. */
	uint64_t mapped_size;
};

/* LOAD, MOVE or CLOSE; the others are handed out with their load. */
struct jitdump_record {
	enum jitdump_type type;
	/* On the dump's clock. */
	uint64_t time;
	/* As the process sees itself. */
	uint32_t pid;
	uint32_t tid;
	/* Where the code runs; of a move, from then on. Never wraps. */
	uint64_t address;
	uint64_t size;
	/* Another one for each load. */
	uint64_t index;
	/* MOVE only. */
	uint64_t old_address;
	/* LOAD only: NUL-terminated; `size` bytes. */
	const char *name;
	struct bytes code;
	/* All of them in the code, or at its end; with names that are text. */
	struct jitdump_lines lines;
	struct jitdump_unwinding unwinding;
};

/* Read only for users. */
struct jitdump {
	/*
	 * Of the header: ELF e_machine (0 in dumps of CPython 3.13.0); the
	 * process as it sees itself.
	 */
	uint32_t machine;
	uint32_t pid;
	/* When the dump was begun. */
	uint64_t timestamp;
	/*
	 * Times are the CPU's own counter (x86-64: the TSC); else, by
	 * convention, ns of CLOCK_MONOTONIC.
	 */
	bool arch_timestamp;
	bool big_endian;
	/* Bytes at the end that are no whole record. */
	uint64_t truncated_bytes;
	/* Records whose fields do not fit, and of unknown types. */
	uint64_t broken;
	/* Loads whose lines make no sense and were left out. */
	uint64_t broken_lines;
	/* Names in lines that were looked at: each once, for all entries that share it. */
	uint64_t names;
	uint64_t unknown;
	/* Private. */
	struct reader reader;
	uint64_t lines_address;
	struct jitdump_lines lines;
	struct jitdump_unwinding unwinding;
};

/*
 * Reads the header. ERROR_FORMAT: no jitdump; ERROR_UNSUPPORTED: another version
 * or unknown flags; ERROR_TRUNCATED. path (may be NULL) is for messages, and
 * borrowed, as is the data.
 */
struct error *jitdump_init(struct jitdump *dump, const void *data, size_t size,
			   const char *path);
/* False at the end. */
bool jitdump_next(struct jitdump *dump, struct jitdump_record *ret);
/* False at the end, and where the entries break off. */
bool jitdump_next_line(struct jitdump_lines *lines, struct jitdump_line *ret);

/*
 * The number in ".../jit-NUMBER.dump": the pid of the process that maps the file
 * of this name, as it sees itself, by which readers find the dump. False if the
 * name is another one.
 */
bool jitdump_name(const char *path, uint32_t *pid);

#endif

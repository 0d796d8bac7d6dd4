/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The jitdump of a process: found, read, and turned into a table that tells which
 * code stood at an address at a time.
 *
 * The file is found by its marker, the executable mapping of ".../jit-PID.dump" that
 * each writer of a dump makes for readers to see. It is opened in the process's own
 * root if that process still runs and has one (/proc/PID/root), below symfs if
 * that is set, else where the marker says. It is used only if it is a regular file
 * and no link; if it is the very file that was mapped (device and inode), or else
 * if root or we ourselves own it, its name has the pid of the recording, and it is
 * not from after the recording: another process may have had the pid since.
 *
 * Code whose address is used again holds until the new code's load; moved code
 * until its move. Pointers live as long as the dump. Not thread-safe.
 */
#ifndef KAA_SYMBOLIZE_JIT_TABLE_H
#define KAA_SYMBOLIZE_JIT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "obj/jit_image.h"
#include "obj/jitdump.h"
#include "unwind/cfi.h"

/* Larger dumps are refused; more code is left out (and counted). */
#define JIT_DUMP_SIZE_MAX (2ull << 30)
#define JIT_DUMP_CODES_MAX (4u << 20)

/* What the marker's MMAP record says. */
struct jit_marker {
	const char *path;
	/* As the recording names the process. */
	uint32_t pid;
	/* 0: not known. */
	uint64_t time;
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	/* Times of the recording are CLOCK_MONOTONIC's. */
	bool monotonic;
};

struct jit_dump_options {
	const char *symfs;
	/* Put in front of /proc; see sys/file.h. */
	const char *root;
	/* Take the file whoever's it is. */
	bool force;
	/* Bytes that the file may have, beside JIT_DUMP_SIZE_MAX. */
	uint64_t room;
};

/* How the dump's times become times of the recording. */
struct jit_clock {
	/* The CPU's counter: zero + (t * mult >> shift), of a TIME_CONV record. */
	bool is_counter;
	uint64_t shift;
	uint64_t mult;
	uint64_t zero;
	/* Else: t + offset. */
	int64_t offset;
	/*
	 * The two clocks may have drifted apart since `aligned` (of the dump's):
	 * by less than a thousandth of the time. Code that takes an address
	 * first is dated so much earlier, but not before `aligned`.
	 */
	bool drifts;
	uint64_t aligned;
};

/* From an address of the load on, up to the next one. */
struct jit_line {
	uint64_t address;
	const char *file;
	uint32_t line;
	/* Private: its place in the dump. */
	uint32_t number;
};

typedef VEC(struct jit_line) jit_line_vec;

/* A piece of code where it stands, or once stood. */
struct jit_code {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
	/* ns of the recording's clock: from <= time; moved away at `to`. */
	uint64_t from;
	uint64_t to;
	/* The load's; of moved code that of the load that it was. */
	uint64_t index;
	uint32_t tid;
	bool moved;
	/* Without control characters. Not demangled. */
	const char *name;
	struct bytes code;
	/* Lines are told by addresses from here on. */
	uint64_t loaded_at;
	struct jitdump_lines lines;
	struct jitdump_unwinding unwinding;
	/* See jit_code_cfi(); the dump's. */
	struct cfi_table *cfi;
	/* By address, of two at one the later in the dump last; see jit_code_line(). */
	jit_line_vec sorted_lines;
	/* Order in the dump; of moved code, of the load that it was. */
	uint32_t number;
	uint32_t load;
	/* Private: the highest end up to here. */
	uint64_t reach;
};

/* Read only for users. */
struct jit_dump {
	/* As the process names it; the root in which it was found, or NULL. */
	char *path;
	char *root;
	/* Header and counts; nothing is left to read. */
	struct jitdump header;
	/*
	 * When it was begun, on the clock of its records: the header's time if
	 * that can be, else that of the first record. CPython's header has
	 * microseconds of the wall clock.
	 */
	uint64_t begun;
	/* By start, then by time. */
	VEC(struct jit_code) codes;
	/* Index in codes, by time. */
	VEC(uint32_t) by_time;
	/* Some address was used twice. */
	bool overlaps;
	/* Code beyond JIT_DUMP_CODES_MAX; moves of unknown code. */
	uint64_t left_out;
	/* Bytes of the file. */
	uint64_t size;
	/* Private. */
	uint8_t *data;
	struct arena arena;
};

/*
 * Opens and reads the file of a marker: header alone, codes are still empty.
 * ERROR_NOT_FOUND if there is none, ERROR_PERMISSION if it may be another's.
 */
struct error *jit_dump_open(const struct jit_dump_options *options,
			    const struct jit_marker *marker,
			    struct jit_dump **ret);
/* Fills the table; once. */
struct error *jit_dump_fill(struct jit_dump *dump,
			    const struct jit_clock *clock);
void jit_dump_destroy(struct jit_dump *dump);

/* What an ELF image of a piece of the dump's code is made of; borrowed. */
struct jit_image jit_dump_image(const struct jit_dump *dump,
				const struct jit_code *code);
/*
 * The call frame information of a piece of code at the addresses of its image,
 * indexed at first use; NULL if there is none.
 */
struct cfi_table *jit_code_cfi(struct jit_code *code);
/*
 * The line of an address of the code, sorted at first use; NULL if none is known, or
 * memory runs out.
 */
const struct jit_line *jit_code_line(struct jit_code *code, uint64_t address);
DEFINE_CLEANUP(jit_dump, struct jit_dump *, jit_dump_destroy);

/*
 * The code at an address at a time, or NULL. The answer holds for
 * *valid_from <= time < *valid_to.
 */
struct jit_code *jit_dump_find(struct jit_dump *dump, uint64_t address,
			       uint64_t time, uint64_t *valid_from,
			       uint64_t *valid_to);
/* Some code, of any time, has a byte in [start, end). */
bool jit_dump_has_code(const struct jit_dump *dump, uint64_t start,
		       uint64_t end);
/* How many codes there were by that time. */
size_t jit_dump_count_at(const struct jit_dump *dump, uint64_t time);

/*
 * Opens the folder in which the dump stands, below the root in which it was
 * found.
 */
struct error *jit_dump_open_folder(const struct jit_dump *dump, int *ret);

#endif

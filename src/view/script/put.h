/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa script`: samples and records as text, in the layout of `perf script`
 * (taken from the output of perf 7.2):
 *
 *	comm    1234 [001]  3142.241229:     250000 cpu-clock:
 *	        7f27af23e62a name+0x1a (/path/of/dso)
 *	        ...
 *	<empty line>
 *
 * and one line for a sample of an event without call chains. The parts are
 * appended in this order: script_put_start(), which records have, too;
 * script_put_event(); values of the sample; its place, script_put_chain() or
 * script_put_place(). Works sample by sample, without a model. Control
 * characters in names are shown as '?'.
 */
#ifndef KAA_VIEW_SCRIPT_PUT_H
#define KAA_VIEW_SCRIPT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* What -F names: sets are uint64_t with these bits. */
#define SCRIPT_COMM	      (1ull << 0)
#define SCRIPT_TID	      (1ull << 1)
#define SCRIPT_PID	      (1ull << 2)
#define SCRIPT_TIME	      (1ull << 3)
#define SCRIPT_CPU	      (1ull << 4)
#define SCRIPT_EVENT	      (1ull << 5)
#define SCRIPT_TRACE	      (1ull << 6)
#define SCRIPT_IP	      (1ull << 7)
#define SCRIPT_SYM	      (1ull << 8)
#define SCRIPT_DSO	      (1ull << 9)
#define SCRIPT_ADDR	      (1ull << 10)
#define SCRIPT_SYMOFF	      (1ull << 11)
#define SCRIPT_SRCLINE	      (1ull << 12)
#define SCRIPT_PERIOD	      (1ull << 13)
#define SCRIPT_IREGS	      (1ull << 14)
#define SCRIPT_UREGS	      (1ull << 15)
#define SCRIPT_DATA_SRC	      (1ull << 16)
#define SCRIPT_WEIGHT	      (1ull << 17)
#define SCRIPT_BPF_OUTPUT     (1ull << 18)
#define SCRIPT_PHYS_ADDR      (1ull << 19)
#define SCRIPT_MISC	      (1ull << 20)
#define SCRIPT_TOD	      (1ull << 21)
#define SCRIPT_DATA_PAGE_SIZE (1ull << 22)
#define SCRIPT_CODE_PAGE_SIZE (1ull << 23)
#define SCRIPT_INS_LAT	      (1ull << 24)
#define SCRIPT_CGROUP	      (1ull << 25)
#define SCRIPT_RETIRE_LAT     (1ull << 26)
#define SCRIPT_DSOFF	      (1ull << 27)
#define SCRIPT_FLAGS	      (1ull << 28)
#define SCRIPT_BRSTACK	      (1ull << 29)
#define SCRIPT_BRSTACKSYM     (1ull << 30)
#define SCRIPT_BRSTACKOFF     (1ull << 31)
/* Understood, and never there: of traces that only processors make. */
#define SCRIPT_NEVER	      (1ull << 32)
#define SCRIPT_THREAD	      (1ull << 33)
#define SCRIPT_PYSYM	      (1ull << 34)
#define SCRIPT_PYLINE	      (1ull << 35)
#define SCRIPT_SPENT	      (1ull << 36)

/* What a sample or record begins with. Strings are borrowed. */
struct script_start {
	const char *comm;
	int32_t pid;
	int32_t tid;
	int32_t cpu;
	/* Letters for the record's flags. */
	const char *misc;
	/* Date and time of day; NULL: not known. */
	const char *tod;
	/* ns, as shown. */
	uint64_t time;
	/* Fields wanted. */
	uint64_t fields;
	/* Nine decimals in times. */
	bool ns;
	/* perf's -L: the name cut, the CPU without brackets. */
	bool latency;
	/* The event has chains: the name is not aligned. */
	bool has_chain;
};

/* A place in code. Strings are borrowed. */
struct script_frame {
	uint64_t address;
	/* NULL: unknown. */
	const char *name;
	/* address - start of the symbol. */
	uint64_t offset;
	/* Path; NULL: unknown. */
	const char *dso;
	/* Its short name. */
	const char *dso_name;
	/* For lines: NULL and 0 are unknown; then dso_name[rel] is shown. */
	const char *file;
	uint32_t line;
	uint64_t rel;
	/* For dsoff: where in the file; none if it is no file. */
	uint64_t file_offset;
	bool is_file;
	/* Into the next frame. */
	bool is_inlined;
	/* Show all of file, and not its last part alone. */
	bool full_path;
};

void script_put_start(struct strbuf *out, const struct script_start *start);
/* name_width: of the widest event name of the file. */
void script_put_event(struct strbuf *out, uint64_t fields, uint64_t period,
		      const char *name, int name_width);
/* A chain, leaf first, each frame on a line of its own. */
void script_put_chain(struct strbuf *out, uint64_t fields,
		      const struct script_frame *frames, size_t count);
/* One place on the sample's own line. */
void script_put_place(struct strbuf *out, uint64_t fields,
		      const struct script_frame *frame);
/* "symbol+0x1 (dso)" as far as fields say, each with a blank before. */
void script_put_symbol(struct strbuf *out, uint64_t fields,
		       const struct script_frame *frame);
/* A name from the recording: it must not command the terminal. */
void script_put_name(struct strbuf *out, const char *name);
/* Lower-case hexadecimal, padded on the left. */
void script_put_hex(struct strbuf *out, uint64_t value, size_t width);

#endif

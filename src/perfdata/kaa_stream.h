/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kaa stream: what names the Python frames of a recording, as RAW
 * payloads of the event `kaa`. The format is in docs/formats/kaa-stream.md.
 *
 * A payload is encoded as the bytes after the u32 size of PERF_SAMPLE_RAW; the
 * decoder is given record->sample.raw and raw_size and ignores what pads it.
 * Decoded structures borrow from the payload. Thread-safe: no state.
 */
#ifndef KAA_PERFDATA_KAA_STREAM_H
#define KAA_PERFDATA_KAA_STREAM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/strbuf.h"

#define KAA_EVENT_NAME "kaa"
#define KAA_STREAM_MAGIC 0x3161616bu
/* The most bytes of a payload. */
#define KAA_STREAM_MAX 60000
/* The most bytes of a string. */
#define KAA_STREAM_MAX_STRING 65535

/* The reserved range of Python addresses. */
#define KAA_BASE 0x6b6100000000ull
#define KAA_RANGE_SIZE 0x100000000ull
#define KAA_SLOT_SIZE 2
/* The first page holds the markers; spans of code start behind it. */
#define KAA_FIRST_SPAN (KAA_BASE + 0x1000)
/* The most slots that one CODE record may have. */
#define KAA_MAX_SLOTS 65536

#define KAA_MARKER_TRUNCATED (KAA_BASE + 0x11)
#define KAA_MARKER_UNREADABLE (KAA_BASE + 0x21)
#define KAA_MARKER_NOT_ALIGNED (KAA_BASE + 0x31)
#define KAA_MARKER_MISSING_NATIVE (KAA_BASE + 0x41)
#define KAA_MARKER_IDLE (KAA_BASE + 0x51)
#define KAA_MARKER_CPU_WAIT (KAA_BASE + 0x61)
#define KAA_MARKER_NO_PYTHON (KAA_BASE + 0x71)
#define KAA_MARKER_AWAITS_TASK (KAA_BASE + 0x81)
#define KAA_MARKER_AWAITS_SLEEP (KAA_BASE + 0x91)
#define KAA_MARKER_AWAITS_LOCK (KAA_BASE + 0xa1)
#define KAA_MARKER_AWAITS_QUEUE (KAA_BASE + 0xb1)
#define KAA_MARKER_AWAITS_SOCKET (KAA_BASE + 0xc1)
#define KAA_MARKER_AWAITS_PROCESS (KAA_BASE + 0xd1)
#define KAA_MARKER_AWAITS_THREAD (KAA_BASE + 0xe1)
#define KAA_MARKER_AWAITS_FUTURE (KAA_BASE + 0xf1)
#define KAA_MARKER_AWAITS_TURN (KAA_BASE + 0x101)

/* In config1 of a cpu-clock: kaa polled, and no kernel sampled. "kaa poll" */
#define KAA_POLLED 0x6b616120706f6c6cull
/* The same with native frames. "kaa poln" */
#define KAA_POLLED_NATIVE 0x6b616120706f6c6eull
/* In config1 of any event: another tool's, which was imported; and flags. "kaa im" */
#define KAA_IMPORTED 0x6b616120696d0000ull
/* Its stacks have no native frames. */
#define KAA_IMPORTED_PYTHON_ONLY 1
/* Its ns are not said to be CPU time. */
#define KAA_IMPORTED_TIME 2
/*
 * The name of one that goes on while the thread sleeps, and while it has the GIL; and of
 * one that goes on for each task of asyncio.
 */
#define KAA_WALL_CLOCK "wall-clock"
#define KAA_GIL_CLOCK "gil-clock"
#define KAA_ASYNC_CLOCK "async-clock"
/* The name of a bpf-output whose samples are waits (docs/off-cpu.md). */
#define KAA_OFF_CPU "off-cpu"

struct kaa_marker {
	/* As it stands in a callchain. */
	uint64_t address;
	const char *name;
};

#define KAA_MARKER_COUNT 16
extern const struct kaa_marker kaa_markers[KAA_MARKER_COUNT];

static inline bool kaa_in_range(uint64_t address)
{
	return address - KAA_BASE < KAA_RANGE_SIZE;
}

/* A marker of what a thread or a task did where it stood. */
static inline bool kaa_is_state(uint64_t address)
{
	return address == KAA_MARKER_IDLE || address == KAA_MARKER_CPU_WAIT ||
	       (address >= KAA_MARKER_AWAITS_TASK &&
		address <= KAA_MARKER_AWAITS_TURN);
}

/* The callchain address of a slot. */
static inline uint64_t kaa_slot_address(uint64_t start, uint32_t slot)
{
	return start + KAA_SLOT_SIZE * (uint64_t)slot + 1;
}

enum kaa_type {
	KAA_CODE = 1,
	KAA_SYMBOL = 2,
	KAA_PYTHON = 3,
	KAA_SUMMARY = 4,
	KAA_THREAD = 5,
	KAA_VDSO = 6,
	KAA_FILE_SYMBOL = 7,
	KAA_SOURCE = 8,
};

/* A string of len bytes, not NUL-terminated when decoded. */
struct kaa_string {
	const char *data;
	size_t len;
};

struct kaa_code {
	uint64_t start;
	uint32_t slots;
	uint32_t first_line;
	struct kaa_string filename;
	struct kaa_string qualname;
	/*
	 * Encoding: the line of slot i + 1 is lines[i], slots - 1 of them.
	 * Decoding: see kaa_code_lines().
	 */
	const uint32_t *lines;
	struct bytes encoded_lines;
};

enum kaa_symbol_kind {
	KAA_SYMBOL_PERF_MAP = 1,
	KAA_SYMBOL_KERNEL = 2,
};

#define KAA_KERNEL_PID 0xffffffffu

struct kaa_symbol {
	uint32_t pid;
	uint32_t kind;
	uint64_t start;
	uint64_t size;
	uint64_t valid_from;
	uint64_t valid_to;
	struct kaa_string dso;
	struct kaa_string name;
};

struct kaa_python {
	uint32_t pid;
	/* PY_VERSION_HEX */
	uint32_t version;
	uint64_t valid_from;
	uint64_t eval_start;
	uint64_t eval_size;
	struct kaa_string path;
	/* What its command line says it runs; empty: not known. */
	struct kaa_string script;
};

/* The name that a program gave a thread; empty: none from then on. */
struct kaa_thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t valid_from;
	struct kaa_string name;
};

/* The vdso of the recorded processes: an ELF image. */
struct kaa_vdso {
	struct bytes image;
};

/* A function of a file that was removed. */
struct kaa_file_symbol {
	/* Where it begins in the file. */
	uint64_t offset;
	uint64_t size;
	/* Bytes; none: not known. */
	struct kaa_string build_id;
	/* As the MMAP record of the file has it. */
	struct kaa_string path;
	struct kaa_string name;
};

/* What was in a source file. */
struct kaa_source {
	uint64_t size;
	/* When it was changed last, ns since 1970. */
	int64_t modified;
	struct content_hash hash;
	/* As CODE records have it. */
	struct kaa_string path;
};

struct kaa_counter {
	struct kaa_string name;
	uint64_t value;
};

/* Counters are read one after the other with kaa_summary_next(). */
struct kaa_summary {
	uint32_t count;
	struct reader rest;
};

struct kaa_payload {
	/* A type that is not in enum kaa_type has no member: skip it. */
	uint16_t type;
	union {
		struct kaa_code code;
		struct kaa_symbol symbol;
		struct kaa_python python;
		struct kaa_summary summary;
		struct kaa_thread thread;
		struct kaa_vdso vdso;
		struct kaa_file_symbol file_symbol;
		struct kaa_source source;
	};
};

/* The attribute of the event `kaa`; sample_id_all as the other events'. */
void kaa_stream_attr(struct perf_event_attr *ret);

/*
 * ERROR_FORMAT without the magic (the sample is of another program's
 * bpf-output event), ERROR_TRUNCATED, ERROR_LIMIT. A CODE span outside the
 * reserved range, odd, empty, or longer than KAA_MAX_SLOTS is ERROR_FORMAT.
 */
struct error *kaa_stream_decode(const void *payload, size_t size,
				struct kaa_payload *ret);
/*
 * Stores the lines of slots 1 .. slots - 1 into lines, which has room for
 * slots - 1. A line outside u32 is ERROR_FORMAT; lines is then partly written.
 */
struct error *kaa_code_lines(const struct kaa_code *code, uint32_t *lines);
/* False at the end, or when the payload ends too soon. */
bool kaa_summary_next(struct kaa_summary *summary, struct kaa_counter *ret);

/*
 * Append a payload to out. Strings too long for their field are cut at a
 * character's boundary. ERROR_LIMIT if the payload is still too long; out is
 * then as before.
 *
 * kaa_encode_code() takes code->lines, and encodes as many slots as fit;
 * *encoded_slots (slot 0 included) says how many. The caller continues at
 * start + 2 * *encoded_slots with a record whose slot 0 is new and whose lines
 * are those that did not fit.
 */
struct error *kaa_encode_code(const struct kaa_code *code, struct strbuf *out,
			      uint32_t *encoded_slots);
struct error *kaa_encode_symbol(const struct kaa_symbol *symbol,
				struct strbuf *out);
struct error *kaa_encode_python(const struct kaa_python *python,
				struct strbuf *out);
struct error *kaa_encode_thread(const struct kaa_thread *thread,
				struct strbuf *out);
struct error *kaa_encode_file_symbol(const struct kaa_file_symbol *symbol,
				     struct strbuf *out);
struct error *kaa_encode_source(const struct kaa_source *source,
				struct strbuf *out);
struct error *kaa_encode_vdso(const struct kaa_vdso *vdso, struct strbuf *out);
struct error *kaa_encode_summary(const struct kaa_counter *counters,
				 size_t count, struct strbuf *out);

#endif

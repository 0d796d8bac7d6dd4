/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of perf.data and of kernel rings: raw bytes <-> struct record.
 *
 * The kernel's types (below 64) have a parsed form. Types of 64 and above are
 * perf's own (PERFDATA_*); record_decode() gives only their header.
 *
 * A parsed record borrows from the raw bytes: pointers in it live as long as
 * these. Decoding allocates nothing and keeps no state: it serves the reader
 * and the recorder alike, from any thread.
 *
 * Layouts: Linux uapi perf_event.h, enum perf_event_type. All of them are in
 * the byte order of this machine.
 */
#ifndef KAA_PERFDATA_RECORD_H
#define KAA_PERFDATA_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "perfdata/events.h"

/*
 * Types that perf writes into files by itself (perf's own perf.data format
 * description and event.h).
 */
enum perfdata_type {
	PERFDATA_USER_TYPE_START = 64,
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_HEADER_EVENT_TYPE = 65,
	PERFDATA_HEADER_TRACING_DATA = 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_ID_INDEX = 69,
	PERFDATA_AUXTRACE_INFO = 70,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_AUXTRACE_ERROR = 72,
	PERFDATA_THREAD_MAP = 73,
	PERFDATA_CPU_MAP = 74,
	PERFDATA_STAT_CONFIG = 75,
	PERFDATA_STAT = 76,
	PERFDATA_STAT_ROUND = 77,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_TIME_CONV = 79,
	PERFDATA_HEADER_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
	/* Size of tables by type. */
	PERFDATA_TYPE_MAX = 128,
};

/* "MMAP2", "FINISHED_ROUND", as perf calls them; NULL if there is no name. */
const char *perfdata_type_name(uint32_t type);

/* Kernel types and bits that the headers of older kernels lack. */
#define PERFDATA_RECORD_CALLCHAIN_DEFERRED 22
#define PERFDATA_CONTEXT_USER_DEFERRED ((uint64_t)-640)
/* From here up, a callchain entry is a context marker, not an address. */
#define PERFDATA_CONTEXT_MAX ((uint64_t)-4095)

/* The most bytes of one record: its size is a u16. */
#define RECORD_MAX_SIZE 65535
/* The most bytes of one record that keeps its successor 8-byte aligned. */
#define RECORD_MAX_ALIGNED 65528
/* Bytes of a build-id in an MMAP2 record, at most. */
#define RECORD_BUILD_ID_MAX 20

/* struct record.has bits for user registers etc. are PERF_SAMPLE_*. */

struct record_regs {
	/* PERF_SAMPLE_REGS_ABI_*; 0: no registers (a kernel thread). */
	uint64_t abi;
	/* Bit n: register n is present; values low bit first. */
	uint64_t mask;
	const uint64_t *values;
	uint32_t count;
};

struct record_sample {
	uint64_t ip;
	uint64_t addr;
	/*
	 * attr.sample_period if the sample itself does not say, as perf has
	 * it: of an event with a frequency that is the frequency.
	 */
	uint64_t period;
	/* Leaf first, context markers included. */
	const uint64_t *callchain;
	uint64_t callchain_count;
	const uint8_t *raw;
	uint32_t raw_size;
	struct record_regs regs_user;
	/* stack_dyn_size bytes hold stack (<= stack_size, the bytes recorded) */
	const uint8_t *stack_user;
	uint64_t stack_size;
	uint64_t stack_dyn_size;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	struct record_regs regs_intr;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	/* PERF_SAMPLE_READ and PERF_SAMPLE_BRANCH_STACK: raw, whole fields. */
	const uint64_t *read_values;
	uint32_t read_count;
	const uint64_t *branches;
	uint32_t branches_count;
};

/* MMAP and MMAP2. */
struct record_mmap {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	/* MMAP2 only; device and inode are 0 when there is a build-id. */
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t ino_generation;
	uint32_t prot;
	uint32_t flags;
	/* MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID; size 0: none. */
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	uint8_t build_id_size;
	/* NUL-terminated. */
	const char *filename;
	uint32_t filename_len;
	/* MMAP: PERF_RECORD_MISC_MMAP_DATA is clear; MMAP2: PROT_EXEC. */
	bool is_exec;
};

struct record_comm {
	uint32_t pid;
	uint32_t tid;
	/* NUL-terminated. */
	const char *comm;
	uint32_t comm_len;
	/* The name comes from an exec. */
	bool is_exec;
};

/* FORK and EXIT. */
struct record_task {
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	uint32_t ptid;
	uint64_t time;
};

/* LOST (any record) and LOST_SAMPLES (samples; misc bit 15: by BPF filter). */
struct record_lost {
	/* LOST only. */
	uint64_t id;
	uint64_t lost;
};

/* THROTTLE and UNTHROTTLE. */
struct record_throttle {
	uint64_t time;
	uint64_t id;
	uint64_t stream_id;
};

struct record_namespaces {
	uint32_t pid;
	uint32_t tid;
	uint64_t count;
	/* count pairs of device and inode. */
	const uint64_t *links;
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	/* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t ksym_type;
	/* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER: the symbol goes away. */
	uint16_t flags;
	const char *name;
	uint32_t name_len;
};

struct record_bpf_event {
	/* PERF_BPF_EVENT_* */
	uint16_t event_type;
	uint16_t flags;
	uint32_t prog_id;
	uint8_t tag[8];
};

struct record_cgroup {
	uint64_t id;
	const char *path;
	uint32_t path_len;
};

struct record_text_poke {
	uint64_t addr;
	uint16_t old_len;
	uint16_t new_len;
	const uint8_t *old_bytes;
	const uint8_t *new_bytes;
};

/* SWITCH and SWITCH_CPU_WIDE (misc: PERF_RECORD_MISC_SWITCH_OUT). */
struct record_switch {
	/* SWITCH_CPU_WIDE only. */
	uint32_t next_prev_pid;
	uint32_t next_prev_tid;
};

/* READ: the counter's values when an event goes away. */
struct record_read {
	uint32_t pid;
	uint32_t tid;
	const uint64_t *values;
	uint32_t count;
};

/* CALLCHAIN_DEFERRED: the user part of earlier samples' chains. */
struct record_deferred {
	uint64_t cookie;
	const uint64_t *callchain;
	uint64_t callchain_count;
};

struct record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	/* The raw record; NULL in records that the caller makes to encode. */
	const struct perf_event_header *raw;
	/* The event that made it; NULL for types of 64 and above. */
	const struct event *event;

	/*
	 * PERF_SAMPLE_* bits of the fields that the record has: of the sample,
	 * or of the trailer for other types.
	 */
	uint64_t has;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu;

	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_throttle throttle;
		struct record_namespaces namespaces;
		struct record_ksymbol ksymbol;
		struct record_bpf_event bpf_event;
		struct record_cgroup cgroup;
		struct record_text_poke text_poke;
		struct record_switch context_switch;
		struct record_read read;
		struct record_deferred deferred;
	};
};

/* PERF_RECORD_MISC_KERNEL, _USER, ... of a record. */
static inline uint16_t record_cpumode(const struct record *record)
{
	return record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

/*
 * Decodes the record at `bytes`, which must be 8-byte aligned and `size` bytes
 * long; a size that differs from the record's own is ERROR_TRUNCATED. A sample
 * of an unknown event is ERROR_NOT_FOUND, a field that passes the record's end
 * ERROR_TRUNCATED. A kernel type that is not known gives its header and
 * trailer only.
 */
struct error *record_decode(const struct events *events, const void *bytes,
			    size_t size, struct record *ret);

/*
 * Appends the raw form of record to out. The fields written are those that
 * record->event (NULL: the first event of events) demands, whatever
 * record->has says; a sample's fields that the parsed form keeps raw
 * (read_values, branches) are copied. Kernel types only, those with a parsed
 * form but SWITCH and TEXT_POKE.
 *
 * ERROR_LIMIT if the record does not fit into a u16 size; out is then as
 * before. Callers that write deep chains cut them to
 * record_callchain_room().
 */
struct error *record_encode(const struct events *events,
			    const struct record *record, struct strbuf *out);

/*
 * The number of callchain entries that a sample of this event has room for,
 * beside `other` bytes of raw data, registers and stack.
 */
size_t record_callchain_room(const struct event *event, size_t other);

/* Where in a sample of this event its period stands, if it has one. */
size_t record_period_place(const struct event *event);

/*
 * Splits the values of a PERF_SAMPLE_READ field or a READ record as
 * event->attr.read_format tells. Returns false if there is no such field.
 */
bool record_read_lost(const struct event *event, const uint64_t *values,
		      uint32_t count, uint64_t *lost);

#endif

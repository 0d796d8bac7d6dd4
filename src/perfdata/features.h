/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a perf.data file says about its recording: the feature sections.
 *
 * Bits and payloads: perf's own description of the perf.data format and its
 * header.h (HEADER_*). Private bits are never used: perf inject crashes on
 * them.
 */
#ifndef KAA_PERFDATA_FEATURES_H
#define KAA_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/events.h"

enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_AUXTRACE = 18,
	FEATURE_STAT = 19,
	FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_MEM_TOPOLOGY = 22,
	FEATURE_CLOCKID = 23,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_BPF_BTF = 26,
	FEATURE_COMPRESSED = 27,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_HYBRID_TOPOLOGY = 30,
	FEATURE_PMU_CAPS = 31,
	FEATURE_CPU_DOMAIN_INFO = 32,
	FEATURE_E_MACHINE = 33,
	FEATURE_CACHE_LINE = 34,
	FEATURE_MAX = 256,
};

/* What the words of CMDLINE and the names of BUILD_ID may have; more is ERROR_LIMIT. */
#define FEATURES_TEXT_MAX (256u << 20)

/* One entry of BUILD_ID: a file that samples hit. */
struct feature_build_id {
	/* -1: every process; 0: the host's kernel */
	int32_t pid;
	/* PERF_RECORD_MISC_KERNEL or PERF_RECORD_MISC_USER */
	uint16_t misc;
	uint8_t size;
	uint8_t build_id[20];
	/* Owned. */
	char *filename;
};

/* A section that kaa itself has no use for, as it stands in the file. */
struct feature_section {
	enum feature bit;
	VEC(uint8_t) bytes;
};

/* Strings are owned, NULL if the file does not say. */
struct features {
	/* Bits of the sections that are there. */
	uint64_t present[FEATURE_MAX / 64];
	char *hostname;
	char *osrelease;
	/* Of the recording tool. */
	char *version;
	char *arch;
	char *cpudesc;
	char *cpuid;
	uint32_t cpus_online;
	uint32_t cpus_available;
	uint64_t total_mem_kb;
	VEC(char *) cmdline;
	VEC(struct feature_build_id) build_ids;
	/* Private: the first of them of each name. */
	struct map build_id_names;
	/* Private: of the words and names of these two. */
	size_t text_bytes;
	/* ns; both 0 if unknown */
	uint64_t first_sample_time;
	uint64_t last_sample_time;
	/* CLOCKID: resolution in ns. */
	uint64_t clockid_resolution;
	/* CLOCK_DATA: one moment on both clocks, ns. */
	uint32_t clockid;
	uint64_t clock_wall_ns;
	uint64_t clock_ns;
	/* COMPRESSED */
	uint32_t compress_type;
	uint32_t compress_level;
	uint32_t compress_ratio;
	uint32_t compress_mmap_len;
	/* TRACING_DATA as it stands in the file; perfdata/tracing_data.h. */
	VEC(uint8_t) tracing_data;
	/* To be handed on by who copies the recording. */
	VEC(struct feature_section) others;
};

static inline bool features_have(const struct features *f, enum feature bit)
{
	return f->present[bit / 64] >> (bit % 64) & 1;
}

static inline void features_mark(struct features *f, enum feature bit)
{
	f->present[bit / 64] |= 1ull << (bit % 64);
}

void features_deinit(struct features *features);

/* One of features.others; NULL if it is none of them. */
const struct feature_section *features_section(const struct features *features,
					       enum feature bit);
/* Its bytes, none if it is not there. */
struct reader features_read_section(const struct features *features,
				    enum feature bit);
/* A length, and as many bytes with zeros at the end, borrowed; NULL: broken. */
const char *features_read_string(struct reader *reader);

/* The events from leader on that were recorded as one group. */
struct feature_group {
	/* Borrowed; "{anon_group}" without a name of its own. */
	const char *name;
	uint32_t leader;
	uint32_t members;
};

/* Where reading GROUP_DESC has got to; borrows the features. */
struct feature_groups {
	struct reader reader;
	uint32_t left;
	/* The first event behind those read. */
	uint64_t next;
};

void features_groups(const struct features *features,
		     struct feature_groups *ret);
/*
 * False at the end, and where a group begins before the one before it ends. There
 * need not be as many events.
 */
bool features_next_group(struct feature_groups *groups,
			 struct feature_group *ret);
/* Writes GROUP_DESC and marks it; not for features that have one. */
struct error *features_set_groups(struct features *features,
				  const struct feature_group *groups,
				  size_t count);

/*
 * Fills HOSTNAME, OSRELEASE, ARCH, NRCPUS, CPUDESC, CPUID and TOTAL_MEM from
 * the running system, and marks what it found. `root` goes before /proc (""
 * for the real one). Best effort: what cannot be read stays away.
 */
struct error *features_fill_host(struct features *features, const char *root);
/* Sets one string feature (HOSTNAME .. CPUID but NRCPUS) and marks it. */
struct error *features_set_string(struct features *features, enum feature bit,
				  const char *value);
/* Copies the section; marks TRACING_DATA. */
struct error *features_set_tracing_data(struct features *features,
					const void *data, size_t size);
struct error *features_add_cmdline(struct features *features, const char *arg);
/* Copies the entry and its filename; marks BUILD_ID. */
struct error *features_add_build_id(struct features *features,
				    const struct feature_build_id *entry);

/*
 * The first entry of that file, or NULL. is_kernel: of the kernel or a module of it, else
 * of anything else. Does not get slower with their number.
 */
const struct feature_build_id *
features_find_build_id(const struct features *features, const char *filename,
		       bool is_kernel);

/*
 * Reads the payload of one section, which replaces one that was read before, but
 * for BUILD_ID, of which a pipe has a record for each file; EVENT_DESC fills names and ids in
 * `events`, where the attributes match. Other bits than those above are kept in
 * `others`, but for those that describe the file and not the recording.
 */
struct error *features_decode(struct features *features, enum feature bit,
			      struct reader *payload, struct events *events);
/*
 * Replaces what is in out by a BUILD_ID record, whose size is 0 and for the caller
 * to set.
 */
void features_put_build_id(const struct feature_build_id *entry,
			   struct strbuf *out);
/* Appends the payload of one section that is marked present. */
struct error *features_encode(const struct features *features,
			      enum feature bit, const struct events *events,
			      struct strbuf *out);

#endif

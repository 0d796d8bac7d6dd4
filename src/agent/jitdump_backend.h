/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of a jitdump, version 1, in the byte order of the machine. Internal
 * to src/agent.
 *
 * Source: linux tools/perf/Documentation/jitdump-specification.txt; what the
 * specification leaves open (where the unwind information stands, that files are
 * told apart by a hash of the code) is in tools/perf/util/{jitdump,genelf}.c.
 */
#ifndef KAA_AGENT_JITDUMP_BACKEND_H
#define KAA_AGENT_JITDUMP_BACKEND_H

#include <stdint.h>

#define JITDUMP_MAGIC 0x4a695444u
#define JITDUMP_VERSION 1u

struct jitdump_header {
	uint32_t magic;
	uint32_t version;
	/* Of this header. */
	uint32_t total_size;
	/* ELF e_machine. */
	uint32_t elf_mach;
	uint32_t pad;
	uint32_t pid;
	/* Nanoseconds of CLOCK_MONOTONIC, as all times here. */
	uint64_t timestamp;
	/* 0: times are no CPU's own counter. */
	uint64_t flags;
};

enum jitdump_record_id {
	JIT_CODE_LOAD = 0,
	JIT_CODE_MOVE = 1,
	/* Of the next JIT_CODE_LOAD: */
	JIT_CODE_DEBUG_INFO = 2,
	JIT_CODE_CLOSE = 3,
	/* Of the next JIT_CODE_LOAD: */
	JIT_CODE_UNWINDING_INFO = 4,
};

struct jitdump_prefix {
	uint32_t id;
	/* With this prefix. */
	uint32_t total_size;
	uint64_t timestamp;
};

/* Followed by the name, its NUL, and the code. */
struct jitdump_load {
	struct jitdump_prefix prefix;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t code_addr;
	uint64_t code_size;
	/* Another one for each load. */
	uint64_t code_index;
};

/* Followed by the entries, each by its filename and a NUL. */
struct jitdump_debug_info {
	struct jitdump_prefix prefix;
	uint64_t code_addr;
	uint64_t nr_entry;
};

struct jitdump_debug_entry {
	uint64_t addr;
	int32_t line;
	int32_t discriminator;
};

/*
 * Followed by .eh_frame, which will stand at the first multiple of eight behind
 * the code, and .eh_frame_hdr.
 */
struct jitdump_unwinding_info {
	struct jitdump_prefix prefix;
	/* Of both sections. */
	uint64_t unwinding_size;
	uint64_t eh_frame_hdr_size;
	/*
	 * How many bytes behind the code the made file covers: no other code may
	 * stand there.
	 */
	uint64_t mapped_size;
};

#endif

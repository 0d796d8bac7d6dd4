// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend "perf_jit": a record for each slot in /tmp/jit-<pid>.dump, with
 * the unwind rule of its code and the line of its function, for `perf record
 * -k 1` and `perf inject --jit`.
 *
 * perf finds the dump by a mapping of it that is executable: the marker, which is
 * there as long as the dump is open.
 */
#include "agent/jitdump_backend.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/announce.h"
#include "agent/backend.h"
#include "agent/code_memory.h"
#include "agent/files.h"
#include "agent/trampoline.h"
#include "agent/unwind_table.h"

/*
 * A slot as the dump tells it: the trampoline, traps, eight bytes that differ from
 * slot to slot and from process to process (perf hashes the code for the build-id of
 * the file that it makes, and takes files with one build-id for one), then
 * room for the unwind information that perf maps there.
 */
enum { UNIQUE = 8, STRIDE = 128, UNWIND_MAX = 96 };

static struct agent_file dump = AGENT_FILE_INIT;
static struct agent_code_memory memory = { .stride = STRIDE };
static struct agent_announcer announcer;
static void *marker = MAP_FAILED;
static uint64_t code_index;
/* The dump ends in a JIT_CODE_CLOSE. */
static bool ends_in_close;

/* What is the same in all entries. */
static uint32_t code_size;
static uint8_t unwind[UNWIND_MAX];
static size_t unwind_size;

static uint64_t now(void)
{
	struct timespec time = {};

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static uint32_t align8(uint32_t size)
{
	return (size + 7) & ~7u;
}

/* ENOTSUP: unwind information of this trampoline has no room in a slot. */
static int prepare(void)
{
	struct agent_unwind_table table = { .trampoline = agent_trampoline(),
					    .slots = 1 };
	size_t size;

	if (!table.trampoline)
		return ENOTSUP;
	code_size = align8(table.trampoline->code_size) + UNIQUE;
	size = agent_eh_frame_size(table.trampoline, 1);
	unwind_size = size + agent_eh_frame_hdr_size(1);
	if (unwind_size > sizeof(unwind) || code_size + unwind_size > STRIDE)
		return ENOTSUP;
	table.eh_frame = code_size;
	table.eh_frame_hdr = code_size + size;
	agent_eh_frame_write(&table, unwind);
	agent_eh_frame_hdr_write(&table, unwind + size);
	return agent_code_memory_reserve(&memory);
}

static int write_header(void)
{
	struct jitdump_header header = {
		.magic = JITDUMP_MAGIC,
		.version = JITDUMP_VERSION,
		.total_size = sizeof(header),
		.elf_mach = agent_trampoline()->machine,
		.pid = (uint32_t)getpid(),
		.timestamp = now(),
	};
	struct iovec part = { &header, sizeof(header) };

	return agent_file_append(&dump, &part, 1);
}

/* A new dump gets its header; one that was closed goes on where it ended. */
static int begin(uint64_t size)
{
	int error = 0;

	if (!size)
		error = write_header();
	else if (ends_in_close)
		error = agent_file_truncate(&dump, size -
						   sizeof(struct jitdump_prefix));
	if (!error)
		ends_in_close = false;
	return error;
}

static int map_marker(void)
{
	if (marker != MAP_FAILED)
		return 0;
	marker = mmap(NULL, page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		      dump.fd, 0);
	return marker == MAP_FAILED ? errno : 0;
}

static int dump_open(void)
{
	uint64_t size;
	int error;

	agent_subject_set("");
	error = prepare();
	if (error)
		return error;
	announcer.failed = 0;
	error = agent_file_open(&dump, AGENT_FILE_LOG, "jit-", ".dump", &size);
	if (error)
		return error;
	error = begin(size);
	if (!error)
		error = map_marker();
	if (error && !size)
		agent_file_discard(&dump);
	return error;
}

static void *dump_take(void)
{
	return agent_code_memory_take(&memory);
}

/*
 * One entry: three records, in the parts of one writev().
 *
 * The line needs two entries, at both ends of the code: perf makes rows of them, and
 * what is behind the last row has no line.
 */
struct entry {
	struct jitdump_debug_info debug;
	struct jitdump_debug_entry from;
	struct jitdump_debug_entry to;
	struct jitdump_unwinding_info unwinding;
	struct jitdump_load load;
	uint8_t code[STRIDE];
};

static void fill_debug(struct entry *entry, const void *slot, uint64_t time,
		       const struct agent_symbol *symbol)
{
	size_t size = sizeof(entry->debug) + sizeof(entry->from) +
		      sizeof(entry->to) + 2 * (strlen(symbol->filename) + 1);

	entry->debug = (struct jitdump_debug_info){
		{ JIT_CODE_DEBUG_INFO, (uint32_t)size, time },
		.code_addr = (uintptr_t)slot,
		.nr_entry = 2,
	};
	entry->from = (struct jitdump_debug_entry){
		.addr = (uintptr_t)slot,
		.line = symbol->first_line,
	};
	entry->to = entry->from;
	entry->to.addr += code_size;
}

static void fill_unwinding(struct entry *entry, uint64_t time)
{
	size_t size = sizeof(entry->unwinding) + unwind_size;

	entry->unwinding = (struct jitdump_unwinding_info){
		{ JIT_CODE_UNWINDING_INFO, (uint32_t)size, time },
		.unwinding_size = unwind_size,
		.eh_frame_hdr_size = agent_eh_frame_hdr_size(1),
		.mapped_size = unwind_size,
	};
}

static void fill_load(struct entry *entry, const void *slot, uint64_t time,
		      const struct agent_symbol *symbol)
{
	size_t size = sizeof(entry->load) + symbol->name_size + 1 + code_size;

	entry->load = (struct jitdump_load){
		{ JIT_CODE_LOAD, (uint32_t)size, time },
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.vma = (uintptr_t)slot,
		.code_addr = (uintptr_t)slot,
		.code_size = code_size,
		.code_index = code_index++,
	};
}

/* splitmix64's finalizer: time and index do not shine through. */
static uint64_t scatter(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void fill_code(struct entry *entry, const void *slot, uint64_t time)
{
	uint64_t unique = scatter(time ^ scatter((uintptr_t)slot) ^
				  (uint64_t)entry->load.pid << 32);

	memcpy(entry->code, slot, code_size - UNIQUE);
	memcpy(entry->code + code_size - UNIQUE, &unique, UNIQUE);
}

static int write_entry(struct entry *entry, const struct agent_symbol *symbol)
{
	struct iovec filename = { (char *)symbol->filename,
				  strlen(symbol->filename) + 1 };
	struct iovec parts[] = {
		{ &entry->debug, sizeof(entry->debug) },
		{ &entry->from, sizeof(entry->from) },
		filename,
		{ &entry->to, sizeof(entry->to) },
		filename,
		{ &entry->unwinding, sizeof(entry->unwinding) },
		{ unwind, unwind_size },
		{ &entry->load, sizeof(entry->load) },
		{ (char *)symbol->name, symbol->name_size },
		{ (char *)"", 1 },
		{ entry->code, code_size },
	};

	return agent_file_append(&dump, parts, sizeof(parts) / sizeof(*parts));
}

static int dump_announce(const void *slot, const struct agent_symbol *symbol)
{
	struct entry entry;
	uint64_t time = now();

	if (announcer.failed)
		return agent_announced(&announcer, announcer.failed);
	fill_debug(&entry, slot, time, symbol);
	fill_unwinding(&entry, time);
	fill_load(&entry, slot, time, symbol);
	fill_code(&entry, slot, time);
	return agent_announced(&announcer, write_entry(&entry, symbol));
}

static void unmap_marker(void)
{
	if (marker != MAP_FAILED)
		munmap(marker, page_size());
	marker = MAP_FAILED;
}

static void dump_close(void)
{
	struct jitdump_prefix close = { JIT_CODE_CLOSE, sizeof(close), now() };
	struct iovec part = { &close, sizeof(close) };

	if (dump.fd >= 0 && !announcer.failed && !ends_in_close)
		ends_in_close = !agent_file_append(&dump, &part, 1);
	agent_file_close(&dump);
	unmap_marker();
}

static void dump_forked(void)
{
	agent_file_forget(&dump);
	unmap_marker();
	code_index = 0;
	ends_in_close = false;
}

static const void *dump_slot_of(const void *address)
{
	return agent_code_memory_slot_of(&memory, address);
}

const struct agent_backend agent_backend_jitdump = {
	.name = "perf_jit",
	.open = dump_open,
	.take = dump_take,
	.announce = dump_announce,
	.close = dump_close,
	.forked = dump_forked,
	.slot_of = dump_slot_of,
};

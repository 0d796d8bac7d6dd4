/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that no file has: perf map entries and kernel symbols of the addresses
 * that samples hit, taken into the recording so that it can be read elsewhere
 * and later.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_ADDRESS_NAMES_H
#define KAA_COLLECT_ADDRESS_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/kaa_stream.h"

struct name_wish {
	uint32_t pid;
	uint64_t address;
};

/* Zero-initialise. */
struct name_table {
	/* The file that names are for: struct output. */
	uint32_t file;
	/* Process and address, mixed, to the file that it was wished for last. */
	struct map seen;
	VEC(struct name_wish) user;
	VEC(uint64_t) kernel;
	/* User of the recorded processes; (uid_t)-1: whoever reads. */
	uid_t owner;
};

void name_table_deinit(struct name_table *names);

/* An address in code that no file holds. */
struct error *name_table_user(struct name_table *names, uint32_t pid,
			      uint64_t address);
struct error *name_table_kernel(struct name_table *names, uint64_t address);

/* Takes a symbol; borrowed for the call. */
typedef struct error *symbol_sink(void *arg, const struct kaa_symbol *symbol);

/*
 * Tells the perf map entries for the addresses wished of a process, and
 * forgets them. Nothing if the process has no perf map.
 */
struct error *name_table_tell_process(struct name_table *names, uint32_t pid,
				      symbol_sink *sink, void *arg);
/* Tells all entries of the process's perf map that name Python functions. */
struct error *name_table_tell_trampolines(const struct name_table *names,
					  uint32_t pid, symbol_sink *sink,
					  void *arg);
/* As name_table_tell_process() for all processes left, and for the kernel. */
struct error *name_table_tell_all(struct name_table *names, symbol_sink *sink,
				  void *arg);

#endif

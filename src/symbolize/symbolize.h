/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address to symbol.
 *
 * Three sources: files (dso and file offset), the kernel (kallsyms), and
 * ranges that the caller adds: perf map entries, SYMBOL records of the kaa
 * stream, KSYMBOL records, each with the time for which it holds.
 *
 * A `const struct symbol_info *` is the handle: equal pointers, equal symbol.
 * It is valid as long as the symbolizer. Not thread-safe.
 */
#ifndef KAA_SYMBOLIZE_SYMBOLIZE_H
#define KAA_SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbolize/dso.h"

/* pid of ranges that belong to the kernel. */
#define SYMBOLIZE_KERNEL ((int32_t)-1)
/* End of a range's time that does not end. */
#define SYMBOLIZE_FOREVER UINT64_MAX
/* Functions of one address, inlined ones included. */
#define SYMBOLIZE_FRAMES_MAX 64
/* More ranges than this are ERROR_LIMIT. */
#define SYMBOLIZE_RANGES_MAX (4u << 20)

struct symbol_info {
	/* Counts up from 0 in the order of first look-up. */
	uint32_t id;
	/* Never NULL. */
	struct dso *dso;
	/* For people: demangled. */
	const char *name;
	/* As the file has it. */
	const char *raw_name;
	/* A file's vaddrs, else addresses. */
	uint64_t start;
	uint64_t end;
	bool kernel;
	/* Named by an added range, not by a file. */
	bool is_range;
	/* No symbol: the names are those that symbolizer_file() made up. */
	bool is_nameless;
	/* No symbol either, but a table of Python's (python/method_names.h). */
	bool is_method;
};

/* One of the frames that an address stands for: the real function and what is
 * inlined into it there. */
struct symbol_frame {
	/* The real function, of all frames of an address. */
	const struct symbol_info *symbol;
	/*
	 * What debug information calls the function, for people and as the
	 * file has it; NULL if it does not tell.
	 */
	const char *name;
	const char *raw_name;
	bool inlined;
	/* As struct dwarf_function has them. */
	bool is_linkage_name;
	bool is_new;
	bool was_innermost;
	uint64_t start;
	/* Where it is being executed, if lines are wanted. NULL, 0: not known. */
	const char *file;
	uint32_t line;
};

struct symbol_range {
	/* SYMBOLIZE_KERNEL for the kernel. */
	int32_t pid;
	uint64_t start;
	uint64_t size;
	/* Holds for from <= time < to. */
	uint64_t from;
	uint64_t to;
	/* Copied; bytes below space become '?'. */
	const char *name;
	/*
	 * The path of the perf map; for the kernel "[kernel.kallsyms]" or
	 * "[module]", the same dso that kallsyms gives. Copied.
	 */
	const char *dso_name;
};

struct symbolizer;

/* The store must outlive the symbolizer. */
struct error *symbolizer_create(struct dso_store *store,
				struct symbolizer **ret);
void symbolizer_destroy(struct symbolizer *symbolizer);
DEFINE_CLEANUP(symbolizer, struct symbolizer *, symbolizer_destroy);

/* Name nothing in files but by symbols. Call before the first look-up. */
void symbolizer_set_symbols_only(struct symbolizer *symbolizer,
				 bool symbols_only);

/* Empty, or wrapping, ranges are ERROR_FORMAT. */
struct error *symbolizer_add_range(struct symbolizer *symbolizer,
				   const struct symbol_range *range);
/*
 * All entries of a perf map (see symbolize/perf_map_file.h), for all times.
 * dso_name is the map's path.
 */
struct error *symbolizer_add_perf_map(struct symbolizer *symbolizer,
				      int32_t pid, const struct symtab *map,
				      const char *dso_name);

/*
 * *ret is NULL when nothing is known there; that is no error. Errors are
 * ERROR_NO_MEMORY alone.
 *
 * file: offset is the file offset, address - map start + map pgoff. Where no
 *   symbol covers it, a function's bounds are those of its call frame
 *   information, and its name is what Python calls it ("list.sort"), or else says
 *   where it begins: "libx.so.1+0x12340", as the file numbers addresses.
 * kernel: added kernel ranges first, then kallsyms, but for BPF programs.
 * range: what was added for the pid and holds at the time; of several, the
 *   one that began last, then the one added last.
 * until: from that time on, another of the ranges added so far holds the address,
 *   or none; UINT64_MAX: never.
 */
struct error *symbolizer_file(struct symbolizer *symbolizer, struct dso *dso,
			      uint64_t offset, const struct symbol_info **ret);
struct error *symbolizer_kernel(struct symbolizer *symbolizer,
				uint64_t address, uint64_t time,
				const struct symbol_info **ret, uint64_t *until);
struct error *symbolizer_range(struct symbolizer *symbolizer, int32_t pid,
			       uint64_t address, uint64_t time,
			       const struct symbol_info **ret, uint64_t *until);

/*
 * The frames of a file's address, innermost first, at most max (> 0), the
 * last one the real function; *count 0 if nothing is known. lines: fill in
 * files and lines. caller: the address is a return address, so that the byte
 * before it counts.
 */
struct error *symbolizer_frames(struct symbolizer *symbolizer,
				struct dso *dso, uint64_t offset, bool caller,
				bool lines, struct symbol_frame *ret, size_t max,
				size_t *count);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that code comes from (DSOs), found on this machine, checked
 * against what was recorded, opened once and kept.
 *
 * Where a file is looked for: its path, under `symfs` if that is set; through
 * /proc/PID/root if the process lives in another mount namespace; by build-id
 * in perf's cache. Separate debug files: by build-id and by .gnu_debuglink
 * (with its CRC) under `debug_dir`. Paths inside another root are resolved
 * inside it: a link there cannot lead out.
 *
 * A file whose build-id differs from the recorded one is never used: no name
 * is better than a wrong one.
 *
 * Pointers to a dso, its strings, ELF file and symbols are valid as long as
 * the store. Not thread-safe.
 */
#ifndef KAA_SYMBOLIZE_DSO_H
#define KAA_SYMBOLIZE_DSO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "module/module.h"
#include "obj/build_id.h"
#include "obj/dwarf_info.h"
#include "obj/elf_file.h"
#include "obj/kallsyms.h"
#include "obj/symtab.h"
#include "unwind/cfi.h"

struct symbol_info;

struct dso_options {
	/* Put in front of the paths of files; NULL or "": none. */
	const char *symfs;
	/* Put in front of /proc and /sys (see sys/file.h). */
	const char *root;
	/* Separate debug files; NULL: /usr/lib/debug. */
	const char *debug_dir;
	/* perf's build-id cache, usually ~/.debug; NULL: none. */
	const char *buildid_dir;
	/*
	 * The processes are those that run now, on the kernel that runs now
	 * (a recorder), and not those of a file.
	 */
	bool live;
	/* Names with GNU's symbol versions, where files have them. */
	bool versions;
};

enum dso_kind {
	/* A path in the file system. */
	DSO_FILE,
	DSO_VDSO,
	/* The kernel or a module; symbols of all are in kallsyms. */
	DSO_KERNEL,
	/* A name without bytes: a perf map, "//anon", "[heap]", "[unknown]". */
	DSO_NAMED,
};

enum dso_state {
	DSO_UNOPENED,
	DSO_OPEN,
	/* Not found, or it may not be read. */
	DSO_MISSING,
	/* Found, but with another build-id. */
	DSO_MISMATCH,
	/* No ELF file that can be used. */
	DSO_BROKEN,
};

/* Read only for users. */
struct dso {
	enum dso_kind kind;
	/* As recorded; of the kernel "[kernel.kallsyms]", of modules "[name]". */
	const char *path;
	/*
	 * For tables, as perf has it there: the last part of path, or all of
	 * it if in brackets; "[JIT] tid 12" for "/tmp/perf-12.map".
	 */
	const char *name;
	/* size 0 if not recorded. */
	struct build_id build_id;
	/* Counts up from 0; the order of dso_store_get(). */
	uint32_t index;
	enum dso_state state;
	/* The rest is private. */
	struct dso_store *store;
	int32_t pid;
	/* Root in which the file was found, or NULL. */
	char *root;
	struct module module;
	bool symbols_loaded;
	struct symtab symtab;
	/* Of symbolize.c: what was found for each symbol of symtab. */
	const struct symbol_info **infos;
	/* Of symbolize.c: start of a function without a symbol to its info. */
	struct map functions;
	/* The separate debug file, if it was needed; debug information. */
	struct elf_file *debug;
	bool dwarf_loaded;
	struct dwarf_info *dwarf;
};

struct dso_key {
	/*
	 * As in the MMAP record: "/usr/lib/libc.so.6", "[vdso]", "//anon",
	 * "[kernel.kallsyms]_text", "[nf_tables]", "[heap]"
	 */
	const char *path;
	/* size 0: unknown. */
	struct build_id build_id;
	/* 0: unknown. */
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	/* A process that maps it; 0: unknown. */
	int32_t pid;
	/* The record is the kernel's (pid -1): a module's path is no file. */
	bool kernel;
};

struct dso_stats {
	/* Counted once per dso, when it is first needed. */
	uint64_t missing;
	uint64_t mismatched;
	uint64_t broken;
	/* Keys of dsos that were compared with those asked for. */
	uint64_t compared;
};

struct dso_store;

struct error *dso_store_create(const struct dso_options *options,
			       struct dso_store **ret);
void dso_store_destroy(struct dso_store *store);
DEFINE_CLEANUP(dso_store, struct dso_store *, dso_store_destroy);
const struct dso_stats *dso_store_stats(const struct dso_store *store);

/* The dso of that key, the same one for equal keys (pid aside). No I/O. */
struct error *dso_store_get(struct dso_store *store, const struct dso_key *key,
			    struct dso **ret);
/*
 * A DSO_NAMED by its name, e.g. "[unknown]"; "/tmp/perf-12.map" for all
 * executable memory of process 12 that no file names, as perf has it.
 */
struct error *dso_store_named(struct dso_store *store, const char *name,
			      struct dso **ret);
size_t dso_store_count(const struct dso_store *store);
struct dso *dso_store_at(const struct dso_store *store, size_t index);

/*
 * The ELF file behind a DSO_FILE or DSO_VDSO, opened at first use; owned by
 * the dso. ERROR_NOT_FOUND (DSO_MISSING, DSO_MISMATCH) or what broke. When many
 * others have been opened since, symbols and .eh_frame stay readable, while
 * bytes not read before are ERROR_FAULT (elf_file_close_fd()).
 */
struct error *dso_elf(struct dso *dso, struct elf_file **ret);
/*
 * The same file with what it has beside symbols, opened at first use; NULL if it
 * cannot be used. Fails only when memory runs out.
 */
struct error *dso_module(struct dso *dso, struct module **ret);
/*
 * Its symbols by vaddr, loaded at first use; empty if there are none or the
 * file cannot be used and the recording holds none (dso_store_add_symbol()).
 * Fails only when memory runs out.
 */
struct error *dso_symtab(struct dso *dso, const struct symtab **ret);
/*
 * Debug information of its file, or of the separate debug file, opened at
 * first use, with lines if they are wanted then; NULL if there is none. Fails
 * only when memory runs out.
 */
struct error *dso_dwarf(struct dso *dso, bool lines, struct dwarf_info **ret);
/*
 * The call frame information of its file, indexed at first use; NULL if there
 * is none. Fails only when memory runs out.
 */
struct error *dso_cfi(struct dso *dso, struct cfi_table **ret);
/* See elf_file_offset_to_vaddr(); also false if there is no file. */
bool dso_offset_to_vaddr(struct dso *dso, uint64_t offset, uint64_t *ret);

/*
 * Says on which kernel the recording was made: address of _text (the pgoff of
 * the kernel's MMAP record), 0 if unknown, and its build-id, NULL if unknown.
 * Call before the first look-up. Kernel symbols of this machine are used only
 * if the kernel is the same: equal build-ids, else equal _text, else live.
 */
void dso_store_set_kernel(struct dso_store *store, uint64_t text,
			  const struct build_id *build_id);
/*
 * The kernel's release, as uname -r has it, copied; one that came before stays.
 * The vdso is the running kernel's if that has it and the recorded one's
 * build-id is not known.
 */
struct error *dso_store_set_release(struct dso_store *store,
				    const char *release);
/*
 * The vdso that the recording holds, copied; one that came before stays. No
 * other is then needed. Call before the first look-up.
 */
struct error *dso_store_set_vdso(struct dso_store *store,
				 const struct bytes *image);
/* A function of a file, as the recording holds it. */
struct dso_symbol {
	const char *path;
	/* size 0: not known. */
	struct build_id build_id;
	/* Where it is in the file. */
	uint64_t offset;
	uint64_t size;
	const char *name;
};
/*
 * Adds a function of a file that was removed while it was recorded. Where no such
 * file is found, dso_symtab() has these, by offsets in the file. Call before
 * the first look-up.
 */
struct error *dso_store_add_symbol(struct dso_store *store,
				   const struct dso_symbol *symbol);
/*
 * kallsyms of the running kernel, read at first use; NULL if it is another
 * kernel than the recorded one or may not be read. *bias is what to subtract
 * from a recorded address of the kernel proper (the same kernel booted anew;
 * modules are not found then).
 */
const struct kallsyms *dso_store_kallsyms(struct dso_store *store,
					  uint64_t *bias);

#endif

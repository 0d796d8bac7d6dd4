/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that no file has (collect/address_names.h): which addresses of a sample want
 * one, and when the names are written.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_NAME_WRITER_H
#define KAA_COLLECT_NAME_WRITER_H

#include <stdint.h>

#include "base/error.h"
#include "collect/address_names.h"
#include "collect/output.h"
#include "collect/python_source.h"
#include "collect/sample_stack.h"
#include "collect/source_hashes.h"
#include "collect/target.h"
#include "perfdata/record.h"

struct name_writer {
	struct name_table names;
	/*
	 * Addresses in code that no file has, to what was registered then, and
	 * starts of its functions, to the name and size written last; both with
	 * the file.
	 */
	struct map made;
	/* The file that has the vdso; 0: none. */
	uint32_t vdso_in;
	/* Borrowed. */
	struct output *output;
};

void name_writer_deinit(struct name_writer *writer);

/*
 * Notes the addresses of a sample that no file will name: those of the chain
 * that stack_build() made last.
 */
struct error *name_writer_wish(struct name_writer *writer,
			       const struct stack_builder *stacks,
			       const struct record *sample,
			       const struct target *target);

/*
 * Writes the names of a process that has ended: later another process may have
 * the number, or the folder may be gone.
 */
struct error *name_writer_put_process(struct name_writer *writer, uint32_t pid);

/*
 * Writes the vdso, once in a file and before its first sample: its functions are
 * in no file, and the kernel that reads may be another.
 */
struct error *name_writer_put_vdso(struct name_writer *writer);

/* Writes all that are left; at the end. */
struct error *name_writer_put_all(struct name_writer *writer);
/* Functions of mapped files that were removed; at the end. */
struct error *name_writer_put_removed(struct name_writer *writer,
				      const struct target_files *files);
/* Hashes of the source files of sampled code; at the end. */
struct error *name_writer_put_hashes(struct name_writer *writer,
				     const struct source_hashes *hashes,
				     const struct code_table *codes);
/* What the source can name for who unwinds later; at the end. */
struct error *name_writer_put_source(struct name_writer *writer,
				     struct source_state *source);

#endif

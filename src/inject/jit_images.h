/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of a jitdump as ELF images beside it, and the MMAP2 records that map
 * them: what `perf inject --jit` makes, under the same names.
 *
 * A piece of code is in "jitted-PID-INDEX.so" (PID as the process sees itself,
 * INDEX the load's code_index), in the dump's folder, below the root in which the
 * dump was found: the records name it as the process would. Files of these names
 * are replaced; links are not followed.
 */
#ifndef KAA_INJECT_JIT_IMAGES_H
#define KAA_INJECT_JIT_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "obj/jit_image.h"
#include "perfdata/record.h"
#include "symbolize/jit_table.h"

struct jit_image_id {
	uint8_t bytes[JIT_IMAGE_BUILD_ID_SIZE];
	bool written;
	/* Another load has the same index. */
	bool is_double;
};

/* One dump on its way into a recording. */
struct jit_images {
	const struct jit_dump *dump;
	/* As the recording names the process. */
	uint32_t pid;
	/* By the number of the load. */
	VEC(struct jit_image_id) ids;
	/* Images written. */
	uint64_t written;
	/* Private. */
	int folder;
	char *folder_path;
	/* Next in dump->by_time. */
	size_t next;
	struct strbuf image;
	struct strbuf path;
	/* NULL: all; else by index in dump->codes. */
	const bool *wanted;
};

/*
 * wanted: NULL, or for each code of the dump whether it is to be injected; it
 * must outlive images. ERROR_OS if the folder cannot be opened.
 */
struct error *jit_images_init(struct jit_images *images,
			      const struct jit_dump *dump, uint32_t pid,
			      const bool *wanted);
void jit_images_deinit(struct jit_images *images);

/* The time of the next record; UINT64_MAX: there is none. */
uint64_t jit_images_time(struct jit_images *images);
/*
 * Writes the image of the next code, and fills *ret with the record that maps it,
 * but for what its event demands. Valid until the next call.
 */
struct error *jit_images_next(struct jit_images *images, struct record *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that processes map, as the converter needs them: the dso that
 * names addresses (symbolize/dso.h) and the CFI that unwinds through them.
 */
#ifndef KAA_CONVERT_IMAGE_H
#define KAA_CONVERT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/features.h"
#include "process/process.h"
#include "symbolize/dso.h"
#include "unwind/cfi.h"
#include "unwind/unwind.h"

/* Zero-initialise; set store and features. */
struct images {
	struct dso_store *store;
	/* Build-ids of files whose records carry none; borrowed. */
	const struct features *features;
	/* By process_file.index; NULL: not asked for yet. */
	VEC(struct dso *) dsos;
};

void images_deinit(struct images *images);

/* The dso of a map of process pid. kernel: the map is the kernel's. */
struct error *images_dso(struct images *images, struct process_map *map,
			 uint32_t pid, bool kernel, struct dso **ret);

/*
 * Fills *ret for an executable map; false if memory runs out. A map without
 * a usable file has no CFI.
 */
bool images_unwind_map(struct images *images, struct process_map *map,
		       uint32_t pid, struct unwind_map *ret);

/*
 * Reads the bytes that the map's file has for an address; false if there are
 * none.
 */
bool images_read(struct images *images, struct process_map *map, uint32_t pid,
		 uint64_t address, void *buf, size_t size);

#endif

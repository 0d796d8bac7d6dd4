/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ELF image that names kaa's Python addresses for stock tools, made anew from
 * what a recording's kaa stream says: what `kaa record` leaves beside the file.
 */
#ifndef KAA_INJECT_PYTHON_IMAGE_H
#define KAA_INJECT_PYTHON_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "convert/python_code.h"
#include "obj/elf_image.h"
#include "perfdata/record.h"

struct python_image {
	/* Absolute; perfdata/image_file.h. */
	char *path;
	/* Written; or there is nothing to write. */
	bool written;
	/* Private. */
	struct python_code code;
	uint8_t id[ELF_IMAGE_BUILD_ID_SIZE];
	bool has_id;
	/* Processes that have it mapped. */
	struct map mapped;
};

/* recording: the file that will name the image; it exists. */
struct error *python_image_init(struct python_image *image,
				const char *recording);
void python_image_deinit(struct python_image *image);

/*
 * Takes in a payload of the kaa stream. *map: the process in it is one that has
 * no map of the image yet, and now needs one.
 */
struct error *python_image_see(struct python_image *image,
			       const struct record *record, bool *map);
/* True if the record maps a recording's image. */
bool python_image_is_map(const struct record *record);
/* Fills *ret with a record that maps this image as `record` maps the old one. */
struct error *python_image_move(struct python_image *image,
				const struct record *record,
				struct record *ret);
/* Fills *ret with a record that maps it in the process of a payload. */
struct error *python_image_map(struct python_image *image,
			       const struct record *record,
			       struct record *ret);
/* Writes the file, if any process has it mapped. */
struct error *python_image_write(struct python_image *image);

#endif

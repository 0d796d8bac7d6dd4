/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ELF image that names a recording's Python addresses for stock tools: where
 * it stands, and how it gets there.
 *
 * The recording's MMAP2 records name the image by its absolute path, so each
 * recording has an image of its own, "<recording>.python-<inode of the recording>":
 * a later recording of the same name does not take it away, and a recording that
 * is renamed (perf.data to perf.data.old) keeps it. The inode says to which
 * recording of a folder an image belongs, without a look into either.
 *
 * Not thread-safe.
 */
#ifndef KAA_PERFDATA_IMAGE_FILE_H
#define KAA_PERFDATA_IMAGE_FILE_H

#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/*
 * The absolute path of the image of a recording, which exists; *ret is the
 * caller's. A recording that is no regular file has "<recording>.python", a
 * name to stand in records.
 */
struct error *image_file_path(const char *recording, char **ret);

/*
 * Writes the image, not through a link that somebody put there, and never a half
 * file; mode 0600. uid and gid: its owner; -1 leaves it.
 */
struct error *image_file_write(const char *path, int64_t uid, int64_t gid,
			       const struct strbuf *image);

/*
 * Removes images of recordings that had the same name and are not in that folder
 * any more, such as the perf.data.old that was overwritten. path is that of
 * an image, which stays. What cannot be removed stays, too.
 */
void image_file_clean(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of functions of which only names are known, from the source files of the
 * recorded processes: see python/def_lines.h.
 *
 * A file counts only if it is regular, has an absolute path, and has not been
 * changed since the process began; it is looked for where the process sees it, and
 * read once. Whoever names the file is the recorded process: all that comes of
 * what is in it is a line number.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_DEF_FILES_H
#define KAA_COLLECT_DEF_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "python/def_lines.h"

/* Zero-initialise. */
struct def_files {
	/* Hash of root and path to index in files. */
	struct map by_path;
	VEC(struct py_def_lines) files;
};

void def_files_deinit(struct def_files *files);

/*
 * The line where the function begins, 0 if it is not known. Fails for want of
 * memory only.
 */
struct error *def_files_line(struct def_files *files, pid_t pid,
			   const char *filename, const char *qualname,
			   uint32_t *ret);

#endif

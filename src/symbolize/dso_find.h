/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the file behind a recorded path, and its separate debug file.
 */
#ifndef KAA_SYMBOLIZE_DSO_FIND_H
#define KAA_SYMBOLIZE_DSO_FIND_H

#include <stdint.h>

#include "base/error.h"
#include "obj/build_id.h"
#include "obj/elf_file.h"
#include "symbolize/dso.h"

/*
 * The file itself. *root is the root that it was found in (NULL: the
 * machine's), to be freed by the caller. ERROR_NOT_FOUND; with *mismatch true
 * if a file was there, but with another build-id.
 */
struct error *dso_find_file(const struct dso_options *options, const char *path,
			    const struct build_id *build_id, int32_t pid,
			    char **root, bool *mismatch,
			    struct elf_file **ret);

/* The vdso of that build-id in perf's cache. ERROR_NOT_FOUND: it has none. */
struct error *dso_find_vdso(const struct dso_options *options,
			    const struct build_id *build_id,
			    struct elf_file **ret);

/*
 * The debug file that belongs to `file` (found at path in root):
 * ERROR_NOT_FOUND if there is none.
 */
struct error *dso_find_debug(const struct dso_options *options,
			     const char *root, const char *path,
			     struct elf_file *file, struct elf_file **ret);

#endif

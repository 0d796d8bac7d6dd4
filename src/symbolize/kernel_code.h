/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code of the running kernel and its modules, as it stands in memory: from
 * /proc/kcore, which is an ELF core file of all that the kernel maps
 * (Linux fs/proc/kcore.c). Only root may open it.
 */
#ifndef KAA_SYMBOLIZE_KERNEL_CODE_H
#define KAA_SYMBOLIZE_KERNEL_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Appends the size bytes at an address of the running kernel. root is put in
 * front of /proc, or NULL. ERROR_OS, ERROR_FORMAT, ERROR_TRUNCATED,
 * ERROR_NOT_FOUND (nothing is mapped there).
 */
struct error *kernel_code_read(const char *root, uint64_t address, size_t size,
			       struct strbuf *out);

#endif

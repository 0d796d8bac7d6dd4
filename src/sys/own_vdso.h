/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vdso: the code that the kernel maps into each process, an ELF image that
 * no file holds. That of this process is that of all processes of its word size
 * until the next boot.
 */
#ifndef KAA_SYS_OWN_VDSO_H
#define KAA_SYS_OWN_VDSO_H

#include "base/bytes.h"
#include "base/error.h"

/* In the memory of this process, there as long as it. ERROR_NOT_FOUND: none. */
struct error *own_vdso(struct bytes *ret);

#endif

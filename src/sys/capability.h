/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of the calling thread, by the raw system calls. Sets are bits,
 * CAPABILITY_BIT(CAP_BPF). Source: capabilities(7), uapi capability.h.
 */
#ifndef KAA_SYS_CAPABILITY_H
#define KAA_SYS_CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITY_BIT(cap) (UINT64_C(1) << (cap))

struct capabilities {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

/* 0 or a negative errno. */
int capabilities_read(struct capabilities *ret);

/* In the effective set? False if it cannot be read. */
bool capability_have(int cap);

/*
 * Drops every capability outside `kept` for good: from the effective,
 * permitted, inheritable, ambient and (where allowed) bounding set. Those kept
 * must be permitted now. 0 or a negative errno.
 */
int capabilities_keep(uint64_t kept);

/* "CAP_BPF"; NULL if unknown. */
const char *capability_name(int cap);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exported names of the objects in this process, found without dlsym(): that has
 * another version in glibc 2.34 than before, and does not see what was opened
 * with RTLD_LOCAL.
 *
 * Reads the dynamic symbol tables of the loaded objects, in load order (the
 * program first, as the dynamic linker searches). System V gABI, "Dynamic
 * Section" and "Hash Table"; DT_GNU_HASH as binutils and glibc have it.
 */
#ifndef KAA_AGENT_LOOKUP_H
#define KAA_AGENT_LOOKUP_H

/* The address of a defined global name, or NULL. Thread-safe, no allocation. */
void *agent_lookup(const char *name);

/*
 * The same in the objects behind the agent's own: what a function of the agent's that
 * stands in front of another one has to call.
 */
void *agent_lookup_next(const char *name);

/* The path by which this library was loaded; "" if it is linked into the program. */
const char *agent_lookup_own_path(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF programs that are loaded when a recording begins. Their code is in no
 * file, and its addresses are used again: kallsyms of a later moment names what is
 * there by then. Those that are loaded meanwhile have KSYMBOL records of the kernel;
 * these here are told in the same form, as perf does.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_LOADED_PROGRAMS_H
#define KAA_COLLECT_LOADED_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "collect/synthesize.h"

/* A function of a program, as the kernel calls it in kallsyms. */
struct loaded_function {
	uint64_t start;
	uint32_t size;
	const char *name;
};

struct loaded_program {
	uint32_t id;
	uint8_t tag[8];
	/* The end of its functions, which begin where those before end. */
	size_t functions_end;
};

/* Zero-initialise. */
struct loaded_programs {
	VEC(struct loaded_function) functions;
	VEC(struct loaded_program) programs;
	struct arena names;
};

void loaded_programs_deinit(struct loaded_programs *programs);

/*
 * Asks the kernel for them. Only CAP_SYS_ADMIN may ask; nothing for others. A
 * program that goes away meanwhile is left out. Fails for want of memory only.
 */
struct error *loaded_programs_read(struct loaded_programs *programs);

/* A KSYMBOL record for each function, a BPF_EVENT for each program. */
struct error *loaded_programs_tell(const struct loaded_programs *programs,
				   record_sink *sink, void *arg);

/*
 * bpf_prog_TAG_NAME, as the kernel has it (bpf_get_prog_name(), kernel/bpf/core.c);
 * name NULL or "": none. NULL if memory runs out.
 */
const char *loaded_function_name(struct arena *arena, const uint8_t tag[8],
				 const char *name);

#endif

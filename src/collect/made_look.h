/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When to look at what code a process has registered (collect/made_code.h): from
 * the first sample in code that no file has, and then again from time to time.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_MADE_LOOK_H
#define KAA_COLLECT_MADE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/made_code.h"
#include "collect/target_file.h"
#include "process/process.h"

/* Zero-initialise. */
struct made_look {
	struct made_code code;
	/* A number that no other set of registered code has; 0: none. */
	uint32_t version;
	/* The earliest sample so far that this set holds for. */
	uint64_t since;
	/* Private. */
	uint32_t left_out_told;
	bool is_wanted;
	uint64_t next;
	uint64_t generation;
};

/* Whose code; all borrowed. */
struct made_owner {
	struct process *process;
	struct target_files *files;
	uint32_t pid;
	struct remote_memory *memory;
};

void made_look_deinit(struct made_look *look);

/* A sample has hit code that no file has. */
void made_look_want(struct made_look *look, const struct made_owner *owner,
		    uint64_t time);
/*
 * Before a sample of that time: looks if it is time to. `version` changes with
 * what is registered. What memory runs out for is not known then.
 */
void made_look_now(struct made_look *look, const struct made_owner *owner,
		   uint64_t time);

#endif

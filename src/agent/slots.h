/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives code objects their slots, and tells profilers what they are. Internal to
 * src/agent; needs the GIL.
 */
#ifndef KAA_AGENT_SLOTS_H
#define KAA_AGENT_SLOTS_H

#include <stdbool.h>

#include "agent/backend.h"
#include "agent/code_table.h"

/*
 * The entry of a code object, made or made right, announced by the backend. NULL if
 * memory is short. No exception is set. May run Python code (agent/qualname.h).
 * id: 1 on, which backend it is.
 */
const struct code_entry *slots_entry(struct codes *codes, void *code,
				     const struct agent_backend *backend,
				     uint8_t id);

/* Announces an entry, whose slot may have been inherited by a fork. */
void slots_announce(struct code_entry *entry,
		    const struct agent_backend *backend, uint8_t id);

/*
 * Announces a slot that is on the stack of a process just forked, as
 * "py::<qualname> [forked]:<filename>": the child did not call the function. If it
 * does, the function gets a slot of its own with its plain name.
 */
void slots_announce_forked(struct code_entry *entry,
			   const struct agent_backend *backend, uint8_t id);

/* Gives back what the entries hold. */
void slots_drop_references(struct codes *codes);

#endif

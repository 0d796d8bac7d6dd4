/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call frame instructions of one FDE, executed into rows (DWARF 5 section
 * 6.4.2 and 6.4.3, with GNU's extensions as GCC and binutils use them).
 * Internal to unwind/.
 */
#ifndef KAA_UNWIND_CFI_PROGRAM_H
#define KAA_UNWIND_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"

/* Receives the results; both return false to stop (memory ran out). */
struct cfi_sink {
	/*
	 * From `offset` (relative to the FDE's start) on these rules hold.
	 * Offsets grow strictly and stay below the FDE's size.
	 */
	bool (*row)(void *arg, uint64_t offset, const struct cfi_rules *rules);
	/* Numbers an expression. */
	bool (*expression)(void *arg, struct bytes expression, int32_t *ret);
	/* For cfi_rules.table. */
	const struct cfi_table *table;
	void *arg;
};

/*
 * false if an instruction is unknown, cut off or makes no sense, or if the
 * sink said so; the rows given so far are then not to be used.
 */
bool cfi_program_run(const struct cfi_section *section,
		     const struct cfi_cie *cie, const struct cfi_fde *fde,
		     const struct cfi_sink *sink);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* The instructions of a function. Input: the code; some places in it are asked about. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "unwind/assembly.h"
#include "unwind/insn.h"

enum { ASKED = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assembly_frame frame;
	struct insn insn;

	for (size_t at = 0; at <= size; at += size / ASKED + 1) {
		if (insn_decode(data + at, size - at, &insn) &&
		    (!insn.size || insn.size > size - at))
			abort();
		if (!assembly_frame_at(data, size, at, &frame))
			continue;
		for (int reg = 0; reg < UNWIND_REGS; reg++)
			if (frame.saved_below_cfa[reg] < 0 ||
			    frame.saved_below_cfa[reg] % 8)
				abort();
	}
	return 0;
}

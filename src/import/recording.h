/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was imported as a recording (docs/import.md): a perf.data that holds what
 * `kaa record` would have written, so that whatever reads those reads it.
 */
#ifndef KAA_IMPORT_RECORDING_H
#define KAA_IMPORT_RECORDING_H

#include <stdint.h>

#include "base/error.h"
#include "import/import_model.h"

struct import_written {
	uint64_t samples;
	/* Samples weigh what several count, which would be too many. */
	bool is_summed;
	/* Stacks too deep for a sample, of which the outer frames are left out. */
	uint64_t cut;
};

/*
 * ERROR_LIMIT: the recording would be too large; if samples alone tell that,
 * nothing is written.
 * path, uid, gid: as in struct perfdata_writer_options. The model's samples are
 * sorted by their times.
 */
struct error *import_write(struct import_model *model, const char *path,
			   int64_t uid, int64_t gid, struct import_written *ret);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "view/report_notes.h"

#include "profile/sample_faults.h"
#include "view/fault_text.h"

struct error *report_notes(const struct profile *profile, struct strbuf *out)
{
	_cleanup_faults_ struct faults faults = {};
	uint64_t samples;
	struct error *error = sample_faults(profile, PROFILE_NONE,
					    &samples, &faults);
	size_t start;

	if (error)
		return error;
	strbuf_puts(out, "#\n");
	start = out->len;
	fault_notes(&faults, samples, "# ", out);
	fault_recorder_notes(&faults, out);
	if (out->len == start)
		strbuf_truncate(out, start - 2);
	else
		strbuf_puts(out, "#\n");
	return NULL;
}

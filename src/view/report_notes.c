// SPDX-License-Identifier: GPL-2.0-only
#include "view/report_notes.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/sample_faults.h"
#include "view/fault_text.h"
#include "view/own_command.h"

/* Python ran, stacks were recorded, and none of them has a Python frame. */
static struct error *lacks_python(const struct profile *profile, bool *ret)
{
	const struct profile_samples *s = &profile->samples;
	_cleanup_free_ bool *has_python =
		calloc(profile->stack_parents.count + 1, sizeof(*has_python));
	bool has_pythons = false, has_stacks = false;

	if (!has_python)
		return error_no_memory();
	vec_for_each(recording, &profile->recordings)
		has_pythons |= recording->metadata.pythons.count > 0;
	profile_find_python(profile, has_python);
	*ret = false;
	for (size_t i = 0; i < s->rows; i++) {
		if (s->stack[i] == PROFILE_NONE)
			continue;
		if (has_python[s->stack[i]])
			return NULL;
		has_stacks |= profile->events.data[s->event[i]].has_callchain;
	}
	*ret = has_pythons && has_stacks;
	return NULL;
}

static bool lacks_end(const struct profile *profile)
{
	vec_for_each(recording, &profile->recordings)
		if (faults_lack_end(&recording->faults))
			return true;
	return false;
}

bool report_without_samples(const struct profile *profile, bool is_filtered,
			    struct strbuf *out)
{
	if (profile->samples.rows)
		return false;
	own_command_puts(
		out,
		is_filtered ?
			"No sample of the recording passes the filters." :
		lacks_end(profile) ?
			"The recording has no samples: its end is missing, and none were written before." :
			"The recording has no samples: 'kaa record --mode wall' takes some of threads that wait, too.");
	return true;
}

/* Most of the time: what it saw is chance. */
static bool lacked_processor(const struct profile *profile)
{
	uint64_t kept_off = 0, all = 0;

	vec_for_each(recording, &profile->recordings) {
		kept_off += faults_recorded(&recording->faults,
					    FAULT_RECORDER_KEPT_OFF);
		all += faults_recorded(&recording->faults, FAULT_TIME);
	}
	return kept_off > all / 2;
}

static bool has_raw_stacks(const struct profile *profile)
{
	vec_for_each(recording, &profile->recordings)
		if (metadata_keeps_raw_stacks(&recording->metadata))
			return true;
	return false;
}

static const char *why_no_python(const struct profile *profile, bool is_filtered)
{
	if (is_filtered)
		return "# None of the samples that pass the filters has Python frames.\n#\n";
	if (lacked_processor(profile))
		return "# No stack has Python frames: the recorder had no processor for most of the time.\n"
		       "# Record while fewer programs run, and without 'nice'.\n#\n";
	if (has_raw_stacks(profile))
		return "# No stack has Python frames: '--call-graph dwarf' keeps raw stacks for other tools. 'kaa record -g' records Python frames.\n#\n";
	return "# No stack has Python frames, though Python was recorded: 'kaa doctor' says what these take.\n#\n";
}

struct error *report_first_note(const struct profile *profile, bool is_filtered,
				struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	bool lacks = false;
	struct error *error = lacks_python(profile, &lacks);

	if (report_without_samples(profile, is_filtered, &why))
		strbuf_printf(out, "# %s\n#\n", why.data);
	if (!error && lacks)
		own_command_puts(out, why_no_python(profile, is_filtered));
	return error;
}

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

// SPDX-License-Identifier: GPL-2.0-only
#include "profile/sample_faults.h"

static const struct {
	enum profile_sample_flags flag;
	enum fault_kind kind;
} flagged[] = {
	{ PROFILE_SAMPLE_TRUNCATED, FAULT_TRUNCATED_STACKS },
	{ PROFILE_SAMPLE_NOT_ALIGNED, FAULT_NOT_ALIGNED },
	{ PROFILE_SAMPLE_MISSING_NATIVE, FAULT_MISSING_NATIVE },
	{ PROFILE_SAMPLE_UNREADABLE_PYTHON, FAULT_UNREADABLE_PYTHON },
	{ PROFILE_SAMPLE_NO_USER_STACK, FAULT_NO_USER_STACK },
};

enum { FLAGGED = sizeof(flagged) / sizeof(*flagged) };

static bool is_unresolved(const struct profile *profile, uint32_t stack)
{
	uint32_t frame;

	if (stack == PROFILE_NONE)
		return true;
	frame = profile->stack_frames.data[stack];
	return profile_frame(profile, frame)->symbol == PROFILE_NONE;
}

struct error *sample_faults(const struct profile *profile, uint32_t event,
			    uint64_t *samples, struct faults *ret)
{
	const struct profile_samples *s = &profile->samples;
	uint64_t counts[FLAGGED] = {}, unresolved = 0, all = 0;
	struct error *error = NULL;

	for (size_t row = 0; row < s->rows; row++) {
		if (event != PROFILE_NONE && s->event[row] != event)
			continue;
		all += s->count[row];
		for (size_t i = 0; i < FLAGGED; i++)
			if (s->flags[row] & flagged[i].flag)
				counts[i] += s->count[row];
		if (!profile->events.data[s->event[row]].python_only &&
		    is_unresolved(profile, s->stack[row]))
			unresolved += s->count[row];
	}
	for (uint32_t i = 0; !error && i < profile->recordings.count; i++) {
		const struct faults *faults = &profile->recordings.data[i].faults;

		if (event == PROFILE_NONE ||
		    profile->events.data[event].recording == i)
			error = faults_add_all(ret, faults->list.data,
					       faults->list.count);
	}
	for (size_t i = 0; i < FLAGGED && !error; i++)
		error = faults_add(ret, flagged[i].kind, counts[i], NULL);
	*samples = all;
	return error ? error :
		       faults_add(ret, FAULT_NO_SYMBOL, unresolved, NULL);
}

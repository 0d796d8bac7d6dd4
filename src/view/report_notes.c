// SPDX-License-Identifier: GPL-2.0-only
#include "view/report_notes.h"

#include <inttypes.h>

#include "view/text.h"

struct stack_counts {
	uint64_t samples;
	uint64_t truncated;
	uint64_t not_aligned;
	uint64_t unreadable;
	uint64_t no_user_stack;
	uint64_t unresolved;
};

static bool is_unresolved(const struct profile *profile, uint32_t stack)
{
	uint32_t frame;

	if (stack == PROFILE_NONE)
		return true;
	frame = profile->stack_frames.data[stack];
	return profile_frame(profile, frame)->symbol == PROFILE_NONE;
}

static struct stack_counts count_stacks(const struct profile *profile)
{
	const struct profile_samples *s = &profile->samples;
	struct stack_counts counts = {};

	for (size_t i = 0; i < s->rows; i++) {
		uint64_t n = s->count[i];

		counts.samples += n;
		if (s->flags[i] & PROFILE_SAMPLE_TRUNCATED)
			counts.truncated += n;
		if (s->flags[i] & PROFILE_SAMPLE_NOT_ALIGNED)
			counts.not_aligned += n;
		if (s->flags[i] & PROFILE_SAMPLE_UNREADABLE_PYTHON)
			counts.unreadable += n;
		if (s->flags[i] & PROFILE_SAMPLE_NO_USER_STACK)
			counts.no_user_stack += n;
		if (is_unresolved(profile, s->stack[i]))
			counts.unresolved += n;
	}
	return counts;
}

static void put_share(struct strbuf *out, uint64_t count, uint64_t of,
		      const char *what)
{
	double percent = of ? (double)count * 100.0 / (double)of : 0.0;

	if (count)
		strbuf_printf(out,
			      "# %" PRIu64 " of %" PRIu64
			      " samples (%.2f%%) %s\n",
			      count, of, percent, what);
}

static void put_count(struct strbuf *out, uint64_t count, const char *what)
{
	if (count)
		strbuf_printf(out, "# %" PRIu64 " %s\n", count, what);
}

static void put_counters(const struct profile *profile, struct strbuf *out)
{
	const uint64_t *counters = profile->counters;

	put_count(out, counters[PROFILE_LOST_RECORDS],
		  "records were lost: the recorder could not keep up");
	put_count(out, counters[PROFILE_THROTTLED],
		  "times the kernel throttled the sampling");
	put_count(out, counters[PROFILE_MISSING_BYTES],
		  "bytes are missing at the end of the file");
	put_count(out, counters[PROFILE_BROKEN_RECORDS],
		  "damaged records were left out");
	put_count(out, counters[PROFILE_UNKNOWN_RECORDS],
		  "records of unknown kinds were left out");
	put_count(out, counters[PROFILE_UNKNOWN_EVENT],
		  "samples of unknown events were left out");
}

void report_notes(const struct profile *profile, struct strbuf *out)
{
	struct stack_counts counts = count_stacks(profile);
	uint64_t lost = profile->counters[PROFILE_LOST_SAMPLES];
	size_t start;

	strbuf_puts(out, "#\n");
	start = out->len;
	put_share(out, lost, counts.samples + lost,
		  "were lost: the recorder could not keep up");
	put_share(
		out, counts.truncated, counts.samples,
		"have a truncated stack: the frames beyond [truncated stack] are missing");
	put_share(
		out, counts.not_aligned, counts.samples,
		"have Python frames whose place among the native frames is not known");
	put_share(out, counts.unreadable, counts.samples,
		  "have Python frames that could not be read");
	put_share(out, counts.no_user_stack, counts.samples,
		  "have no user stack");
	put_share(out, counts.unresolved, counts.samples,
		  "hit an address without a symbol");
	put_counters(profile, out);
	vec_for_each(note, &profile->notes) {
		if (!note->value)
			continue;
		strbuf_puts(out, "# recorder: ");
		text_string(out, profile, note->name, "");
		strbuf_printf(out, ": %" PRIu64 "\n", note->value);
	}
	if (out->len == start)
		strbuf_truncate(out, start - 2);
	else
		strbuf_puts(out, "#\n");
}

// SPDX-License-Identifier: GPL-2.0-only
#include "view/answer_screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/faults.h"

void answer_put_count(struct answer *a, uint64_t n)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			strbuf_putc(&a->text, ',');
		strbuf_putc(&a->text, digits[i]);
	}
}

void answer_end_line(struct answer *a)
{
	strbuf_trim_end(&a->text);
	strbuf_putc(&a->text, '\n');
}

double answer_share(const struct answer *a, uint64_t period)
{
	return a->own->all.period ? 100.0 * (double)period /
					    (double)a->own->all.period :
				    0;
}

void answer_put_seconds(struct strbuf *out, uint64_t ns)
{
	double s = (double)ns / 1e9;

	/* As they are when rounded: 999.6 ms is 1.00 s. */
	if (s < 0.9995)
		strbuf_printf(out, "%.0f ms", s * 1e3);
	else
		strbuf_printf(out, s < 99.995 ? "%.2f s" : "%.0f s", s);
}

const struct metadata *answer_metadata(const struct answer *a)
{
	return &a->profile->recordings.data[a->event->recording].metadata;
}

uint64_t answer_recorded(const struct profile *profile,
			 const struct profile_event *event, const char *subject)
{
	return faults_recorded(
		&profile->recordings.data[event->recording].faults, subject);
}

uint64_t answer_recorded_time(const struct profile *profile,
			      const struct profile_event *event,
			      const char *subject)
{
	return answer_recorded(profile, event, subject) * 1000;
}

uint64_t answer_time(const struct answer *a)
{
	const struct metadata *metadata = answer_metadata(a);
	uint64_t time = answer_recorded_time(a->profile, a->event, FAULT_TIME);

	if (a->options->is_filtered)
		return 0;
	if (time)
		return time;
	if (metadata->last_sample_time <= metadata->first_sample_time)
		return 0;
	return metadata->last_sample_time - metadata->first_sample_time;
}

uint64_t answer_ran(const struct answer *a)
{
	uint64_t seen = a->own->all.period;

	if (a->event->kind != EVENT_ON_CPU || a->options->is_filtered)
		return seen;
	return seen + answer_recorded_time(a->profile, a->event,
					   FAULT_WITHOUT_SAMPLES);
}

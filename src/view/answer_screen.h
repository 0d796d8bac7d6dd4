/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the first screen of a report (view/answer.h). */
#ifndef KAA_VIEW_ANSWER_SCREEN_H
#define KAA_VIEW_ANSWER_SCREEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/own_time.h"
#include "profile/profile.h"
#include "view/answer.h"
#include "view/place_name.h"

struct answer {
	const struct profile *profile;
	const struct answer_options *options;
	const struct profile_event *event;
	uint32_t event_index;
	struct own_time *own;
	struct place_names *names;
	size_t columns;
	struct strbuf text;
	/* Scratch. */
	struct strbuf word;
};

/* answer_screen.c */
/* 1234567: "1,234,567" */
void answer_put_count(struct answer *a, uint64_t n);
/* Without blanks at its end. */
void answer_end_line(struct answer *a);
/* Percent of all samples' weight. */
double answer_share(const struct answer *a, uint64_t period);

/* answer_tables.c */
void answer_put_functions(struct answer *a);
void answer_put_lines(struct answer *a);
/* answer_threads.c: the processes or threads, if there are several. */
struct error *answer_put_threads(struct answer *a);

#endif

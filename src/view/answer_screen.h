/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the first screen of a report (view/answer.h). */
#ifndef KAA_VIEW_ANSWER_SCREEN_H
#define KAA_VIEW_ANSWER_SCREEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
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
	/* By stack, whether there is a Python frame in it. */
	bool *has_python;
	/* answer_find_programs() */
	struct strbuf programs;
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

/* "870 ms", "4.72 s" */
void answer_put_seconds(struct strbuf *out, uint64_t ns);
/* Of the recording that the event is of. */
const struct metadata *answer_metadata(const struct answer *a);
/* As kaa's recorder has counted it, for all events and threads; 0: it has not. */
uint64_t answer_recorded(const struct profile *profile,
			 const struct profile_event *event, const char *subject);
/* The same of a counter of us, in ns. */
uint64_t answer_recorded_time(const struct profile *profile,
			      const struct profile_event *event,
			      const char *subject);
/*
 * How long the recording was, in ns; 0: not known, or not all of it is shown. Of one that
 * does not say, it is the time between the first and the last sample.
 */
uint64_t answer_time(const struct answer *a);
/*
 * The time of the samples, in ns; of CPU time also what the recorder knows to have no
 * samples, where all of the recording is shown.
 */
uint64_t answer_ran(const struct answer *a);

/* answer_tables.c */
void answer_put_functions(struct answer *a);
void answer_put_lines(struct answer *a);
/*
 * answer_program.c: the script whose processes weigh most, a string, or
 * PROFILE_NONE. Threads have no module body, so that what stacks tell counts for
 * all of their process.
 */
struct error *answer_find_program(const struct answer *a, uint32_t *ret);
/*
 * By pid the file of the last module body that a stack begins with, a string, for a
 * forked child has its parent's until it runs a program of its own. PROFILE_NONE: that is
 * no file, as of python3 -c. Of a process without one nothing.
 */
struct error *answer_find_scripts(const struct profile *p, uint32_t event,
				  struct map *ret);
/*
 * answer_programs.c: "of cc1, as", the programs without Python whose time is more
 * than half of what has no Python code, the heaviest first; else "".
 */
struct error *answer_find_programs(const struct answer *a, struct strbuf *ret);
/* A process that runs Python, among several. */
struct answer_process {
	/* It was started to work for another process: multiprocessing, Celery. */
	bool is_worker;
	/* Who started it, if that runs Python here, too; else 0. */
	int32_t parent;
};
/* answer_workers.c: by pid, for answer_process(). */
struct error *answer_find_workers(const struct profile *p, uint32_t event,
				  struct map *ret);
struct answer_process answer_process(const struct map *workers, int32_t pid);
/* answer_tasks.c: what the tasks of asyncio weigh together. */
uint64_t answer_task_time(const struct answer *a);
/* Tasks of asyncio by total time, where the samples are of tasks. */
struct error *answer_put_tasks(struct answer *a);
/* answer_threads.c: the processes or threads, if there are several. */
struct error *answer_put_threads(struct answer *a);
/*
 * answer_waiting.c: who asks why a program is slow asks in vain what it computes, where
 * that takes little of the time, and where a loop waits in vain for what. Lines, mostly none.
 */
void answer_note_waiting(struct answer *a);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rows of threads say of a process among others: which script it runs, and whose
 * worker or child it is.
 */
#ifndef KAA_VIEW_PROCESS_WORDS_H
#define KAA_VIEW_PROCESS_WORDS_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "profile/profile.h"
#include "view/place_name.h"

/* Of the samples of one event; zero: of none, and nothing is said. */
struct process_words {
	/* Borrowed. */
	const struct profile *profile;
	/* answer_find_scripts(), answer_find_workers() */
	struct map scripts;
	struct map workers;
};

/* The caller deinits in any case. */
struct error *process_words_init(struct process_words *words,
				 const struct profile *profile, uint32_t event);
void process_words_deinit(struct process_words *words);

/* A string, or PROFILE_NONE; a worker that runs no script itself has that of who started it. */
uint32_t process_words_script(const struct process_words *words, int32_t pid);
/* " (orders.py)", unless the process is called like its script. */
void process_words_put_script(const struct process_words *words,
			      const struct place_names *names,
			      const struct profile_task *task,
			      struct strbuf *out);
/* ", worker of 1234": all of them run the same script, and have a thread of one name. */
void process_words_put_parent(const struct process_words *words, int32_t pid,
			      struct strbuf *out);

#endif

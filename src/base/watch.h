/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long work that somebody watches, and may stop.
 *
 * Who works calls watch_goes_on() with each step, who waits watch_look() now and
 * then. After the first time that it is false the work is of no use any more: it
 * ends as soon as it can, with watch_error(). Who watches sets `stopped` back
 * before the next work.
 */
#ifndef KAA_BASE_WATCH_H
#define KAA_BASE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct watch {
	/*
	 * Called once in WATCH_EVERY steps: `what` is done so far, of total.
	 * False: stop.
	 */
	bool (*go_on)(void *arg, const char *what, uint64_t done,
		      uint64_t total);
	void *arg;
	bool stopped;
	/* Private. */
	unsigned int steps;
};

#define WATCH_EVERY 256

/* watch may be NULL: nobody watches. */
static inline bool watch_look(struct watch *watch, const char *what,
			      uint64_t done, uint64_t total)
{
	if (!watch)
		return true;
	if (!watch->stopped)
		watch->stopped =
			!watch->go_on(watch->arg, what, done, total);
	return !watch->stopped;
}

static inline bool watch_goes_on(struct watch *watch, const char *what,
				 uint64_t done, uint64_t total)
{
	if (!watch)
		return true;
	return ++watch->steps % WATCH_EVERY
		       ? !watch->stopped
		       : watch_look(watch, what, done, total);
}

/* NULL, or ERROR_INTERRUPTED if it was stopped. */
static inline struct error *watch_error(const struct watch *watch)
{
	return watch && watch->stopped
		       ? error_create(ERROR_INTERRUPTED, "stopped")
		       : NULL;
}

#endif

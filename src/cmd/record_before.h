/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recordings that are there before `kaa record` or `kaa import` makes another: "perf.data",
 * which becomes "perf.data.old", and the older one that this replaces. If nothing
 * is recorded after all, both are there again.
 */
#ifndef KAA_CMD_RECORD_BEFORE_H
#define KAA_CMD_RECORD_BEFORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct record_before {
	/* Of the output; borrowed. */
	const char *path;
	/* Its size is 0: there is no recording. */
	struct stat recording;
	/* Owned; NULL for want of memory. */
	char *old;
	/* A second name of the older recording. NULL: there is none. */
	char *older;
	/* The output, once it is there; its mode is 0 until then. */
	struct stat written;
	/* When the recording began, by CLOCK_MONOTONIC; the caller's. */
	int64_t began_ms;
	/* Of the recording there is something to show; the caller's. */
	bool has_samples;
};

/*
 * Before the output is opened. uid: the user that kaa becomes meanwhile, or -1.
 * An older recording has one more name, ".<name>.kaa-older" beside it, until one of
 * the others is called.
 */
void record_before_keep(struct record_before *before, const char *path,
			int64_t uid);
/* The output has been opened. */
void record_before_opened(struct record_before *before);
/*
 * Where the output is by now: another recording of its name has renamed it to
 * `old`. NULL: it has neither name.
 */
const char *record_before_find(const struct record_before *before);
/* What the recording before is called now, once the output is there; NULL: there was none. */
const char *record_before_kept(const struct record_before *before);
/* The output is there: the older recording is no more. */
void record_before_drop(struct record_before *before);
/* Removes the output, if it is a file: all is as before. */
void record_before_restore(struct record_before *before);
void record_before_deinit(struct record_before *before);

#endif

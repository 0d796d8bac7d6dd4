/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder of `kaa top`: a child process that records into a pipe
 * (docs/top.md). It knows nothing of who reads, and ends when the pipe does.
 */
#ifndef KAA_CMD_TOP_RECORDER_H
#define KAA_CMD_TOP_RECORDER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "cmd/framework/options.h"
#include "cmd/top_output.h"

struct record_settings;
struct record_setup;

struct top_recorder {
	pid_t pid;
	/* The recording; for who reads to take. */
	int data_fd;
	/* What it says, if it does not say it to the user; else -1. */
	int notes_fd;
	/* What the command prints; NULL without one. */
	struct top_output *output;
	bool has_ended;
	/* As wait() has it, once it has ended. */
	int status;
};
#define TOP_RECORDER_INIT { .pid = -1, .data_fd = -1, .notes_fd = -1 }

/*
 * setup is set up but for its command. keeps_notes: what it says is not for the
 * terminal, which shows a screen.
 */
struct error *top_recorder_start(struct record_setup *setup,
				 const struct record_settings *s,
				 const struct arguments *args, bool keeps_notes,
				 struct top_recorder *ret);
/* Looks whether it has ended. */
bool top_recorder_has_ended(struct top_recorder *recorder);
/* It has ended, and has said why. */
bool top_recorder_has_failed(struct top_recorder *recorder);
/* Of what it said: the last line, without its end; all of it. */
void top_recorder_last_note(const struct top_recorder *recorder,
			    struct strbuf *out);
void top_recorder_notes(const struct top_recorder *recorder,
			struct strbuf *out);
/*
 * Ends it, and with it the command. False: it did not end in time, since the command
 * does not, and was killed. Who reads must go on reading meanwhile.
 */
bool top_recorder_stop(struct top_recorder *recorder);
void top_recorder_deinit(struct top_recorder *recorder);

#endif

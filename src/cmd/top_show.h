/* SPDX-License-Identifier: GPL-2.0-only */
/* What `kaa top` shows of what its recorder writes: screens, or text. */
#ifndef KAA_CMD_TOP_SHOW_H
#define KAA_CMD_TOP_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cmd/top_recorder.h"

struct pid_vec;
struct top_show;

struct top_show_options {
	/* The option of `kaa record` that says what is recorded; "--": a command. */
	const char *subject;
	/* Its value, "12,13", or NULL; borrowed. */
	const char *numbers;
	/* The command's words, or NULL; borrowed. */
	const char *const *words;
	size_t word_count;
	/* That are shown; borrowed. */
	const struct pid_vec *processes;
	bool is_text;
	uint64_t delay_ms;
	/* 0: not given. */
	uint64_t window_ms;
	/* So many as text; 0: until all has ended. */
	uint64_t screens;
};

/* There is a terminal for a screen. */
bool top_show_has_screen(void);

/* Begins to read. recorder is borrowed, and its data_fd taken. */
struct error *top_show_open(const struct top_show_options *options,
			    struct top_recorder *recorder,
			    struct top_show **ret);
/* Until the user leaves. *signal: what ended it, or 0. */
struct error *top_show_run(struct top_show *show, int *signal);
/* The recording has ended, and there was never anything to show. */
bool top_show_had_nothing(const struct top_show *show);
/* Waits until the recorder has ended. Legal on NULL. */
void top_show_close(struct top_show *show);

#endif

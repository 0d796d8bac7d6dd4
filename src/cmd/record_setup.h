/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `kaa record` and `kaa top` are told, and a recorder's options made from it. An
 * option table may have the fields of struct record_settings if that is the first
 * member of its settings.
 */
#ifndef KAA_CMD_RECORD_SETUP_H
#define KAA_CMD_RECORD_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cmd/framework/options.h"
#include "cmd/typed_command.h"
#include "collect/recorder.h"
#include "sys/event_parse.h"
#include "sys/invoker.h"

enum {
	/* As much as a record can hold beside the rest of a sample. */
	RECORD_STACK_SIZE_MAX = 65528,
};

struct record_settings {
	struct option_list events;
	const char *output;
	/* 0: not given. UINT64_MAX: "max". */
	uint64_t frequency;
	uint64_t count;
	enum callchain_mode callchain;
	uint64_t stack_size;
	struct option_list pids;
	struct option_list tids;
	bool system_wide;
	const char *cpus;
	uint64_t delay;
	/* In ms; 0: not given. */
	uint64_t duration;
	/* 0: not given. */
	uint64_t compression;
	const char *clockid;
	bool quiet;
	int verbose;
	bool no_inherit;
	const char *clock;
	const char *python;
	const char *mode;
	bool off_cpu;
	bool native;
	bool of_tasks;
	bool view;
};

/* All that a recording is set up from; RECORD_SETUP_INIT. */
struct record_setup {
	struct recorder_options options;
	struct event_list choices;
	VEC(struct sampler_event) events;
	struct invoker invoker;
	char *path;
	struct typed_command command;
	struct launch launch;
	struct strbuf cmdline;
	VEC(char *) words;
};
#define RECORD_SETUP_INIT { .launch = LAUNCH_INIT, .cmdline = STRBUF_INIT }

/* --- For option tables --- */

struct error *record_parse_positive(const char *text, uint64_t *ret);
option_parse_fn record_parse_frequency;
option_parse_fn record_parse_duration;
/* Of --clockid. */
void record_clock_words(struct strbuf *out);

/* All lists and defaults of the settings. */
void record_settings_init(struct record_settings *settings);
void record_settings_deinit(struct record_settings *settings);

/* --- In this order --- */

/* The user behind sudo. */
struct error *record_take_invoker(struct record_setup *setup);
/*
 * Before anything is said or done: a mistyped command is the likeliest fault, and
 * has an exit code of its own. Nothing without a command.
 */
struct error *record_find_command(struct record_setup *setup,
				  const struct record_settings *s,
				  const struct arguments *args,
				  int *exit_code);
struct error *record_take_settings(struct record_setup *setup,
				   const struct record_settings *s);
/* Forks the command, and makes it the target unless there is another. */
struct error *record_take_command(struct record_setup *setup,
				  const struct record_settings *s,
				  const struct arguments *args);
void record_setup_deinit(struct record_setup *setup);

/* A command that only ends the recording is not what is recorded. */
bool record_has_targets(const struct record_settings *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa record`: events, rings, the walker, unwinding, and the output file.
 *
 *	recorder_open()		events and BPF; needs the privileges
 *	(drop privileges)
 *	recorder_run()		until the command or the time ends, or a signal says stop
 *	recorder_finish()	names, features, the image beside the file
 *
 * docs/ARCHITECTURE.md, "Record time", has the order of things. One thread.
 */
#ifndef KAA_COLLECT_RECORDER_H
#define KAA_COLLECT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/cpu_time.h"
#include "collect/launch.h"
#include "collect/notes.h"
#include "collect/python_source.h"
#include "collect/rings.h"
#include "collect/sample_stack.h"
#include "collect/sampler.h"

struct recorder_options {
	struct sampler_options sampler;
	/* NULL: the first that the machine lets us use. */
	const struct python_source *python;
	/* Path of the file; "-" is refused here. */
	const char *output;
	/* Owner of what is written; -1 leaves it. */
	int64_t uid;
	int64_t gid;
	/* 1 to 22: the file is packed (perfdata/writer.h); 0: not. */
	int compression;
	/* Not yet let go; NULL if no command is run. */
	struct launch *launch;
	/* The ELF file that it will run, as far as is known, or NULL. */
	const char *program;
	/* Processes recorded from the start; their maps are read from /proc. */
	struct pid_vec processes;
	/* All processes of the machine. */
	bool system_wide;
	/* The command is what is recorded, not just what ends the recording. */
	bool records_launch;
	/* See struct source_setup. */
	bool only_time;
	/* Events begin that much after the start. */
	uint64_t delay_ms;
	/* The recording ends that much after they began; 0: not by itself. */
	uint64_t duration_ms;
	/* For the file's header. */
	int argc;
	char *const *argv;
	const char *version;
};

struct unended_waits {
	uint64_t threads;
	uint64_t time;
};

struct recorder_result {
	struct stack_stats stacks;
	struct cpu_time_result cpu_time;
	/* With a source that takes the samples itself. */
	struct poll_counts polled;
	/* Samples of the user's events written. */
	uint64_t samples;
	/* Samples, and records of processes, that found no room. */
	uint64_t lost;
	uint64_t lost_tasks;
	/* That polling came too late for, or left out: the next ones stand for their time. */
	uint64_t not_taken;
	struct rings_load load;
	/* As in struct sampler. */
	uint64_t late_threads;
	/* When it ended, in ns, of which off-cpu has no samples. */
	struct unended_waits waits;
	/* A process was a Python, if only one that cannot be read. */
	bool python_ran;
	/* Mapped files for which there was no descriptor, if only for a time. */
	uint32_t unopened_files;
	/* As in struct target_files. */
	uint32_t left_out_code;
	/* As in struct code_table; which may have become full. */
	uint64_t broken_codes;
	uint64_t without_lines;
	bool codes_full;
	/* Bytes written. */
	uint64_t file_size;
	/* Status of the command, as wait() has it; -1: none, or it runs on. */
	int status;
	/* The signal that ended the recording, 0 for none. */
	int stopped_by;
	/* The image beside the file, or NULL; owned by the recorder. */
	const char *image;
};

struct recorder;

/* message: where the user is told something while it works. May be NULL. */
struct error *recorder_open(const struct recorder_options *options,
			    notes_sink *message, struct recorder **ret);

/* With trampolines as the source: whether the command is given some. */
static inline bool
recorder_gives_trampolines(const struct recorder_options *options)
{
	return options->launch &&
	       (options->records_launch || options->system_wide);
}

/* The source in use. */
const struct python_source *recorder_python(const struct recorder *recorder);
/*
 * Why a better one is not used although it was left to kaa, or NULL. Borrowed. One
 * that was asked for by name makes recorder_open() fail.
 */
const struct source_refusal *
recorder_refusal(const struct recorder *recorder);

/* Clocks tick for each CPU, not for each thread (docs/clock.md). */
bool recorder_clocks_by_cpu(const struct recorder *recorder);

/* The kernel was not permitted to this user: user space alone is sampled. */
bool recorder_user_only(const struct recorder *recorder);

/*
 * Records. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD stay blocked in the calling
 * thread from now on. On failure (a full disk) what was written stays a whole file;
 * recorder_finish() may still be called.
 */
struct error *recorder_run(struct recorder *recorder);
/* Ends the file. *ret is filled in also on failure. */
struct error *recorder_finish(struct recorder *recorder,
			      struct recorder_result *ret);
/*
 * Of the recorded processes those that have not ended, each once, but for `except`: as
 * many as there is room for are written to ret. Returns how many these are.
 */
size_t recorder_running(const struct recorder *recorder, pid_t except,
			pid_t *ret, size_t room);
void recorder_destroy(struct recorder *recorder);

DEFINE_CLEANUP(recorder, struct recorder *, recorder_destroy);

#endif

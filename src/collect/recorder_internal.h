/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder from the inside, for the files that it consists of alone:
 *
 *	recorder.c		opening, the interface of recorder.h
 *	recorder_loop.h		waits for rings and signals, calls the rounds
 *	recorder_round.h	one pass over all rings; walker and sample paired
 *	recorder_tasks.h	maps, names, forks, execs and exits of processes
 *	recorder_targets.h	the Pythons and trampolines that these bring
 *	recorder_samples.h	a sample becomes a chain and is written
 *	recorder_names.h	names that no file has
 *	recorder_end.h		what stands behind the samples, and the image
 *
 * All state is in struct recorder; there is none besides. Functions return an
 * error only if the recording cannot go on: no memory, a full disk, a damaged
 * ring. One thread.
 */
#ifndef KAA_COLLECT_RECORDER_INTERNAL_H
#define KAA_COLLECT_RECORDER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/address_names.h"
#include "collect/code_spans.h"
#include "collect/def_files.h"
#include "collect/output.h"
#include "collect/python_source.h"
#include "collect/recorder.h"
#include "collect/sample_stack.h"
#include "collect/sampler.h"
#include "collect/target.h"
#include "perfdata/features.h"
#include "process/process.h"

/* A task record, copied out of its ring. */
struct task_record {
	uint64_t time;
	size_t offset;
	size_t size;
};

struct recorder {
	struct recorder_options options;
	struct notes notes;
	struct sampler sampler;
	struct source_state *source;
	struct source_refusal refusal;
	struct output output;
	/* TRACING_DATA from the start, the others at the end. */
	struct features features;
	struct process_table *processes;
	struct target_list targets;
	struct code_table codes;
	struct def_files def_files;
	struct stack_builder stacks;
	struct name_table names;

	/* The round: by index of sampler.cpus, `heads` of the sample rings. */
	VEC(uint64_t) codes_done;
	uint64_t *heads;
	struct strbuf task_bytes;
	VEC(struct task_record) tasks;
	/* Processes whose first thread ended in this round. */
	VEC(uint32_t) ended;
	/* Targets whose first sample with Python code is in this round. */
	VEC(struct target *) image_wanted;
	/* Samples lost so far, as the rings say. */
	uint64_t lost;
	/* Samples of which the kernel made one with another recorder's. */
	uint64_t mixed_up;
	/* Time of the latest sample. */
	uint64_t latest;

	/* The loop; -1: not open. */
	int epoll_fd;
	int signal_fd;
	/* Not yet enabled: this is when, in ms of CLOCK_MONOTONIC. */
	int64_t enable_at;
	/* In ms of CLOCK_MONOTONIC; 0: no end is set. */
	int64_t end_at;
	/* Rings that a thread may still write to. */
	size_t rings_open;
	/* See struct recorder_result. */
	int status;
	int stopped_by;
	bool child_gone;

	/* What the user was told; addresses of the refusals. */
	struct map refusals_told;
	bool too_many_told;
	unsigned int unreadable_processes;
	/* The first of them, and why. */
	pid_t unreadable_pid;
	struct error *unreadable_why;

	bool image_written;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of a profile by event and thread, as exports write them.
 *
 * Threads stand process by process, the main thread first. A thread is a number
 * in a process of a recording, whatever it was called; it has the name that it
 * had last.
 */
#ifndef KAA_EXPORT_GROUPS_H
#define KAA_EXPORT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "export/stacks.h"
#include "profile/profile.h"

struct export_thread {
	uint32_t recording;
	int32_t pid;
	int32_t tid;
	/* The first thread of its process, which is the main one if it is here. */
	uint32_t first;
	/* Strings of the profile, or PROFILE_NONE; of the first its comm. */
	uint32_t name;
	uint32_t process;
};

/* The samples of an event in a thread; at least one. */
struct export_group {
	uint32_t event;
	uint32_t thread;
	/* groups.rows[first ...], rows of the profile in the order of time. */
	size_t first;
	size_t count;
	/* No sample of the event has a period: each weighs 1. */
	bool by_samples;
	uint64_t samples;
	uint64_t weight;
};

/* What a stack weighs. */
struct export_sum {
	uint32_t node;
	uint64_t samples;
	uint64_t weight;
};

struct export_sums VEC_BODY(struct export_sum);

struct export_groups {
	/* Owned. */
	struct export_stacks *stacks;
	VEC(struct export_thread) threads;
	/* By event, then by thread. */
	VEC(struct export_group) all;
	uint32_t *rows;
	bool many_processes;
	/* Private: what is wanted; PROFILE_NONE: all. */
	uint32_t event;
	uint32_t recording;
	/* Private: of each task its thread; of each node what it weighs. */
	uint32_t *thread_of;
	struct export_sum *sums;
};

/*
 * The samples of that event; PROFILE_NONE: of all that are to be shown. The
 * profile is borrowed. ERROR_NOT_FOUND: there is no such sample.
 */
struct error *export_groups_create(const struct profile *profile,
				   const struct export_stacks_options *options,
				   uint32_t event, struct export_groups **ret);
/* The same for formats whose places have lines, asked for or not. */
struct error *export_groups_with_lines(const struct profile *profile,
				       const struct export_stacks_options *options,
				       uint32_t event, struct export_groups **ret);
/* The same of one recording; the stacks are those of all. */
struct error *export_groups_of_recording(const struct profile *profile,
					 const struct export_stacks_options *options,
					 uint32_t event, uint32_t recording,
					 struct export_groups **ret);
void export_groups_destroy(struct export_groups *groups);
DEFINE_CLEANUP(export_groups, struct export_groups *, export_groups_destroy);
#define _cleanup_export_groups_ _cleanup_(cleanup_export_groups_)

/* What a row of the group weighs, and the node of its stack. */
uint64_t export_row_weight(const struct export_groups *groups,
			   const struct export_group *group, size_t row);
static inline uint32_t export_row_node(const struct export_groups *groups,
				       size_t row)
{
	const struct export_stacks *stacks = groups->stacks;

	return export_stacks_node(stacks,
				  stacks->profile->samples.stack[row]);
}

/*
 * The stacks of the group by their numbers, each once; replaces those in *ret.
 * False when memory runs out.
 */
bool export_group_sums(struct export_groups *groups,
		       const struct export_group *group,
		       struct export_sums *ret);
/* The group behind those of the same event. */
size_t export_groups_end(const struct export_groups *groups, size_t first);
/* There are samples of several events. */
bool export_groups_mixed(const struct export_groups *groups);
/*
 * A name is all that a format has for the event, and it has to stand there: there are
 * several, or it is of time, and not of that on a CPU.
 */
bool export_event_is_said(const struct export_groups *groups,
			  const struct export_group *group);

/* "MainThread (4242)"; with its process, if there are several. */
void export_thread_label(const struct export_groups *groups,
			 const struct export_thread *thread,
			 struct strbuf *out);
/* The comm of its process, as far as it is known. */
const char *export_process_name(const struct export_groups *groups,
				const struct export_thread *thread);
const char *export_event_name(const struct export_groups *groups,
			      const struct export_group *group);
/*
 * What weights are called in formats of Google and OpenTelemetry: "cpu" and "wall",
 * as other profilers say, where no event but this one is exported; and their unit.
 */
const char *export_weight_name(const struct export_groups *groups,
			       const struct export_group *group);
const char *export_weight_unit(const struct export_groups *groups,
			       const struct export_group *group);
/* What lies between two samples, in that unit; 0: not known. */
uint64_t export_weight_period(const struct export_groups *groups,
			      const struct export_group *group);

#endif

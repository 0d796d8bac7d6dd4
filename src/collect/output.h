/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that a recording writes: the events as readers shall see them,
 * records held until a round is over and then written in time order, the kaa
 * stream, and the ELF image beside it.
 *
 * A file stands by itself: whatever its samples refer to is said in it. So what
 * is said once keeps the number of the file that says it (code.written_in,
 * target.announced_in and image_in, and the names in struct name_table), and is
 * said again in a file with another number. That a code object has an address
 * is another matter: it holds for the whole recording.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_OUTPUT_H
#define KAA_COLLECT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/callchain_mode.h"
#include "collect/code_spans.h"
#include "perfdata/events.h"
#include "perfdata/features.h"
#include "perfdata/record.h"
#include "perfdata/writer.h"

/* A record in `bytes` that waits for the end of its round. */
struct output_record {
	uint64_t time;
	/* Order among equal times. */
	uint64_t number;
	size_t offset;
	size_t size;
};

struct output {
	/* The file's number in the recording, from 1 up. */
	uint32_t file;
	struct perfdata_writer *writer;
	/* The user's events, then `kaa`. */
	struct events events;
	struct event *kaa;
	struct strbuf bytes;
	VEC(struct output_record) records;
	uint64_t number;
	/* Absolute path of the image, and its build-id. */
	char *image_path;
	/* Some process has it mapped. */
	bool image_mapped;
	/* Else it is a device, and there is no image beside it. */
	bool is_file;
	uint8_t image_id[20];
	int64_t uid;
	int64_t gid;
	/* Latest record so far; of the rounds before; of those before that. */
	uint64_t latest;
	uint64_t previous_latest;
	uint64_t settled;
	/* Earliest sample of this round. */
	uint64_t round_earliest;
	uint64_t first_sample;
	uint64_t last_sample;
	uint64_t samples;
	/* The first process that was sampled: see output_payload(). */
	uint32_t first_pid;
};

/* All of it is borrowed for the call alone. */
struct output_options {
	const char *path;
	uint32_t file;
	/* Owner of what is written; -1 leaves it. */
	int64_t uid;
	int64_t gid;
	/* Of struct perfdata_writer_options. */
	int compression;
	/*
	 * The events as the kernel has them. The file has the first of them;
	 * what carries an id of another, such as a task or a loss, is its first
	 * event's there.
	 */
	const struct events *events;
	size_t event_count;
	/* What the file's samples say about their stacks. */
	enum callchain_mode callchain;
	/* The kernel was refused: events without it are called so. */
	bool user_only;
};

struct error *output_open(struct output *output,
			  const struct output_options *options);
void output_close(struct output *output);

/* A record of the kernel as it is. */
struct error *output_raw(struct output *output, uint64_t time,
			 const void *record, size_t size);
/* A record that the recorder makes; event NULL: the first event. */
struct error *output_record(struct output *output, const struct record *record);
/* The longest chain that output_sample() can give this sample. */
size_t output_chain_room(const struct output *output,
			 const struct record *sample);
/* The sample as decoded, with another chain, without registers and stack. */
struct error *output_sample(struct output *output, const struct record *sample,
			    const uint64_t *chain, size_t count);
/*
 * One payload of the kaa stream. What concerns no process (pid 0) is listed
 * under the first that was sampled, since tools make a process of every pid
 * that they find.
 */
struct error *output_payload(struct output *output, uint64_t time,
			     uint32_t pid, const void *payload, size_t size);
/* Maps the image at the reserved range in a process. */
struct error *output_map_image(struct output *output, uint64_t time,
			       uint32_t pid, uint32_t tid);

/*
 * A time before all samples from `time` on, those too that the next round may
 * bring from another CPU, but in the order that readers demand: at the end of a
 * round they have handled what is not later than the round before it.
 */
uint64_t output_time_before(const struct output *output, uint64_t time);
/*
 * For what belongs to no moment: the last sample's time, which is before the
 * end of the process, or the first that readers still demand.
 */
uint64_t output_time_last(const struct output *output);
/* A sample of that time is in this round. */
void output_note_sample(struct output *output, uint32_t pid, uint64_t time);

/* Writes what waits, in time order, and ends the round. */
struct error *output_round(struct output *output);

/*
 * Writes the image for all code objects that the file tells of, and the markers;
 * nothing if no process has it mapped. *written says whether. Images of former
 * recordings of that name that are gone go, too.
 */
struct error *output_image(struct output *output,
			   const struct code_table *codes, bool *written);

#endif

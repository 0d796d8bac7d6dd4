/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes perf.data as perf does: header, ids, attributes, data, features.
 *
 * From perfdata_writer_create() on, the file opens in any reader; it holds
 * what the last perfdata_writer_checkpoint() made sure of. Killed between two
 * checkpoints, a recorder leaves whole records up to the last one.
 *
 * When the disk is full the file is cut behind a whole record, some 64 KiB, at most
 * 2 MiB before the last one that fits: so there is room for the features, if the file
 * is not small. The header agrees with it, and the first call that notices returns ERROR_OS
 * (ENOSPC, EDQUOT, EFBIG, EIO); later appends return it again, and
 * perfdata_writer_finish() still saves the features.
 *
 * Records are buffered; one write call takes up to 1 MiB. Not thread-safe.
 */
#ifndef KAA_PERFDATA_WRITER_H
#define KAA_PERFDATA_WRITER_H

#include "base/error.h"
#include "perfdata/events.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

struct perfdata_writer;

struct perfdata_writer_options {
	/* "-" is standard output, written as a pipe. */
	const char *path;
	/*
	 * Complete: all events and ids are known before data. Borrowed, must
	 * outlive the writer. attr.size is set to the file's attr size.
	 */
	const struct events *events;
	/* Owner of the new file; -1 leaves it. */
	int64_t uid;
	int64_t gid;
	/*
	 * 1 to 22: a file's records are packed with zstd (perfdata/packer.h); 0:
	 * not. What cannot seek is never packed: its reader would have to know before.
	 */
	int compression;
};

/*
 * Creates the file, mode 0600. An existing regular file that is not empty is
 * renamed to "<path>.old" first. A symbolic link is not followed unless it
 * leads to a device; other files than regular ones and devices are refused.
 * Pipes and devices are written without seeking.
 */
struct error *
perfdata_writer_create(const struct perfdata_writer_options *options,
		       struct perfdata_writer **ret);
/* Closes without finishing: what is buffered is lost. */
void perfdata_writer_destroy(struct perfdata_writer *writer);

/*
 * Appends raw records, whole and one after the other, each a multiple of 8
 * bytes.
 */
struct error *perfdata_writer_append(struct perfdata_writer *writer,
				     const void *records, size_t size);
/* record_encode() and append. */
struct error *perfdata_writer_put(struct perfdata_writer *writer,
				  const struct record *record);

/* Records of perf's own, in the order in which perf writes them. */
struct perfdata_time_conv {
	/* Of struct perf_event_mmap_page, when cap_user_time. */
	uint64_t time_shift;
	uint64_t time_mult;
	uint64_t time_zero;
	/* When cap_user_time_short. */
	uint64_t time_cycles;
	uint64_t time_mask;
	bool cap_user_time_zero;
	bool cap_user_time_short;
};

struct perfdata_id_index {
	uint64_t id;
	/* Number of the event's file in the recorder's list. */
	uint64_t idx;
	/* -1: any */
	int64_t cpu;
	int64_t tid;
};

struct error *
perfdata_writer_time_conv(struct perfdata_writer *writer,
			  const struct perfdata_time_conv *conv);
struct error *perfdata_writer_id_index(struct perfdata_writer *writer,
				       const struct perfdata_id_index *entries,
				       size_t count);
/*
 * In a pipe, writes the features' TRACING_DATA, if there: before the first
 * sample. Nothing in a file, where perfdata_writer_finish() does.
 */
struct error *perfdata_writer_tracing_data(struct perfdata_writer *writer,
					   const struct features *features);
/* EVENT_UPDATE with the name of each event. */
struct error *perfdata_writer_event_names(struct perfdata_writer *writer);
/* comms[i] may be "". */
struct error *perfdata_writer_thread_map(struct perfdata_writer *writer,
					 const uint32_t *tids,
					 const char *const *comms,
					 size_t count);
struct error *perfdata_writer_cpu_map(struct perfdata_writer *writer,
				      const uint16_t *cpus, size_t count);
struct error *perfdata_writer_finished_init(struct perfdata_writer *writer);
/* At the end of a pass over all rings that wrote anything. */
struct error *perfdata_writer_finished_round(struct perfdata_writer *writer);

/* Writes what is buffered and advances the header's data size. */
struct error *perfdata_writer_checkpoint(struct perfdata_writer *writer);
/*
 * The last checkpoint, then the features that are marked present; EVENT_DESC
 * is added by itself. The writer only takes perfdata_writer_destroy() then.
 */
struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct features *features);

/* Bytes of data so far, buffered ones included. */
uint64_t perfdata_writer_data_size(const struct perfdata_writer *writer);
/* Bytes of the file so far. */
uint64_t perfdata_writer_file_size(const struct perfdata_writer *writer);

DEFINE_CLEANUP(perfdata_writer, struct perfdata_writer *,
	       perfdata_writer_destroy);
#define _cleanup_perfdata_writer_ _cleanup_(cleanup_perfdata_writer_)

#endif

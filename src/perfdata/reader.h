/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads perf.data: regular files and pipes, of perf and of kaa.
 *
 *	struct perfdata_reader *reader;
 *	err = perfdata_reader_open(path, &reader);
 *	while (!(err = perfdata_reader_next(reader, &record)) && record) ...
 *
 * Records come in time order, as far as the file's FINISHED_ROUND marks
 * promise it: at a mark, what is not later than the latest record before the
 * previous mark is handed out. Records without a time, and types of 64 and
 * above, come as they stand in the file, ahead of what waits. Without marks,
 * up to a bounded number of records and bytes wait; what then comes late is
 * handed out late and counted.
 *
 * A file's end inside a record, bytes that cannot be a record, and a record
 * that does not decode are counted and end or skip, not fail: what can be read
 * is read. Compressed data (zstd, one stream over all records) is unpacked.
 *
 * Layout: perf's own description of the perf.data format; the facts used here
 * were checked against files of perf 6.1 and 7.2. Big-endian files are
 * ERROR_UNSUPPORTED. Not thread-safe.
 */
#ifndef KAA_PERFDATA_READER_H
#define KAA_PERFDATA_READER_H

#include "base/error.h"
#include "base/faults.h"
#include "perfdata/events.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

struct perfdata_reader;

struct perfdata_stats {
	/* Records seen, by type (FINISHED_ROUND and the like included). */
	uint64_t records[PERFDATA_TYPE_MAX];
	/* Records of higher types. */
	uint64_t unknown_records;
	/* Sums of LOST records, of LOST_SAMPLES, and how many of each. */
	uint64_t lost;
	uint64_t lost_samples;
	/* Records that do not decode. */
	uint64_t broken_records;
	/* Records handed out with a time before their predecessor's. */
	uint64_t out_of_order;
	/* Bytes at the end that are no whole record, or after a bad size. */
	uint64_t truncated_bytes;
	/* Bytes that the header, or the last record of a pipe, promises, and that are not there. */
	uint64_t missing_bytes;
	/* Feature sections that cannot be read. */
	uint64_t broken_features;
	/* The header's data size was 0: the recorder did not end properly. */
	bool unfinished;
};

/* "-" is standard input. Only regular files and pipes are opened. */
struct error *perfdata_reader_open(const char *path,
				   struct perfdata_reader **ret);
/* The same on a descriptor, which the reader takes over, even on failure. */
struct error *perfdata_reader_open_fd(int fd, const char *path,
				      struct perfdata_reader **ret);
void perfdata_reader_destroy(struct perfdata_reader *reader);

/* Grows while a pipe is read (ATTR records); events keep their address. */
const struct events *perfdata_reader_events(const struct perfdata_reader *r);
/* Where the records are in a file, and when it was written (time(2)). */
struct perfdata_layout {
	uint64_t data_offset;
	uint64_t data_size;
	int64_t modified;
};

/* False for a pipe. */
bool perfdata_reader_layout(const struct perfdata_reader *reader,
			    struct perfdata_layout *ret);
/* Of a pipe: complete once reading is done. */
const struct features *perfdata_reader_features(const struct perfdata_reader *r);
bool perfdata_reader_is_pipe(const struct perfdata_reader *reader);
/* Bytes of the file; 0 for a pipe. */
uint64_t perfdata_reader_file_size(const struct perfdata_reader *reader);

/* How far a regular file was read; 0 for a pipe. */
uint64_t perfdata_reader_position(const struct perfdata_reader *reader);

/*
 * The next record, valid until the next call; NULL at the end. Handled inside
 * and not handed out: ATTR, EVENT_UPDATE, FEATURE, BUILD_ID, FINISHED_ROUND,
 * COMPRESSED. An error means that the file cannot be read any further.
 */
struct error *perfdata_reader_next(struct perfdata_reader *reader,
				   const struct record **ret);

/* Of what was read so far. */
const struct perfdata_stats *
perfdata_reader_stats(const struct perfdata_reader *reader);
/* Adds what of that is wrong with the file. */
struct error *perfdata_reader_faults(const struct perfdata_reader *reader,
				     struct faults *ret);
/*
 * Samples lost of one event, from LOST_SAMPLES records and READ records with
 * PERF_FORMAT_LOST.
 */
uint64_t perfdata_reader_lost_of(const struct perfdata_reader *reader,
				 const struct event *event);

DEFINE_CLEANUP(perfdata_reader, struct perfdata_reader *,
	       perfdata_reader_destroy);
#define _cleanup_perfdata_reader_ _cleanup_(cleanup_perfdata_reader_)

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/fd.h"
#include "perfdata/blocks.h"
#include "perfdata/queue.h"

#define PIPE_HEADER_SIZE 16
#define FILE_HEADER_SIZE 104
#define SECTION_SIZE 16
/* What may wait for its turn: records, and bytes in blocks that they hold. */
#define QUEUE_MAX_RECORDS (1u << 20)
#define QUEUE_MAX_BYTES (512u << 20)
/* Bounds of what is read at once: ids of one event, one feature's payload. */
#define MAX_IDS_SIZE (64u << 20)
#define MAX_FEATURE_SIZE (256u << 20)
/* The formats of all tracepoints of a kernel take some 2 MiB. */
#define TRACING_DATA_MAX (64u << 20)

static const uint8_t magic[8] = "PERFILE2";
static const uint8_t magic_swapped[8] = "2ELIFREP";

struct section {
	uint64_t offset;
	uint64_t size;
};

struct perfdata_reader {
	int fd;
	char *path;
	bool is_regular;
	bool is_pipe;
	uint64_t file_size;

	struct events events;
	struct features features;
	struct perfdata_stats stats;
	/* Lost samples by event index. */
	VEC(uint64_t) lost;

	/* The end of a regular file's data. */
	uint64_t end;
	struct perfdata_layout layout;

	struct block_pool pool;
	struct stream outer;
	/* What COMPRESSED records unpack to. */
	struct stream inner;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer packed;
	/* Holds the record that `packed` points into. */
	struct block *packed_block;

	struct queue queue;
	bool at_end;
	uint64_t last_time;

	struct record record;
	/* Holds what `record` borrows. */
	struct block *record_block;
};

/* Files */

/* Reads up to size bytes at offset; fewer only at the file's end. */
static struct error *pread_up_to(const struct perfdata_reader *r, void *data,
				 size_t size, uint64_t offset, size_t *ret)
{
	int errnum = fd_read_at(r->fd, data, size, offset, ret);

	return errnum ? error_os(errnum, r->path, "cannot read") : NULL;
}

static struct error *read_up_to(const struct perfdata_reader *r, void *data,
				size_t size, size_t *ret)
{
	int errnum = fd_read(r->fd, data, size, ret);

	return errnum ? error_os(errnum, r->path, "cannot read") : NULL;
}

/* All of a section, to be freed; it must lie inside the file. */
static struct error *read_section(const struct perfdata_reader *r,
				  const struct section *section, uint64_t limit,
				  struct bytes *ret)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct error *err;
	size_t got;

	if (section->offset > r->file_size ||
	    section->size > r->file_size - section->offset)
		return error_at(ERROR_TRUNCATED, r->path, section->offset,
				"the file ends before what it says of its events: it was cut off; record again");
	if (section->size > limit)
		return error_at(ERROR_LIMIT, r->path, section->offset,
				"a section is too large");
	data = malloc(section->size + 1);
	if (!data)
		return error_no_memory();
	err = pread_up_to(r, data, section->size, section->offset, &got);
	if (err)
		return err;
	*ret = (struct bytes){ take_ptr(data), got };
	return NULL;
}

static struct reader reader_over(const struct perfdata_reader *r,
				 const struct bytes *bytes, uint64_t offset)
{
	struct reader reader = reader_init(bytes->data, bytes->size);

	reader.base = offset;
	reader.path = r->path;
	return reader;
}

static void take_section(struct reader *reader, struct section *ret)
{
	reader_u64(reader, &ret->offset);
	reader_u64(reader, &ret->size);
}

/* Header and attributes */

/*
 * An attribute of `size` bytes: what this build does not know is left out,
 * what the file does not have is 0. The size stays what the recorder knew.
 */
static struct error *take_attr(struct reader *reader, size_t size,
			       struct perf_event_attr *ret)
{
	const uint8_t *bytes = reader_bytes(reader, size);

	if (!bytes || size < PERF_ATTR_SIZE_VER0)
		return reader_error(reader, "an event's attribute");
	*ret = (struct perf_event_attr){};
	memcpy(ret, bytes, size < sizeof(*ret) ? size : sizeof(*ret));
	if (ret->size < PERF_ATTR_SIZE_VER0)
		ret->size = sizeof(*ret);
	return NULL;
}

static struct error *add_ids(struct perfdata_reader *r, struct event *event,
			     struct reader *ids)
{
	uint64_t id;

	while (reader_left(ids) >= sizeof(id)) {
		struct error *err;

		reader_u64(ids, &id);
		err = events_add_id(&r->events, event, id);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *read_event(struct perfdata_reader *r, struct reader *attrs,
				uint64_t attr_size)
{
	struct perf_event_attr attr;
	struct section section;
	struct event *event;
	struct bytes bytes;
	struct reader ids;
	struct error *err;

	err = take_attr(attrs, attr_size, &attr);
	if (err)
		return err;
	take_section(attrs, &section);
	if (attrs->failed)
		return reader_error(attrs, "the list of events");
	err = read_section(r, &section, MAX_IDS_SIZE, &bytes);
	if (err)
		return err;
	err = events_add(&r->events, &attr, NULL, &event);
	if (!err) {
		ids = reader_over(r, &bytes, section.offset);
		err = add_ids(r, event, &ids);
	}
	free((void *)bytes.data);
	return err;
}

static struct error *read_events(struct perfdata_reader *r,
				 const struct section *section,
				 uint64_t entry_size)
{
	struct bytes bytes;
	struct reader reader;
	struct error *err;

	if (entry_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE ||
	    entry_size > RECORD_MAX_SIZE)
		return error_at(ERROR_FORMAT, r->path, 16,
				"event attributes of %" PRIu64 " bytes",
				entry_size);
	err = read_section(r, section, EVENTS_MAX * entry_size, &bytes);
	if (err)
		return err;
	reader = reader_over(r, &bytes, section->offset);
	while (!err && reader_left(&reader) >= entry_size)
		err = read_event(r, &reader, entry_size - SECTION_SIZE);
	if (!err && !r->events.list.count)
		err = error_at(ERROR_FORMAT, r->path, section->offset,
			       "the file has no events");
	free((void *)bytes.data);
	return err;
}

/* One feature section. Broken ones are left out: the data can be read. */
static struct error *read_feature(struct perfdata_reader *r, int bit,
				  const struct section *section)
{
	_cleanup_error_ struct error *err = NULL;
	struct bytes bytes = {};
	struct reader reader;

	err = read_section(r, section, MAX_FEATURE_SIZE, &bytes);
	if (!err) {
		reader = reader_over(r, &bytes, section->offset);
		err = features_decode(&r->features, bit, &reader, &r->events);
		free((void *)bytes.data);
	}
	if (err && err->code == ERROR_NO_MEMORY)
		return take_ptr(err);
	if (err)
		r->stats.broken_features++;
	return NULL;
}

/* The table of feature sections stands behind the data. */
static struct error *read_features(struct perfdata_reader *r,
				   const uint64_t bits[FEATURE_MAX / 64],
				   uint64_t offset)
{
	struct error *err;

	for (int bit = 0; bit < FEATURE_MAX; bit++) {
		struct section section;
		uint8_t raw[SECTION_SIZE];
		struct reader reader = reader_init(raw, sizeof(raw));
		size_t got;

		if (!(bits[bit / 64] >> (bit % 64) & 1))
			continue;
		err = pread_up_to(r, raw, sizeof(raw), offset, &got);
		if (err)
			return err;
		if (got < sizeof(raw)) {
			r->stats.broken_features++;
			return NULL;
		}
		take_section(&reader, &section);
		err = read_feature(r, bit, &section);
		if (err)
			return err;
		offset += SECTION_SIZE;
	}
	return NULL;
}

static struct error *check_magic(const struct perfdata_reader *r,
				 const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return error_create(ERROR_FORMAT, "'%s' is empty", r->path);
	if (size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0)
		return NULL;
	if (size >= sizeof(magic) &&
	    memcmp(bytes, magic_swapped, sizeof(magic)) == 0)
		return error_create(
			ERROR_UNSUPPORTED,
			"'%s' was recorded on a big-endian machine; read it there",
			r->path);
	return error_create(ERROR_FORMAT, "'%s' is not a perf.data file",
			    r->path);
}

/* Bounds the data by the file; counts what the header promises beyond it. */
static void set_data(struct perfdata_reader *r, const struct section *data)
{
	uint64_t room = data->offset < r->file_size ?
				r->file_size - data->offset :
				0;
	uint64_t size = data->size;

	if (!size) {
		r->stats.unfinished = true;
		size = room;
	}
	if (size > room) {
		r->stats.missing_bytes = size - room;
		size = room;
	}
	r->outer.offset = data->offset;
	r->end = data->offset + size;
	r->layout.data_offset = data->offset;
	r->layout.data_size = size;
}

static struct error *read_file_header(struct perfdata_reader *r,
				      struct reader *header)
{
	struct section attrs, data, event_types;
	uint64_t bits[FEATURE_MAX / 64];
	uint64_t attr_size;
	struct error *err;

	reader_u64(header, &attr_size);
	take_section(header, &attrs);
	take_section(header, &data);
	take_section(header, &event_types);
	for (size_t i = 0; i < FEATURE_MAX / 64; i++)
		reader_u64(header, &bits[i]);
	if (header->failed)
		return reader_error(header, "the header");
	err = read_events(r, &attrs, attr_size);
	if (err)
		return err;
	set_data(r, &data);
	if (r->stats.unfinished || r->stats.missing_bytes)
		return NULL;
	return read_features(r, bits, data.offset + data.size);
}

static struct error *read_header(struct perfdata_reader *r)
{
	uint8_t raw[FILE_HEADER_SIZE];
	struct bytes bytes = { .data = raw };
	struct reader header;
	struct error *err;
	uint64_t size;

	if (r->is_regular)
		err = pread_up_to(r, raw, sizeof(raw), 0, &bytes.size);
	else
		err = read_up_to(r, raw, PIPE_HEADER_SIZE, &bytes.size);
	if (err)
		return err;
	err = check_magic(r, raw, bytes.size);
	if (err)
		return err;
	header = reader_over(r, &bytes, 0);
	reader_skip(&header, sizeof(magic));
	reader_u64(&header, &size);
	if (header.failed)
		return reader_error(&header, "the header");
	if (size == PIPE_HEADER_SIZE) {
		r->is_pipe = true;
		r->outer.offset = PIPE_HEADER_SIZE;
		r->end = r->file_size;
		return NULL;
	}
	if (size != FILE_HEADER_SIZE)
		return error_at(ERROR_FORMAT, r->path, 8,
				"a perf.data header of %" PRIu64 " bytes", size);
	if (!r->is_regular)
		return error_create(
			ERROR_FORMAT,
			"'%s': a recording that was written to a file can be read from that file, not from a pipe",
			r->path);
	return read_file_header(r, &header);
}

/* Streams of records */

static struct error *fill_from_file(void *context, uint64_t offset,
				    void *data, size_t size, size_t *ret)
{
	struct perfdata_reader *r = context;
	int errnum;

	/* Who writes may still be at it: what is there is handed out. */
	if (!r->is_regular) {
		errnum = fd_read_some(r->fd, data, size, ret);
		return errnum ? error_os(errnum, r->path, "cannot read") : NULL;
	}
	if (size > r->end - offset)
		size = r->end - offset;
	return pread_up_to(r, data, size, offset, ret);
}

static struct error *fill_from_zstd(void *context, uint64_t offset, void *data,
				    size_t size, size_t *ret)
{
	struct perfdata_reader *r = context;
	ZSTD_outBuffer out = { data, size, 0 };
	size_t before;
	size_t code;

	/* What comes next is all that a stream can give. */
	(void)offset;
	/* Small inputs may give no output; more is wanted then. */
	do {
		before = r->packed.pos;
		code = r->zstd ? ZSTD_decompressStream(r->zstd, &out,
						       &r->packed) :
				 0;
		if (ZSTD_isError(code))
			return error_create(ERROR_FORMAT,
					    "'%s': cannot unpack records: %s",
					    r->path, ZSTD_getErrorName(code));
	} while (!out.pos && r->packed.pos != before);
	*ret = out.pos;
	return NULL;
}

/* Makes the payload of a COMPRESSED record the inner stream's input. */
static struct error *unpack(struct perfdata_reader *r,
			    struct stream_record *record)
{
	const struct perf_event_header *header = &record->header;
	struct reader body = reader_init(record->data, header->size);
	uint64_t size;

	reader_skip(&body, sizeof(*header));
	size = reader_left(&body);
	if (header->type == PERFDATA_COMPRESSED2) {
		reader_u64(&body, &size);
		if (body.failed || size > reader_left(&body)) {
			r->stats.broken_records++;
			return NULL;
		}
	}
	if (!r->zstd)
		r->zstd = ZSTD_createDStream();
	if (!r->zstd)
		return error_no_memory();
	block_unref(&r->pool, r->packed_block);
	r->packed_block = take_ptr(record->block);
	r->packed = (ZSTD_inBuffer){ body.pos, size, 0 };
	return NULL;
}

static void count_record(struct perfdata_reader *r, uint32_t type)
{
	if (type < PERFDATA_TYPE_MAX)
		r->stats.records[type]++;
	else
		r->stats.unknown_records++;
}

/* Formats of tracepoints, which a pipe has in between. */
static struct error *take_tracing_data(struct perfdata_reader *r, uint64_t size,
				       uint64_t padded, uint64_t *taken)
{
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	bool keep = size <= TRACING_DATA_MAX;
	struct error *err;

	err = stream_take(&r->outer, padded, keep ? &data : NULL, taken);
	if (!err)
		err = strbuf_error(&data);
	if (err || !keep || data.len < size)
		return err;
	return features_set_tracing_data(&r->features, data.data,
					 (size_t)size);
}

/*
 * Bytes that follow a record in the file without being part of it: traces of
 * AUXTRACE, tracing data in pipes.
 */
static struct error *take_payload(struct perfdata_reader *r,
				  const struct stream_record *record)
{
	const struct perf_event_header *header = &record->header;
	struct reader body = reader_init(record->data, header->size);
	struct error *err;
	uint64_t size = 0;
	uint64_t taken;
	uint32_t small = 0;

	reader_skip(&body, sizeof(*header));
	if (header->type == PERFDATA_AUXTRACE) {
		reader_u64(&body, &size);
	} else if (header->type == PERFDATA_HEADER_TRACING_DATA && r->is_pipe) {
		reader_u32(&body, &small);
		size = ((uint64_t)small + 7) & ~7ull;
	}
	if (!size)
		return NULL;
	if (small)
		err = take_tracing_data(r, small, size, &taken);
	else
		err = stream_take(&r->outer, size, NULL, &taken);
	if (!err && taken < size)
		r->stats.missing_bytes += size - taken;
	return err;
}

static bool is_compressed(const struct stream_record *record)
{
	return record->header.type == PERFDATA_COMPRESSED ||
	       record->header.type == PERFDATA_COMPRESSED2;
}

/* The next record as it stands in the file, unpacked; NULL data: the end. */
static struct error *next_raw(struct perfdata_reader *r,
			      struct stream_record *ret)
{
	struct error *err;

	for (;;) {
		err = stream_next(&r->inner, ret);
		if (err || ret->data)
			break;
		err = stream_next(&r->outer, ret);
		if (err || !ret->data)
			return err;
		if (!is_compressed(ret)) {
			err = take_payload(r, ret);
			break;
		}
		count_record(r, ret->header.type);
		err = unpack(r, ret);
		block_unref(&r->pool, ret->block);
		*ret = (struct stream_record){};
		if (err)
			return err;
	}
	if (ret->data)
		count_record(r, ret->header.type);
	return err;
}

/* Records of perf's own that describe the recording */

static struct error *handle_attr(struct perfdata_reader *r, struct reader *body)
{
	struct reader peek = *body;
	struct perf_event_attr attr;
	struct event *event;
	struct error *err;
	uint32_t type, size;

	reader_u32(&peek, &type);
	reader_u32(&peek, &size);
	err = take_attr(body, size ? size : PERF_ATTR_SIZE_VER0, &attr);
	if (!err)
		err = events_add(&r->events, &attr, NULL, &event);
	return err ? err : add_ids(r, event, body);
}

static struct error *handle_event_update(struct perfdata_reader *r,
					 struct reader *body)
{
	const uint64_t update_name = 2;
	struct event *event;
	uint64_t type, id;
	const char *name;

	reader_u64(body, &type);
	reader_u64(body, &id);
	if (body->failed)
		return reader_error(body, "an event's update");
	event = events_find(&r->events, id);
	if (type != update_name || !event)
		return NULL;
	name = reader_cstr(body, NULL);
	return name && *name ? event_set_name(event, name) : NULL;
}

static struct error *handle_feature(struct perfdata_reader *r,
				    struct reader *body)
{
	uint64_t bit;

	reader_u64(body, &bit);
	if (body->failed)
		return reader_error(body, "a feature record");
	if (bit == 0 || bit >= FEATURE_MAX)
		return NULL;
	return features_decode(&r->features, (enum feature)bit, body,
			       &r->events);
}

static struct error *handle_build_id(struct perfdata_reader *r,
				     const struct stream_record *record)
{
	struct reader whole = reader_init(record->data, record->header.size);

	return features_decode(&r->features, FEATURE_BUILD_ID, &whole,
			       &r->events);
}

/*
 * Records that the reader keeps for itself; *handled says if this is one. A
 * malformed one is counted.
 */
static struct error *handle_own(struct perfdata_reader *r,
				const struct stream_record *record,
				bool *handled)
{
	_cleanup_error_ struct error *err = NULL;
	struct reader body = reader_init(record->data, record->header.size);

	reader_skip(&body, sizeof(record->header));
	*handled = true;
	switch (record->header.type) {
	case PERFDATA_HEADER_ATTR:
		err = handle_attr(r, &body);
		break;
	case PERFDATA_EVENT_UPDATE:
		err = handle_event_update(r, &body);
		break;
	case PERFDATA_HEADER_FEATURE:
		err = handle_feature(r, &body);
		break;
	case PERFDATA_HEADER_BUILD_ID:
		err = handle_build_id(r, record);
		break;
	case PERFDATA_FINISHED_ROUND:
		queue_finish_round(&r->queue);
		break;
	default:
		*handled = false;
		break;
	}
	if (err && err->code == ERROR_NO_MEMORY)
		return take_ptr(err);
	if (err)
		r->stats.broken_records++;
	return NULL;
}

/* Handing out */

static void count_lost_of(struct perfdata_reader *r, const struct event *event,
			  uint64_t lost)
{
	while (r->lost.count <= event->index)
		if (!vec_push(&r->lost, 0))
			return;
	r->lost.data[event->index] += lost;
}

static void count_delivered(struct perfdata_reader *r,
			    const struct record *record)
{
	uint64_t lost;

	if (record->type == PERF_RECORD_LOST)
		r->stats.lost += record->lost.lost;
	if (record->type == PERF_RECORD_LOST_SAMPLES) {
		r->stats.lost_samples += record->lost.lost;
		count_lost_of(r, record->event, record->lost.lost);
	}
	if (record->type == PERF_RECORD_READ &&
	    record_read_lost(record->event, record->read.values,
			     record->read.count, &lost))
		count_lost_of(r, record->event, lost);
	if (record->type >= PERFDATA_USER_TYPE_START ||
	    !(record->has & PERF_SAMPLE_TIME) || !record->time)
		return;
	if (record->time < r->last_time)
		r->stats.out_of_order++;
	else
		r->last_time = record->time;
}

/* Something of the block was read as zeros, since the file has it no more. */
static bool is_lost(const struct block *block)
{
	return block && block->window.lost;
}

static struct error *error_lost(const struct perfdata_reader *r)
{
	return error_create(
		ERROR_TRUNCATED,
		"'%s' became shorter while kaa read it, or the disk failed",
		r->path);
}

/* Decodes a record, whose block's reference it takes over. */
static struct error *deliver(struct perfdata_reader *r,
			     const struct stream_record *raw,
			     const struct record **ret)
{
	_cleanup_error_ struct error *err = NULL;

	r->record_block = raw->block;
	err = record_decode(&r->events, raw->data, raw->header.size,
			    &r->record);
	if (is_lost(raw->block))
		return error_lost(r);
	if (err) {
		block_unref(&r->pool, r->record_block);
		r->record_block = NULL;
		if (err->code == ERROR_NO_MEMORY)
			return take_ptr(err);
		r->stats.broken_records++;
		return NULL;
	}
	count_delivered(r, &r->record);
	*ret = &r->record;
	return NULL;
}

static struct error *enqueue(struct perfdata_reader *r,
			     const struct stream_record *raw, uint64_t time)
{
	const struct queue_entry entry = { .time = time, .record = *raw };

	if (!queue_add(&r->queue, &entry)) {
		block_unref(&r->pool, raw->block);
		return error_no_memory();
	}
	if (r->queue.heap.count >= QUEUE_MAX_RECORDS ||
	    r->pool.held >= QUEUE_MAX_BYTES)
		queue_flush_half(&r->queue);
	return NULL;
}

/* Lets a record wait, handles it inside or hands it out at once. */
static struct error *accept(struct perfdata_reader *r,
			    struct stream_record *raw,
			    const struct record **ret)
{
	struct error *err;
	bool handled;
	uint64_t time;

	if (raw->header.type >= PERFDATA_USER_TYPE_START) {
		err = handle_own(r, raw, &handled);
		if (err || handled) {
			block_unref(&r->pool, raw->block);
			return err;
		}
		return deliver(r, raw, ret);
	}
	time = events_record_time(&r->events, raw->data, raw->header.size);
	if (time && time != UINT64_MAX)
		return enqueue(r, raw, time);
	return deliver(r, raw, ret);
}

static void finish(struct perfdata_reader *r)
{
	r->at_end = true;
	r->stats.truncated_bytes +=
		stream_left(&r->outer) + stream_left(&r->inner);
	if (r->is_regular)
		r->stats.truncated_bytes += r->end - r->outer.offset;
	/* A pipe promises nothing but its last record. */
	if (r->is_pipe)
		r->stats.missing_bytes += stream_missing(&r->outer);
	queue_flush_all(&r->queue);
}

/* Takes a record from the file, or finds its end. */
static struct error *go_on(struct perfdata_reader *r, const struct record **ret)
{
	struct stream_record raw = {};
	struct error *err = next_raw(r, &raw);

	/* What was copied may be zeros, too. */
	if (!err && is_lost(r->outer.block))
		err = error_lost(r);
	if (err)
		block_unref(&r->pool, raw.block);
	else if (raw.data)
		err = accept(r, &raw, ret);
	else
		finish(r);
	return err;
}

struct error *perfdata_reader_next(struct perfdata_reader *r,
				   const struct record **ret)
{
	const struct record *record = NULL;
	struct queue_entry entry;
	struct error *err = NULL;

	if (is_lost(r->record_block))
		return error_lost(r);
	block_unref(&r->pool, r->record_block);
	r->record_block = NULL;
	while (!record && !err) {
		if (queue_take(&r->queue, &entry)) {
			err = deliver(r, &entry.record, &record);
			continue;
		}
		if (r->at_end)
			break;
		err = go_on(r, &record);
	}
	if (!err)
		*ret = record;
	return err;
}

/* Opening */

static struct error *check_kind(struct perfdata_reader *r)
{
	struct stat st;

	if (fstat(r->fd, &st) != 0)
		return error_os(errno, r->path, "cannot stat");
	r->is_regular = S_ISREG(st.st_mode);
	r->file_size = r->is_regular ? (uint64_t)st.st_size : 0;
	if (r->is_regular || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return NULL;
	return error_create(ERROR_UNSUPPORTED,
			    "'%s' is neither a file nor a pipe", r->path);
}

struct error *perfdata_reader_open_fd(int fd, const char *path,
				      struct perfdata_reader **ret)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *r =
		calloc(1, sizeof(*r));
	struct error *err;

	if (!r) {
		close(fd);
		return error_no_memory();
	}
	r->fd = fd;
	r->outer = (struct stream){ .pool = &r->pool,
				    .fill = fill_from_file,
				    .context = r };
	r->inner = (struct stream){ .pool = &r->pool,
				    .fill = fill_from_zstd,
				    .context = r };
	r->path = strdup(path);
	if (!r->path)
		return error_no_memory();
	err = check_kind(r);
	if (!err)
		err = read_header(r);
	if (err)
		return err;
	r->outer.has_windows = r->is_regular;
	r->outer.fd = r->fd;
	r->outer.end = r->end;
	*ret = take_ptr(r);
	return NULL;
}

struct error *perfdata_reader_open(const char *path,
				   struct perfdata_reader **ret)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		fd = dup(STDIN_FILENO);
		path = "standard input";
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0)
		return error_os(errno, path, "cannot open");
	return perfdata_reader_open_fd(fd, path, ret);
}

void perfdata_reader_destroy(struct perfdata_reader *r)
{
	if (!r)
		return;
	vec_for_each(entry, &r->queue.heap)
		block_unref(&r->pool, entry->record.block);
	queue_deinit(&r->queue);
	block_unref(&r->pool, r->record_block);
	block_unref(&r->pool, r->packed_block);
	stream_deinit(&r->outer);
	stream_deinit(&r->inner);
	block_pool_deinit(&r->pool);
	ZSTD_freeDStream(r->zstd);
	vec_deinit(&r->lost);
	features_deinit(&r->features);
	events_deinit(&r->events);
	free(r->path);
	close(r->fd);
	free(r);
}

const struct events *perfdata_reader_events(const struct perfdata_reader *r)
{
	return &r->events;
}

bool perfdata_reader_layout(const struct perfdata_reader *r,
			    struct perfdata_layout *ret)
{
	struct stat st;

	if (r->is_pipe || fstat(r->fd, &st))
		return false;
	*ret = r->layout;
	ret->modified = st.st_mtime;
	return true;
}

const struct features *perfdata_reader_features(const struct perfdata_reader *r)
{
	return &r->features;
}

bool perfdata_reader_is_pipe(const struct perfdata_reader *r)
{
	return r->is_pipe;
}

uint64_t perfdata_reader_position(const struct perfdata_reader *reader)
{
	return reader->is_regular ? reader->outer.offset : 0;
}

uint64_t perfdata_reader_file_size(const struct perfdata_reader *r)
{
	return r->file_size;
}

const struct perfdata_stats *
perfdata_reader_stats(const struct perfdata_reader *r)
{
	return &r->stats;
}

struct error *perfdata_reader_faults(const struct perfdata_reader *r,
				     struct faults *ret)
{
	const struct perfdata_stats *stats = &r->stats;
	const struct fault all[] = {
		{ FAULT_UNFINISHED, stats->unfinished, NULL },
		{ FAULT_MISSING_BYTES, stats->missing_bytes, NULL },
		{ FAULT_TRUNCATED_BYTES,
		  stats->missing_bytes ? 0 : stats->truncated_bytes, NULL },
		{ FAULT_LOST_RECORDS, stats->lost, NULL },
		{ FAULT_LOST_SAMPLES, stats->lost_samples, NULL },
		{ FAULT_THROTTLED, stats->records[PERF_RECORD_THROTTLE], NULL },
		{ FAULT_BROKEN_RECORDS, stats->broken_records, NULL },
		{ FAULT_UNKNOWN_RECORDS, stats->unknown_records, NULL },
	};

	return faults_add_all(ret, all, sizeof(all) / sizeof(*all));
}

uint64_t perfdata_reader_lost_of(const struct perfdata_reader *r,
				 const struct event *event)
{
	return event->index < r->lost.count ? r->lost.data[event->index] : 0;
}

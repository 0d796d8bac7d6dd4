// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output_error.h"
#include "perfdata/packer.h"

#define BUFFER_SIZE (1u << 20)
/* Bytes that are left free for features when the disk is full. */
#define FEATURES_ROOM (64u << 10)

/* The header as it stands in the file. */
struct file_header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	uint64_t attrs_offset;
	uint64_t attrs_size;
	uint64_t data_offset;
	uint64_t data_size;
	uint64_t event_types_offset;
	uint64_t event_types_size;
	uint64_t features[FEATURE_MAX / 64];
};

_Static_assert(sizeof(struct file_header) == 104, "layout of the header");

/* An attribute as it stands in the file. */
struct file_attr {
	struct perf_event_attr attr;
	uint64_t ids_offset;
	uint64_t ids_size;
};

#define PIPE_HEADER_SIZE 16

struct perfdata_writer {
	int fd;
	char *path;
	const struct events *events;
	/* A regular file: header and features; else records alone. */
	bool is_file;
	struct file_header header;
	/* Bytes of data in the file, and behind the data. */
	uint64_t written;
	uint64_t features_size;
	/* Two earlier values of `written`, FEATURES_ROOM apart or more; 0: none. */
	uint64_t ends[2];
	/* errno of the write that failed; nothing is written from then on. */
	int failed;
	/* Whole records that wait to be written. */
	uint8_t *buffer;
	size_t used;
	/* NULL: they are written as they are. What is written instead. */
	struct packer *packer;
	struct strbuf packed;
	struct strbuf scratch;
};

static struct error *write_error(const struct perfdata_writer *w, int errnum)
{
	return error_os(errnum, w->path,
			w->is_file ? "cannot write; the file keeps what was "
				     "recorded before" :
				     "cannot write");
}

/* Writes at offset, or at the end of what cannot seek; returns errno. */
static int write_bytes(struct perfdata_writer *w, const void *data, size_t size,
		       uint64_t offset, size_t *written)
{
	*written = 0;
	while (*written < size) {
		const uint8_t *at = (const uint8_t *)data + *written;
		size_t left = size - *written;
		ssize_t n = w->is_file ? pwrite(w->fd, at, left,
						(off_t)(offset + *written)) :
					 write(w->fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return EIO;
		*written += (size_t)n;
	}
	return 0;
}

static struct error *write_all(struct perfdata_writer *w, const void *data,
			       size_t size, uint64_t offset)
{
	size_t written;
	int errnum = write_bytes(w, data, size, offset, &written);

	return errnum ? write_error(w, errnum) : NULL;
}

static uint64_t data_end(const struct perfdata_writer *w)
{
	return w->header.data_offset + w->written;
}

static struct error *write_data_size(struct perfdata_writer *w)
{
	if (!w->is_file || w->header.data_size == w->written)
		return NULL;
	w->header.data_size = w->written;
	return write_all(w, &w->header.data_size, sizeof(w->header.data_size),
			 offsetof(struct file_header, data_size));
}

/* Where the last whole record within the first n bytes ends. */
static size_t record_boundary(const void *bytes, size_t n)
{
	const uint8_t *records = bytes;
	size_t at = 0;

	for (;;) {
		struct perf_event_header header;

		if (n - at < sizeof(header))
			return at;
		memcpy(&header, records + at, sizeof(header));
		if (header.size > n - at)
			return at;
		at += header.size;
	}
}

/*
 * Behind the data stands a table of sections; perf unpacks only what has the section
 * COMPRESSED. Whatever is written next takes its place.
 */
static void append_section(struct perfdata_writer *w)
{
	struct strbuf section = STRBUF_INIT;
	uint64_t table[2];

	packer_section(w->packer, &section);
	table[0] = data_end(w) + w->packed.len + sizeof(table);
	table[1] = section.len;
	strbuf_append(&w->packed, table, sizeof(table));
	strbuf_append(&w->packed, section.data, section.len);
	strbuf_deinit(&section);
}

/* A place before which the data may be cut: at the end of what was written. */
static void note_end(struct perfdata_writer *w)
{
	if (w->written - w->ends[1] < FEATURES_ROOM)
		return;
	w->ends[0] = w->ends[1];
	w->ends[1] = w->written;
}

/*
 * Where the data ends if there is to be room for the features: without them nobody
 * knows what the recording is of. Of a small one the records are worth more.
 */
static uint64_t end_with_room(const struct perfdata_writer *w,
			      const void *records, size_t written)
{
	uint64_t fits = w->written + record_boundary(records, written);

	if (!w->is_file)
		return fits;
	if (written > FEATURES_ROOM && w->written + written > 2 * FEATURES_ROOM)
		return w->written +
		       record_boundary(records, written - FEATURES_ROOM);
	if (w->ends[1] && fits - w->ends[1] >= FEATURES_ROOM)
		return w->ends[1];
	return w->ends[0] ? w->ends[0] : fits;
}

/*
 * The disk is full: cuts the file behind a whole record. The cut and
 * the header's new size take no room; their own failure adds nothing to what
 * is reported.
 */
static struct error *keep_what_fits(struct perfdata_writer *w,
				    const void *records, size_t written,
				    int errnum)
{
	w->failed = errnum;
	w->written = end_with_room(w, records, written);
	w->used = 0;
	if (w->is_file && ftruncate(w->fd, (off_t)data_end(w)) == 0)
		error_destroy(write_data_size(w));
	if (w->packer) {
		/* The cut has most likely made room for it. */
		strbuf_clear(&w->packed);
		append_section(w);
		error_destroy(write_all(w, w->packed.data, w->packed.len,
					data_end(w)));
	}
	return write_error(w, errnum);
}

/*
 * Data and section go out in one call, and the header in the next: a recorder that
 * is killed in between leaves what kaa can read, if not perf.
 */
static struct error *flush_packed(struct perfdata_writer *w)
{
	struct error *err;
	size_t size, written;
	int errnum;

	strbuf_clear(&w->packed);
	err = packer_add(w->packer, w->buffer, w->used, &w->packed);
	size = w->packed.len;
	append_section(w);
	if (!err)
		err = strbuf_error(&w->packed);
	if (err)
		return err;
	errnum = write_bytes(w, w->packed.data, w->packed.len, data_end(w),
			     &written);
	if (errnum)
		return keep_what_fits(w, w->packed.data,
				      written < size ? written : size, errnum);
	w->written += size;
	w->used = 0;
	note_end(w);
	w->header.data_size = w->written;
	w->header.features[FEATURE_COMPRESSED / 64] |=
		UINT64_C(1) << FEATURE_COMPRESSED % 64;
	return write_all(w, &w->header, sizeof(w->header), 0);
}

static struct error *flush(struct perfdata_writer *w)
{
	size_t written;
	int errnum;

	if (w->failed)
		return write_error(w, w->failed);
	if (w->packer)
		return w->used ? flush_packed(w) : NULL;
	errnum = write_bytes(w, w->buffer, w->used, data_end(w), &written);
	if (errnum)
		return keep_what_fits(w, w->buffer, written, errnum);
	w->written += w->used;
	w->used = 0;
	note_end(w);
	return NULL;
}

/* One record of size bytes, which the caller has checked. */
static struct error *append_record(struct perfdata_writer *w,
				   const void *record, size_t size)
{
	if (w->used + size > BUFFER_SIZE) {
		struct error *err = flush(w);

		if (err)
			return err;
	}
	memcpy(w->buffer + w->used, record, size);
	w->used += size;
	return NULL;
}

struct error *perfdata_writer_append(struct perfdata_writer *w,
				     const void *records, size_t size)
{
	const uint8_t *at = records;
	const uint8_t *end = at + size;

	if (w->failed)
		return write_error(w, w->failed);
	while (at < end) {
		struct perf_event_header header;
		struct error *err;

		if ((size_t)(end - at) < sizeof(header))
			return error_create(ERROR_INVALID_ARGUMENT,
					    "a record is cut short");
		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header) || header.size % 8 ||
		    header.size > end - at)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "a record of %u bytes",
					    header.size);
		err = append_record(w, at, header.size);
		if (err)
			return err;
		at += header.size;
	}
	return NULL;
}

struct error *perfdata_writer_put(struct perfdata_writer *w,
				  const struct record *record)
{
	struct error *err;

	strbuf_clear(&w->scratch);
	err = record_encode(w->events, record, &w->scratch);
	if (err)
		return err;
	return perfdata_writer_append(w, w->scratch.data, w->scratch.len);
}

/* Records of perf's own */

static void begin(struct perfdata_writer *w, uint32_t type)
{
	const struct perf_event_header header = { .type = type };

	strbuf_clear(&w->scratch);
	strbuf_append(&w->scratch, &header, sizeof(header));
}

static void put_u16(struct perfdata_writer *w, uint16_t value)
{
	strbuf_append(&w->scratch, &value, sizeof(value));
}

static void put_u64(struct perfdata_writer *w, uint64_t value)
{
	strbuf_append(&w->scratch, &value, sizeof(value));
}

/* Pads the record in scratch, sets its size and appends it. */
static struct error *end(struct perfdata_writer *w)
{
	struct strbuf *s = &w->scratch;
	uint16_t size;

	strbuf_fill(s, '\0', -s->len % 8);
	if (s->failed)
		return error_no_memory();
	if (s->len > RECORD_MAX_ALIGNED)
		return error_create(ERROR_LIMIT,
				    "a record of %zu bytes is larger than "
				    "perf.data allows",
				    s->len);
	size = (uint16_t)s->len;
	memcpy(s->data + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
	return perfdata_writer_append(w, s->data, s->len);
}

struct error *perfdata_writer_time_conv(struct perfdata_writer *w,
					const struct perfdata_time_conv *conv)
{
	begin(w, PERFDATA_TIME_CONV);
	put_u64(w, conv->time_shift);
	put_u64(w, conv->time_mult);
	put_u64(w, conv->time_zero);
	put_u64(w, conv->time_cycles);
	put_u64(w, conv->time_mask);
	strbuf_putc(&w->scratch, conv->cap_user_time_zero);
	strbuf_putc(&w->scratch, conv->cap_user_time_short);
	return end(w);
}

struct error *perfdata_writer_id_index(struct perfdata_writer *w,
				       const struct perfdata_id_index *entries,
				       size_t count)
{
	const size_t most = (RECORD_MAX_ALIGNED - 16) / 32;

	while (count) {
		size_t n = count < most ? count : most;
		struct error *err;

		begin(w, PERFDATA_ID_INDEX);
		put_u64(w, n);
		for (size_t i = 0; i < n; i++) {
			put_u64(w, entries[i].id);
			put_u64(w, entries[i].idx);
			put_u64(w, (uint64_t)entries[i].cpu);
			put_u64(w, (uint64_t)entries[i].tid);
		}
		err = end(w);
		if (err)
			return err;
		entries += n;
		count -= n;
	}
	return NULL;
}

struct error *perfdata_writer_tracing_data(struct perfdata_writer *w,
					   const struct features *features)
{
	const size_t size = features->tracing_data.count;
	/* perf compares it with the bytes that it took, padding included. */
	const uint32_t padded = (uint32_t)((size + 7) & ~(size_t)7);
	const struct {
		struct perf_event_header header;
		uint32_t size;
		uint32_t unused;
	} record = { { PERFDATA_HEADER_TRACING_DATA, 0, sizeof(record) },
		     padded,
		     0 };
	struct error *err;

	if (w->is_file || !features_have(features, FEATURE_TRACING_DATA))
		return NULL;
	if (size > INT32_MAX)
		return error_create(ERROR_LIMIT,
				    "too many tracepoints for a pipe");
	strbuf_clear(&w->scratch);
	strbuf_append(&w->scratch, &record, sizeof(record));
	strbuf_append(&w->scratch, features->tracing_data.data, size);
	strbuf_fill(&w->scratch, '\0', padded - size);
	err = strbuf_error(&w->scratch);
	if (!err)
		err = flush(w);
	if (!err)
		err = write_all(w, w->scratch.data, w->scratch.len, 0);
	if (!err)
		w->written += w->scratch.len;
	return err;
}

struct error *perfdata_writer_event_names(struct perfdata_writer *w)
{
	const uint64_t update_name = 2;

	for (size_t i = 0; i < w->events->list.count; i++) {
		const struct event *event = w->events->list.data[i];
		struct error *err;

		if (!event->ids.count)
			continue;
		begin(w, PERFDATA_EVENT_UPDATE);
		put_u64(w, update_name);
		put_u64(w, event->ids.data[0]);
		strbuf_append(&w->scratch, event->name,
			      strlen(event->name) + 1);
		err = end(w);
		if (err)
			return err;
	}
	return NULL;
}

struct error *perfdata_writer_thread_map(struct perfdata_writer *w,
					 const uint32_t *tids,
					 const char *const *comms, size_t count)
{
	const size_t most = (RECORD_MAX_ALIGNED - 16) / 24;
	/* Readers take one map alone: what has no room stays out. */
	size_t n = count < most ? count : most;

	begin(w, PERFDATA_THREAD_MAP);
	put_u64(w, n);
	for (size_t i = 0; i < n; i++) {
		size_t len = strnlen(comms[i], 15);

		put_u64(w, tids[i]);
		strbuf_append(&w->scratch, comms[i], len);
		strbuf_fill(&w->scratch, '\0', 16 - len);
	}
	return end(w);
}

struct error *perfdata_writer_cpu_map(struct perfdata_writer *w,
				      const uint16_t *cpus, size_t count)
{
	const uint16_t map_of_cpus = 0;
	const size_t most = (RECORD_MAX_ALIGNED - 16) / 2;
	size_t n = count < most ? count : most;

	begin(w, PERFDATA_CPU_MAP);
	put_u16(w, map_of_cpus);
	put_u16(w, (uint16_t)n);
	strbuf_append(&w->scratch, cpus, n * sizeof(*cpus));
	return end(w);
}

struct error *perfdata_writer_finished_init(struct perfdata_writer *w)
{
	begin(w, PERFDATA_FINISHED_INIT);
	return end(w);
}

struct error *perfdata_writer_finished_round(struct perfdata_writer *w)
{
	begin(w, PERFDATA_FINISHED_ROUND);
	return end(w);
}

/* Header */

static struct perf_event_attr attr_for_file(const struct event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	return attr;
}

/* Header, ids, attributes. */
static struct error *write_file_start(struct perfdata_writer *w)
{
	struct strbuf *s = &w->scratch;
	const struct events *events = w->events;
	uint64_t ids_offset = sizeof(w->header);

	strbuf_clear(s);
	strbuf_fill(s, '\0', sizeof(w->header));
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = events->list.data[i];

		strbuf_append(s, event->ids.data, 8 * event->ids.count);
	}
	w->header = (struct file_header){
		.magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size = sizeof(w->header),
		.attr_size = sizeof(struct file_attr),
		.attrs_offset = s->len,
		.attrs_size = events->list.count * sizeof(struct file_attr),
	};
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = events->list.data[i];
		const struct file_attr attr = { attr_for_file(event),
						ids_offset,
						8 * event->ids.count };

		strbuf_append(s, &attr, sizeof(attr));
		ids_offset += attr.ids_size;
	}
	if (s->failed)
		return error_no_memory();
	w->header.data_offset = s->len;
	memcpy(s->data, &w->header, sizeof(w->header));
	return write_all(w, s->data, s->len, 0);
}

static struct error *write_pipe_start(struct perfdata_writer *w)
{
	const struct {
		char magic[8];
		uint64_t size;
	} header = { { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		     PIPE_HEADER_SIZE };
	struct error *err = write_all(w, &header, sizeof(header), 0);

	for (size_t i = 0; !err && i < w->events->list.count; i++) {
		const struct event *event = w->events->list.data[i];
		const struct perf_event_attr attr = attr_for_file(event);

		begin(w, PERFDATA_HEADER_ATTR);
		strbuf_append(&w->scratch, &attr, sizeof(attr));
		strbuf_append(&w->scratch, event->ids.data,
			      8 * event->ids.count);
		err = end(w);
	}
	return err ? err : perfdata_writer_event_names(w);
}

/* Opening */

static struct error *refuse(const char *path, const char *what)
{
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is %s; name a file with -o", path, what);
}

/* Moves a recording out of the way, or removes an empty file. */
static struct error *make_way(const char *path, const struct stat *st)
{
	_cleanup_free_ char *old = NULL;

	if (!st->st_size) {
		if (unlink(path) != 0)
			return error_os(errno, path, "cannot replace");
		return NULL;
	}
	if (asprintf(&old, "%s.old", path) < 0) {
		old = NULL;
		return error_no_memory();
	}
	if (rename(path, old) != 0)
		return error_os(errno, path, "cannot rename to '%s'", old);
	return NULL;
}

static bool is_writable_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) || S_ISFIFO(st->st_mode);
}

/* A device or FIFO: path, or where a link at path leads. */
static struct error *open_device(const char *path, int *ret)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_os(errno, path, "cannot open for writing");
	if (fstat(fd, &st) != 0)
		return error_os(errno, path, "cannot stat");
	if (!is_writable_device(&st))
		return refuse(path, "a link");
	*ret = take_fd(&fd);
	return NULL;
}

/* What stands at path already; leaves *ret alone if it was a file. */
static struct error *handle_existing(const char *path, int *ret)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return error_os(errno, path, "cannot stat");
	if (S_ISREG(st.st_mode))
		return make_way(path, &st);
	if (S_ISDIR(st.st_mode))
		return refuse(path, "a directory");
	if (S_ISLNK(st.st_mode) &&
	    (stat(path, &st) != 0 || !is_writable_device(&st)))
		return refuse(path, "a link");
	if (is_writable_device(&st))
		return open_device(path, ret);
	return refuse(path, "not a regular file");
}

static int create_exclusively(const char *path)
{
	return open(path,
		    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static struct error *open_output(struct perfdata_writer *w)
{
	struct error *err;

	if (strcmp(w->path, "-") == 0) {
		w->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return w->fd < 0 ? error_os(errno, NULL,
					    "cannot use standard output") :
				   NULL;
	}
	w->fd = create_exclusively(w->path);
	if (w->fd < 0 && errno == EEXIST) {
		err = handle_existing(w->path, &w->fd);
		if (err || w->fd >= 0)
			return err;
		w->fd = create_exclusively(w->path);
	}
	if (w->fd < 0)
		return output_error(errno, w->path);
	w->is_file = true;
	return NULL;
}

static struct error *
give_away(struct perfdata_writer *w,
	  const struct perfdata_writer_options *options)
{
	if (!w->is_file || (options->uid < 0 && options->gid < 0))
		return NULL;
	if (fchown(w->fd, (uid_t)options->uid, (gid_t)options->gid) != 0)
		return error_os(errno, w->path, "cannot change the owner");
	return NULL;
}

struct error *
perfdata_writer_create(const struct perfdata_writer_options *options,
		       struct perfdata_writer **ret)
{
	_cleanup_perfdata_writer_ struct perfdata_writer *w =
		calloc(1, sizeof(*w));
	struct error *err;

	if (!w)
		return error_no_memory();
	w->fd = -1;
	w->scratch = (struct strbuf)STRBUF_INIT;
	w->packed = (struct strbuf)STRBUF_INIT;
	w->events = options->events;
	w->path = strdup(options->path);
	w->buffer = malloc(BUFFER_SIZE);
	if (!w->path || !w->buffer)
		return error_no_memory();
	err = open_output(w);
	if (!err)
		err = give_away(w, options);
	if (!err)
		err = w->is_file ? write_file_start(w) : write_pipe_start(w);
	if (!err && w->is_file && options->compression)
		err = packer_create(options->compression, &w->packer);
	if (err)
		return err;
	*ret = take_ptr(w);
	return NULL;
}

void perfdata_writer_destroy(struct perfdata_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	strbuf_deinit(&w->scratch);
	strbuf_deinit(&w->packed);
	packer_destroy(w->packer);
	free(w->buffer);
	free(w->path);
	free(w);
}

struct error *perfdata_writer_checkpoint(struct perfdata_writer *w)
{
	struct error *err = flush(w);

	return err ? err : write_data_size(w);
}

/* Features */

/* The sections that the encoder makes. */
static const enum feature writable[] = {
	FEATURE_TRACING_DATA, FEATURE_BUILD_ID,   FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,    FEATURE_VERSION,	  FEATURE_ARCH,
	FEATURE_NRCPUS,	      FEATURE_CPUDESC,	  FEATURE_CPUID,
	FEATURE_TOTAL_MEM,    FEATURE_CMDLINE,	  FEATURE_EVENT_DESC,
	FEATURE_SAMPLE_TIME,  FEATURE_CLOCKID,	  FEATURE_CLOCK_DATA,
};

#define WRITABLE_COUNT (sizeof(writable) / sizeof(writable[0]))

static bool is_writable(enum feature bit)
{
	for (size_t i = 0; i < WRITABLE_COUNT; i++)
		if (writable[i] == bit)
			return true;
	return false;
}

static bool wanted(const struct perfdata_writer *w,
		   const struct features *features, enum feature bit)
{
	if (bit == FEATURE_COMPRESSED)
		return w->packer;
	if (bit == FEATURE_EVENT_DESC)
		return true;
	if (!features_have(features, bit))
		return false;
	if (is_writable(bit))
		return true;
	return features_section(features, bit);
}

static struct error *write_feature_record(struct perfdata_writer *w,
					  const struct features *features,
					  enum feature bit)
{
	struct error *err;

	begin(w, PERFDATA_HEADER_FEATURE);
	put_u64(w, bit);
	err = features_encode(features, bit, w->events, &w->scratch);
	/* Nobody misses a description of the machine that no record holds. */
	if (!err && w->scratch.len > RECORD_MAX_ALIGNED && !is_writable(bit))
		return NULL;
	return err ? err : end(w);
}

/* As records of their own: perf reads such a section from the pipe itself. */
static struct error *write_build_ids(struct perfdata_writer *w,
				     const struct features *features)
{
	struct error *err = NULL;

	vec_for_each(entry, &features->build_ids) {
		features_put_build_id(entry, &w->scratch);
		if (!err && w->scratch.len <= RECORD_MAX_ALIGNED - 8)
			err = end(w);
	}
	return err;
}

static struct error *write_feature_records(struct perfdata_writer *w,
					   const struct features *features)
{
	for (int bit = 0; bit < FEATURE_MAX; bit++) {
		struct error *err;

		/* perfdata_writer_tracing_data() wrote that one. */
		if (!wanted(w, features, bit) || bit == FEATURE_TRACING_DATA)
			continue;
		err = bit == FEATURE_BUILD_ID ?
			      write_build_ids(w, features) :
			      write_feature_record(w, features, bit);
		if (err)
			return err;
	}
	return flush(w);
}

/* The payloads into out; table[i] says where each stands in the file. */
static struct error *
encode_sections(struct perfdata_writer *w, const struct features *features,
		uint64_t (*table)[2], size_t count, struct strbuf *out)
{
	uint64_t base = data_end(w) + count * sizeof(*table);
	size_t n = 0;

	for (int bit = 0; bit < FEATURE_MAX; bit++) {
		size_t start = out->len;
		struct error *err = NULL;

		if (!wanted(w, features, bit))
			continue;
		if (bit == FEATURE_COMPRESSED)
			packer_section(w->packer, out);
		else
			err = features_encode(features, bit, w->events, out);
		if (err)
			return err;
		table[n][0] = base + start;
		table[n][1] = out->len - start;
		n++;
	}
	return NULL;
}

static struct error *write_feature_sections(struct perfdata_writer *w,
					    const struct features *features)
{
	_cleanup_strbuf_ struct strbuf payloads = STRBUF_INIT;
	uint64_t table[FEATURE_MAX][2];
	struct features marks = {};
	struct error *err;
	size_t count = 0;
	size_t size;

	for (int bit = 0; bit < FEATURE_MAX; bit++) {
		if (!wanted(w, features, bit))
			continue;
		features_mark(&marks, bit);
		count++;
	}
	err = encode_sections(w, features, table, count, &payloads);
	if (err)
		return err;
	size = count * sizeof(table[0]);
	err = write_all(w, table, size, data_end(w));
	if (!err)
		err = write_all(w, payloads.data, payloads.len,
				data_end(w) + size);
	if (err)
		return err;
	w->features_size = size + payloads.len;
	memcpy(w->header.features, marks.present, sizeof(marks.present));
	return write_all(w, &w->header, sizeof(w->header), 0);
}

/*
 * A file whose data size is 0 reads as one that was not finished, and its
 * features as data: an empty recording gets one record.
 */
static struct error *ensure_data(struct perfdata_writer *w)
{
	if (w->failed || w->written || w->used)
		return NULL;
	return perfdata_writer_finished_round(w);
}

static bool is_full(const struct error *err)
{
	return err && (err->errnum == ENOSPC || err->errnum == EDQUOT ||
		       err->errnum == EFBIG);
}

/* The data found room, and what is behind it does not. */
static bool make_room(struct perfdata_writer *w)
{
	uint64_t end = end_with_room(w, NULL, 0);
	struct error *err;
	bool ok;

	if (w->failed || end == w->written)
		return false;
	w->written = end;
	if (ftruncate(w->fd, (off_t)data_end(w)) != 0)
		return false;
	err = write_data_size(w);
	ok = !err;
	error_destroy(err);
	return ok;
}

/* An error means that something was lost, be it records only. */
static struct error *write_features(struct perfdata_writer *w,
				    const struct features *features)
{
	struct error *err = write_feature_sections(w, features);

	if (is_full(err) && make_room(w))
		error_destroy(write_feature_sections(w, features));
	return err;
}

struct error *perfdata_writer_finish(struct perfdata_writer *w,
				     const struct features *features)
{
	_cleanup_error_ struct error *err = NULL;
	struct error *data_err = ensure_data(w);

	if (!w->is_file)
		return data_err ? data_err :
				  write_feature_records(w, features);
	if (!data_err)
		data_err = perfdata_writer_checkpoint(w);
	/* Without data, a reader would take the features for data. */
	if (w->written)
		err = write_features(w, features);
	if (err && !w->features_size &&
	    ftruncate(w->fd, (off_t)data_end(w)) != 0)
		w->failed = errno;
	return data_err ? data_err : take_ptr(err);
}

uint64_t perfdata_writer_data_size(const struct perfdata_writer *w)
{
	return w->written + w->used;
}

uint64_t perfdata_writer_file_size(const struct perfdata_writer *w)
{
	return data_end(w) + w->used + w->features_size;
}

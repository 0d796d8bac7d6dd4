// SPDX-License-Identifier: GPL-2.0-only
#include "inject/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping_name.h"
#include "convert/frame_names.h"
#include "convert/timeline.h"
#include "inject/build_ids.h"
#include "inject/jit_images.h"
#include "inject/python_image.h"
#include "inject/sampled.h"
#include "inject/unwound.h"
#include "perfdata/kaa_stream.h"
#include "perfdata/writer.h"

enum {
	/* Records between two marks that readers may sort by. */
	ROUND_EVERY = 16384,
	/* Records between two times that the past is forgotten. */
	FORGET_EVERY = 4096,
};

/* Samples may come this much after what they depend on; ns. */
#define FORGET_SLACK 5000000000u

struct inject {
	const struct inject_options *options;
	int fd;
	struct perfdata_reader *reader;
	/* NULL until the events are known. */
	struct perfdata_writer *writer;
	struct convert_options convert;
	struct process_table *table;
	struct names names;
	struct unwound_chains chains;
	bool chains_ready;
	struct build_ids build_ids;
	struct python_image python;
	/* Of a pass before this one. */
	struct jits sampled_jits;
	struct sampled sampled;
	VEC(struct jit_images *) images;
	/* Of all images the earliest. */
	uint64_t next_image;
	/* Latest time written. */
	uint64_t time;
	uint64_t in_round;
	struct inject_stats stats;
	/* Records of an odd size, which no writer may write. */
	uint64_t odd;
};

void inject_destroy(struct inject *in)
{
	if (!in)
		return;
	vec_for_each(images, &in->images) {
		jit_images_deinit(*images);
		free(*images);
	}
	vec_deinit(&in->images);
	sampled_deinit(&in->sampled);
	jits_deinit(&in->sampled_jits);
	unwound_deinit(&in->chains);
	build_ids_deinit(&in->build_ids);
	python_image_deinit(&in->python);
	names_deinit(&in->names);
	process_table_destroy(in->table);
	perfdata_writer_destroy(in->writer);
	perfdata_reader_destroy(in->reader);
	if (in->fd >= 0)
		close(in->fd);
	free(in);
}

/* --- Opening ------------------------------------------------------------ */

static bool needs_maps(const struct inject *in)
{
	return in->options->convert_callchain || in->options->build_ids;
}

static struct error *init(struct inject *in)
{
	const struct inject_options *o = in->options;
	struct error *error;
	int fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return error_os(errno, o->input, "cannot use");
	error = perfdata_reader_open_fd(fd, o->input, &in->reader);
	if (!error)
		error = process_table_create(&in->table);
	if (!error)
		error = names_init(&in->names, &in->convert, in->table,
				   perfdata_reader_features(in->reader));
	in->names.jits.off = !o->jit && !o->convert_callchain;
	in->sampled_jits.options = in->names.jits.options;
	if (!error && o->sampled_only && perfdata_reader_is_pipe(in->reader))
		error = error_create(ERROR_INVALID_ARGUMENT,
				     "--sampled-only reads the recording twice: '%s' must be a file",
				     o->input);
	return error;
}

struct error *inject_open(int fd, const struct inject_options *options,
			  struct inject **ret)
{
	_cleanup_(cleanup_inject_) struct inject *in = calloc(1, sizeof(*in));
	struct error *error;

	if (!in) {
		close(fd);
		return error_no_memory();
	}
	in->options = options;
	in->fd = fd;
	in->next_image = UINT64_MAX;
	in->convert.symfs = options->symfs;
	in->convert.force = options->force;
	error = init(in);
	if (error)
		return error;
	*ret = take_ptr(in);
	return NULL;
}

/* Of a pipe the events stand before the first record. */
static struct error *open_writer(struct inject *in)
{
	const struct events *events = perfdata_reader_events(in->reader);
	struct perfdata_writer_options options = {
		.path = in->options->output,
		.uid = -1,
		.gid = -1,
	};
	struct error *error = NULL;

	if (in->writer)
		return NULL;
	if (in->options->convert_callchain) {
		error = unwound_init(&in->chains, events, &in->names);
		events = &in->chains.events;
		in->chains_ready = !error;
	}
	options.events = events;
	if (!error)
		error = perfdata_writer_create(&options, &in->writer);
	if (!error)
		error = perfdata_writer_tracing_data(
			in->writer, perfdata_reader_features(in->reader));
	if (!error && in->options->python)
		error = python_image_init(&in->python, in->options->output);
	return error;
}

/* --- Writing ------------------------------------------------------------ */

static struct error *count_round(struct inject *in, uint64_t time)
{
	in->stats.records++;
	if (time > in->time)
		in->time = time;
	if (++in->in_round < ROUND_EVERY)
		return NULL;
	in->in_round = 0;
	return perfdata_writer_finished_round(in->writer);
}

static struct error *write_raw(struct inject *in, const struct record *record)
{
	struct error *error;

	if (record->size % 8) {
		in->odd++;
		return NULL;
	}
	error = perfdata_writer_append(in->writer, record->raw, record->size);
	return error ? error : count_round(in, record->time);
}

static struct error *write_new(struct inject *in, const struct record *record)
{
	struct error *error = perfdata_writer_put(in->writer, record);

	return error ? error : count_round(in, record->time);
}

/* --- Images of jitdumps ------------------------------------------------- */

static void find_next_image(struct inject *in)
{
	in->next_image = UINT64_MAX;
	vec_for_each(images, &in->images) {
		uint64_t time = jit_images_time(*images);

		if (time < in->next_image)
			in->next_image = time;
	}
}

static struct error *write_image(struct inject *in, struct jit_images *images)
{
	struct record record;
	struct error *error = jit_images_next(images, &record);

	if (error)
		return error;
	/* Never before what is written: readers demand that order. */
	if (record.time < in->time)
		record.time = in->time;
	in->stats.added++;
	return write_new(in, &record);
}

/* Those whose code is there by that time. */
static struct error *write_images(struct inject *in, uint64_t until)
{
	struct error *error = NULL;

	while (!error && in->next_image <= until &&
	       in->next_image != UINT64_MAX) {
		uint64_t time = in->next_image;

		vec_for_each(images, &in->images)
			while (!error && jit_images_time(*images) == time)
				error = write_image(in, *images);
		find_next_image(in);
	}
	return error;
}

static struct error *begin_images(struct inject *in,
				  const struct jit_dump *dump, uint32_t pid,
				  const bool *wanted)
{
	struct jit_images *images = calloc(1, sizeof(*images));
	struct error *error;

	if (!images)
		return error_no_memory();
	error = jit_images_init(images, dump, pid, wanted);
	if (!error && !vec_push(&in->images, images)) {
		jit_images_deinit(images);
		error = error_no_memory();
	}
	if (error)
		free(images);
	else
		find_next_image(in);
	return error;
}

/*
 * The kernel reports memory anew when more of it becomes executable: such a map
 * would hide the images in it. perf leaves them out, too. A map for data hides
 * them if the dump's times are not exact: an image may be dated before the
 * memory that its code was then written to.
 */
static bool hides_images(const struct inject *in, const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	uint32_t pid;

	if (!in->options->jit || !jits_has_dump(&in->names.jits, m->pid))
		return false;
	if (!m->is_exec && !jits_has_code(&in->names.jits, m->pid, m->start,
					  m->start + m->len))
		return false;
	return mapping_is_for_jit(m->filename) ||
	       jitdump_name(m->filename, &pid);
}

/* --- A pass before: what samples hit ------------------------------------ */

static struct error *look_at(struct inject *in, struct perfdata_reader *reader,
			     const struct record *record)
{
	struct jit_dump *loaded;
	struct error *error;

	if (record->type == PERF_RECORD_SAMPLE && record->event) {
		sampled_see(&in->sampled, &in->sampled_jits, record);
		return NULL;
	}
	error = jits_see(&in->sampled_jits, perfdata_reader_events(reader),
			 record, &loaded);
	return error || !loaded ? error : sampled_add(&in->sampled, loaded);
}

static struct error *look_ahead(struct inject *in)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	const struct record *record;
	struct error *error;
	char again[64];
	int fd;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", in->fd);
	fd = open(again, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, in->options->input, "cannot read again");
	error = perfdata_reader_open_fd(fd, in->options->input, &reader);
	if (error)
		return error;
	while (!(error = perfdata_reader_next(reader, &record)) && record) {
		error = look_at(in, reader, record);
		if (error)
			return error;
	}
	return error;
}

/* The same dump, as the pass before read it. */
static const bool *wanted_of(struct inject *in, const struct jit_dump *dump)
{
	static const bool none;

	if (!in->options->sampled_only)
		return NULL;
	vec_for_each(entry, &in->sampled.dumps) {
		if (entry->dump->codes.count != dump->codes.count ||
		    strcmp(entry->dump->path, dump->path) != 0 ||
		    entry->dump->begun != dump->begun)
			continue;
		return entry->wanted;
	}
	return dump->codes.count ? NULL : &none;
}

/* --- Records ------------------------------------------------------------ */

static struct error *refuse_traces(const struct inject *in,
				   const struct record *record)
{
	const char *what = NULL;

	if (record->type == PERFDATA_AUXTRACE ||
	    record->type == PERFDATA_AUXTRACE_INFO)
		what = "hardware traces (AUX)";
	if (record->type == PERFDATA_HEADER_TRACING_DATA)
		what = "tracepoints in a pipe; record into a file";
	if (!what)
		return NULL;
	return error_at(ERROR_UNSUPPORTED, in->options->input, 0,
			"inject cannot copy %s", what);
}

static struct error *handle_map(struct inject *in, const struct record *record)
{
	struct record moved;
	struct error *error;

	if (hides_images(in, record)) {
		in->stats.dropped++;
		return NULL;
	}
	if (!in->options->python || !python_image_is_map(record))
		return write_raw(in, record);
	error = python_image_move(&in->python, record, &moved);
	return error ? error : write_new(in, &moved);
}

static struct error *handle_stream(struct inject *in,
				   const struct record *record)
{
	struct record map;
	struct error *error;
	bool wanted;

	error = python_image_see(&in->python, record, &wanted);
	if (!error && wanted) {
		error = python_image_map(&in->python, record, &map);
		if (!error)
			error = write_new(in, &map);
		in->stats.added++;
	}
	return error ? error : write_raw(in, record);
}

static struct error *handle_sample(struct inject *in,
				   const struct record *record)
{
	struct process *process;
	struct record converted;
	struct error *error;

	if (record->event->meaning.kind == EVENT_STREAM)
		return in->options->python ? handle_stream(in, record) :
					     write_raw(in, record);
	if (!needs_maps(in))
		return write_raw(in, record);
	error = process_table_get(in->table, record->pid, record->time,
				  &process);
	if (!error && in->options->build_ids)
		error = build_ids_see(&in->build_ids, &in->names, process,
				      record);
	if (error || !in->chains_ready)
		return error ? error : write_raw(in, record);
	error = unwound_convert(&in->chains, record, process, &converted);
	return error ? error : write_new(in, &converted);
}

static struct error *see_record(struct inject *in, const struct record *record)
{
	struct jit_dump *loaded;
	struct error *error;

	error = refuse_traces(in, record);
	if (!error && needs_maps(in))
		error = timeline_apply(in->table, record, false);
	if (!error)
		error = jits_see(&in->names.jits,
				 perfdata_reader_events(in->reader), record,
				 &loaded);
	if (error || !loaded || !in->options->jit)
		return error;
	return begin_images(in, loaded, record->mmap.pid,
			    wanted_of(in, loaded));
}

static struct error *handle(struct inject *in, const struct record *record)
{
	struct error *error = open_writer(in);

	if (!error)
		error = write_images(in, record->time);
	if (!error)
		error = see_record(in, record);
	if (error)
		return error;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return record->event ? handle_sample(in, record) : NULL;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return handle_map(in, record);
	default:
		return write_raw(in, record);
	}
}

static struct error *copy_records(struct inject *in)
{
	const struct record *record;
	struct error *error;
	uint64_t count = 0;

	while (!(error = perfdata_reader_next(in->reader, &record)) && record) {
		error = handle(in, record);
		if (error)
			return error;
		if (++count % FORGET_EVERY == 0 && record->time > FORGET_SLACK)
			process_table_forget(in->table,
					     record->time - FORGET_SLACK);
	}
	if (!error)
		error = open_writer(in);
	return error ? error : write_images(in, UINT64_MAX - 1);
}

/* --- The end ------------------------------------------------------------ */

/* The recording's own, with more build-ids in a list of their own. */
static struct error *finish(struct inject *in)
{
	const struct features *own = perfdata_reader_features(in->reader);
	struct features features = *own;
	struct error *error = NULL;

	memset(&features.build_ids, 0, sizeof(features.build_ids));
	features.build_id_names = (struct map){};
	vec_for_each(entry, &own->build_ids)
		if (!error)
			error = features_add_build_id(&features, entry);
	if (!error)
		error = build_ids_add(&in->build_ids, &features);
	if (!error)
		error = perfdata_writer_finish(in->writer, &features);
	vec_for_each(entry, &features.build_ids)
		free(entry->filename);
	vec_deinit(&features.build_ids);
	map_deinit(&features.build_id_names);
	if (!error && in->options->python)
		error = python_image_write(&in->python);
	return error;
}

static void remove_output(struct inject *in)
{
	struct stat st;

	if (in->writer && strcmp(in->options->output, "-") != 0 &&
	    !lstat(in->options->output, &st) && S_ISREG(st.st_mode))
		unlink(in->options->output);
}

struct error *inject_run(struct inject *in)
{
	struct error *error = NULL;

	if (in->options->sampled_only && in->options->jit)
		error = look_ahead(in);
	if (!error)
		error = copy_records(in);
	if (!error)
		error = finish(in);
	if (error)
		remove_output(in);
	return error;
}

void inject_stats(const struct inject *in, struct inject_stats *ret)
{
	*ret = in->stats;
	ret->jit = in->names.jits.stats;
	ret->build_ids = in->build_ids.found.count;
	ret->unwound = in->chains.unwound;
	ret->unwound_incomplete = in->chains.incomplete;
	vec_for_each(images, &in->images)
		ret->images += (*images)->written;
}

struct error *inject_faults(const struct inject *in, struct faults *ret)
{
	struct error *error = perfdata_reader_faults(in->reader, ret);

	if (!error)
		error = jits_faults(&in->names.jits, ret);
	return error ? error : faults_add(ret, FAULT_ODD_RECORDS, in->odd, NULL);
}

const char *inject_python_image(const struct inject *in)
{
	return in->python.written && in->python.mapped.count ? in->python.path :
							       NULL;
}

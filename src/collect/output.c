// SPDX-License-Identifier: GPL-2.0-only
#include "collect/output.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj/elf_image.h"
#include "perfdata/image_file.h"
#include "perfdata/kaa_stream.h"

/* The kernel numbers events from 1 up; none gets this id. */
#define KAA_EVENT_ID UINT64_C(0x6b61610000000001)

/* Two rings' heads are read that close to each other, at worst. */
enum { ROUND_SKEW_NS = 1000000 };

/* --- opening --- */

/*
 * The event as readers shall see it: the chain is whole, registers and stack
 * are gone, unless they are kept for the reader.
 */
static struct perf_event_attr file_attr(const struct output_options *options,
					const struct event *event)
{
	struct perf_event_attr attr = event->attr;

	if (options->callchain == CALLCHAIN_UNWIND) {
		attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER |
						PERF_SAMPLE_STACK_USER);
		attr.sample_regs_user = 0;
		attr.sample_stack_user = 0;
		attr.exclude_callchain_user = 0;
	}
	/* The period has what it says. */
	if (event->meaning.data == EVENT_DATA_WAIT)
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
	if (!event->index) {
		attr.mmap = attr.mmap2 = 1;
		attr.mmap_data = options->callchain == CALLCHAIN_DWARF;
		attr.comm = attr.comm_exec = 1;
		attr.task = 1;
		attr.ksymbol = attr.bpf_event = 1;
	}
	return attr;
}

/* "cycles" that could only be opened for user space are "cycles:u". */
static struct error *file_name(const struct output_options *options,
			       const struct event *event, char **ret)
{
	bool suffix = options->user_only && event->attr.exclude_kernel &&
		      !strchr(event->name, ':') && !strchr(event->name, '/');

	if (asprintf(ret, "%s%s", event->name, suffix ? ":u" : "") < 0)
		return error_no_memory();
	return NULL;
}

static struct error *add_event(struct output *output,
			       const struct output_options *options,
			       const struct event *kernel)
{
	struct perf_event_attr attr = file_attr(options, kernel);
	_cleanup_free_ char *name = NULL;
	struct event *event = NULL;
	struct error *error = file_name(options, kernel, &name);

	if (!error)
		error = events_add(&output->events, &attr, name, &event);
	for (size_t i = 0; !error && i < kernel->ids.count; i++)
		error = events_add_id(&output->events, event,
				      kernel->ids.data[i]);
	return error;
}

/* Of an event that the file does not have. */
static struct error *add_foreign_ids(struct output *output,
				     const struct event *kernel)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < kernel->ids.count; i++)
		error = events_add_id(&output->events,
				      output->events.list.data[0],
				      kernel->ids.data[i]);
	return error;
}

static struct error *add_events(struct output *output,
				const struct output_options *options)
{
	struct event *const *kernel = options->events->list.data;
	size_t count = options->events->list.count;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < options->event_count; i++)
		error = add_event(output, options, kernel[i]);
	for (size_t i = options->event_count; !error && i < count; i++)
		error = add_foreign_ids(output, kernel[i]);
	return error;
}

static struct error *add_kaa_event(struct output *output)
{
	struct perf_event_attr attr;
	struct error *error;

	kaa_stream_attr(&attr);
	attr.use_clockid = output->events.list.data[0]->attr.use_clockid;
	attr.clockid = output->events.list.data[0]->attr.clockid;
	error = events_add(&output->events, &attr, KAA_EVENT_NAME,
			   &output->kaa);
	if (error)
		return error;
	return events_add_id(&output->events, output->kaa, KAA_EVENT_ID);
}

struct error *output_open(struct output *output,
			  const struct output_options *options)
{
	struct perfdata_writer_options writer = { .path = options->path,
						  .events = &output->events,
						  .uid = options->uid,
						  .gid = options->gid,
						  .compression =
							  options->compression };
	struct error *error = NULL;
	struct stat st;

	*output = (struct output){ .file = options->file,
				   .bytes = STRBUF_INIT,
				   .uid = options->uid,
				   .gid = options->gid };
	if (getrandom(output->image_id, sizeof(output->image_id), 0) !=
	    sizeof(output->image_id))
		error = error_os(errno, NULL, "cannot get random bytes");
	if (!error)
		error = add_events(output, options);
	if (!error)
		error = add_kaa_event(output);
	if (!error)
		error = perfdata_writer_create(&writer, &output->writer);
	if (!error)
		error = perfdata_writer_event_names(output->writer);
	if (!error)
		error = image_file_path(options->path, &output->image_path);
	if (error) {
		output_close(output);
		return error;
	}
	output->is_file = !stat(options->path, &st) && S_ISREG(st.st_mode);
	return NULL;
}

void output_close(struct output *output)
{
	perfdata_writer_destroy(output->writer);
	events_deinit(&output->events);
	strbuf_deinit(&output->bytes);
	vec_deinit(&output->records);
	free(output->image_path);
	*output = (struct output){ .bytes = STRBUF_INIT };
}

/* --- records --- */

static struct error *keep(struct output *output, uint64_t time, size_t offset)
{
	struct output_record record = {
		.time = time,
		.number = output->number++,
		.offset = offset,
		.size = output->bytes.len - offset,
	};

	if (time > output->latest)
		output->latest = time;
	if (output->bytes.failed || !vec_push(&output->records, record))
		return error_no_memory();
	return NULL;
}

struct error *output_raw(struct output *output, uint64_t time,
			 const void *record, size_t size)
{
	size_t offset = output->bytes.len;

	strbuf_append(&output->bytes, record, size);
	return keep(output, time, offset);
}

struct error *output_record(struct output *output, const struct record *record)
{
	size_t offset = output->bytes.len;
	struct error *error =
		record_encode(&output->events, record, &output->bytes);

	return error ? error : keep(output, record->time, offset);
}

size_t output_chain_room(const struct output *output,
			 const struct record *sample)
{
	return record_callchain_room(
		output->events.list.data[sample->event->index],
		sample->sample.raw_size);
}

struct error *output_sample(struct output *output, const struct record *sample,
			    const uint64_t *chain, size_t count)
{
	struct record out = *sample;

	out.event = output->events.list.data[sample->event->index];
	out.sample.callchain = chain;
	out.sample.callchain_count = count;
	out.sample.stack_size = out.sample.stack_dyn_size = 0;
	output_note_sample(output, sample->pid, sample->time);
	return output_record(output, &out);
}

void output_note_sample(struct output *output, uint32_t pid, uint64_t time)
{
	output->samples++;
	if (!output->first_pid)
		output->first_pid = pid;
	if (!output->round_earliest || time < output->round_earliest)
		output->round_earliest = time;
	if (!output->first_sample || time < output->first_sample)
		output->first_sample = time;
	if (time > output->last_sample)
		output->last_sample = time;
}

uint64_t output_time_before(const struct output *output, uint64_t time)
{
	uint64_t before = time > ROUND_SKEW_NS ? time - ROUND_SKEW_NS : 1;

	if (before < output->settled)
		before = output->settled;
	return before < time ? before : time - 1;
}

uint64_t output_time_last(const struct output *output)
{
	return output->last_sample > output->settled ? output->last_sample :
						       output->settled;
}

struct error *output_payload(struct output *output, uint64_t time,
			     uint32_t pid, const void *payload, size_t size)
{
	struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.event = output->kaa,
		.pid = pid ? pid : output->first_pid,
		.tid = pid ? pid : output->first_pid,
		.time = time,
		.id = KAA_EVENT_ID,
		.sample = { .period = 1,
			    .raw = payload,
			    .raw_size = (uint32_t)size },
	};

	return output_record(output, &record);
}

struct error *output_map_image(struct output *output, uint64_t time,
			       uint32_t pid, uint32_t tid)
{
	struct record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = pid,
		.tid = tid,
		.time = time,
		.id = output->events.list.data[0]->ids.data[0],
		.mmap = { .pid = pid,
			  .tid = tid,
			  .start = KAA_BASE,
			  .len = KAA_RANGE_SIZE,
			  .prot = PROT_READ | PROT_EXEC,
			  .flags = MAP_PRIVATE,
			  .build_id_size = sizeof(output->image_id),
			  .filename = output->image_path,
			  .filename_len =
				  (uint32_t)strlen(output->image_path) },
	};

	output->image_mapped = true;
	memcpy(record.mmap.build_id, output->image_id,
	       sizeof(output->image_id));
	return output_record(output, &record);
}

static int compare_records(const void *a, const void *b)
{
	const struct output_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct error *output_round(struct output *output)
{
	struct error *error = NULL;

	if (!output->records.count)
		return NULL;
	qsort(output->records.data, output->records.count,
	      sizeof(*output->records.data), compare_records);
	for (size_t i = 0; !error && i < output->records.count; i++) {
		const struct output_record *record = &output->records.data[i];

		error = perfdata_writer_append(
			output->writer, output->bytes.data + record->offset,
			record->size);
	}
	output->settled = output->previous_latest;
	output->previous_latest = output->latest;
	output->round_earliest = 0;
	vec_clear(&output->records);
	strbuf_clear(&output->bytes);
	if (!error)
		error = perfdata_writer_finished_round(output->writer);
	if (!error)
		error = perfdata_writer_checkpoint(output->writer);
	return error;
}

/* --- the image --- */

typedef VEC(struct elf_image_span) span_vec;

static struct error *add_span(span_vec *spans, struct arena *arena,
			      const struct code *code)
{
	size_t size = strlen(code->qualname) + strlen(code->filename) + 8;
	uint32_t *lines = arena_alloc(arena, code->slots * sizeof(*lines));
	char *symbol = arena_alloc(arena, size);
	size_t slot = 0, line = 0;

	if (!lines || !symbol)
		return error_no_memory();
	snprintf(symbol, size, "py::%s:%s", code->qualname, code->filename);
	vec_for_each(piece, &code->pieces) {
		lines[slot++] = code->first_line;
		for (uint32_t i = 1; i < *piece; i++)
			lines[slot++] = code->lines.lines[line++];
	}
	if (!vec_push(spans, (struct elf_image_span){
				     .start = code->start,
				     .slots = code->slots,
				     .symbol = symbol,
				     .filename = code->filename,
				     .lines = lines }))
		return error_no_memory();
	return NULL;
}

static int compare_spans(const void *a, const void *b)
{
	const struct elf_image_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct error *collect_spans(const struct code_table *codes,
				   uint32_t file, struct arena *arena,
				   span_vec *spans)
{
	struct error *error = NULL;

	for (size_t i = 0; i < KAA_MARKER_COUNT; i++) {
		struct elf_image_span marker = {
			.start = kaa_markers[i].address & ~UINT64_C(1),
			.slots = 1,
			.symbol = kaa_markers[i].name,
		};

		if (!vec_push(spans, marker))
			return error_no_memory();
	}
	for (size_t i = 0; !error && i < codes->codes.count; i++)
		if (codes->codes.data[i]->written_in == file)
			error = add_span(spans, arena, codes->codes.data[i]);
	if (error)
		return error;
	qsort(spans->data, spans->count, sizeof(*spans->data), compare_spans);
	return NULL;
}

struct error *output_image(struct output *output,
			   const struct code_table *codes, bool *written)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct elf_image image = { .base = KAA_BASE,
				   .slot_size = KAA_SLOT_SIZE };
	struct arena arena = {};
	span_vec spans = {};
	struct error *error;

	*written = false;
	if (!output->is_file)
		return NULL;
	image_file_clean(output->image_path);
	if (!output->image_mapped)
		return NULL;
	error = collect_spans(codes, output->file, &arena, &spans);
	if (!error) {
		image.spans = spans.data;
		image.count = spans.count;
		memcpy(image.build_id, output->image_id,
		       sizeof(image.build_id));
		error = elf_image_write(&image, &bytes);
		if (!error)
			error = image_file_write(output->image_path, output->uid,
						 output->gid, &bytes);
		*written = !error;
	}
	vec_deinit(&spans);
	arena_deinit(&arena);
	return error;
}

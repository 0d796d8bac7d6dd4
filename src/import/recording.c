// SPDX-License-Identifier: GPL-2.0-only
#include "import/recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compare.h"
#include "base/map.h"
#include "import/event_attr.h"
#include "perfdata/kaa_stream.h"
#include "perfdata/writer.h"

/*
 * Where native functions are, in memory without a file: every process has all of
 * them at the same place. Any address would do that no other part of a chain has.
 */
#define NATIVE_BASE 0x100000000ull
#define KERNEL_BASE 0xffffffff80000000ull
/* A function's bytes, and the one that a stack shows. */
enum { FUNCTION_SIZE = 16, FUNCTION_PLACE = 8 };
/* The time of the first sample: what comes before it has times, too. */
#define START_TIME 1000000000ull

enum {
	/* What one record of 64 KiB holds, and room for contexts. */
	DEPTH_MAX = 8000,
	/* Samples with a count are written one by one, if there are no more. */
	SINGLE_MAX = 100 * 1000,
	/* Between two ends of rounds. */
	ROUND = 1000,
	/* A sample without its chain. */
	SAMPLE_BYTES = 64,
};

/* What samples and names may take: deep stacks are written for each sample anew. */
#define WRITTEN_MAX (16ull << 30)

struct recording {
	struct import_model *model;
	struct events events;
	struct event *kaa;
	struct perfdata_writer *writer;
	/* Of each function its address, 0: not written; and where the next goes. */
	uint64_t *start;
	uint64_t next_python;
	/* Lines of Python functions: place numbers by function and line. */
	uint32_t *places;
	/* Of each function its first in places, and behind the last the end. */
	uint32_t *first_place;
	/* Of each place the slot, by number. */
	uint32_t *slot;
	/* Process and function: it was named there. */
	struct map named;
	/* Processes and threads that were told of. */
	struct map told;
	VEC(uint64_t) chain;
	VEC(uint32_t) lines;
	struct strbuf payload;
	uint64_t in_round;
	uint64_t last_time;
	/* How much of a count is one sample; at least 1. */
	uint64_t of_count;
	/* About what samples take, and the names that were written. */
	uint64_t bytes;
	/* Of the recording, for messages. */
	const char *path;
	struct import_written written;
};

static const char *text(const struct recording *r, uint32_t number,
			const char *otherwise)
{
	return number == PROFILE_NONE ? otherwise :
					r->model->texts.all.data[number];
}

static struct kaa_string string(const char *s)
{
	return (struct kaa_string){ s, strlen(s) };
}

static struct error *check_bytes(const struct recording *r)
{
	if (r->bytes <= WRITTEN_MAX)
		return NULL;
	return error_create(ERROR_LIMIT,
			    "'%s' would have more than 16 GiB: the stacks to import are too many and too deep",
			    r->path);
}

/* --- the stream --- */

static struct error *put_payload(struct recording *r, uint32_t pid, uint64_t time)
{
	struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.event = r->kaa,
		.id = r->kaa->ids.data[0],
		.pid = pid,
		.tid = pid,
		.time = time,
		.sample = { .period = 1,
			    .raw = (const uint8_t *)r->payload.data,
			    .raw_size = (uint32_t)r->payload.len },
	};
	struct error *error = strbuf_error(&r->payload);

	r->bytes += r->payload.len;
	if (!error)
		error = check_bytes(r);
	if (!error)
		error = perfdata_writer_put(r->writer, &record);
	strbuf_clear(&r->payload);
	return error;
}

/* --- Python code --- */

/* By function, then by line. */
static int compare_places(const void *left, const void *right, void *arg)
{
	const struct import_model *m = arg;
	const struct import_place *a =
		&m->places.data[*(const uint32_t *)left];
	const struct import_place *b =
		&m->places.data[*(const uint32_t *)right];
	int order = compare_u64(a->function, b->function);

	return order ? order : compare_u64(a->line, b->line);
}

static struct error *sort_places(struct recording *r)
{
	const struct import_model *m = r->model;
	size_t count = m->places.count, functions = m->functions.count;

	r->start = calloc(functions + 1, sizeof(*r->start));
	r->places = calloc(count + 1, sizeof(*r->places));
	r->slot = calloc(count + 1, sizeof(*r->slot));
	r->first_place = calloc(functions + 1, sizeof(*r->first_place));
	if (!r->start || !r->places || !r->slot || !r->first_place)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		r->places[i] = (uint32_t)i;
		r->first_place[m->places.data[i].function + 1]++;
	}
	for (size_t i = 0; i < functions; i++)
		r->first_place[i + 1] += r->first_place[i];
	qsort_r(r->places, count, sizeof(*r->places), compare_places,
		(void *)m);
	return NULL;
}

/* The lines of a function into r->lines; *ret: the first of its places that has one. */
static struct error *collect_lines(struct recording *r, uint32_t number,
				   uint32_t *ret)
{
	const struct import_place *places = r->model->places.data;
	uint32_t at = r->first_place[number], end = r->first_place[number + 1];

	while (at < end && !places[r->places[at]].line)
		at++;
	*ret = at;
	vec_clear(&r->lines);
	for (; at < end; at++)
		if (!vec_push(&r->lines, places[r->places[at]].line))
			return error_no_memory();
	return NULL;
}

/*
 * One payload: as many lines of r->lines, from `done` on, as it holds. Its slot 0
 * has no line; the others are those of the places from `first` on. *code moves on.
 */
static struct error *put_code_piece(struct recording *r, struct kaa_code *code,
				    uint64_t start, uint32_t first, size_t *done)
{
	size_t left = r->lines.count - *done + 1;
	struct error *error;
	uint32_t slots;

	code->slots = left < KAA_MAX_SLOTS ? (uint32_t)left : KAA_MAX_SLOTS;
	code->lines = r->lines.count ? r->lines.data + *done : NULL;
	if (code->start + KAA_SLOT_SIZE * (uint64_t)code->slots >=
	    KAA_BASE + KAA_RANGE_SIZE)
		return error_create(ERROR_LIMIT, "it has too many lines");
	error = kaa_encode_code(code, &r->payload, &slots);
	if (error)
		return error;
	for (uint32_t i = 1; i < slots; i++)
		r->slot[r->places[first + (*done)++]] =
			(uint32_t)((code->start - start) / KAA_SLOT_SIZE) + i;
	code->start += KAA_SLOT_SIZE * (uint64_t)slots;
	return NULL;
}

static struct error *put_code(struct recording *r, uint32_t number, uint32_t pid,
			      uint64_t time)
{
	const struct import_function *function =
		&r->model->functions.data[number];
	struct kaa_code code = {
		.start = r->next_python,
		.first_line = function->line,
		.filename = string(text(r, function->file, "")),
		.qualname = string(text(r, function->name, "")),
	};
	uint32_t first;
	size_t done = 0;
	struct error *error = collect_lines(r, number, &first);

	r->start[number] = code.start;
	do {
		if (!error)
			error = put_code_piece(r, &code, r->start[number], first,
					       &done);
		if (!error)
			error = put_payload(r, pid, time);
	} while (!error && done < r->lines.count);
	r->next_python = code.start;
	return error;
}

/* --- other code --- */

static uint64_t native_start(const struct recording *r, uint32_t number)
{
	bool is_kernel = r->model->functions.data[number].kind ==
			 PROFILE_FRAME_KERNEL;

	return (is_kernel ? KERNEL_BASE : NATIVE_BASE) +
	       (uint64_t)number * FUNCTION_SIZE;
}

static struct error *put_symbol(struct recording *r, uint32_t number,
				uint32_t pid, uint64_t time)
{
	const struct import_function *function =
		&r->model->functions.data[number];
	bool is_kernel = function->kind == PROFILE_FRAME_KERNEL;
	struct kaa_symbol symbol = {
		.pid = is_kernel ? KAA_KERNEL_PID : pid,
		.kind = is_kernel ? KAA_SYMBOL_KERNEL : KAA_SYMBOL_PERF_MAP,
		.start = native_start(r, number),
		.size = FUNCTION_SIZE,
		.valid_to = UINT64_MAX,
		.dso = string(text(r, function->file,
				   is_kernel ? "[kernel.kallsyms]" :
					       "[unknown]")),
		.name = string(text(r, function->name, "")),
	};
	struct error *error = kaa_encode_symbol(&symbol, &r->payload);

	return error ? error : put_payload(r, pid, time);
}

/* Once in each process; of the kernel once. */
static struct error *name_native(struct recording *r, uint32_t number,
				 uint32_t pid, uint64_t time)
{
	bool is_kernel = r->model->functions.data[number].kind ==
			 PROFILE_FRAME_KERNEL;
	bool is_new;

	if (!map_insert(&r->named, (uint64_t)(is_kernel ? 0 : pid) << 32 | number,
			0, &is_new))
		return error_no_memory();
	return is_new ? put_symbol(r, number, pid, time) : NULL;
}

/* --- a chain --- */

static uint64_t marker_address(const char *name)
{
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++)
		if (!strcmp(kaa_markers[i].name, name))
			return kaa_markers[i].address;
	return KAA_MARKER_TRUNCATED;
}

static struct error *address_of(struct recording *r, uint32_t place, uint32_t pid,
				uint64_t time, uint64_t *ret)
{
	uint32_t number = r->model->places.data[place].function;
	const struct import_function *function =
		&r->model->functions.data[number];
	struct error *error = NULL;

	switch ((enum profile_frame_kind)function->kind) {
	case PROFILE_FRAME_MARKER:
		*ret = marker_address(text(r, function->name, ""));
		return NULL;
	case PROFILE_FRAME_PYTHON:
		if (!r->start[number])
			error = put_code(r, number, pid, time);
		*ret = kaa_slot_address(r->start[number], r->slot[place]);
		return error;
	case PROFILE_FRAME_NATIVE:
	case PROFILE_FRAME_KERNEL:
		break;
	}
	*ret = native_start(r, number) + FUNCTION_PLACE;
	return name_native(r, number, pid, time);
}

static bool push_address(struct recording *r, uint64_t address, uint64_t *context)
{
	uint64_t now = address >= KERNEL_BASE ? PERF_CONTEXT_KERNEL :
						PERF_CONTEXT_USER;

	if (now != *context && !vec_push(&r->chain, now))
		return false;
	*context = now;
	return vec_push(&r->chain, address);
}

static struct error *make_chain(struct recording *r, uint32_t node, uint32_t pid,
				uint64_t time)
{
	const struct import_node *nodes = r->model->nodes.data;
	struct error *error = NULL;
	uint64_t address, context = 0;

	vec_clear(&r->chain);
	for (; !error && node != PROFILE_NONE; node = nodes[node].parent) {
		if (r->chain.count >= DEPTH_MAX) {
			r->written.cut++;
			address = KAA_MARKER_TRUNCATED;
			return push_address(r, address, &context) ?
				       NULL :
				       error_no_memory();
		}
		error = address_of(r, nodes[node].place, pid, time, &address);
		if (!error && !push_address(r, address, &context))
			error = error_no_memory();
	}
	return error;
}

/* --- processes and threads --- */

static struct error *put_comm(struct recording *r, uint32_t pid, uint32_t tid,
			      const char *name, uint64_t time)
{
	struct record record = {
		.type = PERF_RECORD_COMM,
		.pid = pid,
		.tid = tid,
		.time = time,
		.comm = { .pid = pid,
			  .tid = tid,
			  .comm = name,
			  .comm_len = (uint32_t)strnlen(name, 4096) },
	};

	return perfdata_writer_put(r->writer, &record);
}

/* Memory that holds all native functions. */
static struct error *put_map(struct recording *r, uint32_t pid, uint64_t time)
{
	struct record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = pid,
		.tid = pid,
		.time = time,
		.mmap = { .pid = pid,
			  .tid = pid,
			  .start = NATIVE_BASE,
			  .len = ((r->model->functions.count + 1) *
				  FUNCTION_SIZE + 4095) & ~4095ull,
			  .prot = PROT_READ | PROT_EXEC,
			  .flags = MAP_PRIVATE,
			  .filename = "//anon",
			  .filename_len = 6 },
	};

	return perfdata_writer_put(r->writer, &record);
}

static struct error *put_thread_name(struct recording *r,
				     const struct import_thread *thread,
				     uint64_t time)
{
	struct kaa_thread name = {
		.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.name = string(text(r, thread->name, "")),
	};
	struct error *error;

	if (thread->name == PROFILE_NONE || thread->name == thread->process)
		return NULL;
	error = kaa_encode_thread(&name, &r->payload);
	return error ? error : put_payload(r, name.pid, time);
}

static struct error *put_thread(struct recording *r,
				const struct import_thread *thread,
				uint64_t time)
{
	uint32_t pid = (uint32_t)thread->pid, tid = (uint32_t)thread->tid;
	const char *title = text(r, r->model->title, "[unknown]");
	const char *comm = text(r, thread->process,
				text(r, thread->name, title));
	struct error *error = NULL;
	bool is_new;

	if (!map_insert(&r->told, pid, 0, &is_new))
		return error_no_memory();
	if (is_new && pid != tid)
		error = put_comm(r, pid, pid, text(r, thread->process, title),
				 time);
	if (!error)
		error = put_comm(r, pid, tid, comm, time);
	if (!error && is_new)
		error = put_map(r, pid, time);
	return error ? error : put_thread_name(r, thread, time);
}

static struct error *put_threads(struct recording *r)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < r->model->threads.count; i++)
		error = put_thread(r, &r->model->threads.data[i],
				   START_TIME - 1);
	return error;
}

/* --- samples --- */

static struct error *end_round(struct recording *r)
{
	if (++r->in_round % ROUND)
		return NULL;
	return perfdata_writer_finished_round(r->writer);
}

static struct error *put_one(struct recording *r,
			     const struct import_sample *sample, uint64_t weight,
			     uint64_t time)
{
	const struct import_thread *thread =
		&r->model->threads.data[sample->thread];
	const struct event *event = r->events.list.data[sample->event];
	size_t leaf = r->chain.count > 1 ? 1 : 0;
	struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.event = event,
		.id = event->ids.data[0],
		.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.time = time,
		.sample = { .ip = leaf ? r->chain.data[leaf] : 0,
			    .period = weight,
			    .callchain = r->chain.data,
			    .callchain_count = r->chain.count },
	};
	struct error *error;

	if (leaf && r->chain.data[0] == (uint64_t)PERF_CONTEXT_KERNEL)
		record.misc = PERF_RECORD_MISC_KERNEL;
	error = perfdata_writer_put(r->writer, &record);
	r->written.samples++;
	r->last_time = time;
	return error ? error : end_round(r);
}

/* Without times samples follow each other as if there were one thread. */
static uint64_t time_step(const struct recording *r,
			  const struct import_sample *sample, uint64_t weight)
{
	if (r->model->has_times)
		return 0;
	return r->model->events.data[sample->event].unit == EVENT_NANOSECONDS ?
		       weight :
		       1000;
}

/*
 * How many are written for it: as many as the count, or a part of that. What weighs
 * less than it counts has no weight of its own each.
 */
static uint64_t parts_of(const struct recording *r,
			 const struct import_sample *sample)
{
	uint64_t count = sample->count / r->of_count +
			 (sample->count % r->of_count != 0);

	return sample->weight < count ? sample->weight : count;
}

/* What does not divide is the last one's. */
static struct error *put_sample(struct recording *r,
				const struct import_sample *sample)
{
	uint64_t count = parts_of(r, sample);
	uint64_t each = sample->weight / count;
	uint64_t step = time_step(r, sample, each);
	uint64_t time = r->model->has_times ? START_TIME + sample->time :
					      r->last_time + step;
	struct error *error = make_chain(
		r, sample->node,
		(uint32_t)r->model->threads.data[sample->thread].pid, time);

	for (uint64_t i = 1; !error && i <= count; i++) {
		uint64_t weight = i < count ? each :
					      sample->weight - each * (count - 1);

		error = put_one(r, sample, weight, time);
		time += step;
	}
	return error;
}

static int compare_times(const void *left, const void *right)
{
	const struct import_sample *a = left, *b = right;

	return compare_u64(a->time, b->time);
}

static void sort_samples(struct import_model *m)
{
	if (m->has_times)
		qsort(m->samples.data, m->samples.count,
		      sizeof(*m->samples.data), compare_times);
}

/* Of each node how deep it is, the outermost one 1. */
static struct error *find_depths(const struct import_model *m, uint32_t **ret)
{
	uint32_t *depths = calloc(m->nodes.count + 1, sizeof(*depths));

	if (!depths)
		return error_no_memory();
	for (size_t i = 0; i < m->nodes.count; i++) {
		uint32_t parent = m->nodes.data[i].parent;

		depths[i] = parent == PROFILE_NONE ? 1 : depths[parent] + 1;
	}
	*ret = depths;
	return NULL;
}

/* Adds up what all samples will take. */
static struct error *weigh_samples(struct recording *r)
{
	_cleanup_free_ uint32_t *depths = NULL;
	struct error *error = find_depths(r->model, &depths);
	uint64_t count = r->model->count;

	if (error)
		return error;
	r->of_count = count > SINGLE_MAX ? (count - 1) / SINGLE_MAX + 1 : 1;
	vec_for_each(sample, &r->model->samples) {
		uint64_t depth = sample->node == PROFILE_NONE ?
					 0 :
					 depths[sample->node];

		if (depth > DEPTH_MAX)
			depth = DEPTH_MAX;
		r->bytes += parts_of(r, sample) *
			    (SAMPLE_BYTES + depth * sizeof(*r->chain.data));
	}
	return check_bytes(r);
}

static struct error *put_samples(struct recording *r)
{
	uint64_t count = r->model->count;
	struct error *error = NULL;

	r->last_time = START_TIME;
	vec_for_each(sample, &r->model->samples) {
		error = put_sample(r, sample);
		if (error)
			break;
	}
	r->written.is_summed = r->of_count > 1 && r->written.samples < count;
	return error;
}

/* --- the file --- */

static struct error *add_events(struct recording *r)
{
	struct import_model *m = r->model;
	struct perf_event_attr attr;
	struct error *error = NULL;
	struct event *event;

	for (uint32_t i = 0; !error && i < m->events.count; i++) {
		attr = import_event_attr(m, i);
		error = events_add(&r->events, &attr,
				   text(r, m->events.data[i].name, ""), &event);
		if (!error)
			error = events_add_id(&r->events, event, i + 1);
	}
	kaa_stream_attr(&attr);
	if (!error)
		error = events_add(&r->events, &attr, KAA_EVENT_NAME, &r->kaa);
	return error ? error :
		       events_add_id(&r->events, r->kaa, m->events.count + 1);
}

static struct error *fill_features(const struct recording *r,
				   struct features *features)
{
	const struct import_model *m = r->model;
	struct error *error = NULL;

	if (m->hostname != PROFILE_NONE)
		error = features_set_string(features, FEATURE_HOSTNAME,
					    text(r, m->hostname, ""));
	if (!error && m->command != PROFILE_NONE) {
		error = features_add_cmdline(features, text(r, m->command, ""));
		features_mark(features, FEATURE_CMDLINE);
	}
	if (m->start) {
		features->clockid = 1;
		features->clock_wall_ns = m->start;
		features->clock_ns = START_TIME;
		features_mark(features, FEATURE_CLOCK_DATA);
	}
	/* Else how long it took is not known: samples follow each other as they weigh. */
	if (m->has_times) {
		features->first_sample_time = START_TIME;
		features->last_sample_time = r->last_time;
		features_mark(features, FEATURE_SAMPLE_TIME);
	}
	return error;
}

static struct error *put_file(struct recording *r)
{
	struct features features = {};
	struct error *error = put_threads(r);

	if (!error)
		error = put_samples(r);
	if (!error)
		error = perfdata_writer_finished_round(r->writer);
	if (!error)
		error = fill_features(r, &features);
	if (!error)
		error = perfdata_writer_finish(r->writer, &features);
	features_deinit(&features);
	return error;
}

static void recording_deinit(struct recording *r)
{
	perfdata_writer_destroy(r->writer);
	events_deinit(&r->events);
	free(r->start);
	free(r->places);
	free(r->first_place);
	free(r->slot);
	map_deinit(&r->named);
	map_deinit(&r->told);
	vec_deinit(&r->chain);
	vec_deinit(&r->lines);
	strbuf_deinit(&r->payload);
}

struct error *import_write(struct import_model *model, const char *path,
			   int64_t uid, int64_t gid, struct import_written *ret)
{
	struct recording r = { .model = model,
			       .next_python = KAA_FIRST_SPAN,
			       .path = path,
			       .payload = STRBUF_INIT };
	const struct perfdata_writer_options options = {
		.path = path, .events = &r.events, .uid = uid, .gid = gid
	};
	struct error *error = add_events(&r);

	sort_samples(model);
	if (!error)
		error = sort_places(&r);
	if (!error)
		error = weigh_samples(&r);
	if (!error)
		error = perfdata_writer_create(&options, &r.writer);
	if (!error)
		error = perfdata_writer_event_names(r.writer);
	if (!error)
		error = put_file(&r);
	if (!error)
		*ret = r.written;
	recording_deinit(&r);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of Perfetto (https://perfetto.dev): packets with samples of stacks, as its
 * own profiler writes them. Messages and numbers of fields:
 * protos/perfetto/trace/trace_packet.proto, profiling/profile_packet.proto and
 * profiling/profile_common.proto of github.com/google/perfetto.
 *
 * Each event is a sequence of packets: first all names, mappings and frames, then
 * its samples in the order of time, each stack with the sample that has it first.
 * Stacks stand there with the outermost frame first. What a sample weighs is how far
 * the event's counter has come since the one before.
 *
 * A reader drops stacks whose frames have no mapping, so that of a Python function
 * is its source. And it takes two frames of one mapping, address and name for one,
 * so an address is the number of a place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hex.h"
#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/protobuf.h"
#include "export/recorded.h"
#include "export/stacks.h"

/* Numbers of fields. */
enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_PERF_SAMPLE = 66,
};
enum sequence_flag { SEQUENCE_BEGINS = 1, SEQUENCE_GOES_ON = 2 };
enum process_tree_field { TREE_PROCESSES = 1, TREE_THREADS = 2 };
enum process_field { PROCESS_PID = 1, PROCESS_CMDLINE = 3, PROCESS_IS_COMM = 9 };
enum thread_field { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum clocks_field { CLOCKS_CLOCK = 1 };
enum clock_field { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum clock_id { CLOCK_OF_DAY = 1, CLOCK_OF_TRACE = 6 };
enum defaults_field { DEFAULTS_PERF_SAMPLE = 12 };
enum perf_defaults_field { PERF_DEFAULTS_TIMEBASE = 1 };
enum timebase_field {
	TIMEBASE_PERIOD = 1,
	TIMEBASE_FREQUENCY = 2,
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10,
};
enum interned_field {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_MAPPINGS = 19,
};
enum string_field { STRING_IID = 1, STRING_STR = 2 };
enum mapping_field { MAPPING_IID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum frame_field {
	FRAME_IID = 1,
	FRAME_FUNCTION_NAME = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	FRAME_SOURCE_PATH = 5,
	FRAME_LINE = 6,
	FRAME_KIND = 7,
};
enum frame_kind { KIND_UNKNOWN, KIND_NATIVE, KIND_KERNEL, KIND_INTERPRETED };
enum callstack_field { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum sample_field {
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_CPU_MODE = 5,
	SAMPLE_TIMEBASE_COUNT = 6,
};
enum cpu_mode { MODE_KERNEL = 1, MODE_USER = 2 };

/* PerfEvents.Counter of protos/perfetto/common/perf_events.proto */
static const struct {
	const char *name;
	uint32_t counter;
} counters[] = {
	{ "cpu-clock", 1 },	   { "page-faults", 2 },
	{ "task-clock", 3 },	   { "context-switches", 4 },
	{ "cpu-migrations", 5 },   { "minor-faults", 6 },
	{ "major-faults", 7 },	   { "cycles", 10 },
	{ "instructions", 11 },	   { "cache-references", 12 },
	{ "cache-misses", 13 },	   { "branches", 14 },
	{ "branch-misses", 15 },   { "bus-cycles", 16 },
};

/* A sample of an event. */
struct event_row {
	uint32_t row;
	const struct export_group *group;
};

struct perfetto {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct export_times times;
	FILE *out;
	/* Of the packets that are written, from 1 up. */
	uint32_t sequence;
	/* The sequence of each node in which the stack was said last. */
	uint32_t *said_in;
	VEC(struct event_row) rows;
	VEC(uint32_t) steps;
	/* A packet, a message in it, one in that, and one in that. */
	struct strbuf packet;
	struct strbuf message;
	struct strbuf part;
	struct strbuf small;
	bool failed;
};

/* --- packets --- */

static void end_message(struct perfetto *p, uint32_t field)
{
	protobuf_message(&p->packet, field, &p->message);
	p->failed |= p->message.failed;
	strbuf_clear(&p->message);
}

static void end_part(struct perfetto *p, uint32_t field)
{
	protobuf_message(&p->message, field, &p->part);
	p->failed |= p->part.failed;
	strbuf_clear(&p->part);
}

static void end_small(struct perfetto *p, uint32_t field)
{
	protobuf_message(&p->part, field, &p->small);
	p->failed |= p->small.failed;
	strbuf_clear(&p->small);
}

static void end_packet(struct perfetto *p, uint64_t time,
		       enum sequence_flag flags)
{
	protobuf_u64(&p->packet, PACKET_TIMESTAMP, time);
	protobuf_u64(&p->packet, PACKET_SEQUENCE, p->sequence);
	protobuf_u64(&p->packet, PACKET_SEQUENCE_FLAGS, flags);
	protobuf_message(&p->small, TRACE_PACKET, &p->packet);
	p->failed |= p->packet.failed || p->small.failed;
	fwrite(p->small.data, 1, p->small.len, p->out);
	strbuf_clear(&p->small);
	strbuf_clear(&p->packet);
}

/* --- clocks, processes and threads --- */

static void put_clock(struct perfetto *p, enum clock_id clock, uint64_t time)
{
	protobuf_u64(&p->part, CLOCK_ID, clock);
	protobuf_u64(&p->part, CLOCK_TIMESTAMP, time);
	end_part(p, CLOCKS_CLOCK);
}

static void put_clocks(struct perfetto *p)
{
	if (!p->times.wall)
		return;
	put_clock(p, CLOCK_OF_TRACE, p->times.first);
	put_clock(p, CLOCK_OF_DAY, p->times.wall);
	end_message(p, PACKET_CLOCK_SNAPSHOT);
	end_packet(p, p->times.first, SEQUENCE_BEGINS);
}

static void put_threads(struct perfetto *p)
{
	const struct profile *profile = p->stacks->profile;

	vec_for_each(thread, &p->groups->threads) {
		const char *name = profile_string(profile, thread->name, NULL);

		if (thread == &p->groups->threads.data[thread->first]) {
			protobuf_u64(&p->part, PROCESS_PID,
				     (uint32_t)thread->pid);
			protobuf_text(&p->part, PROCESS_CMDLINE,
				      export_process_name(p->groups, thread));
			protobuf_u64(&p->part, PROCESS_IS_COMM, 1);
			end_part(p, TREE_PROCESSES);
		}
		protobuf_u64(&p->part, THREAD_TID, (uint32_t)thread->tid);
		if (name)
			protobuf_text(&p->part, THREAD_NAME, name);
		protobuf_u64(&p->part, THREAD_TGID, (uint32_t)thread->pid);
		end_part(p, TREE_THREADS);
	}
	end_message(p, PACKET_PROCESS_TREE);
	end_packet(p, p->times.first, SEQUENCE_BEGINS);
}

/* --- what a sequence begins with: the event, names, frames --- */

static void put_timebase(struct perfetto *p, const struct export_group *group)
{
	const struct profile_event *event =
		&p->stacks->profile->events.data[group->event];
	const char *name = export_event_name(p->groups, group);
	size_t n = strcspn(name, ":");

	protobuf_u64(&p->small,
		     event->is_freq ? TIMEBASE_FREQUENCY : TIMEBASE_PERIOD,
		     event->sample_period);
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (strlen(counters[i].name) == n &&
		    !memcmp(counters[i].name, name, n))
			protobuf_u64(&p->small, TIMEBASE_COUNTER,
				     counters[i].counter);
	protobuf_text(&p->small, TIMEBASE_NAME, name);
	end_small(p, PERF_DEFAULTS_TIMEBASE);
	end_part(p, DEFAULTS_PERF_SAMPLE);
	end_message(p, PACKET_DEFAULTS);
}

static void put_string(struct perfetto *p, enum interned_field field, size_t iid,
		       const char *text)
{
	protobuf_u64(&p->part, STRING_IID, iid);
	protobuf_text(&p->part, STRING_STR, text);
	end_part(p, field);
}

/*
 * Paths and mappings have the same numbers: source files, DSOs behind them, and
 * last one of which nothing is known.
 */
static size_t dso_iid(const struct perfetto *p, size_t dso)
{
	return p->stacks->files.all.count + dso + 1;
}

static size_t mapping_of(const struct perfetto *p,
			 const struct export_function *function)
{
	if (function->file != PROFILE_NONE)
		return function->file + 1ull;
	return dso_iid(p, function->object != PROFILE_NONE ?
				  function->object :
				  p->stacks->profile->dsos.count);
}

/* Its bytes; the profile has them in hex. */
static void put_build_id(struct perfetto *p, size_t iid, const char *hex)
{
	for (; hex_digit(hex[0]) >= 0 && hex_digit(hex[1]) >= 0; hex += 2)
		strbuf_putc(&p->small, (char)(hex_digit(hex[0]) << 4 | hex_digit(hex[1])));
	protobuf_u64(&p->part, STRING_IID, iid);
	end_small(p, STRING_STR);
	end_part(p, INTERNED_BUILD_IDS);
}

/*
 * build_id: a number of strings, 0: not known. A reader puts a '/' before a path
 * that has none, so one of which nothing is known gets none.
 */
static void put_mapping(struct perfetto *p, size_t iid, const char *path,
			size_t build_id)
{
	if (*path)
		put_string(p, INTERNED_MAPPING_PATHS, iid, path);
	protobuf_u64(&p->part, MAPPING_IID, iid);
	protobuf_u64(&p->part, MAPPING_BUILD_ID, build_id);
	if (*path)
		protobuf_u64(&p->part, MAPPING_PATH, iid);
	end_part(p, INTERNED_MAPPINGS);
}

static void put_mappings(struct perfetto *p)
{
	const struct profile *profile = p->stacks->profile;
	size_t count = profile->dsos.count;

	for (size_t i = 0; i < p->stacks->files.all.count; i++) {
		put_mapping(p, i + 1, p->stacks->files.all.data[i], 0);
		put_string(p, INTERNED_SOURCE_PATHS, i + 1,
			   p->stacks->files.all.data[i]);
	}
	for (size_t i = 0; i < count; i++) {
		const struct profile_dso *dso = &profile->dsos.data[i];
		const char *id = profile_string(profile, dso->build_id, NULL);

		if (id)
			put_build_id(p, i + 1, id);
		put_mapping(p, dso_iid(p, i),
			    profile_string(profile, dso->long_name, ""),
			    id ? i + 1 : 0);
	}
	put_mapping(p, dso_iid(p, count), "", 0);
}

static enum frame_kind kind_of(const struct export_function *function)
{
	switch ((enum profile_frame_kind)function->kind) {
	case PROFILE_FRAME_PYTHON:
		return KIND_INTERPRETED;
	case PROFILE_FRAME_NATIVE:
		return KIND_NATIVE;
	case PROFILE_FRAME_KERNEL:
		return KIND_KERNEL;
	case PROFILE_FRAME_MARKER:
		break;
	}
	return KIND_UNKNOWN;
}

static void put_frame(struct perfetto *p, size_t place)
{
	uint32_t number = p->stacks->places.data[place].function;
	const struct export_function *function =
		&p->stacks->functions.data[number];

	protobuf_u64(&p->part, FRAME_IID, place + 1);
	protobuf_u64(&p->part, FRAME_FUNCTION_NAME, function->name + 1ull);
	protobuf_u64(&p->part, FRAME_MAPPING, mapping_of(p, function));
	protobuf_u64(&p->part, FRAME_ADDRESS, place + 1);
	if (function->file != PROFILE_NONE)
		protobuf_u64(&p->part, FRAME_SOURCE_PATH, function->file + 1ull);
	protobuf_u64(&p->part, FRAME_LINE, p->stacks->places.data[place].line);
	protobuf_u64(&p->part, FRAME_KIND, kind_of(function));
	end_part(p, INTERNED_FRAMES);
}

static void begin_sequence(struct perfetto *p, const struct export_group *group)
{
	p->sequence++;
	put_timebase(p, group);
	for (size_t i = 0; i < p->stacks->names.all.count; i++)
		put_string(p, INTERNED_FUNCTION_NAMES, i + 1,
			   p->stacks->names.all.data[i]);
	put_mappings(p);
	for (size_t i = 0; i < p->stacks->places.count; i++)
		put_frame(p, i);
	end_message(p, PACKET_INTERNED);
	end_packet(p, p->times.first, SEQUENCE_BEGINS);
}

/* --- samples --- */

static void put_callstack(struct perfetto *p, uint32_t node)
{
	const struct export_node *nodes = p->stacks->nodes.data;

	vec_clear(&p->steps);
	protobuf_u64(&p->part, CALLSTACK_IID, node + 1ull);
	for (; node != PROFILE_NONE; node = nodes[node].parent)
		p->failed |= !vec_push(&p->steps, nodes[node].place);
	for (size_t i = p->steps.count; i-- > 0;)
		protobuf_u64(&p->part, CALLSTACK_FRAMES,
			     p->steps.data[i] + 1ull);
	end_part(p, INTERNED_CALLSTACKS);
	end_message(p, PACKET_INTERNED);
}

static enum cpu_mode mode_of(const struct perfetto *p, uint32_t node)
{
	uint32_t place = p->stacks->nodes.data[node].place;
	uint32_t function = p->stacks->places.data[place].function;

	return p->stacks->functions.data[function].kind == PROFILE_FRAME_KERNEL ?
		       MODE_KERNEL :
		       MODE_USER;
}

/* count: the event's counter, this sample included. */
static void put_sample(struct perfetto *p, const struct event_row *row,
		       uint64_t count)
{
	const struct export_thread *thread =
		&p->groups->threads.data[row->group->thread];
	uint32_t node = export_row_node(p->groups, row->row);

	if (p->said_in[node] != p->sequence)
		put_callstack(p, node);
	p->said_in[node] = p->sequence;
	protobuf_u64(&p->message, SAMPLE_PID, (uint32_t)thread->pid);
	protobuf_u64(&p->message, SAMPLE_TID, (uint32_t)thread->tid);
	protobuf_u64(&p->message, SAMPLE_CALLSTACK, node + 1ull);
	protobuf_u64(&p->message, SAMPLE_CPU_MODE, mode_of(p, node));
	protobuf_u64(&p->message, SAMPLE_TIMEBASE_COUNT, count);
	end_message(p, PACKET_PERF_SAMPLE);
	end_packet(p, p->stacks->profile->samples.time[row->row],
		   SEQUENCE_GOES_ON);
}

/* Rows of the profile stand in the order of time. */
static int compare_rows(const void *left, const void *right)
{
	const struct event_row *a = left, *b = right;

	return compare_u64(a->row, b->row);
}

/* The groups [first, end) are those of an event. */
static void put_event(struct perfetto *p, size_t first, size_t end)
{
	uint64_t count = 0;

	vec_clear(&p->rows);
	for (size_t i = first; i < end; i++) {
		const struct export_group *group = &p->groups->all.data[i];

		for (size_t n = group->first; n < group->first + group->count;
		     n++)
			p->failed |= !vec_push(&p->rows, (struct event_row){
					p->groups->rows[n], group });
	}
	if (p->failed)
		return;
	qsort(p->rows.data, p->rows.count, sizeof(*p->rows.data), compare_rows);
	begin_sequence(p, &p->groups->all.data[first]);
	vec_for_each(row, &p->rows) {
		count += export_row_weight(p->groups, row->group, row->row);
		put_sample(p, row, count);
	}
}

static void put_file(struct perfetto *p)
{
	size_t end;

	p->said_in = calloc(p->stacks->nodes.count + 1, sizeof(*p->said_in));
	p->failed |= !p->said_in;
	if (p->failed)
		return;
	p->sequence = 1;
	put_clocks(p);
	put_threads(p);
	for (size_t i = 0; i < p->groups->all.count; i = end) {
		end = export_groups_end(p->groups, i);
		put_event(p, i, end);
	}
}

struct error *export_perfetto(const struct profile *profile,
			      const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct perfetto p = { .out = out,
			      .packet = STRBUF_INIT,
			      .message = STRBUF_INIT,
			      .part = STRBUF_INIT,
			      .small = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (error)
		return error;
	p.groups = groups;
	p.stacks = groups->stacks;
	p.times = export_groups_times(groups);
	put_file(&p);
	if (p.failed)
		error = error_no_memory();
	free(p.said_in);
	vec_deinit(&p.rows);
	vec_deinit(&p.steps);
	strbuf_deinit(&p.packet);
	strbuf_deinit(&p.message);
	strbuf_deinit(&p.part);
	strbuf_deinit(&p.small);
	return error;
}

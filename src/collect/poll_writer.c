// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_writer.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/walker_shared.h"

void poll_writer_deinit(struct poll_writer *writer)
{
	strbuf_deinit(&writer->task);
	strbuf_deinit(&writer->sample);
}

uint64_t poll_writer_now(const struct poll_writer *writer)
{
	return (uint64_t)clock_ns(writer->sampler->options.clockid);
}

static bool encode(struct poll_writer *writer, size_t index,
		   struct record *record, struct strbuf *out)
{
	const struct events *events = &writer->sampler->kernel_events;
	struct error *error;

	record->event = events->list.data[index];
	record->id = record->event->ids.data[0];
	error = record_encode(events, record, out);
	error_destroy(error);
	return !error;
}

/* A full pipe wakes the reader as well. */
static void wake(const struct poll_writer *writer)
{
	if (writer->sampler->wake_fd >= 0 &&
	    write(writer->sampler->wake_fd, "", 1) < 0)
		return;
}

void poll_writer_task(struct poll_writer *writer, struct record *record)
{
	struct sampler *sampler = writer->sampler;

	strbuf_clear(&writer->task);
	if (!encode(writer, sampler_tasks_index(sampler), record,
		    &writer->task) ||
	    !ring_write(&sampler->cpus.data[0].tasks, writer->task.data,
			writer->task.len))
		writer->lost_tasks++;
	wake(writer);
}

void poll_writer_begin(struct poll_writer *writer)
{
	strbuf_clear(&writer->sample);
}

bool poll_writer_walked(struct poll_writer *writer, const void *bytes,
			size_t size)
{
	const struct walker_header *header = bytes;
	struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.pid = header->pid,
		.tid = header->pid,
		.sample = { .raw = bytes, .raw_size = (uint32_t)size },
	};

	return encode(writer, sampler_walker_index(writer->sampler), &record,
		      &writer->sample);
}

static bool write_sample(struct poll_writer *writer)
{
	struct sampler *sampler = writer->sampler;

	return ring_write(&sampler->cpus.data[0].samples, writer->sample.data,
			  writer->sample.len);
}

void poll_writer_flush(struct poll_writer *writer)
{
	if (writer->sample.len && !write_sample(writer))
		writer->lost++;
	strbuf_clear(&writer->sample);
}

void poll_writer_end(struct poll_writer *writer, struct record *sample)
{
	sample->type = PERF_RECORD_SAMPLE;
	sample->misc = PERF_RECORD_MISC_USER;
	if (!encode(writer, 0, sample, &writer->sample) ||
	    !write_sample(writer))
		writer->lost++;
	strbuf_clear(&writer->sample);
}

void poll_writer_close(struct poll_writer *writer)
{
	if (writer->sampler->wake_fd >= 0)
		close(writer->sampler->wake_fd);
	writer->sampler->wake_fd = -1;
}

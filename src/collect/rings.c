// SPDX-License-Identifier: GPL-2.0-only
#include "collect/rings.h"

#include <stdlib.h>

#include "base/clock.h"
#include "collect/ring.h"

enum {
	/* A flood of task records is handled piece by piece. */
	TASK_BYTES_MAX = 64 << 20,
};

struct error *rings_init(struct rings *rings, struct sampler *sampler)
{
	rings->sampler = sampler;
	for (size_t i = 0; i < sampler->cpus.count; i++)
		if (!vec_push(&rings->progress, (struct ring_progress){}))
			return error_no_memory();
	return NULL;
}

void rings_deinit(struct rings *rings)
{
	vec_deinit(&rings->progress);
	vec_deinit(&rings->tasks);
	strbuf_deinit(&rings->task_bytes);
}

static struct error *damaged(void)
{
	return error_create(ERROR_FORMAT,
			    "the kernel's event buffer is damaged");
}

static void note_fill(unsigned int *most, const struct ring *ring, uint64_t end)
{
	unsigned int percent =
		ring->size ? (unsigned int)((end - ring->tail) * 100 / ring->size) : 0;

	if (percent > *most)
		*most = percent;
}

static void note_pause(struct rings *rings)
{
	int64_t now = clock_ms();

	if (rings->looked && now - rings->looked > rings->load.pause_ms)
		rings->load.pause_ms = now - rings->looked;
	rings->looked = now;
}

/* --- tasks --- */

static struct error *copy_tasks(struct rings *rings, struct ring *ring)
{
	uint64_t end = ring_head(ring), position = ring->tail;
	const struct perf_event_header *header;

	note_fill(&rings->load.tasks_percent, ring, end);
	while (position < end && rings->task_bytes.len < TASK_BYTES_MAX) {
		header = ring_record(ring, position, end);
		if (!header)
			return damaged();
		if (!vec_push(&rings->tasks,
			      (struct task_record){
				      .time = events_record_time(
					      &rings->sampler->kernel_events,
					      header, header->size),
				      .offset = rings->task_bytes.len,
				      .size = header->size }))
			return error_no_memory();
		strbuf_append(&rings->task_bytes, header, header->size);
		position += header->size;
	}
	ring_advance(ring, position);
	return strbuf_error(&rings->task_bytes);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

struct error *rings_take_tasks(struct rings *rings)
{
	vec_clear(&rings->tasks);
	strbuf_clear(&rings->task_bytes);
	vec_for_each(cpu, &rings->sampler->cpus) {
		struct error *error = copy_tasks(rings, &cpu->tasks);

		if (error)
			return error;
	}
	if (rings->tasks.count)
		qsort(rings->tasks.data, rings->tasks.count,
		      sizeof(*rings->tasks.data), compare_tasks);
	return NULL;
}

/* --- samples --- */

void rings_snapshot(struct rings *rings)
{
	note_pause(rings);
	for (size_t i = 0; i < rings->progress.count; i++) {
		const struct ring *ring = &rings->sampler->cpus.data[i].samples;

		rings->progress.data[i].head = ring_head(ring);
		note_fill(&rings->load.samples_percent, ring,
			  rings->progress.data[i].head);
	}
}

static struct error *look_ahead(struct rings *rings, size_t cpu,
				ring_handler *handler, void *arg)
{
	struct ring *ring = &rings->sampler->cpus.data[cpu].samples;
	uint64_t *position = &rings->progress.data[cpu].shown;
	uint64_t end = ring_head(ring);
	const struct perf_event_header *header;
	struct error *error = NULL;

	if (*position < ring->tail)
		*position = ring->tail;
	while (!error && *position < end &&
	       (header = ring_record(ring, *position, end))) {
		uint64_t next = *position + header->size;

		error = handler(arg, cpu, header);
		*position = next;
	}
	return error;
}

struct error *rings_look_ahead(struct rings *rings, ring_handler *handler,
			       void *arg)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < rings->progress.count; i++)
		error = look_ahead(rings, i, handler, arg);
	return error;
}

static struct error *handle(struct rings *rings, size_t cpu,
			    ring_handler *handler, void *arg)
{
	struct ring *ring = &rings->sampler->cpus.data[cpu].samples;
	uint64_t end = rings->progress.data[cpu].head;
	const struct perf_event_header *header;
	struct error *error = NULL;

	while (!error && ring->tail < end) {
		uint64_t next;

		header = ring_record(ring, ring->tail, end);
		if (!header)
			return damaged();
		next = ring->tail + header->size;
		error = handler(arg, cpu, header);
		ring_advance(ring, next);
	}
	return error;
}

struct error *rings_handle(struct rings *rings, ring_handler *handler,
			   void *arg)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < rings->progress.count; i++)
		error = handle(rings, i, handler, arg);
	return error;
}

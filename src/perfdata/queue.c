// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/queue.h"

void queue_deinit(struct queue *queue)
{
	vec_deinit(&queue->heap);
	*queue = (struct queue){};
}

static bool earlier(const struct queue_entry *a, const struct queue_entry *b)
{
	return a->time != b->time ? a->time < b->time :
				    a->sequence < b->sequence;
}

bool queue_add(struct queue *queue, const struct queue_entry *entry)
{
	struct queue_entry new = *entry;
	struct queue_entry *heap;
	size_t at = queue->heap.count;

	if (!vec_reserve(&queue->heap, 1))
		return false;
	heap = queue->heap.data;
	queue->heap.count++;
	new.sequence = queue->sequence++;
	if (new.time > queue->max_time)
		queue->max_time = new.time;
	while (at) {
		size_t parent = (at - 1) / 2;

		if (!earlier(&new, &heap[parent]))
			break;
		heap[at] = heap[parent];
		at = parent;
	}
	heap[at] = new;
	return true;
}

/* Removes the first entry. */
static void pop(struct queue *queue)
{
	struct queue_entry *heap = queue->heap.data;
	size_t count = --queue->heap.count;
	struct queue_entry last = heap[count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!earlier(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

bool queue_take(struct queue *queue, struct queue_entry *ret)
{
	if (!queue->draining)
		return false;
	if (!queue->heap.count ||
	    (!queue->quota && queue->heap.data[0].time > queue->until)) {
		queue->draining = false;
		return false;
	}
	if (queue->quota && !--queue->quota && !queue->until)
		queue->draining = false;
	*ret = queue->heap.data[0];
	pop(queue);
	return true;
}

static void drain(struct queue *queue, uint64_t until, size_t quota)
{
	queue->draining = true;
	queue->until = until;
	queue->quota = quota;
}

void queue_flush_all(struct queue *queue)
{
	drain(queue, UINT64_MAX, 0);
}

void queue_flush_half(struct queue *queue)
{
	drain(queue, 0, (queue->heap.count + 1) / 2);
}

void queue_finish_round(struct queue *queue)
{
	drain(queue, queue->round_limit, 0);
	queue->round_limit = queue->max_time;
}

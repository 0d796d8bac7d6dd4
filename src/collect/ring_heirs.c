// SPDX-License-Identifier: GPL-2.0-only
#include "collect/ring_heirs.h"

#include <poll.h>

void ring_heirs_deinit(struct ring_heirs *heirs)
{
	map_deinit(&heirs->by_fd);
	vec_deinit(&heirs->next);
}

/* Puts the event behind the last one of its ring; last: ring to index. */
static bool link_event(struct ring_heirs *heirs, const struct sampler *sampler,
		       uint32_t index, struct map *last)
{
	const struct sampler_fd *entry = &sampler->fds.data[index];
	uint64_t ring = (uint64_t)(uint32_t)entry->cpu << 1 |
			sampler_fd_is_of_tasks(sampler, entry);
	uint64_t *before;
	bool is_new;

	if (!map_insert(&heirs->by_fd, (uint64_t)entry->fd, index, NULL))
		return false;
	before = map_insert(last, ring, index, &is_new);
	if (!before || !vec_push(&heirs->next, index))
		return false;
	if (is_new)
		return true;
	heirs->next.data[index] = heirs->next.data[*before];
	heirs->next.data[*before] = index;
	*before = index;
	return true;
}

static struct error *link_all(struct ring_heirs *heirs,
			      const struct sampler *sampler)
{
	struct map last = {};
	bool ok = true;

	for (size_t i = 0; ok && i < sampler->fds.count; i++)
		ok = link_event(heirs, sampler, (uint32_t)i, &last);
	map_deinit(&last);
	if (ok)
		return NULL;
	ring_heirs_deinit(heirs);
	*heirs = (struct ring_heirs){};
	return error_no_memory();
}

/*
 * Asked once more, and not by the loop: what ended together would take a round
 * each. This may take the ring's word that it has something to read; who comes from a
 * hang-up reads it anyway.
 */
static bool has_ended(struct sampler_fd *entry)
{
	struct pollfd asked = { .fd = entry->fd };

	if (!entry->ended && poll(&asked, 1, 0) == 1)
		entry->ended = asked.revents & POLLHUP;
	return entry->ended;
}

struct error *ring_heirs_next(struct ring_heirs *heirs, struct sampler *sampler,
			      int fd, const struct sampler_fd **ret, bool *tasks)
{
	struct error *error =
		heirs->next.count ? NULL : link_all(heirs, sampler);
	const uint64_t *place;
	struct sampler_fd *entry;
	uint32_t index;

	if (error)
		return error;
	*ret = NULL;
	*tasks = false;
	place = map_find(&heirs->by_fd, (uint64_t)fd);
	if (!place)
		return NULL;
	entry = &sampler->fds.data[*place];
	entry->ended = true;
	*tasks = sampler_fd_is_of_tasks(sampler, entry);
	index = heirs->next.data[*place];
	while (index != *place) {
		entry = &sampler->fds.data[index];
		if (entry->event <= sampler_tasks_index(sampler) &&
		    !has_ended(entry)) {
			*ret = entry;
			return NULL;
		}
		index = heirs->next.data[index];
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/jitter.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/random.h"
#include "collect/clocks.h"

enum {
	/*
	 * A new period begins anew, and what the old one had is lost: a half of
	 * a tick of as many.
	 */
	TICKS = 64,
	INTERVAL_MS = 100,
	/*
	 * In that time the clock moves by up to as many ticks against an even one:
	 * several times round each rhythm of a program, in nearly all intervals.
	 */
	MOVES = 25,
	/* But no rate differs by more than that part. */
	PART = 4,
	NS_PER_MS = 1000000,
};

/* How long a clock keeps its period, in ms. */
static int64_t interval(uint64_t period)
{
	int64_t ms = (int64_t)(period * TICKS / NS_PER_MS);

	return ms > INTERVAL_MS ? ms : INTERVAL_MS;
}

int32_t jitter_offset(struct jitter *jitter, uint64_t period)
{
	uint64_t ticks = (uint64_t)interval(period) * NS_PER_MS / period;
	uint64_t most = JITTER_ONE / PART;

	if (ticks > MOVES * PART)
		most = JITTER_ONE * MOVES / ticks;
	return (int32_t)(random_next(&jitter->state) % (2 * most + 1)) - (int32_t)most;
}

uint64_t jitter_period(uint64_t period, int32_t offset)
{
	return period * JITTER_ONE / (uint64_t)(JITTER_ONE + offset);
}

/* At random, and then the other way by as much: two make an even pair. */
static int32_t next_offset(struct jitter *jitter, int32_t *other,
			   uint64_t period)
{
	int32_t offset = *other ? *other : jitter_offset(jitter, period);

	*other = *other ? 0 : -offset;
	return offset;
}

static bool is_varied(const struct sampler *sampler, size_t event)
{
	return sampler->options.cpu_clocks &&
	       sampler_ticks_by_cpu(sampler, event) &&
	       clocks_has_frequency(&sampler->options, event);
}

static size_t cpu_index(const struct sampler *sampler, int number)
{
	size_t index = 0;

	while (index < sampler->cpus.count &&
	       sampler->cpus.data[index].cpu != number)
		index++;
	return index;
}

/* If it cannot be, the CPU is offline. One without samples is not disturbed. */
static void vary(struct jitter *jitter, struct cpu_time *cpu_time,
		 const struct sampler_fd *entry, int32_t *other,
		 uint64_t period)
{
	size_t cpu = cpu_index(cpu_time->sampler, entry->cpu);

	if (!cpu_time_has_ticked(cpu_time, entry->event, cpu))
		return;
	period = jitter_period(period, next_offset(jitter, other, period));
	if (period < CLOCKS_PERIOD_MIN)
		period = CLOCKS_PERIOD_MIN;
	if (!ioctl(entry->fd, PERF_EVENT_IOC_PERIOD, &period))
		cpu_time_set_period(cpu_time, entry->event, cpu, period);
}

void jitter_deinit(struct jitter *jitter)
{
	vec_deinit(&jitter->others);
}

void jitter_turn(struct jitter *jitter, struct cpu_time *cpu_time)
{
	const struct sampler *sampler = cpu_time->sampler;
	int64_t now = clock_ms(), wait = INTERVAL_MS;

	if (now < jitter->next)
		return;
	for (size_t i = 0; i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];
		int32_t *other = vec_slot(&jitter->others, i);
		uint64_t period;

		if (!other || !is_varied(sampler, entry->event))
			continue;
		period = clocks_period(&sampler->options, entry->event);
		if (interval(period) > wait)
			wait = interval(period);
		vary(jitter, cpu_time, entry, other, period);
	}
	jitter->next = now + wait;
}

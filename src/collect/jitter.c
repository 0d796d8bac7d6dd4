// SPDX-License-Identifier: GPL-2.0-only
#include "collect/jitter.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "base/clock.h"
#include "collect/clocks.h"

enum {
	/*
	 * A new period begins anew, and what the old one had is lost: a half of
	 * a tick of as many.
	 */
	TICKS = 64,
	INTERVAL_MS = 100,
	/* Of the rate, to either side. */
	PART = 4,
	/* The rate that was asked for, over PART. */
	ONE = 1 << 16,
	NS_PER_MS = 1000000,
};

/* xorshift64; nothing secret. */
static uint64_t next_random(struct jitter *jitter)
{
	uint64_t x = jitter->state;

	if (!x && getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = 0;
	x = x ? x : 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return jitter->state = x;
}

uint64_t jitter_period(struct jitter *jitter, uint64_t period)
{
	uint64_t rate = (PART - 1) * ONE + next_random(jitter) % (2 * ONE + 1);

	return period * PART * ONE / rate;
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

/* If it cannot be, the CPU is offline. */
static void vary(struct jitter *jitter, struct cpu_time *cpu_time,
		 const struct sampler_fd *entry, uint64_t period)
{
	size_t cpu = cpu_index(cpu_time->sampler, entry->cpu);

	period = jitter_period(jitter, period);
	if (period < CLOCKS_PERIOD_MIN)
		period = CLOCKS_PERIOD_MIN;
	if (!ioctl(entry->fd, PERF_EVENT_IOC_PERIOD, &period))
		cpu_time_set_period(cpu_time, entry->event, cpu, period);
}

void jitter_turn(struct jitter *jitter, struct cpu_time *cpu_time)
{
	const struct sampler *sampler = cpu_time->sampler;
	int64_t now = clock_ms(), wait = INTERVAL_MS;

	if (now < jitter->next)
		return;
	for (size_t i = 0; i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];
		uint64_t period;

		if (!is_varied(sampler, entry->event))
			continue;
		period = clocks_period(&sampler->options, entry->event);
		if ((int64_t)(period * TICKS / NS_PER_MS) > wait)
			wait = (int64_t)(period * TICKS / NS_PER_MS);
		vary(jitter, cpu_time, entry, period);
	}
	jitter->next = now + wait;
}

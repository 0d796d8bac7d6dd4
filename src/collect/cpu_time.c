// SPDX-License-Identifier: GPL-2.0-only
#include "collect/cpu_time.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/clocks.h"
#include "perfdata/record.h"
#include "sys/perf_event.h"

enum {
	/* What is missing is spread over as many samples at least. */
	SPREAD = 32,
	/*
	 * A virtual machine may stand still for that long: no tick comes, and all
	 * of the time counts for whom it hits.
	 */
	BY_CHANCE = 128,
	/* A sample stands for no less than a part of a period, and no more than so many. */
	PERIOD_PART = 2,
	PERIODS = 4,
};

/* --- opening --- */

static bool is_whole(const struct perf_event_attr *attr)
{
	return !attr->exclude_user && !attr->exclude_kernel;
}

/* Its samples stand for all of the CPU time, or should. */
static bool is_judged(const struct cpu_time *cpu_time, size_t event)
{
	const struct sampler *sampler = cpu_time->sampler;
	const struct sampler_options *options = &sampler->options;

	return clocks_is_clock(options, event) &&
	       is_whole(&options->events[event].attr) &&
	       sampler->clocks_by_cpu == sampler_is_by_cpu(sampler, event);
}

static struct error *open_counter(struct cpu_time *cpu_time, pid_t tid, int cpu)
{
	const struct sampler_options *options = &cpu_time->sampler->options;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.inherit = options->inherit,
		.enable_on_exec = options->enable_on_exec,
		/* It counts all the same, and is permitted to all. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_event_open(&attr, tid, cpu, -1, 0);

	/* Nothing is known then, or the thread has ended. */
	if (fd < 0)
		return NULL;
	if (!vec_push(&cpu_time->counters, fd)) {
		close(fd);
		return error_no_memory();
	}
	return NULL;
}

static struct error *open_counters(struct cpu_time *cpu_time)
{
	const struct sampler_options *options = &cpu_time->sampler->options;
	struct error *error = NULL;

	for (size_t t = 0; t < options->threads.count; t++) {
		for (size_t i = 0; !error && i < options->cpus.count; i++)
			error = open_counter(cpu_time, options->threads.data[t],
					     options->cpus.data[i]);
		if (!error && !options->cpus.count)
			error = open_counter(cpu_time, options->threads.data[t],
					     -1);
	}
	return error;
}

static struct error *add_account(struct cpu_time *cpu_time, size_t event)
{
	const struct sampler *sampler = cpu_time->sampler;
	struct clock_account account = {};

	if (clocks_is_clock(&sampler->options, event)) {
		account.period = clocks_period(&sampler->options, event);
		account.by_cpu = sampler_ticks_by_cpu(sampler, event);
		/* Who asked for a count gets it. */
		account.balanced = sampler_is_by_cpu(sampler, event) &&
				   is_judged(cpu_time, event) &&
				   clocks_has_frequency(&sampler->options, event);
	}
	for (size_t i = 0; account.by_cpu && i < sampler->cpus.count; i++)
		if (!vec_push(&account.cpus,
			      (struct clock_of_cpu){ .has_ticked = true }))
			return error_no_memory();
	return vec_push(&cpu_time->events, account) ? NULL : error_no_memory();
}

struct error *cpu_time_open(struct cpu_time *cpu_time)
{
	const struct sampler *sampler = cpu_time->sampler;
	size_t count = sampler->options.event_count;

	struct error *error = NULL;

	for (size_t i = 0; !error && i < count; i++)
		error = add_account(cpu_time, i);
	if (error)
		return error;
	while (cpu_time->judged < count &&
	       !is_judged(cpu_time, cpu_time->judged))
		cpu_time->judged++;
	if (cpu_time->judged == count || sampler->clocks_by_cpu)
		return NULL;
	return open_counters(cpu_time);
}

void cpu_time_close(struct cpu_time *cpu_time)
{
	vec_for_each(event, &cpu_time->events) {
		vec_deinit(&event->cpus);
		vec_deinit(&event->samples);
	}
	vec_deinit(&cpu_time->events);
	vec_for_each(fd, &cpu_time->counters)
		close(*fd);
	vec_deinit(&cpu_time->counters);
}

/* --- what the kernel counts --- */

static struct followed_time followed(const struct cpu_time *cpu_time)
{
	struct source_state *source = cpu_time->source;

	if (!cpu_time->sampler->clocks_by_cpu)
		return (struct followed_time){};
	return source->source->ring->cpu_time(source);
}

static uint64_t counted(const struct cpu_time *cpu_time)
{
	uint64_t sum = 0, value;

	for (size_t i = 0; i < cpu_time->counters.count; i++)
		if (read(cpu_time->counters.data[i], &value, sizeof(value)) ==
		    sizeof(value))
			sum += value;
	return sum;
}

/* Since sampling began. */
static uint64_t ran(const struct cpu_time *cpu_time)
{
	uint64_t now = cpu_time->is_over ? cpu_time->ended :
					   followed(cpu_time).ran;

	if (!cpu_time->sampler->clocks_by_cpu)
		return counted(cpu_time);
	return now > cpu_time->begun ? now - cpu_time->begun : 0;
}

static void control(const struct cpu_time *cpu_time, unsigned long request)
{
	for (size_t i = 0; i < cpu_time->counters.count; i++)
		ioctl(cpu_time->counters.data[i], request, 0);
}

void cpu_time_begin(struct cpu_time *cpu_time)
{
	const struct source_ring *ring = cpu_time->source->source->ring;

	if (ring && ring->begin)
		ring->begin(cpu_time->source);
	cpu_time->begun = followed(cpu_time).ran;
	if (!cpu_time->sampler->options.enable_on_exec)
		control(cpu_time, PERF_EVENT_IOC_ENABLE);
}

void cpu_time_end(struct cpu_time *cpu_time)
{
	cpu_time->ended = followed(cpu_time).ran;
	cpu_time->is_over = true;
	control(cpu_time, PERF_EVENT_IOC_DISABLE);
}

/* --- samples --- */

void cpu_time_set_period(struct cpu_time *cpu_time, size_t event, size_t cpu,
			 uint64_t period)
{
	struct clock_account *account = &cpu_time->events.data[event];

	if (cpu < account->cpus.count)
		account->cpus.data[cpu].period = period;
}

bool cpu_time_has_ticked(struct cpu_time *cpu_time, size_t event, size_t cpu)
{
	struct clock_account *account = &cpu_time->events.data[event];
	bool has_ticked = false;

	if (cpu < account->cpus.count) {
		has_ticked = account->cpus.data[cpu].has_ticked;
		account->cpus.data[cpu].has_ticked = false;
	}
	return has_ticked;
}

struct error *cpu_time_sampled(struct cpu_time *cpu_time, size_t event,
			       size_t cpu, size_t offset)
{
	struct clock_account *account = &cpu_time->events.data[event];
	struct clock_sample sample = { offset, account->period };
	struct clock_of_cpu *clock;

	if (!account->by_cpu) {
		account->given += account->period;
		return NULL;
	}
	clock = &account->cpus.data[cpu];
	clock->has_ticked = true;
	if (clock->period)
		sample.period = clock->period;
	account->round_ticked += sample.period;
	return vec_push(&account->samples, sample) ? NULL : error_no_memory();
}

uint64_t cpu_time_share(double scale, double missing, size_t samples,
			uint64_t period)
{
	double spread = samples > SPREAD ? (double)samples : SPREAD;
	double share = (double)period * scale + missing / spread;

	if (share < (double)period / PERIOD_PART)
		return period / PERIOD_PART;
	return share < (double)period * PERIODS ? (uint64_t)share :
						  period * PERIODS;
}

/* Ticks that are lost all the time make all others stand for more. */
static double scale_of(const struct clock_account *account, uint64_t time)
{
	double some = SPREAD * (double)account->period;
	double ticked = (double)(account->ticked + account->round_ticked);

	return account->balanced ? ((double)time + some) / (ticked + some) : 1;
}

static void set_periods(struct cpu_time *cpu_time, size_t event)
{
	struct clock_account *account = &cpu_time->events.data[event];
	struct strbuf *bytes = &cpu_time->output->bytes;
	size_t place = record_period_place(
		cpu_time->output->events.list.data[event]);
	uint64_t time = cpu_time->ran;
	double scale = scale_of(account, time), missing = 0;

	if (account->balanced)
		missing = (double)time - (double)account->given -
			  scale * (double)account->round_ticked;
	vec_for_each(sample, &account->samples) {
		uint64_t share = cpu_time_share(scale, missing,
						account->samples.count,
						sample->period);

		memcpy(bytes->data + sample->offset + place, &share,
		       sizeof(share));
		account->given += share;
	}
}

void cpu_time_begin_round(struct cpu_time *cpu_time)
{
	/* Nothing is set by what only the end asks for. */
	if (cpu_time->sampler->clocks_by_cpu)
		cpu_time->ran = ran(cpu_time);
}

void cpu_time_end_round(struct cpu_time *cpu_time)
{
	for (size_t i = 0; i < cpu_time->events.count; i++) {
		struct clock_account *account = &cpu_time->events.data[i];

		if (account->samples.count)
			set_periods(cpu_time, i);
		vec_clear(&account->samples);
		account->ticked += account->round_ticked;
		account->round_ticked = 0;
	}
}

struct cpu_time_result cpu_time_result(const struct cpu_time *cpu_time)
{
	const struct clock_account *judged;
	uint64_t missed = followed(cpu_time).missed, all;

	if (cpu_time->judged >= cpu_time->events.count)
		return (struct cpu_time_result){ .missed = missed };
	judged = &cpu_time->events.data[cpu_time->judged];
	all = ran(cpu_time);
	return (struct cpu_time_result){
		.ran = all,
		.without_samples = all > judged->given ? all - judged->given : 0,
		.by_chance = BY_CHANCE * judged->period,
		.missed = missed,
	};
}

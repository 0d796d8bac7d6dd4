// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks, their jitter, and the account of CPU time: what samples stand for over
 * many rounds is the time that the kernel has counted, whatever ticks are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "collect/clocks.h"
#include "collect/cpu_time.h"
#include "collect/jitter.h"
#include "perfdata/record.h"

enum { PERIOD = 1001001, CPUS = 2 };

/* --- which events are clocks --- */

static struct sampler_event event_of(uint32_t type, uint64_t config)
{
	return (struct sampler_event){
		.attr = { .type = type, .config = config }, .name = "event"
	};
}

static void test_clocks(void **state)
{
	struct sampler_event events[] = {
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
		event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
	};
	struct sampler_options options = { .events = events, .event_count = 5 };

	(void)state;
	assert_true(clocks_is_clock(&options, 0));
	assert_true(clocks_is_clock(&options, 1));
	assert_false(clocks_is_clock(&options, 2));
	assert_false(clocks_is_clock(&options, 3));
	events[2].joins_group = true;
	events[4].joins_group = true;
	assert_true(clocks_is_alone(&options, 0));
	/* It leads a group; it is in one. */
	assert_false(clocks_is_alone(&options, 1));
	assert_false(clocks_is_alone(&options, 4));
	assert_true(clocks_is_clock(&options, 4));
}

/* By its name; a modifier is none that it takes, and a bpf-output is another event. */
static void test_off_cpu(void **state)
{
	struct sampler_event events[] = {
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT),
	};
	struct sampler_options options = { .events = events, .event_count = 2 };

	(void)state;
	assert_false(clocks_has_off_cpu(&options));
	events[2].name = "off-cpu";
	assert_true(clocks_is_off_cpu(&events[2]));
	assert_false(clocks_is_off_cpu(&events[1]));
	options.event_count = 3;
	assert_true(clocks_has_off_cpu(&options));
	assert_false(clocks_is_clock(&options, 2));
}

static void test_clocks_by_cpu(void **state)
{
	struct sampler_event events[] = {
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
	};
	struct sampler_options options = { .events = events,
					   .event_count = 2,
					   .inherit = true,
					   .cpu_clocks = true };

	(void)state;
	/* All of the system. */
	assert_false(clocks_can_be_by_cpu(&options));
	assert_true(vec_push(&options.threads, (pid_t)1));
	assert_true(clocks_can_be_by_cpu(&options));
	options.inherit = false;
	assert_false(clocks_can_be_by_cpu(&options));
	options.inherit = true;
	options.cpu_clocks = false;
	assert_false(clocks_can_be_by_cpu(&options));
	options.cpu_clocks = true;
	events[1].joins_group = true;
	assert_false(clocks_can_be_by_cpu(&options));
	vec_deinit(&options.threads);
}

static void test_periods(void **state)
{
	struct sampler_event event =
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	struct sampler_options options = { .events = &event,
					   .event_count = 1,
					   .frequency = 1000 };

	(void)state;
	assert_true(clocks_has_frequency(&options, 0));
	assert_int_equal(clocks_period(&options, 0), 1000000);
	options.frequency = 0;
	options.period = 250000;
	assert_false(clocks_has_frequency(&options, 0));
	assert_int_equal(clocks_period(&options, 0), 250000);
	event.has_period = true;
	event.attr.sample_period = 500000;
	assert_int_equal(clocks_period(&options, 0), 500000);
	event.attr.freq = 1;
	event.attr.sample_freq = 100;
	assert_true(clocks_has_frequency(&options, 0));
	assert_int_equal(clocks_period(&options, 0), 10000000);
	/* What the kernel makes of less. */
	event.attr.sample_freq = 1000000;
	assert_int_equal(clocks_period(&options, 0), 10000);
	event.attr.sample_freq = 0;
	assert_int_equal(clocks_period(&options, 0), 10000);
}

/* --- jitter --- */

static void test_jitter(void **state)
{
	struct jitter jitter = {}, other = {};
	uint64_t least = UINT64_MAX, most = 0;
	double rate = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t period = jitter_period(
			PERIOD, jitter_offset(&jitter, PERIOD));

		least = period < least ? period : least;
		most = period > most ? period : most;
		rate += 1.0 / (double)period / 10000;
	}
	assert_in_range(least, PERIOD * 4 / 5, PERIOD * 82 / 100);
	assert_in_range(most, PERIOD * 130 / 100, PERIOD * 4 / 3 + 1);
	/* Ten times what chance does. */
	assert_true(rate * PERIOD > 0.985 && rate * PERIOD < 1.015);
	assert_int_equal(jitter_period(PERIOD, 0), PERIOD);
	assert_int_equal(jitter_period(UINT64_C(1) << 32, JITTER_ONE / 4),
			 (UINT64_C(1) << 32) * 4 / 5);
	/* Each recording has others: that 20 are the same is less than 1 in 10^80. */
	for (int i = 0; i < 20; i++)
		if (jitter_offset(&jitter, PERIOD) !=
		    jitter_offset(&other, PERIOD))
			return;
	fail();
}

/* The faster, the narrower: so many ticks more or less in a tenth of a second. */
static void test_jitter_of_rates(void **state)
{
	static const struct {
		uint64_t period;
		/* Of JITTER_ONE. */
		int32_t most;
	} cases[] = { { 10101010, JITTER_ONE / 4 },
		      { PERIOD, JITTER_ONE / 4 },
		      { 667111, JITTER_ONE / 5 },
		      { 250000, JITTER_ONE / 16 },
		      { CLOCKS_PERIOD_MIN, JITTER_ONE / 400 } };
	struct jitter jitter = {};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int32_t most = 0;

		for (int j = 0; j < 1000; j++) {
			int32_t offset =
				abs(jitter_offset(&jitter, cases[i].period));

			most = offset > most ? offset : most;
			assert_in_range(offset, 0, cases[i].most);
		}
		/* Of 1,000 at random none is beyond: less than 1 in 10^40. */
		assert_true(most > cases[i].most / 4 * 3);
	}
}

/* --- the account --- */

static void test_share(void **state)
{
	(void)state;
	assert_int_equal(cpu_time_share(1, 0, 1, PERIOD), PERIOD);
	assert_int_equal(cpu_time_share(2, 0, 1, PERIOD), 2 * PERIOD);
	/* Slowly, if there are few samples; at once, if there are many. */
	assert_in_range(cpu_time_share(1, PERIOD, 1, PERIOD), PERIOD + 1,
			PERIOD * 11 / 10);
	assert_int_equal(cpu_time_share(1, 1000 * 500, 1000, PERIOD),
			 PERIOD + 500);
	assert_int_equal(cpu_time_share(1, -1000 * 500, 1000, PERIOD),
			 PERIOD - 500);
	/* Whatever is said to be missing. */
	assert_int_equal(cpu_time_share(1, -1e300, 1, PERIOD), PERIOD / 2);
	assert_int_equal(cpu_time_share(1, 1e300, 1, PERIOD), 4 * PERIOD);
	assert_int_equal(cpu_time_share(1e300, 0, 1, PERIOD), 4 * PERIOD);
}

/* A recorder's parts around the account, with a kernel that counts `ran`. */
static uint64_t kernel_ran;
enum { HANDLING = 300000000 };

static struct followed_time kernel_time(struct source_state *source)
{
	(void)source;
	return (struct followed_time){ .ran = kernel_ran };
}

struct recording {
	struct sampler_event event;
	struct sampler sampler;
	struct python_source python;
	struct source_ring ring;
	struct source_state source;
	struct output output;
	struct cpu_time time;
	/* What stands in the samples that were written. */
	uint64_t written;
	uint64_t least;
	uint64_t most;
};

/* frequency 0: a count. */
static void build(struct recording *m, bool by_cpu, uint64_t frequency)
{
	static const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	};

	kernel_ran = 12345;
	*m = (struct recording){ .least = UINT64_MAX };
	m->event = event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	m->sampler.options = (struct sampler_options){ .events = &m->event,
						       .event_count = 1,
						       .frequency = frequency,
						       .period = PERIOD };
	m->sampler.clocks_by_cpu = by_cpu;
	/* A thread that there cannot be: nothing is opened for it. */
	assert_true(vec_push(&m->sampler.options.threads, (pid_t)INT32_MAX));
	for (int i = 0; i < CPUS; i++)
		assert_true(vec_push(&m->sampler.cpus,
				     (struct sampler_cpu){ .cpu = i }));
	m->ring.cpu_time = kernel_time;
	m->python.ring = &m->ring;
	m->source.source = &m->python;
	m->output.bytes = (struct strbuf)STRBUF_INIT;
	assert_ok(events_add(&m->output.events, &attr, "cpu-clock", NULL));
	assert_ok(events_add_id(&m->output.events,
				m->output.events.list.data[0], 1));
	m->time = (struct cpu_time){ .sampler = &m->sampler,
				     .source = &m->source,
				     .output = &m->output };
	assert_ok(cpu_time_open(&m->time));
	cpu_time_begin(&m->time);
}

static void demolish(struct recording *m)
{
	cpu_time_close(&m->time);
	vec_deinit(&m->sampler.options.threads);
	vec_deinit(&m->sampler.cpus);
	strbuf_deinit(&m->output.bytes);
	events_deinit(&m->output.events);
}

static void sample(struct recording *m, size_t cpu)
{
	const struct record record = {
		.type = PERF_RECORD_SAMPLE,
		.event = m->output.events.list.data[0],
		.id = 1,
		.time = 77,
		.pid = 5,
		.tid = 6,
		.sample = { .ip = 8, .period = PERIOD },
	};
	size_t offset = m->output.bytes.len;

	assert_ok(record_encode(&m->output.events, &record, &m->output.bytes));
	assert_ok(cpu_time_sampled(&m->time, 0, cpu, offset));
}

/* Ends the round, and reads its samples. */
static void end_round(struct recording *m)
{
	const char *at = m->output.bytes.data;
	const char *end = at + m->output.bytes.len;

	cpu_time_begin_round(&m->time);
	/* The program runs on while its samples are handled. */
	kernel_ran += HANDLING;
	cpu_time_end_round(&m->time);
	kernel_ran -= HANDLING;
	while (at < end) {
		const struct perf_event_header *header = (const void *)at;
		struct record record;
		uint64_t period;

		assert_ok(record_decode(&m->output.events, header, header->size,
					&record));
		assert_int_equal(record.pid, 5);
		assert_int_equal(record.sample.ip, 8);
		assert_int_equal(record.time, 77);
		period = record.sample.period;
		m->written += period;
		m->least = period < m->least ? period : m->least;
		m->most = period > m->most ? period : m->most;
		at += header->size;
	}
	strbuf_clear(&m->output.bytes);
}

/* Of all ticks some percent are samples; the rest are lost, or hit others. */
static void run(struct recording *m, int rounds, int ticks, int percent)
{
	srandom(7);
	for (int i = 0; i < rounds; i++) {
		for (int t = 0; t < ticks; t++) {
			kernel_ran += PERIOD;
			if (random() % 100 < percent)
				sample(m, (size_t)t % CPUS);
		}
		end_round(m);
	}
}

/* Threads that no tick met, and ticks that came late. */
static void test_periods_follow_the_time(void **state)
{
	static const struct {
		int rounds, ticks, percent;
	} cases[] = { { 300, 10, 100 }, { 300, 10, 90 }, { 300, 10, 40 },
		      { 3000, 1, 60 },	{ 3, 1000, 70 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ticks = cases[i].rounds * cases[i].ticks;
		struct cpu_time_result result;
		struct recording m;

		build(&m, true, 999);
		run(&m, cases[i].rounds, cases[i].ticks, cases[i].percent);
		cpu_time_end(&m.time);
		kernel_ran += 1000 * PERIOD;
		result = cpu_time_result(&m.time);
		assert_int_equal(result.ran, (uint64_t)ticks * PERIOD);
		/* As near as one percent. */
		assert_in_range(m.written, result.ran - result.ran / 100,
				result.ran + result.ran / 100);
		assert_in_range(result.without_samples, 0, result.ran / 100);
		assert_in_range(m.least, PERIOD / 2, m.most);
		assert_in_range(m.most, PERIOD, 4 * PERIOD);
		demolish(&m);
	}
}

/* What cannot be made good is said. */
static void test_time_without_samples(void **state)
{
	struct cpu_time_result result;
	struct recording m;

	(void)state;
	build(&m, true, 999);
	run(&m, 300, 10, 10);
	result = cpu_time_result(&m.time);
	assert_int_equal(m.most, 4 * PERIOD);
	assert_int_equal(result.without_samples, result.ran - m.written);
	assert_in_range(result.without_samples, result.ran / 2, result.ran);
	demolish(&m);
}

/* Each sample stands for what its clock did, which jitter makes differ. */
static void test_clocks_of_cpus_differ(void **state)
{
	struct recording m;

	(void)state;
	build(&m, true, 999);
	cpu_time_set_period(&m.time, 0, 0, PERIOD * 3 / 4);
	cpu_time_set_period(&m.time, 0, 1, PERIOD * 5 / 4);
	kernel_ran += 2 * PERIOD;
	sample(&m, 0);
	sample(&m, 1);
	end_round(&m);
	assert_in_range(m.least, PERIOD * 3 / 4, PERIOD * 3 / 4 + 1);
	assert_in_range(m.most, PERIOD * 5 / 4, PERIOD * 5 / 4 + 1);
	demolish(&m);
}

/* Who asks for a count gets it, and is told of what has no samples. */
static void test_count(void **state)
{
	struct recording m;

	(void)state;
	build(&m, true, 0);
	run(&m, 100, 10, 50);
	assert_int_equal(m.least, PERIOD);
	assert_int_equal(m.most, PERIOD);
	assert_int_equal(cpu_time_result(&m.time).without_samples,
			 1000 * PERIOD - m.written);
	demolish(&m);
}

/* Clocks of threads: nobody's time is given to another one. */
static void test_clocks_of_threads(void **state)
{
	struct recording m;

	(void)state;
	build(&m, false, 999);
	run(&m, 100, 10, 50);
	assert_int_equal(m.least, PERIOD);
	assert_int_equal(m.most, PERIOD);
	/* Of a thread that nobody counts nothing is known. */
	assert_int_equal(cpu_time_result(&m.time).ran, 0);
	assert_int_equal(cpu_time_result(&m.time).without_samples, 0);
	demolish(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_off_cpu),
		cmocka_unit_test(test_clocks_by_cpu),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_jitter_of_rates),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_periods_follow_the_time),
		cmocka_unit_test(test_time_without_samples),
		cmocka_unit_test(test_clocks_of_cpus_differ),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_clocks_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

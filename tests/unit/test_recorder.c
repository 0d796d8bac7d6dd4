// SPDX-License-Identifier: GPL-2.0-only
/* Parts of the recorder, without a kernel: its rings, and what a source has to do with a sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/python_source.h"
#include "collect/rings.h"
#include "collect/sample_stack.h"
#include "perfdata/kaa_stream.h"
#include "stack_of_one.h"

/* --- rings --- */

enum { CPUS = 2, RING = 4096, ID = 5 };

struct machine_rings {
	struct sampler sampler;
	struct rings rings;
};

static void open_ring(struct ring *ring)
{
	int fd = memfd_create("ring", 0);

	assert_int_not_equal(fd, -1);
	assert_int_equal(ftruncate(fd, sysconf(_SC_PAGESIZE) + RING), 0);
	assert_null(ring_map(ring, fd, RING, RING));
	close(fd);
}

static int setup(void **state)
{
	static struct machine_rings m;
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.sample_id_all = 1,
					.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
						       PERF_SAMPLE_TIME };
	struct event *event;

	m = (struct machine_rings){ .rings = RINGS_INIT };
	assert_null(events_add(&m.sampler.kernel_events, &attr, "tasks", &event));
	assert_null(events_add_id(&m.sampler.kernel_events, event, ID));
	for (int i = 0; i < CPUS; i++) {
		assert_true(vec_push(&m.sampler.cpus, (struct sampler_cpu){ .cpu = i }));
		open_ring(&vec_last(&m.sampler.cpus)->tasks);
		open_ring(&vec_last(&m.sampler.cpus)->samples);
	}
	assert_null(rings_init(&m.rings, &m.sampler));
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct machine_rings *m = *state;

	rings_deinit(&m->rings);
	sampler_close(&m->sampler);
	return 0;
}

/* As the kernel does it: the record, around the end of the buffer if need be, then the head. */
static void write_record(struct machine_rings *m, struct ring *ring, uint64_t time)
{
	struct record record = { .type = PERF_RECORD_COMM, .pid = 7, .tid = 7, .time = time,
				 .id = ID,
				 .comm = { .pid = 7, .tid = 7, .comm = "x", .comm_len = 1 } };
	struct strbuf bytes = STRBUF_INIT;
	uint8_t *data = (uint8_t *)ring->page + (ring->data - (const uint8_t *)ring->page);

	assert_null(record_encode(&m->sampler.kernel_events, &record, &bytes));
	for (size_t i = 0; i < bytes.len; i++)
		data[(ring->page->data_head + i) % RING] = (uint8_t)bytes.data[i];
	ring->page->data_head += bytes.len;
	strbuf_deinit(&bytes);
}

static uint64_t task_time(const struct machine_rings *m, size_t i)
{
	const struct task_record *task = &m->rings.tasks.data[i];
	struct record record;

	assert_null(record_decode(&m->sampler.kernel_events,
				  (const void *)(m->rings.task_bytes.data + task->offset),
				  task->size, &record));
	assert_int_equal(record.time, task->time);
	return record.time;
}

/* Of all CPUs, and also where a ring wraps around. */
static void test_tasks_in_order_of_time(void **state)
{
	struct machine_rings *m = *state;

	for (uint64_t round = 1; round < 500; round++) {
		write_record(m, &m->sampler.cpus.data[0].tasks, 10 * round + 2);
		write_record(m, &m->sampler.cpus.data[0].tasks, 10 * round + 4);
		write_record(m, &m->sampler.cpus.data[1].tasks, 10 * round + 1);
		write_record(m, &m->sampler.cpus.data[1].tasks, 10 * round + 3);
		assert_null(rings_take_tasks(&m->rings));
		assert_int_equal(m->rings.tasks.count, 4);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(task_time(m, i), 10 * round + 1 + i);
		assert_null(rings_take_tasks(&m->rings));
		assert_int_equal(m->rings.tasks.count, 0);
	}
}

struct seen {
	const struct events *events;
	size_t count;
	uint64_t times[CPUS][16];
	size_t counts[CPUS];
};

static struct error *see(void *arg, size_t cpu, const struct perf_event_header *header)
{
	struct seen *seen = arg;

	seen->times[cpu][seen->counts[cpu]++] =
		events_record_time(seen->events, header, header->size);
	seen->count++;
	return NULL;
}

/* What comes after the snapshot is looked at, but left to the next round. */
static void test_samples_up_to_the_snapshot(void **state)
{
	struct machine_rings *m = *state;
	struct seen ahead = { .events = &m->sampler.kernel_events }, now = ahead;
	struct ring *ring = &m->sampler.cpus.data[1].samples;

	write_record(m, ring, 1);
	write_record(m, ring, 2);
	rings_snapshot(&m->rings);
	write_record(m, ring, 3);
	assert_null(rings_look_ahead(&m->rings, see, &ahead));
	assert_int_equal(ahead.counts[1], 3);
	assert_null(rings_handle(&m->rings, see, &now));
	assert_int_equal(now.counts[0], 0);
	assert_int_equal(now.counts[1], 2);
	assert_int_equal(ring->page->data_tail, ring->tail);
	write_record(m, ring, 4);
	rings_snapshot(&m->rings);
	assert_null(rings_look_ahead(&m->rings, see, &ahead));
	assert_null(rings_handle(&m->rings, see, &now));
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(ahead.times[1][i], i + 1);
		assert_int_equal(now.times[1][i], i + 1);
	}
	assert_int_equal(ahead.count, 4);
	assert_int_equal(now.count, 4);
	assert_int_equal(ring->page->data_tail, ring->page->data_head);
}

static void expect_damage(struct error *error)
{
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_FORMAT);
	error_destroy(error);
}

/* A record of no size. */
static void test_damaged_ring(void **state)
{
	struct machine_rings *m = *state;
	struct seen seen = { .events = &m->sampler.kernel_events };

	m->sampler.cpus.data[0].samples.page->data_head = 8;
	m->sampler.cpus.data[0].tasks.page->data_head = 8;
	rings_snapshot(&m->rings);
	assert_null(rings_look_ahead(&m->rings, see, &seen));
	expect_damage(rings_handle(&m->rings, see, &seen));
	expect_damage(rings_take_tasks(&m->rings));
	assert_int_equal(seen.count, 0);
}

/* --- sources --- */

static void test_probes(void **state)
{
	struct machine machine = { .arch = "x86_64", .kernel_major = 6, .btf = true };
	struct strbuf why = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; python_sources[i]; i++) {
		assert_true(python_sources[i]->probe(&machine, &why));
		assert_int_equal(why.len, 0);
		assert_ptr_equal(python_source_named(python_sources[i]->name), python_sources[i]);
	}
	assert_null(python_source_named("auto"));
	machine.btf = false;
	machine.try_bpf = ENOSYS;
	assert_false(python_source_bpf.probe(&machine, &why));
	assert_string_equal(why.data, "this kernel or container forbids BPF; "
				      "the kernel was built without CONFIG_DEBUG_INFO_BTF");
	strbuf_clear(&why);
	machine.try_user_event = EACCES;
	assert_false(python_source_trampoline.probe(&machine, &why));
	assert_true(python_source_none.probe(&machine, &why));
	assert_int_equal(why.len, 0);
	strbuf_deinit(&why);
}

/* A source that is of no use with what samples hold is not even opened. */
static void test_source_without_chains(void **state)
{
	static const struct {
		const struct python_source *wanted, *used;
	} cases[] = {
		{ NULL, &python_source_none },
		{ &python_source_bpf, &python_source_none },
		{ &python_source_trampoline, &python_source_trampoline },
		{ &python_source_none, &python_source_none },
	};
	struct source_setup source_setup = {};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct source_refusal refusal = {};
		struct source_state *source = NULL;

		assert_null(python_source_open(cases[i].wanted, CALLCHAIN_DWARF, &source_setup,
					       &source, &refusal));
		assert_ptr_equal(source->source, cases[i].used);
		assert_null(refusal.why);
		python_source_broken(source, 0);
		python_source_close(source);
	}
	python_source_close(NULL);
}

struct dummy {
	struct source_state state;
	struct code_table *codes;
	uint64_t asked[4];
	size_t count;
};

static struct error *dummy_code_at(struct source_state *state, struct target *target,
				   uint64_t address, struct code **ret)
{
	struct dummy *dummy = (struct dummy *)state;
	struct bytes file = { (const uint8_t *)"a.py", 4 }, name = { (const uint8_t *)"f", 1 };
	uint64_t index;

	(void)target;
	dummy->asked[dummy->count++] = address;
	*ret = NULL;
	if (address != 0x2000 - 1)
		return NULL;
	assert_null(code_table_named(dummy->codes, 7, file, name, &index));
	*ret = dummy->codes->codes.data[index];
	return NULL;
}

/* Native frames may stand for Python ones: the leaf by its address, callers by their call. */
static void test_source_of_native_frames(void **state)
{
	static const struct python_source row = { .name = "dummy", .code_at = dummy_code_at };
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000,
				   (uint64_t)PERF_CONTEXT_USER, 0x1000, 0x2000, 0x3000 };
	struct record sample = { .pid = 7, .tid = 7, .time = 1,
				 .sample = { .callchain = chain, .callchain_count = 6 } };
	struct stack_of_one one;
	struct stack_builder *builder = &one.builder;
	struct dummy dummy = { .state.source = &row, .codes = &one.codes };

	(void)state;
	stack_of_one_init(&one);
	builder->source = &dummy.state;
	assert_null(stack_build(builder, one.target, &sample, NULL, NULL, 100));
	assert_int_equal(dummy.count, 3);
	assert_int_equal(dummy.asked[0], 0x1000);
	assert_int_equal(dummy.asked[2], 0x3000 - 1);
	assert_int_equal(builder->chain.count, 6);
	assert_int_equal(builder->chain.data[3], 0x1000);
	assert_int_equal(builder->chain.data[4], kaa_slot_address(KAA_FIRST_SPAN, 0));
	assert_int_equal(builder->chain.data[5], 0x3000);
	assert_int_equal(builder->converted, 1);
	assert_int_equal(builder->stats.with_python, 1);
	stack_of_one_deinit(&one);
}

/* Of a PID namespace around the recorder's own; the idle task is only in the kernel. */
static void test_processes_outside_are_counted(void **state)
{
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000,
				   (uint64_t)PERF_CONTEXT_USER, 0x1000 };
	struct record sample = { .time = 1, .sample = { .callchain = chain } };
	struct stack_of_one one;
	struct stack_builder *builder = &one.builder;

	(void)state;
	stack_of_one_init(&one);
	sample.sample.callchain_count = 2;
	assert_ok(stack_build(builder, one.target, &sample, NULL, NULL, 100));
	assert_int_equal(builder->stats.outside, 0);
	sample.sample.callchain_count = 4;
	assert_ok(stack_build(builder, one.target, &sample, NULL, NULL, 100));
	assert_int_equal(builder->stats.outside, 1);
	sample.pid = sample.tid = 7;
	assert_ok(stack_build(builder, one.target, &sample, NULL, NULL, 100));
	assert_int_equal(builder->stats.outside, 1);
	stack_of_one_deinit(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks_in_order_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_up_to_the_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_ring, setup, teardown),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_source_without_chains),
		cmocka_unit_test(test_source_of_native_frames),
		cmocka_unit_test(test_processes_outside_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

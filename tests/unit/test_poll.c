// SPDX-License-Identifier: GPL-2.0-only
/* Polling without a process: what /proc says, the proof, the tasks, and the rings of kaa's own. */
#include <sched.h>

#include "fake_tree.h"

#include "assert_ok.h"
#include "collect/poll_hold.h"
#include "collect/poll_tasks.h"
#include "collect/poll_writer.h"
#include "collect/ring.h"
#include "sys/task_stat.h"

/* Start time 900, start of the stack and CPU as given. */
#define STAT(name, state, stack, cpu)                                     \
	"7 (" name ") " state                                              \
	" 1 7 7 -1 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 900 8192 100 "      \
	"18446744073709551615 1 2 " stack                                  \
	" 0 0 0 0 0 0 0 0 0 17 " cpu " 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

#define SCHED_AFTER(name, ms, switches)                                    \
	name " (7, #threads: 1)\n"                                         \
	"-------------------------------------------------------------------\n" \
	"se.exec_start                                :      " ms "\n"     \
	"se.vruntime                                  :          93.279745\n" \
	"nr_switches                                  :           " switches \
	"\n"

#define SCHED(name, ms) SCHED_AFTER(name, ms, "5")

static void test_stat(void **state)
{
	struct task_stat stat;

	(void)state;
	assert_true(task_stat_parse(STAT("python3", "R", "140000", "5"), &stat));
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.cpu, 5);
	assert_int_equal(stat.start_time, 900);
	assert_int_equal(stat.start_stack, 140000);
	/* A name that looks like the rest of the line. */
	assert_true(task_stat_parse(STAT("a) S 1 2 3 (b", "Z", "1", "2"), &stat));
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(stat.cpu, 2);
}

static void test_stat_that_is_none(void **state)
{
	static const char whole[] = STAT("python3", "R", "140000", "5");
	char cut[sizeof(whole)];
	struct task_stat stat;

	(void)state;
	assert_false(task_stat_parse("", &stat));
	assert_false(task_stat_parse(STAT("a", "R", "x", "5"), &stat));
	assert_false(task_stat_parse(STAT("a", "R", "1", "999999"), &stat));
	assert_false(task_stat_parse(
		STAT("a", "R", "99999999999999999999999", "1"), &stat));
	/* Up to the CPU nothing may be missing. */
	for (size_t size = 0; size < strlen(whole) - 30; size++) {
		memcpy(cut, whole, size);
		cut[size] = '\0';
		assert_false(task_stat_parse(cut, &stat));
	}
}

static void test_run(void **state)
{
	struct task_run run;

	(void)state;
	assert_true(task_run_parse("123456 789 42\n", &run));
	assert_int_equal(run.ran, 123456);
	assert_int_equal(run.kept_off, 789);
	assert_int_equal(run.slices, 42);
	assert_false(task_run_parse("123456 789\n", &run));
	assert_false(task_run_parse("1 2 x\n", &run));
	assert_false(task_run_parse("", &run));
}

static void test_sched(void **state)
{
	struct task_sched sched = { 7, 7 };

	(void)state;
	assert_true(task_sched_parse(SCHED("python3", "14256768.247047"), &sched));
	assert_true(sched.looked == 14256768247047);
	assert_int_equal(sched.switches, 5);
	/* A name that looks like what is behind it. */
	assert_true(task_sched_parse(
		SCHED("\nse.exec_start ", "5.000001"), &sched));
	assert_int_equal(sched.looked, 5000001);
	assert_false(task_sched_parse("", &sched));
	assert_false(task_sched_parse(SCHED("a", ""), &sched));
	assert_false(task_sched_parse(SCHED("a", "x"), &sched));
	assert_false(task_sched_parse(SCHED("a", "-1.000000"), &sched));
	assert_false(task_sched_parse(SCHED("a", "1"), &sched));
	assert_false(task_sched_parse(SCHED("a", "1.00000"), &sched));
	assert_false(task_sched_parse(SCHED("a", "1.0000001"), &sched));
	assert_false(task_sched_parse(
		SCHED("a", "99999999999999999999.000000"), &sched));
	assert_int_equal(sched.looked, 5000001);
}

static void test_ring(void **state)
{
	struct ring ring = {};
	struct {
		struct perf_event_header header;
		uint64_t words[123];
	} record = { .header = { .type = 9, .size = sizeof(record) } };
	const struct perf_event_header *read;
	size_t written = 0, taken = 0;

	(void)state;
	assert_ok(ring_create(&ring, 4096));
	/* Four fit; then it is full, and nothing of the next is there. */
	while (record.words[122] = written, ring_write(&ring, &record,
						       sizeof(record)))
		written++;
	assert_int_equal(written, 4);
	for (; taken < 100; taken++) {
		read = ring_record(&ring, ring.tail, ring_head(&ring));
		assert_non_null(read);
		assert_int_equal(((const uint64_t *)read)[123], taken);
		ring_advance(&ring, ring.tail + read->size);
		/* It wraps around at other places each time. */
		record.words[122] = written++;
		assert_true(ring_write(&ring, &record, sizeof(record)));
	}
	ring_unmap(&ring);
}

/* --- on a tree of the test's own --- */

#define TASK "/proc/7/task/7/"

static const struct fake_file process[] = {
	{ TASK "stat", STAT("python3", "R", "140000", "0") },
	{ TASK "schedstat", "1000 10 5\n" },
	{ TASK "sched", SCHED("python3", "20.000005") },
	{ "/proc/7/task/6/stat", STAT("kaa", "R", "1", "0") },
	{ "/proc/7/task/6/schedstat", "1 1 1\n" },
	{ "/proc/7/task/6/sched", SCHED("kaa", "20.000005") },
	{ TASK "children", "" },
	{ "/proc/7/comm", "python3\n" },
	{ "/proc/7/maps", "400000-500000 r-xp 00000000 08:01 11 /bin/one\n" },
};
#define PROCESS_FILES (sizeof(process) / sizeof(process[0]))

static void test_proof(void **state)
{
	char root[] = "/tmp/kaa-poll-XXXXXX";
	struct poll_hold hold = POLL_HOLD_INIT;
	struct task_files files;
	struct task_run run;
	char text[512];
	int cpu = sched_getcpu();
	int64_t least = 0;

	(void)state;
	fake_tree_make(root, process, PROCESS_FILES);
	assert_true(task_files_open(root, 7, 7, &files));
	snprintf(text, sizeof(text), STAT("python3", "R", "1", "%d"), cpu);
	fake_file_write(root, TASK "stat", text);
	assert_true(task_files_open(root, 7, 6, &hold.own));
	/* It goes there, however long that takes. */
	(void)poll_hold_begin(&hold, &files);
	assert_int_equal(sched_getcpu(), cpu);
	poll_hold_arrive(&hold, UINT64_MAX);
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_STILL);
	assert_true(poll_hold_end(&hold, &run));
	assert_int_equal(run.ran, 1000);
	/* The caller came too late; another thread had the CPU before it did. */
	poll_hold_arrive(&hold, 0);
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_LATE);
	poll_hold_arrive(&hold, UINT64_MAX);
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_STILL);
	fake_file_write(root, TASK "sched", SCHED("python3", "20.000004"));
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_WAITED);
	fake_file_write(root, TASK "sched", SCHED("python3", "20.000005"));
	/* It got a CPU meanwhile. */
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_STILL);
	fake_file_write(root, TASK "schedstat", "1000 10 6\n");
	assert_false(poll_hold_end(&hold, &run));
	/* Uncounted. */
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_STILL);
	fake_file_write(root, TASK "sched", SCHED("python3", "20.000006"));
	assert_false(poll_hold_end(&hold, &run));
	fake_file_write(root, TASK "sched", SCHED("python3", "20.000005"));
	/* A CPU to which kaa cannot go; a kernel that does not count; asleep. */
	fake_file_write(root, TASK "stat", STAT("p", "R", "1", "65000"));
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_RUNS);
	fake_file_write(root, TASK "stat", text);
	fake_file_write(root, TASK "schedstat", "0 0 0\n");
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_RUNS);
	assert_int_equal(poll_hold_asleep(&hold, &files, &least),
			 POLL_HOLD_RUNS);
	fake_file_write(root, TASK "stat", STAT("p", "S", "1", "0"));
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_ASLEEP);
	/* About to sleep; asleep; the same in a thread of which not all counts. */
	fake_file_write(root, TASK "schedstat", "1000 10 6\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, &least),
			 POLL_HOLD_RUNS);
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	poll_hold_arrive(&hold, UINT64_MAX);
	assert_int_equal(poll_hold_asleep(&hold, &files, &least),
			 POLL_HOLD_STILL);
	assert_true(poll_hold_end(&hold, &run));
	fake_file_write(root, TASK "schedstat", "1000 10 4\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, &least),
			 POLL_HOLD_STILL);
	assert_int_equal(least, -1);
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, &least),
			 POLL_HOLD_RUNS);
	fake_file_write(root, TASK "stat", "");
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_GONE);
	task_files_close(&files);
	poll_hold_deinit(&hold);
	assert_int_equal(fake_tree_remove(root), 0);
}

static struct error *no_enable(void *arg, bool samples)
{
	(void)arg;
	(void)samples;
	return NULL;
}

static const struct sampler_producer nobody = { .enable = no_enable };

/* The next task record; its text is only valid until the call after. */
static struct record next_task(struct sampler *sampler)
{
	struct ring *ring = &sampler->cpus.data[0].tasks;
	const struct perf_event_header *header =
		ring_record(ring, ring->tail, ring_head(ring));
	struct record record;

	assert_non_null(header);
	assert_ok(record_decode(&sampler->kernel_events, header, header->size,
				&record));
	ring_advance(ring, ring->tail + header->size);
	return record;
}

static void expect_nothing(struct sampler *sampler)
{
	const struct ring *ring = &sampler->cpus.data[0].tasks;

	assert_int_equal(ring->tail, ring_head(ring));
}

static void expect_exec(struct sampler *sampler, uint32_t pid, const char *comm,
			const char *path)
{
	struct record record = next_task(sampler);
	uint64_t time = record.time;

	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_true(record.comm.is_exec);
	assert_int_equal(record.comm.pid, pid);
	assert_string_equal(record.comm.comm, comm);
	record = next_task(sampler);
	assert_int_equal(record.type, PERF_RECORD_MMAP2);
	assert_string_equal(record.mmap.filename, path);
	assert_true(record.time > time);
}

static void test_tasks(void **state)
{
	char root[] = "/tmp/kaa-poll-XXXXXX";
	const struct sampler_options options = { .root = root, .clockid = -1 };
	struct sampler sampler;
	struct poll_writer writer = POLL_WRITER_INIT;
	struct poll_tasks tasks = { .root = root,
				    .writer = &writer,
				    .inherit = true };
	const struct walker_process python = { .runtime = 1 };
	struct record record;
	uint64_t ran, given;

	(void)state;
	fake_tree_make(root, process, PROCESS_FILES);
	assert_ok(sampler_open_own(&sampler, &options, &nobody));
	writer.sampler = &sampler;
	assert_true(poll_tasks_add(&tasks, 7, true));
	poll_tasks_look(&tasks);
	expect_nothing(&sampler);
	assert_true(tasks.processes.data[0]->waits);

	/* exec, and a Python of the program before it comes too late. */
	fake_file_write(root, TASK "stat", STAT("two", "R", "150000", "0"));
	fake_file_write(root, "/proc/7/comm", "two\n");
	poll_tasks_look(&tasks);
	expect_exec(&sampler, 7, "two", "/bin/one");
	expect_nothing(&sampler);
	assert_false(tasks.processes.data[0]->waits);
	poll_tasks_set_python(&tasks, 7, 0, &python);
	assert_false(tasks.processes.data[0]->has_python);
	poll_tasks_set_python(&tasks, 7, tasks.processes.data[0]->since,
			      &python);
	assert_true(tasks.processes.data[0]->has_python);

	/* A thread, with what it has run. */
	fake_file_write(root, "/proc/7/task/8/stat",
			STAT("w", "S", "150000", "0"));
	fake_file_write(root, "/proc/7/task/8/schedstat", "500 0 1\n");
	fake_file_write(root, "/proc/7/task/8/sched", SCHED("w", "1.000000"));
	fake_file_write(root, "/proc/8/comm", "w\n");
	poll_tasks_look(&tasks);
	record = next_task(&sampler);
	assert_int_equal(record.type, PERF_RECORD_FORK);
	assert_int_equal(record.task.pid, 7);
	assert_int_equal(record.task.tid, 8);
	record = next_task(&sampler);
	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_false(record.comm.is_exec);
	tasks.processes.data[0]->threads.data[1].ran = 500;
	poll_tasks_time(&tasks, &ran, &given);
	assert_int_equal(ran, 500);
	assert_int_equal(given, 0);

	/* A child that has called exec by now. */
	fake_file_write(root, TASK "children", "9 ");
	fake_file_write(root, "/proc/9/task/9/stat",
			STAT("kid", "R", "160000", "0"));
	fake_file_write(root, "/proc/9/task/9/schedstat", "1 0 1\n");
	fake_file_write(root, "/proc/9/task/9/sched", SCHED("kid", "1.000000"));
	fake_file_write(root, "/proc/9/comm", "kid\n");
	fake_file_write(root, "/proc/9/maps",
			"600000-700000 r-xp 00000000 08:01 12 /bin/kid\n");
	poll_tasks_look(&tasks);
	record = next_task(&sampler);
	assert_int_equal(record.type, PERF_RECORD_FORK);
	assert_int_equal(record.task.pid, 9);
	assert_int_equal(record.task.ppid, 7);
	expect_exec(&sampler, 9, "kid", "/bin/kid");
	expect_nothing(&sampler);

	/* It ends: its first thread stays until it is waited for. */
	fake_file_write(root, "/proc/9/task/9/stat",
			STAT("kid", "Z", "0", "0"));
	poll_tasks_look(&tasks);
	record = next_task(&sampler);
	assert_int_equal(record.type, PERF_RECORD_EXIT);
	assert_int_equal(record.task.pid, 9);
	assert_int_equal(tasks.processes.count, 1);
	assert_int_equal(writer.lost_tasks, 0);

	poll_tasks_deinit(&tasks);
	poll_writer_deinit(&writer);
	sampler_close(&sampler);
	assert_int_equal(fake_tree_remove(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_stat_that_is_none),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_sched),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

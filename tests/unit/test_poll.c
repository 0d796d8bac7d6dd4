// SPDX-License-Identifier: GPL-2.0-only
/* Polling without a process: what /proc says, the proof, the tasks, and the rings of kaa's own. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <sys/resource.h>

#include "fake_tree.h"

#include "assert_ok.h"
#include "base/clock.h"
#include "base/random.h"
#include "collect/poll_cpu.h"
#include "collect/poll_hold.h"
#include "collect/poll_look.h"
#include "collect/poll_reader.h"
#include "collect/poll_round.h"
#include "collect/poll_share.h"
#include "collect/poll_tasks.h"
#include "collect/poll_ticks.h"
#include "collect/poll_wall.h"
#include "collect/poll_writer.h"
#include "collect/poll_loop.h"
#include "collect/polled_loop.h"
#include "collect/ring.h"
#include "python/gil.h"
#include "sys/remote_memory.h"
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

/* --- what samples of CPU time stand for --- */

enum { TICK_US = 10000, BURSTS = 20000 };

struct bursts {
	struct poll_share share;
	uint64_t state;
	/* Of two kinds in turn: what they ran, and what their samples stand for. */
	uint64_t ran[2];
	uint64_t given[2];
};

/* A burst after a sleep, in us of the clock and of CPU time. */
static void burst(struct bursts *b, int kind, uint64_t *now, uint64_t *tick,
		  uint64_t *told)
{
	const uint64_t most[] = { 3000, 15000 };
	uint64_t begin = *now + 20000, before = b->ran[0] + b->ran[1];
	uint64_t length = most[kind] / 2 + random_next(&b->state) % most[kind];

	for (; *tick < begin + length;
	     *tick += TICK_US * 3 / 4 +
		      random_next(&b->state) % (TICK_US / 2)) {
		uint64_t ran = before + *tick - begin;

		if (*tick < begin)
			continue;
		b->given[kind] += poll_share_next(&b->share, ran - *told, TICK_US);
		*told = ran;
	}
	b->ran[kind] += length;
	*now = begin + length;
}

/* Half of the first kind has no sample; what it ran is in the next one of the second. */
static void test_shares_of_bursts(void **state)
{
	struct bursts b = { .state = 1 };
	uint64_t now = 0, tick = 0, told = 0;
	double ran, given;

	(void)state;
	for (int i = 0; i < BURSTS; i++)
		burst(&b, i % 2, &now, &tick, &told);
	ran = (double)(b.ran[0] + b.ran[1]);
	given = (double)(b.given[0] + b.given[1]);
	assert_true(fabs((double)b.given[0] / given - (double)b.ran[0] / ran) <
		    0.01);
	assert_true(fabs(given - ran) < 20 * TICK_US);
}

/* A second without samples belongs to those around it, and none is lost. */
static void test_shares_after_a_gap(void **state)
{
	struct poll_share share = {};
	uint64_t sum = 0, most = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		uint64_t given = poll_share_next(
			&share, i == 50 ? 1000000 : 1000, 1000);

		assert_true(given > 0);
		sum += given;
		if (given > most)
			most = given;
	}
	assert_true(most < 200000);
	assert_true(sum > 1199000 - 2000 && sum < 1199000 + 2000);
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
	assert_int_equal(poll_hold_asleep(&hold, &files, 0), POLL_HOLD_RUNS);
	fake_file_write(root, TASK "stat", STAT("p", "S", "1", "0"));
	assert_int_equal(poll_hold_begin(&hold, &files), POLL_HOLD_ASLEEP);
	/* About to sleep; asleep; the same in a thread of which not all counts. */
	fake_file_write(root, TASK "schedstat", "1000 10 6\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, 0), POLL_HOLD_RUNS);
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	poll_hold_arrive(&hold, UINT64_MAX);
	assert_int_equal(poll_hold_asleep(&hold, &files, 0), POLL_HOLD_STILL);
	assert_true(poll_hold_end(&hold, &run));
	assert_int_equal(hold.lead, 0);
	/* It has run while it was looked at: nothing is learnt from that. */
	fake_file_write(root, TASK "schedstat", "1000 10 4\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, 0), POLL_HOLD_STILL);
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	assert_false(poll_hold_end(&hold, &run));
	fake_file_write(root, TASK "schedstat", "1000 10 4\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, 0), POLL_HOLD_STILL);
	assert_true(poll_hold_end(&hold, &run));
	assert_int_equal(hold.lead, -1);
	fake_file_write(root, TASK "schedstat", "1000 10 5\n");
	assert_int_equal(poll_hold_asleep(&hold, &files, -1), POLL_HOLD_RUNS);
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

/* --- looks for tasks --- */

struct looks {
	char root[32];
	struct sampler_options options;
	struct sampler sampler;
	struct poll_writer writer;
	struct poll_tasks tasks;
};

static struct polled_process *first_process(struct looks *l)
{
	return l->tasks.processes.data[0];
}

static void file(struct looks *l, const char *path, const char *text)
{
	fake_file_write(l->root, path, text);
}

static void remove_folder(struct looks *l, const char *path)
{
	char full[96];

	snprintf(full, sizeof(full), "%s%s", l->root, path);
	assert_int_equal(fake_tree_remove(full), 0);
}

/* A process that waits for exec. */
static void begin_looks(struct looks *l)
{
	*l = (struct looks){ .root = "/tmp/kaa-poll-XXXXXX",
			     .options = { .clockid = -1 },
			     .writer = POLL_WRITER_INIT,
			     .tasks = { .inherit = true } };
	fake_tree_make(l->root, process, PROCESS_FILES);
	l->options.root = l->tasks.root = l->root;
	assert_ok(sampler_open_own(&l->sampler, &l->options, &nobody));
	l->writer.sampler = &l->sampler;
	l->tasks.writer = &l->writer;
	assert_true(poll_tasks_add(&l->tasks, 7, true));
}

static void end_looks(struct looks *l)
{
	assert_int_equal(l->writer.lost_tasks, 0);
	poll_tasks_deinit(&l->tasks);
	poll_writer_deinit(&l->writer);
	sampler_close(&l->sampler);
	assert_int_equal(fake_tree_remove(l->root), 0);
}

/* However long the last one took, and however long ago. */
static void look(struct looks *l)
{
	for (size_t i = 0; i < l->tasks.processes.count; i++) {
		l->tasks.processes.data[i]->look_at = 0;
		l->tasks.processes.data[i]->again_at = INT64_MAX;
	}
	poll_look_at_all(&l->tasks, true);
}

static void look_until_quiet(struct looks *l)
{
	for (int i = 0; i < 5; i++)
		look(l);
	expect_nothing(&l->sampler);
}

static void add_task(struct looks *l, const char *pid, const char *tid,
		     const char *name, const char *stat)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%s/task/%s/stat", pid, tid);
	file(l, path, stat);
	snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", pid, tid);
	file(l, path, "500 0 1\n");
	snprintf(path, sizeof(path), "/proc/%s/task/%s/sched", pid, tid);
	snprintf(text, sizeof(text), SCHED("%s", "1.000000"), name);
	file(l, path, text);
	snprintf(path, sizeof(path), "/proc/%s/comm", tid);
	snprintf(text, sizeof(text), "%s\n", name);
	file(l, path, text);
}

static void expect_thread(struct looks *l, uint32_t pid, uint32_t tid)
{
	struct record record = next_task(&l->sampler);

	assert_int_equal(record.type, PERF_RECORD_FORK);
	assert_int_equal(record.task.pid, pid);
	assert_int_equal(record.task.tid, tid);
	record = next_task(&l->sampler);
	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_false(record.comm.is_exec);
}

static void expect_child(struct looks *l, uint32_t pid, uint32_t ppid)
{
	struct record record = next_task(&l->sampler);

	assert_int_equal(record.type, PERF_RECORD_FORK);
	assert_int_equal(record.task.pid, pid);
	assert_int_equal(record.task.ppid, ppid);
}

static void test_exec(void **state)
{
	const struct walker_process python = { .runtime = 1 };
	struct looks l;

	(void)state;
	begin_looks(&l);
	look(&l);
	expect_nothing(&l.sampler);
	assert_true(first_process(&l)->waits);

	/* The memory of the program before, as where process_vm_readv() is refused. */
	first_process(&l)->memory.mem_fd = open("/dev/null", O_RDONLY);
	/* A Python of that comes too late. */
	file(&l, TASK "stat", STAT("two", "R", "150000", "0"));
	file(&l, "/proc/7/comm", "two\n");
	look(&l);
	expect_exec(&l.sampler, 7, "two", "/bin/one");
	expect_nothing(&l.sampler);
	assert_false(first_process(&l)->waits);
	assert_int_equal(first_process(&l)->memory.mem_fd, -1);
	poll_tasks_set_python(&l.tasks, 7, 0, &python);
	assert_false(first_process(&l)->has_python);
	poll_tasks_set_python(&l.tasks, 7, first_process(&l)->since, &python);
	assert_true(first_process(&l)->has_python);
	end_looks(&l);
}

/* Where there are no descriptors the process is not over. */
static void test_a_look_without_descriptors(void **state)
{
	struct rlimit before, none;
	struct looks l;

	(void)state;
	begin_looks(&l);
	look_until_quiet(&l);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	look(&l);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	expect_nothing(&l.sampler);
	look_until_quiet(&l);
	assert_int_equal(l.tasks.processes.count, 1);
	assert_false(first_process(&l)->ended);
	end_looks(&l);
}

/* Of the thread that did, whose number is the first one's then. */
static void test_time_of_a_thread_that_called_exec(void **state)
{
	const struct task_run first = { .ran = 9000, .slices = 90 };
	const struct task_run other = { .ran = 20000, .slices = 1 };
	const struct task_run caller = { .ran = 500, .slices = 2 };
	struct polled_process *p;
	uint64_t ran, given;
	struct looks l;

	(void)state;
	begin_looks(&l);
	add_task(&l, "7", "8", "more", STAT("more", "S", "140000", "0"));
	look(&l);
	expect_thread(&l, 7, 8);
	p = first_process(&l);
	assert_int_equal(p->threads.count, 3);
	poll_reader_note_run(&p->threads.data[0], &first);
	poll_reader_note_run(&p->threads.data[1], &other);
	poll_reader_note_run(&p->threads.data[2], &caller);
	p->threads.data[0].ran_told = 9000;
	p->threads.data[2].ran_told = 400;
	file(&l, TASK "stat", STAT("two", "R", "150000", "0"));
	file(&l, TASK "schedstat", "600 0 3\n");
	remove_folder(&l, "/proc/7/task/8");
	look(&l);
	assert_int_equal(p->threads.count, 2);
	assert_int_equal(p->threads.data[0].tid, 7);
	assert_int_equal(p->threads.data[0].ran, 500);
	assert_int_equal(p->threads.data[0].ran_told, 400);
	poll_tasks_time(&l.tasks, &ran, &given);
	assert_int_equal(ran, 29500);
	/* And one that came since the last look. */
	file(&l, TASK "stat", STAT("two", "R", "160000", "0"));
	file(&l, TASK "schedstat", "10 0 1\n");
	look(&l);
	assert_int_equal(p->threads.data[0].ran, 0);
	assert_int_equal(p->threads.data[0].ran_told, 0);
	poll_tasks_time(&l.tasks, &ran, &given);
	assert_int_equal(ran, 29500);
	end_looks(&l);
}

/* What is recorded from exec on may have called it at any time since the look before. */
static void test_exec_was_a_while_ago(void **state)
{
	struct looks l;

	(void)state;
	begin_looks(&l);
	look(&l);
	assert_int_equal(first_process(&l)->threads.data[0].since_exec, 0);
	assert_true(first_process(&l)->alive != 0);
	first_process(&l)->alive -= 200000000;
	file(&l, TASK "stat", STAT("python3", "R", "150000", "0"));
	look(&l);
	assert_false(first_process(&l)->waits);
	assert_true(first_process(&l)->threads.data[0].since_exec >= 200000000);
	end_looks(&l);
}

static void test_a_thread_comes(void **state)
{
	uint64_t ran, given;
	struct looks l;

	(void)state;
	begin_looks(&l);
	add_task(&l, "7", "8", "w", STAT("w", "S", "140000", "0"));
	look(&l);
	expect_thread(&l, 7, 8);
	first_process(&l)->threads.data[1].ran = 500;
	poll_tasks_time(&l.tasks, &ran, &given);
	assert_int_equal(ran, 500);
	assert_int_equal(given, 0);
	end_looks(&l);
}

/* The kernel's account of a process has threads that came and went unseen. */
static void test_time_of_a_process(void **state)
{
	const uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	struct looks l;

	(void)state;
	begin_looks(&l);
	file(&l, "/proc/7/stat", STAT("python3", "S", "140000", "0"));
	poll_tasks_begin(&l.tasks);
	assert_int_equal(poll_tasks_total(&l.tasks), 0);
	file(&l, "/proc/7/stat",
	     "7 (a) b) S 1 7 7 -1 -1 4194304 0 0 0 0 20 33 9 9 20 0 1 0 900 8192 100 1 1 2 140000 0 0 0 0 0 0 0 0 0 17 0 0\n");
	poll_tasks_note_total(&l.tasks, first_process(&l));
	assert_int_equal(poll_tasks_total(&l.tasks), 50 * tick);
	/* Gone: what was known last. */
	remove_folder(&l, "/proc/7");
	look(&l);
	assert_int_equal(l.tasks.processes.count, 0);
	assert_int_equal(poll_tasks_total(&l.tasks), 50 * tick);
	end_looks(&l);
}

/* kaa.profile() starts kaa in the process that it records. */
static void test_kaa_is_no_child_of_the_program(void **state)
{
	char tid[16], list[32];
	struct looks l;

	(void)state;
	begin_looks(&l);
	snprintf(tid, sizeof(tid), "%d", (int)getpid());
	snprintf(list, sizeof(list), "%s ", tid);
	add_task(&l, tid, tid, "kaa", STAT("kaa", "R", "160000", "0"));
	file(&l, TASK "children", list);
	look(&l);
	expect_nothing(&l.sampler);
	assert_int_equal(l.tasks.processes.count, 1);
	end_looks(&l);
}

/* It has called exec by now. Its first thread stays until it is waited for. */
static void test_a_child_comes_and_ends(void **state)
{
	struct record record;
	struct looks l;

	(void)state;
	begin_looks(&l);
	add_task(&l, "9", "9", "kid", STAT("kid", "R", "160000", "0"));
	file(&l, "/proc/9/maps",
	     "600000-700000 r-xp 00000000 08:01 12 /bin/kid\n");
	file(&l, TASK "children", "9 ");
	look(&l);
	expect_child(&l, 9, 7);
	expect_exec(&l.sampler, 9, "kid", "/bin/kid");
	expect_nothing(&l.sampler);

	file(&l, "/proc/9/task/9/stat", STAT("kid", "Z", "0", "0"));
	look(&l);
	record = next_task(&l.sampler);
	assert_int_equal(record.type, PERF_RECORD_EXIT);
	assert_int_equal(record.task.pid, 9);
	assert_int_equal(l.tasks.processes.count, 1);
	end_looks(&l);
}

/* Children are read once the kernel has given a new number, and of who has run. */
static void test_looks_are_cheap(void **state)
{
	struct looks l;

	(void)state;
	begin_looks(&l);
	file(&l, "/proc/loadavg", "0.00 0.00 0.00 1/80 8\n");
	add_task(&l, "7", "8", "w", STAT("w", "S", "140000", "0"));
	file(&l, "/proc/7/task/8/children", "");
	look(&l);
	expect_thread(&l, 7, 8);
	look_until_quiet(&l);
	add_task(&l, "9", "9", "kid", STAT("kid", "S", "140000", "0"));
	file(&l, "/proc/7/task/8/children", "9 ");
	file(&l, "/proc/7/task/8/schedstat", "600 0 2\n");
	look_until_quiet(&l);
	file(&l, "/proc/loadavg", "0.00 0.00 0.00 1/80 9\n");
	look(&l);
	expect_child(&l, 9, 7);
	look_until_quiet(&l);

	/* One that is shown long after its number was given. */
	add_task(&l, "11", "11", "kid", STAT("kid", "S", "140000", "0"));
	file(&l, "/proc/7/task/8/children", "9 11 ");
	file(&l, "/proc/7/task/8/schedstat", "700 0 3\n");
	look_until_quiet(&l);
	first_process(&l)->again_at = 1;
	poll_look_at_all(&l.tasks, true);
	expect_child(&l, 11, 7);

	/* It has not run; then the thread that made this child ends. */
	add_task(&l, "10", "10", "kid", STAT("kid", "S", "140000", "0"));
	file(&l, TASK "children", "10 ");
	file(&l, "/proc/loadavg", "0.00 0.00 0.00 1/80 10\n");
	look_until_quiet(&l);
	remove_folder(&l, "/proc/7/task/8");
	look(&l);
	assert_int_equal(next_task(&l.sampler).type, PERF_RECORD_EXIT);
	expect_child(&l, 10, 7);
	end_looks(&l);
}

/* A look that took long is not due soon, but what is by the first thread alone is. */
static void test_looks_are_seldom(void **state)
{
	struct looks l;

	(void)state;
	begin_looks(&l);
	look(&l);
	assert_true(first_process(&l)->look_at > 0);
	first_process(&l)->look_at = first_process(&l)->again_at = INT64_MAX;
	add_task(&l, "7", "8", "w", STAT("w", "S", "140000", "0"));
	poll_look_at_all(&l.tasks, true);
	expect_nothing(&l.sampler);
	file(&l, TASK "stat", STAT("two", "R", "150000", "0"));
	poll_look_at_all(&l.tasks, true);
	expect_exec(&l.sampler, 7, "python3", "/bin/one");
	look(&l);
	expect_thread(&l, 7, 8);
	end_looks(&l);
}

/* The threads of a round in their order, and the one at which it is over (0: at none). */
struct seen {
	pid_t tids[16];
	size_t count;
	pid_t last;
};

static bool see(void *arg, struct polled_process *owner,
		struct polled_thread *thread)
{
	struct seen *seen = arg;

	(void)owner;
	seen->tids[seen->count++] = thread->tid;
	return thread->tid != seen->last;
}

static void expect_round(struct poll_round *round,
			 const struct poll_tasks *tasks, pid_t last,
			 const char *expected)
{
	struct seen seen = { .last = last };
	struct strbuf text = STRBUF_INIT;

	poll_round_run(round, tasks, see, &seen);
	for (size_t i = 0; i < seen.count; i++)
		strbuf_printf(&text, "%d ", (int)seen.tids[i]);
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
}

/* Whoever ends a round comes last in the next one; nobody is left out for good. */
static void test_rounds(void **state)
{
	struct polled_process processes[3] = { { .pid = 1 }, { .pid = 2 }, { .pid = 3 } };
	struct poll_tasks tasks = {};
	struct poll_round round = {};

	(void)state;
	expect_round(&round, &tasks, 0, "");
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3 - i; k++)
			assert_true(vec_push(&processes[i].threads,
					     ((struct polled_thread){
						     .tid = 10 * (i + 1) + k })));
		assert_true(vec_push(&tasks.processes, &processes[i]));
	}
	expect_round(&round, &tasks, 0, "10 11 12 20 21 30 ");
	expect_round(&round, &tasks, 11, "10 11 ");
	expect_round(&round, &tasks, 11, "12 20 21 30 10 11 ");
	expect_round(&round, &tasks, 20, "12 20 ");
	expect_round(&round, &tasks, 0, "21 30 10 11 12 20 ");
	expect_round(&round, &tasks, 30, "10 11 12 20 21 30 ");
	/* What was there is gone; who waits is left out. */
	tasks.processes.count = 2;
	processes[1].waits = true;
	expect_round(&round, &tasks, 12, "10 11 12 ");
	processes[0].threads.count = 2;
	expect_round(&round, &tasks, 0, "10 11 ");
	for (int i = 0; i < 3; i++)
		vec_deinit(&processes[i].threads);
	vec_deinit(&tasks.processes);
}

/* The poller comes when the thread that had the CPU makes way: was that one of ours? */
static void test_a_late_tick(void **state)
{
	struct polled_thread *thread;
	struct poll_reader reader;
	struct poll_wall wall = { .reader = &reader };
	struct looks l;

	(void)state;
	begin_looks(&l);
	assert_ok(poll_reader_init(&reader));
	reader.writer.sampler = &l.sampler;
	reader.tasks.root = l.root;
	assert_true(poll_tasks_add(&reader.tasks, 7, false));
	file(&l, "/proc/7/task/6/sched", SCHED("kaa", "1.000000"));
	poll_wall_begin(&wall);
	assert_false(wall.is_late);
	reader.hold.late = true;
	reader.hold.came = 20000005;
	poll_wall_begin(&wall);
	assert_true(wall.is_late);
	assert_int_equal(reader.counts.late, 1);
	/* Another one's. */
	reader.hold.came = 20000006;
	poll_wall_begin(&wall);
	assert_false(wall.is_late);
	assert_false(reader.hold.late);
	/* One that has slept for many ticks is not asked. */
	reader.hold.late = true;
	reader.hold.came = 20000005;
	thread = &reader.tasks.processes.data[0]->threads.data[0];
	thread->sleeps = true;
	thread->quiet = POLL_WALL_LONG;
	poll_wall_begin(&wall);
	assert_false(wall.is_late);
	poll_reader_deinit(&reader);
	end_looks(&l);
}

/* What a process of 3.11 says of its GIL. */
struct gil_memory {
	struct py_layout layout;
	const struct py_gil *gil;
	char runtime[4096];
	char state[512];
};

static void begin_gil(struct gil_memory *m, uint64_t thread_pointer)
{
	const uint64_t state = (uint64_t)(uintptr_t)m->state;

	assert_ok(py_layout_find(0x030b07f0, &m->layout));
	m->gil = py_gil_offsets(&m->layout);
	assert_true(m->gil->runtime_gil + m->gil->gil_locked + 4 <
		    sizeof(m->runtime));
	memcpy(m->runtime + m->gil->runtime_gil + m->gil->gil_holder, &state,
	       sizeof(state));
	memcpy(m->state + m->layout.thread_id, &thread_pointer,
	       sizeof(thread_pointer));
}

static void set_gil_taken(struct gil_memory *m, int32_t locked)
{
	memcpy(m->runtime + m->gil->runtime_gil + m->gil->gil_locked, &locked,
	       sizeof(locked));
}

/* Of many threads one that has slept for long is looked at as soon as it has the GIL. */
static void test_who_has_the_gil_is_looked_at(void **state)
{
	static struct gil_memory memory;
	struct polled_thread threads[2] = { { .pointer = 5 }, { .pointer = 6 } };
	struct polled_process polled = {
		.has_python = true,
		.memory = remote_memory_init(getpid()),
		.threads = { .data = threads, .count = 2 },
	};
	struct polled_process *processes[] = { &polled };
	struct poll_reader reader = {
		.tasks = { .processes = { .data = processes, .count = 1 } },
	};

	(void)state;
	begin_gil(&memory, 6);
	polled.python.layout = memory.layout;
	polled.python.runtime = (uint64_t)(uintptr_t)memory.runtime;
	for (int taken = 0; taken < 2; taken++) {
		for (uint32_t most = 0; most < 8; most += 7) {
			threads[0].skip = threads[1].skip = 5;
			reader.skip_most = most;
			set_gil_taken(&memory, taken);
			poll_cpu_begin(&reader);
			assert_int_equal(threads[0].skip, 5);
			assert_int_equal(threads[1].skip, taken && most ? 0 : 5);
		}
	}
	/* It cannot be read. */
	polled.python.runtime = 4096;
	threads[1].skip = 5;
	poll_cpu_begin(&reader);
	assert_int_equal(threads[1].skip, 5);
	remote_memory_deinit(&polled.memory);
}

/* The first walk over a thread is dear: of many, each tick has some. */
static void test_first_reads(void **state)
{
	static const char *const tids[] = { "11", "12", "13", "14", "15", "16" };
	const size_t count = sizeof(tids) / sizeof(tids[0]);
	struct poll_reader reader;
	struct poll_wall wall = { .reader = &reader };
	struct polled_process *polled;
	struct looks l;
	size_t read = 0;

	(void)state;
	begin_looks(&l);
	for (size_t i = 0; i < count; i++)
		add_task(&l, "7", tids[i], "w",
			 STAT("w", "S", "140000", "0"));
	assert_ok(poll_reader_init(&reader));
	reader.writer.sampler = &l.sampler;
	reader.tasks.root = l.root;
	assert_true(poll_tasks_add(&reader.tasks, 7, false));
	polled = reader.tasks.processes.data[0];
	assert_true(polled->threads.count >= count);
	/* The first tick is where their time begins. */
	for (int i = 0; i < 2; i++) {
		poll_wall_begin(&wall);
		/* Those before are not asleep. */
		for (size_t t = 2; t < polled->threads.count; t++)
			poll_wall_tick(&wall, polled,
				       &polled->threads.data[t]);
	}
	vec_for_each(thread, &polled->threads)
		read += thread->was_read;
	assert_int_equal(read, 4);
	poll_reader_deinit(&reader);
	end_looks(&l);
}

/* --- asleep or awake --- */

#define MS UINT64_C(1000000)

static struct task_run run_of(uint64_t ran, uint64_t kept_off, uint64_t slices)
{
	return (struct task_run){ ran * MS, kept_off * MS, slices };
}

/* In each 20 ms it wakes once, waits 6 ms for a CPU, and runs for 1: the wait is the sleep's. */
static void test_a_wait_when_a_sleep_is_over(void **state)
{
	struct poll_account account = {};
	struct task_run run = run_of(0, 0, 5);

	(void)state;
	poll_account_begin(&account, &run);
	poll_account_pass(&account, &run, poll_account_woken(3, true));
	for (uint64_t i = 1; i <= 5; i++) {
		run = run_of(i, 6 * i, 5 + i);
		assert_int_equal(poll_account_divide(&account, &run,
						     poll_account_woken(3 + i, true),
						     true, 20 * MS),
				 19 * MS);
		/* 12 of 38 ms, and 30 of 95. */
		assert_int_equal(poll_account_wait(&account, true, 19 * MS, true),
				 i == 2 || i == 5 ? 19 * MS : 0);
	}
	assert_int_equal(account.owed_awake, 5 * MS);
	assert_int_equal(account.awake_wait, 0);
	assert_int_equal(poll_account_wait(&account, false, 0, true), 0);
	/* It got a CPU twice, and slept once: it waited where it ran, too. */
	run = run_of(6, 36, 12);
	assert_int_equal(poll_account_awake(&account, &run,
					    poll_account_woken(9, true)),
			 7 * MS);
	/* Nobody knows how often it slept. */
	run.slices = 11;
	assert_int_equal(poll_account_awake(&account, &run,
					    poll_account_woken(UINT64_MAX, true)),
			 7 * MS);
	assert_int_equal(poll_account_awake(&account, &run,
					    poll_account_woken(9, true)),
			 1 * MS);
}

/* A wait that goes on is told of as at most so long; what was too much is taken off. */
static void test_a_wait_that_was_shorter(void **state)
{
	struct poll_account account = {};
	struct task_run run = run_of(0, 0, 5);

	(void)state;
	poll_account_begin(&account, &run);
	/* It is taken to wait for 30 ms, and gets a CPU after 12. */
	run = run_of(10, 30, 5);
	assert_int_equal(poll_account_divide(&account, &run, 0, false, 40 * MS),
			 40 * MS);
	assert_int_equal(poll_account_wait(&account, false, 40 * MS, true), 40 * MS);
	run = run_of(15, 12, 6);
	assert_int_equal(poll_account_awake(&account, &run, 0), 0);
	assert_int_equal(poll_account_divide(&account, &run, 0, true, 20 * MS),
			 20 * MS);
	assert_int_equal(account.awake_wait, -28 * (int64_t)MS);
	/* 20 ms are awake, of which 13 are what it was told of as waiting. */
	run = run_of(35, 12, 6);
	assert_int_equal(poll_account_divide(&account, &run, 0, false, 20 * MS),
			 7 * MS);
	assert_int_equal(account.owed_asleep, 13 * MS);
	assert_int_equal(account.behind, 0);
}

/* The kernel counts a wait when it is over. Until then several samples may be taken in it. */
static void test_a_wait_that_goes_on(void **state)
{
	struct poll_account account = {};
	struct task_run run = run_of(0, 0, 5);

	(void)state;
	poll_account_begin(&account, &run);
	for (uint64_t waits = 100; waits <= 120; waits += 10) {
		uint64_t time = waits == 100 ? 100 : 10;

		run = run_of(0, 0, 5);
		run.kept_off += poll_account_goes_on(&account, waits * MS, 7, time * MS);
		assert_int_equal(poll_account_divide(&account, &run, 0, false, time * MS),
				 time * MS);
		assert_int_equal(poll_account_wait(&account, false, time * MS, true),
				 time * MS);
	}
	assert_int_equal(account.owed_asleep, 0);
	/* Another one: it cannot be longer than there were no samples. */
	assert_int_equal(poll_account_goes_on(&account, 50 * MS, 8, 20 * MS), 20 * MS);
	/* Nobody is told, so that nothing is taken off. */
	run = run_of(3, 90, 7);
	poll_account_drop_waits(&account, &run);
	assert_int_equal(poll_account_goes_on(&account, 60 * MS, 8, 20 * MS), 20 * MS);
	run = run_of(3, 102, 8);
	poll_account_pass(&account, &run, 0);
	assert_int_equal(account.awake_wait, 12 * (int64_t)MS);
}

/* A long sample says both, as the kernel has it, but for parts that are too small to tell. */
static void test_a_long_sample_is_divided(void **state)
{
	struct poll_account account = { .awake_wait = 150 * (int64_t)MS };

	(void)state;
	assert_int_equal(poll_account_wait(&account, false, 200 * MS, true), 150 * MS);
	assert_int_equal(account.awake_wait, 0);
	account.awake_wait = 5 * (int64_t)MS;
	assert_int_equal(poll_account_wait(&account, false, 160 * MS, true), 0);
	account.awake_wait += 150 * (int64_t)MS;
	assert_int_equal(poll_account_wait(&account, false, 160 * MS, true), 160 * MS);
	assert_int_equal(account.awake_wait, -5 * (int64_t)MS);
	/* What was said too often is said less often. */
	assert_int_equal(poll_account_wait(&account, false, 160 * MS, true), 0);
	account.awake_wait = 400 * (int64_t)MS;
	assert_int_equal(poll_account_wait(&account, false, 160 * MS, true), 160 * MS);
	account.asleep_wait = 100 * (int64_t)MS;
	assert_int_equal(poll_account_wait(&account, true, 160 * MS, false), 160 * MS);
	assert_int_equal(account.asleep_wait, -60 * (int64_t)MS);
}

/* A sample is taken some time after its tick: what it ran in that is the next one's. */
static void test_what_runs_behind_the_tick(void **state)
{
	struct poll_account account = {};
	struct task_run run = run_of(0, 0, 5);

	(void)state;
	poll_account_begin(&account, &run);
	run = run_of(23, 2, 6);
	assert_int_equal(poll_account_divide(&account, &run, UINT64_MAX, false,
					     20 * MS),
			 20 * MS);
	assert_int_equal(poll_account_divide(&account, &run, UINT64_MAX, true,
					     10 * MS),
			 5 * MS);
	assert_int_equal(account.owed_awake, 5 * MS);
	assert_int_equal(poll_account_divide(&account, &run, UINT64_MAX, false,
					     MS),
			 5 * MS);
	assert_int_equal(account.owed_asleep, MS);
}

/* --- what samples of wall time stand for --- */

struct wall_looks {
	struct looks looks;
	struct poll_reader reader;
	struct poll_wall wall;
	struct polled_process *process;
	struct polled_thread *thread;
	char runs[512];
};

/* The thread says so, and when it lost a CPU that is when the caller got it. */
static void wall_state(struct wall_looks *w, bool runs, const char *run)
{
	file(&w->looks, TASK "stat",
	     runs ? w->runs : STAT("python3", "S", "140000", "0"));
	file(&w->looks, TASK "schedstat", run);
}

static void begin_wall_looks(struct wall_looks *w)
{
	struct poll_reader *reader = &w->reader;

	begin_looks(&w->looks);
	snprintf(w->runs, sizeof(w->runs), STAT("python3", "R", "140000", "%d"),
		 sched_getcpu());
	assert_ok(poll_reader_init(reader));
	w->looks.sampler.options.clockid = CLOCK_MONOTONIC;
	reader->writer.sampler = &w->looks.sampler;
	reader->tasks.root = w->looks.root;
	assert_true(poll_tasks_add(&reader->tasks, 7, false));
	w->process = reader->tasks.processes.data[0];
	w->thread = &w->process->threads.data[0];
	assert_int_equal(w->thread->tid, 7);
	w->wall = (struct poll_wall){ .reader = reader };
	/* It is bound to that CPU, and not late. */
	assert_true(task_files_open(w->looks.root, 7, 6, &reader->hold.own));
	wall_state(w, true, "0 0 5\n");
	(void)poll_hold_begin(&reader->hold, &w->thread->files);
	poll_hold_arrive(&reader->hold, UINT64_MAX);
	/* The first look, a second ago. */
	w->wall.tick = poll_writer_now(&reader->writer) - 1000000000;
	w->wall.first_reads = 4;
	poll_wall_tick(&w->wall, w->process, w->thread);
}

static void end_wall_looks(struct wall_looks *w)
{
	poll_hold_deinit(&w->reader.hold);
	poll_reader_deinit(&w->reader);
	end_looks(&w->looks);
}

/* The period of the next sample; 0: there is none. */
static uint64_t next_period(struct wall_looks *w)
{
	struct sampler *sampler = &w->looks.sampler;
	struct ring *ring = &sampler->cpus.data[0].samples;
	const struct perf_event_header *header =
		ring_record(ring, ring->tail, ring_head(ring));
	struct record record;

	if (!header)
		return 0;
	assert_ok(record_decode(&sampler->kernel_events, header, header->size,
				&record));
	ring_advance(ring, ring->tail + header->size);
	return record.sample.period;
}

static uint64_t wall_tick_after(struct wall_looks *w, uint64_t ns)
{
	w->wall.tick += ns;
	poll_wall_tick(&w->wall, w->process, w->thread);
	return next_period(w);
}

/* Ticks were late for so long. */
static uint64_t late_tick_after(struct wall_looks *w, uint64_t ns)
{
	w->wall.late += ns;
	return wall_tick_after(w, ns);
}

#define IN_CALL(stack) "230 0x0 0x0 0x1 0x2 0x3 0x4 " stack " 0x7f0000001000\n"

/* A thread that was stopped when it slept sleeps again: in the same call, or in the next one? */
static void test_a_sleep_goes_on_after_a_stop(void **state)
{
	static const struct {
		const char *call;
		bool sleeps_on;
	} cases[] = {
		/* The kernel does not tell. */
		{ NULL, true },
		{ IN_CALL("0x7ffc00001000"), true },
		{ IN_CALL("0x7ffc00001080"), false },
	};
	struct wall_looks w;
	struct task_run run;

	(void)state;
	begin_wall_looks(&w);
	wall_state(&w, false, "14000000 2000000 5\n");
	w.reader.stop.registers.rsp = 0x7ffc00001000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].call)
			file(&w.looks, TASK "syscall", cases[i].call);
		assert_int_equal(poll_reader_sleeps_on(&w.reader, w.process,
						       w.thread, &run),
				 cases[i].sleeps_on);
	}
	end_wall_looks(&w);
}

/*
 * For 20 ms the poller came only when the thread made way, and then finds it asleep: it
 * has run for 14 of them, and waited for 2.
 */
static void test_late_ticks_of_a_thread_that_ran(void **state)
{
	struct wall_looks w;

	(void)state;
	begin_wall_looks(&w);
	wall_state(&w, false, "14000000 2000000 5\n");
	assert_int_equal(late_tick_after(&w, 20000000), 4000000);
	/* It gets them when it is seen to run. */
	wall_state(&w, true, "15000000 2000000 6\n");
	assert_int_equal(wall_tick_after(&w, 1000000), 17000000);
	assert_int_equal(w.thread->account.owed_awake, 0);
	end_wall_looks(&w);
}

/* And the other way round; so, too, where no tick was late. */
static void test_late_ticks_of_a_thread_that_slept(void **state)
{
	struct wall_looks w;

	(void)state;
	begin_wall_looks(&w);
	wall_state(&w, true, "1000000 1000000 6\n");
	assert_int_equal(late_tick_after(&w, 20000000), 2000000);
	wall_state(&w, true, "1200000 1000000 7\n");
	assert_int_equal(wall_tick_after(&w, 1000000), 200000);
	wall_state(&w, false, "1200000 1000000 5\n");
	assert_int_equal(wall_tick_after(&w, 1000000), 19800000);
	end_wall_looks(&w);
}

#define SCHED_SLEPT(sleeps)                                                \
	SCHED("python3", "20.000005") "nr_voluntary_switches : " sleeps "\n"

/*
 * It slept, lost its CPU when it had been woken, and nobody has looked: it slept once. Or
 * it slept twice, and waited where it slept.
 */
static void test_late_ticks_of_one_sleep(void **state)
{
	static const struct {
		const char *sleeps;
		uint64_t slept, awake;
	} cases[] = { { SCHED_SLEPT("3"), 18000000, 2000000 },
		      { SCHED_SLEPT("4"), 9500000, 1000000 },
		      { SCHED("python3", "20.000005"), 9000000, 2000000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wall_looks w;

		begin_wall_looks(&w);
		file(&w.looks, TASK "sched", SCHED_SLEPT("3"));
		wall_state(&w, false, "0 0 5\n");
		assert_int_equal(wall_tick_after(&w, 1000000), 1000000);
		file(&w.looks, TASK "sched", cases[i].sleeps);
		wall_state(&w, true, "1000000 1000000 7\n");
		assert_int_equal(late_tick_after(&w, 20000000), cases[i].slept);
		assert_int_equal(next_period(&w), cases[i].awake);
		assert_int_equal(w.thread->account.owed_asleep,
				 20000000 - cases[i].awake - cases[i].slept);
		end_wall_looks(&w);
	}
}

/* What nobody saw before the end is counted; a thread that sleeps on was seen. */
static void test_the_end_of_wall_time(void **state)
{
	const struct poll_counts *counts;
	struct wall_looks w;
	uint64_t all;

	(void)state;
	begin_wall_looks(&w);
	counts = &w.reader.counts;
	wall_state(&w, true, "1000000 0 6\n");
	assert_int_equal(wall_tick_after(&w, 1000000), 1000000);
	assert_int_equal(counts->told, 1000000);
	poll_wall_end(&w.wall);
	assert_true(counts->untold >= 999000000);
	end_wall_looks(&w);

	begin_wall_looks(&w);
	wall_state(&w, false, "0 0 5\n");
	assert_int_equal(wall_tick_after(&w, 1000000), 1000000);
	poll_wall_end(&w.wall);
	all = next_period(&w);
	assert_true(all >= 999000000);
	assert_int_equal(counts->told, 1000000 + all);
	assert_int_equal(counts->untold, 0);
	end_wall_looks(&w);
}

/* A sleep that goes on has a sample each second, or as often as is asked for. */
static void test_a_sleep_that_goes_on(void **state)
{
	static const struct {
		uint64_t sleep_ns;
		unsigned int ticks;
	} cases[] = { { 0, 11 }, { 200000000, 3 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wall_looks w;
		unsigned int ticks = 0;
		uint64_t period;

		begin_wall_looks(&w);
		w.wall.sleep_ns = cases[i].sleep_ns;
		wall_state(&w, false, "0 0 5\n");
		assert_int_equal(wall_tick_after(&w, 1000000), 1000000);
		do {
			period = wall_tick_after(&w, 100000000);
		} while (++ticks < 20 && !period);
		assert_int_equal(ticks, cases[i].ticks);
		assert_int_equal(period, cases[i].ticks * UINT64_C(100000000));
		end_wall_looks(&w);
	}
}

/* When a thread ended is not known; it was there when it was looked for last. */
static void test_the_end_of_a_thread(void **state)
{
	struct wall_looks w;
	uint64_t alive, before, after;

	(void)state;
	begin_wall_looks(&w);
	before = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	alive = before - 200000000;
	w.process->alive = (int64_t)alive;
	poll_wall_end_thread(&w.wall, w.process, w.thread);
	after = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(next_period(&w), 0);
	/* Between both it may have stood still for long. */
	assert_in_range(w.reader.counts.untold,
			before - (after - alive) / 2 - w.thread->told,
			(alive + after) / 2 - w.thread->told + 1);
	end_wall_looks(&w);
}

/* --- lists of tasks --- */

#define SECOND (1000 * MS)

/* Tasks of these numbers, listed then. */
static void take_tasks(struct polled_loop *loop, uint64_t first, size_t count,
		       uint64_t now)
{
	struct py_task_list tasks = {};

	for (size_t i = 0; i < count; i++)
		assert_true(vec_push(&tasks, (first + i) * 64));
	polled_loop_take(loop, &tasks, now);
	assert_int_equal(loop->tasks.count, count);
	loop->listed_at = now;
	vec_deinit(&tasks);
}

/* Reading took as long; the list may be as old, but no older. */
static void check_age(struct polled_loop *loop, uint64_t listing_ns,
		      bool asleep, uint64_t age)
{
	loop->listing_ns = listing_ns;
	assert_true(polled_loop_is_listed(loop, loop->listed_at + age - 1, asleep));
	assert_false(polled_loop_is_listed(loop, loop->listed_at + age, asleep));
}

static void test_age_of_a_list_of_tasks(void **state)
{
	struct polled_loop *loop = polled_loop_create(1);

	(void)state;
	assert_false(polled_loop_is_listed(loop, 1, true));
	/* How long the first ones live is not known. */
	take_tasks(loop, 1, 1600, SECOND);
	check_age(loop, MS, false, 20 * MS);
	/* All live on. */
	take_tasks(loop, 1, 1600, 2 * SECOND);
	check_age(loop, MS, false, 200 * MS);
	check_age(loop, MS, true, 20 * MS);
	check_age(loop, MS / 10, false, 2 * MS);
	/* 160 of 1,600 in a second are others: one in 16 in 625 ms. */
	take_tasks(loop, 161, 1600, 3 * SECOND);
	check_age(loop, MS, false, 200 * MS);
	check_age(loop, 10 * MS, false, 625 * MS);
	check_age(loop, 10 * MS, true, 200 * MS);
	/* All are others. */
	take_tasks(loop, 5000, 1600, 4 * SECOND);
	check_age(loop, MS, false, 62 * MS + MS / 2);
	take_tasks(loop, 9000, 1600, 4 * SECOND + 100 * MS);
	check_age(loop, MS, false, 20 * MS);
	polled_loop_destroy(loop);
}

/* One that comes late stands for more time, and reads more tasks; a further try does not. */
static void test_effort_of_a_look(void **state)
{
	const struct poll_effort one = poll_loops_effort(false, 0, 1);
	struct poll_effort effort = poll_loops_effort(false, 0, 4);

	(void)state;
	assert_int_equal(effort.least, 4 * one.least);
	assert_int_equal(effort.ns, 4 * one.ns);
	assert_int_equal(poll_loops_effort(false, 0, 0).least, one.least);
	assert_true(poll_loops_effort(true, 0, 1).least > one.least);
	assert_true(poll_loops_effort(false, 1, 50).least < one.least);
	assert_int_equal(poll_loops_effort(true, 2, 50).least, 1);
	effort = poll_loops_effort(true, 0, UINT64_MAX);
	assert_int_equal(effort.ns, poll_loops_effort(true, 0, 1000).ns);
	assert_true(effort.ns < 10000000);
}

static uint64_t losses(void *arg, bool tasks)
{
	(void)arg;
	return tasks ? 3 : 5;
}

/* Who fills the rings says what found no room: samples are one thing, processes another. */
static void test_losses_of_tasks_are_no_samples(void **state)
{
	const struct sampler_producer producer = { .lost = losses };
	const struct sampler_options options = { .clockid = -1 };
	struct sampler sampler;

	(void)state;
	assert_ok(sampler_open_own(&sampler, &options, &producer));
	assert_int_equal(sampler_lost(&sampler, false), 5);
	assert_int_equal(sampler_lost(&sampler, true), 3);
	sampler_close(&sampler);
}

/* Beyond the limits; what failed before has nothing to do with it. */
static void test_more_threads_than_are_followed(void **state)
{
	struct poll_tasks tasks = { .root = "" };
	struct polled_process full = { .pid = getpid(), .threads = { .count = 65536 } };

	(void)state;
	errno = EMFILE;
	assert_false(poll_tasks_add_thread(&tasks, &full, getpid()));
	assert_int_equal(tasks.missed, 0);
	assert_int_equal(tasks.too_many, 1);
	tasks.processes.count = 16384;
	assert_null(poll_tasks_make(&tasks, getpid()));
	assert_int_equal(tasks.missed, 0);
	assert_int_equal(tasks.too_many, 2);
}

/* Half of the time lies between two ticks that are 10 ms apart. */
static void test_ticks_that_come_late(void **state)
{
	enum { TICK = 1000000 };
	struct poll_ticks ticks = { .period = TICK };
	uint64_t now = 5 * TICK;

	(void)state;
	assert_int_equal(poll_ticks_apart(&ticks), 0);
	poll_ticks_note(&ticks, now);
	assert_int_equal(poll_ticks_apart(&ticks), 0);
	for (int i = 0; i < 10; i++)
		poll_ticks_note(&ticks, now += TICK);
	assert_int_equal(poll_ticks_apart(&ticks), TICK);
	poll_ticks_note(&ticks, now + 10 * TICK);
	assert_in_range(poll_ticks_apart(&ticks), 5.5 * TICK - 1, 5.5 * TICK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_threads_than_are_followed),
		cmocka_unit_test(test_losses_of_tasks_are_no_samples),
		cmocka_unit_test(test_age_of_a_list_of_tasks),
		cmocka_unit_test(test_effort_of_a_look),
		cmocka_unit_test(test_ticks_that_come_late),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_stat_that_is_none),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_sched),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_shares_of_bursts),
		cmocka_unit_test(test_shares_after_a_gap),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_a_look_without_descriptors),
		cmocka_unit_test(test_time_of_a_thread_that_called_exec),
		cmocka_unit_test(test_exec_was_a_while_ago),
		cmocka_unit_test(test_a_thread_comes),
		cmocka_unit_test(test_time_of_a_process),
		cmocka_unit_test(test_kaa_is_no_child_of_the_program),
		cmocka_unit_test(test_a_child_comes_and_ends),
		cmocka_unit_test(test_looks_are_cheap),
		cmocka_unit_test(test_looks_are_seldom),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_a_late_tick),
		cmocka_unit_test(test_who_has_the_gil_is_looked_at),
		cmocka_unit_test(test_first_reads),
		cmocka_unit_test(test_a_sleep_goes_on_after_a_stop),
		cmocka_unit_test(test_a_wait_when_a_sleep_is_over),
		cmocka_unit_test(test_a_wait_that_was_shorter),
		cmocka_unit_test(test_a_wait_that_goes_on),
		cmocka_unit_test(test_a_long_sample_is_divided),
		cmocka_unit_test(test_what_runs_behind_the_tick),
		cmocka_unit_test(test_late_ticks_of_a_thread_that_ran),
		cmocka_unit_test(test_late_ticks_of_a_thread_that_slept),
		cmocka_unit_test(test_late_ticks_of_one_sleep),
		cmocka_unit_test(test_the_end_of_wall_time),
		cmocka_unit_test(test_a_sleep_that_goes_on),
		cmocka_unit_test(test_the_end_of_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

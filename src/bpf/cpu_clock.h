/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A clock for each CPU, instead of one for each thread (docs/clock.md): which
 * tasks are recorded, and how long they have run.
 *
 * A part of walker.bpf.c. A task is recorded if the recorder says so, or the
 * task that started it is: the note is in the kernel's storage of the task, and
 * goes with it. Each CPU knows whether the task that runs is recorded, and adds
 * up what the scheduler counts for such tasks. That is what getrusage() has.
 */
#ifndef KAA_BPF_CPU_CLOCK_H
#define KAA_BPF_CPU_CLOCK_H

#include "bpf/walker_shared.h"

struct sched_entity {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

/* Of task_struct; libbpf leaves out what follows the underscores. */
struct task_struct___clock {
	int exit_state;
	struct sched_entity se;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct walker_task);
} recorded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walker_clock);
} clocks SEC(".maps");

/* kaa_sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next_program SEC(".maps");

static __always_inline struct walker_clock *clock_here(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&clocks, &key);
}

static __always_inline __u64 run_time(struct task_struct *task)
{
	return ((struct task_struct___clock *)task)->se.sum_exec_runtime;
}

static __always_inline int is_recorded(struct task_struct *task)
{
	struct walker_task *t = bpf_task_storage_get(&recorded, task, 0, 0);

	return t && t->state == WALKER_RECORDED;
}

/* From now on the CPU counts the time of this task, which runs there. */
static __always_inline void clock_begin(struct walker_clock *c,
					struct task_struct *task)
{
	c->counted_to = run_time(task);
	c->running = 1;
}

static __always_inline void clock_count(struct walker_clock *c,
					struct task_struct *task)
{
	__u64 now = run_time(task);

	if (now > c->counted_to)
		c->counted += now - c->counted_to;
	c->counted_to = now;
}

static __always_inline void clock_switch(struct walker_clock *c,
					 struct task_struct *prev,
					 struct task_struct *next,
					 int next_is_recorded)
{
	if (c->running)
		clock_count(c, prev);
	c->running = 0;
	if (next_is_recorded)
		clock_begin(c, next);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(kaa_clock_switch, _Bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	struct walker_clock *c = clock_here();

	(void)preempt;
	if (c)
		clock_switch(c, prev, next, is_recorded(next));
	return 0;
}

/* A thread or process, before it runs. */
SEC("tp_btf/task_newtask")
int BPF_PROG(kaa_clock_new_task, struct task_struct *child)
{
	struct walker_clock *c = clock_here();
	struct walker_task recorded_task = { .state = WALKER_RECORDED };

	if (!c || !is_recorded(bpf_get_current_task_btf()))
		return 0;
	if (!bpf_task_storage_get(&recorded, child, &recorded_task,
				  BPF_LOCAL_STORAGE_GET_F_CREATE))
		c->missed++;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(kaa_clock_exec, struct task_struct *task)
{
	struct walker_task *t = bpf_task_storage_get(&recorded, task, 0, 0);
	struct walker_clock *c = clock_here();

	if (!c || !t || t->state != WALKER_ON_EXEC)
		return 0;
	t->state = WALKER_RECORDED;
	clock_begin(c, task);
	return 0;
}

/*
 * Whether the task that runs is recorded. One that was recorded while it ran is
 * noticed here. One that is all but gone has no number any more.
 */
static __always_inline int clock_is_due(struct walker_clock *c)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!c->running && !is_recorded(task))
		return 0;
	if (c->running)
		clock_count(c, task);
	else
		clock_begin(c, task);
	return !((struct task_struct___clock *)task)->exit_state;
}

/* A tick of a CPU's clock: no sample of those that are not recorded. */
SEC("perf_event")
int kaa_clock_tick(struct bpf_perf_event_data *ctx)
{
	struct walker_clock *c = clock_here();

	if (!c || !clock_is_due(c))
		return 0;
	bpf_tail_call(ctx, &next_program, 0);
	return 1;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long threads are off the CPU, and where (docs/off-cpu.md).
 *
 * A part of walker.bpf.c. Each switch away from a recorded thread, and back to it,
 * adds up how long it was away. When it has a CPU again, and has not yet run in user
 * space, it stands where it waited: there it is walked, on its own. From Linux 6.16 on
 * that is at the end of schedule(), with the kernel's frames of the wait; before,
 * where the kernel tells the thread's rseq area of its CPU, on the way back to user
 * space, or where it takes the signal that ends it.
 *
 * A wait of a period or more is a sample that stands for it. Of shorter ones some
 * are, by chance: as many as periods fit into them, and each stands for a period.
 * So the samples stand for the time that was waited, and there are never more than
 * periods, or waits. The switch decides this, so that it is all that most waits cost.
 */
#ifndef KAA_BPF_OFF_CPU_H
#define KAA_BPF_OFF_CPU_H

#include "bpf/walker_shared.h"

/* linux/errno.h */
#define EOPNOTSUPP 95

enum {
	OFF_CPU_WINDOW_NS = 100000000,
	/* Where a wait of a second is no sample for certain, something is wrong. */
	OFF_CPU_PERIOD_MAX_NS = 1000000000,
};

/* Of task_struct, with CONFIG_SCHED_INFO. */
struct sched_info {
	/* How long the task could have run and had no CPU, up to its last arrival. */
	unsigned long long run_delay;
} __attribute__((preserve_access_index));

struct task_struct___off_cpu {
	struct sched_info sched_info;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} off_cpu_output SEC(".maps");

/* How many samples a CPU may take; and that at hand, for which the stack has no room. */
struct off_cpu_pace {
	__u64 period;
	__u64 window;
	__u32 taken;
	/* The task that has the CPU has waits that are samples. */
	__u32 is_due;
	/* That task, as the last switch told; of some switches no program is told. */
	__u64 task;
	struct walker_wait slept;
	struct walker_wait waited;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_pace);
} off_cpu_paces SEC(".maps");

static __always_inline __u64 off_cpu_run_delay(struct task_struct *task)
{
	struct task_struct___off_cpu *t = (void *)task;

	if (!bpf_core_field_exists(t->sched_info))
		return 0;
	return t->sched_info.run_delay;
}

/* Half as many samples where there are too many; again more where there are few. */
static __always_inline void off_cpu_keep_pace(struct off_cpu_pace *p, __u64 now)
{
	__u32 most = setting.off_cpu_most;

	if (p->period < setting.off_cpu_period)
		p->period = setting.off_cpu_period;
	if (p->taken >= most && p->period < OFF_CPU_PERIOD_MAX_NS) {
		p->period *= 2;
	} else if (now - p->window < OFF_CPU_WINDOW_NS) {
		return;
	} else if (p->taken < most / 4 && p->period > setting.off_cpu_period) {
		p->period /= 2;
	}
	p->window = now;
	p->taken = 0;
}

/* In `part` of `all` cases, times of at most some days. */
static __always_inline int off_cpu_by_chance(__u64 part, __u64 all)
{
	if (all >> 32) {
		part >>= 16;
		all >>= 16;
	}
	return (((__u64)bpf_get_prandom_u32() * all) >> 32) < part;
}

/* What a sample of this wait stands for; 0: there is none. */
static __always_inline __u64 off_cpu_weight(const struct off_cpu_pace *p,
					    __u64 waited)
{
	if (waited >= p->period)
		return waited;
	return off_cpu_by_chance(waited, p->period) ? p->period : 0;
}

/* The task has a CPU again: how long it had none. */
static __always_inline __u64 off_cpu_ended(struct walker_task *t, __u64 now)
{
	__u64 from = setting.off_cpu_from, since = t->off_since;

	t->off_since = 0;
	if (!since || !from || now <= from)
		return 0;
	return now - (since > from ? since : from);
}

/* With others of before that are to be samples, for the thread has not been back since. */
static __always_inline void off_cpu_decide(struct off_cpu_pace *p,
					   struct walker_task *t, __u64 now)
{
	__u64 since = t->off_since, off = off_cpu_ended(t, now), weight;

	off_cpu_keep_pace(p, now);
	weight = off_cpu_weight(p, off);
	if (weight || t->off_weight) {
		t->off_total += off;
		t->off_weight += weight;
		if (2 * off >= t->off_total)
			t->off_began = since;
	} else {
		/* To be read where the next wait begins. */
		t->run_delay = ~0ull;
	}
}

static __always_inline struct off_cpu_pace *off_cpu_pace(void)
{
	return bpf_map_lookup_elem(&off_cpu_paces, &zero);
}

/* In place of kaa_clock_switch: each program costs, and so does each look for a task. */
SEC("tp_btf/sched_switch")
int BPF_PROG(kaa_off_cpu_switch, _Bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	struct off_cpu_pace *p = off_cpu_pace();
	struct walker_clock *c = clock_here();
	__u64 now = bpf_ktime_get_ns();
	struct walker_task *t;
	int is_recorded;

	(void)preempt;
	t = bpf_task_storage_get(&recorded, prev, 0, 0);
	if (t && t->state == WALKER_RECORDED) {
		t->off_since = now;
		if (t->run_delay == ~0ull)
			t->run_delay = off_cpu_run_delay(prev);
	}
	t = bpf_task_storage_get(&recorded, next, 0, 0);
	is_recorded = t && t->state == WALKER_RECORDED;
	if (p) {
		if (is_recorded)
			off_cpu_decide(p, t, now);
		p->task = (__u64)next;
		p->is_due = is_recorded && t->off_weight;
	}
	if (c)
		clock_switch(c, prev, next, is_recorded);
	return 0;
}

/* The thread entered the kernel by `syscall`, whose bytes are those. */
static __always_inline __s32 off_cpu_call(const struct walk *w)
{
	const struct pt_regs *regs = (const void *)w->read_registers;
	__u16 instruction = 0;

	if (walk_read(&instruction, sizeof(instruction), regs->rip - 2) ||
	    instruction != 0x050f)
		return -1;
	return (__s32)regs->orig_rax;
}

static __always_inline void off_cpu_emit(void *ctx, struct walker_wait *record)
{
	struct walker_counters *c = walk_counters();
	long err = 0;

	if (record->period)
		err = bpf_perf_event_output(ctx, &off_cpu_output,
					    BPF_F_CURRENT_CPU, record,
					    sizeof(*record));
	/* While the event is disabled nobody misses it. */
	if (c && err && err != -EOPNOTSUPP)
		c->lost++;
}

/* The thread has slept, and then waited for a CPU; or that alone. */
static __always_inline void off_cpu_sample(void *ctx, struct walk *w)
{
	struct off_cpu_pace *p = off_cpu_pace();

	if (!p)
		return;
	take_task_registers(w);
	p->slept.kind = WALKER_WAIT_SLEEP;
	p->waited.kind = WALKER_WAIT_CPU;
	p->slept.system_call = p->waited.system_call = off_cpu_call(w);
	if (!sample(ctx, w))
		return;
	p = off_cpu_pace();
	if (!p)
		return;
	off_cpu_emit(ctx, &p->slept);
	off_cpu_emit(ctx, &p->waited);
}

/* Of how long the task that runs was off the CPU, what it waited for one. */
static __always_inline __u64 off_cpu_waited(struct task_struct *task,
					    const struct walker_task *t)
{
	__u64 waited;

	if (t->run_delay == ~0ull)
		return 0;
	waited = off_cpu_run_delay(task) - t->run_delay;
	return waited < t->off_total ? waited : t->off_total;
}

/*
 * A wait that is a sample for certain has two parts, each of which is one like a wait.
 * What stands for more or less than itself is of one part, by chance.
 */
static __always_inline void off_cpu_take(struct off_cpu_pace *p,
					 struct task_struct *task,
					 struct walker_task *t)
{
	__u64 waited = off_cpu_waited(task, t), off = t->off_total;
	__u64 weight = t->off_weight;
	int is_waited;

	p->slept.since = p->waited.since = t->off_began;
	t->off_total = t->off_weight = 0;
	t->run_delay = ~0ull;
	p->is_due = 0;
	if (weight == off) {
		p->slept.period = off_cpu_weight(p, off - waited);
		p->waited.period = off_cpu_weight(p, waited);
		return;
	}
	is_waited = off_cpu_by_chance(waited, off);
	p->slept.period = is_waited ? 0 : weight;
	p->waited.period = is_waited ? weight : 0;
}

static __always_inline int off_cpu_back(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct off_cpu_pace *p = off_cpu_pace();
	struct walker_task *t;
	struct walk *w;

	if (!p || (p->task == (__u64)task && !p->is_due))
		return 0;
	t = bpf_task_storage_get(&recorded, task, 0, 0);
	w = walk_here();
	if (!w || !t || t->state != WALKER_RECORDED)
		return 0;
	/* Linux 6.18 was seen to leave out some 1 of 20,000 switches to a task. */
	if (t->off_since)
		off_cpu_decide(p, t, bpf_ktime_get_ns());
	if (!t->off_weight)
		return 0;
	off_cpu_take(p, task, t);
	if (!p->slept.period && !p->waited.period)
		return 0;
	p->taken++;
	set_walking(w, 1);
	off_cpu_sample(ctx, w);
	set_walking(w, 0);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int kaa_off_cpu_schedule(void *ctx)
{
	return off_cpu_back(ctx);
}

SEC("tp_btf/rseq_update")
int kaa_off_cpu_rseq(void *ctx)
{
	return off_cpu_back(ctx);
}

/* With rseq: a thread that is to end does not go back to user space. */
SEC("tp_btf/signal_deliver")
int kaa_off_cpu_signal(void *ctx)
{
	return off_cpu_back(ctx);
}

#endif

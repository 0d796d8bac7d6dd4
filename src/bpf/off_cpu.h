/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long threads are off the CPU, and where (docs/off-cpu.md).
 *
 * A part of walker.bpf.c. Each switch away from a recorded thread, and back to it,
 * adds up how long it was away. When it has a CPU again, and has not yet run in user
 * space, it stands where it waited: there it is walked, on its own. From Linux 6.16 on
 * that is at the end of schedule(), with the kernel's frames of the wait; before,
 * where the kernel tells the thread's rseq area of its CPU, on the way back to user
 * space.
 *
 * A wait of a period or more is a sample that stands for it. Of shorter ones some
 * are, by chance: as many as periods fit into them, and each stands for a period.
 * So the samples stand for the time that was waited, and there are never more than
 * periods, or waits.
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

/* How many samples a CPU may take. */
struct off_cpu_pace {
	__u64 period;
	__u64 window;
	__u32 taken;
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
	return BPF_CORE_READ(t, sched_info.run_delay);
}

/* The task has a CPU again. */
static __always_inline void off_cpu_count(struct walker_task *t, __u64 now)
{
	__u64 from = setting.off_cpu_from;

	if (t->off_since && from && now > from)
		t->off_total += now - (t->off_since > from ? t->off_since : from);
	t->off_since = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(kaa_off_cpu_switch, _Bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();
	struct walker_task *t;

	(void)preempt;
	t = bpf_task_storage_get(&recorded, prev, 0, 0);
	if (t && t->state == WALKER_RECORDED) {
		t->off_since = now;
		if (t->run_delay == ~0ull)
			t->run_delay = off_cpu_run_delay(prev);
	}
	t = bpf_task_storage_get(&recorded, next, 0, 0);
	if (t && t->state == WALKER_RECORDED)
		off_cpu_count(t, now);
	return 0;
}

/* Half as many samples where there are too many; again more where there are few. */
static __always_inline void off_cpu_keep_pace(struct off_cpu_pace *p)
{
	__u32 most = setting.off_cpu_most;
	__u64 now = bpf_ktime_get_ns();

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

/* What a sample of this wait stands for; 0: there is none. */
static __always_inline __u64 off_cpu_weight(const struct off_cpu_pace *p,
					    __u64 waited)
{
	if (waited >= p->period)
		return waited;
	if ((((__u64)bpf_get_prandom_u32() * p->period) >> 32) < waited)
		return p->period;
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

static __always_inline void off_cpu_emit(void *ctx, __u32 kind, __s32 call,
					 __u64 weight)
{
	struct walker_wait record = { .period = weight,
				      .kind = kind,
				      .system_call = call };
	struct walker_counters *c = walk_counters();

	long err = 0;

	if (weight)
		err = bpf_perf_event_output(ctx, &off_cpu_output,
					    BPF_F_CURRENT_CPU, &record,
					    sizeof(record));
	/* While the event is disabled nobody misses it. */
	if (c && err && err != -EOPNOTSUPP)
		c->lost++;
}

/* The thread has slept, and then waited for a CPU; or that alone. */
static __always_inline void off_cpu_sample(void *ctx, __u64 slept, __u64 waited)
{
	struct walk *w = walk_here();
	__s32 call;

	if (!w)
		return;
	take_task_registers(w);
	call = off_cpu_call(w);
	if (!sample(ctx, w))
		return;
	off_cpu_emit(ctx, WALKER_WAIT_SLEEP, call, slept);
	off_cpu_emit(ctx, WALKER_WAIT_CPU, call, waited);
}

static __always_inline int off_cpu_back(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walker_task *t = bpf_task_storage_get(&recorded, task, 0, 0);
	__u64 off, delay, waited = 0;
	struct off_cpu_pace *p;
	__u32 key = 0;
	__u32 *guard;

	if (!t || t->state != WALKER_RECORDED)
		return 0;
	/* Linux 6.18 was seen to leave out some 1 of 20,000 switches to a task. */
	if (t->off_since)
		off_cpu_count(t, bpf_ktime_get_ns());
	if (!t->off_total)
		return 0;
	off = t->off_total;
	t->off_total = 0;
	delay = off_cpu_run_delay(task);
	if (t->run_delay != ~0ull)
		waited = delay - t->run_delay;
	t->run_delay = delay;
	if (waited > off)
		waited = off;
	p = bpf_map_lookup_elem(&off_cpu_paces, &key);
	guard = bpf_map_lookup_elem(&walking, &key);
	if (!p || !guard)
		return 0;
	off_cpu_keep_pace(p);
	off = off_cpu_weight(p, off - waited);
	waited = off_cpu_weight(p, waited);
	if (!off && !waited)
		return 0;
	p->taken++;
	WRITE_ONCE(*guard, 1);
	off_cpu_sample(ctx, off, waited);
	WRITE_ONCE(*guard, 0);
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

#endif

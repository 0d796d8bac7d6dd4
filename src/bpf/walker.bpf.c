// SPDX-License-Identifier: GPL-2.0-only
/*
 * The in-kernel walker of CPython's frames.
 *
 * `kaa_sample` runs in the overflow handler of kaa's events, on the thread
 * that the event hit. It reads user memory only (a fault fails the read and
 * nothing else), so the target notices nothing. The walk is that of
 * bpf/walk_frames.h; here are its maps, its programs, and what it needs of the
 * kernel.
 *
 * The three raw tracepoints keep `processes` right over fork, exec and exit
 * with no delay: a forked child is walked from its first instruction.
 *
 * bpf/cpu_clock.h has the programs of clocks that tick for each CPU, bpf/off_cpu.h
 * those of the time off it.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/walk.h"

char LICENSE[] SEC("license") = "GPL";

/* The kernel fields used, found by name at load time (CO-RE). */
struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[];
} __attribute__((preserve_access_index));

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

typedef struct {
	int counter;
} __attribute__((preserve_access_index)) atomic_t;

struct signal_struct {
	atomic_t live;
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	__u64 start_time;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

const volatile struct walker_config config = {};

struct walker_setting setting = {};

/* What kaa_pid_level finds, to be the config of the other programs. */
struct walker_config own = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WALKER_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct walker_process);
} processes SEC(".maps");

/* Code objects whose records are in the ring. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WALKER_MAX_CODES);
	__type(key, __u64);
	__type(value, __u8);
} seen SEC(".maps");

/* Keys of pages that were sent, to the epoch in which. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WALKER_SENT_PAGES);
	__type(key, __u64);
	__type(value, __u32);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CODE_SLOTS);
	__type(key, __u32);
	__type(value, struct walk_code_slot);
} code_slots SEC(".maps");

/* Thread id to thread state, for processes with many threads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WALKER_MAX_THREADS);
	__type(key, __u32);
	__type(value, __u64);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} output SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walker_counters);
} counters SEC(".maps");

#define SCRATCH(name, value_type)                        \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, 1);                  \
		__type(key, __u32);                      \
		__type(value, value_type);               \
	} name SEC(".maps")

SCRATCH(walk_scratch, struct walk);
SCRATCH(stack_scratch, struct walker_stack);
SCRATCH(code_scratch, struct walker_code);
SCRATCH(lines_scratch, struct walker_lines);
SCRATCH(bytes_scratch, struct stack_bytes);

static const __u32 zero;

#define scratch(map, type) ((type *)bpf_map_lookup_elem(&(map), &zero))

/* --- the shell of the walk --- */

static __always_inline long walk_read(void *to, __u32 size, __u64 address)
{
	return bpf_probe_read_user(to, size, (void *)address);
}

static __always_inline long walk_emit(void *ctx, void *record, __u64 size)
{
	return bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, record,
				     size);
}

static __always_inline long walk_loop(__u32 count, walk_loop_fn *step,
				      void *arg)
{
	return bpf_loop(count, step, arg, 0);
}

static __always_inline int walk_has_code(__u64 key)
{
	return bpf_map_lookup_elem(&seen, &key) != NULL;
}

static __always_inline void walk_put_code(__u64 key)
{
	__u8 yes = 1;

	bpf_map_update_elem(&seen, &key, &yes, BPF_ANY);
}

static __always_inline struct walk_code_slot *walk_code_slot(__u64 code)
{
	__u32 slot = code_slot(code);

	return bpf_map_lookup_elem(&code_slots, &slot);
}

static __always_inline const __u64 *walk_find_thread(__u32 tid)
{
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline void walk_put_thread(__u32 tid, __u64 thread)
{
	bpf_map_update_elem(&threads, &tid, &thread, BPF_ANY);
}

static __always_inline struct walk *walk_here(void)
{
	return scratch(walk_scratch, struct walk);
}

static __always_inline struct walker_stack *walk_stack_record(void)
{
	return scratch(stack_scratch, struct walker_stack);
}

static __always_inline struct walker_code *walk_code_record(void)
{
	return scratch(code_scratch, struct walker_code);
}

static __always_inline struct walker_lines *walk_lines_record(void)
{
	return scratch(lines_scratch, struct walker_lines);
}

static __always_inline struct walker_counters *walk_counters(void)
{
	return scratch(counters, struct walker_counters);
}

#define WALK_UNROLL _Pragma("unroll")
#define WALK_APART __noinline

#include "bpf/stack_bytes.h"
#include "bpf/walk_frames.h"

/* Verified once, where all that calls it would have it verified each time. */
__noinline __u64 kaa_next_state(void)
{
	struct walk *w = walk_here();

	return w ? take_state(w) : 0;
}

static __always_inline __u64 walk_next_state(void)
{
	return kaa_next_state();
}

static __always_inline struct stack_bytes *walk_stack_bytes(void)
{
	return scratch(bytes_scratch, struct stack_bytes);
}

static __always_inline int walk_sent_page(__u64 key, __u32 epoch)
{
	const __u32 *sent = bpf_map_lookup_elem(&pages, &key);

	return sent && *sent == epoch;
}

static __always_inline void walk_put_page(__u64 key, __u32 epoch)
{
	bpf_map_update_elem(&pages, &key, &epoch, BPF_ANY);
}

/* --- processes and threads --- */

/* The number of a task in the pid namespace at some depth around it. */
static __always_inline struct upid *number_at(struct pid *pid, __u32 level)
{
	struct upid *number;

	/* The compiler would step by the size that struct upid has above. */
	number = __builtin_preserve_access_index(&pid->numbers[0]);
	return (void *)number + level * bpf_core_type_size(struct upid);
}

/*
 * A task's number in the recorder's pid namespace; 0: it has none. As deep as
 * ours there are others, with the same numbers for processes of their own.
 */
static __always_inline __u32 task_number(struct task_struct *task)
{
	__u32 level = config.pid_level;
	struct upid *number;
	struct pid *pid;

	if (!level)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	if (BPF_CORE_READ(pid, level) < level)
		return 0;
	number = number_at(pid, level);
	if (BPF_CORE_READ(number, ns, ns.inum) != config.pid_namespace)
		return 0;
	return BPF_CORE_READ(number, nr);
}

static __always_inline __u32 task_process(struct task_struct *task)
{
	return task_number(BPF_CORE_READ(task, group_leader));
}

/*
 * The same of the task that runs, whose type the verifier knows: then fields are
 * read as others are, which takes a tenth of the time.
 */
static __always_inline __u32 own_number(struct task_struct *task)
{
	return config.pid_level ? task_number(task) : task->pid;
}

SEC("raw_tp/sched_process_fork")
int kaa_fork(struct bpf_raw_tracepoint_args *args)
{
	struct task_struct *parent = (void *)args->args[0];
	struct task_struct *child = (void *)args->args[1];
	__u32 parent_pid = task_process(parent);
	__u32 child_pid = task_process(child);
	struct walker_process *process;

	if (parent_pid == child_pid || !child_pid)
		return 0;
	process = bpf_map_lookup_elem(&processes, &parent_pid);
	if (!process) {
		bpf_map_delete_elem(&processes, &child_pid);
		return 0;
	}
	bpf_map_update_elem(&processes, &child_pid, process, BPF_ANY);
	process = bpf_map_lookup_elem(&processes, &child_pid);
	/* It does not run yet. */
	if (process)
		process->birth = BPF_CORE_READ(child, start_time);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int kaa_exec(struct bpf_raw_tracepoint_args *args)
{
	__u32 pid = task_process((void *)args->args[0]);

	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int kaa_exit(struct bpf_raw_tracepoint_args *args)
{
	struct task_struct *task = (void *)args->args[0];
	__u32 tid = BPF_CORE_READ(task, pid);
	__u32 pid;

	bpf_map_delete_elem(&threads, &tid);
	/* The last thread: the count is lowered before the tracepoint. */
	if (!BPF_CORE_READ(task, signal, live.counter)) {
		pid = task_process(task);
		bpf_map_delete_elem(&processes, &pid);
	}
	return 0;
}

/* Run once by the recorder on itself: which pid namespace it is in. */
SEC("raw_tp")
int kaa_pid_level(struct bpf_raw_tracepoint_args *args)
{
	struct pid *pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
	struct upid *number;

	(void)args;
	own.pid_level = BPF_CORE_READ(pid, level);
	number = number_at(pid, own.pid_level);
	own.pid_namespace = BPF_CORE_READ(number, ns, ns.inum);
	return 0;
}

/* --- samples --- */

/*
 * Where the stack that the thread is on ends. glibc puts what the thread pointer
 * points at behind the stack of a thread that it starts; the stack of a program
 * ends where it began. 0: it is on neither.
 */
static __always_inline __u64 stack_end(struct task_struct *task, struct walk *w)
{
	__u64 start;

	if (w->thread_pointer > w->stack_pointer)
		return w->thread_pointer;
	start = task->mm->start_stack;
	return start > w->stack_pointer ? start : 0;
}

/* What the recorder has told once stays as it is, also in children: but for birth. */
static __always_inline void take_process(struct walk *w,
					 const struct walker_process *process)
{
	if (w->process.era != process->era ||
	    w->process.switches.module != process->switches.module)
		w->process = *process;
	w->process.birth = process->birth;
}

/*
 * Returns whether the sample may be written: one whose stack found no room would
 * stand there without it.
 */
static __always_inline int sample(void *ctx, struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walker_counters *c = walk_counters();
	struct walker_stack *s = walk_stack_record();
	struct walker_process *process;
	struct left_stack left = {};
	__u64 end = 0;
	__u32 pid;
	int lost;

	if (!c || !s)
		return 1;
	c->samples++;
	pid = own_number(task->group_leader);
	process = bpf_map_lookup_elem(&processes, &pid);
	w->tid = bpf_get_current_pid_tgid();
	/* It has called exec since, or ended, if it had a stack. */
	if (!process && w->has_stack != w->tid && w->has_memory != w->tid &&
	    w->has_left != w->tid)
		return 1;
	w->pid = pid;
	w->number = task == task->group_leader ? pid : own_number(task);
	if (process) {
		take_process(w, process);
		w->thread_pointer = task->thread.fsbase;
		end = stack_end(task, w);
		find_left(w, &left);
	}
	lost = put_stack_bytes(ctx, w, end, &setting);
	if (!lost)
		lost = put_left_stack(ctx, w, &left);
	if (!lost)
		lost = process ? walk_thread(ctx, w, s, c) :
				 walk_no_frames(ctx, w, s);
	c->lost += lost;
	return !lost;
}

/* Of a thread that is in the kernel: the registers that it came with. */
static __always_inline void take_task_registers(struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)w->read_registers;

	_Static_assert(sizeof(w->read_registers) == sizeof(*regs),
		       "room for the registers");
	bpf_probe_read_kernel(regs, sizeof(*regs),
			      (void *)bpf_task_pt_regs(task));
	w->registers[0] = regs->rbx;
	w->registers[1] = regs->rbp;
	w->registers[2] = regs->r12;
	w->registers[3] = regs->r13;
	w->registers[4] = regs->r14;
	w->registers[5] = regs->r15;
	w->registers[6] = regs->rax;
	w->registers[7] = regs->rdx;
	w->stack_pointer = regs->rsp;
}

/*
 * Of a thread that was interrupted in user code. Volatile: the Linux 6.1
 * verifier refuses a read from what is the context or other memory, which the
 * compiler would make of this and the function above.
 */
static __always_inline void
take_event_registers(struct walk *w,
		     const volatile struct bpf_perf_event_data *event)
{
	w->registers[0] = event->regs.rbx;
	w->registers[1] = event->regs.rbp;
	w->registers[2] = event->regs.r12;
	w->registers[3] = event->regs.r13;
	w->registers[4] = event->regs.r14;
	w->registers[5] = event->regs.r15;
	w->registers[6] = event->regs.rax;
	w->registers[7] = event->regs.rdx;
	w->stack_pointer = event->regs.rsp;
}

/*
 * The moment is one of kaa's own, and no sample: the scratch is in use. For its events
 * the kernel sees to that, but not for tracepoints with BTF.
 */
static __always_inline int interrupts_a_walk(const struct walk *w)
{
	return *(const volatile __u32 *)&w->is_walking;
}

static __always_inline void set_walking(struct walk *w, __u32 value)
{
	*(volatile __u32 *)&w->is_walking = value;
}

SEC("perf_event")
int kaa_sample(struct bpf_perf_event_data *ctx)
{
	struct walk *w = walk_here();

	if (!w)
		return 1;
	if (interrupts_a_walk(w))
		return 0;
	if (ctx->regs.cs & 3)
		take_event_registers(w, ctx);
	else
		take_task_registers(w);
	return sample(ctx, w);
}

/* The same for events that are tracepoints. */
SEC("tracepoint")
int kaa_tracepoint(void *ctx)
{
	struct walker_counters *c = walk_counters();
	struct walk *w = walk_here();

	if (!w || !c)
		return 1;
	if (interrupts_a_walk(w)) {
		c->lost++;
		return 0;
	}
	take_task_registers(w);
	return sample(ctx, w);
}

#include "bpf/cpu_clock.h"
#include "bpf/off_cpu.h"

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The in-kernel walker of CPython's frames.
 *
 * `kaa_sample` runs in the overflow handler of kaa's events, on the thread
 * that the event hit. It reads user memory only (a fault fails the read and
 * nothing else), so the target notices nothing. What it reads can be in the
 * middle of a change by the very thread that was interrupted; every frame is
 * checked (its code object has PyCode_Type as its type), every activation has
 * to link to the next, and every stack has to end where an outermost frame
 * ends. What fails is flagged.
 *
 * The three raw tracepoints keep `processes` right over fork, exec and exit
 * with no delay: a forked child is walked from its first instruction.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/walker_shared.h"

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

struct task_struct {
	int pid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

const volatile struct walker_config config = {};

/* What kaa_pid_level finds, to be the config of the other programs. */
struct walker_config own = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WALKER_MAX_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
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

enum {
	/* Registers that may hold a frame: see caller_in_register(). */
	REGISTERS = 8,
	/*
	 * The most of one text or line table, whose target may make it as long as
	 * it likes; no program runs meanwhile.
	 */
	HASHED_BYTES = 4096,
	/* The most bytes of a frame object that one read takes in. */
	FRAME_BYTES = 120,
	/* Bytes of a code object from its type on. */
	CODE_BYTES = 144,
	/* Bytes that are hashed at a time. */
	HASH_BYTES = 256,
	/* Thread states looked at before the cache is asked. */
	FEW_THREADS = 16,
	/* The same for processes with several interpreters. */
	SOME_THREADS = 256,
	MANY_THREADS = WALKER_MAX_THREADS,
	/* The most interpreters that one thread is inside at a time. */
	MAX_RUNNING = 8,
	/* Frames looked at for the first one on the C stack. */
	MAX_INLINED = 1024,
};

/* The walk over one stack; no nesting: one a CPU. */
struct walk {
	struct walker_process process;
	__u32 pid;
	/* The thread, in the recorder's pid namespace and in the first one. */
	__u32 number;
	__u32 tid;
	/* The thread (its `tid`) whose stack is this CPU's last one in the ring. */
	__u32 has_stack;
	__u64 thread;
	/* The frame to be read next, and its evaluation activation. */
	__u64 frame;
	__u64 activation;
	__u64 first_activation;
	/* Frames of all chunks so far. */
	__u32 total;
	__u32 flags;
	/* The last code object: recursion is frequent. */
	__u64 last_code;
	__u64 last_key;
	__u64 last_filename;
	__u64 last_filename_hash;
	/* The search for the thread state. */
	__u64 interp;
	__u64 candidate;
	__u64 wanted;
	__u64 found;
	/*
	 * In a process with several interpreters: the thread's states that run,
	 * and where on the C stack the innermost activation of each has its mark.
	 * The stack grows down: the lowest is the innermost.
	 */
	__u64 running[MAX_RUNNING];
	__u64 marks[MAX_RUNNING];
	__u32 running_count;
	__u8 several;
	/* The last frame was read whole and nothing may come after it. */
	__u8 done;
	__u32 frame_bytes;
	/* Of user code: of the interrupted one, or where it entered the kernel. */
	__u64 registers[REGISTERS];
	/* Room for indexing with masked offsets. */
	__u8 bytes[256];
	__u8 code[256];
	__u8 hashed[HASH_BYTES];
};

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

static const __u32 zero;

#define scratch(map, type) ((type *)bpf_map_lookup_elem(&(map), &zero))

/* Keeps the compiler from deleting or moving a bounds check. */
#define opaque(x) asm volatile("" : "+r"(x))

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
		return 0;
	return value;
}

static __always_inline __u64 word_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xf8;
	opaque(offset);
	return *(const __u64 *)(bytes + (offset & 0xf8));
}

static __always_inline __u32 half_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xfc;
	opaque(offset);
	return *(const __u32 *)(bytes + (offset & 0xfc));
}

static __always_inline __u8 byte_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xff;
	opaque(offset);
	return bytes[offset & 0xff];
}

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* An odd number for each i, unlike multiples of one: a constant in the end. */
static __always_inline __u64 factor(__u64 i)
{
	return mix(mix(0, i + 1), i) | 1;
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
	if (process)
		bpf_map_update_elem(&processes, &child_pid, process, BPF_ANY);
	else
		bpf_map_delete_elem(&processes, &child_pid);
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

/* The innermost frame (or 3.11's and 3.12's activation) of a thread state. */
static __always_inline __u64 thread_top(const struct py_layout *l, __u64 thread)
{
	return read_u64(thread + (l->flags & PY_FRAME_VIA_CFRAME ?
					  l->thread_cframe :
					  l->thread_frame));
}

/* True if the thread state runs Python code at this time. */
static __always_inline int thread_runs(const struct py_layout *l, __u64 thread)
{
	__u64 top = thread_top(l, thread);

	if (l->flags & PY_FRAME_VIA_CFRAME)
		return top && read_u64(top + l->cframe_frame);
	if (l->flags & PY_SHIM_FRAMES)
		return top && read_u64(top + l->frame_previous);
	return top != 0;
}

/*
 * One step over all thread states of all interpreters. A thread that made a
 * subinterpreter has a state in each, both with its thread_id; the lists have
 * the newest first, and that one runs while it has frames.
 */
static long find_step(__u32 i, void *unused)
{
	struct walk *w = scratch(walk_scratch, struct walk);
	const struct py_layout *l;

	(void)i;
	(void)unused;
	if (!w)
		return 1;
	l = &w->process.layout;
	if (!w->candidate) {
		if (w->interp)
			w->interp = read_u64(w->interp + l->interp_next);
		if (!w->interp)
			return 1;
		w->candidate = read_u64(w->interp + l->interp_threads);
		return 0;
	}
	if (read_u64(w->candidate + l->thread_id) == w->wanted) {
		if (thread_runs(l, w->candidate)) {
			w->found = w->candidate;
			if (!w->several) {
				w->done = 1;
				return 1;
			}
			w->running[w->running_count++ & (MAX_RUNNING - 1)] =
				w->candidate;
		}
		if (!w->found)
			w->found = w->candidate;
	}
	w->candidate = read_u64(w->candidate + l->thread_next);
	return 0;
}

/* True if activations leave marks on the C stack: from 3.10 on. */
static __always_inline int has_marks(const struct py_layout *l)
{
	return (l->flags & (PY_CFRAMES | PY_SHIM_FRAMES)) != 0;
}

static long shim_step(__u32 i, void *arg)
{
	struct walk *w = scratch(walk_scratch, struct walk);
	__u64 *frame = arg;
	__u8 owner = 0;

	(void)i;
	if (!w || !*frame ||
	    bpf_probe_read_user(&owner, sizeof(owner),
				(void *)(*frame + w->process.layout.frame_owner)))
		*frame = 0;
	if (!*frame || owner >= w->process.layout.shim_owner)
		return 1;
	*frame = read_u64(*frame + w->process.layout.frame_previous);
	return 0;
}

/* The mark of a state's innermost activation; 0: it has none yet. */
static __always_inline __u64 innermost_mark(const struct py_layout *l,
					    __u64 thread)
{
	__u64 frame;

	if (l->flags & PY_CFRAMES)
		return read_u64(thread + l->thread_cframe);
	frame = thread_top(l, thread);
	bpf_loop(MAX_INLINED, shim_step, &frame, 0);
	return frame;
}

/* Takes the innermost of the states that are left; 0: none is. */
static __always_inline __u64 take_state(struct walk *w)
{
	__u64 thread = 0, mark = 0;
	__u32 taken = 0;

	for (__u32 i = 0; i < MAX_RUNNING; i++) {
		if (!w->running[i] || (thread && w->marks[i] >= mark))
			continue;
		thread = w->running[i];
		mark = w->marks[i];
		taken = i;
	}
	opaque(taken);
	w->running[taken & (MAX_RUNNING - 1)] = 0;
	return thread;
}

/* Verified once, where all that calls it would have it verified each time. */
__noinline __u64 kaa_next_state(void)
{
	struct walk *w = scratch(walk_scratch, struct walk);

	return w ? take_state(w) : 0;
}

static __always_inline void mark_states(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	for (__u32 i = 0; i < MAX_RUNNING; i++)
		if (w->running[i])
			w->marks[i] = innermost_mark(l, w->running[i]);
}

static __always_inline void find_begin(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	w->interp = read_u64(w->process.runtime + l->runtime_interpreters);
	w->candidate =
		w->interp ? read_u64(w->interp + l->interp_threads) : 0;
	w->running_count = 0;
	for (__u32 i = 0; i < MAX_RUNNING; i++)
		w->running[i] = 0;
	w->several = has_marks(l) && w->interp &&
		     read_u64(w->interp + l->interp_next);
}

/*
 * Up to 3.11 the runtime tells whose turn it is. If it is this thread's, that
 * is the one state of it that runs, whatever interpreters it has made.
 */
static __always_inline __u64 current_thread(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 current;

	if (l->runtime_current == PY_ABSENT)
		return 0;
	current = read_u64(w->process.runtime + l->runtime_current);
	if (!current || read_u64(current + l->thread_id) != w->wanted)
		return 0;
	return thread_runs(l, current) ? current : 0;
}

/* The calling thread's state, 0 if it has none. */
static __always_inline __u64 find_thread(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = w->tid;
	__u64 *cached, found;

	/* glibc and musl: pthread_self() is the thread pointer. */
	w->wanted = BPF_CORE_READ(task, thread.fsbase);
	w->found = 0;
	w->done = 0;
	if (!w->wanted)
		return 0;
	find_begin(w);
	found = w->several ? 0 : current_thread(w);
	if (found)
		return found;
	bpf_loop(w->several ? SOME_THREADS : FEW_THREADS, find_step, NULL, 0);
	if (w->running_count) {
		mark_states(w);
		return kaa_next_state();
	}
	if (w->done || !w->interp)
		return w->found;
	cached = bpf_map_lookup_elem(&threads, &tid);
	if (cached && read_u64(*cached + l->thread_id) == w->wanted &&
	    thread_runs(l, *cached))
		return *cached;
	bpf_loop(MANY_THREADS, find_step, NULL, 0);
	found = w->found;
	if (found)
		bpf_map_update_elem(&threads, &tid, &found, BPF_ANY);
	return found;
}

/* --- code objects --- */

static __always_inline __u32 name_offset(const struct py_layout *l)
{
	return l->code_qualname == PY_ABSENT ? l->code_name : l->code_qualname;
}

/* Fills in size and kind of a str; returns the address of its text. */
static __always_inline __u64 text_describe(const struct py_layout *l, __u64 str,
					   __u32 max, struct walker_text *ret)
{
	__u64 length = read_u64(str + l->text_length);
	__u32 state = 0, kind;

	bpf_probe_read_user(&state, sizeof(state),
			    (void *)(str + l->text_state));
	kind = state >> l->text_kind_shift & 7;
	if (kind != 2 && kind != 4)
		kind = 1;
	ret->kind = kind;
	ret->cut = length > max / kind;
	ret->size = (ret->cut ? max / kind : length) * kind;
	if (!(state & l->text_compact_mask))
		return read_u64(str + l->text_data_pointer);
	return str + (state & l->text_ascii_mask ? l->text_ascii_data :
						   l->text_compact_data);
}

/* Bytes whose hash is wanted. */
struct hash_context {
	__u64 address;
	__u64 size;
	__u64 hash;
};

static long hash_step(__u32 i, void *arg)
{
	struct hash_context *c = arg;
	struct walk *w = scratch(walk_scratch, struct walk);
	__u64 offset = (__u64)i * HASH_BYTES;
	const __u64 *words;
	__u64 size;

	if (!w || offset >= c->size)
		return 1;
	size = c->size - offset;
	if (size > HASH_BYTES)
		size = HASH_BYTES;
	words = (const __u64 *)w->hashed;
	/* The rest of the last word. */
	if (size < HASH_BYTES)
		*(__u64 *)(w->hashed + (size & 0xf8)) = 0;
	opaque(size);
	if (size > HASH_BYTES ||
	    bpf_probe_read_user(w->hashed, size, (void *)(c->address + offset)))
		return 1;
	for (int j = 0; j < HASH_BYTES / 8 && j * 8 < size; j++)
		c->hash = mix(c->hash, words[j]);
	return 0;
}

static __always_inline __u64 bytes_hash(__u64 address, __u64 size)
{
	struct hash_context c = { .address = address, .size = size,
				  .hash = size };

	if (c.size > HASHED_BYTES)
		c.size = HASHED_BYTES;
	bpf_loop((c.size + HASH_BYTES - 1) / HASH_BYTES, hash_step, &c, 0);
	return c.hash;
}

/* What a str says: by the hash that it has already, else by its text. */
static __always_inline __u64 text_hash(const struct py_layout *l, __u64 str)
{
	/* Length and hash follow each other in every release. */
	__u64 head[2] = {};
	struct walker_text text;
	__u64 address;

	if (bpf_probe_read_user(head, sizeof(head),
				(void *)(str + l->text_length)))
		return 0;
	if (head[1] != ~0ULL)
		return mix(head[0], head[1]);
	address = text_describe(l, str, WALKER_MAX_FILENAME, &text);
	return bytes_hash(address, text.size);
}

static __always_inline __u64 filename_hash(struct walk *w, __u64 filename)
{
	if (filename != w->last_filename) {
		w->last_filename_hash =
			text_hash(&w->process.layout, filename);
		w->last_filename = filename;
	}
	return w->last_filename_hash;
}

/*
 * The numbers and pointers that stay the same while a code object lives. A sum
 * of products, none of which waits for another as those of mix() do: this is
 * done for every frame.
 */
static __always_inline __u64 identity_hash(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 sum = 0;

	/* 3.11 counts in here how often the code has run. */
	if (l->code_id_hole_end > l->code_id_hole_start)
		*(__u32 *)(w->code + (l->code_id_hole_start & 0xfc)) = 0;
#pragma unroll
	for (__u32 at = 16; at < CODE_BYTES; at += 8) {
		if (at >= l->code_id_start && at < l->code_id_end)
			sum += *(const __u64 *)(w->code + at) * factor(at);
	}
	return sum;
}

/* The texts behind the pointers. */
static __always_inline __u64 names_hash(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 filename = word_at(w->code, l->code_filename);
	__u64 name = word_at(w->code, name_offset(l));

	return mix(filename_hash(w, filename), text_hash(l, name));
}

static __always_inline __u64 lines_hash(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 lines = word_at(w->code, l->code_lines);

	return bytes_hash(lines + l->bytes_data,
			  read_u64(lines + l->bytes_size));
}

/*
 * Names the code object by what it is. Its address and its pointers alone would not do:
 * the memory of a freed code object is used again by the next one, and so is
 * that of its parts. From 3.12 on it has a version that no other one of its process has;
 * but the children of one process, or two without random addresses, give the
 * same versions to different code at the same place. 0 if this is no code object.
 */
static __always_inline __u64 code_key(struct walk *w, __u64 code)
{
	const struct py_layout *l = &w->process.layout;
	__u64 key;

	if (bpf_probe_read_user(w->code, CODE_BYTES, (void *)code))
		return 0;
	if (word_at(w->code, l->object_type) != w->process.code_type)
		return 0;
	key = mix(mix(code, w->process.code_type), identity_hash(w));
	key = mix(key, names_hash(w));
	if (l->code_version == PY_ABSENT ||
	    !half_at(w->code, l->code_version))
		key = mix(key, lines_hash(w));
	return key ? key : 1;
}

struct lines_context {
	void *ctx;
	__u64 key;
	__u64 address;
	__u32 size;
	__u32 pid;
	__u32 failed;
};

static long emit_lines_step(__u32 i, void *arg)
{
	struct lines_context *c = arg;
	struct walker_lines *r = scratch(lines_scratch, struct walker_lines);
	__u32 offset = i * WALKER_CHUNK_LINES;
	__u64 size;

	if (!r || offset >= c->size)
		return 1;
	size = c->size - offset;
	if (size > WALKER_CHUNK_LINES)
		size = WALKER_CHUNK_LINES;
	r->header.type = WALKER_LINES;
	r->header.pid = c->pid;
	r->key = c->key;
	r->offset = offset;
	r->size = size;
	opaque(size);
	if (size > WALKER_CHUNK_LINES)
		return 1;
	if (bpf_probe_read_user(r->bytes, size,
				(void *)(c->address + offset)) ||
	    bpf_perf_event_output(c->ctx, &output, BPF_F_CURRENT_CPU, r,
				  __builtin_offsetof(struct walker_lines,
						     bytes) +
					  size)) {
		c->failed = 1;
		return 1;
	}
	return 0;
}

static __always_inline int emit_lines(void *ctx,
				      struct walk *w, __u64 key, __u64 table,
				      __u32 size)
{
	struct lines_context c = {
		.ctx = ctx,
		.key = key,
		.address = table + w->process.layout.bytes_data,
		.size = size,
		.pid = w->pid,
	};

	bpf_loop(WALKER_MAX_LINES_CHUNKS, emit_lines_step, &c, 0);
	return c.failed;
}

/* Writes the records of the code object in w->code. */
static __noinline int emit_code(void *ctx, __u64 code,
				__u64 key)
{
	struct walk *w = scratch(walk_scratch, struct walk);
	struct walker_code *r = scratch(code_scratch, struct walker_code);
	const struct py_layout *l;
	__u64 filename, name, lines, size;
	__u64 a, b;

	if (!w || !r)
		return 1;
	l = &w->process.layout;
	r->header.type = WALKER_CODE;
	r->header.pid = w->pid;
	r->key = key;
	r->address = code;
	r->first_line = half_at(w->code, l->code_first_line);
	lines = word_at(w->code, l->code_lines);
	size = read_u64(lines + l->bytes_size);
	r->lines_size = size <= WALKER_MAX_LINES ? size : ~0u;
	r->lines_format = l->lines_format;
	filename = text_describe(l, word_at(w->code, l->code_filename),
				 WALKER_MAX_FILENAME, &r->filename);
	name = text_describe(l, word_at(w->code, name_offset(l)),
			     WALKER_MAX_NAME, &r->name);
	a = r->filename.size;
	b = r->name.size;
	opaque(a);
	opaque(b);
	if (a > WALKER_MAX_FILENAME || b > WALKER_MAX_NAME)
		return 1;
	if (bpf_probe_read_user(r->text, a, (void *)filename))
		return 1;
	if (bpf_probe_read_user(r->text + a, b, (void *)name))
		return 1;
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, r,
				  __builtin_offsetof(struct walker_code, text) +
					  a + b))
		return 1;
	if (r->lines_size == ~0u)
		return 0;
	return emit_lines(ctx, w, key, lines, r->lines_size);
}

/* The key of a code object, whose records are in the ring afterwards. */
static __always_inline __u64 code_of(void *ctx,
				     struct walk *w, __u64 code)
{
	__u8 yes = 1;
	__u64 key;

	if (code == w->last_code)
		return w->last_key;
	key = code_key(w, code);
	if (!key)
		return 0;
	if (!bpf_map_lookup_elem(&seen, &key)) {
		struct walker_counters *c =
			scratch(counters, struct walker_counters);

		if (!emit_code(ctx, code, key))
			bpf_map_update_elem(&seen, &key, &yes, BPF_ANY);
		else if (c)
			c->lost_code++;
	}
	w->last_code = code;
	w->last_key = key;
	return key;
}

/* --- frames --- */

/* Byte offset of the instruction that the frame in w->bytes is at. */
static __always_inline __s32 frame_offset(struct walk *w, __u64 code)
{
	const struct py_layout *l = &w->process.layout;
	__s64 offset;

	if (l->flags & PY_LASTI) {
		__s32 lasti = half_at(w->bytes, l->frame_instruction);

		if (lasti < 0)
			return -1;
		return lasti * (__s32)l->lasti_unit;
	}
	offset = word_at(w->bytes, l->frame_instruction) - code - l->code_adaptive;
	if (offset < 0 || offset > 0x7fffffff)
		return -1;
	return offset;
}

static __always_inline int is_shim(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return (l->flags & PY_SHIM_FRAMES) &&
	       byte_at(w->bytes, l->frame_owner) >= l->shim_owner;
}

static __always_inline int flush_chunk(void *ctx,
				       struct walk *w, struct walker_stack *s)
{
	__u64 count = s->count;
	__u64 size;

	s->header.type = WALKER_STACK;
	s->header.pid = w->pid;
	s->tid = w->number;
	s->flags = w->flags;
	s->before = w->total - s->count;
	opaque(count);
	if (count > WALKER_CHUNK_FRAMES)
		return 1;
	/* An `or` in place of the addition would blur the verifier's bound. */
	size = count * sizeof(struct walker_frame);
	opaque(size);
	size += __builtin_offsetof(struct walker_stack, frames);
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, s, size))
		return 1;
	s->count = 0;
	return 0;
}

/*
 * Ends the segment of frames that one activation runs, 3.10 and 3.11: these
 * keep a _PyCFrame on the C stack, linked to the one before. Returns 0 if the
 * link does not fit.
 */
static __always_inline int next_activation(struct walk *w, __u64 previous)
{
	const struct py_layout *l = &w->process.layout;

	if (!(l->flags & PY_CFRAMES))
		return 1;
	w->activation = read_u64(w->activation + l->cframe_previous);
	if (!(l->flags & PY_FRAME_VIA_CFRAME))
		return 1;
	return w->activation &&
	       read_u64(w->activation + l->cframe_frame) == previous;
}

/*
 * The evaluation function links its activation to the thread before it has
 * filled it in (3.11, 3.12). If the first frame makes no sense, begin with the
 * activation before: the new one has not run anything.
 */
static __always_inline int retry_outer(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	if (!(l->flags & PY_FRAME_VIA_CFRAME) || w->total ||
	    (w->flags & WALKER_IN_PROLOGUE))
		return 0;
	w->flags |= WALKER_IN_PROLOGUE;
	w->activation = read_u64(w->first_activation + l->cframe_previous);
	w->frame = w->activation ?
			   read_u64(w->activation + l->cframe_frame) :
			   0;
	return w->frame != 0;
}

static __always_inline long walk_broken(struct walk *w)
{
	if (retry_outer(w))
		return 0;
	w->flags |= WALKER_UNREADABLE;
	w->done = 1;
	return 1;
}

/* True if address is a frame that runs a code object. */
static __always_inline int is_frame(struct walk *w, __u64 address)
{
	const struct py_layout *l = &w->process.layout;
	__u64 code;

	if (!address || (address & 7))
		return 0;
	code = read_u64(address + l->frame_code) & ~(__u64)l->code_tag_mask;
	return code && read_u64(code + l->object_type) == w->process.code_type;
}

/*
 * 3.12 resumes an inlined generator by making it the current frame some
 * instructions before it sets the generator's `previous`. In between the
 * caller is in a register of the evaluation function only. It is taken from there if
 * exactly one register holds a frame other than the generator's.
 */
static __always_inline __u64 caller_in_register(struct walk *w,
						__u64 generator)
{
	__u64 found = 0;

	for (int i = 0; i < REGISTERS; i++) {
		__u64 address = w->registers[i];

		if (address == generator || address == found ||
		    !is_frame(w, address))
			continue;
		if (found)
			return 0;
		found = address;
	}
	return found;
}

/* Goes to the innermost frame of a thread state. */
static __always_inline void enter_state(struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;

	w->thread = thread;
	w->frame = thread_top(l, thread);
	w->activation = 0;
	if (l->flags & PY_FRAME_VIA_CFRAME) {
		w->activation = w->frame;
		w->frame = read_u64(w->activation + l->cframe_frame);
	} else if (l->flags & PY_CFRAMES) {
		w->activation = read_u64(thread + l->thread_cframe);
	}
	w->first_activation = w->activation;
}

/* After the last frame of a state: on with the state around it, if any. */
static __always_inline long leave_state(struct walk *w)
{
	__u64 thread = w->running_count > 1 ? kaa_next_state() : 0;

	w->done = !thread;
	if (!thread)
		return 1;
	enter_state(w, thread);
	return 0;
}

/* After the frame in w->bytes: where the walk goes on. */
static __always_inline long walk_on(struct walk *w, int entry)
{
	const struct py_layout *l = &w->process.layout;
	__u64 previous = word_at(w->bytes, l->frame_previous);

	if (entry && !next_activation(w, previous))
		return walk_broken(w);
	if (!previous && !entry && w->total == 1 &&
	    (l->flags & PY_FRAME_VIA_CFRAME) &&
	    byte_at(w->bytes, l->frame_owner) == l->generator_owner) {
		previous = caller_in_register(w, w->frame);
		w->flags |= WALKER_BY_REGISTER;
	}
	if (!previous && !entry)
		return walk_broken(w);
	w->frame = previous;
	return previous ? 0 : leave_state(w);
}

/* A shim ends the segment of the frames before it. */
static __always_inline long walk_shim(struct walk *w, struct walker_stack *s)
{
	const struct py_layout *l = &w->process.layout;
	__u64 last = s->count - 1;

	opaque(last);
	if (s->count && last < WALKER_CHUNK_FRAMES &&
	    !(s->frames[last].flags & WALKER_FRAME_ENTRY)) {
		s->frames[last].flags |= WALKER_FRAME_ENTRY;
		s->frames[last].activation = w->frame;
	}
	w->frame = word_at(w->bytes, l->frame_previous);
	return w->frame ? 0 : leave_state(w);
}

/*
 * Not a byte more than needed: the local variables behind a new frame may lie
 * in a page that the program has not touched yet.
 */
static __always_inline long read_frame(struct walk *w)
{
	__u64 size = w->frame_bytes;

	opaque(size);
	if (size > FRAME_BYTES)
		return 1;
	return bpf_probe_read_user(w->bytes, size, (void *)w->frame);
}

/* Behind the last field that the walk looks at. */
static __always_inline __u32 frame_bytes(const struct py_layout *l)
{
	__u32 last = l->frame_instruction;

	if (l->frame_owner != PY_ABSENT && l->frame_owner > last)
		last = l->frame_owner;
	return (last | 7) + 1;
}

static long walk_step(__u32 i, void *arg)
{
	void *ctx = *(void **)arg;
	struct walk *w = scratch(walk_scratch, struct walk);
	struct walker_stack *s = scratch(stack_scratch, struct walker_stack);
	const struct py_layout *l;
	struct walker_frame *f;
	__u64 code, key;
	__u64 count;
	int entry;

	(void)i;
	if (!w || !s)
		return 1;
	l = &w->process.layout;
	if (read_frame(w))
		return walk_broken(w);
	if (is_shim(w))
		return walk_shim(w, s);
	/* A frame after a full chunk; a shim may still have marked its last. */
	if (w->total == WALKER_MAX_FRAMES)
		return 1;
	if (s->count == WALKER_CHUNK_FRAMES) {
		w->flags |= WALKER_CONTINUES;
		if (flush_chunk(ctx, w, s))
			return 1;
		w->flags &= ~WALKER_CONTINUES;
	}
	code = word_at(w->bytes, l->frame_code) & ~(__u64)l->code_tag_mask;
	key = code_of(ctx, w, code);
	if (!key)
		return walk_broken(w);
	count = s->count;
	opaque(count);
	if (count >= WALKER_CHUNK_FRAMES)
		return 1;
	f = &s->frames[count];
	f->key = key;
	f->frame = w->frame;
	f->offset = frame_offset(w, code);
	entry = !(l->flags & PY_SHIM_FRAMES) &&
		(!(l->flags & PY_ENTRY_FLAG) ||
		 byte_at(w->bytes, l->frame_is_entry));
	f->flags = entry ? WALKER_FRAME_ENTRY : 0;
	f->activation = entry && (l->flags & PY_CFRAMES) ?
				w->activation :
				0;
	if (f->activation &&
	    f->activation == w->thread + l->thread_root_cframe) {
		f->activation = 0;
		w->flags |= WALKER_LEAVING;
	}
	s->count = count + 1;
	w->total++;
	return walk_on(w, entry);
}

static __always_inline void walk_begin(struct walk *w, struct walker_stack *s)
{
	enter_state(w, w->thread);
	w->frame_bytes = frame_bytes(&w->process.layout);
	w->flags = w->running_count > MAX_RUNNING ? WALKER_TOO_DEEP : 0;
	w->total = 0;
	w->done = 0;
	w->last_code = 0;
	w->last_filename = 0;
	s->count = 0;
	s->extra_activation = 0;
}

static __always_inline int walk_end(void *ctx,
				    struct walk *w, struct walker_stack *s)
{
	const struct py_layout *l = &w->process.layout;

	/* Also if the ring was full for a record, and is not any more. */
	w->flags &= ~WALKER_CONTINUES;
	if (!w->done)
		w->flags |= WALKER_TOO_DEEP;
	if ((l->flags & PY_CFRAMES) &&
	    !(l->flags & PY_FRAME_VIA_CFRAME) && w->activation &&
	    w->activation != w->thread + l->thread_root_cframe)
		s->extra_activation = w->activation;
	return flush_chunk(ctx, w, s);
}

/*
 * The current thread has no frames. The samples of a tracepoint would take the
 * last stack of the thread that this CPU's ring has for theirs.
 */
static __always_inline int no_frames(void *ctx, struct walk *w,
				     struct walker_stack *s)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!w->has_stack ||
	    w->has_stack != (__u32)bpf_get_current_pid_tgid())
		return 0;
	w->pid = task_process(task);
	w->number = task_number(task);
	w->flags = WALKER_NO_FRAMES;
	w->total = 0;
	s->count = 0;
	s->extra_activation = 0;
	if (flush_chunk(ctx, w, s))
		return 1;
	w->has_stack = 0;
	return 0;
}

/* Walks the current thread; returns 0 if its stack found no room. */
static __always_inline int walk_thread(void *ctx, struct walk *w,
				       struct walker_stack *s,
				       struct walker_counters *c)
{
	w->thread = find_thread(w);
	if (!w->thread) {
		c->no_thread++;
		return no_frames(ctx, w, s);
	}
	walk_begin(w, s);
	if (!w->frame)
		return no_frames(ctx, w, s);
	w->has_stack = w->tid;
	bpf_loop(2 * WALKER_MAX_FRAMES, walk_step, &ctx, 0);
	if (walk_end(ctx, w, s))
		return 1;
	c->stacks++;
	return 0;
}

/*
 * Returns whether the sample may be written: one whose stack found no room would
 * stand there without it.
 */
static __always_inline int sample(void *ctx, struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walker_counters *c = scratch(counters, struct walker_counters);
	struct walker_stack *s = scratch(stack_scratch, struct walker_stack);
	struct walker_process *process;
	__u32 pid;
	int lost;

	if (!c || !s)
		return 1;
	c->samples++;
	pid = task_process(task);
	process = bpf_map_lookup_elem(&processes, &pid);
	if (process) {
		w->process = *process;
		w->pid = pid;
		w->number = task_number(task);
		w->tid = bpf_get_current_pid_tgid();
		lost = walk_thread(ctx, w, s, c);
	} else {
		/* It has called exec since, or ended. */
		lost = no_frames(ctx, w, s);
	}
	c->lost += lost;
	return !lost;
}

/* Of a thread that is in the kernel: the registers that it came with. */
static __always_inline void take_task_registers(struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs regs = {};

	bpf_probe_read_kernel(&regs, sizeof(regs),
			      (void *)bpf_task_pt_regs(task));
	w->registers[0] = regs.rbx;
	w->registers[1] = regs.rbp;
	w->registers[2] = regs.r12;
	w->registers[3] = regs.r13;
	w->registers[4] = regs.r14;
	w->registers[5] = regs.r15;
	w->registers[6] = regs.rax;
	w->registers[7] = regs.rdx;
}

SEC("perf_event")
int kaa_sample(struct bpf_perf_event_data *ctx)
{
	struct walk *w = scratch(walk_scratch, struct walk);

	if (!w)
		return 1;
	if (ctx->regs.cs & 3) {
		w->registers[0] = ctx->regs.rbx;
		w->registers[1] = ctx->regs.rbp;
		w->registers[2] = ctx->regs.r12;
		w->registers[3] = ctx->regs.r13;
		w->registers[4] = ctx->regs.r14;
		w->registers[5] = ctx->regs.r15;
		w->registers[6] = ctx->regs.rax;
		w->registers[7] = ctx->regs.rdx;
	} else {
		take_task_registers(w);
	}
	return sample(ctx, w);
}

/* The same for events that are tracepoints. */
SEC("tracepoint")
int kaa_tracepoint(void *ctx)
{
	struct walk *w = scratch(walk_scratch, struct walk);

	if (!w)
		return 1;
	take_task_registers(w);
	return sample(ctx, w);
}

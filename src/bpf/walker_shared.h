/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the in-kernel walker of Python frames and the recorder say to each
 * other: plain data, compiled on both sides.
 *
 * The walker runs at each of kaa's events. Of a thread that runs Python it
 * writes the whole Python stack as one or more STACK records into the ring of
 * the event, directly before the sample that the kernel writes there; of each
 * code object it writes CODE (and LINES) records, at first sight and before
 * the stack that names it.
 *
 * At a tracepoint it runs once for all events that listen to it, each of which
 * may have a sample then: sched:sched_wakeup has one in the events of the thread
 * that wakes another, and one in those of the other. Hence in the ring of a CPU
 * the last stack before a tracepoint's sample is its own, however many samples
 * there are in between; where a thread that had one has none any more, a record
 * says so.
 *
 * Of a stack that is deeper than what the kernel copies with the sample, the pages
 * beyond come in BYTES records, each page once while it stays as it is; a MEMORY
 * record before the STACK records names those of this sample (docs/deep-stacks.md).
 * A LEFT record does so for the stack that a thread leaves for another one in the
 * same memory (docs/greenlets.md).
 */
#ifndef KAA_BPF_WALKER_SHARED_H
#define KAA_BPF_WALKER_SHARED_H

#include "bpf/py_layout.h"

/* The walker's record types, in struct walker_header. */
enum walker_type {
	WALKER_STACK = 1,
	WALKER_CODE = 2,
	WALKER_LINES = 3,
	WALKER_BYTES = 4,
	WALKER_MEMORY = 5,
	WALKER_LEFT = 6,
};

enum {
	/* Frames in one STACK record, and STACK records of one sample. */
	WALKER_CHUNK_FRAMES = 512,
	WALKER_MAX_CHUNKS = 16,
	WALKER_MAX_FRAMES = WALKER_CHUNK_FRAMES * WALKER_MAX_CHUNKS,
	/* Bytes of a filename or name that are captured. */
	WALKER_MAX_FILENAME = 4096,
	WALKER_MAX_NAME = 1024,
	/* Line table bytes in one record, and records of one code object. */
	WALKER_CHUNK_LINES = 8192,
	WALKER_MAX_LINES_CHUNKS = 64,
	WALKER_MAX_LINES = WALKER_CHUNK_LINES * WALKER_MAX_LINES_CHUNKS,
	/* Interpreters and thread states that are searched for a thread. */
	WALKER_MAX_THREADS = 16384,
	WALKER_MAX_PROCESSES = 16384,
	WALKER_MAX_CODES = 262144,
	/* Memory is there, or not, by such pages. */
	WALKER_PAGE = 4096,
	/* Pages of one stack; one that needs more is left as the kernel copied it. */
	WALKER_MAX_PAGES = 256,
	/* Pages that the walker remembers to have sent. */
	WALKER_SENT_PAGES = 16384,
};

/*
 * Where a thread finds the greenlet that it runs, in greenlet's variable of each
 * thread (bpf/left_stack.h).
 */
struct walker_switches {
	/*
	 * Address of the number that the dynamic linker has given the module for its
	 * variables of each thread; 0: there is none. Where the variable is in them.
	 */
	__u64 module;
	__u64 variable;
	/* Address of the pointer to the greenlet that is switched to, or 0. */
	__u64 switching;
	/* In a greenlet: where it keeps what it has of its stack. */
	__u64 stack;
};

/* A process that runs Python; the value of the map `processes`. */
struct walker_process {
	/* Address of _PyRuntime. */
	__u64 runtime;
	/* Address of PyCode_Type: every code object's type. */
	__u64 code_type;
	/*
	 * What tells it from all other processes, beside its pid: when it was
	 * forked, 0 for one that the recorder has found; and which of those it is,
	 * or is a descendant of by fork alone.
	 */
	__u64 birth;
	__u64 era;
	/*
	 * Not 0: while it has one interpreter, no two code objects ever have the
	 * same version (docs/walker-cost.md).
	 */
	__u64 versions_tell;
	struct walker_switches switches;
	struct py_layout layout;
};

/* What became of a stack; with one of the first two it is not whole. */
enum walker_stack_flags {
	/* A frame could not be read or is no frame; those before it are right. */
	WALKER_UNREADABLE = 1 << 0,
	/* More frames than WALKER_MAX_FRAMES. */
	WALKER_TOO_DEEP = 1 << 1,
	/*
	 * The innermost activation was in its prologue and is not in this stack:
	 * the walk began at the one before.
	 */
	WALKER_IN_PROLOGUE = 1 << 2,
	/* The innermost frame's caller was found in a register (3.11, 3.12). */
	WALKER_BY_REGISTER = 1 << 3,
	/* More STACK records of this sample follow. */
	WALKER_CONTINUES = 1 << 4,
	/* The thread had frames at its last event here, and has none now. */
	WALKER_NO_FRAMES = 1 << 5,
	/*
	 * The innermost activation has left the thread, but its frame has not:
	 * every frame's activation is one too far out.
	 */
	WALKER_LEAVING = 1 << 7,
	/*
	 * With WALKER_UNREADABLE: the last frame has no caller, and no mark of an
	 * activation ends it; or (3.12) the innermost activation has none. As greenlet
	 * leaves them while it switches, all frames are there, but not all marks
	 * (docs/greenlets.md).
	 */
	WALKER_UNMARKED_END = 1 << 8,
	/*
	 * Greenlet says that the thread does not switch: the frames are those of the
	 * greenlet whose stack it is on.
	 */
	WALKER_SETTLED = 1 << 9,
};

enum walker_frame_flags {
	/* The outermost frame of its evaluation activation. */
	WALKER_FRAME_ENTRY = 1 << 0,
};

struct walker_header {
	/* enum walker_type */
	__u32 type;
	/* The process, as the recorder's pid namespace numbers it. */
	__u32 pid;
};

struct walker_frame {
	/* Names the code object: struct walker_code's key. */
	__u64 key;
	/* Address of the frame object. */
	__u64 frame;
	/*
	 * With WALKER_FRAME_ENTRY: where the activation keeps its mark on the C
	 * stack (3.10, 3.11: its _PyCFrame; 3.12 on: its shim frame), else 0.
	 */
	__u64 activation;
	/*
	 * Offset of the instruction in bytes from the start of the code; -1 if
	 * the frame has not begun.
	 */
	__s32 offset;
	/* enum walker_frame_flags */
	__u32 flags;
};

struct walker_stack {
	struct walker_header header;
	/* enum walker_stack_flags */
	__u32 flags;
	/* Frames in this record, innermost first. */
	__u32 count;
	/* The thread, numbered as header.pid is. */
	__u32 tid;
	/* Frames in the records of this sample before this one. */
	__u32 before;
	/*
	 * 3.10, 3.11: the activation beyond the outermost one that was matched
	 * with a frame, 0 if there is none: if there is one, every frame's
	 * activation is one too far in.
	 */
	__u64 extra_activation;
	/* The thread pointer, which is the thread's pthread_self(). */
	__u64 thread_pointer;
	struct walker_frame frames[WALKER_CHUNK_FRAMES];
};

/* The kind of 2.7's texts: bytes that should be UTF-8. */
#define WALKER_BYTES_TEXT 0

/* Text of a str object. */
struct walker_text {
	/* Bytes in the record, not terminated. */
	__u32 size;
	/* Bytes a character: 1, 2 or 4; or WALKER_BYTES_TEXT. */
	__u16 kind;
	/* The text is longer than what was captured. */
	__u16 cut;
};

struct walker_code {
	struct walker_header header;
	__u64 key;
	__u64 address;
	__u32 first_line;
	/* Size of the whole line table in the target; ~0u if unreadable. */
	__u32 lines_size;
	/* enum py_lines_format */
	__u32 lines_format;
	__u32 reserved;
	struct walker_text filename;
	/* Qualified name where the version has one (3.11 on), else the name. */
	struct walker_text name;
	/* filename.size, then name.size bytes. */
	__u8 text[WALKER_MAX_FILENAME + WALKER_MAX_NAME];
};

/* A piece of a line table; pieces follow the CODE record in order. */
struct walker_lines {
	struct walker_header header;
	__u64 key;
	__u32 offset;
	__u32 size;
	__u8 bytes[WALKER_CHUNK_LINES];
};

/* A page of some stack. */
struct walker_bytes {
	struct walker_header header;
	/* Stands for what is in it, and for the process; never 0. */
	__u64 key;
	__u8 bytes[WALKER_PAGE];
};

/*
 * MEMORY: the pages beyond the kernel's copy of the stack of one sample. LEFT: those
 * with a copy of the inner end of a stack that the thread leaves.
 */
struct walker_memory {
	struct walker_header header;
	/* The thread, numbered as header.pid is. */
	__u32 tid;
	/* 0: the thread had some at its last event here, and has none now. */
	__u32 count;
	__u64 stack_pointer;
	/* Address of the first page; the others follow it. */
	__u64 start;
	/* LEFT: what of the stack was copied, its size, and to where. */
	__u64 left;
	__u64 left_size;
	__u64 left_copy;
	/* Keys of BYTES records; 0: the page is not in memory. */
	__u64 keys[WALKER_MAX_PAGES];
};

/* Counters; the value of the per-CPU map `counters`. */
struct walker_counters {
	__u64 samples;
	__u64 stacks;
	/* Samples of a Python process in a thread without a thread state. */
	__u64 no_thread;
	/*
	 * Stacks, or pages of one, that found no room in the ring; their sample is
	 * dropped too.
	 */
	__u64 lost;
};

/* What the recorder may set while the walker runs. */
struct walker_setting {
	/* Bytes of stack that the kernel copies with a sample; 0: none. */
	__u32 stack_size;
	/* A page that was sent in another epoch is sent again. */
	__u32 epoch;
	/* Pages that one sample may send: the ring has to hold others, too. */
	__u32 new_pages;
	/* Samples of off-cpu that a CPU may take in a window (bpf/off_cpu.h). */
	__u32 off_cpu_most;
	/* The ns from which on a wait is a sample, where there are not too many. */
	__u64 off_cpu_period;
	/* Since when waits count; 0: none does. */
	__u64 off_cpu_from;
};

/* Of a task. */
enum walker_recorded {
	/* From its exec on. */
	WALKER_ON_EXEC = 1,
	WALKER_RECORDED = 2,
};

/* The value of the map `recorded`. Times are ns of CLOCK_MONOTONIC. */
struct walker_task {
	/* enum walker_recorded */
	__u32 state;
	__u32 reserved;
	/* When it lost its CPU; 0: it has one, or that is not known. */
	__u64 off_since;
	/* How long its waits were that are to be samples, and what these stand for. */
	__u64 off_total;
	__u64 off_weight;
	/* The off_since of the one that is most of that. */
	__u64 off_began;
	/* How long it had waited for a CPU before those, ever; ~0: not known. */
	__u64 run_delay;
};

/* What a thread did while it was off the CPU. */
enum walker_wait_kind {
	WALKER_WAIT_SLEEP = 0,
	/* It could have run, and had no CPU. */
	WALKER_WAIT_CPU = 1,
};

/* RAW of a sample of the event off-cpu. */
struct walker_wait {
	/* The ns that it stands for. */
	__u64 period;
	/* enum walker_wait_kind */
	__u32 kind;
	/* That it waited in; -1: in none. */
	__s32 system_call;
	/* The off_since of the wait, which no other one of the thread has. */
	__u64 since;
};

/* The clock of a CPU; the value of the per-CPU map `clocks`. Times in ns. */
struct walker_clock {
	/* How long recorded tasks have run here. */
	__u64 counted;
	/* The run time of the task that runs, up to where it is counted. */
	__u64 counted_to;
	/* Tasks that could not be noted, for want of memory. */
	__u64 missed;
	/* The task that runs is recorded. */
	__u64 running;
};

/* Read-only parameters, set before loading. */
struct walker_config {
	/* The recorder's depth of nested pid namespaces; 0 is the first one. */
	__u32 pid_level;
	/* The number of that namespace (its inode). */
	__u32 pid_namespace;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the Python frames of one thread: its state, and what its shell
 * provides. bpf/walk_frames.h is the walk itself.
 *
 * The walk trusts nothing that it reads of the target, and writes what it finds
 * as the records of bpf/walker_shared.h. It runs in the kernel (bpf/walker.bpf.c)
 * and in user space (python/user_walk.c): the shell includes it, and defines the
 * functions that are only declared here; WALK_UNROLL, which stands before a loop
 * whose numbers are to be constants; and WALK_APART, before a function that the
 * kernel verifies once, apart from its callers.
 */
#ifndef KAA_BPF_WALK_H
#define KAA_BPF_WALK_H

#include "bpf/walker_shared.h"

#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

/* Numbers within bytes. */
typedef __u64 __attribute__((__may_alias__)) walk_word;
typedef __u32 __attribute__((__may_alias__)) walk_half;

enum {
	/* Registers that may hold a frame: see proven_caller(). */
	REGISTERS = 8,
	/*
	 * The most of one text or line table, whose target may make it as long as
	 * it likes; no program runs meanwhile.
	 */
	HASHED_BYTES = 4096,
	/* The most bytes of a frame that the walk looks at. */
	FRAME_BYTES = 128,
	/* Bytes that one read of frames takes in, at most. */
	WINDOW_BYTES = 4096,
	/* Room for these and, behind them, for one frame alone. */
	FRAMES_BYTES = 2 * WINDOW_BYTES,
	/* Bytes of other structures that are read at once; of a _PyCFrame. */
	BLOCK_BYTES = 256,
	ACTIVATION_BYTES = 24,
	/* Bytes of the C stack, on which 3.10 has one for each frame, that are read at once. */
	MARKS_BYTES = 2048,
	/* The most bytes of a code object that the walk looks at. */
	CODE_BYTES = 160,
	/* Those up to the version, if the release has one; those that it hashes. */
	VERSION_BYTES = 112,
	VERSION_ID_START = 24,
	/* All releases' code_id_start is at most this, their code_id_end at least. */
	CODE_ID_START = 24,
	CODE_ID_END = 112,
	/* Bytes that are hashed at a time. */
	HASH_BYTES = 256,
	/* A str whose text is as long as most names. */
	SHORT_TEXT_BYTES = 96,
	/* The same for line tables. */
	SHORT_LINES_BYTES = 128,
	/* What stands before the contents of a bytes object, from 3.6 on. */
	SHORT_LINES_HEAD = 32,
	/* Thread states looked at before the cache is asked. */
	FEW_THREADS = 16,
	/* The same for processes with several interpreters. */
	SOME_THREADS = 256,
	MANY_THREADS = WALKER_MAX_THREADS,
	/* The most interpreters that one thread is inside at a time. */
	MAX_RUNNING = 8,
	/* Frames looked at for the first one on the C stack. */
	MAX_INLINED = 1024,
	/* Code objects and filenames that one CPU's walk remembers. */
	CODE_SLOTS = 1024,
	FILENAME_SLOTS = 16,
};

/* Bytes of the target that were read at once. */
struct walk_block {
	__u64 start;
	/* 0: they could not be read. */
	__u64 size;
	/* Room for a word at any masked offset. */
	__u8 bytes[BLOCK_BYTES + 8];
};

/*
 * A code object that was seen at an address, whose records are in the ring. What
 * is there now has to be looked at anew by each walk: docs/walker-cost.md.
 */
struct walk_code_slot {
	__u64 code;
	__u64 key;
	/* The walk that looked last. */
	__u64 walk;
	/* The recorder was told; else it is at the next look. */
	__u64 told;
};

/* The hash of a filename, in the walk of that number. */
struct walk_filename_slot {
	__u64 filename;
	__u64 hash;
	__u64 walk;
};

/* The walk over one stack. The kernel has one a CPU: no walk interrupts another. */
struct walk {
	/* The shell fills in what stands here up to tid, and registers below. */
	struct walker_process process;
	/* For glibc and musl the same as pthread_self(). */
	__u64 thread_pointer;
	/* Of user code, as the registers below are. */
	__u64 stack_pointer;
	__u32 pid;
	/* The thread, in the recorder's pid namespace and in the first one. */
	__u32 number;
	__u32 tid;
	/* Not 0: the shell is in the middle of a walk that may be interrupted. */
	__u32 is_walking;
	/* The thread (its `tid`) whose stack is this CPU's last one in the ring. */
	__u32 has_stack;
	/* The same of the last record about memory, and about a stack that is left. */
	__u32 has_memory;
	__u32 has_left;
	/* What of the stack that the thread leaves is in a copy; size 0: nothing. */
	__u64 left;
	__u64 left_size;
	__u64 left_copy;
	/* Greenlet may be about to change links of frames; it says that it is not. */
	__u8 switching;
	__u8 settled;
	__u64 thread;
	/* The frame to be read next, and its evaluation activation. */
	__u64 frame;
	__u64 activation;
	__u64 first_activation;
	/* 3.11, 3.12: the current frame of the activation around the first one. */
	__u64 outer;
	/* The caller of the innermost frame, if not what it links to; else 0. */
	__u64 caller;
	/* Frames of all chunks so far. */
	__u32 total;
	__u32 flags;
	/* Counts the walks: nothing that one has read is believed by the next. */
	__u64 number_of_walk;
	/* Of the process: see process_identity(). */
	__u64 identity;
	/* A version and an address tell a code object from all others. */
	__u64 versions_tell;
	struct walk_filename_slot filenames[FILENAME_SLOTS];
	/* The search for the thread state. */
	__u64 interp;
	__u64 candidate;
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
	/* The walk is still in the innermost activation; and has met `outer`. */
	__u8 first;
	__u8 met_outer;
	__u32 frame_bytes;
	/*
	 * Frames as they were read: see read_head(). The one that is looked at
	 * begins at frames[at]: in the window, or behind it, alone.
	 */
	__u32 at;
	__u32 window_size;
	__u64 window_start;
	/* The frame that was looked at last. */
	__u64 last_frame;
	/* Of the interpreter, the thread state and the activation at hand. */
	struct walk_block interp_block;
	struct walk_block thread_block;
	struct walk_block activation_block;
	/* 3.10: of the C stack, from the activation that was looked at on. */
	__u64 marks_start;
	__u64 marks_size;
	/* Of user code: of the interrupted one, or where it entered the kernel. */
	__u64 registers[REGISTERS];
	/*
	 * For the shell: where the thread's registers are read to. They stand here
	 * and not on the stack of a BPF program: that has 512 bytes for all
	 * functions together.
	 */
	__u64 read_registers[21];
	/* Room for indexing with masked offsets; all aligned as a word is. */
	__u8 frames[FRAMES_BYTES];
	__u8 marks_bytes[MARKS_BYTES];
	__u8 code[256];
	__u8 hashed[HASH_BYTES];
};

/* --- the shell --- */

/* Not 0: the bytes could not be read; *to is all zero then. */
static __always_inline long walk_read(void *to, __u32 size, __u64 address);

/* Not 0: the record found no room. ctx: the shell's, as the walk was given it. */
static __always_inline long walk_emit(void *ctx, void *record, __u64 size);

/* Calls step(i, arg) for i from 0 up, count times or until it returns not 0. */
typedef long walk_loop_fn(__u32 i, void *arg);
static __always_inline long walk_loop(__u32 count, walk_loop_fn *step,
				      void *arg);

/* Whether the records of a code object are out; that they are from now on. */
static __always_inline int walk_has_code(__u64 key);
static __always_inline void walk_put_code(__u64 key);

/* Where a code object at this address is remembered, on this CPU. */
static __always_inline struct walk_code_slot *walk_code_slot(__u64 code);

/* The thread state that a thread was found to have, or NULL; takes it down. */
static __always_inline const __u64 *walk_find_thread(__u32 tid);
static __always_inline void walk_put_thread(__u32 tid, __u64 thread);

/* take_state(); the kernel verifies it apart from its callers. */
static __always_inline __u64 walk_next_state(void);

/*
 * The walk that runs here, and room for the records that it writes: the same at
 * each call during a walk. Never NULL, but the kernel's verifier wants that checked.
 */
static __always_inline struct walk *walk_here(void);
static __always_inline struct walker_code *walk_code_record(void);
static __always_inline struct walker_lines *walk_lines_record(void);

/* --- reading --- */

/* Keeps the compiler from deleting or moving a bounds check. */
#define opaque(x) asm volatile("" : "+r"(x))

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value;

	if (walk_read(&value, sizeof(value), address))
		return 0;
	return value;
}

/*
 * Where a word of the stack of the thread's Python is: its place may be another
 * greenlet's by now.
 */
static __always_inline __u64 place_on_stack(const struct walk *w, __u64 address)
{
	__u64 at = address - w->left;

	return at < w->left_size ? w->left_copy + at : address;
}

static __always_inline __u64 read_stack(const struct walk *w, __u64 address)
{
	return read_u64(place_on_stack(w, address));
}

static __always_inline __u64 word_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xf8;
	opaque(offset);
	return *(const walk_word *)(bytes + (offset & 0xf8));
}

static __always_inline __u32 half_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xfc;
	opaque(offset);
	return *(const walk_half *)(bytes + (offset & 0xfc));
}

static __always_inline __u8 byte_at(const __u8 *bytes, __u32 offset)
{
	offset &= 0xff;
	opaque(offset);
	return bytes[offset & 0xff];
}

/* Reads what follows at once. What cannot be read so is read word by word. */
static __always_inline void read_block(struct walk_block *block, __u64 start,
				       __u64 size)
{
	block->start = start;
	opaque(size);
	if (size > BLOCK_BYTES)
		size = BLOCK_BYTES;
	block->size = walk_read(block->bytes, size, start) ? 0 : size;
}

/* The word at an address, from the block if it is in there. */
static __always_inline __u64 word_in(const struct walk_block *block,
				     __u64 address)
{
	__u64 at = address - block->start;

	/* A pointer of the target's may be any number. */
	if (block->size < 8 || at > block->size - 8 || at & 7)
		return read_u64(address);
	opaque(at);
	return *(const walk_word *)(block->bytes + (at & (BLOCK_BYTES - 8)));
}

/* Reads the mark of an activation, which is on the stack (3.10 to 3.12). */
static __always_inline void read_activation(struct walk *w, __u64 activation)
{
	read_block(&w->activation_block, place_on_stack(w, activation),
		   ACTIVATION_BYTES);
}

static __always_inline __u64 activation_word(const struct walk *w,
					     __u64 address)
{
	return word_in(&w->activation_block, place_on_stack(w, address));
}

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* Which of the CODE_SLOTS is that of an address. */
static __always_inline __u32 code_slot(__u64 code)
{
	return mix(0, code) >> 32 & (CODE_SLOTS - 1);
}

/* An odd number for each i, unlike multiples of one: a constant in the end. */
static __always_inline __u64 factor(__u64 i)
{
	return mix(mix(0, i + 1), i) | 1;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where one release of CPython keeps what a walk over its frames reads.
 *
 * Plain data, shared with the BPF program: fixed-width types, no pointers.
 * python/releases.h has the table of all releases. All offsets are bytes
 * from the start of the structure named by the prefix, on x86-64. An offset
 * that a release does not have is PY_ABSENT.
 *
 * Source of every number: the release's own headers (tests/tools/derive-layout.c
 * prints them), or from 3.13 on the _Py_DebugOffsets in the target.
 */
#ifndef KAA_BPF_PY_LAYOUT_H
#define KAA_BPF_PY_LAYOUT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define PY_ABSENT 0xffffffffu

/* struct _PyCodeArray, pycore_code.h: Py_ssize_t; pointers to the copies. */
enum py_copies {
	PY_COPIES_COUNT = 0,
	PY_COPIES_FIRST = 8,
	/* More threads than these are not looked for. */
	PY_COPIES_MAX = 1024,
};

enum py_layout_flags {
	/*
	 * Up to 3.10: frames are PyFrameObjects, found at thread_frame. Each
	 * frame is its own activation of the evaluation function.
	 */
	PY_FRAME_OBJECTS = 1 << 0,
	/*
	 * 3.11, 3.12: the innermost frame is cframe_frame of the _PyCFrame that
	 * thread_cframe points at.
	 */
	PY_FRAME_VIA_CFRAME = 1 << 1,
	/* 3.11: frame_is_entry marks the outermost frame of an activation. */
	PY_ENTRY_FLAG = 1 << 2,
	/*
	 * 3.12 on: a frame whose owner is at least shim_owner is no Python
	 * frame; the Python frame before it (further in) is the outermost one of
	 * the activation, on whose C stack the shim lies.
	 */
	PY_SHIM_FRAMES = 1 << 3,
	/*
	 * Up to 3.10: frame_instruction is an int, -1 before the first
	 * instruction, counted in lasti_unit bytes. Else it is a pointer into
	 * the code (code_adaptive).
	 */
	PY_LASTI = 1 << 4,
	/*
	 * 3.11, 3.12: the instruction pointer is that of the last instruction
	 * run; one code unit before the code's start: none was run yet.
	 */
	PY_PREVIOUS_INSTRUCTION = 1 << 5,
	/*
	 * 3.10 to 3.12: each activation keeps a _PyCFrame on the C stack, linked
	 * by cframe_previous and ending at the one inside the thread state.
	 */
	PY_CFRAMES = 1 << 6,
	/*
	 * 2.7: a name is a str, which is bytes: they begin at text_ascii_data.
	 * Its hash follows its length, as in all releases.
	 */
	PY_BYTE_TEXTS = 1 << 7,
	/* 2.7: runtime_lock is a pointer to the lock, which is one alone. */
	PY_LOCK_IS_POINTER = 1 << 8,
	/* 3.13 on: a free-threaded build. Its objects' heads are 16 bytes longer. */
	PY_FREE_THREADED = 1 << 9,
};

/* How code_lines is encoded. */
enum py_lines_format {
	/* 3.6 to 3.9: co_lnotab, pairs of code and signed line increments. */
	PY_LINES_LNOTAB = 1,
	/* 3.10: PEP 626 pairs. */
	PY_LINES_PAIRS = 2,
	/* 3.11 on: PEP 657 location entries. */
	PY_LINES_LOCATIONS = 3,
	/* 2.7: co_lnotab, the increments of lines without a sign. */
	PY_LINES_UNSIGNED = 4,
};

struct py_layout {
	/* PY_VERSION_HEX of the target. */
	__u32 version;
	/* enum py_layout_flags */
	__u32 flags;

	/*
	 * _PyRuntimeState, up to 3.6 the variables that stand for it, whose places
	 * are those of one file (python/old_runtime.h): pointer to the first
	 * PyInterpreterState.
	 */
	__u32 runtime_interpreters;
	/* Up to 3.11: pointer to the thread state that holds the GIL. */
	__u32 runtime_current;
	/*
	 * Up to 3.6, if the file tells: where the lock of the GIL begins and ends,
	 * on which who wants it sleeps.
	 */
	__u32 runtime_lock;
	__u32 runtime_lock_end;

	/* PyInterpreterState: pointers. */
	__u32 interp_next;
	__u32 interp_threads;
	/* Pointer to the dict sys.modules. */
	__u32 interp_modules;

	/* PyThreadState */
	__u32 thread_next;
	/* unsigned long: pthread_self(), which is the thread's FS base. */
	__u32 thread_id;
	/* 3.11 on, unsigned long: gettid() in the target's pid namespace. */
	__u32 thread_native_id;
	/* Pointer to the innermost frame; PY_ABSENT with PY_FRAME_VIA_CFRAME. */
	__u32 thread_frame;
	/* Pointer to the innermost _PyCFrame (3.10 to 3.12). */
	__u32 thread_cframe;
	/* The _PyCFrame inside the thread state that ends their list. */
	__u32 thread_root_cframe;
	/*
	 * 3.15: pointer to the frame that ends the list of frames, a shim inside
	 * the thread state. It belongs to no activation.
	 */
	__u32 thread_base_frame;
	/*
	 * What tells which frame is the innermost (bpf/walk_innermost.h), with
	 * PY_FRAME_VIA_CFRAME only. Pointers to the last chunk of the data stack,
	 * and to its end.
	 */
	__u32 thread_stack_chunk;
	__u32 thread_stack_top;
	/* Pointer to the exc_state of the generator that runs, else to its own. */
	__u32 thread_exc_info;
	__u32 thread_exc_state;
	/* Within the same generator object. */
	__u32 generator_exc_state;
	__u32 generator_frame;

	/* _PyCFrame (3.10: CFrame): pointers. */
	__u32 cframe_frame;
	__u32 cframe_previous;

	/* PyFrameObject (up to 3.10) or _PyInterpreterFrame. */
	__u32 frame_previous;
	/* Pointer to the code object; clear the bits of code_tag_mask in it. */
	__u32 frame_code;
	__u32 frame_instruction;
	/* char; 3.11 on. */
	__u32 frame_owner;
	/* bool; 3.11. */
	__u32 frame_is_entry;
	__u32 frame_size;
	/* Low bits of frame_code that are no part of the pointer: 0 or 3. */
	__u32 code_tag_mask;
	/* Bytes that one step of an int frame_instruction stands for. */
	__u32 lasti_unit;
	/* int, with PY_FRAME_VIA_CFRAME: -1 while the frame is run. */
	__u32 frame_stack_top;
	/* The least owner of a shim; PY_ABSENT without PY_SHIM_FRAMES. */
	__u32 shim_owner;
	/* The owner of a frame inside a generator or coroutine; else PY_ABSENT. */
	__u32 generator_owner;

	/* PyObject: pointer to the type. PyTypeObject: char pointer tp_name. */
	__u32 object_type;
	__u32 type_name;

	/* PyCodeObject; filename to lines are pointers. */
	__u32 code_filename;
	__u32 code_name;
	/* 3.11 on. */
	__u32 code_qualname;
	/* bytes: co_lnotab or co_linetable, by lines_format. */
	__u32 code_lines;
	/* int */
	__u32 code_first_line;
	/* int */
	__u32 code_flags;
	/* 3.11 on: the instructions begin here, inside the object. */
	__u32 code_adaptive;
	/* Up to 3.10: pointer to the bytes of the instructions. */
	__u32 code_bytes;
	/* 3.11 on: Py_ssize_t, number of code units (2 bytes each). */
	__u32 code_units;
	/* ints, with PY_FRAME_VIA_CFRAME: words of a frame behind its head. */
	__u32 code_locals;
	__u32 code_stack_size;
	/*
	 * 3.12 on, u32: no two code objects of an interpreter have the same one,
	 * but for 0, which is none. Within code_id.
	 */
	__u32 code_version;
	/*
	 * The bytes that identify a code object and do not change while it
	 * lives, but for the hole within them (start == end: none).
	 */
	__u32 code_id_start;
	__u32 code_id_end;
	__u32 code_id_hole_start;
	__u32 code_id_hole_end;
	/* enum py_lines_format */
	__u32 lines_format;

	/*
	 * 2.7: bytes of a character of a unicode object, at text_data_pointer, as
	 * this file was built: 2 or 4.
	 */
	__u32 unicode_width;
	/* PyASCIIObject and what follows it. Py_ssize_t, in characters. */
	__u32 text_length;
	/* u32 of bits, see below. */
	__u32 text_state;
	/* Characters of a compact ASCII str, and of another compact str. */
	__u32 text_ascii_data;
	__u32 text_compact_data;
	/* Pointer to the characters of a str that is not compact. */
	__u32 text_data_pointer;
	/* In text_state: three bits that are the kind (1, 2, 4; 0: not ready). */
	__u32 text_kind_shift;
	/* Masks of one bit each. */
	__u32 text_compact_mask;
	__u32 text_ascii_mask;

	/* PyBytesObject */
	__u32 bytes_size;
	__u32 bytes_data;

	/*
	 * Free-threaded builds from 3.14 on, where each thread runs a copy of the
	 * instructions of its own. Of a frame, int: the number of its copy. Of a
	 * code object: pointer to a _PyCodeArray (pycore_code.h) of the copies, the
	 * first of which is the one inside the object. Others: 0, where neither is.
	 */
	__u32 frame_copy;
	__u32 code_copies;
};

#endif

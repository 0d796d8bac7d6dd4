/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of CPython versions: which ones kaa supports, for what, and where
 * each keeps what kaa reads. A row for each version, in python/releases.def.
 * The walker's layouts (python/layout.h), the agent, `kaa activate` and
 * `kaa doctor` take what they know of a version from here.
 *
 *	PY_RELEASE(minor, uses,
 *		.layout = { struct py_layout, without version },
 *		.objects = { struct py_objects },
 *		.values = { struct py_values },
 *		.gil = { struct py_gil },
 *		.tasks = { struct py_tasks_at, from 3.8 on },
 *		.hook = { struct py_hook },
 *		.slots = { struct py_debug_slots, from 3.13 on })
 *
 * tests/tools/derive-layout.c, compiled with the headers of a version, prints its
 * row, with 0 for `uses`: that is decided by who tries the version. Headers of any
 * release from the first candidate on will do, since structures do not change
 * any more then. Alphas and betas have no rows.
 *
 * All rows are of builds for 64 bits. Those in releases.def have a GIL. Free-threaded
 * builds have rows of their own, in python/free_threaded.def: the same headers say
 * something else, as each object begins with 16 bytes more. Such a row has no GIL, and
 * no hook: the agent does not support these builds.
 *
 * tests/live/test_python_layout.py holds every row to the headers of the
 * interpreters that are there, and tests/unit/test_python.c the rows to each other.
 */
#ifndef KAA_PYTHON_RELEASES_H
#define KAA_PYTHON_RELEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/py_layout.h"

/* The part of PY_VERSION_HEX that names the series: 0x030c0000 for 3.12.1. */
#define PY_SERIES(version) ((version) & 0xffff0000u)
/* The 12 of 3.12. */
#define PY_MINOR(version) ((version) >> 16 & 255u)
/* What differs between 2.7 and 3.6 is asked of versions before this. */
#define PY_SERIES_3 0x03000000u

/* What kaa supports a version for. */
enum py_release_use {
	/* kaa run: the agent is loaded into it (agent/agent.h). */
	PY_FOR_AGENT = 1 << 0,
	/* kaa record: the walker reads its frames (bpf/walk_frames.h). */
	PY_FOR_WALKER = 1 << 1,
	/* kaa activate: it is asked while it runs (python/look/remote_exec.h). */
	PY_FOR_ACTIVATE = 1 << 2,
};

/*
 * Where objects keep what python/object.h reads. Offsets as in struct py_layout.
 */
struct py_objects {
	/* PyDictObject: pointers to the keys, and to the values of a split table. */
	uint32_t dict_keys;
	uint32_t dict_values;
	/*
	 * 2.7: Py_ssize_t, one less than the number of entries; dict_keys is a
	 * pointer to these, each of them hash, key and value.
	 */
	uint32_t dict_mask;
	/*
	 * PyDictKeysObject: the size of the index table, a number (up to 3.10) or
	 * the log2 of its bytes (u8); DICT_KEYS_* (u8), up to 3.10 always general;
	 * the number of entries (Py_ssize_t). The entries stand behind the indices.
	 */
	uint32_t keys_size;
	uint32_t keys_log2_index_bytes;
	uint32_t keys_kind;
	uint32_t keys_entries;
	uint32_t keys_indices;
	/* PyDictValues: the first of them. */
	uint32_t values_first;
	/*
	 * 3.11 on, of types with Py_TPFLAGS_MANAGED_DICT: so many bytes before an
	 * object stand the pointers to its dict and (3.11) to its values. 3.12 has
	 * either in the first place, 3.13 the values behind the object.
	 */
	uint32_t before_dict;
	uint32_t before_values;
	/* PyTypeObject: Py_ssize_t, unsigned long, Py_ssize_t. */
	uint32_t type_basic_size;
	uint32_t type_flags;
	uint32_t type_dict_offset;
	/* PyHeapTypeObject: pointer to the keys that its instances share. */
	uint32_t type_cached_keys;
	/* PyModuleObject: pointer to the dict. */
	uint32_t module_dict;
	/* PyIntObject, 2.7: long. */
	uint32_t int_plain;
	/* PyLongObject: ob_size, from 3.12 on lv_tag; digits of 30 bits in u32. */
	uint32_t int_size;
	uint32_t int_digits;
};

/*
 * Where values stand that python/object_text.h and python/locals.h read, beside struct
 * py_objects. Offsets as there.
 */
struct py_values {
	/* Of a frame: its first local variable; pointers follow each other. */
	uint32_t frame_locals;
	/*
	 * PyCodeObject, pointers to tuples of str: the names of these variables. Up
	 * to 3.10 those of cells and of free variables come behind the local ones,
	 * later one tuple has all, and a bytes object what each of them is.
	 */
	uint32_t code_local_names;
	uint32_t code_cell_names;
	uint32_t code_free_names;
	uint32_t code_local_kinds;
	/* ints: arguments by place, and by keyword alone, which 2.7 has not. */
	uint32_t code_arguments;
	uint32_t code_keyword_arguments;
	/* PyTupleObject: the first item. PyListObject: pointer to it. */
	uint32_t tuple_items;
	uint32_t list_items;
	/* PySetObject: Py_ssize_t, Py_ssize_t, pointer to (key, hash) pairs. */
	uint32_t set_used;
	uint32_t set_mask;
	uint32_t set_table;
	/* PyDictObject: Py_ssize_t. PyFloatObject: double. PyCellObject: pointer. */
	uint32_t dict_used;
	uint32_t float_value;
	uint32_t cell_value;
};

/* Where the GIL is (python/gil.h). Up to 3.6 no structure has it. */
struct py_gil {
	/* 3.7 to 3.11 in _PyRuntime; later PyInterpreterState: pointer to it. */
	uint32_t runtime_gil;
	uint32_t interp_gil;
	/* struct _gil_runtime_state: int; pointer to the thread state. */
	uint32_t gil_locked;
	uint32_t gil_holder;
	/* Its condition variable and its mutex: who waits on them wants the GIL. */
	uint32_t gil_wait_start;
	uint32_t gil_wait_end;
	/* int: the garbage collector runs. 3.7, 3.8: in _PyRuntime; PyInterpreterState. */
	uint32_t runtime_collecting;
	uint32_t interp_collecting;
};

/*
 * Where generators, thread states and others keep what leads to asyncio's tasks and
 * through their coroutines (python/coroutine.h, python/tasks.h); all 0: the version
 * has none, or it is a free-threaded build, in which nobody has tried it. Coroutines
 * and asynchronous generators begin as generators do.
 */
struct py_tasks_at {
	/* PyGenObject: up to 3.10 pointer to its frame; later the frame is in it. */
	uint32_t generator_frame;
	/* From 3.11 on: its state, of which below (s8). 3.10: PyFrameObject has it (s8). */
	uint32_t generator_state;
	uint32_t frame_state;
	/*
	 * The end of a frame's stack: a pointer (up to 3.9, and from 3.14 on), or an
	 * int that counts from where frame_stack points to (3.10), or from the first
	 * local variable (3.11 to 3.13).
	 */
	uint32_t frame_stack;
	uint32_t frame_stack_top;
	/*
	 * What a state is if the generator is in an await or `yield from` (up to 3.12:
	 * or has yielded), and if it runs. As u8.
	 */
	uint32_t state_awaits;
	uint32_t state_runs;
	/* PyThreadState, up to 3.12: pointer to a dict that has the running loop. */
	uint32_t thread_dict;
	/*
	 * _PyThreadStateImpl, from 3.14 on: pointers to that loop and to the task that
	 * runs, and the head of a list of tasks. 3.13 has the loop right behind
	 * PyThreadState, whose size is not that of all its micro releases.
	 */
	uint32_t thread_loop;
	uint32_t thread_task;
	uint32_t thread_tasks;
	/*
	 * PyInterpreterState: such a list, of threads that have ended. In free-threaded
	 * builds micro releases have it elsewhere (python/tasks.c).
	 */
	uint32_t interp_tasks;
	/* PyTypeObject, PyWeakReference, PyMethodObject, PyFunctionObject: pointers. */
	uint32_t type_base;
	uint32_t weak_object;
	uint32_t method_self;
	uint32_t function_closure;
	uint32_t function_qualname;
};

/* What the agent's eval hook needs beside the layout. Offsets, or PY_ABSENT. */
struct py_hook {
	/* PyThreadState: pointer to the interpreter. */
	uint32_t thread_interp;
	/* PyInterpreterState, 3.6 to 3.8: pointer to the eval function. */
	uint32_t interp_eval_frame;
};

/*
 * Where struct _Py_DebugOffsets, with which _PyRuntime begins from 3.13 on, has
 * the numbers that kaa reads: indexes of an array of u64. 0: not there. What
 * stands there replaces the field of struct py_layout of the same name, which so
 * needs no value in the row.
 */
struct py_debug_slots {
	/* *_size: the size of the structure, which bounds the offsets in it. */
	uint8_t runtime_size;
	uint8_t runtime_interpreters;
	uint8_t interp_size;
	uint8_t interp_next;
	uint8_t interp_modules;
	uint8_t interp_threads;
	/* 3.14 on: pointer to the state of the main thread. */
	uint8_t interp_main_thread;
	uint8_t thread_size;
	uint8_t thread_next;
	uint8_t thread_id;
	uint8_t thread_native_id;
	uint8_t thread_frame;
	uint8_t thread_base_frame;
	uint8_t frame_size;
	uint8_t frame_previous;
	uint8_t frame_code;
	uint8_t frame_instruction;
	uint8_t frame_owner;
	uint8_t object_size;
	uint8_t object_type;
	uint8_t type_size;
	uint8_t type_name;
	uint8_t code_size;
	uint8_t code_filename;
	uint8_t code_name;
	uint8_t code_qualname;
	uint8_t code_lines;
	uint8_t code_first_line;
	uint8_t code_adaptive;
	uint8_t text_object_size;
	uint8_t text_length;
	uint8_t text_state;
	uint8_t text_ascii_data;
	uint8_t text_compact_data;
	uint8_t bytes_object_size;
	/* Here and in py_layout: the field that counts the bytes. */
	uint8_t bytes_size;
	uint8_t bytes_data;
	/* Free-threaded builds, 3.14 on. */
	uint8_t frame_copy;
	uint8_t code_copies;
	/* 3.14 on: of PyThreadState, PyInterpreterState, and of remote_support. */
	uint8_t remote_eval_breaker;
	uint8_t remote_support;
	uint8_t remote_enabled;
	uint8_t remote_pending;
	uint8_t remote_script;
	/* A size in bytes. */
	uint8_t remote_script_size;
};

/*
 * The first numbers of struct _Py_DebugOffsets, alike in all versions: by these it
 * is recognised before its version is known.
 */
enum {
	PY_SLOT_COOKIE = 0,
	PY_SLOT_VERSION = 1,
	PY_SLOT_FREE_THREADED = 2,
	PY_SLOT_RUNTIME_SIZE = 3,
	PY_SLOT_RUNTIME_INTERPRETERS = 5,
	PY_SLOTS_OF_HEAD = 6,
};

/* The cookie: "xdebugpy". */
#define PY_DEBUG_COOKIE 0x7970677562656478ull
/* Sizes and offsets of structures stay below this. */
#define PY_OFFSET_MAX (1u << 20)

struct py_release {
	/* PY_SERIES() of its releases. */
	uint32_t series;
	/* Bits of enum py_release_use. */
	uint32_t uses;
	struct py_layout layout;
	struct py_objects objects;
	struct py_hook hook;
	struct py_debug_slots slots;
	struct py_values values;
	struct py_gil gil;
	struct py_tasks_at tasks;
};

/*
 * The initializer of a struct py_release, of the arguments of PY_RELEASE(). Of Python
 * 2 there is one, whose `minor` is 27.
 */
#define PY_RELEASE_ROW(minor, uses_, ...)                     \
	{                                                     \
		.series = ((minor) == 27 ? 0x0207u : 0x0300u | (minor)) << 16, \
		.uses = (uses_), __VA_ARGS__                  \
	}

/* The row of a version with a GIL, by PY_VERSION_HEX. NULL: there is none. */
const struct py_release *py_release_find(uint32_t version);

/* That of a free-threaded build of the version. NULL: the walker was not tried on it. */
const struct py_release *py_release_free_threaded(uint32_t version);

/* The row that a layout was made from. */
const struct py_release *py_release_of(const struct py_layout *layout);

/* The same; NULL also if it is not supported for that. */
const struct py_release *py_release_for(uint32_t version, enum py_release_use use);

/* The minor versions of Python 3 that are supported for something: all from first to last. */
struct py_release_span {
	unsigned int first;
	unsigned int last;
};

struct py_release_span py_releases_for(enum py_release_use use);

/* All versions that are supported for something: "2.7 and 3.6 to 3.15". */
#define PY_RELEASES_TEXT_MAX 48
void py_releases_text(enum py_release_use use, char ret[PY_RELEASES_TEXT_MAX]);
/* Those whose free-threaded builds the walker reads. */
struct py_release_span py_releases_free_threaded(void);

#endif

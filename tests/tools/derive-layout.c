// SPDX-License-Identifier: GPL-2.0-only
/*
 * What src/python/releases.h says of a CPython version, by that version's own
 * headers.
 *
 *	cc -w -DPy_BUILD_CORE -I INCLUDE -I INCLUDE/internal derive-layout.c
 *	./a.out         a line "field value" for each field of struct py_layout
 *	./a.out row     the row for src/python/releases.def
 *	./a.out list    a line for src/python/tasks.c
 *
 * With the headers of a free-threaded build it is the row for free_threaded.def.
 *
 * INCLUDE is what sysconfig.get_paths()["include"] says. No library is needed.
 */
#include <Python.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "frameobject.h"
#if PY_VERSION_HEX < 0x03070000
/* All is public. */
#elif PY_VERSION_HEX < 0x03080000
#include "internal/gil.h"
#include "internal/pystate.h"
#elif PY_VERSION_HEX < 0x03090000
#include "internal/pycore_pystate.h"
#elif PY_VERSION_HEX < 0x030b0000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#elif PY_VERSION_HEX < 0x030e0000
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#if PY_VERSION_HEX >= 0x030d0000
#include "internal/pycore_tstate.h"
#endif
#else
#include "internal/pycore_frame.h"
#include "internal/pycore_interpframe_structs.h"
#include "internal/pycore_interp_structs.h"
#include "internal/pycore_runtime_structs.h"
#include "internal/pycore_tstate.h"
#endif
#if PY_VERSION_HEX < 0x030b0000
#include "code.h"
#include "longintrepr.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_dict.h"
#endif
#if PY_VERSION_HEX >= 0x03080000
#include "internal/pycore_gil.h"
#endif
#if PY_VERSION_HEX >= 0x030d0000
#include "internal/pycore_object.h"
#include "internal/pycore_runtime.h"
#endif

#ifdef Py_GIL_DISABLED
#define FREE_THREADED 1
#else
#define FREE_THREADED 0
#endif

/* Each thread has a copy of the instructions of its own. */
#define COPIES (FREE_THREADED && PY_VERSION_HEX >= 0x030e0000)

/* What the row says where a version has no such field. */
#define NO UINT32_MAX
/* Columns of the table. */
#define WIDTH 96

struct entry {
	const char *name;
	uint32_t value;
};

struct entries {
	struct entry list[80];
	size_t count;
};

/* The structs of a row: struct py_layout, py_objects, py_values, py_gil, ... */
static struct entries layout, objects, values, gil, tasks, hook, slots;

static void add(struct entries *to, const char *name, uint32_t value)
{
	to->list[to->count++] = (struct entry){ name, value };
}

#define VALUE(name, value) add(&layout, #name, (uint32_t)(value))
#define AT(name, type, member) VALUE(name, offsetof(type, member))
#define ABSENT(name) VALUE(name, NO)

/* A number of struct _Py_DebugOffsets, which is one of u64. */
#define SLOT(name, member) \
	add(&slots, #name, offsetof(_Py_DebugOffsets, member) / sizeof(uint64_t))

#if PY_VERSION_HEX < 0x030b0000
typedef PyFrameObject frame_type;
#else
typedef _PyInterpreterFrame frame_type;
#endif
#if PY_VERSION_HEX < 0x030b0000
#define CFRAME_TYPE CFrame
#else
#define CFRAME_TYPE _PyCFrame
#endif

/* enum py_layout_flags, in the order of its bits; whether this version has it. */
static const struct {
	const char *name;
	int has;
} flags[] = {
	{ "PY_FRAME_OBJECTS", PY_VERSION_HEX < 0x030b0000 },
	{ "PY_FRAME_VIA_CFRAME", PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000 },
	{ "PY_ENTRY_FLAG", PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000 },
	{ "PY_SHIM_FRAMES", PY_VERSION_HEX >= 0x030c0000 },
	{ "PY_LASTI", PY_VERSION_HEX < 0x030b0000 },
	{ "PY_PREVIOUS_INSTRUCTION",
	  PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000 },
	{ "PY_CFRAMES", PY_VERSION_HEX >= 0x030a0000 && PY_VERSION_HEX < 0x030d0000 },
	{ "PY_BYTE_TEXTS", PY_VERSION_HEX < 0x03000000 },
	{ "PY_LOCK_IS_POINTER", PY_VERSION_HEX < 0x03000000 },
	{ "PY_FREE_THREADED", FREE_THREADED },
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

/* enum py_lines_format, from 1 on. */
static const char *const lines_formats[] = {
	"PY_LINES_LNOTAB", "PY_LINES_PAIRS", "PY_LINES_LOCATIONS", "PY_LINES_UNSIGNED"
};

#define LINES_FORMAT                       \
	(PY_VERSION_HEX < 0x03000000 ? 4 : \
	 PY_VERSION_HEX < 0x030a0000 ? 1 : \
	 PY_VERSION_HEX < 0x030b0000 ? 2 : \
				       3)

static void add_states(void)
{
#if PY_VERSION_HEX < 0x03070000
	ABSENT(runtime_interpreters);
#else
	AT(runtime_interpreters, _PyRuntimeState, interpreters.head);
#endif
#if PY_VERSION_HEX >= 0x03070000 && PY_VERSION_HEX < 0x030c0000
	AT(runtime_current, _PyRuntimeState, gilstate.tstate_current);
#else
	ABSENT(runtime_current);
#endif
	/* Up to 3.6 each file has all of these elsewhere. */
	ABSENT(runtime_lock);
	ABSENT(runtime_lock_end);
	AT(interp_next, PyInterpreterState, next);
#if PY_VERSION_HEX < 0x030c0000
	AT(interp_modules, PyInterpreterState, modules);
#else
	AT(interp_modules, PyInterpreterState, imports.modules);
#endif
#if PY_VERSION_HEX < 0x030b0000
	AT(interp_threads, PyInterpreterState, tstate_head);
#else
	AT(interp_threads, PyInterpreterState, threads.head);
#endif
	AT(thread_next, PyThreadState, next);
	AT(thread_id, PyThreadState, thread_id);
#if PY_VERSION_HEX < 0x030b0000
	ABSENT(thread_native_id);
	AT(thread_frame, PyThreadState, frame);
#else
	AT(thread_native_id, PyThreadState, native_thread_id);
#if PY_VERSION_HEX < 0x030d0000
	ABSENT(thread_frame);
#else
	AT(thread_frame, PyThreadState, current_frame);
#endif
#endif
#if PY_VERSION_HEX < 0x030f0000
	ABSENT(thread_base_frame);
#else
	AT(thread_base_frame, PyThreadState, base_frame);
#endif
}

static void add_cframe(void)
{
#if PY_VERSION_HEX >= 0x030a0000 && PY_VERSION_HEX < 0x030d0000
	AT(thread_cframe, PyThreadState, cframe);
	AT(thread_root_cframe, PyThreadState, root_cframe);
	AT(cframe_previous, CFRAME_TYPE, previous);
#else
	ABSENT(thread_cframe);
	ABSENT(thread_root_cframe);
	ABSENT(cframe_previous);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000
	AT(cframe_frame, CFRAME_TYPE, current_frame);
#else
	ABSENT(cframe_frame);
#endif
}

/* What tells which frame is the innermost: bpf/walk_innermost.h. */
static void add_innermost(void)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000
	AT(thread_stack_chunk, PyThreadState, datastack_chunk);
	AT(thread_stack_top, PyThreadState, datastack_top);
	AT(thread_exc_info, PyThreadState, exc_info);
	AT(thread_exc_state, PyThreadState, exc_state);
	AT(generator_exc_state, PyGenObject, gi_exc_state);
	AT(generator_frame, PyGenObject, gi_iframe);
	AT(frame_stack_top, _PyInterpreterFrame, stacktop);
	AT(code_locals, PyCodeObject, co_nlocalsplus);
	AT(code_stack_size, PyCodeObject, co_stacksize);
#else
	ABSENT(thread_stack_chunk);
	ABSENT(thread_stack_top);
	ABSENT(thread_exc_info);
	ABSENT(thread_exc_state);
	ABSENT(generator_exc_state);
	ABSENT(generator_frame);
	ABSENT(frame_stack_top);
	ABSENT(code_locals);
	ABSENT(code_stack_size);
#endif
}

static void add_frame(void)
{
	VALUE(frame_size, sizeof(frame_type));
#if PY_VERSION_HEX < 0x030b0000
	AT(frame_previous, PyFrameObject, f_back);
	AT(frame_code, PyFrameObject, f_code);
	AT(frame_instruction, PyFrameObject, f_lasti);
	ABSENT(frame_owner);
	ABSENT(generator_owner);
	/* A code unit became the step in 3.10; no header says so. */
	VALUE(lasti_unit, PY_VERSION_HEX < 0x030a0000 ? 1 : 2);
#else
	AT(frame_previous, _PyInterpreterFrame, previous);
#if PY_VERSION_HEX < 0x030d0000
	AT(frame_code, _PyInterpreterFrame, f_code);
	AT(frame_instruction, _PyInterpreterFrame, prev_instr);
#else
	AT(frame_code, _PyInterpreterFrame, f_executable);
	AT(frame_instruction, _PyInterpreterFrame, instr_ptr);
#endif
	AT(frame_owner, _PyInterpreterFrame, owner);
	VALUE(generator_owner, FRAME_OWNED_BY_GENERATOR);
	ABSENT(lasti_unit);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
	AT(frame_is_entry, _PyInterpreterFrame, is_entry);
#else
	ABSENT(frame_is_entry);
#endif
	add_innermost();
#if PY_VERSION_HEX >= 0x030e0000
	VALUE(shim_owner, FRAME_OWNED_BY_INTERPRETER);
	/* 3.14 and 3.15 document two tag bits; both are never address bits. */
	VALUE(code_tag_mask, 3);
#elif PY_VERSION_HEX >= 0x030c0000
	VALUE(shim_owner, FRAME_OWNED_BY_CSTACK);
	VALUE(code_tag_mask, 0);
#else
	ABSENT(shim_owner);
	VALUE(code_tag_mask, 0);
#endif
}

static void add_code(void)
{
	AT(object_type, PyObject, ob_type);
	AT(type_name, PyTypeObject, tp_name);
	AT(code_filename, PyCodeObject, co_filename);
	AT(code_name, PyCodeObject, co_name);
	AT(code_first_line, PyCodeObject, co_firstlineno);
	AT(code_flags, PyCodeObject, co_flags);
#if PY_VERSION_HEX < 0x030b0000
	ABSENT(code_qualname);
	ABSENT(code_adaptive);
	ABSENT(code_units);
	AT(code_bytes, PyCodeObject, co_code);
	AT(code_id_start, PyCodeObject, co_argcount);
#else
	AT(code_qualname, PyCodeObject, co_qualname);
	AT(code_adaptive, PyCodeObject, co_code_adaptive);
	AT(code_units, PyVarObject, ob_size);
	ABSENT(code_bytes);
#if FREE_THREADED
	/* That and the size, which is behind it, stay as they are, too. */
	AT(code_id_start, PyObject, ob_type);
#else
	AT(code_id_start, PyCodeObject, co_consts);
#endif
#endif
#if PY_VERSION_HEX < 0x030c0000
	ABSENT(code_version);
#else
	AT(code_version, PyCodeObject, co_version);
#endif
#if PY_VERSION_HEX < 0x030a0000
	AT(code_lines, PyCodeObject, co_lnotab);
#else
	AT(code_lines, PyCodeObject, co_linetable);
#endif
#if PY_VERSION_HEX < 0x030b0000
	AT(code_id_end, PyCodeObject, co_zombieframe);
#else
	AT(code_id_end, PyCodeObject, co_weakreflist);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
	AT(code_id_hole_start, PyCodeObject, co_warmup);
	AT(code_id_hole_end, PyCodeObject, co_argcount);
#else
	VALUE(code_id_hole_start, 0);
	VALUE(code_id_hole_end, 0);
#endif
}

#if PY_VERSION_HEX >= 0x03000000
/* What the state of a str reads as with only one of its bit fields set. */
#define STATE_WITH(field, number)                                             \
	({                                                                    \
		PyASCIIObject text_;                                          \
		unsigned int state_;                                          \
		memset(&text_, 0, sizeof(text_));                             \
		text_.state.field = (number);                                 \
		memcpy(&state_, (char *)&text_ + offsetof(PyASCIIObject, state), \
		       sizeof(state_));                                       \
		state_;                                                       \
	})

static void add_text(void)
{
	ABSENT(unicode_width);
	AT(text_length, PyASCIIObject, length);
	AT(text_state, PyASCIIObject, state);
	VALUE(text_ascii_data, sizeof(PyASCIIObject));
	VALUE(text_compact_data, sizeof(PyCompactUnicodeObject));
	AT(text_data_pointer, PyUnicodeObject, data);
	VALUE(text_kind_shift, __builtin_ctz(STATE_WITH(kind, 1)));
	VALUE(text_compact_mask, STATE_WITH(compact, 1));
	VALUE(text_ascii_mask, STATE_WITH(ascii, 1));
	AT(bytes_size, PyVarObject, ob_size);
	AT(bytes_data, PyBytesObject, ob_sval);
}
#else
/* A str is bytes; a unicode object has its length where these have it. */
static void add_text(void)
{
	ABSENT(unicode_width);
	AT(text_length, PyVarObject, ob_size);
	AT(text_state, PyStringObject, ob_sstate);
	AT(text_ascii_data, PyStringObject, ob_sval);
	ABSENT(text_compact_data);
	AT(text_data_pointer, PyUnicodeObject, str);
	VALUE(text_kind_shift, 0);
	VALUE(text_compact_mask, 0);
	VALUE(text_ascii_mask, 0);
	AT(bytes_size, PyVarObject, ob_size);
	AT(bytes_data, PyStringObject, ob_sval);
}
#endif

#if PY_VERSION_HEX < 0x03000000
/* Entries stand in one table. */
#elif PY_VERSION_HEX < 0x030b0000
/* Objects/dict-common.h, which is not installed. */
struct keys_object {
	Py_ssize_t dk_refcnt;
	Py_ssize_t dk_size;
	void *dk_lookup;
	Py_ssize_t dk_usable;
	Py_ssize_t dk_nentries;
	char dk_indices[];
};
#else
typedef struct _dictkeysobject keys_object;
#endif

/* struct PyModuleObject, which no header has before 3.10, and never moved. */
struct module_object {
	PyObject_HEAD
	PyObject *md_dict;
};

#define OBJECT(name, value) add(&objects, #name, (uint32_t)(value))
#define OBJECT_AT(name, type, member) OBJECT(name, offsetof(type, member))

#if PY_VERSION_HEX < 0x03000000
static void add_keys(void)
{
	OBJECT_AT(dict_keys, PyDictObject, ma_table);
	OBJECT(dict_values, NO);
	OBJECT_AT(dict_mask, PyDictObject, ma_mask);
	OBJECT(keys_size, NO);
	OBJECT(keys_log2_index_bytes, NO);
	OBJECT(keys_kind, NO);
	OBJECT(keys_entries, NO);
	OBJECT(keys_indices, NO);
}
#else
static void add_keys(void)
{
	OBJECT_AT(dict_keys, PyDictObject, ma_keys);
	OBJECT_AT(dict_values, PyDictObject, ma_values);
	OBJECT(dict_mask, NO);
#if PY_VERSION_HEX < 0x030b0000
	OBJECT_AT(keys_size, struct keys_object, dk_size);
	OBJECT(keys_log2_index_bytes, NO);
	OBJECT(keys_kind, NO);
	OBJECT_AT(keys_entries, struct keys_object, dk_nentries);
	OBJECT_AT(keys_indices, struct keys_object, dk_indices);
#else
	OBJECT(keys_size, NO);
	OBJECT_AT(keys_log2_index_bytes, keys_object, dk_log2_index_bytes);
	OBJECT_AT(keys_kind, keys_object, dk_kind);
	OBJECT_AT(keys_entries, keys_object, dk_nentries);
	OBJECT_AT(keys_indices, keys_object, dk_indices);
#endif
}
#endif

/* What stands before an object is in no header as an offset: pycore_object.h. */
static void add_instances(void)
{
#if PY_VERSION_HEX < 0x030b0000
	OBJECT(values_first, 0);
	OBJECT(before_dict, NO);
	OBJECT(before_values, NO);
#elif PY_VERSION_HEX < 0x030d0000
	OBJECT_AT(values_first, PyDictValues, values);
	OBJECT(before_dict, 3 * sizeof(PyObject *));
	OBJECT(before_values, PY_VERSION_HEX < 0x030c0000 ? 4 * sizeof(PyObject *) : NO);
#else
	OBJECT_AT(values_first, PyDictValues, values);
	OBJECT(before_dict, -MANAGED_DICT_OFFSET);
	OBJECT(before_values, NO);
#endif
	OBJECT_AT(type_basic_size, PyTypeObject, tp_basicsize);
	OBJECT_AT(type_flags, PyTypeObject, tp_flags);
	OBJECT_AT(type_dict_offset, PyTypeObject, tp_dictoffset);
#if PY_VERSION_HEX < 0x03000000
	OBJECT(type_cached_keys, NO);
#else
	OBJECT_AT(type_cached_keys, PyHeapTypeObject, ht_cached_keys);
#endif
	OBJECT_AT(module_dict, struct module_object, md_dict);
}

static void add_int(void)
{
#if PY_VERSION_HEX < 0x03000000
	OBJECT_AT(int_plain, PyIntObject, ob_ival);
#else
	OBJECT(int_plain, NO);
#endif
#if PY_VERSION_HEX < 0x030c0000
	OBJECT_AT(int_size, PyVarObject, ob_size);
	OBJECT_AT(int_digits, struct _longobject, ob_digit);
#else
	OBJECT_AT(int_size, PyLongObject, long_value.lv_tag);
	OBJECT_AT(int_digits, PyLongObject, long_value.ob_digit);
#endif
}

#define OBJECT_VALUE(name, type, member) \
	add(&values, #name, (uint32_t)offsetof(type, member))

static void add_values(void)
{
#if PY_VERSION_HEX < 0x030b0000
	OBJECT_VALUE(frame_locals, PyFrameObject, f_localsplus);
	OBJECT_VALUE(code_local_names, PyCodeObject, co_varnames);
	OBJECT_VALUE(code_cell_names, PyCodeObject, co_cellvars);
	OBJECT_VALUE(code_free_names, PyCodeObject, co_freevars);
	add(&values, "code_local_kinds", NO);
#else
	OBJECT_VALUE(frame_locals, _PyInterpreterFrame, localsplus);
	OBJECT_VALUE(code_local_names, PyCodeObject, co_localsplusnames);
	add(&values, "code_cell_names", NO);
	add(&values, "code_free_names", NO);
	OBJECT_VALUE(code_local_kinds, PyCodeObject, co_localspluskinds);
#endif
	OBJECT_VALUE(code_arguments, PyCodeObject, co_argcount);
#if PY_VERSION_HEX < 0x03000000
	add(&values, "code_keyword_arguments", NO);
#else
	OBJECT_VALUE(code_keyword_arguments, PyCodeObject, co_kwonlyargcount);
#endif
	OBJECT_VALUE(tuple_items, PyTupleObject, ob_item);
	OBJECT_VALUE(list_items, PyListObject, ob_item);
	OBJECT_VALUE(set_used, PySetObject, used);
	OBJECT_VALUE(set_mask, PySetObject, mask);
	OBJECT_VALUE(set_table, PySetObject, table);
	OBJECT_VALUE(dict_used, PyDictObject, ma_used);
	OBJECT_VALUE(float_value, PyFloatObject, ob_fval);
	OBJECT_VALUE(cell_value, PyCellObject, ob_ref);
}

#define GIL(name, value) add(&gil, #name, (uint32_t)(value))

#if PY_VERSION_HEX >= 0x03070000
/* Up to 3.11 it is in _PyRuntime, later each interpreter points to one. */
static void add_gil(void)
{
#if PY_VERSION_HEX < 0x030c0000
	GIL(runtime_gil, offsetof(_PyRuntimeState, ceval.gil));
	GIL(interp_gil, NO);
#else
	GIL(runtime_gil, NO);
	GIL(interp_gil, offsetof(PyInterpreterState, ceval.gil));
#endif
	GIL(gil_locked, offsetof(struct _gil_runtime_state, locked));
	GIL(gil_holder, offsetof(struct _gil_runtime_state, last_holder));
	GIL(gil_wait_start, offsetof(struct _gil_runtime_state, cond));
	GIL(gil_wait_end, offsetof(struct _gil_runtime_state, mutex) + sizeof(PyMUTEX_T));
#if PY_VERSION_HEX < 0x03090000
	GIL(runtime_collecting, offsetof(_PyRuntimeState, gc.collecting));
	GIL(interp_collecting, NO);
#else
	GIL(runtime_collecting, NO);
	GIL(interp_collecting, offsetof(PyInterpreterState, gc.collecting));
#endif
}
#else
/* In variables of files, which no header has. */
static void add_gil(void)
{
	GIL(runtime_gil, NO);
	GIL(interp_gil, NO);
	GIL(gil_locked, NO);
	GIL(gil_holder, NO);
	GIL(gil_wait_start, NO);
	GIL(gil_wait_end, NO);
	GIL(runtime_collecting, NO);
	GIL(interp_collecting, NO);
}
#endif

#define HAS_TASKS (PY_VERSION_HEX >= 0x03080000)

#if HAS_TASKS
#define TASK(name, value) add(&tasks, #name, (uint32_t)(value))
#define TASK_AT(name, type, member) TASK(name, offsetof(type, member))

/* Up to 3.10 a generator has a frame object, later the frame is in it. */
static void add_generators(void)
{
#if PY_VERSION_HEX < 0x030b0000
	TASK_AT(generator_frame, PyGenObject, gi_frame);
	TASK(generator_state, NO);
#else
	TASK_AT(generator_frame, PyGenObject, gi_iframe);
	TASK_AT(generator_state, PyGenObject, gi_frame_state);
#endif
#if PY_VERSION_HEX < 0x030a0000
	TASK(frame_state, NO);
	TASK(frame_stack, NO);
	TASK_AT(frame_stack_top, PyFrameObject, f_stacktop);
#elif PY_VERSION_HEX < 0x030b0000
	TASK_AT(frame_state, PyFrameObject, f_state);
	TASK_AT(frame_stack, PyFrameObject, f_valuestack);
	TASK_AT(frame_stack_top, PyFrameObject, f_stackdepth);
#else
	TASK(frame_state, NO);
	TASK(frame_stack, NO);
#if PY_VERSION_HEX < 0x030e0000
	TASK_AT(frame_stack_top, _PyInterpreterFrame, stacktop);
#else
	TASK_AT(frame_stack_top, _PyInterpreterFrame, stackpointer);
#endif
#endif
#if PY_VERSION_HEX < 0x030a0000
	TASK(state_awaits, NO);
	TASK(state_runs, NO);
#else
#if PY_VERSION_HEX < 0x030d0000
	TASK(state_awaits, (uint8_t)FRAME_SUSPENDED);
#else
	TASK(state_awaits, (uint8_t)FRAME_SUSPENDED_YIELD_FROM);
#endif
	TASK(state_runs, (uint8_t)FRAME_EXECUTING);
#endif
}

/* From 3.14 on tasks are in lists that begin in thread states and interpreters. */
static void add_tasks(void)
{
	add_generators();
#if PY_VERSION_HEX < 0x030d0000
	TASK_AT(thread_dict, PyThreadState, dict);
	TASK(thread_loop, NO);
#else
	TASK(thread_dict, NO);
#if PY_VERSION_HEX < 0x030e0000
	/* Behind PyThreadState, whose size a micro release may change. */
	static_assert(offsetof(_PyThreadStateImpl, asyncio_running_loop) == sizeof(PyThreadState), "");
	TASK(thread_loop, NO);
#else
	TASK_AT(thread_loop, _PyThreadStateImpl, asyncio_running_loop);
#endif
#endif
#if PY_VERSION_HEX < 0x030e0000
	TASK(thread_task, NO);
	TASK(thread_tasks, NO);
	TASK(interp_tasks, NO);
#else
	TASK_AT(thread_task, _PyThreadStateImpl, asyncio_running_task);
	TASK_AT(thread_tasks, _PyThreadStateImpl, asyncio_tasks_head);
#if FREE_THREADED
	/* A micro release has changed what stands in front of it. */
	TASK(interp_tasks, NO);
#else
	TASK_AT(interp_tasks, PyInterpreterState, asyncio_tasks_head);
#endif
#endif
	TASK_AT(type_base, PyTypeObject, tp_base);
	TASK_AT(weak_object, PyWeakReference, wr_object);
	TASK_AT(method_self, PyMethodObject, im_self);
	TASK_AT(function_closure, PyFunctionObject, func_closure);
	TASK_AT(function_qualname, PyFunctionObject, func_qualname);
}
#endif

static void add_hook(void)
{
	add(&hook, "thread_interp", offsetof(PyThreadState, interp));
#if PY_VERSION_HEX >= 0x03060000 && PY_VERSION_HEX < 0x03090000
	add(&hook, "interp_eval_frame", offsetof(PyInterpreterState, eval_frame));
#else
	add(&hook, "interp_eval_frame", NO);
#endif
}

static void add_slots(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	SLOT(runtime_size, runtime_state.size);
	SLOT(runtime_interpreters, runtime_state.interpreters_head);
	SLOT(interp_size, interpreter_state.size);
	SLOT(interp_next, interpreter_state.next);
	SLOT(interp_modules, interpreter_state.imports_modules);
	SLOT(interp_threads, interpreter_state.threads_head);
#if PY_VERSION_HEX >= 0x030e0000
	SLOT(interp_main_thread, interpreter_state.threads_main);
#endif
	SLOT(thread_size, thread_state.size);
	SLOT(thread_next, thread_state.next);
	SLOT(thread_id, thread_state.thread_id);
	SLOT(thread_native_id, thread_state.native_thread_id);
	SLOT(thread_frame, thread_state.current_frame);
#if PY_VERSION_HEX >= 0x030f0000
	SLOT(thread_base_frame, thread_state.base_frame);
#endif
	SLOT(frame_size, interpreter_frame.size);
	SLOT(frame_previous, interpreter_frame.previous);
	SLOT(frame_code, interpreter_frame.executable);
	SLOT(frame_instruction, interpreter_frame.instr_ptr);
	SLOT(frame_owner, interpreter_frame.owner);
	SLOT(object_size, pyobject.size);
	SLOT(object_type, pyobject.ob_type);
	SLOT(type_size, type_object.size);
	SLOT(type_name, type_object.tp_name);
	SLOT(code_size, code_object.size);
	SLOT(code_filename, code_object.filename);
	SLOT(code_name, code_object.name);
	SLOT(code_qualname, code_object.qualname);
	SLOT(code_lines, code_object.linetable);
	SLOT(code_first_line, code_object.firstlineno);
	SLOT(code_adaptive, code_object.co_code_adaptive);
	SLOT(text_object_size, unicode_object.size);
	SLOT(text_length, unicode_object.length);
	SLOT(text_state, unicode_object.state);
	SLOT(text_ascii_data, unicode_object.asciiobject_size);
#if PY_VERSION_HEX >= 0x030f0000
	SLOT(text_compact_data, unicode_object.compactunicodeobject_size);
#endif
	SLOT(bytes_object_size, bytes_object.size);
	SLOT(bytes_size, bytes_object.ob_size);
	SLOT(bytes_data, bytes_object.ob_sval);
#if COPIES
	SLOT(frame_copy, interpreter_frame.tlbc_index);
	SLOT(code_copies, code_object.co_tlbc);
#endif
#if PY_VERSION_HEX >= 0x030e0000
	SLOT(remote_eval_breaker, debugger_support.eval_breaker);
	SLOT(remote_support, debugger_support.remote_debugger_support);
	SLOT(remote_enabled, debugger_support.remote_debugging_enabled);
	SLOT(remote_pending, debugger_support.debugger_pending_call);
	SLOT(remote_script, debugger_support.debugger_script_path);
	SLOT(remote_script_size, debugger_support.debugger_script_path_size);
#endif
#endif
}

/* --- printing --- */

static void print_fields(void)
{
	unsigned int bits = 0;

	for (size_t i = 0; i < FLAGS; i++)
		bits |= flags[i].has ? 1u << i : 0;
	printf("version %lu\nflags %u\nlines_format %d\n", (unsigned long)PY_VERSION_HEX,
	       bits, LINES_FORMAT);
#if COPIES
	printf("frame_copy %zu\ncode_copies %zu\n",
	       offsetof(_PyInterpreterFrame, tlbc_index), offsetof(PyCodeObject, co_tlbc));
#else
	printf("frame_copy 0\ncode_copies 0\n");
#endif
	for (size_t i = 0; i < layout.count; i++)
		if (layout.list[i].value == NO)
			printf("%s absent\n", layout.list[i].name);
		else
			printf("%s %u\n", layout.list[i].name, layout.list[i].value);
}

static int has(const struct entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (!strcmp(entries->list[i].name, name))
			return 1;
	return 0;
}

/* Entries whose names begin alike on a line; none that `but` has. */
static void print_entries(const struct entries *entries, const struct entries *but)
{
	const char *before = "";
	size_t column = 0;

	for (size_t i = 0; i < entries->count; i++) {
		const struct entry *e = &entries->list[i];
		size_t prefix = strcspn(e->name, "_") + 1;
		char text[64], value[16] = "NO";
		size_t width;

		if (has(but, e->name))
			continue;
		if (e->value != NO)
			snprintf(value, sizeof(value), "%u", e->value);
		width = (size_t)snprintf(text, sizeof(text), ".%s = %s,", e->name, value);
		if (strncmp(before, e->name, prefix) || column + 1 + width > WIDTH) {
			printf("%s\t\t%s", *before ? "\n" : "", text);
			column = 16 + width;
		} else {
			printf(" %s", text);
			column += 1 + width;
		}
		before = e->name;
	}
	printf("\n");
}

static void print_flags(void)
{
	size_t column = 16 + (size_t)printf("\t\t.flags =") - 2;
	const char *separator = "";

	for (size_t i = 0; i < FLAGS; i++) {
		if (!flags[i].has)
			continue;
		column += (size_t)printf("%s", separator);
		if (column + 1 + strlen(flags[i].name) > WIDTH - 3) {
			printf("\n\t\t\t");
			column = 24 + (size_t)printf("%s", flags[i].name);
		} else {
			column += (size_t)printf(" %s", flags[i].name);
		}
		separator = " |";
	}
	printf(",\n");
}

/* A field that has a slot is left out: the interpreter itself tells it. */
static void print_row(void)
{
	static const struct entries none;

	printf("PY_RELEASE(%d, 0,\n\t.layout = {\n", PY_MAJOR_VERSION < 3 ? 27 : PY_MINOR_VERSION);
	print_flags();
	printf("\t\t.lines_format = %s,\n", lines_formats[LINES_FORMAT - 1]);
	print_entries(&layout, &slots);
	if (objects.count) {
		printf("\t},\n\t.objects = {\n");
		print_entries(&objects, &none);
		printf("\t},\n\t.values = {\n");
		print_entries(&values, &none);
		printf("\t},\n\t.gil = {\n");
		print_entries(&gil, &none);
	}
	if (tasks.count) {
		printf("\t},\n\t.tasks = {\n");
		print_entries(&tasks, &none);
	}
	printf("\t},\n\t.hook = {\n");
	print_entries(&hook, &none);
	if (slots.count) {
		printf("\t},\n\t.slots = {\n");
		print_entries(&slots, &none);
	}
	printf("\t})\n");
}

/* Of free-threaded builds, a line of the table in src/python/tasks.c. */
static void print_list(void)
{
#if COPIES
	printf("{ %zu, %zu },\n", sizeof(PyInterpreterState), offsetof(PyInterpreterState, asyncio_tasks_head));
#endif
}

int main(int argc, char **argv)
{
	add_states();
	add_cframe();
	add_frame();
	add_code();
	add_text();
	add_keys();
	add_instances();
	add_int();
	add_values();
	add_gil();
#if HAS_TASKS
	add_tasks();
#endif
	add_hook();
	add_slots();
	if (argc > 1 && !strcmp(argv[1], "row"))
		print_row();
	else if (argc > 1 && !strcmp(argv[1], "list"))
		print_list();
	else
		print_fields();
	return 0;
}

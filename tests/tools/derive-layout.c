/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints struct py_layout as one release's own headers have it, a line
 * "field value" each. Compile with -DPy_BUILD_CORE and that release's include
 * directory and its "internal" folder; no library is needed.
 */
#include <Python.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "frameobject.h"
#if PY_VERSION_HEX < 0x03090000
#include "internal/pycore_pystate.h"
#elif PY_VERSION_HEX < 0x030b0000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#elif PY_VERSION_HEX < 0x030e0000
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#else
#include "internal/pycore_interpframe_structs.h"
#include "internal/pycore_interp_structs.h"
#include "internal/pycore_runtime_structs.h"
#include "internal/pycore_tstate.h"
#endif
#if PY_VERSION_HEX < 0x030b0000
#include "code.h"
#endif
#if PY_VERSION_HEX >= 0x030d0000
#include "internal/pycore_runtime.h"
#endif

#define AT(name, type, member) printf(#name " %zu\n", offsetof(type, member))
#define VALUE(name, value) printf(#name " %lu\n", (unsigned long)(value))
#define ABSENT(name) printf(#name " absent\n")

enum flags {
	FRAME_OBJECTS = 1,
	FRAME_VIA_CFRAME = 2,
	ENTRY_FLAG = 4,
	SHIM_FRAMES = 8,
	LASTI = 16,
	PREVIOUS_INSTRUCTION = 32,
	CFRAMES = 64,
};

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

static void print_flags(void)
{
	unsigned int flags = 0;

#if PY_VERSION_HEX < 0x030b0000
	flags |= FRAME_OBJECTS | LASTI;
#else
#if PY_VERSION_HEX < 0x030d0000
	flags |= FRAME_VIA_CFRAME | PREVIOUS_INSTRUCTION;
#endif
#if PY_VERSION_HEX < 0x030c0000
	flags |= ENTRY_FLAG;
#else
	flags |= SHIM_FRAMES;
#endif
#endif
#if PY_VERSION_HEX >= 0x030a0000 && PY_VERSION_HEX < 0x030d0000
	flags |= CFRAMES;
#endif
	VALUE(version, PY_VERSION_HEX);
	VALUE(flags, flags);
}

static void print_states(void)
{
	AT(runtime_interpreters, _PyRuntimeState, interpreters.head);
#if PY_VERSION_HEX < 0x030c0000
	AT(runtime_current, _PyRuntimeState, gilstate.tstate_current);
#else
	ABSENT(runtime_current);
#endif
	AT(interp_next, PyInterpreterState, next);
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

static void print_cframe(void)
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

static void print_frame(void)
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

static void print_code(void)
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
	AT(code_id_start, PyCodeObject, co_consts);
#endif
#if PY_VERSION_HEX < 0x030c0000
	ABSENT(code_version);
#else
	AT(code_version, PyCodeObject, co_version);
#endif
#if PY_VERSION_HEX < 0x030a0000
	AT(code_lines, PyCodeObject, co_lnotab);
	VALUE(lines_format, 1);
#else
	AT(code_lines, PyCodeObject, co_linetable);
	VALUE(lines_format, PY_VERSION_HEX < 0x030b0000 ? 2 : 3);
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

static void print_text(void)
{
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

int main(void)
{
	print_flags();
	print_states();
	print_cframe();
	print_frame();
	print_code();
	print_text();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kaa's C API for programs that embed Python, and for extension modules that make
 * code at run time: what CPython has from 3.12 and 3.13 on as PyUnstable_PerfMapState_*,
 * PyUnstable_WritePerfMapEntry, PyUnstable_CopyPerfMapFile and
 * PyUnstable_PerfTrampoline_*, for every CPython from 3.6 to 3.15.
 *
 *	#include <Python.h>
 *	#include <kaa/trampoline.h>		(cc ... -lkaa_agent)
 *
 * The library need not be the one that a program was started with: opened a second
 * time, by dlopen() too, it is the same. It is built without Python's
 * headers; objects are void pointers here, so that this header needs none either.
 *
 * The perf map is /tmp/perf-<pid>.map, which perf, samply and kaa read. All writers
 * of a process append to it: these functions, the agent, the interpreter's own
 * support, other code generators. A file that an earlier process with the same number
 * left is replaced; a link, or the file of another user, is never written to.
 *
 * The functions on perf maps need neither the GIL nor a Python in the process, may be
 * called from any thread, and not from a signal handler. After a fork the child
 * writes to its own map.
 */
#ifndef KAA_TRAMPOLINE_H
#define KAA_TRAMPOLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens this process's perf map, making it if need be; nothing if it is open.
 * Returns 0; -1 if the file cannot be made, with errno set: EEXIST if what has its
 * name is a link or another user's. (PyUnstable_PerfMapState_Init)
 */
int kaa_perf_map_state_init(void);

/*
 * Appends "<address> <size> <name>" to the perf map, which is opened if it is not
 * open. Written to the file, as a whole, when this returns. Control characters
 * in the name are written as \n, \x1b: an entry is one line. Returns 0; -1 if
 * the file cannot be made or written, with errno set. (PyUnstable_WritePerfMapEntry)
 */
int kaa_write_perf_map_entry(const void *code_addr, size_t code_size,
			     const char *entry_name);

/*
 * Closes the perf map; the file stays. A later entry opens it again and is appended.
 * (PyUnstable_PerfMapState_Fini)
 */
void kaa_perf_map_state_fini(void);

/*
 * In the child of a fork: appends all entries of the parent's map to the child's own.
 * Returns 0; -1, with errno set, if the parent's file cannot be read or the
 * child's not be written. (PyUnstable_CopyPerfMapFile)
 */
int kaa_copy_perf_map_file(const char *parent_filename);

/*
 * Gives a code object (PyCodeObject *) its trampoline now, and tells profilers of it,
 * before it is ever called: with trampolines that persist (below) the children of a
 * fork then need not. Does nothing if it has one already. Needs the GIL and an
 * active trampoline (sys.activate_stack_trampoline). Returns 0; -1 with an
 * exception set: TypeError if it is no code object. Without an active trampoline: 0, and
 * nothing is done. (PyUnstable_PerfTrampoline_CompileCode)
 */
int kaa_perf_trampoline_compile_code(void *code);

/*
 * Whether a child keeps its parent's trampolines after a fork (enable 1): its perf
 * map begins as a copy of the parent's, and what the parent compiled is not compiled
 * again. Else (0, as it is at the start) a child's map has only what the child itself
 * runs. Needs the GIL. Returns enable as it is now: 0 or 1.
 * (PyUnstable_PerfTrampoline_SetPersistAfterFork)
 */
int kaa_perf_trampoline_set_persist_after_fork(int enable);

#ifdef __cplusplus
}
#endif

#endif

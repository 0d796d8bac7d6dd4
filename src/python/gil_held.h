/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a thread hold the GIL of its process: the one of all its interpreters, or from 3.12 on
 * one of those that they have.
 *
 * Source: struct _gil_runtime_state (pycore_gil.h), take_gil() and drop_gil() in
 * ceval_gil.h (up to 3.11) or ceval_gil.c. `locked` is 1 while a thread has the GIL.
 * `last_holder` is the state of the thread that has it or had it last: it is set an
 * instant after `locked`, so of two looks the later one is right.
 *
 * The process runs on. A thread that holds still while it is asked for has the GIL or
 * not, whatever others do.
 */
#ifndef KAA_PYTHON_GIL_HELD_H
#define KAA_PYTHON_GIL_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/walker_shared.h"
#include "python/layout.h"

/*
 * *ret: the thread of that pthread_self() holds a GIL. False: memory that cannot be
 * read, or that makes no sense.
 */
bool py_gil_is_held(const struct walker_process *process,
		    const struct py_memory *memory, uint64_t thread_pointer,
		    bool *ret);

/*
 * The pthread_self() of each thread that has a GIL at this time, one after the other;
 * what cannot be read is left out.
 */
void py_gil_holders(const struct walker_process *process,
		    const struct py_memory *memory,
		    void (*found)(void *arg, uint64_t thread_pointer),
		    void *arg);

/*
 * Checks that what stands where the layout says is a GIL: its lock, and that
 * one of the process's thread states holds it, if any does.
 * ERROR_FORMAT: it is none. ERROR_FAULT: memory cannot be read. ERROR_UNSUPPORTED:
 * a free-threaded build, whose threads take none.
 */
struct error *py_gil_validate(const struct walker_process *process,
			      const struct py_memory *memory);

#endif

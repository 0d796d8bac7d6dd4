/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks a running CPython, 3.14 or later, to run a file, as sys.remote_exec()
 * does (PEP 768): the file's path is written into the main thread's state, and its eval
 * breaker set. The thread runs the file when it next evaluates Python code. Nothing
 * is stopped.
 *
 * Needs ptrace access to the process. Where its fields are, struct _Py_DebugOffsets
 * in it tells (python/releases.h). Other sources: Python/remote_debug.h of 3.14 and
 * 3.15, _PY_EVAL_PLEASE_STOP_BIT in pycore_ceval.h.
 */
#ifndef KAA_PYTHON_LOOK_REMOTE_EXEC_H
#define KAA_PYTHON_LOOK_REMOTE_EXEC_H

#include <stdint.h>

#include "base/error.h"
#include "sys/remote_memory.h"

struct remote_exec {
	struct remote_memory memory;
	/* PY_VERSION_HEX */
	uint32_t version;
	/* Addresses in the process: fields of the main thread's state. */
	uint64_t eval_breaker;
	uint64_t pending;
	uint64_t script;
	uint64_t script_size;
};

/*
 * ERROR_NOT_FOUND: no such process; ERROR_UNSUPPORTED: no CPython, one before
 * 3.14, or one that was told to refuse; ERROR_PERMISSION.
 */
struct error *remote_exec_open(pid_t pid, struct remote_exec *ret);
void remote_exec_deinit(struct remote_exec *remote);

/* path: as the process sees it. ERROR_LIMIT: above 511 bytes. */
struct error *remote_exec_ask(struct remote_exec *remote, const char *path);

/* Takes a request back that was not begun yet. */
struct error *remote_exec_take_back(struct remote_exec *remote);

#endif

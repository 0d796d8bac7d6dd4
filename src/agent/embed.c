// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C API for embedders, include/kaa/trampoline.h.
 *
 * Sources: CPython's Doc/c-api/perfmaps.rst, and PyUnstable_CopyPerfMapFile(),
 * PyUnstable_PerfTrampoline_*() of 3.13's Python/sysmodule.c and
 * Python/perf_trampoline.c.
 */
#include <kaa/trampoline.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/capi.h"
#include "agent/files.h"
#include "agent/lock.h"
#include "agent/lookup.h"
#include "agent/mode.h"
#include "base/cleanup.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	/* Of a name; the rest is left out. */
	NAME_MAX_BYTES = 16384,
	/* Of an entry: each byte of a name may become four. */
	ENTRY_MAX = 4 * NAME_MAX_BYTES + 64,
	COPY_SIZE = 65536,
};

/* --- the perf map --- */

/* Beside the backend's own: both append. Under the agent's lock. */
static struct agent_file map = AGENT_FILE_INIT;

static int open_map(void)
{
	uint64_t size;

	/* The parent's, in the child of a fork. */
	if (map.fd >= 0 && map.pid != getpid())
		agent_file_forget(&map);
	return agent_file_open(&map, AGENT_FILE_SHARED_LOG, "perf-", ".map",
			       &size);
}

static int append(const void *data, size_t size)
{
	struct iovec part = { (void *)data, size };
	int error;

	agent_lock();
	error = open_map();
	if (!error)
		error = agent_file_append(&map, &part, 1);
	agent_unlock();
	return error;
}

static int result(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

EXPORT int kaa_perf_map_state_init(void)
{
	int error;

	agent_lock();
	error = open_map();
	agent_unlock();
	return result(error);
}

EXPORT void kaa_perf_map_state_fini(void)
{
	agent_lock();
	if (map.fd >= 0 && map.pid != getpid())
		agent_file_forget(&map);
	agent_file_close(&map);
	agent_unlock();
}

/* Writes a byte of a name so that the entry stays one line; its length. */
static size_t put_byte(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c >= 0x20 && c != 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = '\\';
	out[1] = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 'x';
	if (out[1] != 'x')
		return 2;
	out[2] = digits[c >> 4];
	out[3] = digits[c & 15];
	return 4;
}

EXPORT int kaa_write_perf_map_entry(const void *code_addr, size_t code_size,
				    const char *entry_name)
{
	_cleanup_free_ char *line = NULL;
	size_t name_size, size;

	if (!entry_name)
		return result(EINVAL);
	line = malloc(ENTRY_MAX);
	if (!line)
		return result(ENOMEM);
	name_size = strnlen(entry_name, NAME_MAX_BYTES);
	size = (size_t)snprintf(line, ENTRY_MAX, "%" PRIxPTR " %zx ",
				(uintptr_t)code_addr, code_size);
	for (size_t i = 0; i < name_size; i++)
		size += put_byte(line + size, (unsigned char)entry_name[i]);
	line[size++] = '\n';
	return result(append(line, size));
}

/* A regular file: a FIFO could keep the child waiting for ever. */
static int open_parent(const char *path, int *ret)
{
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	mode_t mode;

	if (fd < 0 || !agent_mode_of(fd, "", &mode))
		return errno;
	if (!S_ISREG(mode))
		return EINVAL;
	*ret = fd;
	fd = -1;
	return 0;
}

static int copy_bytes(int from, char *buf)
{
	ssize_t size = 0;
	int error = 0;

	do {
		if (size > 0)
			error = append(buf, (size_t)size);
		if (!error)
			size = read(from, buf, COPY_SIZE);
	} while (!error && (size > 0 || (size < 0 && errno == EINTR)));
	return error ? error : size < 0 ? errno : 0;
}

EXPORT int kaa_copy_perf_map_file(const char *parent_filename)
{
	_cleanup_free_ char *buf = malloc(COPY_SIZE);
	_cleanup_close_ int from = -1;
	int error;

	if (!buf)
		return result(ENOMEM);
	if (!parent_filename)
		return result(EINVAL);
	error = open_parent(parent_filename, &from);
	return result(error ? error : copy_bytes(from, buf));
}

/* --- trampolines --- */

/* An int function of the interpreter's own support, if that is in charge. */
static void *own_support(const char *name)
{
	void *active, *answer;
	bool is_active;

	if (agent_capi_find() || agent_is_active())
		return NULL;
	active = capi.PySys_GetObject("is_stack_trampoline_active");
	answer = active ? capi.PyObject_CallFunctionObjArgs(active, NULL) :
			  NULL;
	is_active = answer && answer == agent_lookup("_Py_TrueStruct");
	if (answer)
		capi.Py_DecRef(answer);
	else if (active)
		capi.PyErr_Clear();
	return is_active ? agent_lookup(name) : NULL;
}

static bool is_code(void *object)
{
	int (*is_instance)(void *, void *) = agent_lookup("PyObject_IsInstance");

	return object && is_instance && is_instance(object, capi.PyCode_Type) == 1;
}

static int compile_own(void *code)
{
	int (*compile)(void *) =
		own_support("PyUnstable_PerfTrampoline_CompileCode");

	return compile ? compile(code) : 0;
}

EXPORT int kaa_perf_trampoline_compile_code(void *code)
{
	enum agent_status status;

	if (agent_capi_find())
		return 0;
	if (!is_code(code)) {
		capi.PyErr_SetString(*(void **)capi.PyExc_TypeError,
				     "a code object is needed");
		return -1;
	}
	if (!agent_is_active())
		return compile_own(code);
	status = agent_compile_code(code);
	if (status == AGENT_OK)
		return 0;
	agent_raise(status, "perf");
	return -1;
}

EXPORT int kaa_perf_trampoline_set_persist_after_fork(int enable)
{
	int (*set)(int) = own_support(
		"PyUnstable_PerfTrampoline_SetPersistAfterFork");

	if (set)
		return set(enable != 0);
	agent_set_persist_after_fork(enable != 0);
	return enable != 0;
}

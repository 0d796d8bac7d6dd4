// SPDX-License-Identifier: GPL-2.0-only
#include "python/look/remote_exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "sys/proc.h"

enum {
	FIRST_MINOR = 14,
	LAST_MINOR = 15,
	EVAL_PLEASE_STOP = 1 << 5,
	/* Data segments of an interpreter are about 1 MiB. */
	SEGMENT_MAX = 64 << 20,
	PIECE = 64 << 10,
	SCRIPT_SIZE_MAX = 4096,
	FIELD_MAX = 1 << 20,
};

#define COOKIE "xdebugpy"

/* The beginning of _Py_DebugOffsets: all that 3.14 and 3.15 have alike. */
struct offsets_head {
	char cookie[8];
	uint64_t version;
	uint64_t free_threaded;
	uint64_t runtime_size;
	uint64_t runtime_finalizing;
	uint64_t interpreters_head;
	uint64_t interpreter_size;
	uint64_t interpreter_id;
	uint64_t interpreter_next;
	uint64_t threads_head;
	uint64_t threads_main;
};

/* Its end: where that is depends on the version. */
struct debugger_support {
	uint64_t eval_breaker;
	uint64_t remote_debugger_support;
	uint64_t remote_debugging_enabled;
	uint64_t pending_call;
	uint64_t script_path;
	uint64_t script_path_size;
};

static uint64_t support_offset(uint32_t minor)
{
	return minor == 14 ? 712 : 840;
}

static uint32_t minor_of(uint64_t version)
{
	return version >> 16 & 255;
}

/* --- finding the runtime --- */

static bool is_runtime(const uint8_t *bytes, size_t size)
{
	struct offsets_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	return !memcmp(head.cookie, COOKIE, sizeof(head.cookie)) &&
	       head.version >> 24 == 3 && head.free_threaded <= 1 &&
	       head.interpreters_head < head.runtime_size &&
	       head.runtime_size < FIELD_MAX;
}

/* The runtime lies in initialised data: a private writable mapping of a file. */
static uint64_t search_map(struct remote_memory *memory,
			   const struct proc_map *map, uint8_t *piece)
{
	uint64_t end = map->end - map->start < SEGMENT_MAX ?
			       map->end :
			       map->start + SEGMENT_MAX;

	/* Pieces overlap, so that no head is cut. */
	for (uint64_t at = map->start; at < end; at += PIECE / 2) {
		ssize_t n = remote_memory_read(memory, at, piece, PIECE);

		for (ssize_t i = 0; i + (ssize_t)sizeof(COOKIE) <= n; i += 8)
			if (is_runtime(piece + i, (size_t)(n - i)))
				return at + (uint64_t)i;
	}
	return 0;
}

static struct error *find_runtime(struct remote_memory *memory, uint64_t *ret)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE);
	struct proc_maps maps = PROC_MAPS_INIT;
	struct error *error;
	uint64_t found = 0;

	if (!piece)
		return error_no_memory();
	error = proc_maps_read("", memory->pid, &maps);
	if (error)
		return error;
	vec_for_each(map, &maps.maps)
		if (!found && map->inode && !map->shared &&
		    (map->prot & PROT_WRITE))
			found = search_map(memory, map, piece);
	proc_maps_deinit(&maps);
	*ret = found;
	if (found)
		return NULL;
	return error_create(
		ERROR_UNSUPPORTED,
		"process %d is not CPython 3.13 or later, and only 3.14 and later can be asked while they run; start the program with 'kaa run', or record it with 'sudo kaa record -p %d'",
		(int)memory->pid, (int)memory->pid);
}

/* --- the fields --- */

static struct error *read_u64(struct remote_memory *memory, uint64_t address,
			      uint64_t *ret)
{
	return remote_memory_read_exact(memory, address, ret, sizeof(*ret));
}

static struct error *check_version(pid_t pid, const struct offsets_head *head)
{
	uint32_t minor = minor_of(head->version);

	if (minor < FIRST_MINOR)
		return error_create(
			ERROR_UNSUPPORTED,
			"process %d is CPython 3.%u, and only 3.14 and later can be asked while they run; start the program with 'kaa run', or record it with 'sudo kaa record -p %d'",
			(int)pid, minor, (int)pid);
	if (minor > LAST_MINOR)
		return error_create(ERROR_UNSUPPORTED,
				    "process %d is CPython 3.%u, which this kaa does not know yet",
				    (int)pid, minor);
	if (head->free_threaded)
		return error_create(ERROR_UNSUPPORTED,
				    "process %d is a free-threaded CPython, which has no trampolines",
				    (int)pid);
	return NULL;
}

static bool is_plausible(const struct debugger_support *s)
{
	return s->eval_breaker < FIELD_MAX &&
	       s->remote_debugger_support < FIELD_MAX &&
	       s->remote_debugging_enabled < FIELD_MAX &&
	       s->pending_call < FIELD_MAX && s->script_path < FIELD_MAX &&
	       s->script_path_size >= 64 &&
	       s->script_path_size <= SCRIPT_SIZE_MAX;
}

static struct error *check_enabled(struct remote_memory *memory,
				   uint64_t interpreter,
				   const struct debugger_support *support)
{
	uint32_t enabled;
	struct error *error = remote_memory_read_exact(
		memory, interpreter + support->remote_debugging_enabled,
		&enabled, sizeof(enabled));

	if (error || enabled == 1)
		return error;
	return error_create(
		ERROR_UNSUPPORTED,
		"process %d refuses remote debugging: it was turned off when the process was started (PYTHON_DISABLE_REMOTE_DEBUG, -X disable-remote-debug) or when its Python was built",
		(int)memory->pid);
}

static struct error *read_support(struct remote_memory *memory,
				  uint64_t runtime,
				  const struct offsets_head *head,
				  struct debugger_support *ret)
{
	struct error *error = remote_memory_read_exact(
		memory, runtime + support_offset(minor_of(head->version)), ret,
		sizeof(*ret));

	if (!error && !is_plausible(ret))
		error = error_create(ERROR_UNSUPPORTED,
				     "process %d: its CPython 0x%08" PRIx64
				     " does not have the layout of a released version",
				     (int)memory->pid, head->version);
	return error;
}

static struct error *find_thread(struct remote_memory *memory, uint64_t runtime,
				 const struct offsets_head *head,
				 const struct debugger_support *support,
				 uint64_t *ret)
{
	uint64_t interpreter = 0, thread = 0;
	struct error *error = read_u64(memory, runtime + head->interpreters_head,
				       &interpreter);

	if (!error && !interpreter)
		error = error_create(ERROR_NOT_FOUND,
				     "the Python in process %d is not running: it has not started or has ended",
				     (int)memory->pid);
	if (!error)
		error = check_enabled(memory, interpreter, support);
	if (!error)
		error = read_u64(memory, interpreter + head->threads_main,
				 &thread);
	if (!error && !thread)
		error = error_create(ERROR_NOT_FOUND,
				     "the Python in process %d has no main thread",
				     (int)memory->pid);
	if (!error)
		*ret = thread;
	return error;
}

static struct error *locate(struct remote_exec *remote)
{
	struct remote_memory *memory = &remote->memory;
	struct debugger_support support;
	struct offsets_head head;
	uint64_t runtime, thread = 0;
	struct error *error = find_runtime(memory, &runtime);

	if (!error)
		error = remote_memory_read_exact(memory, runtime, &head,
						 sizeof(head));
	if (!error)
		error = check_version(memory->pid, &head);
	if (!error)
		error = read_support(memory, runtime, &head, &support);
	if (!error)
		error = find_thread(memory, runtime, &head, &support, &thread);
	if (error)
		return error;
	remote->version = (uint32_t)head.version;
	remote->eval_breaker = thread + support.eval_breaker;
	thread += support.remote_debugger_support;
	remote->pending = thread + support.pending_call;
	remote->script = thread + support.script_path;
	remote->script_size = support.script_path_size;
	return NULL;
}

struct error *remote_exec_open(pid_t pid, struct remote_exec *ret)
{
	struct remote_exec remote = { .memory = remote_memory_init(pid) };
	struct error *error;
	char byte;

	/* Says what forbids it, before anything else can fail for that reason. */
	if (remote_memory_read(&remote.memory, 0, &byte, 1) == -EPERM)
		error = remote_memory_read_exact(&remote.memory, 0, &byte, 1);
	else
		error = locate(&remote);
	if (error) {
		remote_memory_deinit(&remote.memory);
		return error;
	}
	*ret = remote;
	return NULL;
}

void remote_exec_deinit(struct remote_exec *remote)
{
	remote_memory_deinit(&remote->memory);
}

/* --- asking --- */

static struct error *write_memory(struct remote_exec *remote, uint64_t address,
				  const void *data, size_t size)
{
	struct iovec here = { (void *)data, size };
	struct iovec there = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_writev(remote->memory.pid, &here, 1, &there, 1, 0);

	if (n == (ssize_t)size)
		return NULL;
	return error_os(n < 0 ? errno : EFAULT, NULL,
			"cannot write to the memory of process %d",
			(int)remote->memory.pid);
}

/* As Python/remote_debug.h does it: in this order. */
struct error *remote_exec_ask(struct remote_exec *remote, const char *path)
{
	const uint32_t pending = 1;
	size_t size = strlen(path) + 1;
	uint64_t breaker;
	struct error *error;

	if (size > remote->script_size)
		return error_create(ERROR_LIMIT, "the path '%s' is too long", path);
	error = write_memory(remote, remote->script, path, size);
	if (!error)
		error = write_memory(remote, remote->pending, &pending,
				     sizeof(pending));
	if (!error)
		error = read_u64(&remote->memory, remote->eval_breaker, &breaker);
	if (error)
		return error;
	breaker |= EVAL_PLEASE_STOP;
	return write_memory(remote, remote->eval_breaker, &breaker,
			    sizeof(breaker));
}

struct error *remote_exec_take_back(struct remote_exec *remote)
{
	const uint32_t pending = 0;

	return write_memory(remote, remote->pending, &pending, sizeof(pending));
}

// SPDX-License-Identifier: GPL-2.0-only
#include "python/look/remote_exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "python/releases.h"
#include "sys/proc.h"

enum {
	EVAL_PLEASE_STOP = 1 << 5,
	/* Data segments of an interpreter are about 1 MiB. */
	SEGMENT_MAX = 64 << 20,
	PIECE = 64 << 10,
	SCRIPT_SIZE_MAX = 4096,
};

/* struct _Py_DebugOffsets of the process, as far as it is read. */
struct offsets {
	/* Where which number is. */
	struct py_debug_slots slots;
	uint64_t numbers[UINT8_MAX + 1];
};

static struct error *cannot_be_asked(pid_t pid, const char *what)
{
	return error_create(
		ERROR_UNSUPPORTED,
		"process %d is %s, and only 3.%u and later can be asked while they run; start the program with 'kaa run', or record it with 'sudo kaa record -p %d'",
		(int)pid, what, py_releases_for(PY_FOR_ACTIVATE).first, (int)pid);
}

/* --- finding the runtime --- */

static bool is_runtime(const uint8_t *bytes, size_t size)
{
	uint64_t head[PY_SLOTS_OF_HEAD];

	if (size < sizeof(head))
		return false;
	memcpy(head, bytes, sizeof(head));
	return head[PY_SLOT_COOKIE] == PY_DEBUG_COOKIE &&
	       head[PY_SLOT_VERSION] >> 24 == 3 &&
	       head[PY_SLOT_FREE_THREADED] <= 1 &&
	       head[PY_SLOT_RUNTIME_INTERPRETERS] < head[PY_SLOT_RUNTIME_SIZE] &&
	       head[PY_SLOT_RUNTIME_SIZE] < PY_OFFSET_MAX;
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

		for (ssize_t i = 0; i < n; i += 8)
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
	return cannot_be_asked(memory->pid, "no CPython, or an older one");
}

/* --- the fields --- */

static struct error *read_u64(struct remote_memory *memory, uint64_t address,
			      uint64_t *ret)
{
	return remote_memory_read_exact(memory, address, ret, sizeof(*ret));
}

static struct error *check_version(pid_t pid, const uint64_t *head)
{
	uint32_t version = (uint32_t)head[PY_SLOT_VERSION];
	char name[16];

	snprintf(name, sizeof(name), "CPython 3.%u", PY_MINOR(version));
	if (PY_MINOR(version) < py_releases_for(PY_FOR_ACTIVATE).first)
		return cannot_be_asked(pid, name);
	if (!py_release_for(version, PY_FOR_ACTIVATE))
		return error_create(ERROR_UNSUPPORTED,
				    "process %d is %s, which this kaa does not know yet",
				    (int)pid, name);
	if (head[PY_SLOT_FREE_THREADED])
		return error_create(ERROR_UNSUPPORTED,
				    "process %d is a free-threaded CPython, which has no trampolines",
				    (int)pid);
	return NULL;
}

static uint64_t number(const struct offsets *offsets, uint8_t slot)
{
	return offsets->numbers[slot];
}

static bool is_plausible(const struct offsets *o)
{
	const struct py_debug_slots *s = &o->slots;

	return number(o, s->remote_eval_breaker) < PY_OFFSET_MAX &&
	       number(o, s->remote_support) < PY_OFFSET_MAX &&
	       number(o, s->remote_enabled) < PY_OFFSET_MAX &&
	       number(o, s->remote_pending) < PY_OFFSET_MAX &&
	       number(o, s->remote_script) < PY_OFFSET_MAX &&
	       number(o, s->remote_script_size) >= 64 &&
	       number(o, s->remote_script_size) <= SCRIPT_SIZE_MAX;
}

static struct error *read_offsets(struct remote_memory *memory,
				  uint64_t runtime, struct offsets *ret)
{
	struct error *error;
	uint32_t version;

	error = remote_memory_read_exact(memory, runtime, ret->numbers,
					 PY_SLOTS_OF_HEAD * sizeof(uint64_t));
	if (error)
		return error;
	error = check_version(memory->pid, ret->numbers);
	if (error)
		return error;
	version = (uint32_t)ret->numbers[PY_SLOT_VERSION];
	ret->slots = py_release_find(version)->slots;
	/* The size of the script is the last of them. */
	error = remote_memory_read_exact(
		memory, runtime, ret->numbers,
		(ret->slots.remote_script_size + 1u) * sizeof(uint64_t));
	if (error || is_plausible(ret))
		return error;
	return error_create(ERROR_UNSUPPORTED,
			    "process %d: its CPython 0x%08" PRIx32
			    " does not have the layout of a released version",
			    (int)memory->pid, version);
}

static struct error *check_enabled(struct remote_memory *memory,
				   uint64_t interpreter,
				   const struct offsets *offsets)
{
	uint32_t enabled;
	struct error *error = remote_memory_read_exact(
		memory,
		interpreter + number(offsets, offsets->slots.remote_enabled),
		&enabled, sizeof(enabled));

	if (error || enabled == 1)
		return error;
	return error_create(
		ERROR_UNSUPPORTED,
		"process %d refuses remote debugging: it was turned off when the process was started (PYTHON_DISABLE_REMOTE_DEBUG, -X disable-remote-debug) or when its Python was built",
		(int)memory->pid);
}

static struct error *find_thread(struct remote_memory *memory, uint64_t runtime,
				 const struct offsets *offsets, uint64_t *ret)
{
	const struct py_debug_slots *slots = &offsets->slots;
	uint64_t interpreter, thread;
	struct error *error = read_u64(
		memory, runtime + number(offsets, slots->runtime_interpreters),
		&interpreter);

	if (error)
		return error;
	if (!interpreter)
		return error_create(ERROR_NOT_FOUND,
				    "the Python in process %d is not running: it has not started or has ended",
				    (int)memory->pid);
	error = check_enabled(memory, interpreter, offsets);
	if (error)
		return error;
	error = read_u64(memory,
			 interpreter + number(offsets, slots->interp_main_thread),
			 &thread);
	if (error)
		return error;
	if (!thread)
		return error_create(ERROR_NOT_FOUND,
				    "the Python in process %d has no main thread",
				    (int)memory->pid);
	*ret = thread;
	return NULL;
}

static struct error *locate(struct remote_exec *remote)
{
	struct remote_memory *memory = &remote->memory;
	const struct py_debug_slots *slots;
	struct offsets offsets = {};
	uint64_t runtime, support, thread = 0;
	struct error *error = find_runtime(memory, &runtime);

	if (error)
		return error;
	error = read_offsets(memory, runtime, &offsets);
	if (error)
		return error;
	error = find_thread(memory, runtime, &offsets, &thread);
	if (error)
		return error;
	slots = &offsets.slots;
	support = thread + number(&offsets, slots->remote_support);
	remote->version = (uint32_t)offsets.numbers[PY_SLOT_VERSION];
	remote->eval_breaker = thread + number(&offsets, slots->remote_eval_breaker);
	remote->pending = support + number(&offsets, slots->remote_pending);
	remote->script = support + number(&offsets, slots->remote_script);
	remote->script_size = number(&offsets, slots->remote_script_size);
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
	if (error)
		return error;
	error = write_memory(remote, remote->pending, &pending, sizeof(pending));
	if (error)
		return error;
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

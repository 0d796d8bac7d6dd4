// SPDX-License-Identifier: GPL-2.0-only
#include "probe_target.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "obj/elf_file.h"
#include "probe.h"

bool probe_target_read(void *arg, uint64_t address, void *buf, size_t size)
{
	const struct probe_target *t = arg;

	return pread(t->mem, buf, size, (off_t)address) == (ssize_t)size;
}

/* Opens the mapped file of one line of /proc/PID/maps if it is an interpreter. */
static struct error *try_map(struct probe_target *t, const char *pid,
			     const char *line)
{
	char path[4096], file_path[128];
	uint64_t start, end, offset;
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct error *error;

	if (t->binary.version ||
	    sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %4095s",
		   &start, &end, &offset, path) != 4 ||
	    path[0] != '/')
		return NULL;
	/* Works whatever the process's root is. */
	snprintf(file_path, sizeof(file_path),
		 "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	error = elf_file_open(file_path, &file);
	if (error)
		return error;
	if (!py_detect_maybe(file))
		return NULL;
	error = probe_detect_file(file, &t->binary);
	if (!error && !elf_file_bias(file, start, end - start, offset, &t->bias))
		error = error_create(ERROR_FORMAT, "no bias");
	return error;
}

static struct error *find_interpreter(struct probe_target *t, const char *pid)
{
	char path[64], line[4200];
	_cleanup_fclose_ FILE *maps = NULL;
	struct error *error = NULL;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return error_create(ERROR_NOT_FOUND, "no process %s", pid);
	while (!error && fgets(line, sizeof(line), maps))
		error = try_map(t, pid, line);
	if (!error && !t->binary.version)
		error = error_create(ERROR_NOT_FOUND, "no Python in %s", pid);
	return error;
}

struct error *probe_target_init(struct probe_target *t, const char *pid)
{
	struct error *error;
	char path[64];

	*t = (struct probe_target){};
	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	t->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (t->mem < 0)
		return error_create(ERROR_NOT_FOUND, "no process %s", pid);
	error = find_interpreter(t, pid);
	if (error)
		probe_target_deinit(t);
	return error;
}

void probe_target_deinit(struct probe_target *t)
{
	close(t->mem);
}

struct error *probe_target_process(struct probe_target *t,
				   struct walker_process *ret)
{
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX] = {};

	ret->runtime = t->binary.runtime + t->bias;
	ret->code_type = t->binary.code_type + t->bias;
	if (PY_SERIES(t->binary.version) < PY_SERIES_DEBUG_OFFSETS) {
		ret->layout = t->binary.layout;
		return NULL;
	}
	if (!probe_target_read(t, ret->runtime, bytes, sizeof(bytes)))
		return error_create(ERROR_FAULT, "no _PyRuntime");
	return py_layout_from_debug_offsets(
		(struct bytes){ bytes, sizeof(bytes) }, t->binary.version,
		&ret->layout);
}

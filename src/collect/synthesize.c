// SPDX-License-Identifier: GPL-2.0-only
#include "collect/synthesize.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/file.h"
#include "sys/proc.h"

/* perf gives the kernel's code this name; _text is its reference symbol. */
#define KERNEL_MAP "[kernel.kallsyms]_text"
#define PAGE_MASK_4K UINT64_C(0xfff)

/* More is no kernel: the space for it is 1 GiB. */
enum { KERNEL_SIZE_MAX = 1 << 30 };

/* From _text to _etext, by the memory that they take; 0: hidden or not there. */
static uint64_t kernel_code_size(const char *root)
{
	_cleanup_fclose_ FILE *file = file_open(root, "/proc/iomem");
	unsigned long long first, last;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, " : Kernel code\n") &&
		    sscanf(line, "%llx-%llx", &first, &last) == 2 &&
		    first < last && last - first < KERNEL_SIZE_MAX)
			return last - first + 1;
	return 0;
}

/* The address of the line if that is of the symbol, else 0. */
static uint64_t line_address(const char *line, const char *symbol)
{
	size_t size = strlen(line), length = strlen(symbol);
	const char *name;

	if (size < length + 2 || line[size - 1] != '\n')
		return 0;
	name = line + size - length - 1;
	return name[-1] == ' ' && !memcmp(name, symbol, length) ?
		       strtoull(line, NULL, 16) :
		       0;
}

struct kernel_code kernel_code_find(const char *root)
{
	_cleanup_fclose_ FILE *file = file_open(root, "/proc/kallsyms");
	uint64_t size = kernel_code_size(root);
	struct kernel_code code = {};
	char line[512];

	while (file && !code.end && fgets(line, sizeof(line), file)) {
		if (!code.start)
			code.start = line_address(line, "_text");
		if (code.start && size)
			code.end = code.start + size;
		else
			code.end = line_address(line, "_etext");
	}
	code.end = (code.end + PAGE_MASK_4K) & ~PAGE_MASK_4K;
	return code;
}

struct error *synthesize_kernel(const struct kernel_code *code,
				record_sink *sink, void *arg)
{
	struct record record = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap = { .pid = (uint32_t)-1,
			  .start = code->start,
			  .len = code->end - code->start,
			  .pgoff = code->start,
			  .is_exec = true,
			  .filename = KERNEL_MAP,
			  .filename_len = sizeof(KERNEL_MAP) - 1 },
	};

	if (!code->start || code->end <= code->start)
		return NULL;
	return sink(arg, &record);
}

static struct error *synthesize_thread(const char *root, pid_t pid, pid_t tid,
				       record_sink *sink, void *arg)
{
	char comm[PROC_COMM_MAX];
	struct error *error = proc_comm(root, tid, comm);
	struct record record = {
		.type = PERF_RECORD_COMM,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.comm = { .pid = (uint32_t)pid,
			  .tid = (uint32_t)tid,
			  .comm = comm },
	};
	struct record fork = {
		.type = PERF_RECORD_FORK,
		.misc = PERF_RECORD_MISC_FORK_EXEC,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.task = { .pid = (uint32_t)pid,
			  .ppid = (uint32_t)pid,
			  .tid = (uint32_t)tid,
			  .ptid = (uint32_t)pid },
	};

	if (error)
		return error;
	if (pid != tid) {
		error = sink(arg, &fork);
		if (error)
			return error;
	}
	record.comm.comm_len = (uint32_t)strlen(comm);
	return sink(arg, &record);
}

static struct error *synthesize_map(pid_t pid, const struct proc_map *map,
				    struct mapped_files *files,
				    record_sink *sink, void *arg)
{
	struct record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.mmap = { .pid = (uint32_t)pid,
			  .tid = (uint32_t)pid,
			  .start = map->start,
			  .len = map->end - map->start,
			  .pgoff = map->offset,
			  .maj = map->major,
			  .min = map->minor,
			  .ino = map->inode,
			  .prot = map->prot,
			  .flags = map->shared ? MAP_SHARED : MAP_PRIVATE,
			  .filename = *map->path ? map->path : "//anon" },
	};

	if (!(map->prot & PROT_EXEC))
		record.misc |= PERF_RECORD_MISC_MMAP_DATA;
	record.mmap.filename_len = (uint32_t)strlen(record.mmap.filename);
	if (files)
		mapped_files_put_build_id(files, pid, map, &record);
	return sink(arg, &record);
}

static struct error *synthesize_maps(const char *root, pid_t pid, bool data,
				     struct mapped_files *files,
				     record_sink *sink, void *arg)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	struct error *error = proc_maps_read(root, pid, &maps);

	if (error)
		return error;
	vec_for_each(map, &maps.maps) {
		if (!data && !(map->prot & PROT_EXEC))
			continue;
		error = synthesize_map(pid, map, files, sink, arg);
		if (error)
			break;
	}
	proc_maps_deinit(&maps);
	return error;
}

struct error *synthesize_process(const char *root, pid_t pid, bool data,
				 struct mapped_files *files, record_sink *sink,
				 void *arg)
{
	struct pid_list threads = {};
	struct error *error = proc_threads(root, pid, &threads);

	for (size_t i = 0; !error && i < threads.count; i++) {
		error = synthesize_thread(root, pid, threads.data[i], sink, arg);
		/* A thread may end while it is looked at. */
		if (error && error->code == ERROR_NOT_FOUND) {
			error_destroy(error);
			error = NULL;
		}
	}
	if (!error)
		error = synthesize_maps(root, pid, data, files, sink, arg);
	vec_deinit(&threads);
	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return NULL;
	}
	return error;
}

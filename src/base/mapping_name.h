/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the name of a memory mapping says of what is mapped: the last column of
 * /proc/PID/maps, the filename of an MMAP record.
 *
 * Source: Linux show_map_vma() (fs/proc/task_mmu.c), perf_event_mmap_event()
 * (kernel/events/core.c), and the files that the kernel makes for memory
 * (mm/shmem.c, mm/memfd.c, ipc/shm.c, fs/hugetlbfs/inode.c). What perf makes
 * of a name: tools/perf/util/map.h, dsos.c and jitdump.c.
 */
#ifndef KAA_BASE_MAPPING_NAME_H
#define KAA_BASE_MAPPING_NAME_H

#include <stdbool.h>
#include <stdint.h>

enum mapping_kind {
	/* "/usr/lib/libc.so.6"; "/tmp/x.so (deleted)" if it has been deleted. */
	MAPPING_FILE,
	/* "//toolong", "//enomem": a file whose path the kernel could not say. */
	MAPPING_LOST_PATH,
	/* "/memfd:name (deleted)", of memfd_create(). */
	MAPPING_MEMFD,
	/*
	 * "/dev/zero (deleted)", "/SYSV0000002a (deleted)", "/anon_hugepage
	 * (deleted)": anonymous memory for which the kernel makes a file.
	 */
	MAPPING_SHARED,
	/* "//anon": memory that /proc/PID/maps has no name for. */
	MAPPING_ANON,
	/* "[anon:name]", of prctl(PR_SET_VMA_ANON_NAME). */
	MAPPING_NAMED_ANON,
	MAPPING_HEAP,
	/* "[stack]"; "[stack:17]" is Linux 3.4 to 4.4's for another thread. */
	MAPPING_STACK,
	MAPPING_VDSO,
	/* "[vvar]", "[vsyscall]", "anon_inode:[perf_event]", "", the kernel's. */
	MAPPING_OTHER,
};

enum mapping_kind mapping_kind(const char *name);

/*
 * A file lies behind the mapping, by its path or by /proc/PID/map_files as long
 * as the process lives. True for MAPPING_MEMFD and MAPPING_SHARED, too.
 */
static inline bool mapping_has_file(const char *name)
{
	return name[0] == '/' && name[1] != '/';
}

/*
 * The mapping is of a file that has, or had, a path in the file system: perf
 * has a DSO of that path. MAPPING_FILE and MAPPING_LOST_PATH.
 */
bool mapping_has_path(const char *name);

/*
 * Memory that no file names: perf looks for names of code in it in the perf map
 * of the process (tools/perf/Documentation/jit-interface.txt). MAPPING_SHARED,
 * MAPPING_ANON, MAPPING_NAMED_ANON, MAPPING_HEAP, MAPPING_STACK, and whatever
 * else is MAP_HUGETLB. flags: MAP_*, 0 if not known.
 */
bool mapping_is_anonymous(const char *name, uint32_t flags);

/*
 * Memory into which a compiler of a jitdump puts its code. MAPPING_ANON,
 * MAPPING_NAMED_ANON and MAPPING_MEMFD.
 */
bool mapping_is_for_jit(const char *name);

bool mapping_is_vdso(const char *name);

#endif

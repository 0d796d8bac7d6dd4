/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes and threads over time: who had which name and which memory maps
 * at which moment, as the task records of perf tell it.
 *
 * Records (mmap, comm, fork, exit) are applied in time order. A look-up takes
 * a time and may lie before the last record applied: what a later record
 * ended is kept until process_table_forget() says that nobody will ask for it
 * any more. All times are in nanoseconds of one clock; time 0 means "from the
 * beginning".
 *
 * How records act (Linux uapi perf_event.h, and what perf makes of them):
 * - A new map ends what it overlaps from its time on; the parts of the old
 *   map beside it live on.
 * - fork: the child starts with the parent's maps as they are, and with the
 *   name of the thread that forked. Sets of maps are shared until one side
 *   changes, so a fork costs the same for 3 maps and for 30,000.
 * - exec (a comm record with the exec flag) ends all maps of the process.
 * - A pid that a fork record names again is a new process; look-ups before
 *   that time still see the old one.
 * - A process that no fork record announced exists from time 0.
 * - A record that comes late, older than the last change of its process, is
 *   applied all the same: its map holds from its own time, and what it
 *   overlaps ends.
 *
 * Foreign numbers are bounded: records beyond a limit, of zero length or
 * wrapping around the address space are dropped and counted in
 * process_table_stats().
 *
 * Not thread-safe. Pointers that look-ups return stay valid until the next
 * call of process_table_forget() or, once a process has PROCESS_MAX_PAST ended
 * maps, of process_table_mmap(); struct process_file and strings stay valid
 * as long as the table.
 */
#ifndef KAA_PROCESS_PROCESS_H
#define KAA_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	/* Live maps of one process; Linux itself allows 65,530. */
	PROCESS_MAX_MAPS = 1 << 17,
	/* Ended maps that one process remembers; the oldest go first. */
	PROCESS_MAX_PAST = 1 << 16,
	/* Places in map sets, of all processes together. */
	PROCESS_MAX_TOTAL = 1 << 24,
	PROCESS_MAX_PROCESSES = 1 << 20,
	PROCESS_MAX_THREADS = 1 << 21,
	PROCESS_MAX_FILES = 1 << 20,
	/* Bytes of paths and names. */
	PROCESS_MAX_STRINGS = 1 << 28,
	PROCESS_BUILD_ID_MAX = 20,
};

/* The pid that owns the kernel's maps, as in perf's records. */
#define PROCESS_KERNEL ((uint32_t)-1)

/*
 * What is mapped. One object for all maps, of all processes, that agree in
 * path, device, inode, generation and build-id. Lives as long as the table.
 */
struct process_file {
	/* As in the record; see base/mapping_name.h. */
	const char *path;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t inode_generation;
	uint8_t build_id[PROCESS_BUILD_ID_MAX];
	/* 0: none known. */
	uint8_t build_id_size;
	/*
	 * Counts up from 0 in order of appearance: the index of the file in
	 * tables of those who know more of it (vec_slot()).
	 */
	uint32_t index;
};

/* One stretch of memory of one process, or of several after a fork. */
struct process_map {
	uint64_t start;
	uint64_t end;
	/* Offset of start in the file. */
	uint64_t pgoff;
	/* The time from which it holds. */
	uint64_t from;
	/* PROT_* and MAP_*; 0 if the record did not say (plain MMAP). */
	uint32_t prot;
	uint32_t flags;
	struct process_file *file;
	/* Sets and histories that hold it; the table's own. */
	uint32_t refs_;
};

/* What an MMAP or MMAP2 record says. All borrowed. */
struct process_mmap {
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	uint32_t prot;
	uint32_t flags;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t inode_generation;
	const char *path;
	/* build_id_size 0: none; over 20 is dropped. */
	const uint8_t *build_id;
	size_t build_id_size;
};

struct process_stats {
	/* Records that passed a limit. */
	uint64_t over_limit;
	/* Records that make no sense. */
	uint64_t malformed;
};

struct process;
struct process_table;

/* Fails with ERROR_NO_MEMORY alone, as do all others here. */
struct error *process_table_create(struct process_table **ret);
void process_table_destroy(struct process_table *table);

/* From now on a thread has the names that records gave it, and no other. */
void process_table_own_names_only(struct process_table *table);

/* pid PROCESS_KERNEL for the kernel and its modules. */
struct error *process_table_mmap(struct process_table *table, uint32_t pid,
				 uint64_t time,
				 const struct process_mmap *mmap);

/* exec: the record carries PERF_RECORD_MISC_COMM_EXEC. */
struct error *process_table_comm(struct process_table *table, uint32_t pid,
				 uint32_t tid, uint64_t time, const char *comm,
				 bool exec);

/*
 * A new thread (pid equal to ppid) or a new process. copy_maps is false for
 * records with PERF_RECORD_MISC_FORK_EXEC, which perf makes up for processes
 * that ran before the recording: their maps follow one by one.
 */
struct error *process_table_fork(struct process_table *table, uint32_t pid,
				 uint32_t ppid, uint32_t tid, uint32_t ptid,
				 uint64_t time, bool copy_maps);

/* The process ends with the last of its known threads. */
void process_table_exit(struct process_table *table, uint32_t pid,
			uint32_t tid, uint64_t time);

/*
 * Nobody will look up a time before `before` any more: ended maps, names that
 * were replaced and processes that ended by then are freed.
 */
void process_table_forget(struct process_table *table, uint64_t before);

/* The process that pid was at that time; NULL if no record spoke of it. */
struct process *process_table_find(struct process_table *table, uint32_t pid,
				   uint64_t time);

/* As process_table_find(), but makes one that exists from time 0. */
struct error *process_table_get(struct process_table *table, uint32_t pid,
				uint64_t time, struct process **ret);

/*
 * The map at addr at that time, or NULL. Below 50 ns when warm: the last hit
 * of the process, else a bisection.
 */
struct process_map *process_map_at(struct process *process, uint64_t addr,
				   uint64_t time);

/*
 * The map that was at addr last, of those that hold no more: where a process
 * came from that is in the middle of an exec. NULL if none is remembered.
 */
struct process_map *process_map_before(struct process *process, uint64_t addr);

/* process_table_find() and process_map_at() in one. */
struct process_map *process_table_map_at(struct process_table *table,
					 uint32_t pid, uint64_t addr,
					 uint64_t time);

/*
 * The name of a thread at that time: its own, else that of the process's
 * first thread (unless process_table_own_names_only() said no), else NULL
 * ("swapper" for pid 0). One pointer per distinct name.
 */
const char *process_table_comm_at(struct process_table *table, uint32_t pid,
				  uint32_t tid, uint64_t time);

/* An exit record ended the thread by that time, and nothing woke it up. */
bool process_table_has_ended(struct process_table *table, uint32_t pid,
			     uint32_t tid, uint64_t time);

uint32_t process_pid(const struct process *process);

/* Exit records ended all its threads that are known. */
bool process_is_over(const struct process *process);

/*
 * A number of the process's set of maps at that time: equal numbers mean
 * equal sets, within and across processes (a child has its parent's until one
 * of them changes). 0: the time lies before the last change, nothing is
 * known. Never reused.
 */
uint64_t process_generation(const struct process *process, uint64_t time);

/*
 * Counts up from 0 in order of appearance, and is never used again: the index
 * of the process in tables of those who know more of it (vec_slot()).
 */
uint32_t process_index(const struct process *process);

/* It had ended by that time, and process_table_forget() would free it. */
bool process_had_ended(const struct process *process, uint64_t time);

/*
 * What one user of the table keeps for the process, NULL at first. It is not the
 * table's: whoever sets it takes it away before the process is forgotten.
 */
void *process_attachment(const struct process *process);
void process_attach(struct process *process, void *attachment);

/* Calls visit for the live maps in address order until it returns false. */
void process_each_map(struct process *process,
		      bool (*visit)(struct process_map *map, void *arg),
		      void *arg);

/* Number of files seen, and the one with that index. */
size_t process_table_file_count(const struct process_table *table);
struct process_file *process_table_file(const struct process_table *table,
					size_t index);

struct process_stats process_table_stats(const struct process_table *table);

DEFINE_CLEANUP(process_table, struct process_table *, process_table_destroy);
#define _cleanup_process_table_ _cleanup_(cleanup_process_table_)

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What /proc says about processes. root: see sys/file.h.
 *
 * A process may end at any moment: then functions give ERROR_NOT_FOUND. Names
 * in these files are chosen by their owners and hostile; lines that do not
 * parse are ERROR_FORMAT, never skipped silently. Format source: proc(5).
 */
#ifndef KAA_SYS_PROC_H
#define KAA_SYS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

/*
 * Turns "no such file" about a file of /proc/PID into ERROR_NOT_FOUND; gives
 * any other error (or NULL) back.
 */
struct error *proc_gone_error(struct error *error, pid_t pid);

/* One line of /proc/PID/maps. */
struct proc_map {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
	/* Of start in the file. */
	uint64_t offset;
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	/* PROT_READ | PROT_WRITE | PROT_EXEC */
	uint32_t prot;
	bool shared;
	/*
	 * As in the file with \012 turned into a newline, "" if there is
	 * none; see base/mapping_name.h. Owned by proc_maps.
	 */
	const char *path;
};

struct proc_maps {
	VEC(struct proc_map) maps;
	/* Holds the paths. */
	struct strbuf text;
};
#define PROC_MAPS_INIT { .text = STRBUF_INIT }

/*
 * The maps of a process or thread, in order of address. Paths of a process in
 * another mount namespace are as that process sees them (below
 * /proc/PID/root), also if it is in a chroot there; those of one in a chroot
 * of the caller's own namespace are as the caller sees them.
 */
struct error *proc_maps_read(const char *root, pid_t pid,
			     struct proc_maps *ret);
/* The same from the file's text; *ret must be PROC_MAPS_INIT. */
struct error *proc_maps_parse(const char *text, size_t size,
			      struct proc_maps *ret);
void proc_maps_deinit(struct proc_maps *maps);
/* The map that holds the address, or NULL. */
const struct proc_map *proc_maps_find(const struct proc_maps *maps,
				      uint64_t address);
/*
 * All of a thread's stack is above; 0: that is not known. pointer: its pthread_self().
 * That of a process's first thread may grow.
 */
uint64_t proc_maps_stack_start(const struct proc_maps *maps, uint64_t pointer,
			       bool is_first);

struct pid_list VEC_BODY(pid_t);

/* The threads of a process, ascending. Appends. */
struct error *proc_threads(const char *root, pid_t pid, struct pid_list *ret);
/*
 * The processes that a thread started and that have it as their parent still, in no
 * order. Appends. ERROR_NOT_FOUND also if the kernel has no such lists
 * (CONFIG_PROC_CHILDREN).
 */
struct error *proc_children(const char *root, pid_t pid, pid_t tid,
			    struct pid_list *ret);
/*
 * The children of all threads of a process, theirs, and so on; each comes behind its
 * parent. Appends; what ends meanwhile is left out. Fails for want of memory only.
 */
struct error *proc_descendants(const char *root, pid_t pid,
			       struct pid_list *ret);
/* How many there are, as cheaply as can be. 0: it has none, or that is not told. */
size_t proc_thread_count(const char *root, pid_t pid);
/* /proc/loadavg, to be read again and again. Zero-initialise. */
struct proc_newest {
	bool is_open;
	int fd;
};

/*
 * The number that a task was given last, in this process's pid namespace; -1: not
 * told. Another one than before: there is a new task, or there will be in a moment.
 */
pid_t proc_newest(struct proc_newest *newest, const char *root);
void proc_newest_deinit(struct proc_newest *newest);
/* All processes (thread group leaders), ascending. Appends. */
struct error *proc_processes(const char *root, struct pid_list *ret);

/* Most PID namespaces that a process can be in (the kernel's limit is 32). */
enum { PROC_NS_MAX = 33, PROC_COMM_MAX = 64 };

/* From /proc/PID/status and /proc/PID/stat. */
struct proc_status {
	/* Thread name; the kernel's are at most 15 bytes, kthreads' 63. */
	char comm[PROC_COMM_MAX];
	pid_t tgid;
	pid_t pid;
	pid_t ppid;
	uid_t uid;
	uid_t euid;
	gid_t gid;
	/* Thread group id per PID namespace, outermost first; at least one. */
	size_t nstgid_count;
	pid_t nstgid[PROC_NS_MAX];
	/* The thread's own number in its innermost PID namespace. */
	pid_t nspid;
	/* Effective capabilities, bit per CAP_*. */
	uint64_t effective;
	/* Clock ticks after boot. With pid it identifies the process. */
	uint64_t start_time;
};

struct error *proc_status_read(const char *root, pid_t pid,
			       struct proc_status *ret);
/* Text of status alone: start_time stays 0. */
struct error *proc_status_parse(const char *text, size_t size,
				struct proc_status *ret);
/* Text of stat: the start time. */
struct error *proc_stat_parse(const char *text, size_t size,
			      uint64_t *start_time);

/*
 * Appends "user NAME" of who owns the process, or "user NUMBER" of one without a
 * name; "another user" where the process is gone.
 */
void proc_put_owner(const char *root, pid_t pid, struct strbuf *out);

/* /proc/PID/comm without the newline; buf holds PROC_COMM_MAX bytes. */
struct error *proc_comm(const char *root, pid_t pid, char *buf);

/*
 * The target of /proc/PID/<link>: "exe", "cwd", "root", "ns/pid", "ns/mnt".
 * *ret is the caller's.
 */
struct error *proc_link(const char *root, pid_t pid, const char *link,
			char **ret);

/* The same namespace ("pid", "mnt", ...) as the caller's? */
struct error *proc_same_namespace(const char *root, pid_t pid, const char *ns,
				  bool *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in which the agent tells what its trampolines are called, safe in a
 * directory where others write too. Internal to src/agent; called with the
 * agent's lock held.
 *
 * A file is regular, made new (O_EXCL, no link followed) with mode 0600, and closed
 * in programs that this process executes. What stands under its name already is
 *
 *   left alone      a link, a directory, another user's file: EEXIST
 *   replaced        a file of this user's (to root: of anybody's) that is older than
 *                   this process: that of an earlier one with the same pid
 *   gone on with    the file of this very process: closed before; or, if the
 *                   kind of file is shared by convention, another writer's in
 *                   this process (a second JIT, PyUnstable_WritePerfMapEntry)
 *
 * The pid in a name is that of the process's own pid namespace: perf takes the
 * innermost one, and looks in /proc/PID/root/tmp. Two containers that share a
 * /tmp share these names.
 *
 * Environment:
 *   KAA_TRAMPOLINE_DIR    the directory, an absolute path; default /tmp. perf and
 *                         samply look for perf maps in /tmp alone. A jitdump is
 *                         found wherever it is, but a perf that unwinds by libdw
 *                         (unwind-libdw.c) goes through the files that it makes of
 *                         it only if they are /tmp/jitted-*. An ELF image may be
 *                         anywhere
 *   KAA_TRAMPOLINE_KEEP   0: what this process made is removed when it ends by
 *                         exit(); a signal or _exit() leaves it. Default: kept, since
 *                         profilers read these files after the program's end
 *
 * Functions return errno values, and leave the path for agent_backend_subject().
 */
#ifndef KAA_AGENT_FILES_H
#define KAA_AGENT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum agent_file_kind {
	/* Appended to, by nobody else. */
	AGENT_FILE_LOG,
	/* By convention all code generators of a process append to it. */
	AGENT_FILE_SHARED_LOG,
	/* Written at any offset, by nobody else. */
	AGENT_FILE_IMAGE,
};

/*
 * Which file it is, whatever its name. A new file may get the inode of a deleted one,
 * but not its time of birth (0 where the file system knows none).
 */
struct agent_file_identity {
	uint64_t device;
	uint64_t inode;
	int64_t birth;
};

struct agent_file {
	/* -1: not open. */
	int fd;
	/* The process that opened it; 0: it was never opened. */
	pid_t pid;
	enum agent_file_kind kind;
	/* Whatever stands under path or fd by now. */
	struct agent_file_identity identity;
	/* In the list of those to be removed at exit. */
	bool listed;
	struct agent_file *next;
	char path[PATH_MAX];
};

#define AGENT_FILE_INIT { .fd = -1 }

/*
 * Opens <dir>/<prefix><pid><suffix> for reading and writing; does nothing if it is
 * open. *ret_size is what it holds already. file must live as long as the
 * process. EINVAL: KAA_TRAMPOLINE_DIR is no absolute path; ENAMETOOLONG; EEXIST, see
 * above; what open() says.
 */
int agent_file_open(struct agent_file *file, enum agent_file_kind kind,
		    const char *prefix, const char *suffix, uint64_t *ret_size);

/*
 * Appends all of it by one writev(2), or nothing: what a full disk cut is taken
 * back. The file is looked at first: if the program closed the descriptor, or has
 * another file in its place, the file is opened anew. EBADF: that failed.
 * ESRCH: this is a child of the process that opened it. EFBIG: beyond
 * RLIMIT_FSIZE (the signal that this would raise is never raised).
 */
int agent_file_append(struct agent_file *file, const struct iovec *parts,
		      int count);

struct agent_file_piece {
	uint64_t offset;
	const void *data;
	size_t size;
};

/*
 * Writes pieces to an AGENT_FILE_IMAGE, one after the other, with the same precautions. If
 * that fails, earlier pieces are there, and of the failed one any part.
 */
int agent_file_write_at(struct agent_file *file,
			const struct agent_file_piece *pieces, int count);

/* Cuts the file. */
int agent_file_truncate(struct agent_file *file, uint64_t size);

/* Closes; a later open goes on with the same file. */
void agent_file_close(struct agent_file *file);

/* Closes and removes a file that turned out to be of no use. */
void agent_file_discard(struct agent_file *file);

/* In the child of a fork: as if it had never been opened. */
void agent_file_forget(struct agent_file *file);

/* Removes the files that are to be removed; runs by itself at exit(). */
void agent_files_remove(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program is to the agent, by its file: a Python, that the agent is
 * loaded into; a carrier, a shell or launcher that Pythons are started by; or
 * something that it must stay out of.
 *
 * Async-signal-safe: system calls and the stack (8 KiB) only, so that it may be
 * called between vfork and exec. Reads are bounded. Both libkaa_agent.so and kaa
 * are built with it.
 *
 * A Python: an ELF file that needs a libpython*, or exports Py_GetVersion.
 * Sources: System V gABI chapters 4 and 5; the hash table of GNU_HASH as
 * binutils and glibc have it; execve(2) for "#!".
 */
#ifndef KAA_AGENT_PROGRAM_H
#define KAA_AGENT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

enum agent_program_kind {
	/* Cannot be opened or read; maybe it cannot be run either. */
	AGENT_PROGRAM_UNREADABLE,
	/* Neither ELF nor "#!". */
	AGENT_PROGRAM_NO_ELF,
	/* 32 bit, or of another processor. */
	AGENT_PROGRAM_FOREIGN,
	/* Preloading has no effect on it. */
	AGENT_PROGRAM_STATIC,
	/* Another C library (musl's, glibc's) than that of the agent. */
	AGENT_PROGRAM_OTHER_LIBC,
	/* setuid, setgid, or with file capabilities. */
	AGENT_PROGRAM_PRIVILEGED,
	/* AddressSanitizer and its sisters end when something is preloaded. */
	AGENT_PROGRAM_SANITIZER,
	/* Anything else. */
	AGENT_PROGRAM_OTHER,
	/* Can be preloaded, and is known to start other programs. */
	AGENT_PROGRAM_CARRIER,
	AGENT_PROGRAM_PYTHON,
};

enum {
	/* The kernel reads so much of a "#!" line, and follows so many. */
	AGENT_PROGRAM_LINE_MAX = 256,
	AGENT_PROGRAM_DEPTH_MAX = 5,
};

struct agent_program {
	enum agent_program_kind kind;
	/* Scripts: the interpreter that runs the file at last, else "". */
	char interpreter[AGENT_PROGRAM_LINE_MAX];
	/* Its argument in the script, "" if there is none. */
	char argument[AGENT_PROGRAM_LINE_MAX];
};

/*
 * path: as execve() takes it, relative to dirfd (AT_FDCWD). With path "" the
 * file behind dirfd itself.
 */
void agent_program_identify(int dirfd, const char *path,
			    struct agent_program *ret);

/*
 * The interpreter and argument of a script's first line, and no further. False:
 * the file has no such line; ret->kind says what it is instead.
 */
bool agent_program_read_line(const char *path, struct agent_program *ret);

/*
 * The file that execvp() would run for a name: the name itself if it has a '/',
 * else what is found in PATH. False: none, or it has no room in buf. errno
 * may change.
 */
bool agent_program_search(const char *name, char *buf, size_t size);

/* The agent may be loaded: a carrier or a Python. */
static inline bool agent_program_takes_agent(const struct agent_program *program)
{
	return program->kind >= AGENT_PROGRAM_CARRIER;
}

/* The part of a path behind the last '/'. */
const char *agent_program_name(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the recorder's thread says to the poller's: which process is a Python. Sending
 * is for the one, reading for the other.
 */
#ifndef KAA_COLLECT_POLL_LETTERS_H
#define KAA_COLLECT_POLL_LETTERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"

struct poll_letter {
	pid_t pid;
	/* See poll_tasks_set_python(). */
	uint64_t since;
	bool has_python;
	struct walker_process python;
};

struct poll_letters {
	pthread_mutex_t lock;
	/* Under the lock. */
	VEC(struct poll_letter) sent;
	/* The reader's. */
	VEC(struct poll_letter) read;
};

void poll_letters_init(struct poll_letters *letters);
void poll_letters_deinit(struct poll_letters *letters);

/* python: NULL if it is none any more. */
struct error *poll_letters_send(struct poll_letters *letters, pid_t pid,
				uint64_t since,
				const struct walker_process *python);
/* letters->read are those that have come since the last call. */
void poll_letters_read(struct poll_letters *letters);

#endif

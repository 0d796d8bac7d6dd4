/* SPDX-License-Identifier: GPL-2.0-only */
/* A process of an interpreter, and its memory. */
#ifndef KAA_TESTS_PROBE_TARGET_H
#define KAA_TESTS_PROBE_TARGET_H

#include "base/error.h"
#include "python/detect.h"
#include "python/layout.h"
#include "python/user_walk.h"

struct probe_target {
	/* /proc/PID/mem */
	int mem;
	struct py_binary binary;
	uint64_t bias;
};

struct error *probe_target_init(struct probe_target *target, const char *pid);
void probe_target_deinit(struct probe_target *target);

/* py_memory.read of a struct probe_target. */
bool probe_target_read(void *arg, uint64_t address, void *buf, size_t size);

/* What a walk has to know of it. */
struct error *probe_target_process(struct probe_target *target,
				   struct walker_process *ret);

#endif

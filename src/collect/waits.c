// SPDX-License-Identifier: GPL-2.0-only
#include "collect/waits.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "bpf/walker_shared.h"
#include "perfdata/kaa_stream.h"
#include "sys/file.h"
#include "sys/task_syscall.h"

#define CALL_PREFIX "__x64_sys_"

/* --- the kernel's functions --- */

/* "ffffffff821f8540 T __schedule"; what modules have stands in brackets behind it. */
static bool parse_symbol(char *line, uint64_t *address, const char **name)
{
	char *end, *kind;

	*address = strtoull(line, &end, 16);
	kind = end + 1;
	if (!*address || *end != ' ' || !kind[0] || kind[1] != ' ')
		return false;
	*name = kind + 2;
	kind[2 + strcspn(kind + 2, " \t\n")] = '\0';
	return true;
}

static struct error *take_symbol(struct waits *waits, uint64_t address,
				 const char *name)
{
	struct wait_call call = { .address = address };

	if (waits->schedule_start && !waits->schedule_end &&
	    address > waits->schedule_start)
		waits->schedule_end = address;
	if (!strcmp(name, "__schedule"))
		waits->schedule_start = address;
	if (strncmp(name, CALL_PREFIX, strlen(CALL_PREFIX)) != 0)
		return NULL;
	snprintf(call.name, sizeof(call.name), "%s",
		 name + strlen(CALL_PREFIX));
	return vec_push(&waits->calls, call) ? NULL : error_no_memory();
}

struct error *waits_init(struct waits *waits, const char *root)
{
	_cleanup_fclose_ FILE *file = file_open(root, "/proc/kallsyms");
	struct error *error = NULL;
	uint64_t address;
	const char *name;
	char line[512];

	while (file && !error && fgets(line, sizeof(line), file))
		if (parse_symbol(line, &address, &name))
			error = take_symbol(waits, address, name);
	return error;
}

void waits_deinit(struct waits *waits)
{
	vec_deinit(&waits->calls);
	vec_deinit(&waits->chain);
}

/* --- chains --- */

static bool is_schedule(const struct waits *waits, uint64_t ip)
{
	return ip >= waits->schedule_start && ip < waits->schedule_end;
}

/*
 * From __schedule() outwards; false: the thread was walked elsewhere. Where addresses
 * are hidden nobody knows, and all frames stay.
 */
static bool put_kernel_frames(struct waits *waits,
			      const struct record_sample *sample)
{
	bool inside = waits->schedule_start != 0;

	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t ip = sample->callchain[i];

		if (ip == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (ip >= PERFDATA_CONTEXT_MAX)
			continue;
		inside &= !is_schedule(waits, ip);
		if (!inside && !vec_push(&waits->chain, ip))
			return false;
	}
	return !inside;
}

/* The system call alone, where nothing else is known. */
static void put_call(struct waits *waits, int64_t number)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (number < 0)
		return;
	task_syscall_name(number, &name);
	vec_for_each(call, &waits->calls)
		if (name.data && !strcmp(call->name, name.data)) {
			(void)vec_push(&waits->chain, call->address);
			return;
		}
}

static bool begin_chain(struct waits *waits)
{
	vec_clear(&waits->chain);
	return vec_push(&waits->chain, (uint64_t)PERF_CONTEXT_KERNEL);
}

static void put_kernel(struct waits *waits, const struct record_sample *sample,
		       const struct walker_wait *wait)
{
	if (!put_kernel_frames(waits, sample))
		put_call(waits, wait->system_call);
}

bool waits_take(struct waits *waits, struct record *record)
{
	struct record_sample *sample = &record->sample;
	struct walker_wait wait;

	if (sample->raw_size < sizeof(wait) || !begin_chain(waits))
		return false;
	memcpy(&wait, sample->raw, sizeof(wait));
	if (wait.kind == WALKER_WAIT_SLEEP)
		put_kernel(waits, sample, &wait);
	if (waits->chain.count == 1)
		vec_clear(&waits->chain);
	if (wait.kind == WALKER_WAIT_CPU &&
	    (!vec_push(&waits->chain, (uint64_t)PERF_CONTEXT_USER) ||
	     !vec_push(&waits->chain, KAA_MARKER_CPU_WAIT)))
		return false;
	waits->since = wait.since;
	sample->period = wait.period;
	sample->callchain = waits->chain.data;
	sample->callchain_count = waits->chain.count;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that are no samples, as `perf script --show-*-events` words them:
 *
 *	PERF_RECORD_COMM exec: python3:12/12
 */
#ifndef KAA_VIEW_SCRIPT_RECORDS_H
#define KAA_VIEW_SCRIPT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "perfdata/record.h"

/* Which records are shown: --show-*-events. */
struct script_shown {
	bool tasks;
	bool mmaps;
	bool namespaces;
	bool switches;
	bool lost;
	bool bpf;
	bool cgroups;
};

bool script_shows_any(const struct script_shown *shown);
bool script_shows(const struct script_shown *shown, uint32_t type);
/* The process and thread that the record is about, as perf has it. */
void script_record_task(const struct record *record, uint32_t *pid,
			uint32_t *tid);
/* "PERF_RECORD_COMM: ..." with its line end. The record is one that can be shown. */
void script_put_record(struct strbuf *out, const struct record *record);

#endif

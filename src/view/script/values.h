/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sample carries beside its place, as `perf script` words it. All append
 * to out. Names and bits: Linux uapi perf_event.h and asm/perf_regs.h.
 */
#ifndef KAA_VIEW_SCRIPT_VALUES_H
#define KAA_VIEW_SCRIPT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

/* " ABI:2    AX:0x1 "; arch is the recording's machine, NULL: this one's. */
void script_put_regs(struct strbuf *out, const struct record_regs *regs,
		     const char *arch);
/* " 4K", " 2M", " N/A" */
void script_put_page_size(struct strbuf *out, uint64_t size);
/* The bytes as a dump, and as a text if they are one. */
void script_put_bpf_output(struct strbuf *out, const uint8_t *data, size_t n);
/* "10668100842 |OP LOAD|LVL L1 hit|SNP None|...", not padded. */
void script_put_data_src(struct strbuf *out, uint64_t data_src);
/* Letters of PERF_RECORD_MISC_* for -F misc. */
void script_misc_letters(const struct record *record, char ret[16]);
/*
 * Local date and time of a moment of the recording's clock; "" without
 * CLOCK_DATA.
 */
void script_time_of_day(const struct features *features, uint64_t time,
			bool ns, char *ret, size_t size);

#endif

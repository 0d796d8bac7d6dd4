// SPDX-License-Identifier: GPL-2.0-only
#include "convert/attr_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct bit_name {
	uint64_t bit;
	const char *name;
};

/* In the order in which they are named. */
static const struct bit_name sample_types[] = {
	{ PERF_SAMPLE_IP, "IP" },
	{ PERF_SAMPLE_TID, "TID" },
	{ PERF_SAMPLE_TIME, "TIME" },
	{ PERF_SAMPLE_ADDR, "ADDR" },
	{ PERF_SAMPLE_READ, "READ" },
	{ PERF_SAMPLE_CALLCHAIN, "CALLCHAIN" },
	{ PERF_SAMPLE_ID, "ID" },
	{ PERF_SAMPLE_CPU, "CPU" },
	{ PERF_SAMPLE_PERIOD, "PERIOD" },
	{ PERF_SAMPLE_STREAM_ID, "STREAM_ID" },
	{ PERF_SAMPLE_RAW, "RAW" },
	{ PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ PERF_SAMPLE_REGS_USER, "REGS_USER" },
	{ PERF_SAMPLE_STACK_USER, "STACK_USER" },
	{ PERF_SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ PERF_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ PERF_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ PERF_SAMPLE_WEIGHT, "WEIGHT" },
	{ PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ 1u << 20, "AUX" },
	{ 1u << 21, "CGROUP" },
	{ 1u << 22, "DATA_PAGE_SIZE" },
	{ 1u << 23, "CODE_PAGE_SIZE" },
	{ 1u << 24, "WEIGHT_STRUCT" },
};

static const struct bit_name read_formats[] = {
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" },
	{ PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" },
	{ PERF_FORMAT_ID, "ID" },
	{ PERF_FORMAT_GROUP, "GROUP" },
	{ 1u << 4, "LOST" },
};

/* By their place in the word behind read_format. */
static const char *const flags[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
};

enum { PRECISE_IP = 15 };

static const char *const types[] = {
	"PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE", "PERF_TYPE_TRACEPOINT",
	"PERF_TYPE_HW_CACHE", "PERF_TYPE_RAW",	    "PERF_TYPE_BREAKPOINT",
};

static const char *const hardware[] = {
	"PERF_COUNT_HW_CPU_CYCLES",
	"PERF_COUNT_HW_INSTRUCTIONS",
	"PERF_COUNT_HW_CACHE_REFERENCES",
	"PERF_COUNT_HW_CACHE_MISSES",
	"PERF_COUNT_HW_BRANCH_INSTRUCTIONS",
	"PERF_COUNT_HW_BRANCH_MISSES",
	"PERF_COUNT_HW_BUS_CYCLES",
	"PERF_COUNT_HW_STALLED_CYCLES_FRONTEND",
	"PERF_COUNT_HW_STALLED_CYCLES_BACKEND",
	"PERF_COUNT_HW_REF_CPU_CYCLES",
};

static const char *const software[] = {
	"PERF_COUNT_SW_CPU_CLOCK",
	"PERF_COUNT_SW_TASK_CLOCK",
	"PERF_COUNT_SW_PAGE_FAULTS",
	"PERF_COUNT_SW_CONTEXT_SWITCHES",
	"PERF_COUNT_SW_CPU_MIGRATIONS",
	"PERF_COUNT_SW_PAGE_FAULTS_MIN",
	"PERF_COUNT_SW_PAGE_FAULTS_MAJ",
	"PERF_COUNT_SW_ALIGNMENT_FAULTS",
	"PERF_COUNT_SW_EMULATION_FAULTS",
	"PERF_COUNT_SW_DUMMY",
	"PERF_COUNT_SW_BPF_OUTPUT",
	"PERF_COUNT_SW_CGROUP_SWITCHES",
};

static void put_type(const struct perf_event_attr *attr, const char *name,
		     struct strbuf *out)
{
	strbuf_printf(out, ", type = %u", attr->type);
	if (attr->type < COUNT(types))
		name = types[attr->type];
	if (name)
		strbuf_printf(out, " (%s)", name);
}

static void put_config(const struct perf_event_attr *attr, struct strbuf *out)
{
	uint64_t config = attr->config;
	const char *name = NULL;

	if (attr->type == PERF_TYPE_HARDWARE && config < COUNT(hardware))
		name = hardware[config];
	if (attr->type == PERF_TYPE_SOFTWARE && config < COUNT(software))
		name = software[config];
	strbuf_printf(out, ", config = %#" PRIx64, config);
	if (name)
		strbuf_printf(out, " (%s)", name);
}

static void put_bits(const char *field, uint64_t value,
		     const struct bit_name *names, size_t count,
		     struct strbuf *out)
{
	const char *separator = " = ";

	if (!value)
		return;
	strbuf_printf(out, ", %s", field);
	for (size_t i = 0; i < count; i++) {
		if (!(value & names[i].bit))
			continue;
		strbuf_printf(out, "%s%s", separator, names[i].name);
		separator = "|";
	}
}

static void put_number(const char *field, uint64_t value, struct strbuf *out)
{
	if (value)
		strbuf_printf(out, ", %s = %" PRIu64, field, value);
}

static void put_hex(const char *field, uint64_t value, struct strbuf *out)
{
	if (value)
		strbuf_printf(out, ", %s = %#" PRIx64, field, value);
}

static void put_flags(const struct perf_event_attr *attr, struct strbuf *out)
{
	uint64_t word;

	memcpy(&word,
	       (const char *)attr +
		       offsetof(struct perf_event_attr, read_format) +
		       sizeof(attr->read_format),
	       sizeof(word));
	for (size_t i = 0; i < COUNT(flags); i++)
		if (flags[i])
			put_number(flags[i],
				   word >> i & (i == PRECISE_IP ? 3 : 1), out);
}

void attr_text(const struct perf_event_attr *attr, const char *type_name,
	       struct strbuf *out)
{
	put_type(attr, type_name, out);
	put_number("size", attr->size, out);
	put_config(attr, out);
	put_number("{ sample_period, sample_freq }", attr->sample_period, out);
	put_bits("sample_type", attr->sample_type, sample_types,
		 COUNT(sample_types), out);
	put_bits("read_format", attr->read_format, read_formats,
		 COUNT(read_formats), out);
	put_flags(attr, out);
	put_number("{ wakeup_events, wakeup_watermark }", attr->wakeup_events,
		   out);
	put_number("bp_type", attr->bp_type, out);
	put_hex("{ bp_addr, config1 }", attr->bp_addr, out);
	put_hex("{ bp_len, config2 }", attr->bp_len, out);
	put_hex("branch_sample_type", attr->branch_sample_type, out);
	put_hex("sample_regs_user", attr->sample_regs_user, out);
	put_number("sample_stack_user", attr->sample_stack_user, out);
	if (attr->clockid)
		strbuf_printf(out, ", clockid = %d", attr->clockid);
	put_hex("sample_regs_intr", attr->sample_regs_intr, out);
	put_number("aux_watermark", attr->aux_watermark, out);
	put_number("sample_max_stack", attr->sample_max_stack, out);
}

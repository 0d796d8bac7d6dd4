// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/field_table.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#include "view/script/own.h"
#include "view/script/places.h"
#include "view/script/values.h"

/* Headers of older kernels lack it. */
#define SAMPLE_WEIGHT_STRUCT (1u << 24)
#define SAMPLE_WEIGHT	     (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)

#define KIND(name)     (1u << SCRIPT_KIND_##name)
#define ALL_KINDS      ((1u << SCRIPT_KINDS) - 1)
#define ALL_BUT(name)  (ALL_KINDS & ~KIND(name))

/* A script_put_field_fn of a value that nothing else decides. */
#define PUT(name)                                                           \
	static struct error *name(struct script_printer *p UNUSED,          \
				  const struct convert_sample *sample,      \
				  uint64_t fields UNUSED, struct strbuf *out)
#define UNUSED __attribute__((unused))

/* --- Fields of tracepoints ---------------------------------------------- */

static const char *kernel_function(uint64_t *address, void *arg)
{
	const struct script_printer *p = arg;

	return converter_kernel_name(p->converter, p->time, address);
}

/* Consumes the error. */
static void warn(const struct script_printer *p, struct error *error)
{
	p->say.warn(error, p->say.arg);
	error_destroy(error);
}

/* The formats, read when a sample first needs them. */
static struct error *open_trace(struct script_printer *p)
{
	const struct trace_events_options options = {
		.plugins = p->tracepoint_plugins,
		.function = kernel_function,
		.arg = p,
	};
	const struct features *f = script_features(p);

	if (p->trace_tried)
		return NULL;
	p->trace_tried = true;
	if (!f->tracing_data.count) {
		warn(p, error_create(
				ERROR_NOT_FOUND,
				"the recording lacks the formats of its tracepoints, so their fields are not printed"));
		return NULL;
	}
	return script_trace_start(f->tracing_data.data, f->tracing_data.count,
				  &options, &p->trace);
}

PUT(put_trace)
{
	const struct record_sample *s = &sample->record->sample;
	struct error *error;

	if (!(sample->record->has & PERF_SAMPLE_RAW) ||
	    sample->event->meaning.data != EVENT_DATA_FIELDS)
		return NULL;
	error = open_trace(p);
	if (error || !p->trace)
		return error;
	error = script_trace_print(p->trace, sample->event->attr.config,
				   sample->cpu, s->raw, s->raw_size, out);
	if (!error)
		return NULL;
	warn(p, error);
	script_trace_end(take_ptr(p->trace));
	return NULL;
}

/* --- Values ------------------------------------------------------------- */

static const struct record_sample *values(const struct convert_sample *sample)
{
	return &sample->record->sample;
}

PUT(put_data_src)
{
	size_t from = out->len;

	script_put_data_src(out, values(sample)->data_src);
	if (out->len - from > p->data_src_width)
		p->data_src_width = out->len - from;
	strbuf_fill(out, ' ', p->data_src_width - (out->len - from));
	return NULL;
}

/* WEIGHT_STRUCT has three numbers in the place of one. */
PUT(put_weight)
{
	uint64_t all = values(sample)->weight;
	bool is_struct = sample->event->attr.sample_type & SAMPLE_WEIGHT_STRUCT;

	strbuf_printf(out, "%16" PRIu64, is_struct ? all & UINT32_MAX : all);
	return NULL;
}

PUT(put_ins_lat)
{
	strbuf_printf(out, "%16u",
		      (unsigned int)(values(sample)->weight >> 32 & 0xffff));
	return NULL;
}

PUT(put_retire_lat)
{
	strbuf_printf(out, "%16u",
		      (unsigned int)(values(sample)->weight >> 48));
	return NULL;
}

PUT(put_cgroup)
{
	const uint64_t *i = map_find(&p->cgroups, values(sample)->cgroup);

	strbuf_putc(out, ' ');
	script_put_name(out, i ? p->cgroup_paths.data[*i] : "unknown");
	return NULL;
}

/* Not perf's: what the program calls the thread, else its comm. */
PUT(put_thread)
{
	strbuf_putc(out, ' ');
	if (sample->thread_name)
		script_put_name(out, sample->thread_name);
	else if (sample->comm)
		script_put_name(out, sample->comm);
	else
		strbuf_printf(out, ":%d", sample->tid);
	return NULL;
}

/* Not perf's, either: own time of Python code. */
PUT(put_pysym)
{
	strbuf_putc(out, ' ');
	script_put_own_symbol(out, sample->stack);
	return NULL;
}

PUT(put_pyline)
{
	strbuf_putc(out, ' ');
	script_put_own_line(out, sample->stack);
	return NULL;
}

PUT(put_spent)
{
	strbuf_putc(out, ' ');
	script_put_spent(out, sample->stack, &sample->event->meaning);
	return NULL;
}

PUT(put_iregs)
{
	script_put_regs(out, &values(sample)->regs_intr,
			script_features(p)->arch);
	return NULL;
}

PUT(put_uregs)
{
	script_put_regs(out, &values(sample)->regs_user,
			script_features(p)->arch);
	return NULL;
}

PUT(put_bpf_output)
{
	if (sample->event->meaning.data == EVENT_DATA_BYTES)
		script_put_bpf_output(out, values(sample)->raw,
				      values(sample)->raw_size);
	return NULL;
}

PUT(put_phys_addr)
{
	script_put_hex(out, values(sample)->phys_addr, 16);
	return NULL;
}

PUT(put_data_page_size)
{
	script_put_page_size(out, values(sample)->data_page_size);
	return NULL;
}

PUT(put_code_page_size)
{
	script_put_page_size(out, values(sample)->code_page_size);
	return NULL;
}

/* --- The table ---------------------------------------------------------- */

const struct script_field script_field_table[] = {
	{ .name = "comm",
	  .bit = SCRIPT_COMM,
	  .usual = ALL_KINDS },
	{ .name = "tid",
	  .bit = SCRIPT_TID,
	  .usual = ALL_KINDS,
	  .sample_type = PERF_SAMPLE_TID,
	  .needs = "TID" },
	{ .name = "pid",
	  .bit = SCRIPT_PID,
	  .sample_type = PERF_SAMPLE_TID,
	  .needs = "TID" },
	{ .name = "time",
	  .bit = SCRIPT_TIME,
	  .usual = ALL_KINDS,
	  .sample_type = PERF_SAMPLE_TIME,
	  .needs = "TIME" },
	{ .name = "cpu",
	  .bit = SCRIPT_CPU,
	  .usual = ALL_KINDS,
	  .sample_type = PERF_SAMPLE_CPU,
	  .needs = "CPU",
	  .from_trace = true },
	{ .name = "event",
	  .bit = SCRIPT_EVENT,
	  .usual = ALL_KINDS },
	{ .name = "trace",
	  .bit = SCRIPT_TRACE,
	  .usual = KIND(TRACEPOINT),
	  .impossible = ALL_BUT(TRACEPOINT),
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_trace },
	{ .name = "ip",
	  .bit = SCRIPT_IP,
	  .usual = ALL_BUT(TRACEPOINT),
	  .sample_type = PERF_SAMPLE_IP,
	  .needs = "IP" },
	{ .name = "sym",
	  .bit = SCRIPT_SYM,
	  .usual = ALL_BUT(TRACEPOINT) },
	{ .name = "dso",
	  .bit = SCRIPT_DSO,
	  .usual = ALL_BUT(TRACEPOINT) },
	{ .name = "dsoff",
	  .bit = SCRIPT_DSOFF },
	{ .name = "addr",
	  .bit = SCRIPT_ADDR,
	  .usual = KIND(RAW),
	  .sample_type = PERF_SAMPLE_ADDR,
	  .needs = "ADDR",
	  .from_trace = true,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = script_print_address },
	{ .name = "symoff",
	  .bit = SCRIPT_SYMOFF,
	  .usual = ALL_BUT(TRACEPOINT) },
	{ .name = "srcline",
	  .bit = SCRIPT_SRCLINE },
	{ .name = "period",
	  .bit = SCRIPT_PERIOD,
	  .usual = ALL_BUT(TRACEPOINT) & ~KIND(SYNTH) },
	{ .name = "iregs",
	  .bit = SCRIPT_IREGS,
	  .sample_type = PERF_SAMPLE_REGS_INTR,
	  .needs = "IREGS",
	  .from_trace = true,
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_iregs },
	{ .name = "uregs",
	  .bit = SCRIPT_UREGS,
	  .sample_type = PERF_SAMPLE_REGS_USER,
	  .needs = "UREGS",
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_uregs },
	{ .name = "flags",
	  .bit = SCRIPT_FLAGS },
	{ .name = "data_src",
	  .bit = SCRIPT_DATA_SRC,
	  .usual = KIND(RAW),
	  .sample_type = PERF_SAMPLE_DATA_SRC,
	  .needs = "DATA_SRC",
	  .from_trace = true,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_data_src },
	{ .name = "weight",
	  .bit = SCRIPT_WEIGHT,
	  .usual = KIND(RAW),
	  .sample_type = SAMPLE_WEIGHT,
	  .needs = "WEIGHT",
	  .from_trace = true,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_weight },
	{ .name = "bpf-output",
	  .bit = SCRIPT_BPF_OUTPUT,
	  .usual = KIND(SOFTWARE),
	  .impossible = ALL_BUT(TRACEPOINT) & ~KIND(SOFTWARE),
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_bpf_output },
	{ .name = "phys_addr",
	  .bit = SCRIPT_PHYS_ADDR,
	  .usual = KIND(RAW),
	  .sample_type = PERF_SAMPLE_PHYS_ADDR,
	  .needs = "PHYS_ADDR",
	  .from_trace = true,
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_phys_addr },
	{ .name = "misc",
	  .bit = SCRIPT_MISC },
	{ .name = "tod",
	  .bit = SCRIPT_TOD },
	{ .name = "data_page_size",
	  .bit = SCRIPT_DATA_PAGE_SIZE,
	  .usual = KIND(RAW),
	  .sample_type = PERF_SAMPLE_DATA_PAGE_SIZE,
	  .needs = "DATA_PAGE_SIZE",
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_data_page_size },
	{ .name = "code_page_size",
	  .bit = SCRIPT_CODE_PAGE_SIZE,
	  .usual = KIND(RAW),
	  .sample_type = PERF_SAMPLE_CODE_PAGE_SIZE,
	  .needs = "CODE_PAGE_SIZE",
	  .part = SCRIPT_AFTER_PLACE,
	  .put = put_code_page_size },
	{ .name = "ins_lat",
	  .bit = SCRIPT_INS_LAT,
	  .usual = KIND(RAW),
	  .sample_type = SAMPLE_WEIGHT_STRUCT,
	  .needs = "WEIGHT_STRUCT",
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_ins_lat },
	{ .name = "retire_lat",
	  .bit = SCRIPT_RETIRE_LAT,
	  .usual = KIND(RAW),
	  .sample_type = SAMPLE_WEIGHT_STRUCT,
	  .needs = "WEIGHT_STRUCT",
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_retire_lat },
	{ .name = "cgroup",
	  .bit = SCRIPT_CGROUP,
	  .sample_type = PERF_SAMPLE_CGROUP,
	  .needs = "CGROUP",
	  .hint = "Hint: record with perf record --all-cgroups",
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_cgroup },
	{ .name = "thread",
	  .bit = SCRIPT_THREAD,
	  .sample_type = PERF_SAMPLE_TID,
	  .needs = "TID",
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_thread },
	{ .name = "pysym",
	  .bit = SCRIPT_PYSYM,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_pysym },
	{ .name = "pyline",
	  .bit = SCRIPT_PYLINE,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_pyline },
	{ .name = "spent",
	  .bit = SCRIPT_SPENT,
	  .part = SCRIPT_BEFORE_PLACE,
	  .put = put_spent },
	{ .name = "callindent",
	  .bit = SCRIPT_NEVER },
	{ .name = "synth",
	  .bit = SCRIPT_NEVER },
	{ .name = "ipc",
	  .bit = SCRIPT_NEVER },
	{ .name = "machine_pid",
	  .bit = SCRIPT_NEVER },
	{ .name = "vcpu",
	  .bit = SCRIPT_NEVER },
	{ .name = NULL }
};

// SPDX-License-Identifier: GPL-2.0-only
#include "convert/header.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/strbuf.h"
#include "convert/attr_text.h"
#include "perfdata/features.h"

static struct error *add_buffer(struct profile *profile, const char *key,
				struct strbuf *value)
{
	struct error *error = strbuf_error(value);

	if (!error)
		error = profile_add_header(profile, key, value->data);
	strbuf_clear(value);
	return error;
}

/* A line that is no "key : value". */
static struct error *add_line(struct profile *profile, const char *line)
{
	return profile_add_header(profile, line, NULL);
}

static struct error *add_line_of(struct profile *profile, struct strbuf *line)
{
	struct error *error = strbuf_error(line);

	if (!error)
		error = add_line(profile, line->data);
	strbuf_clear(line);
	return error;
}

static struct error *add_number(struct profile *profile, const char *key,
				uint64_t number, const char *unit)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	strbuf_printf(&value, "%" PRIu64 "%s", number, unit);
	return add_buffer(profile, key, &value);
}

static struct error *add_cpus(struct profile *profile, const struct features *f)
{
	struct error *error =
		add_number(profile, "nrcpus online", f->cpus_online, "");

	return error ? error : add_number(profile, "nrcpus avail",
					  f->cpus_available, "");
}

static struct error *add_cmdline(struct profile *profile,
				 const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	vec_for_each(word, &f->cmdline)
		strbuf_printf(&value, "%s ", *word);
	return add_buffer(profile, "cmdline", &value);
}

/* --- Events ------------------------------------------------------------- */

static const char *pmu_name(const struct features *f, uint32_t wanted)
{
	struct reader r = features_read_section(f, FEATURE_PMU_MAPPINGS);
	uint32_t count = 0, type;
	const char *name;

	reader_u32(&r, &count);
	for (; count && reader_u32(&r, &type) &&
	       (name = features_read_string(&r));
	     count--)
		if (type == wanted)
			return name;
	return NULL;
}

static struct error *add_event(struct profile *profile,
			       const struct features *f,
			       const struct event *event)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	const char *separator = " ";

	strbuf_printf(&value, "name = %s, ", event->name);
	if (event->ids.count) {
		strbuf_puts(&value, ", id = {");
		vec_for_each(id, &event->ids) {
			strbuf_printf(&value, "%s%" PRIu64, separator, *id);
			separator = ", ";
		}
		strbuf_puts(&value, " }");
	}
	attr_text(&event->attr, pmu_name(f, event->attr.type), &value);
	return add_buffer(profile, "event", &value);
}

static struct error *add_events(struct profile *profile,
				const struct features *f,
				const struct events *events)
{
	struct error *error = NULL;

	for (size_t i = 0; i < events->list.count && !error; i++)
		error = add_event(profile, f, events->list.data[i]);
	return error;
}

static struct error *add_pmus(struct profile *profile, const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_PMU_MAPPINGS);
	const char *separator = "", *name;
	uint32_t count = 0, type;

	if (!reader_u32(&r, &count) || !count)
		return add_line(profile, "pmu mappings: not available");
	strbuf_puts(&value, "pmu mappings: ");
	for (; count && reader_u32(&r, &type) &&
	       (name = features_read_string(&r));
	     count--) {
		strbuf_printf(&value, "%s%s = %u", separator, name, type);
		separator = ", ";
	}
	return add_line_of(profile, &value);
}

/* "name{leader,member,...}" for each group. */
static struct error *add_groups(struct profile *profile,
				const struct features *f,
				const struct events *events)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct error *error = NULL;
	struct feature_groups groups;
	struct feature_group g;

	features_groups(f, &groups);
	while (!error && features_next_group(&groups, &g)) {
		strbuf_printf(&line, "group: %s{",
			      strcmp(g.name, "{anon_group}") ? g.name : "");
		for (uint32_t i = 0; i < g.members; i++) {
			if (i >= events->list.count ||
			    g.leader >= events->list.count - i)
				break;
			strbuf_printf(&line, "%s%s", i ? "," : "",
				      events->list.data[g.leader + i]->name);
		}
		strbuf_putc(&line, '}');
		error = add_line_of(profile, &line);
	}
	return error;
}

/* --- Times -------------------------------------------------------------- */

static struct error *add_times(struct profile *profile,
			       const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	uint64_t first = f->first_sample_time, last = f->last_sample_time;
	struct error *error;

	strbuf_printf(&value, "%" PRIu64 ".%06" PRIu64, first / 1000000000,
		      first % 1000000000 / 1000);
	error = add_buffer(profile, "time of first sample", &value);
	if (error)
		return error;
	strbuf_printf(&value, "%" PRIu64 ".%06" PRIu64, last / 1000000000,
		      last % 1000000000 / 1000);
	error = add_buffer(profile, "time of last sample", &value);
	if (error)
		return error;
	strbuf_printf(&value, "%10.3f ms", (double)(last - first) / 1e6);
	return add_buffer(profile, "sample duration", &value);
}

/* clockid_t, as perf's option -k has them. */
static const char *clock_name(uint32_t clock)
{
	switch (clock) {
	case 0:
		return "realtime";
	case 1:
		return "monotonic";
	case 4:
		return "monotonic_raw";
	case 7:
		return "boottime";
	default:
		return "unknown";
	}
}

static struct error *add_clock(struct profile *profile,
			       const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	time_t seconds = (time_t)(f->clock_wall_ns / 1000000000);
	char text[64];
	struct tm local;
	struct error *error;

	strbuf_printf(&line, "clockid: %s (%u)", clock_name(f->clockid),
		      f->clockid);
	error = add_line_of(profile, &line);
	if (error || !localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local))
		return error;
	strbuf_printf(&line,
		      "reference time: %s.%06" PRIu64 " = %" PRIu64
		      ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)",
		      text, f->clock_wall_ns % 1000000000 / 1000,
		      f->clock_wall_ns / 1000000000,
		      f->clock_wall_ns % 1000000000 / 1000,
		      f->clock_ns / 1000000000, f->clock_ns % 1000000000,
		      clock_name(f->clockid));
	return add_line_of(profile, &line);
}

static struct error *add_clock_frequency(struct profile *profile,
					 const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (!f->clockid_resolution)
		return NULL;
	strbuf_printf(&line, "clockid frequency: %" PRIu64 " MHz",
		      1000 / f->clockid_resolution);
	return add_line_of(profile, &line);
}

/* --- What else there may be --------------------------------------------- */

static struct error *add_bpf_programs(struct profile *profile,
				      const struct features *f)
{
	struct reader r = features_read_section(f, FEATURE_BPF_PROG_INFO);
	uint32_t count = 0;

	reader_u32(&r, &count);
	return count ? add_number(profile, "bpf programs", count, "")
		     : add_line(profile, "bpf_prog_info empty");
}

static struct error *add_btf(struct profile *profile, const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_BPF_BTF);
	uint32_t count = 0, id, size;
	struct error *error = NULL;

	reader_u32(&r, &count);
	if (!count)
		return add_line(profile, "btf info empty");
	for (; count && !error; count--) {
		if (!reader_u32(&r, &id) || !reader_u32(&r, &size) ||
		    !reader_skip(&r, size))
			break;
		strbuf_printf(&line, "btf info of id %u", id);
		error = add_line_of(profile, &line);
	}
	return error;
}

static struct error *add_capabilities(struct profile *profile,
				      const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_CPU_PMU_CAPS);
	const char *separator = "", *name, *value;
	uint32_t count = 0;

	if (!reader_u32(&r, &count) || !count)
		return add_line(profile, "cpu pmu capabilities: not available");
	strbuf_puts(&line, "cpu pmu capabilities: ");
	for (; count && (name = features_read_string(&r)) &&
	       (value = features_read_string(&r));
	     count--) {
		strbuf_printf(&line, "%s%s=%s", separator, name, value);
		separator = ", ";
	}
	return add_line_of(profile, &line);
}

static struct error *add_machine(struct profile *profile,
				 const struct features *f)
{
	struct reader r = features_read_section(f, FEATURE_E_MACHINE);
	uint32_t machine = 0, flags = 0;
	struct error *error;

	if (!reader_u32(&r, &machine) || !reader_u32(&r, &flags))
		return NULL;
	error = add_number(profile, "e_machine", machine, "");
	return error ? error : add_number(profile, "  e_flags", flags, "");
}

static struct error *add_cache_line(struct profile *profile,
				    const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_CACHE_LINE);
	uint32_t size = 0;

	if (!reader_u32(&r, &size))
		return NULL;
	strbuf_printf(&line, "cacheline size: %u", size);
	return add_line_of(profile, &line);
}

static struct error *add_compression(struct profile *profile,
				     const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	strbuf_printf(&value, "%s, level = %u, ratio = %u",
		      f->compress_type == 1 ? "Zstd" : "Unknown",
		      f->compress_level, f->compress_ratio);
	return add_buffer(profile, "compressed", &value);
}

/* Sections in the order of their bits, with perf's names. */
static const char *const feature_names[] = {
	[FEATURE_TRACING_DATA] = "TRACING_DATA",
	[FEATURE_BUILD_ID] = "BUILD_ID",
	[FEATURE_HOSTNAME] = "HOSTNAME",
	[FEATURE_OSRELEASE] = "OSRELEASE",
	[FEATURE_VERSION] = "VERSION",
	[FEATURE_ARCH] = "ARCH",
	[FEATURE_NRCPUS] = "NRCPUS",
	[FEATURE_CPUDESC] = "CPUDESC",
	[FEATURE_CPUID] = "CPUID",
	[FEATURE_TOTAL_MEM] = "TOTAL_MEM",
	[FEATURE_CMDLINE] = "CMDLINE",
	[FEATURE_EVENT_DESC] = "EVENT_DESC",
	[FEATURE_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[FEATURE_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[FEATURE_BRANCH_STACK] = "BRANCH_STACK",
	[FEATURE_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[FEATURE_GROUP_DESC] = "GROUP_DESC",
	[FEATURE_AUXTRACE] = "AUXTRACE",
	[FEATURE_STAT] = "STAT",
	[FEATURE_CACHE] = "CACHE",
	[FEATURE_SAMPLE_TIME] = "SAMPLE_TIME",
	[FEATURE_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[FEATURE_CLOCKID] = "CLOCKID",
	[FEATURE_DIR_FORMAT] = "DIR_FORMAT",
	[FEATURE_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[FEATURE_BPF_BTF] = "BPF_BTF",
	[FEATURE_COMPRESSED] = "COMPRESSED",
	[FEATURE_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[FEATURE_CLOCK_DATA] = "CLOCK_DATA",
	[FEATURE_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[FEATURE_PMU_CAPS] = "PMU_CAPS",
	[FEATURE_CPU_DOMAIN_INFO] = "CPU_DOMAIN_INFO",
	[FEATURE_E_MACHINE] = "E_MACHINE",
	[FEATURE_CACHE_LINE] = "CLN_SIZE",
};

/* What takes many lines, and perf shows with -I alone. */
static struct error *add_hint(struct profile *profile, enum feature bit)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_printf(&line, "%s info available, use -I to display",
		      feature_names[bit]);
	return add_line_of(profile, &line);
}

static struct error *add_text(struct profile *profile, const struct features *f,
			      enum feature bit)
{
	switch (bit) {
	case FEATURE_HOSTNAME:
		return profile_add_header(profile, "hostname", f->hostname);
	case FEATURE_OSRELEASE:
		return profile_add_header(profile, "os release", f->osrelease);
	case FEATURE_VERSION:
		return profile_add_header(profile, "perf version", f->version);
	case FEATURE_ARCH:
		return profile_add_header(profile, "arch", f->arch);
	case FEATURE_CPUDESC:
		return profile_add_header(profile, "cpudesc", f->cpudesc);
	case FEATURE_CPUID:
		return profile_add_header(profile, "cpuid", f->cpuid);
	case FEATURE_BRANCH_STACK:
		return add_line(profile, "contains samples with branch stack");
	case FEATURE_AUXTRACE:
		return add_line(
			profile,
			"contains AUX area data (e.g. instruction trace)");
	case FEATURE_STAT:
		return add_line(profile, "contains stat data");
	case FEATURE_CPU_TOPOLOGY:
	case FEATURE_NUMA_TOPOLOGY:
	case FEATURE_CACHE:
	case FEATURE_MEM_TOPOLOGY:
	case FEATURE_HYBRID_TOPOLOGY:
	case FEATURE_CPU_DOMAIN_INFO:
		return add_hint(profile, bit);
	default:
		return NULL;
	}
}

static struct error *add_feature(struct profile *profile,
				 const struct features *f,
				 const struct events *events, enum feature bit)
{
	switch (bit) {
	case FEATURE_NRCPUS:
		return add_cpus(profile, f);
	case FEATURE_TOTAL_MEM:
		return add_number(profile, "total memory", f->total_mem_kb,
				  " kB");
	case FEATURE_CMDLINE:
		return add_cmdline(profile, f);
	case FEATURE_EVENT_DESC:
		return add_events(profile, f, events);
	case FEATURE_PMU_MAPPINGS:
		return add_pmus(profile, f);
	case FEATURE_GROUP_DESC:
		return add_groups(profile, f, events);
	case FEATURE_SAMPLE_TIME:
		return add_times(profile, f);
	case FEATURE_CLOCKID:
		return add_clock_frequency(profile, f);
	case FEATURE_CLOCK_DATA:
		return add_clock(profile, f);
	case FEATURE_BPF_PROG_INFO:
		return add_bpf_programs(profile, f);
	case FEATURE_BPF_BTF:
		return add_btf(profile, f);
	case FEATURE_COMPRESSED:
		return add_compression(profile, f);
	case FEATURE_CPU_PMU_CAPS:
		return add_capabilities(profile, f);
	case FEATURE_E_MACHINE:
		return add_machine(profile, f);
	case FEATURE_CACHE_LINE:
		return add_cache_line(profile, f);
	default:
		return add_text(profile, f, bit);
	}
}

static struct error *add_missing(struct profile *profile,
				 const struct features *f)
{
	const size_t count = sizeof(feature_names) / sizeof(*feature_names);
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_puts(&line, "missing features: ");
	for (size_t bit = 1; bit < count; bit++)
		if (!features_have(f, (enum feature)bit))
			strbuf_printf(&line, "%s ", feature_names[bit]);
	return add_line_of(profile, &line);
}

/* The file itself. */
static struct error *add_file(struct profile *profile,
			      const struct perfdata_layout *layout)
{
	time_t time = (time_t)layout->modified;
	char text[32];
	struct error *error;

	if (!ctime_r(&time, text))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	error = profile_add_header(profile, "captured on   ", text);
	if (!error)
		error = add_number(profile, "header version", 1, "");
	if (!error)
		error = add_number(profile, "data offset   ",
				   layout->data_offset, "");
	if (!error)
		error = add_number(profile, "data size     ", layout->data_size,
				   "");
	if (!error)
		error = add_number(profile, "feat offset   ",
				   layout->data_offset + layout->data_size, "");
	return error;
}

struct error *convert_header(struct perfdata_reader *reader,
			     struct profile *profile)
{
	const struct features *f = perfdata_reader_features(reader);
	const struct events *events = perfdata_reader_events(reader);
	struct perfdata_layout layout;
	struct error *error = NULL;
	bool is_file = perfdata_reader_layout(reader, &layout);

	if (is_file)
		error = add_file(profile, &layout);
	for (unsigned int bit = 1; bit < FEATURE_MAX && !error; bit++)
		if (features_have(f, (enum feature)bit))
			error = add_feature(profile, f, events,
					    (enum feature)bit);
	if (!error && is_file)
		error = add_missing(profile, f);
	return error;
}

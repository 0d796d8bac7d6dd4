// SPDX-License-Identifier: GPL-2.0-only
#include "convert/header.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/strbuf.h"
#include "convert/attr_text.h"
#include "perfdata/features.h"

static struct error *add_buffer(struct metadata *metadata, const char *key,
				struct strbuf *value)
{
	struct error *error = strbuf_error(value);

	if (!error)
		error = metadata_add_text(metadata, METADATA_DETAIL, key,
					  value->data);
	strbuf_clear(value);
	return error;
}

/* A line that is no "key : value". */
static struct error *add_line(struct metadata *metadata, const char *line)
{
	return metadata_add_text(metadata, METADATA_DETAIL, line, NULL);
}

static struct error *add_line_of(struct metadata *metadata, struct strbuf *line)
{
	struct error *error = strbuf_error(line);

	if (!error)
		error = add_line(metadata, line->data);
	strbuf_clear(line);
	return error;
}

static struct error *add_number(struct metadata *metadata, const char *key,
				uint64_t number, const char *unit)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	strbuf_printf(&value, "%" PRIu64 "%s", number, unit);
	return add_buffer(metadata, key, &value);
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

static struct error *add_event(struct metadata *metadata,
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
	return add_buffer(metadata, "event", &value);
}

static struct error *add_events(struct metadata *metadata,
				const struct features *f,
				const struct events *events)
{
	struct error *error = NULL;

	for (size_t i = 0; i < events->list.count && !error; i++)
		error = add_event(metadata, f, events->list.data[i]);
	return error;
}

static struct error *add_pmus(struct metadata *metadata, const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_PMU_MAPPINGS);
	const char *separator = "", *name;
	uint32_t count = 0, type;

	if (!reader_u32(&r, &count) || !count)
		return add_line(metadata, "pmu mappings: not available");
	strbuf_puts(&value, "pmu mappings: ");
	for (; count && reader_u32(&r, &type) &&
	       (name = features_read_string(&r));
	     count--) {
		strbuf_printf(&value, "%s%s = %u", separator, name, type);
		separator = ", ";
	}
	return add_line_of(metadata, &value);
}

/* "name{leader,member,...}" for each group. */
static struct error *add_groups(struct metadata *metadata,
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
		error = add_line_of(metadata, &line);
	}
	return error;
}

/* --- What else there may be --------------------------------------------- */

static struct error *add_bpf_programs(struct metadata *metadata,
				      const struct features *f)
{
	struct reader r = features_read_section(f, FEATURE_BPF_PROG_INFO);
	uint32_t count = 0;

	reader_u32(&r, &count);
	return count ? add_number(metadata, "bpf programs", count, "")
		     : add_line(metadata, "bpf_prog_info empty");
}

static struct error *add_btf(struct metadata *metadata, const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_BPF_BTF);
	uint32_t count = 0, id, size;
	struct error *error = NULL;

	reader_u32(&r, &count);
	if (!count)
		return add_line(metadata, "btf info empty");
	for (; count && !error; count--) {
		if (!reader_u32(&r, &id) || !reader_u32(&r, &size) ||
		    !reader_skip(&r, size))
			break;
		strbuf_printf(&line, "btf info of id %u", id);
		error = add_line_of(metadata, &line);
	}
	return error;
}

static struct error *add_capabilities(struct metadata *metadata,
				      const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_CPU_PMU_CAPS);
	const char *separator = "", *name, *value;
	uint32_t count = 0;

	if (!reader_u32(&r, &count) || !count)
		return add_line(metadata, "cpu pmu capabilities: not available");
	strbuf_puts(&line, "cpu pmu capabilities: ");
	for (; count && (name = features_read_string(&r)) &&
	       (value = features_read_string(&r));
	     count--) {
		strbuf_printf(&line, "%s%s=%s", separator, name, value);
		separator = ", ";
	}
	return add_line_of(metadata, &line);
}

static struct error *add_machine(struct metadata *metadata,
				 const struct features *f)
{
	struct reader r = features_read_section(f, FEATURE_E_MACHINE);
	uint32_t machine = 0, flags = 0;
	struct error *error;

	if (!reader_u32(&r, &machine) || !reader_u32(&r, &flags))
		return NULL;
	error = add_number(metadata, "e_machine", machine, "");
	return error ? error : add_number(metadata, "  e_flags", flags, "");
}

static struct error *add_cache_line(struct metadata *metadata,
				    const struct features *f)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct reader r = features_read_section(f, FEATURE_CACHE_LINE);
	uint32_t size = 0;

	if (!reader_u32(&r, &size))
		return NULL;
	strbuf_printf(&line, "cacheline size: %u", size);
	return add_line_of(metadata, &line);
}

static struct error *add_compression(struct metadata *metadata,
				     const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	strbuf_printf(&value, "%s, level = %u, ratio = %u",
		      f->compress_type == 1 ? "Zstd" : "Unknown",
		      f->compress_level, f->compress_ratio);
	return add_buffer(metadata, "compressed", &value);
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

static struct error *fill_strings(struct metadata *metadata,
				  const struct features *f)
{
	const struct {
		const char *value;
		const char **field;
	} strings[] = {
		{ f->hostname, &metadata->hostname },
		{ f->osrelease, &metadata->os_release },
		{ f->version, &metadata->tool_version },
		{ f->arch, &metadata->arch },
		{ f->cpudesc, &metadata->cpu },
		{ f->cpuid, &metadata->cpuid },
	};
	struct error *error = NULL;

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings) && !error; i++)
		error = metadata_copy(metadata, strings[i].value,
				      strings[i].field);
	vec_for_each(word, &f->cmdline) {
		const char *copy;

		if (!error)
			error = metadata_copy(metadata, *word, &copy);
		if (!error && !vec_push(&metadata->command, copy))
			error = error_no_memory();
	}
	return error;
}

static struct error *fill(struct metadata *m, const struct features *f)
{
	m->cpus_online = f->cpus_online;
	m->cpus_available = f->cpus_available;
	m->memory_kb = f->total_mem_kb;
	m->first_sample_time = f->first_sample_time;
	m->last_sample_time = f->last_sample_time;
	m->clock_resolution = f->clockid_resolution;
	m->clock = (struct metadata_clock){ .id = f->clockid,
					    .ns = f->clock_ns,
					    .wall_ns = f->clock_wall_ns };
	return fill_strings(m, f);
}

static const enum metadata_what fields[] = {
	[FEATURE_HOSTNAME] = METADATA_HOSTNAME,
	[FEATURE_OSRELEASE] = METADATA_OS_RELEASE,
	[FEATURE_VERSION] = METADATA_TOOL_VERSION,
	[FEATURE_ARCH] = METADATA_ARCH,
	[FEATURE_NRCPUS] = METADATA_CPUS,
	[FEATURE_CPUDESC] = METADATA_CPU,
	[FEATURE_CPUID] = METADATA_CPUID,
	[FEATURE_TOTAL_MEM] = METADATA_MEMORY,
	[FEATURE_CMDLINE] = METADATA_COMMAND,
	[FEATURE_SAMPLE_TIME] = METADATA_TIMES,
	[FEATURE_CLOCKID] = METADATA_CLOCK_RESOLUTION,
	[FEATURE_CLOCK_DATA] = METADATA_CLOCK,
};

static struct error *add_field(struct metadata *metadata,
			       const struct features *f, enum feature bit)
{
	/* METADATA_FILE is no section's, so 0 is none. */
	if (bit >= sizeof(fields) / sizeof(*fields) || !fields[bit] ||
	    (bit == FEATURE_CLOCKID && !f->clockid_resolution))
		return NULL;
	return metadata_add(metadata, fields[bit]);
}

static struct error *add_feature(struct metadata *metadata,
				 const struct features *f,
				 const struct events *events, enum feature bit)
{
	switch (bit) {
	case FEATURE_EVENT_DESC:
		return add_events(metadata, f, events);
	case FEATURE_PMU_MAPPINGS:
		return add_pmus(metadata, f);
	case FEATURE_GROUP_DESC:
		return add_groups(metadata, f, events);
	case FEATURE_BPF_PROG_INFO:
		return add_bpf_programs(metadata, f);
	case FEATURE_BPF_BTF:
		return add_btf(metadata, f);
	case FEATURE_COMPRESSED:
		return add_compression(metadata, f);
	case FEATURE_CPU_PMU_CAPS:
		return add_capabilities(metadata, f);
	case FEATURE_E_MACHINE:
		return add_machine(metadata, f);
	case FEATURE_CACHE_LINE:
		return add_cache_line(metadata, f);
	case FEATURE_BRANCH_STACK:
		return add_line(metadata, "contains samples with branch stack");
	case FEATURE_AUXTRACE:
		return add_line(
			metadata,
			"contains AUX area data (e.g. instruction trace)");
	case FEATURE_STAT:
		return add_line(metadata, "contains stat data");
	/* What takes many lines, and perf shows with -I alone. */
	case FEATURE_CPU_TOPOLOGY:
	case FEATURE_NUMA_TOPOLOGY:
	case FEATURE_CACHE:
	case FEATURE_MEM_TOPOLOGY:
	case FEATURE_HYBRID_TOPOLOGY:
	case FEATURE_CPU_DOMAIN_INFO:
		return metadata_add_text(metadata, METADATA_UNSHOWN,
					 feature_names[bit], NULL);
	default:
		return add_field(metadata, f, bit);
	}
}

static struct error *add_missing(struct metadata *metadata,
				 const struct features *f)
{
	const size_t count = sizeof(feature_names) / sizeof(*feature_names);

	for (size_t bit = 1; bit < count; bit++)
		if (!features_have(f, (enum feature)bit) &&
		    !vec_push(&metadata->missing, feature_names[bit]))
			return error_no_memory();
	return metadata_add(metadata, METADATA_MISSING);
}

static struct error *add_file(struct metadata *metadata,
			      const struct perfdata_layout *layout)
{
	metadata->recorded = layout->modified;
	metadata->data_offset = layout->data_offset;
	metadata->data_size = layout->data_size;
	return metadata_add(metadata, METADATA_FILE);
}

struct error *convert_header(struct perfdata_reader *reader,
			     struct metadata *metadata)
{
	const struct features *f = perfdata_reader_features(reader);
	const struct events *events = perfdata_reader_events(reader);
	struct perfdata_layout layout;
	bool is_file = perfdata_reader_layout(reader, &layout);
	struct error *error = fill(metadata, f);

	if (!error && is_file)
		error = add_file(metadata, &layout);
	for (unsigned int bit = 1; bit < FEATURE_MAX && !error; bit++)
		if (features_have(f, (enum feature)bit))
			error = add_feature(metadata, f, events,
					    (enum feature)bit);
	if (!error && is_file)
		error = add_missing(metadata, f);
	return error;
}

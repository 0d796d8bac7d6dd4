// SPDX-License-Identifier: GPL-2.0-only
#include "convert/header.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#include "base/strbuf.h"
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

static struct error *add_strings(struct profile *profile,
				 const struct features *f)
{
	const struct {
		const char *key;
		const char *value;
	} lines[] = {
		{ "hostname", f->hostname }, { "os release", f->osrelease },
		{ "perf version", f->version }, { "arch", f->arch },
		{ "cpudesc", f->cpudesc },   { "cpuid", f->cpuid },
	};
	struct error *error = NULL;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines) && !error; i++)
		if (lines[i].value)
			error = profile_add_header(profile, lines[i].key,
						   lines[i].value);
	return error;
}

static struct error *add_numbers(struct profile *profile,
				 const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	struct error *error = NULL;

	if (features_have(f, FEATURE_NRCPUS)) {
		strbuf_printf(&value, "%u", f->cpus_online);
		error = add_buffer(profile, "nrcpus online", &value);
		if (error)
			return error;
		strbuf_printf(&value, "%u", f->cpus_available);
		error = add_buffer(profile, "nrcpus avail", &value);
	}
	if (!error && features_have(f, FEATURE_TOTAL_MEM)) {
		strbuf_printf(&value, "%" PRIu64 " kB", f->total_mem_kb);
		error = add_buffer(profile, "total memory", &value);
	}
	return error;
}

static struct error *add_cmdline(struct profile *profile,
				 const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	if (!f->cmdline.count)
		return NULL;
	vec_for_each(word, &f->cmdline)
		strbuf_printf(&value, "%s ", *word);
	return add_buffer(profile, "cmdline", &value);
}

static void format_sample_type(uint64_t type, struct strbuf *out)
{
	/* In the order of PERF_SAMPLE_*. */
	static const char *const names[] = {
		"IP",	      "TID",	      "TIME",	    "ADDR",
		"READ",	      "CALLCHAIN",    "ID",	    "CPU",
		"PERIOD",     "STREAM_ID",    "RAW",	    "BRANCH_STACK",
		"REGS_USER",  "STACK_USER",   "WEIGHT",	    "DATA_SRC",
		"IDENTIFIER", "TRANSACTION",  "REGS_INTR",  "PHYS_ADDR",
		"AUX",	      "CGROUP",	      "DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE",	      "WEIGHT_STRUCT",
	};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(type >> i & 1))
			continue;
		strbuf_printf(out, "%s%s", separator, names[i]);
		separator = "|";
	}
}

static struct error *add_event(struct profile *profile,
			       const struct event *event)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	const struct perf_event_attr *attr = &event->attr;
	const char *separator = " ";

	strbuf_printf(&value, "name = %s, , id = {", event->name);
	vec_for_each(id, &event->ids) {
		strbuf_printf(&value, "%s%" PRIu64, separator, *id);
		separator = ", ";
	}
	strbuf_printf(&value, " }, type = %u, size = %u, config = 0x%" PRIx64,
		      attr->type, attr->size, (uint64_t)attr->config);
	strbuf_printf(&value,
		      ", { sample_period, sample_freq } = %" PRIu64
		      ", sample_type = ",
		      (uint64_t)attr->sample_period);
	format_sample_type(attr->sample_type, &value);
	return add_buffer(profile, "event", &value);
}

static struct error *add_times(struct profile *profile,
			       const struct features *f)
{
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;
	uint64_t first = f->first_sample_time, last = f->last_sample_time;
	struct error *error;

	if (!features_have(f, FEATURE_SAMPLE_TIME) || last < first)
		return NULL;
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

struct error *convert_header(struct perfdata_reader *reader,
			     struct profile *profile)
{
	const struct features *features = perfdata_reader_features(reader);
	struct error *error = add_strings(profile, features);

	if (!error)
		error = add_numbers(profile, features);
	if (!error)
		error = add_cmdline(profile, features);
	vec_for_each(event, &perfdata_reader_events(reader)->list) {
		if (error)
			return error;
		error = add_event(profile, *event);
	}
	return error ? error : add_times(profile, features);
}

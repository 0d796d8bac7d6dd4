// SPDX-License-Identifier: GPL-2.0-only
#include "view/header_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "view/text.h"

struct header {
	const struct metadata *metadata;
	const char *prefix;
	struct strbuf *out;
};

static void put_string(struct header *h, const char *s)
{
	text_append(h->out, s, strlen(s));
}

/* "key : value"; of what the file has no value, the key alone. */
static void put_line(struct header *h, const char *key, const char *value)
{
	strbuf_puts(h->out, h->prefix);
	put_string(h, key);
	if (value) {
		strbuf_puts(h->out, " : ");
		put_string(h, value);
	}
	strbuf_putc(h->out, '\n');
}

static void put_number(struct header *h, const char *key, uint64_t number,
		       const char *unit)
{
	strbuf_printf(h->out, "%s%s : %" PRIu64 "%s\n", h->prefix, key, number,
		      unit);
}

static void put_file(struct header *h)
{
	const struct metadata *m = h->metadata;
	time_t time = (time_t)m->recorded;
	char text[32];

	if (!ctime_r(&time, text))
		return;
	text[strcspn(text, "\n")] = '\0';
	put_line(h, "captured on   ", text);
	put_number(h, "header version", 1, "");
	put_number(h, "data offset   ", m->data_offset, "");
	put_number(h, "data size     ", m->data_size, "");
	put_number(h, "feat offset   ", m->data_offset + m->data_size, "");
}

static void put_command(struct header *h)
{
	strbuf_printf(h->out, "%scmdline : ", h->prefix);
	vec_for_each(word, &h->metadata->command) {
		put_string(h, *word);
		strbuf_putc(h->out, ' ');
	}
	strbuf_putc(h->out, '\n');
}

/* --- Times -------------------------------------------------------------- */

static void put_time(struct header *h, const char *key, uint64_t ns)
{
	strbuf_printf(h->out, "%s%s : %" PRIu64 ".%06" PRIu64 "\n", h->prefix,
		      key, ns / 1000000000, ns % 1000000000 / 1000);
}

static void put_times(struct header *h)
{
	uint64_t first = h->metadata->first_sample_time;
	uint64_t last = h->metadata->last_sample_time;

	put_time(h, "time of first sample", first);
	put_time(h, "time of last sample", last);
	strbuf_printf(h->out, "%ssample duration : %10.3f ms\n", h->prefix,
		      (double)(last - first) / 1e6);
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

static void put_clock(struct header *h)
{
	const struct metadata_clock *clock = &h->metadata->clock;
	time_t seconds = (time_t)(clock->wall_ns / 1000000000);
	char text[64];
	struct tm local;

	strbuf_printf(h->out, "%sclockid: %s (%u)\n", h->prefix,
		      clock_name(clock->id), clock->id);
	if (!localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local))
		return;
	strbuf_printf(h->out,
		      "%sreference time: %s.%06" PRIu64 " = %" PRIu64
		      ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
		      h->prefix, text, clock->wall_ns % 1000000000 / 1000,
		      clock->wall_ns / 1000000000,
		      clock->wall_ns % 1000000000 / 1000,
		      clock->ns / 1000000000, clock->ns % 1000000000,
		      clock_name(clock->id));
}

/* --- All ---------------------------------------------------------------- */

static void put_missing(struct header *h)
{
	strbuf_printf(h->out, "%smissing features: ", h->prefix);
	vec_for_each(name, &h->metadata->missing)
		strbuf_printf(h->out, "%s ", *name);
	strbuf_putc(h->out, '\n');
}

static void put_item(struct header *h, const struct metadata_item *item)
{
	const struct metadata *m = h->metadata;

	switch (item->what) {
	case METADATA_FILE:
		return put_file(h);
	case METADATA_HOSTNAME:
		return put_line(h, "hostname", m->hostname);
	case METADATA_OS_RELEASE:
		return put_line(h, "os release", m->os_release);
	case METADATA_TOOL_VERSION:
		return put_line(h, "perf version", m->tool_version);
	case METADATA_ARCH:
		return put_line(h, "arch", m->arch);
	case METADATA_CPUS:
		put_number(h, "nrcpus online", m->cpus_online, "");
		return put_number(h, "nrcpus avail", m->cpus_available, "");
	case METADATA_CPU:
		return put_line(h, "cpudesc", m->cpu);
	case METADATA_CPUID:
		return put_line(h, "cpuid", m->cpuid);
	case METADATA_MEMORY:
		return put_number(h, "total memory", m->memory_kb, " kB");
	case METADATA_COMMAND:
		return put_command(h);
	case METADATA_TIMES:
		return put_times(h);
	case METADATA_CLOCK_RESOLUTION:
		strbuf_printf(h->out, "%sclockid frequency: %" PRIu64 " MHz\n",
			      h->prefix, 1000 / m->clock_resolution);
		return;
	case METADATA_CLOCK:
		return put_clock(h);
	case METADATA_DETAIL:
		return put_line(h, item->text, item->value);
	case METADATA_UNSHOWN:
		strbuf_printf(h->out,
			      "%s%s info available, use -I to display\n",
			      h->prefix, item->text);
		return;
	case METADATA_MISSING:
		return put_missing(h);
	}
}

void header_text(const struct metadata *metadata, const char *prefix,
		 struct strbuf *out)
{
	struct header h = { metadata, prefix, out };

	vec_for_each(item, &metadata->order)
		put_item(&h, item);
}

void header_comment(const struct metadata *metadata, struct strbuf *out)
{
	strbuf_puts(out, "# ========\n");
	header_text(metadata, "# ", out);
	strbuf_puts(out, "# ========\n#\n");
}

// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/trace_events.h"

#include <event-parse.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "base/bytes.h"
#include "perfdata/record.h"

enum {
	/* No place that a field of a sample may name lies behind this. */
	PLACE_MAX = 2 * RECORD_MAX_SIZE,
	/* Zeros behind the sample, so that every place can be read. */
	BUFFER_SIZE = 2 * PLACE_MAX,
	/* Systems, and formats of one, that a section may have. */
	COUNT_MAX = 1 << 16,
};

struct trace_events {
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
	struct trace_events_options options;
	struct trace_seq text;
	/* The sample; zero behind `used`. */
	uint8_t *buffer;
	size_t used;
};

/* The end of the section as a NUL-terminated copy; NULL without memory. */
static char *copy_text(const uint8_t *text, size_t size)
{
	return text ? strndup((const char *)text, size) : NULL;
}

/* The next `size` bytes, which must be there. */
static const uint8_t *take(struct reader *r, uint64_t size)
{
	if (size > reader_left(r)) {
		r->failed = true;
		return NULL;
	}
	return reader_bytes(r, (size_t)size);
}

static const uint8_t *take_text(struct reader *r, uint64_t *size)
{
	reader_u64(r, size);
	return take(r, *size);
}

static bool read_magic(struct trace_events *events, struct reader *r)
{
	static const uint8_t magic[] = "\027\010\104tracing";
	const uint8_t *found = take(r, sizeof(magic) - 1);
	uint8_t big_endian, long_size;
	uint32_t page_size;

	if (!found || memcmp(found, magic, sizeof(magic) - 1) != 0 ||
	    !reader_cstr(r, NULL))
		return false;
	reader_u8(r, &big_endian);
	reader_u8(r, &long_size);
	reader_u32(r, &page_size);
	if (r->failed || big_endian || (long_size != 4 && long_size != 8) ||
	    page_size > INT_MAX)
		return false;
	tep_set_file_bigendian(events->tep, TEP_LITTLE_ENDIAN);
	tep_set_long_size(events->tep, long_size);
	tep_set_page_size(events->tep, (int)page_size);
	return true;
}

static bool is_named(struct reader *r, const char *name)
{
	const char *found = reader_cstr(r, NULL);

	return found && !strcmp(found, name);
}

static bool read_headers(struct trace_events *events, struct reader *r)
{
	const uint8_t *text;
	uint64_t size = 0;
	char *copy;

	if (!is_named(r, "header_page"))
		return false;
	text = take_text(r, &size);
	copy = copy_text(text, (size_t)size);
	if (copy)
		tep_parse_header_page(events->tep, copy, strlen(copy),
				      tep_get_long_size(events->tep));
	free(copy);
	return is_named(r, "header_event") && take_text(r, &size);
}

/* A format that cannot be read leaves its event without fields. */
static void read_formats(struct trace_events *events, struct reader *r,
			 const char *system)
{
	uint32_t count = 0;

	reader_u32(r, &count);
	for (uint32_t i = 0; i < count && i < COUNT_MAX && !r->failed; i++) {
		uint64_t size = 0;
		const uint8_t *text = take_text(r, &size);
		char *copy = copy_text(text, (size_t)size);

		if (copy)
			tep_parse_event(events->tep, copy, strlen(copy),
					system);
		free(copy);
	}
}

static void read_systems(struct trace_events *events, struct reader *r)
{
	uint32_t count = 0;

	read_formats(events, r, "ftrace");
	reader_u32(r, &count);
	for (uint32_t i = 0; i < count && i < COUNT_MAX && !r->failed; i++) {
		const char *system = reader_cstr(r, NULL);

		if (system)
			read_formats(events, r, system);
	}
}

/* Strings of the kernel that formats name by address. */
static void read_strings(struct trace_events *events, struct reader *r)
{
	uint32_t size = 0;
	char *copy;

	/* /proc/kallsyms, which perf leaves empty. */
	reader_u32(r, &size);
	take(r, size);
	reader_u32(r, &size);
	copy = copy_text(take(r, size), size);
	if (copy)
		tep_parse_printk_formats(events->tep, copy);
	free(copy);
}

static char *resolve(void *arg, unsigned long long *address, char **module)
{
	struct trace_events *events = arg;

	*module = NULL;
	return (char *)(uintptr_t)events->options.function(
		*address, events->options.arg);
}

static struct error *init(struct trace_events *events, struct reader *r)
{
	events->tep = tep_alloc();
	events->buffer = calloc(1, BUFFER_SIZE);
	if (!events->tep || !events->buffer)
		return error_no_memory();
	trace_seq_init(&events->text);
	tep_set_loglevel(TEP_LOG_NONE);
	if (events->options.plugins)
		events->plugins = tep_load_plugins(events->tep);
	if (events->options.function &&
	    tep_set_function_resolver(events->tep, resolve, events))
		return error_no_memory();
	if (!read_magic(events, r) || !read_headers(events, r))
		return error_create(ERROR_FORMAT,
				    "the formats of the tracepoints are in no form that is known");
	read_systems(events, r);
	if (r->failed)
		return reader_error(r, "formats of tracepoints");
	read_strings(events, r);
	return NULL;
}

struct error *trace_events_create(const void *section, size_t size,
				  const struct trace_events_options *options,
				  struct trace_events **ret)
{
	struct reader r = reader_init(section, size);
	struct trace_events *events = calloc(1, sizeof(*events));
	struct error *error;

	if (!events)
		return error_no_memory();
	events->options = *options;
	error = init(events, &r);
	if (error) {
		trace_events_destroy(events);
		return error;
	}
	*ret = events;
	return NULL;
}

void trace_events_destroy(struct trace_events *events)
{
	if (!events)
		return;
	if (events->text.buffer)
		trace_seq_destroy(&events->text);
	if (events->plugins)
		tep_unload_plugins(events->plugins, events->tep);
	tep_free(events->tep);
	free(events->buffer);
	free(events);
}

/* Every field lies within the buffer, wherever a dynamic one points to. */
static bool is_bounded(const struct tep_event *event)
{
	const struct tep_format *format = &event->format;
	const struct tep_format_field *lists[] = { format->common_fields,
						   format->fields };

	for (size_t i = 0; i < 2; i++)
		for (const struct tep_format_field *f = lists[i]; f;
		     f = f->next)
			if (f->offset < 0 || f->size < 0 ||
			    f->offset > RECORD_MAX_SIZE ||
			    f->size > RECORD_MAX_SIZE)
				return false;
	return true;
}

static void put_into_buffer(struct trace_events *events, const void *raw,
			    size_t size)
{
	memcpy(events->buffer, raw, size);
	if (size < events->used)
		memset(events->buffer + size, 0, events->used - size);
	events->used = size;
}

struct error *trace_events_print(struct trace_events *events, uint64_t id,
				 int32_t cpu, const void *raw, size_t size,
				 struct strbuf *out)
{
	struct tep_record record = { .cpu = cpu };
	struct tep_event *event =
		id <= INT_MAX ? tep_find_event(events->tep, (int)id) : NULL;

	if (!event || size > RECORD_MAX_SIZE || !is_bounded(event))
		return NULL;
	put_into_buffer(events, raw, size);
	record.size = (int)size;
	record.data = events->buffer;
	trace_seq_reset(&events->text);
	tep_print_event(events->tep, &events->text, &record, "%s",
			TEP_PRINT_INFO);
	if (events->text.state != TRACE_SEQ__GOOD)
		return error_no_memory();
	strbuf_append(out, events->text.buffer, events->text.len);
	return NULL;
}

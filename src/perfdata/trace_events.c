// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/trace_events.h"

#include <event-parse.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "perfdata/record.h"
#include "perfdata/tracing_data.h"

enum {
	/* No place that a field of a sample may name lies behind this. */
	PLACE_MAX = 2 * RECORD_MAX_SIZE,
	/* Zeros behind the sample, so that every place can be read. */
	BUFFER_SIZE = 2 * PLACE_MAX,
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

/* A text of the section, NUL-terminated; NULL without memory. */
static char *copy_text(const struct bytes *text)
{
	return strndup(text->data ? (const char *)text->data : "", text->size);
}

static struct error *set_machine(struct trace_events *events,
				 const struct tracing_section *section)
{
	char *page = copy_text(&section->header_page);

	if (!page)
		return error_no_memory();
	tep_set_file_bigendian(events->tep, TEP_LITTLE_ENDIAN);
	tep_set_long_size(events->tep, section->long_size == 4 ? 4 : 8);
	tep_set_page_size(events->tep, (int)(section->page_size & INT_MAX));
	tep_parse_header_page(events->tep, page, strlen(page),
			      tep_get_long_size(events->tep));
	free(page);
	return NULL;
}

/* A format that cannot be read leaves its event without fields. */
static struct error *add_format(struct trace_events *events,
				const struct tracing_format *format)
{
	char *text = copy_text(&format->text);

	if (!text)
		return error_no_memory();
	tep_parse_event(events->tep, text, strlen(text), format->system);
	free(text);
	return NULL;
}

/* `0xffffffff8 : "rcu"`: libtraceevent reads past the end of other lines. */
static bool is_string_line(const char *line, size_t n)
{
	size_t at = 2;

	if (n < 2 || line[0] != '0' || line[1] != 'x')
		return false;
	at += strspn(line + at, "0123456789abcdef");
	return at + 5 <= n && !strncmp(line + at, " : \"", 4) &&
	       line[n - 1] == '"';
}

/* The lines that are strings; NULL without memory. */
static char *string_lines(char *text)
{
	struct strbuf lines = STRBUF_INIT;
	char *line;

	while ((line = strsep(&text, "\n")))
		if (is_string_line(line, strlen(line)))
			strbuf_printf(&lines, "%s\n", line);
	return strbuf_take(&lines);
}

/* Strings of the kernel that formats name by address. */
static void add_strings(struct trace_events *events, const struct bytes *text)
{
	char *copy = copy_text(text);
	char *lines = copy ? string_lines(copy) : NULL;

	if (lines && *lines)
		tep_parse_printk_formats(events->tep, lines);
	free(lines);
	free(copy);
}

static char *resolve(void *arg, unsigned long long *address, char **module)
{
	struct trace_events *events = arg;

	uint64_t start = *address;
	const char *name =
		events->options.function(&start, events->options.arg);

	*address = start;
	*module = NULL;
	return (char *)(uintptr_t)name;
}

static struct error *fill(struct trace_events *events,
			  const struct tracing_section *section)
{
	struct error *error = set_machine(events, section);

	vec_for_each(format, &section->formats)
		if (!error)
			error = add_format(events, format);
	if (!error)
		add_strings(events, &section->printk_formats);
	return error;
}

static struct error *init(struct trace_events *events)
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
	return NULL;
}

struct error *trace_events_create(const struct trace_events_options *options,
				  struct trace_events **ret)
{
	struct trace_events *events = calloc(1, sizeof(*events));
	struct error *error;

	if (!events)
		return error_no_memory();
	events->options = *options;
	error = init(events);
	if (error) {
		trace_events_destroy(events);
		return error;
	}
	*ret = events;
	return NULL;
}

struct error *trace_events_read(struct trace_events *events,
				const void *section, size_t size)
{
	struct tracing_section parts;
	struct error *error = tracing_data_decode(section, size, &parts);

	if (error)
		return error;
	error = fill(events, &parts);
	tracing_section_deinit(&parts);
	return error;
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

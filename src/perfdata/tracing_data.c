// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/tracing_data.h"

#include <stdbool.h>
#include <string.h>

static const char magic[] = "\027\010\104"
			    "tracing"
			    "0.6";

static void put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

/* u64 size, text. */
static void put_text(struct strbuf *out, const struct bytes *text)
{
	uint64_t size = text->size;

	strbuf_append(out, &size, sizeof(size));
	strbuf_append(out, text->data, text->size);
}

static void put_named(struct strbuf *out, const char *name,
		      const struct bytes *text)
{
	strbuf_append(out, name, strlen(name) + 1);
	put_text(out, text);
}

static bool is_ftrace(const struct tracing_format *format)
{
	return strcmp(format->system, "ftrace") == 0;
}

/* The end of the system that begins at format i. */
static size_t system_end(const struct tracing_data *data, size_t i)
{
	const char *system = data->formats[i].system;

	while (i < data->format_count &&
	       strcmp(data->formats[i].system, system) == 0)
		i++;
	return i;
}

static void put_formats(struct strbuf *out, const struct tracing_data *data,
			size_t from, size_t to)
{
	put_u32(out, (uint32_t)(to - from));
	for (size_t i = from; i < to; i++)
		put_text(out, &data->formats[i].text);
}

/* The kernel's own records; their system has no name in the section. */
static void put_ftrace(struct strbuf *out, const struct tracing_data *data)
{
	size_t from = 0;

	while (from < data->format_count && !is_ftrace(&data->formats[from]))
		from++;
	put_formats(out, data, from,
		    from < data->format_count ? system_end(data, from) : from);
}

static void put_systems(struct strbuf *out, const struct tracing_data *data)
{
	uint32_t count = 0;

	for (size_t i = 0; i < data->format_count; i = system_end(data, i))
		count += !is_ftrace(&data->formats[i]);
	put_u32(out, count);
	for (size_t i = 0, end; i < data->format_count; i = end) {
		const char *system = data->formats[i].system;

		end = system_end(data, i);
		if (is_ftrace(&data->formats[i]))
			continue;
		strbuf_append(out, system, strlen(system) + 1);
		put_formats(out, data, i, end);
	}
}

struct error *tracing_data_encode(const struct tracing_data *data,
				  struct strbuf *out)
{
	static const struct bytes none;
	const struct bytes *printk = &data->printk_formats;

	if (printk->size > UINT32_MAX || data->format_count > UINT32_MAX)
		return error_create(ERROR_LIMIT,
				    "too many tracepoints for perf.data");
	strbuf_append(out, magic, sizeof(magic));
	strbuf_putc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	strbuf_putc(out, sizeof(long));
	put_u32(out, data->page_size);
	put_named(out, "header_page", &data->header_page);
	put_named(out, "header_event", &data->header_event);
	put_ftrace(out, data);
	put_systems(out, data);
	put_u32(out, 0);
	put_u32(out, (uint32_t)printk->size);
	strbuf_append(out, printk->data, printk->size);
	put_text(out, &none);
	return strbuf_error(out);
}

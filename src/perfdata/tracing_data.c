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

/* --- Taking it apart ---------------------------------------------------- */

static struct bytes take_bytes(struct reader *r, uint64_t size)
{
	struct bytes none = {};

	if (size > reader_left(r)) {
		r->failed = true;
		return none;
	}
	return (struct bytes){ reader_bytes(r, (size_t)size), (size_t)size };
}

static struct bytes take_text(struct reader *r)
{
	uint64_t size = 0;

	reader_u64(r, &size);
	return take_bytes(r, size);
}

static bool take_name(struct reader *r, const char *name)
{
	const char *found = reader_cstr(r, NULL);

	return found && !strcmp(found, name);
}

static struct error *take_head(struct reader *r, struct tracing_section *ret)
{
	/* The version's number follows. */
	const size_t length = sizeof("\027\010\104tracing") - 1;
	struct bytes found = take_bytes(r, length);
	uint8_t big_endian = 0;

	if (!found.data || memcmp(found.data, magic, length) != 0 ||
	    !reader_cstr(r, NULL))
		return error_create(ERROR_FORMAT,
				    "the formats of the tracepoints have an unknown form");
	reader_u8(r, &big_endian);
	reader_u8(r, &ret->long_size);
	reader_u32(r, &ret->page_size);
	if (big_endian)
		return error_create(ERROR_UNSUPPORTED,
				    "the formats of the tracepoints come from a big-endian machine");
	return NULL;
}

/* Each has at least the bytes of its size, so the section bounds the count. */
static struct error *take_formats(struct reader *r, const char *system,
				  struct tracing_section *ret)
{
	uint32_t count = 0;

	reader_u32(r, &count);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		struct tracing_format format = { system, take_text(r) };

		if (!r->failed && !vec_push(&ret->formats, format))
			return error_no_memory();
	}
	return NULL;
}

static struct error *take_systems(struct reader *r, struct tracing_section *ret)
{
	struct error *error = take_formats(r, "ftrace", ret);
	uint32_t count = 0;

	reader_u32(r, &count);
	for (uint32_t i = 0; i < count && !r->failed && !error; i++) {
		const char *system = reader_cstr(r, NULL);

		if (system)
			error = take_formats(r, system, ret);
	}
	return error;
}

static struct error *take_section(struct reader *r, struct tracing_section *ret)
{
	struct error *error = take_head(r, ret);
	uint32_t size = 0;
	bool named;

	if (error)
		return error;
	named = take_name(r, "header_page");
	ret->header_page = take_text(r);
	named &= take_name(r, "header_event");
	take_text(r);
	if (!named)
		r->failed = true;
	error = take_systems(r, ret);
	if (error || r->failed)
		return error ? error : reader_error(r, "formats of tracepoints");
	/* /proc/kallsyms, which perf leaves empty. */
	reader_u32(r, &size);
	take_bytes(r, size);
	reader_u32(r, &size);
	ret->printk_formats = take_bytes(r, size);
	return NULL;
}

struct error *tracing_data_decode(const void *section, size_t size,
				  struct tracing_section *ret)
{
	struct reader r = reader_init(section, size);
	struct tracing_section made = {};
	struct error *error = take_section(&r, &made);

	if (error) {
		tracing_section_deinit(&made);
		return error;
	}
	*ret = made;
	return NULL;
}

void tracing_section_deinit(struct tracing_section *section)
{
	vec_deinit(&section->formats);
}

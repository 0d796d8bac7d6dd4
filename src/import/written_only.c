// SPDX-License-Identifier: GPL-2.0-only
#include "import/written_only.h"

#include <string.h>
#include <strings.h>

#include "import/protobuf_in.h"

/* Where names of formats may stand at the head of a text. */
enum { HEAD_SIZE = 256 };

static bool begins(const struct import_input *input, const char *text)
{
	size_t blank = strspn(input->data, " \t\r\n");

	return !strncasecmp(input->data + blank, text, strlen(text));
}

static bool head_has(const struct import_input *input, const char *text)
{
	size_t size = input->size < HEAD_SIZE ? input->size : HEAD_SIZE;

	return memmem(input->data, size, text, strlen(text));
}

static bool is_svg(const struct import_input *input)
{
	return begins(input, "<") && head_has(input, "<svg");
}

static bool is_html(const struct import_input *input)
{
	return begins(input, "<!doctype html") || begins(input, "<html");
}

static bool is_callgrind(const struct import_input *input)
{
	return begins(input, "# callgrind format") ||
	       (begins(input, "version:") && head_has(input, "\ncreator:"));
}

/* What marshal makes of a dict whose keys are tuples; a bit of each may be set. */
static bool is_pstats(const struct import_input *input)
{
	const unsigned char *data = (const unsigned char *)input->data;

	return input->size > 2 && (data[0] & 0x7f) == '{' &&
	       ((data[1] & 0x7f) == '(' || (data[1] & 0x7f) == ')');
}

static bool is_chrome(const struct import_input *input)
{
	return input->json &&
	       json_is_array(json_object_get(input->json, "traceEvents"));
}

/* A bit for each field that a message has up to 6; 0: it has others, or is none. */
static unsigned int fields_of(const struct import_input *input)
{
	struct reader reader = reader_init(input->data, input->size);
	struct protobuf_field field;
	unsigned int found = 0;

	while (protobuf_in_next(&reader, &field)) {
		if (!field.is_bytes || !field.number || field.number > 6)
			return 0;
		found |= 1u << field.number;
	}
	return reader.failed ? 0 : found;
}

/* Packets alone. A pprof has texts, too. */
static bool is_perfetto(const struct import_input *input)
{
	return fields_of(input) == 1u << 1;
}

/* Profiles by resource, and what they share. */
static bool is_otlp(const struct import_input *input)
{
	return fields_of(input) == (1u << 1 | 1u << 2);
}

const char *written_only(const struct import_input *input)
{
	static const struct {
		const char *name;
		bool (*is)(const struct import_input *input);
	} formats[] = {
		{ "pstats", is_pstats },     { "svg", is_svg },
		{ "html", is_html },	     { "callgrind", is_callgrind },
		{ "chrome", is_chrome },     { "perfetto", is_perfetto },
		{ "otlp", is_otlp },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].is(input))
			return formats[i].name;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "export/json.h"

#include <inttypes.h>

#include "view/json_text.h"

enum { FLUSH_AT = 1 << 16 };

static void flush(struct json *json)
{
	fwrite(json->text.data, 1, json->text.len, json->out);
	strbuf_clear(&json->text);
}

/* Before each value and each key. */
static void separate(struct json *json)
{
	if (json->has_value)
		strbuf_putc(&json->text, ',');
	json->has_value = true;
	if (json->text.len > FLUSH_AT)
		flush(json);
}

void json_begin(struct json *json, char bracket)
{
	separate(json);
	strbuf_putc(&json->text, bracket);
	json->has_value = false;
}

void json_end(struct json *json, char bracket)
{
	strbuf_putc(&json->text, bracket);
	json->has_value = true;
}

void json_key(struct json *json, const char *key)
{
	separate(json);
	strbuf_printf(&json->text, "\"%s\":", key);
	json->has_value = false;
}

void json_str(struct json *json, const char *text)
{
	separate(json);
	json_text(&json->text, text);
}

/* Many files are numbers for the most part; printf() would be half the time. */
static void put_digits(struct strbuf *out, uint64_t value, int least)
{
	char digits[24];
	int at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value || (int)sizeof(digits) - at < least);
	strbuf_append(out, digits + at, sizeof(digits) - (size_t)at);
}

void json_u64(struct json *json, uint64_t value)
{
	separate(json);
	put_digits(&json->text, value, 1);
}

void json_i64(struct json *json, int64_t value)
{
	separate(json);
	if (value < 0)
		strbuf_putc(&json->text, '-');
	put_digits(&json->text, value < 0 ? -(uint64_t)value : (uint64_t)value,
		   1);
}

void json_ms(struct json *json, uint64_t ns)
{
	json_u64(json, ns / 1000000);
	strbuf_putc(&json->text, '.');
	put_digits(&json->text, ns % 1000000, 6);
}

void json_us(struct json *json, uint64_t ns)
{
	json_u64(json, ns / 1000);
	strbuf_putc(&json->text, '.');
	put_digits(&json->text, ns % 1000, 3);
}

void json_word(struct json *json, const char *word)
{
	separate(json);
	strbuf_puts(&json->text, word);
}

void json_line(struct json *json)
{
	strbuf_putc(&json->text, '\n');
}

struct error *json_finish(struct json *json)
{
	struct error *error;

	json_line(json);
	flush(json);
	error = strbuf_error(&json->text);
	strbuf_deinit(&json->text);
	return error;
}

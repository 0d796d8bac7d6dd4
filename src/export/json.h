/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON, written to a stream as it is made. Commas are put by themselves.
 *
 *	json_begin(&json, '{');
 *	json_key(&json, "name");
 *	json_str(&json, name);
 *	json_end(&json, '}');
 *
 * A failed write is the stream's to remember (ferror()); json_finish() says
 * whether memory ran out.
 */
#ifndef KAA_EXPORT_JSON_H
#define KAA_EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"

struct json {
	FILE *out;
	/* Private. */
	struct strbuf text;
	bool has_value;
};

#define JSON_INIT(stream) { .out = (stream), .text = STRBUF_INIT }

/* '{' or '['; '}' or ']'. */
void json_begin(struct json *json, char bracket);
void json_end(struct json *json, char bracket);
/* Of the next value. A word of the program: nothing in it is escaped. */
void json_key(struct json *json, const char *key);
/* Foreign bytes (view/json_text.h). json_string() is one of jansson's. */
void json_str(struct json *json, const char *text);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
/* ns as milliseconds or microseconds, all its digits. */
void json_ms(struct json *json, uint64_t ns);
void json_us(struct json *json, uint64_t ns);
/* true, false, null. */
void json_word(struct json *json, const char *word);
/* A new line, for who reads the file. */
void json_line(struct json *json);
/* Writes what is left, and frees. */
struct error *json_finish(struct json *json);

/* Both of a member. */
static inline void json_member_string(struct json *json, const char *key,
				      const char *text)
{
	json_key(json, key);
	json_str(json, text);
}

static inline void json_member_u64(struct json *json, const char *key,
				   uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

#endif

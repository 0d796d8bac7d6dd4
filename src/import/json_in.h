/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of JSON that have to be there. A reader asks for them one after the other
 * and looks at the end whether one was missing: the first is what `error` says,
 * with the file and the name. What is not there is empty, 0 or "".
 */
#ifndef KAA_IMPORT_JSON_IN_H
#define KAA_IMPORT_JSON_IN_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

/* What jansson may take for a file, in bytes. */
#define JSON_IN_MEMORY_MAX (8ull << 30)
/*
 * About the bytes that jansson takes for a text: of each list and object, number
 * and string. The text is looked at once, and need not be JSON.
 */
uint64_t json_in_memory(const char *text, size_t size);

struct json_in {
	const char *path;
	struct error *error;
};

/* where: "shared", what the object is called in messages. */
const json_t *json_in_object(struct json_in *in, const json_t *object,
			     const char *where, const char *key);
const json_t *json_in_list(struct json_in *in, const json_t *object,
			   const char *where, const char *key);
/*
 * Item i of a list, which has to be a number below `count` of what it counts.
 * null and numbers below 0 are UINT32_MAX if they may be there, as `none` says.
 */
uint32_t json_in_index(struct json_in *in, const json_t *list, const char *name,
		       size_t i, size_t count, bool none);
/* An error of that format, if there is none yet. */
void json_in_fail(struct json_in *in, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A text, or "". */
const char *json_in_text(const json_t *value);
/* A number times scale, rounded; what is none, or below 0, is 0. */
uint64_t json_in_number(const json_t *value, uint64_t scale);

#endif

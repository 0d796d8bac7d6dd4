// SPDX-License-Identifier: GPL-2.0-only
#include "view/cython_name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "view/text.h"

/* "5tools_": the name, and what is behind it; or NULL. */
static const char *next_part(const char *at, const char **ret, size_t *length)
{
	size_t number = 0, left;

	for (; isdigit((unsigned char)*at) && number < UINT16_MAX; at++)
		number = number * 10 + (size_t)(*at - '0');
	left = strnlen(at, number + 1);
	if (!number || left <= number || at[number] != '_')
		return NULL;
	*ret = at;
	*length = number;
	return at + number + 1;
}

/* After the module: "4Shop_7sold", of a wrapper with the number. */
static void put_function(const char *at, bool is_numbered, struct strbuf *out)
{
	const char *part, *next;
	size_t length;

	/* "3get_item" is function 3, get_item: a wrapper has a number. */
	while ((next = next_part(at, &part, &length)) && *part != '_' &&
	       (!is_numbered || isdigit((unsigned char)*next))) {
		text_append(out, part, length);
		strbuf_puts(out, ".");
		at = next;
	}
	if (is_numbered)
		at += strspn(at, "0123456789");
	text_append(out, at, strlen(at));
}

bool cython_name(const char *symbol, const char *module, size_t module_length,
		 struct strbuf *out)
{
	static const char wrapper[] = "__pyx_pw_", plain[] = "__pyx_f_";
	bool is_wrapper = !strncmp(symbol, wrapper, strlen(wrapper));
	const char *at = symbol, *part = NULL;
	size_t length = 0;

	if (!is_wrapper && strncmp(symbol, plain, strlen(plain)))
		return false;
	at += is_wrapper ? strlen(wrapper) : strlen(plain);
	while (at && !(part && length == module_length &&
		       !memcmp(part, module, length)))
		at = next_part(at, &part, &length);
	if (at)
		put_function(at, is_wrapper, out);
	return at;
}

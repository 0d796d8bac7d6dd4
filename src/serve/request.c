// SPDX-License-Identifier: GPL-2.0-only
#include "serve/request.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = { "127.0.0.1", "localhost" };

bool request_is_secret(const char *given, const char *secret)
{
	size_t n = strlen(secret);
	unsigned char differ = 0;

	if (!given || strlen(given) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)(given[i] ^ secret[i]);
	return !differ;
}

static bool is_one_of(const char *given, const char *scheme, uint16_t port)
{
	char text[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(text, sizeof(text), "%s%s:%u", scheme, names[i], port);
		if (!strcmp(given, text))
			return true;
	}
	return false;
}

bool request_is_host(const char *host, uint16_t port)
{
	return host && is_one_of(host, "", port);
}

bool request_is_origin(const char *origin, uint16_t port)
{
	return !origin || is_one_of(origin, "http://", port);
}

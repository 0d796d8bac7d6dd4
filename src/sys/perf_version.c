// SPDX-License-Identifier: GPL-2.0-only
#include "sys/perf_version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number below 10,000 at *pos, which moves behind it. */
static bool take_number(const char **pos, unsigned int *ret)
{
	unsigned int value = 0;
	const char *p = *pos;

	while (isdigit((unsigned char)*p)) {
		value = value * 10 + (unsigned int)(*p++ - '0');
		if (value >= 10000)
			return false;
	}
	if (p == *pos)
		return false;
	*pos = p;
	*ret = value;
	return true;
}

bool perf_version_parse(const char *text, struct perf_version *ret)
{
	static const char intro[] = "perf version ";
	struct perf_version version = {};
	const char *pos = strstr(text, intro);
	const char *behind;

	if (!pos)
		return false;
	pos += strlen(intro);
	if (!take_number(&pos, &version.major) || *pos++ != '.' ||
	    !take_number(&pos, &version.minor))
		return false;
	if (*pos == '.') {
		behind = pos + 1;
		/* "6.8.1a2b3c" is no patch level but a git hash. */
		if (!take_number(&behind, &version.patch) ||
		    isalpha((unsigned char)*behind))
			version.patch = 0;
	}
	*ret = version;
	return true;
}

bool perf_version_has_jit_fault(const struct perf_version *v)
{
	if (v->major != 6)
		return v->major < 6;
	if (v->minor == 7)
		return v->patch < 2;
	return v->minor < 7;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "base/quirks.h"

#define QUIRK(name, since, until, title) \
	{ #name, offsetof(struct quirks, name), since, until, title },
static const struct quirk table[] = {
#include "base/quirks.def"
};
#undef QUIRK

const struct quirk *quirk_at(size_t index)
{
	return index < sizeof(table) / sizeof(*table) ? &table[index] : NULL;
}

bool quirk_is_in(const struct quirk *quirk, unsigned int version)
{
	return version >= quirk->since &&
	       (!quirk->until || version < quirk->until);
}

struct quirks quirks_of_perf(unsigned int version)
{
	struct quirks quirks = {};
	const struct quirk *quirk;

	for (size_t i = 0; (quirk = quirk_at(i)); i++)
		*(bool *)((char *)&quirks + quirk->offset) =
			quirk_is_in(quirk, version);
	return quirks;
}

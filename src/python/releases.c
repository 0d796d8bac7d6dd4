// SPDX-License-Identifier: GPL-2.0-only
#include "python/releases.h"

#include <stddef.h>
#include <stdio.h>

#define PY_RELEASE(...) PY_RELEASE_ROW(__VA_ARGS__),
static const struct py_release releases[] = {
#include "python/releases.def"
};

static const struct py_release free_threaded[] = {
#include "python/free_threaded.def"
};
#undef PY_RELEASE

#define RELEASES (sizeof(releases) / sizeof(releases[0]))
#define FREE_THREADED (sizeof(free_threaded) / sizeof(free_threaded[0]))

static const struct py_release *find(const struct py_release *list,
				     size_t count, uint32_t version)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].series == PY_SERIES(version))
			return &list[i];
	return NULL;
}

const struct py_release *py_release_find(uint32_t version)
{
	return find(releases, RELEASES, version);
}

const struct py_release *py_release_free_threaded(uint32_t version)
{
	return find(free_threaded, FREE_THREADED, version);
}

const struct py_release *py_release_of(const struct py_layout *layout)
{
	return layout->flags & PY_FREE_THREADED ?
		       py_release_free_threaded(layout->version) :
		       py_release_find(layout->version);
}

const struct py_release *py_release_for(uint32_t version, enum py_release_use use)
{
	const struct py_release *release = py_release_find(version);

	return release && (release->uses & use) ? release : NULL;
}

struct py_release_span py_releases_for(enum py_release_use use)
{
	struct py_release_span span = {};

	for (size_t i = 0; i < RELEASES; i++) {
		if (!(releases[i].uses & use) ||
		    releases[i].series < PY_SERIES_3)
			continue;
		if (!span.first)
			span.first = PY_MINOR(releases[i].series);
		span.last = PY_MINOR(releases[i].series);
	}
	return span;
}

void py_releases_text(enum py_release_use use, char ret[PY_RELEASES_TEXT_MAX])
{
	struct py_release_span span = py_releases_for(use);
	bool two = py_release_for(0x02070000, use);

	snprintf(ret, PY_RELEASES_TEXT_MAX, "%s3.%u to 3.%u",
		 two ? "2.7 and " : "", span.first, span.last);
}

struct py_release_span py_releases_free_threaded(void)
{
	return (struct py_release_span){
		PY_MINOR(free_threaded[0].series),
		PY_MINOR(free_threaded[FREE_THREADED - 1].series),
	};
}

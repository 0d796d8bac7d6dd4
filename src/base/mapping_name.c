// SPDX-License-Identifier: GPL-2.0-only
#include "base/mapping_name.h"

#include <string.h>
#include <sys/mman.h>

/* The first row that fits counts. */
static const struct {
	const char *text;
	/* It is the whole name, not how the name begins. */
	bool whole;
	enum mapping_kind kind;
} forms[] = {
	{ "//anon", false, MAPPING_ANON },
	{ "//", false, MAPPING_LOST_PATH },
	{ "/memfd:", false, MAPPING_MEMFD },
	{ "/dev/zero", false, MAPPING_SHARED },
	{ "/SYSV", false, MAPPING_SHARED },
	{ "/anon_hugepage", false, MAPPING_SHARED },
	{ "/", false, MAPPING_FILE },
	{ "[anon:", false, MAPPING_NAMED_ANON },
	{ "[heap]", true, MAPPING_HEAP },
	{ "[stack", false, MAPPING_STACK },
	{ "[vdso]", true, MAPPING_VDSO },
};

enum mapping_kind mapping_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *text = forms[i].text;

		if (forms[i].whole ? !strcmp(name, text) :
				     !strncmp(name, text, strlen(text)))
			return forms[i].kind;
	}
	return MAPPING_OTHER;
}

bool mapping_has_path(const char *name)
{
	enum mapping_kind kind = mapping_kind(name);

	return kind == MAPPING_FILE || kind == MAPPING_LOST_PATH;
}

bool mapping_is_anonymous(const char *name, uint32_t flags)
{
	switch (mapping_kind(name)) {
	case MAPPING_SHARED:
	case MAPPING_ANON:
	case MAPPING_NAMED_ANON:
	case MAPPING_HEAP:
	case MAPPING_STACK:
		return true;
	default:
		return flags & MAP_HUGETLB;
	}
}

bool mapping_is_for_jit(const char *name)
{
	enum mapping_kind kind = mapping_kind(name);

	return kind == MAPPING_ANON || kind == MAPPING_NAMED_ANON ||
	       kind == MAPPING_MEMFD;
}

bool mapping_is_vdso(const char *name)
{
	return mapping_kind(name) == MAPPING_VDSO;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/python_source.h"

#include <string.h>

#include "collect/source_bpf.h"
#include "collect/source_trampoline.h"

const struct python_source *const python_sources[] = {
	&python_source_bpf,
	&python_source_trampoline,
	&python_source_none,
	NULL,
};

static bool probe_none(const struct machine *machine, struct strbuf *why)
{
	(void)machine;
	(void)why;
	return true;
}

const struct python_source python_source_none = {
	.name = "none",
	.title = "none",
	.summary = "recordings have only native functions",
	.grade = SOURCE_NO_FRAMES,
	.probe = probe_none,
};

const struct python_source *python_source_named(const char *name)
{
	for (size_t i = 0; python_sources[i]; i++)
		if (!strcmp(python_sources[i]->name, name))
			return python_sources[i];
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/source_trampoline.h"

#include <string.h>

/*
 * All that it takes is an event on a process of one's own, and doctor says of
 * events why they cannot be opened.
 */
static bool probe(const struct machine *m, struct strbuf *why)
{
	(void)why;
	return strcmp(m->arch, "x86_64") == 0 && m->try_user_event == 0;
}

const struct python_source python_source_trampoline = {
	.name = "trampoline",
	.title = "trampolines",
	.summary =
		"only for commands that kaa record starts; functions have only the line of their def, calls take longer",
	.grade = SOURCE_LIMITED,
	.probe = probe,
};

// SPDX-License-Identifier: GPL-2.0-only
/* src/agent/qualname.c in a library of its own, to be called through ctypes. */
#include "agent/qualname.c"

#include <dlfcn.h>

#define PROBE __attribute__((visibility("default")))

PROBE bool qualname_probe_init(void);
PROBE void *qualname_probe_ask(void *code);
PROBE void qualname_probe_search(bool due);
PROBE unsigned long qualname_probe_count(void);
PROBE void qualname_probe_clear(void);

static void *lookup(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

bool qualname_probe_init(void)
{
	return agent_qualname_init(lookup);
}

void *qualname_probe_ask(void *code)
{
	return agent_qualname(code);
}

/* Whether the next name that is missed is looked for in the heap. */
void qualname_probe_search(bool due)
{
	agent_qualname_missed_some();
	table.search_due = due;
}

unsigned long qualname_probe_count(void)
{
	return table.entries.count;
}

void qualname_probe_clear(void)
{
	agent_qualname_clear();
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/python_source.h"

#include <stdlib.h>
#include <string.h>

#define ROW(name) &python_source_##name,
const struct python_source *const python_sources[] = {
	PYTHON_SOURCES(ROW) NULL
};
#undef ROW

/* --- none --- */

static bool probe_none(const struct machine *machine, struct strbuf *why)
{
	(void)machine;
	(void)why;
	return true;
}

static struct error *open_none(const struct source_setup *setup,
			       struct source_state **ret)
{
	struct source_state *state = calloc(1, sizeof(*state));

	(void)setup;
	if (!state)
		return error_no_memory();
	*ret = state;
	return NULL;
}

static void close_none(struct source_state *state)
{
	free(state);
}

const struct python_source python_source_none = {
	.name = "none",
	.title = "none",
	.summary = "recordings have only native functions",
	.grade = SOURCE_NO_FRAMES,
	.probe = probe_none,
	.open = open_none,
	.close = close_none,
};

/* --- all --- */

const struct python_source *python_source_named(const char *name)
{
	for (size_t i = 0; python_sources[i]; i++)
		if (!strcmp(python_sources[i]->name, name))
			return python_sources[i];
	return NULL;
}

static struct error *open_source(const struct python_source *source,
				 const struct source_setup *setup,
				 struct source_state **ret)
{
	struct error *error = source->open(setup, ret);

	if (!error)
		(*ret)->source = source;
	return error;
}

/* The last one, which gives nothing, is refused for want of memory alone. */
static struct error *open_first(const struct source_setup *setup,
				struct source_state **ret,
				struct source_refusal *refusal)
{
	struct error *error = NULL;

	for (size_t i = 0; python_sources[i]; i++) {
		error = open_source(python_sources[i], setup, ret);
		if (!error || error->code == ERROR_NO_MEMORY)
			break;
		if (!refusal->why)
			*refusal = (struct source_refusal){ python_sources[i],
							    error };
		else
			error_destroy(error);
	}
	return error;
}

struct error *python_source_open(const struct python_source *wanted,
				 enum callchain_mode callchain,
				 const struct source_setup *setup,
				 struct source_state **ret,
				 struct source_refusal *refusal)
{
	const struct python_source *first = wanted ? wanted : python_sources[0];
	bool chains = callchain == CALLCHAIN_UNWIND ||
		      callchain == CALLCHAIN_FP;

	if (first->needs_chains && !chains)
		return open_source(&python_source_none, setup, ret);
	if (wanted)
		return open_source(wanted, setup, ret);
	return open_first(setup, ret, refusal);
}

void python_source_close(struct source_state *state)
{
	if (state)
		state->source->close(state);
}

void python_source_broken(struct source_state *state, size_t cpu)
{
	if (state->source->ring)
		state->source->ring->broken(state, cpu);
}

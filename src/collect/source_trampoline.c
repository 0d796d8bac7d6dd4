// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source `trampoline`: programs that were started with trampolines, as a
 * command that is recorded is, have one in the native stack for each Python
 * frame (collect/trampolines.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mapping_name.h"
#include "collect/python_source.h"
#include "collect/trampolines.h"

struct trampoline_source {
	struct source_state state;
	struct source_setup setup;
	/* A perf map is read on at most once in each. */
	uint64_t round;
	/* The processes that may have a perf map, each once, and the same as a set. */
	VEC(uint32_t) pids;
	struct map noted;
};

static struct trampoline_source *trampoline_source(struct source_state *state)
{
	return (struct trampoline_source *)state;
}

/*
 * All that it takes is an event on a process of one's own, and doctor says of
 * events why they cannot be opened.
 */
static bool probe(const struct machine *m, struct strbuf *why)
{
	(void)why;
	return strcmp(m->arch, "x86_64") == 0 && m->try_user_event == 0;
}

static struct error *open_trampolines(const struct source_setup *setup,
				      struct source_state **ret)
{
	struct trampoline_source *source = calloc(1, sizeof(*source));

	if (!source)
		return error_no_memory();
	source->setup = *setup;
	*ret = &source->state;
	return NULL;
}

static void close_trampolines(struct source_state *state)
{
	struct trampoline_source *source = trampoline_source(state);

	vec_deinit(&source->pids);
	map_deinit(&source->noted);
	free(source);
}

static void begin_round(struct source_state *state)
{
	trampoline_source(state)->round++;
}

static bool is_anonymous_code(const struct process_map *map)
{
	return (map->prot & PROT_EXEC) && !mapping_has_file(map->file->path);
}

/* --- processes --- */

static bool note_process(struct trampoline_source *source, uint32_t pid)
{
	bool is_new;

	return map_insert(&source->noted, pid, 1, &is_new) &&
	       (!is_new || vec_push(&source->pids, pid));
}

/* Made on first use; the target may be gone when names are put. */
static struct error *trampolines_of(struct trampoline_source *source,
				    struct target *target,
				    struct trampolines **ret)
{
	if (!target->trampolines && !note_process(source, target->pid))
		return error_no_memory();
	return target_trampolines(target, source->setup.owner, ret);
}

/*
 * Anonymous code begins with a trampoline if it holds any: read now, since the
 * process may be gone when its samples come.
 */
static struct error *code_mapped(struct source_state *state,
				 struct target *target,
				 const struct process_map *map)
{
	uint8_t code[TRAMPOLINE_CODE_MAX];
	struct trampolines *trampolines;
	struct error *error;

	if (!is_anonymous_code(map) ||
	    !remote_memory_read_all(&target->memory, map->start, code,
				    sizeof(code)))
		return NULL;
	error = trampolines_of(trampoline_source(state), target, &trampolines);
	if (error)
		return error;
	trampolines_set_code(trampolines, code, sizeof(code));
	return NULL;
}

/* A child has its parent's memory, and may be on its way back through it. */
static struct error *process_forked(struct source_state *state,
				    struct target *child,
				    struct target *parent)
{
	struct trampoline_source *source = trampoline_source(state);
	struct trampolines *trampolines, *parents;
	struct error *error = trampolines_of(source, parent, &parents);

	if (error)
		return error;
	error = trampolines_of(source, child, &trampolines);
	if (error)
		return error;
	trampolines_set_parent(trampolines, parents);
	return NULL;
}

/* The program that the process was is over; what its perf map says now counts. */
static struct error *process_replaced(struct source_state *state,
				      struct target *target)
{
	(void)state;
	return target->trampolines ? trampolines_freeze(target->trampolines) :
				     NULL;
}

/* --- samples --- */

static struct error *code_at(struct source_state *state,
			     struct target *target, uint64_t address,
			     struct code **ret)
{
	struct trampoline_source *source = trampoline_source(state);
	const struct process_map *map =
		process_map_at(target->process, address, target->time);
	struct trampolines *trampolines;
	struct error *error;

	*ret = NULL;
	if (!map || !is_anonymous_code(map))
		return NULL;
	error = trampolines_of(source, target, &trampolines);
	if (error)
		return error;
	return trampolines_find(trampolines, address, source->round,
				source->setup.codes, ret);
}

/* A map that others could have written names nothing: the user can remove it. */
static void sampled(struct source_state *state, struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct trampolines *trampolines = target->trampolines;

	if (target->map_reported || target->state == PYTHON_NONE ||
	    !trampolines || !trampolines->refusal)
		return;
	target->map_reported = true;
	error_format(trampolines->refusal, &text);
	notes_tell(trampoline_source(state)->setup.notes,
		   "no names for the trampolines of process %u: %s",
		   target->pid, text.data);
}

/*
 * Stacks that are unwound later hold trampolines of which nobody knows yet: all
 * that the perf maps name.
 */
static struct error *put_names(struct source_state *state,
			       const struct name_table *names,
			       symbol_sink *sink, void *arg)
{
	struct error *error = NULL;

	vec_for_each(pid, &trampoline_source(state)->pids)
		if (!error)
			error = name_table_tell_trampolines(names, *pid, sink,
							    arg);
	return error;
}

const struct python_source python_source_trampoline = {
	.name = "trampoline",
	.title = "trampolines",
	.summary =
		"only for commands that kaa record starts; functions have only the line of their def, calls take longer",
	.grade = SOURCE_LIMITED,
	.gives_trampolines = true,
	.probe = probe,
	.open = open_trampolines,
	.close = close_trampolines,
	.begin_round = begin_round,
	.code_mapped = code_mapped,
	.process_forked = process_forked,
	.process_replaced = process_replaced,
	.code_at = code_at,
	.sampled = sampled,
	.put_names = put_names,
};

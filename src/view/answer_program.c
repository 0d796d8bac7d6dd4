// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/name_match.h"
#include "base/vec.h"
#include "profile/installed_path.h"
#include "profile/spent.h"
#include "view/answer_screen.h"

/* By stack, beside strings: what is outermost is no program. */
enum { NO_PROGRAM = PROFILE_NONE - 1 };

/*
 * Python -m runs a module from runpy; a thread begins with another function,
 * and what the interpreter imports at its start with importlib, in 2.7 with site.
 */
static uint32_t program_of(const struct profile *p, uint32_t handle)
{
	const struct profile_frame *frame = profile_frame(p, handle);
	const struct profile_symbol *symbol = profile_symbol(p, frame->symbol);
	const char *name = symbol ? profile_string(p, symbol->name, "") : "";
	const char *file = profile_string(p, frame->file, "");

	/* Of a stack without its end nobody knows where it began. */
	if (frame->kind == PROFILE_FRAME_MARKER)
		return NO_PROGRAM;
	if (frame->kind != PROFILE_FRAME_PYTHON ||
	    !strcmp(file, "<frozen runpy>") || name_ends_with(file, "/runpy.py"))
		return PROFILE_NONE;
	if (!spent_is_module_body(name) || path_is_frozen(file) ||
	    name_ends_with(file, "/python2.7/site.py"))
		return NO_PROGRAM;
	return frame->file;
}

/* By stack: the file of its outermost module body; NULL for want of memory. */
static uint32_t *find_programs(const struct profile *p)
{
	uint32_t *programs =
		calloc(p->stack_parents.count + 1, sizeof(*programs));

	for (size_t i = 0; programs && i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];

		programs[i] = parent == PROFILE_NONE ? PROFILE_NONE :
						       programs[parent];
		if (programs[i] == PROFILE_NONE)
			programs[i] = program_of(p, p->stack_frames.data[i]);
	}
	return programs;
}

static uint32_t process_of(const struct profile *p, size_t row)
{
	return (uint32_t)p->tasks.data[p->samples.task[row]].pid;
}

/* By pid: what all samples of the process weigh, with Python frames or not. */
static struct error *weigh_processes(const struct answer *a, struct map *ret)
{
	const struct profile *p = a->profile;

	for (size_t i = 0; i < p->samples.rows; i++) {
		uint64_t *weight;

		if (p->samples.event[i] != a->event_index)
			continue;
		weight = map_insert(ret, process_of(p, i), 0, NULL);
		if (!weight)
			return error_no_memory();
		*weight += p->samples.period[i];
	}
	return NULL;
}

/* What stacks tell of a program. */
struct program_weight {
	uint32_t program;
	/* Of all processes that have such a stack. */
	uint64_t processes;
	/* Of the samples of such stacks. */
	uint64_t own;
};

struct program_weights {
	VEC(struct program_weight) list;
	/* Of a program, its place in the list. */
	struct map places;
};

static void deinit_weights(struct program_weights *weights)
{
	vec_deinit(&weights->list);
	map_deinit(&weights->places);
}

/* NULL for want of memory. */
static struct program_weight *weight_of(struct program_weights *weights,
					uint32_t program)
{
	const struct program_weight new = { .program = program };
	bool is_new;
	uint64_t *place = map_insert(&weights->places, program,
				     weights->list.count, &is_new);

	if (!place || (is_new && !vec_push(&weights->list, new)))
		return NULL;
	return &weights->list.data[*place];
}

/* "<string>" is one if there is no file. Of one process: what it is in for longer. */
static bool is_better(const struct profile *p, const struct program_weight *one,
		      const struct program_weight *best)
{
	bool is_file = *profile_string(p, one->program, "<") != '<';
	bool best_is_file = *profile_string(p, best->program, "<") != '<';

	if (is_file != best_is_file)
		return is_file;
	return one->processes != best->processes ?
		       one->processes > best->processes :
		       one->own > best->own;
}

static struct error *weigh_programs(const struct answer *a,
				    const uint32_t *programs,
				    struct program_weights *ret)
{
	const struct profile *p = a->profile;
	_cleanup_(map_deinit) struct map processes = {}, pairs = {};
	struct error *error = weigh_processes(a, &processes);

	for (size_t i = 0; !error && i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i], pid = process_of(p, i);
		struct program_weight *weight;
		bool is_new = false;

		if (p->samples.event[i] != a->event_index ||
		    stack == PROFILE_NONE || programs[stack] >= NO_PROGRAM)
			continue;
		weight = weight_of(ret, programs[stack]);
		if (!weight ||
		    !map_insert(&pairs, (uint64_t)pid << 32 | programs[stack],
				0, &is_new))
			return error_no_memory();
		weight->own += p->samples.period[i];
		if (is_new)
			weight->processes += *map_find(&processes, pid);
	}
	return error;
}

struct error *answer_find_program(const struct answer *a, uint32_t *ret)
{
	_cleanup_free_ uint32_t *programs = find_programs(a->profile);
	struct program_weight best = { .program = PROFILE_NONE };
	_cleanup_(deinit_weights) struct program_weights weights = {};
	struct error *error = programs ? weigh_programs(a, programs, &weights) :
					 error_no_memory();

	vec_for_each(weight, &weights.list)
		if (best.program == PROFILE_NONE ||
		    is_better(a->profile, weight, &best))
			best = *weight;
	*ret = best.program;
	return error;
}

/* Of a child that was forked, and runs another program since: that has no script. */
static bool was_another(const struct profile *p, uint32_t task)
{
	return task < p->last_comms.count &&
	       p->last_comms.data[task] != profile_task(p, task)->comm;
}

struct error *answer_find_scripts(const struct profile *p, uint32_t event,
				  struct map *ret)
{
	_cleanup_free_ uint32_t *programs = find_programs(p);

	if (!programs)
		return error_no_memory();
	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i];
		uint64_t *script;

		if (p->samples.event[i] != event ||
		    stack == PROFILE_NONE || programs[stack] >= NO_PROGRAM ||
		    was_another(p, p->samples.task[i]))
			continue;
		script = map_insert(ret, process_of(p, i), PROFILE_NONE, NULL);
		if (!script)
			return error_no_memory();
		/* "<string>" is no script. */
		*script = *profile_string(p, programs[stack], "<") == '<' ?
				  PROFILE_NONE :
				  programs[stack];
	}
	return NULL;
}

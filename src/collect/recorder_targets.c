// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_targets.h"

#include <string.h>

#include "collect/recorder_internal.h"
#include "sys/proc.h"

static struct error *announce(struct recorder *recorder, struct target *target,
			      uint64_t time)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	const struct py_binary *python = &target->module->python;
	struct kaa_python record = {
		.pid = target->pid,
		.version = python->version,
		.valid_from = time,
		.path = { target->path, strlen(target->path) },
	};
	struct error *error;

	if (target->announced)
		return NULL;
	if (python->eval_count) {
		record.eval_start = python->eval[0].start + target->bias;
		record.eval_size = python->eval[0].end - python->eval[0].start;
	}
	target->announced = true;
	error = kaa_encode_python(&record, &payload);
	return error ? error :
		       output_payload(&recorder->output, time, target->pid,
				      payload.data, payload.len);
}

/* Once for each file, however many processes run it. */
static struct error *tell_refusal(struct recorder *recorder,
				  struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool is_new;

	if (target->reported || !recorder->walker)
		return NULL;
	target->reported = true;
	if (!map_insert(&recorder->refusals_told,
			(uint64_t)(uintptr_t)target->refused, 0, &is_new))
		return error_no_memory();
	if (!is_new)
		return NULL;
	error_format(target->refused, &text);
	notes_tell(&recorder->notes, "no Python frames of process %u: %s%s",
		      target->pid, text.data,
		      recorder_gives_trampolines(&recorder->options) ?
			      "; try --python=trampoline" :
			      "");
	return NULL;
}

struct error *recorder_python_appeared(struct recorder *recorder,
				       struct target *target, uint64_t time)
{
	struct error *error;

	if (target->state == PYTHON_REFUSED)
		return tell_refusal(recorder, target);
	if (target->state != PYTHON_FOUND)
		return NULL;
	error = announce(recorder, target, time);
	if (error || !recorder->walker)
		return error;
	error = walker_add_process(recorder->walker, target->pid,
				   &target->python);
	if (!error || error->code != ERROR_LIMIT)
		return error;
	if (!recorder->too_many_told)
		notes_tell(&recorder->notes, "process %u: %s", target->pid,
			      error->message);
	recorder->too_many_told = true;
	error_destroy(error);
	return NULL;
}

void recorder_python_replaced(struct recorder *recorder,
			      struct process *process)
{
	const struct target *target = *process_user(process);

	if (recorder->walker && target && target->state == PYTHON_FOUND)
		walker_remove_process(recorder->walker, target->pid);
}

/* The first thread of a process stays there until the process is waited for. */
static bool has_threads(const struct recorder *recorder, uint32_t pid)
{
	struct pid_list threads = {};
	struct error *error = proc_threads(recorder->options.sampler.root,
					   (pid_t)pid, &threads);
	bool several = !error && threads.count > 1;

	error_destroy(error);
	vec_deinit(&threads);
	return several;
}

void recorder_python_ended(struct recorder *recorder, struct process *process)
{
	/* A thread that began before its record could be written is not known. */
	if (process_is_over(process) &&
	    !has_threads(recorder, process_pid(process)))
		recorder_python_replaced(recorder, process);
}

/* A map that others could have written names nothing: the user can remove it. */
void recorder_tell_map_refusal(struct recorder *recorder, struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct trampolines *trampolines = target->trampolines;

	if (target->map_reported || target->state == PYTHON_NONE ||
	    !trampolines || !trampolines->refusal)
		return;
	target->map_reported = true;
	error_format(trampolines->refusal, &text);
	notes_tell(&recorder->notes, "no names for the trampolines of process %u: %s",
		      target->pid, text.data);
}

/*
 * Anonymous code begins with a trampoline if it holds any: read now, since the
 * process may be gone when its samples come.
 */
struct error *recorder_note_arena(struct recorder *recorder,
				  struct target *target,
				  const struct process_map *map)
{
	uint8_t code[TRAMPOLINE_CODE_MAX];
	struct trampolines *trampolines;
	struct error *error;

	target_at(target, map->from);
	if (!target_is_anonymous(target, map->start) ||
	    remote_memory_read(&target->memory, map->start, code,
			       sizeof(code)) != sizeof(code))
		return NULL;
	error = target_trampolines(target, recorder->names.owner, &trampolines);
	if (!error)
		trampolines_set_code(trampolines, code, sizeof(code));
	return error;
}

/* The program that the process was is over; what its perf map says now counts. */
struct error *recorder_freeze_trampolines(struct process *process)
{
	struct target *target = *process_user(process);

	return target && target->trampolines ?
		       trampolines_freeze(target->trampolines) :
		       NULL;
}

/* A child has its parent's memory, and may be on its way back through it. */
struct error *recorder_inherit_trampolines(struct recorder *recorder,
					   struct target *child, uint32_t ppid,
					   uint64_t time)
{
	struct trampolines *trampolines, *parents = NULL;
	struct process *process;
	struct target *parent;
	uid_t owner = recorder->names.owner;
	struct error *error;

	if (!recorder->stacks.trampolines)
		return NULL;
	error = process_table_get(recorder->processes, ppid, time, &process);
	if (!error)
		error = target_get(&recorder->targets, process, &parent);
	if (!error)
		error = target_trampolines(parent, owner, &parents);
	if (!error)
		error = target_trampolines(child, owner, &trampolines);
	if (!error)
		trampolines_set_parent(trampolines, parents);
	return error;
}

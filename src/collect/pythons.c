// SPDX-License-Identifier: GPL-2.0-only
#include "collect/pythons.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "perfdata/kaa_stream.h"
#include "sys/proc.h"
#include "sys/process_script.h"

void pythons_deinit(struct pythons *pythons)
{
	map_deinit(&pythons->refusals_told);
}

static struct error *announce(struct pythons *pythons, struct target *target,
			      uint64_t time)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	_cleanup_free_ char *script = NULL;
	const struct py_binary *python = target->binary;
	struct kaa_python record = {
		.pid = target->pid,
		.version = python->version,
		.valid_from = time,
		.path = { target->path, strlen(target->path) },
	};
	struct error *error;

	if (target->announced_in == pythons->output->file)
		return NULL;
	if (python->eval_count) {
		record.eval_start = python->eval[0].start + target->bias;
		record.eval_size = python->eval[0].end - python->eval[0].start;
	}
	target->announced_in = pythons->output->file;
	error = process_script(pythons->root, (pid_t)target->pid, &script);
	if (error)
		return error;
	if (script)
		record.script = (struct kaa_string){ script, strlen(script) };
	error = kaa_encode_python(&record, &payload);
	return error ? error :
		       output_payload(pythons->output, time, target->pid,
				      payload.data, payload.len);
}

/* What gives the names of its functions all the same. */
static const char *way_out(const struct pythons *pythons,
			   const struct target *target)
{
	if (!target->takes_trampolines)
		return "";
	if (pythons->could_have_trampolines)
		return "; '--python=trampoline' names its functions, and 'kaa run' does for other profilers";
	return "; to have the names of its functions, start it with 'kaa run --perf' and record it with '--python=trampoline'";
}

/* A refusal of one process is freed with it: the path stands for it. */
static uint64_t refusal_key(const struct target *target)
{
	return target->own_refusal ? hash_string(target->path) :
				     (uint64_t)(uintptr_t)target->refused;
}

/* Once for each file, however many processes run it. */
static struct error *tell_refusal(struct pythons *pythons,
				  struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool is_new;

	if (target->reported || !pythons->source->source->walks)
		return NULL;
	target->reported = true;
	if (!map_insert(&pythons->refusals_told, refusal_key(target), 0,
			&is_new))
		return error_no_memory();
	if (!is_new)
		return NULL;
	error_format(target->refused, &text);
	notes_tell(pythons->notes, "no Python frames of process %u: %s%s",
		   target->pid, text.data, way_out(pythons, target));
	return NULL;
}

/* The source cannot have this process, for whatever reason, and goes on with the others. */
static bool leaves_out(const struct error *error)
{
	return error->code != ERROR_NO_MEMORY;
}

struct error *pythons_appeared(struct pythons *pythons, struct target *target,
			       uint64_t time)
{
	struct source_state *source = pythons->source;
	struct error *error;

	if (target->state == PYTHON_NONE)
		return NULL;
	pythons->any = true;
	source_hashes_python(pythons->hashes, pythons->root, target->pid,
			     !target->since);
	if (target->state == PYTHON_REFUSED)
		return tell_refusal(pythons, target);
	error = announce(pythons, target, time);
	if (error || !source->source->process_found)
		return error;
	error = source->source->process_found(source, target);
	if (!error || !leaves_out(error))
		return error;
	if (!pythons->left_out_told)
		notes_tell(pythons->notes, "process %u: %s", target->pid,
			   error->message);
	pythons->left_out_told = true;
	error_destroy(error);
	return NULL;
}

struct error *pythons_code_mapped(struct pythons *pythons,
				  struct target *target,
				  const struct process_map *map)
{
	struct source_state *source = pythons->source;

	return source->source->code_mapped ?
		       source->source->code_mapped(source, target, map) :
		       NULL;
}

struct error *pythons_replaced(struct pythons *pythons, struct target *target)
{
	struct source_state *source = pythons->source;

	return source->source->process_replaced ?
		       source->source->process_replaced(source, target) :
		       NULL;
}

/* The first thread of a process stays there until the process is waited for. */
static bool has_threads(const char *root, uint32_t pid)
{
	struct pid_list threads = {};
	struct error *error = proc_threads(root, (pid_t)pid, &threads);
	bool several = !error && threads.count > 1;

	error_destroy(error);
	vec_deinit(&threads);
	return several;
}

void pythons_ended(struct pythons *pythons, struct target *target)
{
	struct source_state *source = pythons->source;

	/* Most processes that end were none, and are not worth a look at /proc. */
	if (!source->source->process_ended || target->state != PYTHON_FOUND)
		return;
	/* A thread that began before its record could be written is not known. */
	if (process_is_over(target->process) &&
	    !has_threads(pythons->root, target->pid))
		source->source->process_ended(source, target);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "dump/native_frames.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/poll_native.h"
#include "collect/sample_stack.h"
#include "convert/fold.h"
#include "convert/frame_names.h"
#include "perfdata/kaa_stream.h"
#include "process/process.h"
#include "python/code_name.h"

enum {
	/* Of a stack: more than the recorder copies, for this is done once. */
	STACK_MAX = 1 << 20,
	PAGE = 4096,
	/* Entries of a chain: as many as the walker has frames, and native ones. */
	CHAIN_MAX = 1 << 16,
	/* Bytes of a name of a function that are shown. */
	NAME_MAX_SHOWN = 512,
	/* The moment of everything: there is no other. */
	NOW = 1,
};

struct native_frames {
	struct subject *subject;
	/* Whose files are mapped; 0: of a core, whose number may be another's by now. */
	uint32_t pid;
	struct process_table *table;
	struct target_list targets;
	struct target *target;
	struct stack_builder builder;
	bool has_builder;
	struct convert_options options;
	struct names names;
	bool has_names;
	/* Those of the interpreter are listed, too. */
	bool lists_all;
	/* Of the thread at hand. */
	struct poll_native copy;
	VEC(struct convert_step) steps;
	/* What stands for a Python frame among steps. */
	struct convert_frame python;
};

/* --- the process -------------------------------------------------------- */

/* Of a core the file may be another one by now: then it is code without a file. */
static const char *path_of(struct subject *subject, struct subject_map *map)
{
	int fd;

	if (!subject->core || *map->path != '/')
		return map->path;
	fd = subject->kind->open_map(subject, map);
	if (fd < 0)
		return "";
	close(fd);
	return map->path;
}

static struct error *add_maps(struct native_frames *native)
{
	struct subject *subject = native->subject;
	struct error *error = NULL;

	vec_for_each(map, &subject->maps) {
		const char *path = map->executable ? path_of(subject, map) : "";
		const struct process_mmap mmap = {
			.start = map->start,
			.length = map->end - map->start,
			.pgoff = map->offset,
			.prot = PROT_READ | PROT_EXEC,
			.path = *path ? path : "//anon",
		};

		if (map->executable && !error)
			error = process_table_mmap(native->table, native->pid,
						   0, &mmap);
	}
	return error;
}

/* What the subject knows of its Python; the file says where it is evaluated. */
static struct error *take_python(struct native_frames *native,
				 struct process *process,
				 const struct subject_map *map)
{
	struct target *target = native->target;
	const struct process_map *mapped =
		process_map_at(process, map->start, NOW);
	struct target_file *file;
	struct error *error;

	if (!mapped)
		return NULL;
	error = target_file_get(&native->targets.files, mapped, target->pid,
				&file);
	if (error || !file->python ||
	    !module_bias(&file->module, mapped, &target->bias))
		return error;
	target->binary = file->python;
	target->path = mapped->file->path;
	target->python = native->subject->python;
	target->state = PYTHON_FOUND;
	return names_add_python(&native->names, mapped->file->path,
				target->python.layout.version);
}

static struct error *find_python(struct native_frames *native,
				 struct process *process)
{
	const struct subject *subject = native->subject;
	struct error *error = NULL;

	vec_for_each(map, &subject->maps)
		if (!error && !native->target->binary && map->executable &&
		    !strcmp(map->path, subject->interpreter))
			error = take_python(native, process, map);
	return error;
}

static struct error *add_process(struct native_frames *native)
{
	struct process *process;
	struct error *error = process_table_create(&native->table);

	if (!error)
		error = add_maps(native);
	if (!error)
		error = names_init(&native->names, &native->options,
				   native->table, NULL);
	native->has_names = !error;
	if (!error)
		error = process_table_get(native->table, native->pid, NOW,
					  &process);
	if (!error)
		error = target_get(&native->targets, process, &native->target);
	if (error)
		return error;
	/* Nothing is read from whoever has its number now. */
	native->target->replaced = native->subject->core != NULL;
	return find_python(native, process);
}

struct error *native_frames_create(struct subject *subject,
				   struct code_table *codes, bool all,
				   struct native_frames **ret)
{
	struct native_frames *native = calloc(1, sizeof(*native));
	struct error *error;

	if (!native)
		return error_no_memory();
	native->subject = subject;
	native->pid = subject->core ? 0 : (uint32_t)subject->pid;
	native->copy = (struct poll_native)POLL_NATIVE_INIT;
	native->python.kind = PROFILE_FRAME_PYTHON;
	native->lists_all = all;
	native->options.lines = native->options.inlines = true;
	error = add_process(native);
	if (!error)
		error = stack_builder_init(&native->builder, codes, STACK_MAX);
	native->has_builder = !error;
	if (error) {
		native_frames_destroy(native);
		return error;
	}
	*ret = native;
	return NULL;
}

void native_frames_destroy(struct native_frames *native)
{
	if (!native)
		return;
	if (native->has_builder)
		stack_builder_deinit(&native->builder);
	if (native->has_names)
		names_deinit(&native->names);
	target_list_deinit(&native->targets);
	process_table_destroy(native->table);
	poll_native_deinit(&native->copy);
	vec_deinit(&native->steps);
	free(native);
}

/* --- one thread --------------------------------------------------------- */

/* As many pages as there are, from the stack pointer on. */
static void copy_stack(struct native_frames *native, uint64_t start)
{
	const struct py_memory *memory = &native->subject->memory;
	struct strbuf *stack = &native->copy.stack;
	uint8_t bytes[PAGE];

	while (stack->len < STACK_MAX && !stack->failed) {
		uint64_t at = start + stack->len;
		size_t size = PAGE - at % PAGE;

		if (!memory->read(memory->arg, at, bytes, size))
			return;
		strbuf_append(stack, bytes, size);
	}
}

void native_frames_copy(struct native_frames *native,
			const struct subject_thread *thread)
{
	poll_native_clear(&native->copy);
	if (!thread->has_all_registers)
		return;
	poll_native_take(&native->copy, &thread->all_registers);
	copy_stack(native, thread->all_registers.rsp & ~(uint64_t)7);
}

static struct error *build(struct native_frames *native,
			   const struct subject_thread *thread,
			   const struct python_stack *python)
{
	struct record sample = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.has = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.pid = native->pid,
		.tid = (uint32_t)thread->tid,
		.time = NOW,
	};
	struct error *error;

	poll_native_put(&native->copy, &sample.sample);
	error = stack_build(&native->builder, native->target, &sample,
			    python && python->frames.count ? python : NULL, NULL,
			    CHAIN_MAX);
	/* Who reads a file would want these. */
	strbuf_clear(&native->builder.payloads);
	return error;
}

static bool is_python_address(uint64_t address)
{
	return address >= KAA_FIRST_SPAN && kaa_in_range(address);
}

/* Inlined functions stand before the one that they are inlined into. */
static struct error *push_frame(struct native_frames *native,
				struct convert_frame *frame)
{
	for (; frame; frame = frame->outer)
		if (!vec_push(&native->steps,
			      (struct convert_step){ .frame = frame,
						     .kind = frame->kind }))
			return error_no_memory();
	return NULL;
}

static struct error *find_steps(struct native_frames *native)
{
	struct place place = {
		.process = native->target->process,
		.pid = native->target->pid,
		.space = process_generation(native->target->process, NOW),
		.time = NOW,
	};
	bool leaf = true;
	struct error *error = NULL;

	vec_clear(&native->steps);
	vec_for_each(address, &native->builder.chain) {
		struct convert_frame *frame = &native->python;

		if (*address >= PERFDATA_CONTEXT_MAX)
			continue;
		if (!is_python_address(*address))
			error = names_frame(&native->names, &place, *address,
					    ADDRESS_USER, !leaf, &frame);
		if (!error)
			error = push_frame(native, frame);
		if (error)
			return error;
		leaf = false;
	}
	fold_steps(native->steps.data, native->steps.count);
	return NULL;
}

/* --- the list ----------------------------------------------------------- */

static const char *keep(struct arena *strings, const char *text, size_t most)
{
	_cleanup_strbuf_ struct strbuf safe = STRBUF_INIT;

	py_text_append_utf8(&safe,
			    (struct bytes){ (const uint8_t *)text, strlen(text) },
			    most);
	return safe.failed ? NULL : arena_strndup(strings, safe.data, safe.len);
}

static struct error *add_native(const struct convert_frame *frame,
				struct arena *strings,
				struct dump_frame_list *ret)
{
	bool marker = frame->kind == PROFILE_FRAME_MARKER;
	struct dump_frame added = {
		.kind = marker ? DUMP_FRAME_MARKER : DUMP_FRAME_NATIVE,
		.address = frame->address,
		.function = keep(strings, frame->name ? frame->name : "?",
				 NAME_MAX_SHOWN),
		.file = keep(strings,
			     !marker && frame->dso ? frame->dso->path : "",
			     NAME_MAX_SHOWN),
		.is_inlined = frame->is_inlined,
	};

	if (frame->file && frame->line) {
		added.source = keep(strings, frame->file, NAME_MAX_SHOWN);
		added.source_line = frame->line;
		if (!added.source)
			return error_no_memory();
	}
	return added.function && added.file && vec_push(ret, added) ?
		       NULL :
		       error_no_memory();
}

/*
 * Python frames are in the chain in their order, but for the interpreter's own, which
 * the list has not. One that is not known ends it; what is left of it would be beyond.
 */
static struct error *list_steps(struct native_frames *native,
				struct arena *strings,
				const struct dump_frame_list *python,
				struct dump_frame_list *ret)
{
	struct error *error = NULL;
	size_t next = 0;

	vec_for_each(step, &native->steps) {
		if (step->kind == PROFILE_FRAME_PYTHON) {
			if (next == python->count)
				break;
			if (!vec_push(ret, python->data[next++]))
				return error_no_memory();
		} else if (native->lists_all ||
			   !(step->flags & PROFILE_FRAME_INTERPRETER)) {
			error = add_native(step->frame, strings, ret);
		}
		if (error)
			return error;
	}
	for (; next < python->count; next++)
		if (!vec_push(ret, python->data[next]))
			return error_no_memory();
	return NULL;
}

struct error *native_frames_merge(struct native_frames *native,
				  const struct subject_thread *thread,
				  const struct python_stack *python,
				  struct arena *strings,
				  struct dump_frame_list *frames)
{
	struct dump_frame_list merged = {};
	struct error *error;

	if (!native->copy.known)
		return NULL;
	error = build(native, thread, python);
	if (!error)
		error = find_steps(native);
	if (!error)
		error = list_steps(native, strings, frames, &merged);
	if (error) {
		vec_deinit(&merged);
		return error;
	}
	vec_deinit(frames);
	*frames = merged;
	return NULL;
}

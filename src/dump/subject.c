// SPDX-License-Identifier: GPL-2.0-only
#include "dump/subject.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "obj/elf_file.h"
#include "python/detect.h"

enum {
	/* Bytes of a note segment that are compared. */
	NOTES_MAX = 4096,
};

void subject_deinit(struct subject *subject)
{
	vec_for_each(thread, &subject->threads)
		task_files_close(&thread->files);
	vec_deinit(&subject->threads);
	vec_deinit(&subject->maps);
	free(subject->command);
	free(subject->core);
	free(subject->interpreter);
}

void subject_take_registers(struct subject_thread *thread,
			    const struct user_regs_struct *registers)
{
	const struct user_regs_struct *r = registers;
	const uint64_t walked[USER_WALK_REGISTERS] = { r->rbx, r->rbp, r->r12,
						       r->r13, r->r14, r->r15,
						       r->rax, r->rdx };

	memcpy(thread->registers, walked, sizeof(walked));
	thread->all_registers = *r;
	thread->has_all_registers = true;
}

void subject_destroy(struct subject *subject)
{
	if (subject)
		subject->kind->destroy(subject);
}

/* --- the file of a map --- */

static bool read_memory(const struct subject *subject, uint64_t address,
			void *buf, size_t size)
{
	return subject->memory.read(subject->memory.arg, address, buf, size);
}

/* The path may lead to another file by now: the notes have the build-id. */
static bool is_mapped_file(const struct subject *subject, struct elf_file *elf,
			   uint64_t bias)
{
	uint8_t here[NOTES_MAX], there[NOTES_MAX];

	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *s = &elf->segments[i];
		struct error *error;
		bool same;

		if (s->type != PT_NOTE || s->filesz > NOTES_MAX || !s->filesz)
			continue;
		error = elf_file_read_at(elf, s->offset, here, s->filesz);
		same = !error && read_memory(subject, s->vaddr + bias, there,
					     s->filesz) &&
		       !memcmp(here, there, s->filesz);
		error_destroy(error);
		if (!same)
			return false;
	}
	return true;
}

/* NULL: none that is to be read. */
static struct elf_file *open_elf(struct subject *subject,
				 struct subject_map *map, uint64_t *bias)
{
	struct elf_file *elf = NULL;
	struct error *error;
	int fd = subject->kind->open_map(subject, map);

	if (fd < 0)
		return NULL;
	error = elf_file_open_fd(fd, map->path, &elf);
	if (!error && py_detect_maybe(elf) &&
	    elf_file_bias(elf, map->start, map->end - map->start, map->offset,
			  bias) &&
	    is_mapped_file(subject, elf, *bias))
		return elf;
	error_destroy(error);
	elf_file_destroy(elf);
	return NULL;
}

/* --- the Python in it --- */

static struct error *read_layout(const struct subject *subject,
				 const struct py_binary *binary, uint64_t bias,
				 struct py_layout *ret)
{
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX];

	if (binary->has_layout) {
		*ret = binary->layout;
		return NULL;
	}
	if (!read_memory(subject, binary->runtime + bias, bytes, sizeof(bytes)))
		return error_create(ERROR_FAULT, "cannot read _PyRuntime");
	return py_layout_from_debug_offsets(
		(struct bytes){ bytes, sizeof(bytes) }, binary->version, ret);
}

static struct error *take_python(struct subject *subject,
				 struct elf_file *elf, uint64_t bias)
{
	struct walker_process *python = &subject->python;
	struct py_binary binary;
	struct error *error = py_detect(elf, NULL, &binary);

	if (!error)
		error = read_layout(subject, &binary, bias, &python->layout);
	if (error)
		return error;
	python->runtime = binary.runtime + bias;
	python->code_type = binary.code_type + bias;
	error = py_layout_validate(&python->layout, &subject->memory,
				   python->runtime, python->code_type, NULL);
	if (error)
		return error;
	py_builtins_find(elf, bias, &subject->builtins);
	subject->interpreter = strdup(elf->path);
	return subject->interpreter ? NULL : error_no_memory();
}

/* *refused keeps the first reason why one cannot be read. */
static struct error *try_map(struct subject *subject,
			     struct subject_map *map, struct error **refused)
{
	uint64_t bias;
	struct elf_file *elf = open_elf(subject, map, &bias);
	struct error *error;

	if (!elf)
		return NULL;
	error = take_python(subject, elf, bias);
	elf_file_destroy(elf);
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	if (*refused)
		error_destroy(error);
	else
		*refused = error;
	return NULL;
}

/* Nearly all interpreters have this in their file's name. */
static bool has_usual_name(const struct subject_map *map)
{
	const char *slash = strrchr(map->path, '/');

	return slash && strstr(slash, "python");
}

static struct error *try_maps(struct subject *subject, bool usual,
			      struct error **refused)
{
	struct error *error = NULL;

	vec_for_each(map, &subject->maps) {
		if (!map->executable || *map->path != '/' ||
		    has_usual_name(map) != usual)
			continue;
		error = try_map(subject, map, refused);
		if (error || subject->interpreter)
			break;
	}
	return error;
}

static struct error *find_python(struct subject *subject)
{
	struct error *refused = NULL;
	struct error *error = try_maps(subject, true, &refused);

	if (!error && !subject->interpreter)
		error = try_maps(subject, false, &refused);
	if (error || subject->interpreter) {
		error_destroy(refused);
		return error;
	}
	if (refused)
		return refused;
	if (subject->core)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is no core of a CPython, or the interpreter's file is not here any more",
				    subject->core);
	return *subject->command ?
		       error_create(ERROR_NOT_FOUND,
				    "process %d runs no CPython; its command line is '%s'",
				    (int)subject->pid, subject->command) :
		       error_create(ERROR_NOT_FOUND,
				    "process %d runs no CPython, and has no command line",
				    (int)subject->pid);
}

struct error *subject_ended(const struct subject *subject)
{
	return error_create(ERROR_FAULT,
			    "process %d ended before it could be read",
			    (int)subject->pid);
}

/* Of a process that has ended anything may seem wrong. */
struct error *subject_find_python(struct subject *subject)
{
	struct error *error = find_python(subject);

	if (!error || !subject->kind->has_ended(subject))
		return error;
	error_destroy(error);
	return subject_ended(subject);
}

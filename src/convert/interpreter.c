// SPDX-License-Identifier: GPL-2.0-only
#include "convert/interpreter.h"

#include <stdlib.h>

#include "convert/interpreter_frames.h"
#include "python/call_glue.h"
#include "python/detect.h"

struct interpreter {
	/* eval_count 0: not known. */
	struct py_binary binary;
	struct py_call_glue glue;
};

static bool find_piece(void *arg, uint64_t vaddr, struct py_range *ret)
{
	struct cfi_range range;

	if (!cfi_find_range(arg, vaddr, &range))
		return false;
	*ret = (struct py_range){ range.start, range.end };
	return true;
}

static struct error *look_through(struct interpreter *interpreter,
				  struct dso *dso)
{
	struct py_code_pieces pieces = { .find = find_piece };
	struct elf_file *elf;
	struct cfi_table *cfi = NULL;
	struct error *error = dso_cfi(dso, &cfi);

	if (error || !cfi)
		return error;
	pieces.arg = cfi;
	error = dso_elf(dso, &elf);
	if (!error)
		error = py_detect(elf, &pieces, &interpreter->binary);
	if (!error)
		error = py_call_glue_find(elf, &pieces, &interpreter->binary,
					  interpreter_frame_is_glue,
					  &interpreter->glue);
	return error;
}

static struct error *get(struct interpreters *interpreters, struct dso *dso,
			 struct interpreter **ret)
{
	const uint64_t *known = map_find(&interpreters->by_dso, dso->index);
	struct interpreter *interpreter;
	struct error *error;

	if (known) {
		*ret = (struct interpreter *)(uintptr_t)*known;
		return NULL;
	}
	interpreter = calloc(1, sizeof(*interpreter));
	if (!interpreter ||
	    !map_insert(&interpreters->by_dso, dso->index,
			(uint64_t)(uintptr_t)interpreter, NULL)) {
		free(interpreter);
		return error_no_memory();
	}
	error = look_through(interpreter, dso);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	/* No interpreter that kaa knows, or a damaged file: functions as any. */
	error_destroy(error);
	*ret = interpreter;
	return NULL;
}

struct error *interpreters_find(struct interpreters *interpreters,
				struct dso *dso, uint64_t start,
				enum interpreter_function *ret)
{
	struct interpreter *interpreter = NULL;
	struct error *error = get(interpreters, dso, &interpreter);

	if (error)
		return error;
	if (py_binary_is_eval(&interpreter->binary, start))
		*ret = INTERPRETER_EVAL;
	else if (py_call_glue_has(&interpreter->glue, start))
		*ret = INTERPRETER_GLUE;
	else
		*ret = INTERPRETER_OTHER;
	return NULL;
}

void interpreters_deinit(struct interpreters *interpreters)
{
	const struct map *map = &interpreters->by_dso;

	for (size_t i = 0; i < map->capacity; i++) {
		struct interpreter *interpreter;

		if (!map->used[i])
			continue;
		interpreter = (void *)(uintptr_t)map->entries[i].value;
		py_call_glue_deinit(&interpreter->glue);
		free(interpreter);
	}
	map_deinit(&interpreters->by_dso);
}

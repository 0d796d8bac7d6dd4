// SPDX-License-Identifier: GPL-2.0-only
#include "convert/interpreter.h"

#include <stdlib.h>

#include "convert/interpreter_frames.h"
#include "python/call_glue.h"

struct interpreter {
	/* The dso's; NULL: none that kaa knows. */
	const struct py_binary *binary;
	struct py_call_glue glue;
};

static struct error *look_through(struct interpreter *interpreter,
				  struct dso *dso)
{
	const struct py_binary *binary = NULL;
	struct py_code_pieces pieces;
	struct module *module;
	struct cfi_table *cfi;
	struct error *error = dso_module(dso, &module);

	if (error || !module)
		return error;
	error = module_cfi(module, &cfi);
	if (error || !cfi)
		return error;
	error = module_python(module, &binary);
	if (error || !binary)
		return error;
	interpreter->binary = binary;
	pieces = module_pieces(module);
	return py_call_glue_find(module->elf, &pieces, binary,
				 interpreter_frame_is_glue, &module->calls,
				 &interpreter->glue);
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
	if (interpreter->binary &&
	    py_binary_is_eval(interpreter->binary, start))
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

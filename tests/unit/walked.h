/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stack that the walk in user space gives, by names: its records are taken as
 * the recorder takes the kernel's.
 */
#ifndef KAA_TESTS_WALKED_H
#define KAA_TESTS_WALKED_H

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "collect/code_spans.h"
#include "collect/sample_stack.h"
#include "python/user_walk.h"

struct walked {
	struct user_walk *walk;
	struct code_table codes;
	struct python_stack stack;
	enum user_walk_result result;
	/* Records that are taken before there is no room. */
	size_t room;
	/* Set if a record could not be taken. */
	bool failed;
};

static inline void walked_deinit(struct walked *walked)
{
	user_walk_destroy(walked->walk);
	code_table_deinit(&walked->codes);
	python_stack_deinit(&walked->stack);
}

static inline struct error *walked_init(struct walked *walked)
{
	*walked = (struct walked){ .room = SIZE_MAX };
	code_table_init(&walked->codes);
	return user_walk_create(&walked->walk);
}

static inline bool walked_emit(void *arg, const void *record, size_t size)
{
	const struct walker_header *header = record;
	struct walked *walked = arg;
	struct error *error;

	if (!walked->room)
		return false;
	walked->room--;
	if (header->type == WALKER_STACK)
		error = python_stack_add(&walked->stack, record, size);
	else
		error = code_table_record(&walked->codes, record, size);
	walked->failed |= error != NULL;
	error_destroy(error);
	return true;
}

/* emit is called with walked as its argument. */
static inline void walked_run_with(struct walked *walked,
				   const struct user_walk_thread *thread,
				   const struct py_memory *memory,
				   bool (*emit)(void *arg, const void *record,
						size_t size))
{
	struct user_walk_output output = { emit, walked };

	python_stack_clear(&walked->stack);
	walked->result = user_walk_thread(walked->walk, thread, memory,
					  &output);
}

static inline void walked_run(struct walked *walked,
			      const struct user_walk_thread *thread,
			      const struct py_memory *memory)
{
	walked_run_with(walked, thread, memory, walked_emit);
}

/* The line as kaa shows it: where there is none, that of the `def`. */
static inline uint32_t walked_line(const struct code *code,
				   const struct walker_frame *frame)
{
	uint32_t line = py_lines_find(&code->lines, frame->offset);

	return line ? line : code->first_line;
}

/*
 * Lines "NAME\tFILE\tLINE", innermost first, of what tracebacks show; "?" is a frame
 * whose code object is not known. plain: names without the classes and
 * functions that they are in.
 */
static inline void walked_text(const struct walked *walked, bool plain,
			       struct strbuf *out)
{
	vec_for_each(frame, &walked->stack.frames) {
		const struct code *code = code_table_find(&walked->codes,
							  frame->key);
		const char *last = code ? strrchr(code->qualname, '.') : NULL;

		if (!code)
			strbuf_puts(out, "?\n");
		else if (!code->internal)
			strbuf_printf(out, "%s\t%s\t%" PRIu32 "\n",
				      plain && last ? last + 1 : code->qualname,
				      code->filename, walked_line(code, frame));
	}
}

#endif

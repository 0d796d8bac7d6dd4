// SPDX-License-Identifier: GPL-2.0-only
#include "agent/evaluator.h"

#include <stdlib.h>

#include "agent/capi.h"
#include "agent/stack.h"
#include "agent/state.h"

#define always_inline inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* 3.14 and later mark references in the low bits. */
#define TAG_MASK ((uintptr_t)7)

/* The rows once more: constants, which the compiler puts into the hooks' code. */
#define PY_RELEASE(minor, ...)                                 \
	__attribute__((unused)) static const struct py_release \
		release_3_##minor = PY_RELEASE_ROW(minor, __VA_ARGS__);
#include "python/releases.def"
#undef PY_RELEASE

/* What the hook reads of it, the first 32 bytes, in one cache line. */
struct evaluator evaluator_first __attribute__((aligned(64)));
/* Of an interpreter that has none: finds nothing, calls plainly. */
static struct evaluator nobody;
static evaluator_resolve *resolve_unknown;

void *agent_call_plainly(void *a, void *b, long c, void *evaluator)
{
	return ((void *(*)(void *, void *, long))evaluator)(a, b, c);
}

static always_inline bool same(const struct code_entry *entry, const char *code,
			       const struct py_layout *layout)
{
	return entry->name == capi_pointer_at(code, capi_name_offset(layout)) &&
	       entry->filename == capi_pointer_at(code, layout->code_filename) &&
	       entry->first_line ==
		       *(const int *)(code + layout->code_first_line) &&
	       (layout->code_bytes == PY_ABSENT ||
		entry->bytes == capi_pointer_at(code, layout->code_bytes));
}

/* Apart from run(), which so has no registers to save. */
static __attribute__((noinline, cold)) void *
run_unknown(void *a, void *b, long c, struct evaluator *evaluator, void *code)
{
	trampoline_function *call = resolve_unknown(evaluator, code);

	return call(a, b, c, evaluator->next_evaluator);
}

/*
 * The part that all hooks share. Nothing here but what each call of a Python
 * function can afford.
 */
static always_inline void *run(struct evaluator *evaluator, const void *frame,
			       const struct py_layout *layout, void *a, void *b,
			       long c)
{
	uintptr_t tagged = (uintptr_t)capi_pointer_at(frame, layout->frame_code);
	void *code = (void *)(tagged & ~TAG_MASK);
	const struct code_entry *entry =
		codes_find_in(&evaluator->codes.view, (uintptr_t)code);

	if (unlikely(!entry || !same(entry, code, layout)))
		return run_unknown(a, b, c, evaluator, code);
	return ((trampoline_function *)entry->call)(
		a, b, c, evaluator->next_evaluator);
}

static void *hook_3_6(void *frame, long throwflag)
{
	return run(&evaluator_first, frame, &release_3_6.layout, frame,
		   (void *)throwflag, 0);
}

static void *hook_3_8(void *frame, long throwflag)
{
	return run(&evaluator_first, frame, &release_3_8.layout, frame,
		   (void *)throwflag, 0);
}

static void *hook_3_9(void *thread, void *frame, long throwflag)
{
	return run(&evaluator_first, frame, &release_3_9.layout, thread, frame,
		   throwflag);
}

/*
 * 3.11 counts Python calls, not the C stack that a hook makes each of them take:
 * with a raised recursion limit the stack would run over.
 */
static void *hook_3_11(void *thread, void *frame, long throwflag)
{
	if (unlikely(agent_stack_is_low())) {
		capi.PyErr_SetString(*(void **)capi.PyExc_RecursionError,
				     "maximum recursion depth exceeded");
		return NULL;
	}
	return run(&evaluator_first, frame, &release_3_11.layout, thread, frame,
		   throwflag);
}

/* In an interpreter that is not the first one. */
static __attribute__((noinline)) void *
run_elsewhere(void *thread, void *frame, long throwflag, void *interp)
{
	struct evaluator *evaluator = evaluator_of(interp, false);

	return run(evaluator ? evaluator : &nobody, frame, &release_3_12.layout,
		   thread, frame, throwflag);
}

/* From 3.12 on an interpreter can have a GIL of its own. */
static void *hook_3_12(void *thread, void *frame, long throwflag)
{
	void *interp = capi_pointer_at(thread, release_3_12.hook.thread_interp);

	if (unlikely(interp != evaluator_first.interp))
		return run_elsewhere(thread, frame, throwflag, interp);
	return run(&evaluator_first, frame, &release_3_12.layout, thread, frame,
		   throwflag);
}

/* --- which one --- */

static void *hook;

/* What the hooks read is where the row says that they are made for. */
static bool fits(const struct py_release *release)
{
	const struct py_layout *made_for = &release->layout;
	const struct py_layout *layout = &capi.layout;

	return capi.hook.thread_interp == release->hook.thread_interp &&
	       layout->frame_code == made_for->frame_code &&
	       layout->code_first_line == made_for->code_first_line &&
	       layout->code_filename == made_for->code_filename &&
	       capi_name_offset(layout) == capi_name_offset(made_for) &&
	       layout->code_bytes == made_for->code_bytes;
}

bool evaluator_init(evaluator_resolve *resolve)
{
	/* The first of the versions that share a hook; it is made for its row. */
	const struct {
		const struct py_release *from;
		void *hook;
	} hooks[] = {
		{ &release_3_12, hook_3_12 }, { &release_3_11, hook_3_11 },
		{ &release_3_9, hook_3_9 },   { &release_3_8, hook_3_8 },
		{ &release_3_6, hook_3_6 },
	};
	size_t i = 0;

	if (hook)
		return true;
	while (capi.version < hooks[i].from->series)
		i++;
	if (!fits(hooks[i].from))
		return false;
	codes_init(&evaluator_first.codes);
	evaluator_first.next_evaluator = capi._PyEval_EvalFrameDefault;
	codes_init(&nobody.codes);
	nobody.next_evaluator = capi._PyEval_EvalFrameDefault;
	resolve_unknown = resolve;
	hook = hooks[i].hook;
	return true;
}

/* --- interpreters --- */

static struct evaluator *find_free(void)
{
	for (struct evaluator *each = &evaluator_first; each; each = each->next)
		if (!__atomic_load_n(&each->interp, __ATOMIC_ACQUIRE))
			return each;
	return NULL;
}

static struct evaluator *evaluator_create(void)
{
	struct evaluator *evaluator = find_free();

	if (evaluator)
		return evaluator;
	evaluator = calloc(1, sizeof(*evaluator));
	if (!evaluator)
		return NULL;
	codes_init(&evaluator->codes);
	evaluator->next_evaluator = capi._PyEval_EvalFrameDefault;
	evaluator->next = evaluator_first.next;
	/* Other interpreters walk the list without a lock. */
	__atomic_store_n(&evaluator_first.next, evaluator, __ATOMIC_RELEASE);
	return evaluator;
}

struct evaluator *evaluator_of(void *interp, bool create)
{
	struct evaluator *each = &evaluator_first;

	if (CAPI_MINOR < 12)
		return each;
	for (; each; each = __atomic_load_n(&each->next, __ATOMIC_ACQUIRE))
		if (__atomic_load_n(&each->interp, __ATOMIC_ACQUIRE) == interp)
			return each;
	if (!create)
		return NULL;
	each = evaluator_create();
	if (each)
		__atomic_store_n(&each->interp, interp, __ATOMIC_RELEASE);
	return each;
}

void evaluator_release(struct evaluator *evaluator)
{
	codes_deinit(&evaluator->codes);
	evaluator->next_evaluator = capi._PyEval_EvalFrameDefault;
	evaluator->covered = false;
	evaluator->users = 0;
	__atomic_store_n(&evaluator->interp, NULL, __ATOMIC_RELEASE);
}

void evaluator_catch_up(struct evaluator *evaluator)
{
	if (evaluator->generation != agent_state.generation) {
		codes_forget_announced(&evaluator->codes);
		evaluator->generation = agent_state.generation;
	}
	if (evaluator->users && agent_state.open)
		codes_show(&evaluator->codes);
	else
		codes_hide(&evaluator->codes);
}

/* --- the interpreter's pointer --- */

/*
 * Up to 3.8 the place of the pointer is searched once, where as a rule it is
 * CPython's own function: at the usual offset, else wherever in the structure.
 */
static void **find_slot(char *interp)
{
	static size_t offset;
	size_t usual = capi.hook.interp_eval_frame;
	void *plain = capi._PyEval_EvalFrameDefault;

	if (!offset && *(void **)(interp + usual) == plain)
		offset = usual;
	for (size_t i = 0; !offset && i <= usual; i += sizeof(void *))
		if (*(void **)(interp + i) == plain)
			offset = i;
	return (void **)(interp + (offset ? offset : usual));
}

static void *get_hook(void *interp)
{
	if (capi._PyInterpreterState_GetEvalFrameFunc)
		return capi._PyInterpreterState_GetEvalFrameFunc(interp);
	return *find_slot(interp);
}

static void set_hook(void *interp, void *function)
{
	if (capi._PyInterpreterState_SetEvalFrameFunc)
		capi._PyInterpreterState_SetEvalFrameFunc(interp, function);
	else
		*find_slot(interp) = function;
}

enum evaluator_state evaluator_state(void *interp)
{
	void *current = get_hook(interp);

	if (current == hook)
		return EVALUATOR_OURS;
	return !current || current == (void *)capi._PyEval_EvalFrameDefault ?
		       EVALUATOR_PLAIN :
		       EVALUATOR_FOREIGN;
}

void evaluator_set(struct evaluator *evaluator, void *interp)
{
	void *current = get_hook(interp);

	if (current == hook)
		return;
	evaluator->next_evaluator =
		current ? current : (void *)capi._PyEval_EvalFrameDefault;
	set_hook(interp, hook);
	evaluator->covered = true;
}

void evaluator_unset(struct evaluator *evaluator, void *interp)
{
	set_hook(interp, evaluator->next_evaluator);
	evaluator->covered = false;
}

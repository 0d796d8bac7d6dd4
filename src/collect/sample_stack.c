// SPDX-License-Identifier: GPL-2.0-only
#include "collect/sample_stack.h"

#include <linux/perf_event.h>
#include <string.h>

#include "collect/switched_frames.h"
#include "perfdata/kaa_stream.h"

/*
 * In a Greenlet, where its StackState is (TGreenlet.hpp): behind a _PyErr_StackItem,
 * which has two words less from 3.11 on.
 */
enum { GREENLET_STACK_3_10 = 72, GREENLET_STACK = 56 };
/* More than slp_switch has for itself on the stack, which are some words. */
enum { SWITCH_FRAME_MAX = 256 };

#define WITHOUT_CFI \
	(UNWIND_FRAME_TRAMPOLINE | UNWIND_FRAME_BY_FP | UNWIND_FRAME_MADE)

struct error *stack_builder_init(struct stack_builder *builder,
				 struct code_table *codes, uint32_t stack_size)
{
	*builder = (struct stack_builder){ .codes = codes,
					   .payloads = STRBUF_INIT,
					   .stack_size = stack_size };
	return native_stack_init(&builder->native);
}

void stack_builder_deinit(struct stack_builder *builder)
{
	native_stack_deinit(&builder->native);
	frame_addresses_deinit(&builder->addresses);
	vec_deinit(&builder->natives);
	vec_deinit(&builder->pythons);
	merge_chain_deinit(&builder->merged);
	vec_deinit(&builder->chain);
	strbuf_deinit(&builder->payloads);
	*builder = (struct stack_builder){};
}

/*
 * 3.10 has one activation more than frames. Either the innermost has no frame
 * yet: then this, the outermost, is in a call of the evaluation function. Or a
 * greenlet begins with one of its own, which is beyond its native frames.
 */
static bool is_outermost_call(const struct stack_builder *builder,
			      bool complete, uint64_t activation)
{
	for (size_t i = 0; i < builder->natives.count; i++) {
		const struct merge_native *native = &builder->natives.data[i];

		if (activation >= native->sp && activation < native->cfa)
			return true;
	}
	return !complete;
}

/*
 * A frame of the interpreter's own is no frame of any source. One that ends an
 * activation hands that on to the frame inside it.
 */
static void drop_internal(struct stack_builder *builder,
			  const struct merge_python *frame)
{
	struct merge_python *inside = builder->pythons.count ?
					      vec_last(&builder->pythons) :
					      NULL;

	if (!frame->is_entry || !inside || inside->is_entry)
		return;
	inside->is_entry = true;
	inside->entry_addr = frame->entry_addr;
}

/* Where the activation that frame i ends keeps its mark on the C stack. */
static uint64_t mark_of(const struct python_stack *python, size_t i,
			bool shifted)
{
	const struct walker_frame *frames = python->frames.data;

	if (python->flags & WALKER_LEAVING)
		return i ? frames[i - 1].activation : 0;
	/* 3.10: one activation has no frame yet; all are one too far in. */
	if (shifted)
		return i + 1 < python->frames.count ?
			       frames[i + 1].activation :
			       python->extra_activation;
	return frames[i].activation;
}

/*
 * The addresses of the Python frames. A code object whose capture was lost has
 * none: its frame stands as the marker for an unreadable one.
 */
static struct error *name_python(struct stack_builder *builder,
				 const struct python_stack *python,
				 bool native_complete)
{
	size_t count = python->frames.count;
	bool shifted = python->extra_activation &&
		       is_outermost_call(builder, native_complete,
					 python->extra_activation);

	vec_clear(&builder->pythons);
	if (!vec_reserve(&builder->pythons, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct walker_frame *frame = &python->frames.data[i];
		bool entry = frame->flags & WALKER_FRAME_ENTRY;
		struct merge_python out = {
			.address = KAA_MARKER_UNREADABLE,
			.frame = frame->frame,
			.entry_addr = entry ? mark_of(python, i, shifted) : 0,
			.is_entry = entry,
		};
		const struct frame_address *found;
		struct error *error;

		error = frame_addresses_find(&builder->addresses,
					     builder->codes, frame,
					     &builder->payloads, &found);
		if (error)
			return error;
		builder->unnamed += !found;
		if (found)
			out.address = found->address;
		if (found && found->internal)
			drop_internal(builder, &out);
		else
			builder->pythons.data[builder->pythons.count++] = out;
	}
	return NULL;
}

struct evidence {
	const struct stack_builder *builder;
	const struct unwind_stack *stack;
};

static bool stack_word(const struct unwind_stack *stack, uint64_t address,
		       uint64_t *ret)
{
	return unwind_stack_word(stack, address, ret) ||
	       (stack->read_more &&
		stack->read_more(stack->more, address, ret));
}

/* The call keeps its frame object in a register or on its stack. */
static enum merge_evidence eval_runs_frame(void *arg, size_t native,
					   uint64_t frame)
{
	const struct evidence *evidence = arg;
	const struct unwind_frame *f = &evidence->builder->native.frames[native];
	const struct unwind_stack *stack = evidence->stack;
	uint64_t at, word;

	if (native_stack_holds(&evidence->builder->native, native, frame))
		return MERGE_YES;
	if (!f->cfa || f->sp < stack->start)
		return MERGE_UNKNOWN;
	for (at = f->sp; at + 8 <= f->cfa; at += 8) {
		if (!stack_word(stack, at, &word))
			return MERGE_UNKNOWN;
		if (word == frame)
			return MERGE_YES;
	}
	return MERGE_NO;
}

static bool stop_at_first(struct process_map *map, void *arg)
{
	(void)map;
	*(bool *)arg = true;
	return false;
}

/*
 * Inside exec the old program is gone and the new one not there yet: the
 * registers are those of nothing.
 */
static bool is_in_exec(const struct target *target, const struct record *sample)
{
	bool has_maps = false;

	if ((sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
	    PERF_RECORD_MISC_USER)
		return false;
	process_each_map(target->process, stop_at_first, &has_maps);
	return !has_maps;
}

/*
 * The copy is shorter than what was asked for, and the stack goes on behind it:
 * a page there is not in memory. The next samples shall have it. Beyond the copy
 * the walker left such a page out.
 */
static void fill_stack(const struct record_sample *sample,
		       const struct unwind_stack *stack,
		       const struct stack_memory *memory, struct target *target)
{
	uint64_t pages[16];
	size_t count;

	if (memory) {
		count = stack_memory_missing(memory, pages,
					     sizeof(pages) / sizeof(*pages));
		for (size_t i = 0; i < count; i++)
			target_populate_stack(target, pages[i],
					      pages[i] + WALKER_PAGE);
	} else if (sample->stack_dyn_size < sample->stack_size) {
		target_populate_stack(target, stack->start + stack->bytes.size,
				      stack->start + sample->stack_size);
	}
}

static bool read_beyond(const void *memory, uint64_t address, uint64_t *ret)
{
	return stack_memory_read(memory, address, ret);
}

/* Of an unwound stack. */
static bool frame_lacks_cfi(const struct native_stack *native, size_t i)
{
	return i + 1 == native->count ||
	       native->frames[i + 1].ip == KAA_MARKER_MISSING_NATIVE ||
	       (native->frames[i].flags & WITHOUT_CFI);
}

/* Python's marks are still those of the stack that the thread leaves. */
static void forget_extents(struct stack_builder *builder)
{
	for (size_t i = 0; i < builder->natives.count; i++)
		builder->natives.data[i].sp = builder->natives.data[i].cfa = 0;
}

/* The frames as the merge wants them. */
static struct error *push_natives(struct stack_builder *builder,
				  const struct target *target)
{
	const struct native_stack *native = &builder->native;

	if (!vec_reserve(&builder->natives, native->count))
		return error_no_memory();
	builder->first_without_cfi = native->count ? native->count - 1 : 0;
	for (size_t i = 0; i < native->count; i++) {
		const struct unwind_frame *f = &native->frames[i];
		bool caller = f->flags & UNWIND_FRAME_CALLER;

		builder->natives.data[i] = (struct merge_native){
			.ip = f->ip,
			.sp = f->sp,
			.cfa = f->cfa,
			.is_eval = target_is_eval(target, f->ip - caller),
		};
		if (i < builder->first_without_cfi && frame_lacks_cfi(native, i))
			builder->first_without_cfi = i;
	}
	builder->natives.count = native->count;
	if (native->end == UNWIND_SWITCHING)
		forget_extents(builder);
	return NULL;
}

/* Unwinds the copied stack into builder->natives; true if it is complete. */
static struct error *unwind_native(struct stack_builder *builder,
				   struct target *target,
				   const struct record *sample,
				   const struct python_stack *python,
				   const struct stack_memory *memory,
				   struct unwind_stack *stack, bool *complete)
{
	const struct record_regs *regs = &sample->sample.regs_user;
	struct native_stack *native = &builder->native;
	struct unwind_regs start = {};

	vec_clear(&builder->natives);
	builder->first_without_cfi = 0;
	*complete = true;
	/* It has those that were asked for. */
	if (!regs->count)
		return NULL;
	unwind_regs_from_perf(regs->mask, regs->values, &start);
	stack->start = start.value[UNWIND_RSP];
	stack->bytes = (struct bytes){ sample->sample.stack_user,
				       sample->sample.stack_dyn_size };
	stack->more = memory;
	stack->read_more = memory ? read_beyond : NULL;
	target_at(target, sample->time);
	native_stack_unwind(native, target, sample->tid, &start, stack, python);
	if (native->count == 1 && native->end != UNWIND_COMPLETE &&
	    is_in_exec(target, sample))
		return NULL;
	if (native->end == UNWIND_TRUNCATED)
		fill_stack(&sample->sample, stack, memory, target);
	*complete = native->end == UNWIND_COMPLETE;
	return push_natives(builder, target);
}

/* The user part of the chain that the kernel walked along frame pointers. */
static struct error *kernel_walked(struct stack_builder *builder,
				   struct target *target,
				   const struct record *sample)
{
	const struct record_sample *s = &sample->sample;
	bool user = false, leaf = true;

	target_at(target, sample->time);
	vec_clear(&builder->natives);
	builder->first_without_cfi = 0;
	for (uint64_t i = 0; i < s->callchain_count; i++) {
		uint64_t ip = s->callchain[i];

		if (kaa_is_state(ip))
			continue;
		if (ip >= PERFDATA_CONTEXT_MAX) {
			user = ip == (uint64_t)PERF_CONTEXT_USER;
			continue;
		}
		if (!user)
			continue;
		if (!vec_push(&builder->natives,
			      (struct merge_native){
				      .ip = ip,
				      .is_eval = target_is_eval(target,
								ip - !leaf) }))
			return error_no_memory();
		leaf = false;
	}
	return NULL;
}

/*
 * Not a kernel thread, a sample before the first user instruction, or one that was
 * polled without native frames.
 */
static bool is_unwound(const struct record *sample)
{
	return (sample->has & PERF_SAMPLE_REGS_USER) &&
	       sample->sample.regs_user.abi;
}

bool stack_frame_lacks_cfi(const struct stack_builder *builder,
			   const struct record *sample, size_t i)
{
	return !is_unwound(sample) || frame_lacks_cfi(&builder->native, i);
}

/* Native frames that stand for Python ones become these. */
static struct error *convert_frames(struct stack_builder *builder,
				    struct target *target,
				    const struct record *sample)
{
	struct source_state *source = builder->source;
	struct code *code;
	struct error *error;

	for (size_t i = 0; i < builder->natives.count; i++) {
		struct merge_native *frame = &builder->natives.data[i];

		if (!stack_frame_lacks_cfi(builder, sample, i))
			continue;
		error = source->source->code_at(source, target,
						frame->ip - (i > 0), &code);
		if (error)
			return error;
		if (!code)
			continue;
		builder->converted++;
		error = code_table_address(builder->codes, code, -1,
					   &builder->payloads, &frame->ip);
		if (error)
			return error;
	}
	return NULL;
}

static struct error *push_kernel(struct stack_builder *builder,
				 const struct record_sample *sample)
{
	uint64_t i = 0;

	vec_clear(&builder->chain);
	for (; i < sample->callchain_count; i++) {
		if (sample->callchain[i] == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (!vec_push(&builder->chain, sample->callchain[i]))
			return error_no_memory();
	}
	/* What the thread did stands before where it was. */
	if (i + 1 < sample->callchain_count && kaa_is_state(sample->callchain[i + 1]))
		builder->state = sample->callchain[i + 1];
	return NULL;
}

static struct error *push_user(struct stack_builder *builder, size_t room)
{
	size_t count = builder->merged.addresses.count;
	size_t have = builder->chain.count + 1 + !!builder->state;

	if (!count && !builder->state)
		return NULL;
	if (!vec_push(&builder->chain, (uint64_t)PERF_CONTEXT_USER) ||
	    (builder->state && !vec_push(&builder->chain, builder->state)) ||
	    !vec_reserve(&builder->chain, count))
		return error_no_memory();
	if (have + count > room) {
		count = room - have;
		builder->merged.addresses.data[count - 1] =
			KAA_MARKER_TRUNCATED;
		builder->merged.flags |= MERGE_TRUNCATED;
	}
	memcpy(builder->chain.data + builder->chain.count,
	       builder->merged.addresses.data, count * sizeof(uint64_t));
	builder->chain.count += count;
	return NULL;
}

/*
 * The sample is of before the walker knew of the process, or of a thread that it
 * did not find. That it gave no stack alone does not tell: the outermost call of
 * the evaluation function has no frame while it enters and leaves.
 */
static bool is_unread(const struct stack_builder *builder,
		      const struct target *target)
{
	size_t calls = 0;

	if (!builder->source || !builder->source->source->walks ||
	    target->state != PYTHON_FOUND)
		return false;
	for (size_t i = 0; i < builder->natives.count; i++)
		calls += builder->natives.data[i].is_eval;
	return calls > target->walked;
}

/* A source that has no native frames by design lacks none; there is no Python frame. */
static struct error *say_no_python(struct stack_builder *builder)
{
	if (!builder->source || !builder->source->source->polls ||
	    builder->state || builder->merged.addresses.count)
		return NULL;
	return vec_push(&builder->merged.addresses, KAA_MARKER_NO_PYTHON) ?
		       NULL :
		       error_no_memory();
}

/* Nothing at all, or what a poller says where it finds nothing. */
static bool has_no_user(const struct stack_builder *builder)
{
	return !builder->merged.addresses.count ||
	       (builder->merged.addresses.count == 1 &&
		builder->merged.addresses.data[0] == KAA_MARKER_NO_PYTHON);
}

/* The idle task, too, is process 0, but has no user space. */
static void count_stack(struct stack_builder *builder,
			const struct record *sample)
{
	struct stack_stats *stats = &builder->stats;
	uint32_t flags = builder->merged.flags;
	bool polled = builder->source && builder->source->source->polls;
	bool lacks_python = (flags & MERGE_UNREADABLE) || builder->unnamed;
	bool lacks_user = has_no_user(builder);

	stats->samples++;
	/* Where polling finds no Python frame there is none; a state is something. */
	stats->incomplete += (flags & (MERGE_TRUNCATED | MERGE_NOT_ALIGNED)) ||
			     lacks_python || builder->native.gaps ||
			     (lacks_user && !builder->state && !polled);
	stats->with_python += builder->pythons.count || builder->converted;
	stats->truncated += (flags & MERGE_TRUNCATED) != 0;
	stats->unreadable += lacks_python;
	stats->not_aligned += (flags & MERGE_NOT_ALIGNED) != 0;
	stats->missing_native += builder->native.gaps != 0;
	stats->without_user += lacks_user && (polled || !builder->state);
	stats->outside += !sample->pid && !lacks_user;
}

/* The native frames, by unwinding or as the kernel walked them. */
static struct error *take_natives(struct stack_builder *builder,
				  struct target *target,
				  const struct record *sample,
				  const struct python_stack *python,
				  const struct stack_memory *memory,
				  struct unwind_stack *stack,
				  struct merge_input *in)
{
	struct error *error;

	if (is_unwound(sample)) {
		error = unwind_native(builder, target, sample, python, memory,
				      stack, &in->native_complete);
	} else {
		error = kernel_walked(builder, target, sample);
		in->eval_runs_frame = NULL;
	}
	if (error || !builder->source || !builder->source->source->code_at)
		return error;
	return convert_frames(builder, target, sample);
}

/* The Python frames beside them; python: NULL if there are none. */
static struct error *take_pythons(struct stack_builder *builder,
				  struct target *target,
				  const struct python_stack *python,
				  struct merge_input *in)
{
	struct error *error;

	if (!python) {
		in->python_complete = !is_unread(builder, target);
		builder->stats.unnoticed += !in->python_complete &&
					    !target->walked;
		return NULL;
	}
	error = name_python(builder, python, in->native_complete);
	if (error)
		return error;
	in->python_complete = !(python->flags &
				(WALKER_UNREADABLE | WALKER_TOO_DEEP));
	target->walked = true;
	return NULL;
}

static bool evidence_word(void *arg, uint64_t address, uint64_t *ret)
{
	const struct evidence *evidence = arg;

	return stack_word(evidence->stack, address, ret);
}

/*
 * Up to 3.10 each call of the evaluation function runs one frame, and keeps its address.
 * Marks do not say whose they are.
 */
static bool each_runs_its_frame(const struct switched_frames *s,
				struct evidence *evidence)
{
	size_t native = 0;

	for (size_t i = 0; i < s->frame_count; i++, native++) {
		while (native < s->native_count && !s->natives[native].is_eval)
			native++;
		if (native == s->native_count ||
		    eval_runs_frame(evidence, native, s->frames[i].frame) !=
			    MERGE_YES)
			return false;
	}
	return switched_frames_calls(s) == s->frame_count;
}

/* The innermost call runs the innermost frame. */
static bool innermost_runs_its_frame(const struct switched_frames *s,
				     struct evidence *evidence)
{
	size_t eval = 0;

	while (eval < s->native_count && !s->natives[eval].is_eval)
		eval++;
	return eval < s->native_count &&
	       eval_runs_frame(evidence, eval, s->frames[0].frame) == MERGE_YES;
}

enum fit {
	FIT_NO,
	/* As far as words tell that may be old ones. */
	FIT_MAYBE,
	FIT_YES,
};

/*
 * Whether each Python frame has its place among the native ones of a thread that
 * switches greenlets. The frames of a greenlet that is left have no marks at its
 * end; those of the one that comes are where it has put its own.
 */
static enum fit switched_fit(struct stack_builder *builder,
			 const struct target *target,
			 const struct python_stack *python,
			 enum switch_state state, struct evidence *evidence)
{
	const struct py_layout *layout = &target->python.layout;
	const struct switched_frames s = {
		.layout = layout,
		.read = evidence_word,
		.arg = evidence,
		.natives = builder->natives.data,
		.native_count = builder->natives.count,
		.frames = builder->pythons.data,
		.frame_count = builder->pythons.count,
	};
	bool marked = !(python->flags & WALKER_UNMARKED_END);

	if (builder->native.gaps || !s.frame_count || builder->unnamed ||
	    (marked && (python->flags & (WALKER_UNREADABLE | WALKER_TOO_DEEP))))
		return FIT_NO;
	if ((layout->flags & PY_FRAME_OBJECTS) &&
	    !each_runs_its_frame(&s, evidence))
		return FIT_NO;
	switched_frames_mark(&s);
	if ((layout->flags & (PY_CFRAMES | PY_SHIM_FRAMES)) &&
	    !switched_frames_fit(&s))
		return FIT_NO;
	if (state != SWITCH_SETTLING)
		return FIT_YES;
	if (!innermost_runs_its_frame(&s, evidence))
		return FIT_NO;
	if (python->flags & WALKER_SETTLED)
		return FIT_YES;
	return !(layout->flags & PY_FRAME_OBJECTS) &&
			       (marked || switched_frames_calls(&s) > 1) ?
		       FIT_YES :
		       FIT_MAYBE;
}

/* A sample of a thread that may switch greenlets. */
struct switching {
	enum switch_state state;
	/* The frame that switches, and greenlet's code. */
	size_t at;
	struct unwind_map map;
	/* The stack that the thread leaves; NULL: none is known. */
	const struct stack_memory *left;
	/* The stack where the thread is, and with what is left in its place. */
	const struct unwind_stack *here;
	struct unwind_stack before;
	/* The native frames are those of the stack that is left. */
	bool is_before;
};

/* A word of the stack that is left. */
static bool read_left(const void *arg, uint64_t address, uint64_t *ret)
{
	const struct switching *switching = arg;
	const struct stack_memory *left = switching->left;
	uint64_t at = address - left->left;

	return at < left->left_size ?
		       stack_memory_read(left, left->left_copy + at, ret) :
		       stack_word(switching->here, address, ret);
}

/* What the walker has to know to find the stack that is left. */
static void learn_switches(struct target *target, const struct unwind_map *map)
{
	const struct unwind_switches *switches = map->switches;
	const struct py_layout *layout = &target->python.layout;

	if (!switches || !switches->module_number ||
	    target->python.switches.module)
		return;
	target->python.switches = (struct walker_switches){
		.module = switches->module_number + map->bias,
		.variable = switches->thread_state,
		.switching = switches->switching + map->bias,
		.stack = layout->flags & PY_FRAME_OBJECTS ?
				 GREENLET_STACK_3_10 :
				 GREENLET_STACK,
	};
}

static void find_switch(struct stack_builder *builder, struct target *target,
			const struct unwind_stack *stack,
			const struct sample_memory *memory,
			struct switching *switching)
{
	*switching = (struct switching){ .here = stack };
	if (target->state != PYTHON_FOUND)
		return;
	switching->state = switch_state_of(&target->unwind,
					   builder->natives.data,
					   builder->natives.count,
					   &switching->at, &switching->map);
	learn_switches(target, &switching->map);
	switching->left = memory ? memory->left : NULL;
	if (!switching->left)
		return;
	switching->before = (struct unwind_stack){
		.start = switching->left->left,
		.read_more = read_left,
		.more = switching,
	};
}

/*
 * Built with frame pointers, as extension modules are by default from 3.15 on,
 * slp_switch is left by that. It is told from where its return address is.
 */
static void add_frame_pointer(struct switching *switching,
			      struct native_branch *branch)
{
	const struct unwind_map *map = &switching->map;
	uint64_t at = switching->left->left, end = at + SWITCH_FRAME_MAX, word;
	const struct cfi_rules *rules =
		map->cfi ? cfi_find(map->cfi, map->switches->moving[0].start - 1) :
			   NULL;

	if (!rules || rules->cfa.kind != CFI_OFFSET ||
	    rules->cfa.reg != UNWIND_RBP)
		return;
	while (at < end && read_left(switching, at, &word) &&
	       word != branch->second)
		at += 8;
	unwind_reg_set(&branch->regs, UNWIND_RBP,
		       at + 8 - (uint64_t)(int64_t)rules->cfa.value);
}

/*
 * Beyond the frame that switches, the native frames become those of the stack that is
 * left. That slp_switch waits at its inner end says the return address there.
 */
static struct error *take_before(struct stack_builder *builder,
				 struct target *target,
				 struct switching *switching)
{
	const struct unwind_switches *switches = switching->map.switches;
	struct native_branch branch = { .stack = &switching->before };
	struct error *error;

	if (!switching->left || !switches->moving_count || !switches->settling)
		return NULL;
	branch.second = switches->settling + switching->map.bias;
	branch.skipped = switching->state == SWITCH_SETTLING ? 2 : 1;
	unwind_reg_set(&branch.regs, UNWIND_RSP, switching->left->left);
	unwind_reg_set(&branch.regs, UNWIND_RIP,
		       switches->moving[0].start + switching->map.bias);
	add_frame_pointer(switching, &branch);
	if (!native_stack_branch(&builder->native, target, switching->at,
				 &branch))
		return NULL;
	error = push_natives(builder, target);
	/* Marks of the stack that is left are in none of the new stack's frames. */
	for (size_t i = 0; i <= switching->at; i++)
		builder->natives.data[i].sp = builder->natives.data[i].cfa =
			switching->left->left;
	switching->is_before = true;
	return error;
}

/* The native stack ends at the switch. */
static void cut_at_switch(struct stack_builder *builder, size_t at,
			  struct merge_input *in)
{
	builder->natives.count = at + 1;
	builder->native.end = UNWIND_SWITCHING;
	in->native_complete = false;
	forget_extents(builder);
}

/*
 * Behind the copy, and it is not proven that Python's frames are the new greenlet's:
 * whether they are those of the one that is left. What both stacks may have proves
 * nothing.
 */
static struct error *try_before(struct stack_builder *builder,
				struct target *target,
				const struct python_stack *python,
				struct switching *switching,
				struct evidence *evidence, enum fit *fit)
{
	const struct unwind_stack *here = evidence->stack;
	enum fit before;
	struct error *error = take_before(builder, target, switching);

	if (error || !switching->is_before)
		return error;
	evidence->stack = &switching->before;
	error = name_python(builder, python, true);
	if (error)
		return error;
	before = switched_fit(builder, target, python, switching->state,
			      evidence);
	if (before != FIT_NO) {
		*fit = *fit == FIT_NO ? FIT_YES : FIT_NO;
		return NULL;
	}
	if (*fit == FIT_NO)
		return NULL;
	*fit = FIT_YES;
	native_stack_leave_branch(&builder->native);
	evidence->stack = here;
	switching->is_before = false;
	error = push_natives(builder, target);
	return error ? error : name_python(builder, python, true);
}

/* A greenlet without Python frames, as one of gevent's is when it begins and ends. */
static bool has_no_python(const struct stack_builder *builder,
			  const struct python_stack *python)
{
	size_t calls = 0;

	for (size_t i = 0; i < builder->natives.count; i++)
		calls += builder->natives.data[i].is_eval;
	return !python && !calls;
}

/*
 * Of a thread that switches greenlets: what of its stacks belongs together. Where
 * that cannot be told, the native stack ends at the switch.
 */
static struct error *sort_switched(struct stack_builder *builder,
				   struct target *target,
				   const struct python_stack *python,
				   struct switching *switching,
				   struct evidence *evidence,
				   struct merge_input *in)
{
	bool unmarked = python && (python->flags & WALKER_UNMARKED_END);
	enum switch_state state = switching->state;
	struct error *error = NULL;
	enum fit fit = FIT_NO;

	/* Before 3.12 nothing is changed before the memory is. */
	if (state == SWITCH_LEAVING &&
	    !(target->python.layout.flags & PY_SHIM_FRAMES))
		return NULL;
	if (switching->is_before)
		evidence->stack = &switching->before;
	if (state != SWITCH_NONE) {
		if (python && in->native_complete) {
			fit = switched_fit(builder, target, python, state,
					   evidence);
			if (fit != FIT_YES && state == SWITCH_SETTLING)
				error = try_before(builder, target, python,
						   switching, evidence, &fit);
		}
		if (state == SWITCH_LEAVING && in->native_complete &&
		    has_no_python(builder, python))
			fit = FIT_YES;
		in->python_complete &= fit == FIT_YES || state != SWITCH_LEAVING;
		in->python_complete |= fit == FIT_YES;
		if (error || fit == FIT_YES || state == SWITCH_LEAVING)
			return error;
		cut_at_switch(builder, switching->at, in);
	}
	/* All Python frames are there, wherever their native ones are. */
	if (unmarked && builder->native.end == UNWIND_SWITCHING)
		in->python_complete = true;
	return NULL;
}

struct error *stack_build(struct stack_builder *builder, struct target *target,
			  const struct record *sample,
			  const struct python_stack *python,
			  const struct sample_memory *memory, size_t room)
{
	struct unwind_stack stack = {};
	struct evidence evidence = { builder, &stack };
	struct switching switching = {};
	struct merge_input in = { .native_complete = true,
				  .python_complete = true,
				  .eval_runs_frame = eval_runs_frame,
				  .arg = &evidence };
	struct error *error;

	vec_clear(&builder->pythons);
	builder->converted = 0;
	builder->unnamed = 0;
	builder->native.gaps = 0;
	builder->native.end = UNWIND_COMPLETE;
	builder->state = 0;
	error = push_kernel(builder, &sample->sample);
	if (error)
		return error;
	error = take_natives(builder, target, sample, python,
			     memory ? memory->beyond : NULL, &stack, &in);
	if (error)
		return error;
	if (is_unwound(sample))
		find_switch(builder, target, &stack, memory, &switching);
	if (switching.state == SWITCH_MOVING)
		error = take_before(builder, target, &switching);
	in.native_complete |= switching.is_before;
	if (error)
		return error;
	error = take_pythons(builder, target, python, &in);
	if (error)
		return error;
	error = sort_switched(builder, target, python, &switching, &evidence,
			      &in);
	if (error)
		return error;
	in.natives = builder->natives.data;
	in.native_count = builder->natives.count;
	in.eval_known = target->binary && target->binary->eval_count;
	in.frames = builder->pythons.data;
	in.frame_count = builder->pythons.count;
	error = merge_stacks(&in, &builder->merged);
	if (error)
		return error;
	error = say_no_python(builder);
	if (!error)
		error = push_user(builder, room);
	if (error)
		return error;
	count_stack(builder, sample);
	return NULL;
}

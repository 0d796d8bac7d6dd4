// SPDX-License-Identifier: GPL-2.0-only
#include "flame/flame_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "flame/flame_function.h"
#include "profile/library_files.h"

/* How much Python code a stack has; what is left out depends on it. */
enum level {
	LEVEL_NATIVE,
	/* Python code that only starts a program. */
	LEVEL_STARTER,
	LEVEL_PROGRAM,
};

/* What is known of a stack: where samples end that were there last. */
struct known {
	/* Their thread's node, FLAME_NONE in a tree without threads. */
	uint32_t root;
	/* The root, where none of the stack's frames is shown. */
	uint32_t node;
	/* enum level: of the stack, and of those samples' leaves. */
	uint8_t level;
	uint8_t leaf;
	bool is_known;
	/* options.from: it has such a frame. */
	bool is_inside;
	/* Its innermost Python frame is of the program's own. */
	bool is_own;
};

/* What adding one profile needs. */
struct adder {
	struct flame_tree *tree;
	const struct profile *profile;
	struct flame_frames frames;
	uint32_t event;
	enum flame_side side;
	bool processes;
	/* By string, if their functions are left out; or NULL. */
	bool *libraries;
	/* By stack. */
	struct known *stacks;
	/* A thread, by task_key(), to the task that it was last. */
	struct map threads;
	/* Scratch: stacks to be added. */
	VEC(uint32_t) pending;
};

/* --- Nodes -------------------------------------------------------------- */

static struct error *find_node(struct flame_tree *tree, uint32_t parent,
			       uint32_t function, uint32_t *ret)
{
	const struct flame_node node = { .parent = parent,
					 .function = function };
	uint64_t *at = map_insert(&tree->node_index,
				  (uint64_t)parent << 32 | function,
				  tree->nodes.count, NULL);

	if (!at || (*at == tree->nodes.count && !vec_push(&tree->nodes, node)))
		return error_no_memory();
	*ret = (uint32_t)*at;
	return NULL;
}

/* --- Stacks ------------------------------------------------------------- */

static struct error *find_libraries(struct adder *a)
{
	return a->tree->options.without_libraries ?
		       library_files_find(a->profile, &a->libraries) :
		       NULL;
}

static struct error *find_levels(struct adder *a)
{
	const struct profile *p = a->profile;
	const bool *from = a->tree->options.from;

	a->stacks = calloc(p->stack_parents.count + 1, sizeof(*a->stacks));
	if (!a->stacks)
		return error_no_memory();
	for (size_t i = 0; i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];
		const struct profile_frame *frame =
			profile_frame(p, p->stack_frames.data[i]);
		uint8_t own = LEVEL_NATIVE;

		if (parent != PROFILE_NONE)
			a->stacks[i] = a->stacks[parent];
		if (from && from[p->stack_frames.data[i]])
			a->stacks[i].is_inside = true;
		if (frame->kind == PROFILE_FRAME_PYTHON)
			a->stacks[i].is_own = !library_files_has(a->libraries, frame);
		if (frame->kind == PROFILE_FRAME_PYTHON)
			own = flame_frame_is_starter(p, frame) ? LEVEL_STARTER :
								 LEVEL_PROGRAM;
		if (own > a->stacks[i].level)
			a->stacks[i].level = own;
	}
	return NULL;
}

/* A step of a stack whose leaf has that level. */
static bool is_shown(const struct adder *a, uint32_t stack, uint8_t leaf)
{
	const struct flame_options *o = &a->tree->options;
	const struct profile_frame *frame = profile_frame(
		a->profile, a->profile->stack_frames.data[stack]);
	bool is_native = frame->kind == PROFILE_FRAME_NATIVE ||
			 frame->kind == PROFILE_FRAME_KERNEL;

	if (is_native && !o->native)
		return false;
	if (o->from && !a->stacks[stack].is_inside)
		return false;
	if (a->libraries && !a->stacks[stack].is_own)
		return false;
	if (o->interpreter_frames || leaf == LEVEL_NATIVE)
		return true;
	if (frame->flags & PROFILE_FRAME_INTERPRETER)
		return false;
	return a->stacks[stack].level >= leaf ||
	       frame->kind != PROFILE_FRAME_PYTHON;
}

/* The node of `stack` below that of its parent. */
static struct error *enter(struct adder *a, uint32_t stack, uint8_t leaf,
			   uint32_t parent, uint32_t *ret)
{
	uint32_t function;
	struct error *error;

	*ret = parent;
	if (!is_shown(a, stack, leaf))
		return NULL;
	error = flame_frame_function(&a->frames,
				     a->profile->stack_frames.data[stack],
				     &function);
	if (!error && parent != FLAME_NONE)
		error = flame_function_below(
			a->tree, a->tree->nodes.data[parent].function, function,
			&function);
	return error ? error : find_node(a->tree, parent, function, ret);
}

/* The node where samples of that stack end, below the node `root`. */
static struct error *find_leaf(struct adder *a, uint32_t stack, uint32_t root,
			       uint32_t *ret)
{
	uint8_t leaf = a->stacks[stack].level;
	struct error *error = NULL;
	uint32_t node = root;

	vec_clear(&a->pending);
	for (; stack != PROFILE_NONE;
	     stack = a->profile->stack_parents.data[stack]) {
		const struct known *known = &a->stacks[stack];

		if (known->is_known && known->root == root &&
		    known->leaf == leaf) {
			node = known->node;
			break;
		}
		if (!vec_push(&a->pending, stack))
			return error_no_memory();
	}
	for (size_t i = a->pending.count; !error && i-- > 0;) {
		struct known *known = &a->stacks[a->pending.data[i]];

		error = enter(a, a->pending.data[i], leaf, node, &node);
		known->root = root;
		known->node = node;
		known->leaf = leaf;
		known->is_known = !error;
	}
	*ret = node;
	return error;
}

/* --- Threads ------------------------------------------------------------ */

/* Another process may have a thread of that number at another time. */
static uint64_t task_key(const struct profile_task *task)
{
	return (uint64_t)(uint32_t)task->pid << 32 | (uint32_t)task->tid;
}

static struct error *find_threads(struct adder *a)
{
	const struct profile *p = a->profile;
	int32_t pid = -1;

	for (size_t i = 0; i < p->samples.rows; i++) {
		const struct profile_task *task =
			profile_task(p, p->samples.task[i]);
		uint64_t *last;

		if (p->samples.event[i] != a->event)
			continue;
		a->processes |= pid != -1 && task->pid != pid;
		pid = task->pid;
		last = map_insert(&a->threads, task_key(task), 0, NULL);
		if (!last)
			return error_no_memory();
		*last = p->samples.task[i];
	}
	return NULL;
}

/* What a process is called is its comm, a thread may have a name. */
static const char *thread_name(const struct adder *a,
			       const struct profile_task *task)
{
	bool is_process = a->processes && task->tid == task->pid;

	return profile_string(a->profile,
			      is_process ? task->comm : profile_task_name(task),
			      "[unknown]");
}

/* "thread 101", and where there are several processes "process 100". */
static void describe_thread(const struct adder *a,
			    const struct profile_task *task, struct strbuf *out)
{
	if (a->tree->options.compare)
		strbuf_puts(out, "threads of this name");
	else if (!a->processes)
		strbuf_printf(out, "thread %" PRId32, task->tid);
	else if (task->tid == task->pid)
		strbuf_printf(out, "process %" PRId32, task->pid);
	else
		strbuf_printf(out, "process %" PRId32 ", thread %" PRId32,
			      task->pid, task->tid);
}

/* The node of a sample's thread; without threads there is none. */
static struct error *find_root(struct adder *a, size_t row, uint32_t *ret)
{
	const struct profile *p = a->profile;
	const struct profile_task *task = profile_task(p, p->samples.task[row]);
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;
	uint64_t *last = map_find(&a->threads, task_key(task));
	uint32_t function;
	struct error *error;

	*ret = FLAME_NONE;
	if (!a->tree->options.threads)
		return NULL;
	/* The name that it had last. */
	if (last)
		task = profile_task(p, (uint32_t)*last);
	describe_thread(a, task, &place);
	error = strbuf_error(&place);
	if (!error)
		error = flame_other_function(
			a->tree, FLAME_THREAD, thread_name(a, task), place.data,
			&function);
	return error ? error : find_node(a->tree, FLAME_NONE, function, ret);
}

/* --- Samples ------------------------------------------------------------ */

/* Where a sample without any step that is shown ends. */
static struct error *find_nothing(struct adder *a, uint32_t stack,
				  uint32_t root, uint32_t *ret)
{
	bool has_code = stack != PROFILE_NONE;
	uint32_t function;
	struct error *error =
		a->libraries ?
			flame_other_function(a->tree, FLAME_NOT_OWN,
					     "[not in your files]", "",
					     &function) :
			flame_other_function(
				a->tree,
				has_code ? FLAME_NO_PYTHON : FLAME_MARKER,
				has_code ? "[no Python code]" : "[unknown]", "",
				&function);

	return error ? error : find_node(a->tree, root, function, ret);
}

static bool is_left_out(const struct adder *a, uint32_t stack)
{
	return a->tree->options.from &&
	       (stack == PROFILE_NONE || !a->stacks[stack].is_inside);
}

static struct error *add_row(struct adder *a, size_t row)
{
	const struct profile_samples *s = &a->profile->samples;
	uint32_t stack = s->stack[row], root, node;
	struct flame_weight *to;
	struct error *error;

	if (is_left_out(a, stack))
		return NULL;
	error = find_root(a, row, &root);
	if (error)
		return error;
	node = root;
	if (stack != PROFILE_NONE)
		error = find_leaf(a, stack, root, &node);
	if (!error && node == root)
		error = find_nothing(a, stack, root, &node);
	if (error)
		return error;
	to = &a->tree->nodes.data[node].own[a->side];
	to->samples += s->count[row];
	to->period += s->period[row];
	to = &a->tree->all[a->side];
	to->samples += s->count[row];
	to->period += s->period[row];
	return NULL;
}

static void adder_deinit(struct adder *a)
{
	flame_frames_deinit(&a->frames);
	free(a->libraries);
	free(a->stacks);
	map_deinit(&a->threads);
	vec_deinit(&a->pending);
}

struct error *flame_tree_add(struct flame_tree *tree,
			     const struct profile *profile, uint32_t event,
			     enum flame_side side)
{
	_cleanup_(adder_deinit) struct adder a = {
		.tree = tree,
		.profile = profile,
		.frames = { .tree = tree, .profile = profile },
		.event = event,
		.side = side,
	};
	struct error *error = flame_frames_init(&a.frames);

	tree->runs[side]++;
	if (!error)
		error = find_libraries(&a);
	if (!error)
		error = find_levels(&a);
	if (!error)
		error = find_threads(&a);
	for (size_t i = 0; !error && i < profile->samples.rows; i++)
		if (profile->samples.event[i] == event)
			error = add_row(&a, i);
	return error;
}

/* --- The tree ----------------------------------------------------------- */

struct error *flame_tree_create(const struct flame_options *options,
				struct flame_tree **ret)
{
	struct flame_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return error_no_memory();
	tree->options = *options;
	if (!tree->options.nodes_max)
		tree->options.nodes_max = FLAME_NODES_MAX;
	*ret = tree;
	return NULL;
}

void flame_tree_destroy(struct flame_tree *tree)
{
	if (!tree)
		return;
	texts_deinit(&tree->texts);
	vec_deinit(&tree->functions);
	vec_deinit(&tree->nodes);
	index_deinit(&tree->function_index);
	map_deinit(&tree->node_index);
	free(tree);
}

/* The period, where samples have one. */
static double measure(const struct flame_tree *tree, enum flame_side side,
		      const struct flame_weight *weight)
{
	return tree->all[side].period ? (double)weight->period :
					(double)weight->samples;
}

double flame_run(const struct flame_tree *tree)
{
	double sum = 0;

	for (int side = 0; side < FLAME_SIDES; side++)
		if (tree->runs[side])
			sum += measure(tree, side, &tree->all[side]) /
			       tree->runs[side];
	return sum / FLAME_SIDES;
}

double flame_share(const struct flame_tree *tree,
		   const struct flame_weight weight[FLAME_SIDES],
		   enum flame_side side)
{
	double all = tree->options.compare == FLAME_BY_TIME ?
			     flame_run(tree) * tree->runs[side] :
			     measure(tree, side, &tree->all[side]);

	return all > 0 ? measure(tree, side, &weight[side]) / all : 0;
}

double flame_size(const struct flame_tree *tree,
		  const struct flame_weight weight[FLAME_SIDES])
{
	double after = flame_share(tree, weight, FLAME_AFTER);

	if (!tree->options.compare)
		return after;
	return (after + flame_share(tree, weight, FLAME_BEFORE)) / 2;
}

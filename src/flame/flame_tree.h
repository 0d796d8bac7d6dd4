/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tree that a flame graph draws: what called what, and what it weighs.
 *
 * A node is a function (or a line of it) below its caller. The first level are
 * threads, unless all are to be one. The tree is filled with the samples of one
 * event, or of two that are compared: each node then has a weight in both
 * (FLAME_BEFORE, FLAME_AFTER). The profiles are borrowed while they are added; the
 * tree keeps its own texts, so two profiles need have nothing in common.
 *
 *	flame_tree_create(&options, &tree)
 *	flame_tree_add(tree, profile, event, FLAME_AFTER)	once or twice
 *	flame_tree_finish(tree)
 *
 * What is left out, so that the steps are those of the program:
 *  - the interpreter's own frames of stacks that have a Python frame, and those
 *    that start a program or a thread (PROFILE_FRAME_INTERPRETER);
 *  - outside the first Python frame of the program those of the module runpy
 *    (python -m).
 */
#ifndef KAA_FLAME_FLAME_TREE_H
#define KAA_FLAME_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/index.h"
#include "profile/profile.h"
#include "profile/texts.h"

#define FLAME_NONE UINT32_MAX

/* What a box is. The page knows them by number: page.js has the same order. */
enum flame_kind {
	/* Python: the program's own, of an installed package, of Python. */
	FLAME_PROGRAM,
	FLAME_PACKAGE,
	FLAME_STANDARD,
	/* Functions in C of no other kind, also those that libraries have. */
	FLAME_NATIVE,
	FLAME_INTERPRETER,
	FLAME_ALLOCATION,
	FLAME_COLLECTOR,
	FLAME_GIL,
	FLAME_KERNEL,
	/* "[truncated stack]" and its like. */
	FLAME_MARKER,
	FLAME_THREAD,
	/* Samples without Python code, where native code is left out. */
	FLAME_NO_PYTHON,
	/* Nodes that are too small to be kept (flame_tree_finish()). */
	FLAME_REST,
	/* Samples without a function of the program's own, where others are left out. */
	FLAME_NOT_OWN,
};

enum flame_side {
	FLAME_AFTER,
	FLAME_BEFORE,
	FLAME_SIDES,
};

/* How two sides are compared. */
enum flame_compare {
	/* There is one side. */
	FLAME_ALONE,
	/* What is a share of all on each side. */
	FLAME_BY_SHARE,
	/* What a run took on average: each flame_tree_add() adds a run. */
	FLAME_BY_TIME,
};

struct flame_options {
	/* Tell the lines of a Python function apart. */
	bool lines;
	/* With functions in C and the kernel. */
	bool native;
	/* With what is left out else, see above. */
	bool interpreter_frames;
	/*
	 * Without functions of libraries (profile/library_files.h), what these call in
	 * C, and what no Python code calls.
	 */
	bool without_libraries;
	/* The first level are threads. */
	bool threads;
	/*
	 * If two sides are compared, numbers of threads mean nothing, and a
	 * function may have moved in its file.
	 */
	enum flame_compare compare;
	/*
	 * A source file, a string of the profile, to the one that it is at
	 * another path; NULL: none is.
	 */
	const struct map *same_files;
	/* Nodes that are kept; 0: FLAME_NODES_MAX. */
	size_t nodes_max;
	/* The current folder, for short names of files, or NULL. */
	const char *folder;
	/*
	 * By frame of the profile: a stack begins at the outermost of these, and one
	 * that has none of them is left out. NULL: all are drawn from their
	 * beginning. Borrowed while samples are added.
	 */
	const bool *from;
};

enum { FLAME_NODES_MAX = 200000 };

/* Texts are numbers in flame_tree.texts. */
struct flame_function {
	uint32_t name;
	/* A source file, the file of native code, "" where there is none. */
	uint32_t file;
	/* The same for people: "json/decoder.py"; of a thread its numbers. */
	uint32_t place;
	/* Of the def, or with options.lines the line itself; 0: none. */
	uint32_t line;
	/* enum flame_kind */
	uint32_t kind;
};

struct flame_weight {
	uint64_t samples;
	/* In the unit of the event. */
	uint64_t period;
};

/* A node's parent stands before it. */
struct flame_node {
	/* FLAME_NONE: it is on the first level. */
	uint32_t parent;
	uint32_t function;
	/* Of samples that end here; of them and those that go on. */
	struct flame_weight own[FLAME_SIDES];
	struct flame_weight total[FLAME_SIDES];
};

struct flame_node_vec VEC_BODY(struct flame_node);

struct flame_tree {
	struct flame_options options;
	struct texts texts;
	VEC(struct flame_function) functions;
	/*
	 * When finished: each node is directly followed by all that is below it,
	 * and heavier siblings stand first.
	 */
	struct flame_node_vec nodes;
	/* All samples. */
	struct flame_weight all[FLAME_SIDES];
	/* How often flame_tree_add() added some. */
	uint32_t runs[FLAME_SIDES];
	/* Nodes that FLAME_REST stands for. */
	size_t rest_nodes;
	/* Private. */
	struct index function_index;
	struct map node_index;
};

struct error *flame_tree_create(const struct flame_options *options,
				struct flame_tree **ret);
/* Adds the samples of an event of the profile. */
struct error *flame_tree_add(struct flame_tree *tree,
			     const struct profile *profile, uint32_t event,
			     enum flame_side side);
/*
 * Adds up totals, puts nodes in their order, and keeps the heaviest
 * options.nodes_max; of each parent those that are not kept become one node.
 */
struct error *flame_tree_finish(struct flame_tree *tree);
void flame_tree_destroy(struct flame_tree *tree);
DEFINE_CLEANUP(flame_tree, struct flame_tree *, flame_tree_destroy);
#define _cleanup_flame_tree_ _cleanup_(cleanup_flame_tree_)

/* A text of the tree. */
static inline const char *flame_text(const struct flame_tree *tree,
				     uint32_t text)
{
	return tree->texts.all.data[text];
}

/*
 * What a weight is worth in a drawing: its share; where two sides are compared
 * the mean of both.
 */
double flame_size(const struct flame_tree *tree,
		  const struct flame_weight weight[FLAME_SIDES]);
/*
 * The side's share of all: by period, where samples have one. By time all is the
 * mean of what a run took on both sides (flame_run()).
 */
double flame_run(const struct flame_tree *tree);
double flame_share(const struct flame_tree *tree,
		   const struct flame_weight weight[FLAME_SIDES],
		   enum flame_side side);

#endif

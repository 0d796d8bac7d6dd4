/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that a flame graph is written to: its name says what it is. */
#ifndef KAA_CMD_READING_FLAME_FILE_H
#define KAA_CMD_READING_FLAME_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "flame/flame_page.h"
#include "flame/flame_tree.h"

struct flame_file {
	/* NULL: a name of its own. "-": standard output. */
	const char *path;
	/* A picture; a name that ends in .svg asks for one, too. */
	bool svg;
};

/* Settles both. ERROR_INVALID_ARGUMENT: the name is of neither format. */
struct error *flame_file_choose(struct flame_file *file);
/*
 * Writes the graph and says so on stderr. What is there already is written over
 * only if it is a flame graph of kaa: else ERROR_PERMISSION.
 */
struct error *flame_file_write(const struct flame_file *file,
			       const struct flame_tree *tree,
			       const struct flame_head *head);

#endif

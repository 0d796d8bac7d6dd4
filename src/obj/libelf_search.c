// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debian 13's static libelf (0.192) asks for functions of elfutils' own, which no
 * package has: trees of search.h with a lock. That is a fault of elfutils
 * (https://sourceware.org/bugzilla/show_bug.cgi?id=32293), mended in 0.193. kaa
 * uses libelf in one thread, so it needs no lock. Only built if libelf cannot be
 * linked without; it may go with Debian 13. The tree begins with its root (elfutils
 * 0.192, lib/eu-search.h).
 */
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct search_tree *tree,
		 int (*compare)(const void *, const void *));
void *eu_tdelete(const void *key, struct search_tree *tree,
		 int (*compare)(const void *, const void *));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void *eu_tsearch(const void *key, struct search_tree *tree,
		 int (*compare)(const void *, const void *))
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree,
		 int (*compare)(const void *, const void *))
{
	return tdelete(key, &tree->root, compare);
}

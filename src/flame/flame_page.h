/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A finished tree as a file that a browser shows, without anything else: a page
 * of HTML that searches and zooms, or a picture (SVG) whose boxes have titles,
 * with a script that zooms and searches where scripts may run.
 */
#ifndef KAA_FLAME_FLAME_PAGE_H
#define KAA_FLAME_FLAME_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/event_kind.h"
#include "flame/flame_tree.h"

/* Texts may hold any byte. */
struct flame_head {
	const char *title;
	/* What was recorded; its first line says most. */
	const char *summary;
	/* What is wrong with it, whole lines, or "". */
	const char *notes;
	/* What a period counts. */
	enum event_unit unit;
	/* Callers stand at the bottom. */
	bool flame;
	/* A page begins with: functions in C, threads side by side. */
	bool native;
	bool threads;
};

/*
 * The tree of a page has native code and threads: the page leaves out what its
 * user does not want. A picture shows all of its tree.
 */
struct error *flame_page_write(const struct flame_tree *tree,
			       const struct flame_head *head, FILE *out);
struct error *flame_picture_write(const struct flame_tree *tree,
				  const struct flame_head *head, FILE *out);

/*
 * The beginning of a file is that of one of these: kaa may write over it. Both
 * have this in their first FLAME_MARK_WITHIN bytes.
 */
#define FLAME_MARK "<!-- kaa flamegraph"
enum { FLAME_MARK_WITHIN = 128 };

#endif

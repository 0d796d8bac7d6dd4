/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of things to do, in a box over a view. Each is a key of the view, which
 * it stands for: what is chosen is handled as if the key had been pressed.
 */
#ifndef KAA_TUI_MENU_H
#define KAA_TUI_MENU_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "tui/view.h"

struct menu_item {
	uint32_t key;
	/* What the key is called, a literal; and what it does, owned. */
	const char *name;
	char *text;
};

struct menu {
	VEC(struct menu_item) items;
	/* The first item that there was no memory for was left out. */
	bool failed;
};

void menu_deinit(struct menu *menu);
#define _cleanup_menu_ _cleanup_(menu_deinit)

/* Appends an item; menu_run() tells of a failure. */
void menu_add(struct menu *menu, uint32_t key, const char *name,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));
/*
 * Shows the items until one is chosen, by Enter or by its own key, and presses
 * that one's key (view_press()); or until the user leaves.
 */
struct error *menu_run(struct ui *ui, struct view *view,
		       const struct menu *menu);

#endif

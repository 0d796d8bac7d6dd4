/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens a link in the browser of the desktop, if there is one. The link is a
 * secret: it stands in a file that its user alone can read, and not on a command
 * line, which all users can.
 */
#ifndef KAA_CMD_VIEW_BROWSER_H
#define KAA_CMD_VIEW_BROWSER_H

#include <stdbool.h>

/* Zero-initialise. */
struct view_browser {
	/* Owned; NULL: no browser was opened. */
	char *folder;
	char *file;
};

/* False: there is no desktop or nothing to open a browser with. */
bool view_browser_open(struct view_browser *browser, const char *link);
/* Removes the file. */
void view_browser_deinit(struct view_browser *browser);

#endif

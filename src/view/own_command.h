/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that messages advise: whoever has typed ./kaa or /opt/kaa/kaa cannot
 * type kaa, and not everybody can type sudo, or has to.
 */
#ifndef KAA_VIEW_OWN_COMMAND_H
#define KAA_VIEW_OWN_COMMAND_H

#include "base/strbuf.h"

/* How the reader does what takes root. */
enum own_command_root {
	/* With sudo. */
	OWN_COMMAND_SUDO,
	/* As any command. */
	OWN_COMMAND_IS_ROOT,
	/* There is no sudo, or it has no effect here: "as root: 'apt ...'". */
	OWN_COMMAND_ASKS_ROOT,
};

enum own_command_root own_command_root(void);

/*
 * Appends the text, with this program named as it was typed in all commands of the
 * forms 'kaa ...' and 'sudo kaa ...', between quotes, and in all of the form
 * 'sudo ...' what the reader types for sudo. "kaa under sudo" between them is
 * "kaa as root" for who has none.
 */
void own_command_puts(struct strbuf *out, const char *text);
/* For such a reader. */
void own_command_puts_for(struct strbuf *out, const char *text,
			  enum own_command_root root);

/* What lists running Pythons here: a minimal Debian has no pgrep. */
const char *own_command_list_pythons(void);

/*
 * The first n bytes, one command without quotes: this program as it was typed,
 * without the sudo in front for who does not type it.
 */
void own_command_example(struct strbuf *out, const char *text, size_t n,
			 enum own_command_root root);

#endif

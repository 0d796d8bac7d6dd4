/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the words before a command do: in `sudo -u root nice -n 1 kaa record`,
 * is there anything but sudo and programs that start another one in the same
 * environment?
 *
 *	sudo A=b timeout -s INT 5 kaa ...	no: A=b stands in the line itself
 *	sudo nice ./wrap kaa ...		wrap may set any variable
 *	sudo env -i kaa ...			env with options does
 *	sudo python3 -m kaa ...			yes: the module becomes kaa
 *
 * The options of these programs are known as far as they take a value from the
 * next word. A word that is misunderstood is taken for a program that sets
 * variables.
 */
#ifndef KAA_SYS_COMMAND_WORDS_H
#define KAA_SYS_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/file.h"

/*
 * words: of the tool, "sudo" or "doas". True if each program between it and the
 * word at `end` only starts another; *first is the word that the tool runs.
 */
bool command_words_only_launch(const char *tool, const struct name_list *words,
			       size_t end, size_t *first);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of a dump in words: how many there are and what they wait for, a table,
 * and a tree in which a task stands below the one that awaits it.
 */
#ifndef KAA_DUMP_ASYNC_TEXT_H
#define KAA_DUMP_ASYNC_TEXT_H

#include "base/strbuf.h"
#include "dump/dump.h"

void async_text(const struct dump *dump, const struct dump_words *words,
		struct strbuf *out);

/* A word for each, for programs, too; NULL: none. */
const char *async_state_word(enum dump_task_state state);
const char *async_wait_word(enum py_wait wait);

#endif

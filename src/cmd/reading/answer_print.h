/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the first screen of a report (view/answer.h). */
#ifndef KAA_CMD_READING_ANSWER_PRINT_H
#define KAA_CMD_READING_ANSWER_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/profile.h"

struct answer_input {
	/* answer_event() of the profile. */
	uint32_t event;
	/* input_put_words(): the recording and its samples. */
	const char *recording;
	/* As the user named it, or NULL. */
	const char *event_name;
	/* When it was written, ns since 1970; 0: not known. */
	int64_t recorded;
	/* In front of the paths of source files, or NULL. */
	const char *symfs;
	/* answer_columns(), answer_columns_given() */
	size_t columns;
	size_t columns_given;
	/* Some of the samples were left out. */
	bool is_filtered;
	/* See struct answer_options. */
	bool by_total;
	bool without_libraries;
	/* The hottest functions and lines alone. */
	bool is_brief;
	/* Of a program that runs: there is no recording to look at next. */
	bool is_live;
	/* See struct answer_options. */
	const char *script;
};

/*
 * How wide a line may be: as $COLUMNS says, or the terminal behind fd. To be
 * asked before a pager takes the terminal's place.
 */
size_t answer_columns(int fd);
/* The same; 0: nobody says. */
size_t answer_columns_given(int fd);

struct error *answer_print(const struct profile *profile,
			   const struct answer_input *input, FILE *out);

/*
 * Appends a line of what to type: "As a flame graph:  kaa flamegraph", with kaa as
 * the user called it, and input_put_words() behind it. word is one more argument, or
 * NULL. What is wider than `columns` has a line for the command alone, which is never
 * broken, since it is copied; 0: nothing is too wide.
 */
void answer_name_command(const char *recording, size_t columns,
			 const char *what, const char *words, const char *word,
			 struct strbuf *out);

/* What to type for the screen, a line. */
void answer_print_next(const char *recording, size_t columns, FILE *out);

#endif

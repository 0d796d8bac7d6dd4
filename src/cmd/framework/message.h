/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a command says beside its result: lines on stderr, each with the
 * command's name in front, in lines that fit if that is a terminal. Only src/cmd
 * prints.
 */
#ifndef KAA_CMD_FRAMEWORK_MESSAGE_H
#define KAA_CMD_FRAMEWORK_MESSAGE_H

#include <stdbool.h>

#include "base/error.h"

/* The name in front ("kaa record"); borrowed for the rest of the program. */
void message_set_prefix(const char *prefix);
/* true: message_note() prints nothing. */
void message_set_quiet(bool quiet);

/* "kaa record: text": worth knowing. */
void message_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* "kaa record: warning: text" */
void message_warn(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* Whole lines of another kaa, which has said them as these. */
void message_lines(const char *text);
/* Whole lines of what to type, as they are: a command that is copied is never broken. */
void message_commands(const char *text);
/* "kaa record: 'subject': message: strerror"; the error stays the caller's. */
void message_error(const struct error *error);
/* "kaa record: warning: " and the error, for what the command survives. */
void message_warn_error(const struct error *error);

#endif

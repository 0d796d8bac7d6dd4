/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the program lies that runs here, and how root starts it. */
#ifndef KAA_SYS_OWN_PROGRAM_H
#define KAA_SYS_OWN_PROGRAM_H

#include "base/error.h"
#include "base/strbuf.h"

/* The path of the running program's file. */
struct error *own_program_path(struct strbuf *ret);

/*
 * Appends the word that starts this program behind sudo, for messages. sudo has
 * a PATH of its own (secure_path), which differs between distributions and only
 * root can read; /usr/bin is in all of them. So it is the name for a program
 * there, if /usr/local has no other of that name; else the whole path, quoted
 * for a shell if need be. The name also where the path cannot be typed.
 */
void own_program_for_sudo(const char *path, struct strbuf *out);

/* The same of the running program. */
void own_program_word(struct strbuf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `kaa doctor` prints: a verdict, and sections of facts, one a line.
 *
 *	<section>
 *	  ok    a fact that is fine
 *	  no    what is missing or not possible
 *	  warn  what works, but less well, or with care
 *	  -     neither good nor bad
 */
#ifndef KAA_CMD_DOCTOR_FACT_H
#define KAA_CMD_DOCTOR_FACT_H

enum mark { MARK_OK, MARK_NO, MARK_WARN, MARK_NOTE };

/* Sentences. */
void doctor_verdict(const char *text);
void doctor_section(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void doctor_fact(enum mark mark, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

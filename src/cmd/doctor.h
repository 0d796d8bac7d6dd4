/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `kaa doctor`, each of which prints facts (cmd/doctor_fact.h). */
#ifndef KAA_CMD_DOCTOR_H
#define KAA_CMD_DOCTOR_H

#include "python/look/facts.h"
#include "sys/invoker.h"
#include "sys/probe_machine.h"

/* What all sections need. */
struct doctor {
	struct machine machine;
	struct invoker invoker;
	/* PATH of the user. */
	char *path;
};

/* What a user can expect, in one or two sentences. */
void doctor_ready(const struct doctor *doctor);
/* Kernel, rights, events, BPF, and which Python source that gives. */
void doctor_machine(const struct doctor *doctor);
/* perf and samply on the user's PATH. */
void doctor_tools(const struct doctor *doctor);
/* One Python; subject is what the user named ("python3", "process 12"). */
void doctor_python(const struct doctor *doctor, const char *subject,
		   const struct python_facts *facts);
/* The same where there are no facts but an error. */
void doctor_python_failed(const char *subject, const struct error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa doctor --fix`: what makes root unnecessary, as commands.
 *
 * The plan is made first (doctor_fix.c), shown with what it allows and how to
 * undo it (doctor_fix_text.c), and run only where the user asked for that
 * (doctor_fix_run.c): the words that are shown are the words that are run, and
 * no shell reads them.
 *
 * The least that helps is taken: two capabilities for the file of kaa, which give
 * no other program anything. Where a file cannot have them, and the kernel lets
 * users record nothing, kernel.perf_event_paranoid is lowered to 2, the kernel's
 * own default, with which kaa names functions by trampolines.
 */
#ifndef KAA_CMD_DOCTOR_FIX_H
#define KAA_CMD_DOCTOR_FIX_H

#include <sys/stat.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "cmd/doctor.h"

enum fix_kind {
	/* Capabilities for the file. */
	FIX_FILE,
	/* The file has them. */
	FIX_DONE,
	/* The file cannot have them; why_not says why. Then one of these: */
	FIX_PARANOID,
	FIX_NOTHING,
};

enum { FIX_WORDS_MAX = 6, FIX_COMMANDS_MAX = 5 };

/* NULL-terminated, for execve(2). */
struct fix_command {
	const char *words[FIX_WORDS_MAX];
};

struct fix_commands {
	struct fix_command list[FIX_COMMANDS_MAX];
	size_t count;
};

/* Its words point into itself: it must not move. */
struct fix {
	enum fix_kind kind;
	/* The file of kaa; owned. */
	char *file;
	/* Who alone may run it; NULL: who may run it now. Borrowed. */
	const char *group;
	struct stat stat;
	/* What the file gives already. */
	uint64_t has;
	struct strbuf why_not;
	struct fix_commands todo;
	struct fix_commands undo;
	const struct doctor *doctor;
	/* What words point to. */
	char user[64];
	char owner[64];
	char new_owner[64];
	char mode[8];
	char paranoid[48];
	char old_paranoid[48];
};

/* "setcap" and "=ep" around the two that kaa needs. */
#define FIX_CAPABILITIES "cap_bpf,cap_perfmon=ep"

/*
 * Looks at the file and the machine; changes nothing. group NULL: none.
 * ERROR_INVALID_ARGUMENT: the group's name is none.
 */
struct error *fix_plan(const struct doctor *doctor, const char *group,
		       struct fix *ret);
void fix_deinit(struct fix *fix);

/* The command as a user types it. */
void fix_command_format(const struct fix_command *command, struct strbuf *out);

/* Before the first command runs, all must be there. ERROR_NOT_FOUND names what is not. */
struct error *fix_find_tools(const struct fix *fix);

/* Root with the tools that the plan takes; else the error says what is missing. */
struct error *fix_may_run(const struct fix *fix);

/* Prints the plan: commands, what they allow, how to undo them. */
void fix_print(const struct fix *fix);
/* Of a plan that was run: what it allows, and how to undo it. */
void fix_print_ran(const struct fix *fix);

/*
 * After fix_may_run(). Runs fix->todo, says what each did, and tries whether
 * kaa can now do what it could not. Stops at the first that fails, which is the error.
 */
struct error *fix_run(const struct fix *fix);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor_fix.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "cmd/framework/wrap.h"
#include "view/own_command.h"
#include "view/shell_word.h"
#include "view/text.h"

/* What kaa can do without, and what for one might want it. */
static const struct {
	const char *name;
	const char *purpose;
} others[] = {
	{ "cap_sys_ptrace", "names of frames in other users' processes" },
	{ "cap_checkpoint_restore",
	  "names in program files that were replaced" },
	{ "cap_syslog", "names of kernel functions" },
	{ "cap_ipc_lock", "larger buffers: longer stacks, fewer lost samples" },
};

static void print_text(const char *before, const char *text, size_t indent)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT, clean = STRBUF_INIT;

	own_command_puts(&said, text);
	text_append(&clean, said.data, said.len);
	wrap_text(&lines, clean.data, indent);
	printf("%s%s", before, lines.data);
}

static void print_point(const char *text)
{
	print_text("  - ", text, 4);
}

/* To be copied. Who has no sudo is told that root does it. */
static const char *word_for_root(void)
{
	return own_command_root() == OWN_COMMAND_SUDO ? "sudo " : "";
}

static void print_commands(const struct fix_commands *commands)
{
	const char *before = word_for_root();

	putchar('\n');
	for (size_t i = 0; i < commands->count; i++) {
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

		fix_command_format(&commands->list[i], &line);
		printf("    %s%s\n", before, line.data);
	}
	putchar('\n');
}

/* "sudo /usr/local/bin/kaa doctor --fix=run --group kaa" */
static void print_self(const struct fix *fix, const char *before,
		       const char *option, const char *group)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;

	shell_word(fix->file, &file);
	printf("\n    %s%s doctor %s%s%s\n\n", before, file.data, option,
	       group ? " --group " : "", group ? group : "");
}

static void print_who(const struct fix *fix)
{
	const struct stat *s = &fix->stat;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct group *group = getgrgid(s->st_gid);

	strbuf_puts(&text, "This is for who may run the file: ");
	if (fix->group)
		strbuf_printf(&text,
			      "root and the members of the group %s. Root adds one with 'usermod -aG %s NAME'; a new member logs in again first.",
			      fix->group, fix->group);
	else if (s->st_mode & S_IXOTH)
		strbuf_puts(&text,
			    "every user of this machine, as far as its folders let them reach it.");
	else if (s->st_mode & S_IXGRP)
		strbuf_printf(&text, "its owner and the members of the group %s.",
			      group ? group->gr_name : "that it has");
	else
		strbuf_puts(&text, "its owner.");
	print_point(text.data);
}

static void print_allowed(const struct fix *fix)
{
	puts("What that allows:\n");
	print_who(fix);
	print_point("CAP_PERFMON: these users can record every process of this machine and the kernel. "
		    "So they see which functions other users' programs run, with the names of functions, files and threads.");
	print_point("CAP_BPF: kaa can load BPF programs. "
		    "With CAP_PERFMON these can read the memory of every process and of the kernel. "
		    "kaa loads only its own, which reads Python's frames. "
		    "But a fault in kaa is then a fault with these rights.");
	print_point("Nobody gets more than that: the recorded command does not have these capabilities, and "
		    "kernel.perf_event_paranoid, kernel.kptr_restrict and kernel.unprivileged_bpf_disabled stay as they are.");
	putchar('\n');
}

static void print_others(void)
{
	puts("Not needed, so not given. Each can be added to the list of setcap:\n");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		printf("    %-24s %s\n", others[i].name, others[i].purpose);
	puts("");
	print_text("",
		   "CAP_SYS_PTRACE lets kaa read the memory of every process, as a debugger does.",
		   0);
	putchar('\n');
}

static void print_undo(const struct fix *fix)
{
	puts("To undo it, as root:");
	print_commands(&fix->undo);
}

/* Who copies the commands has to have them first. */
static void print_missing_tool(const struct fix *fix)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = fix_find_tools(fix);

	if (error) {
		strbuf_puts(&text, "First: ");
		error_format(error, &text);
		strbuf_puts(&text, ".");
		print_text("", text.data, 0);
		putchar('\n');
	}
	error_destroy(error);
}

static void print_file_fix(const struct fix *fix)
{
	print_text("",
		   "kaa reads Python's frames with the rights of root. "
		   "If its file has two capabilities, it needs no root. "
		   "Who may not use sudo asks root for them.",
		   0);
	putchar('\n');
	print_missing_tool(fix);
	puts("Root gives them with:");
	print_commands(&fix->todo);
	puts("This runs these commands and tries whether they helped:");
	print_self(fix, word_for_root(), "--fix=run", fix->group);
	print_allowed(fix);
	if (!fix->group) {
		puts("More careful is to let only a group run it. This prints how:");
		print_self(fix, "", "--fix", "kaa");
	}
	print_others();
	print_undo(fix);
	print_text("",
		   "A kaa that is built, copied or installed again is a new file, without capabilities: "
		   "in a virtual environment that is so after each update by pip. "
		   "On a file system that is mounted with nosuid they have no effect.",
		   0);
}

static void print_paranoid_allowed(void)
{
	puts("What that allows:\n");
	print_point("Every user can record the processes that they own, in user space, with any program that opens perf events.");
	print_point("Every user can make use of a fault in the perf events of the kernel: that is why some distributions forbid them.");
	print_point("It holds until the machine starts again. A line in a file in /etc/sysctl.d keeps it.");
	putchar('\n');
}

static void print_done(const struct fix *fix)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "%s has the capabilities that it needs: who may run it records without root.",
		      fix->file);
	print_text("", text.data, 0);
	puts("");
	print_allowed(fix);
	print_undo(fix);
}

static void print_why_not(const struct fix *fix)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "kaa needs no root if its file has the capabilities cap_bpf and cap_perfmon. %s cannot have them. %s",
		      fix->file, fix->why_not.data);
	print_text("", text.data, 0);
	puts("");
}

static void print_paranoid(const struct fix *fix)
{
	const struct machine *m = &fix->doctor->machine;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	print_why_not(fix);
	strbuf_printf(&text,
		      "What helps is a setting. kernel.perf_event_paranoid is %" PRId64
		      " here, with which users have no events: kaa polls, and records Python functions and lines, of CPU time or wall time. "
		      "With 2 they record other events and native functions of their own processes, too, by trampolines. Root sets it with:",
		      m->perf_event_paranoid.value);
	print_text("", text.data, 0);
	print_commands(&fix->todo);
	puts("This runs the command and tries whether it helped:");
	print_self(fix, word_for_root(), "--fix=run", NULL);
	print_paranoid_allowed();
	print_undo(fix);
}

static void print_nothing(const struct fix *fix)
{
	print_why_not(fix);
	print_text("",
		   "Until then 'sudo kaa record' has everything. "
		   "Without root kaa polls, and records Python functions and lines, of CPU time or wall time.",
		   0);
}

void fix_print(const struct fix *fix)
{
	static void (*const print[])(const struct fix *) = {
		[FIX_FILE] = print_file_fix,
		[FIX_DONE] = print_done,
		[FIX_PARANOID] = print_paranoid,
		[FIX_NOTHING] = print_nothing,
	};

	print[fix->kind](fix);
}

void fix_print_ran(const struct fix *fix)
{
	putchar('\n');
	if (fix->kind == FIX_FILE)
		print_allowed(fix);
	else
		print_paranoid_allowed();
	print_undo(fix);
}

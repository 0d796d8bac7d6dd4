// SPDX-License-Identifier: GPL-2.0-only
/* `kaa dump`: what the threads of a process do now. */
#include <elf.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/answer_print.h"
#include "dump/dump.h"
#include "dump/subject.h"
#include "explore/sources.h"
#include "sys/capability.h"
#include "sys/invoker.h"
#include "sys/privilege.h"
#include "view/own_command.h"

/* Columns that a line has at least. */
enum { WIDTH_MIN = 80 };

struct dump_settings {
	struct dump_options options;
	bool json;
	bool source;
};

static const struct option dump_command_options[] = {
	OPT_BOOL('l', "locals", struct dump_settings, options.locals,
		 "show the arguments and local variables of each frame; with --async of those of tasks, too"),
	OPT_BOOL('n', "native", struct dump_settings, options.native,
		 "show native functions, too; each thread is stopped for a moment, by ptrace"),
	OPT_BOOL(0, "interpreter-frames", struct dump_settings, options.interpreter,
		 "show native functions, those of the interpreter and what starts the program and its threads among them"),
	OPT_BOOL('s', "source", struct dump_settings, source,
		 "show the text of each line, as its file has it now"),
	OPT_BOOL('a', "async", struct dump_settings, options.tasks,
		 "show the tasks of asyncio: what each waits for, and which awaits which"),
	OPT_BOOL('j', "json", struct dump_settings, json,
		 "print JSON, with whole paths; docs/dump.md has the schema"),
	OPT_END(),
};

/* The number of a process; 0: the word is none. */
static pid_t take_pid(const char *word)
{
	char *end;
	long pid = strtol(word, &end, 10);

	return *word >= '0' && *word <= '9' && !*end && pid > 0 &&
			       pid <= INT32_MAX ?
		       (pid_t)pid :
		       0;
}

/* Of what can be read at all: people name their script. */
static bool is_elf(const char *path)
{
	struct stat st;
	_cleanup_fclose_ FILE *file = stat(path, &st) || S_ISREG(st.st_mode) ?
					      fopen(path, "re") :
					      NULL;
	char magic[SELFMAG];

	return !file || fread(magic, sizeof(magic), 1, file) != 1 ||
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static struct error *open_subject(const char *word, struct subject **ret)
{
	pid_t pid = take_pid(word);

	if (pid)
		return subject_open_live(pid, ret);
	if (access(word, F_OK) && errno == ENOENT)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' is neither the number of a process nor a file; '%s' lists processes",
				    word, own_command_list_pythons());
	if (!is_elf(word))
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is no core file; name a process by its number ('%s' lists them), or a core file",
				    word, own_command_list_pythons());
	return subject_open_core(word, ret);
}

/* A relative path is one of the process's folder, which may be another by now. */
static void put_source(void *arg, const char *file, uint32_t line,
		       struct strbuf *out)
{
	if (*file == '/')
		sources_put_line(arg, file, line, out);
}

static size_t width(void)
{
	size_t columns = answer_columns(STDOUT_FILENO);

	return columns < WIDTH_MIN ? WIDTH_MIN : columns;
}

/* The files are those that the process sees. */
static void print_text(const struct dump *dump, bool source,
		       struct strbuf *out)
{
	struct sources sources = {};
	const struct dump_words words = {
		.width = width(),
		.put_source = source ? put_source : NULL,
		.arg = &sources,
	};
	char root[32];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)dump->pid);
	if (!dump->core)
		sources.symfs = root;
	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	dump_text(dump, &words, out);
	sources_deinit(&sources);
}

static struct error *print(const struct dump *dump,
			   const struct dump_settings *s)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *error;

	if (s->json)
		dump_json(dump, &out);
	else
		print_text(dump, s->source, &out);
	error = strbuf_error(&out);
	if (!error)
		fwrite(out.data, 1, out.len, stdout);
	return error;
}

/* A process may call any file the source of its code. */
static struct error *forget_rights(const struct invoker *invoker)
{
	struct capabilities have;
	int err;

	if (!invoker->present)
		return NULL;
	err = capabilities_read(&have);
	if (!err)
		err = capabilities_keep(have.permitted &
					CAPABILITY_BIT(CAP_SYS_PTRACE));
	return err ? error_os(-err, NULL, "cannot give up rights") : NULL;
}

/* Of many tasks: how far it is. */
static struct error *make_dump(struct subject *subject,
			       struct dump_options *options, struct dump **ret)
{
	struct progress progress;
	struct error *error;

	progress_start_as(&progress, "reading tasks");
	options->progress = progress_see;
	options->progress_arg = &progress;
	error = dump_create(subject, options, ret);
	progress_end(&progress);
	return error;
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	struct dump_settings *s = settings;
	_cleanup_(cleanup_dump_) struct dump *dump = NULL;
	_cleanup_(invoker_deinit) struct invoker invoker = {};
	struct subject *subject = NULL;
	struct error *error;

	(void)exit_code;
	if (args->count != 1)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "name one process, by its number, or one core file");
	s->options.native |= s->options.interpreter;
	error = invoker_detect(&invoker);
	if (!error)
		error = privilege_drop_to_look(&invoker);
	if (!error)
		error = open_subject(args->values[0], &subject);
	if (error)
		return error;
	error = subject_find_python(subject);
	if (!error)
		error = make_dump(subject, &s->options, &dump);
	subject_destroy(subject);
	if (!error)
		error = forget_rights(&invoker);
	return error ? error : print(dump, s);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show what each thread of a running or crashed Python program does",
	.usage = (const char *const[]){ "[<options>] <pid>", "[<options>] <core>", NULL },
	.description =
		"Shows the Python stack of each thread of a process, the innermost function first, with lines, names of threads, and who holds the GIL and who waits for it. "
		"The process is neither stopped nor changed: its memory is read while the thread at hand does not run. "
		"Only --native stops each thread for a moment (ptrace), since registers are needed for that. "
		"A thread that kaa cannot read so has no stack, and says so: kaa may not use the CPU that it runs on.\n"
		"\n"
		"Of a core file all threads are shown as they were when the program crashed. "
		"What the core lacks is read from the program's files, which have to be here unchanged.\n"
		"\n"
		"Root may read all processes, and you may read your own where kernel.yama.ptrace_scope is 0. "
		"Values of variables are read as data: no code of the program runs, so of an object that is no number, text or container its type, address and attributes are shown.\n"
		"\n"
		"With --async each task of asyncio has its coroutine and those that this awaits, innermost first, and what it waits for. "
		"A task stands below the one that awaits it. Each is read while the thread of its event loop does not run.",
	.options = dump_command_options,
	.examples =
		(const char *const[]){
			"kaa dump 1234",
			"kaa dump --locals 1234\twith arguments and local variables",
			"kaa dump --native 1234\twith C functions, down to the system call",
			"kaa dump --async 1234\tthe tasks of asyncio, too",
			"kaa dump core.1234\ta program that has crashed",
			"kaa dump --json 1234 | jq '.threads[].name'",
			NULL,
		},
	.environment = (const char *const[]){ MANUAL_COLUMNS, NULL },
	.settings_size = sizeof(struct dump_settings),
	.run = run,
};

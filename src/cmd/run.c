// SPDX-License-Identifier: GPL-2.0-only
/* `kaa run`: becomes a program whose Pythons have trampolines. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/hand_on.h"
#include "agent/program.h"
#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/run.h"
#include "cmd/run_profiler.h"
#include "cmd/typed_command.h"
#include "collect/launch.h"
#include "sys/own_program.h"

#define AGENT_NAME "libkaa_agent.so"

struct run_settings {
	const char *backend;
	bool always;
	bool keep;
	const char *dir;
	int verbose;
	bool quiet;
};

/* --- options --- */

static struct error *choose(struct run_settings *s, const char *backend,
			    bool negated)
{
	if (negated) {
		s->backend = NULL;
		return NULL;
	}
	if (s->backend && strcmp(s->backend, backend) != 0)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "use only one of --perf, --perf-jit and --perf-elf");
	s->backend = backend;
	return NULL;
}

static struct error *parse_perf(void *settings, const struct option *option,
				const char *arg, bool negated)
{
	(void)option;
	(void)arg;
	return choose(settings, "perf", negated);
}

static struct error *parse_perf_jit(void *settings, const struct option *option,
				    const char *arg, bool negated)
{
	(void)option;
	(void)arg;
	return choose(settings, "perf_jit", negated);
}

static struct error *parse_perf_elf(void *settings, const struct option *option,
				    const char *arg, bool negated)
{
	(void)option;
	(void)arg;
	return choose(settings, "perf_elf", negated);
}

static const struct option run_options[] = {
	OPT_GROUP("How functions are named"),
	OPT_CALL(0, "perf", parse_perf, NULL,
		 "write a perf map, /tmp/perf-<pid>.map (default); 'perf record -g' needs a Python with frame pointers"),
	OPT_CALL(0, "perf-jit", parse_perf_jit, NULL,
		 "write a jitdump, /tmp/jit-<pid>.dump, for perf inject --jit; it needs no frame pointers"),
	OPT_CALL(0, "perf-elf", parse_perf_elf, NULL,
		 "write an ELF image, which perf reads directly; it needs no frame pointers"),
	OPT_BOOL(0, "always", struct run_settings, always,
		 "use kaa's trampolines even if the interpreter has its own"),
	OPT_GROUP("Files"),
	OPT_STRING(0, "dir", struct run_settings, dir, "<dir>",
		   "write the files to this directory instead of /tmp; implies --always. perf looks for perf maps in /tmp only"),
	OPT_BOOL(0, "keep", struct run_settings, keep,
		 "keep the files when the program ends (default); --no-keep removes them and implies --always"),
	OPT_GROUP("Output"),
	OPT_COUNT('v', "verbose", struct run_settings, verbose,
		  "print the command and the agent that is loaded into it"),
	OPT_BOOL('q', "quiet", struct run_settings, quiet,
		 "leave out the note that 'perf record -g' needs frame pointers, which this Python lacks"),
	OPT_END(),
};

static void run_defaults(void *settings)
{
	struct run_settings *s = settings;

	s->keep = true;
}

/* --- the agent --- */

/* In the build directory, or installed. */
static struct error *find_agent(struct strbuf *ret)
{
	static const char *const places[] = {
		"/src/agent/" AGENT_NAME,
		"/../lib/kaa/" AGENT_NAME,
	};
	_cleanup_strbuf_ struct strbuf folder = STRBUF_INIT;
	char resolved[PATH_MAX];
	struct error *error = own_program_path(&folder);

	if (error)
		return error;
	strbuf_truncate(&folder, (size_t)(strrchr(folder.data, '/') - folder.data));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		strbuf_clear(ret);
		strbuf_puts(ret, folder.data);
		strbuf_puts(ret, places[i]);
		if (ret->failed)
			return error_no_memory();
		if (!access(ret->data, R_OK) && realpath(ret->data, resolved)) {
			strbuf_clear(ret);
			strbuf_puts(ret, resolved);
			return strbuf_error(ret);
		}
	}
	return error_create(ERROR_NOT_FOUND,
			    "there is no " AGENT_NAME " beside kaa, neither in '%s/src/agent' nor in '%s/../lib/kaa': run 'ninja -C build', which builds both, or 'meson install -C build'",
			    folder.data, folder.data);
}

struct error *run_find_agent(struct strbuf *ret)
{
	struct error *error = find_agent(ret);

	if (!error && strpbrk(ret->data, " :$"))
		error = error_create(
			ERROR_UNSUPPORTED,
			"'%s' cannot be preloaded, because its path contains a blank, ':' or '$'; install kaa elsewhere",
			ret->data);
	return error;
}

/* --- the program --- */

static const char *refusal(enum agent_program_kind kind)
{
	switch (kind) {
	case AGENT_PROGRAM_UNREADABLE:
		return "cannot be read, so kaa cannot tell whether it is a Python";
	case AGENT_PROGRAM_NO_ELF:
		return "is neither a program nor a script that begins with '#!'";
	case AGENT_PROGRAM_FOREIGN:
		return "is built for another processor architecture than kaa";
	case AGENT_PROGRAM_STATIC:
		return "is linked statically, so the agent cannot be loaded into it";
	case AGENT_PROGRAM_OTHER_LIBC:
		return "uses another C library than kaa's agent";
	case AGENT_PROGRAM_PRIVILEGED:
		return "changes its privileges (setuid, setgid or file capabilities), so the agent cannot be loaded into it; put kaa after it, as in 'sudo kaa run python3 ...'";
	case AGENT_PROGRAM_SANITIZER:
		return "is built with a sanitizer, which must be loaded before all other libraries";
	default:
		return "is not a Python, nor a shell or launcher known to start one; name the interpreter itself, as in 'kaa run python3 ...'";
	}
}

static struct error *check_program(const char *name, const char *path)
{
	struct agent_program program;

	agent_program_identify(AT_FDCWD, path, &program);
	if (agent_program_takes_agent(&program))
		return NULL;
	if (*program.interpreter)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is a script of '%s', which %s", name,
				    program.interpreter, refusal(program.kind));
	return error_create(ERROR_UNSUPPORTED, "'%s' %s", name,
			    refusal(program.kind));
}

/* --- what it is given --- */

static struct error *add(struct hand_on *hand_on, const char *name,
			 const char *value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "%s=%s", name, value);
	if (text.failed)
		return error_no_memory();
	if (!hand_on_add(hand_on, text.data))
		return error_create(ERROR_LIMIT, "'%s' is too long", value);
	return NULL;
}

/*
 * Which Python it will be is only known there: a shim of pyenv's becomes it. So the
 * agent says it, in this very process.
 */
static struct error *add_pid(struct hand_on *hand_on)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return add(hand_on, "KAA_SAY_FRAME_POINTERS", pid);
}

static bool says_frame_pointers(const struct run_settings *s)
{
	return !s->quiet && strcmp(s->backend, "perf") == 0 &&
	       run_profiler_follows_frame_pointers();
}

static struct error *add_dir(struct hand_on *hand_on, const char *dir)
{
	char path[PATH_MAX];

	if (!realpath(dir, path))
		return error_os(errno, dir, "cannot be used for files");
	if (access(path, W_OK | X_OK))
		return error_os(errno, path, "cannot be used for files");
	return add(hand_on, "KAA_TRAMPOLINE_DIR", path);
}

/*
 * PYTHONPERFSUPPORT is not among them: -E and -I would ignore it, and programs see
 * it. The agent calls on the interpreter's own support.
 */
static struct error *add_switches(struct hand_on *hand_on,
				  const struct run_settings *s)
{
	struct error *error = add(hand_on, "KAA_TRAMPOLINE_BACKEND", s->backend);

	/* The interpreter's own support knows neither folder nor end. */
	if (!error && (s->always || s->dir || !s->keep))
		error = add(hand_on, "KAA_TRAMPOLINE", "always");
	if (!error && !s->keep)
		error = add(hand_on, "KAA_TRAMPOLINE_KEEP", "0");
	if (!error && s->dir)
		error = add_dir(hand_on, s->dir);
	if (!error && says_frame_pointers(s))
		error = add_pid(hand_on);
	return error;
}

/* --- becoming it --- */

/*
 * A command that the agent cannot be loaded into, or a kaa without agent: Pythons
 * with support of their own may be started all the same.
 */
static int ask_own_support(void)
{
	return setenv("PYTHONPERFSUPPORT", "1", 1) ? errno : 0;
}

static struct error *become(const char *path, char *const words[],
			    const struct hand_on *hand_on, int *exit_code)
{
	struct hand_on_environment environment;
	int errnum;

	hand_on_environment_init(&environment, hand_on, environ);
	if (environment.list == environ)
		return error_create(
			ERROR_LIMIT,
			"cannot add the agent to LD_PRELOAD, which is too long or already contains it");
	execve(path, words, environment.list);
	errnum = errno;
	hand_on_environment_deinit(&environment);
	*exit_code = errnum == ENOENT ? 127 : 126;
	return error_os(errnum, path, "cannot run the command");
}

static struct error *run_program(const struct run_settings *s,
				 const struct arguments *args, const char *path,
				 struct hand_on *hand_on, int *exit_code)
{
	struct error *error = check_program(args->values[0], path);

	if (!error)
		error = add_switches(hand_on, s);
	if (error)
		return error;
	if (s->verbose)
		message_note("'%s' with %s, '%s'", path, s->backend,
			     hand_on->library);
	return become(path, args->values, hand_on, exit_code);
}

int run_with_trampolines(char *const argv[])
{
	const struct run_settings settings = { .backend = "perf",
					       .keep = true,
					       .quiet = true };
	_cleanup_strbuf_ struct strbuf agent = STRBUF_INIT;
	struct arguments args = { .values = (char **)argv };
	struct hand_on hand_on = {};
	_cleanup_free_ char *path = NULL;
	int exit_code = 0;
	struct error *error = run_find_agent(&agent);

	while (argv[args.count])
		args.count++;
	if (!error)
		error = launch_find(argv[0], NULL, &path);
	if (!error && !hand_on_set_library(&hand_on, agent.data))
		error = error_no_memory();
	if (!error)
		error = run_program(&settings, &args, path, &hand_on,
				    &exit_code);
	/* Whoever runs it as it is finds what is wrong with it. */
	error_destroy(error);
	return ask_own_support();
}

/* From the words that were found to the program itself. */
static struct error *run_found(struct run_settings *s,
			       const struct typed_command *command,
			       int *exit_code)
{
	const struct arguments words = { .count = command->words.count,
					 .values = command->words.data };
	_cleanup_strbuf_ struct strbuf agent = STRBUF_INIT;
	struct hand_on hand_on = {};
	struct error *error = run_find_agent(&agent);

	if (error)
		return error;
	if (!hand_on_set_library(&hand_on, agent.data))
		return error_create(ERROR_LIMIT, "the path '%s' is too long",
				    agent.data);
	return run_program(s, &words, command->file, &hand_on, exit_code);
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	struct run_settings *s = settings;
	struct typed_command command = {};
	struct error *error;

	if (!args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "nothing to run: name a command, as in 'kaa run python3 script.py'");
	if (!s->backend)
		s->backend = "perf";
	error = typed_command_find(args, &(struct invoker){}, NULL, &command);
	if (error) {
		*exit_code = typed_command_exit_code(error);
		return error;
	}
	error = run_found(s, &command, exit_code);
	typed_command_deinit(&command);
	return error;
}

const struct command command_run = {
	.name = "run",
	.summary = "run a program and give its Python functions names in perf",
	.usage =
		(const char *const[]){
			"[<options>] [--] <command> [<arguments>]",
			NULL,
		},
	.description =
		"Runs the command in place of kaa, with the same process id, and tells profilers the names of its Python functions. "
		"All tools that read perf maps, jitdumps or symbol tables, such as perf and samply, then show py::<function>:<file>. "
		"It needs no root and works for CPython 3.6 to 3.15.\n"
		"\n"
		"The command is a Python, a Python script (it need not be executable), or a shell or launcher such as env, "
		"timeout, make or a script of pyenv. "
		"All Pythons that it starts are covered, too. "
		"Other programs run as usual, and no program sees a changed environment. "
		"CPython 3.12 and later use their own support.\n"
		"\n"
		"Each Python call takes more time and more C stack.",
	.options = run_options,
	.options_flags = OPTIONS_STOP_AT_NON_OPTION,
	.examples =
		(const char *const[]){
			"perf record --call-graph dwarf,32768 kaa run --perf-elf python3 app.py",
			"samply record kaa run python3 app.py",
			"perf record -F 999 -g kaa run python3 app.py\twith a Python that has frame pointers",
			NULL,
		},
	.files = (const char *const[]){ "/tmp/perf-<pid>.map\tA perf map: the addresses of Python functions (--perf).",
		"/tmp/jit-<pid>.dump\tA jitdump (--perf-jit).", NULL },
	.environment = (const char *const[]){ MANUAL_PATH, NULL },
	.settings_size = sizeof(struct run_settings),
	.set_defaults = run_defaults,
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/doctor_fact.h"
#include "cmd/doctor_fix.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "python/look/shim.h"
#include "sys/capture.h"
#include "sys/invoker_path.h"
#include "sys/privilege.h"

/* A Python or a process that was named is not there, or is no Python. */
enum { EXIT_CODE_NOT_EXAMINED = 2 };

struct doctor_settings {
	struct option_list pids;
	/* NULL, or "show" or "run". */
	const char *fix;
	const char *group;
};

static struct error *parse_fix(void *arg, const struct option *option,
			       const char *text, bool negated)
{
	struct doctor_settings *settings = arg;

	(void)option;
	(void)negated;
	if (strcmp(text, "show") != 0 && strcmp(text, "run") != 0)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is neither show nor run", text);
	settings->fix = text;
	return NULL;
}

static const struct option doctor_options[] = {
	OPT_LIST('p', "pid", struct doctor_settings, pids, "<pid>",
		 "examine a running Python; nothing is run in it"),
	OPT_CALL(0, "fix", parse_fix, "show|run",
		 "print the commands that make root unnecessary, what they allow and how to undo them (show, default); run them, too (run)",
		 .flags = OPTION_ARG_STUCK | OPTION_NO_NEGATE,
		 .default_argument = "show"),
	OPT_STRING(0, "group", struct doctor_settings, group, "<group>",
		   "limit it to the members of this group; needs --fix"),
	OPT_END(),
};

static bool examine_program(const struct doctor *doctor, const char *name)
{
	struct python_facts facts = {};
	struct error *error = python_facts_of_program(name, doctor->path,
						      &doctor->invoker, &facts);

	if (error)
		doctor_python_failed(name, error);
	else
		doctor_python(doctor, name, &facts);
	error_destroy(error);
	python_facts_deinit(&facts);
	return !error;
}

/* A shim whose Python is not activated fails: then those that it stands for. */
static bool examine_behind(const struct doctor *doctor, const char *name)
{
	_cleanup_(python_list_deinit) struct python_list programs = {};
	_cleanup_error_ struct error *error = NULL;
	_cleanup_free_ char *file = NULL;
	bool found = false;

	error = capture_which(doctor->path, name, &file);
	if (error)
		return false;
	python_shim_programs(file, &programs);
	vec_for_each(program, &programs)
		found |= examine_program(doctor, *program);
	return found;
}

static bool examine_named(const struct doctor *doctor, const char *name)
{
	return examine_program(doctor, name) || examine_behind(doctor, name);
}

/*
 * A program of the user is opened, run and its file parsed as the user: under
 * sudo in a child that gives root up.
 */
static bool examine_as_user(const struct doctor *doctor, const char *name)
{
	pid_t pid;
	int status;

	if (!doctor->invoker.present)
		return examine_named(doctor, name);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct doctor child = *doctor;

		if (privilege_become(&child.invoker) < 0 ||
		    invoker_set_environment(&child.invoker, child.path) < 0)
			_exit(1);
		child.invoker = (struct invoker){};
		status = examine_named(&child, name) ?
				 0 :
				 EXIT_CODE_NOT_EXAMINED;
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) &&
	     WEXITSTATUS(status) != EXIT_CODE_NOT_EXAMINED)) {
		doctor_fact(MARK_WARN, "'%s' could not be examined as user %s",
			    name, doctor->invoker.user);
		return false;
	}
	return !WEXITSTATUS(status);
}

static bool examine_process(const struct doctor *doctor, pid_t pid)
{
	struct python_facts facts = {};
	struct error *error = python_facts_of_process("", pid, &facts);
	char subject[32];

	snprintf(subject, sizeof(subject), "process %d", (int)pid);
	if (error)
		doctor_python_failed(subject, error);
	else
		doctor_python(doctor, subject, &facts);
	error_destroy(error);
	python_facts_deinit(&facts);
	return !error;
}

static struct error *check_pids(const struct option_list *pids)
{
	vec_for_each(text, pids) {
		uint64_t pid;
		struct error *error = option_parse_u64(*text, &pid);

		if (error)
			return error;
		if (pid == 0 || pid > INT32_MAX)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "'%s' is not a process id", *text);
	}
	return NULL;
}

/* Of what is said further down what a reader came for, if it is not there. */
static void tell_missing(const struct doctor *doctor,
			 const struct arguments *args)
{
	for (size_t i = 0; i < args->count; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		_cleanup_free_ char *file = NULL;
		struct error *error =
			capture_which(doctor->path, args->values[i], &file);

		if (error && error->code == ERROR_NOT_FOUND) {
			error_format(error, &text);
			doctor_verdict(text.data);
		}
		error_destroy(error);
	}
}

/* Could all that were named be examined? That there is no python3 is no mistake. */
static bool examine_all(const struct doctor *doctor,
			const struct option_list *pids,
			const struct arguments *args)
{
	bool all = true;

	doctor_ready(doctor);
	tell_missing(doctor, args);
	doctor_machine(doctor);
	doctor_tools(doctor);
	for (size_t i = 0; i < args->count; i++)
		all &= examine_as_user(doctor, args->values[i]);
	vec_for_each(text, pids) {
		uint64_t pid = 0;

		error_destroy(option_parse_u64(*text, &pid));
		all &= examine_process(doctor, (pid_t)pid);
	}
	if (args->count == 0 && pids->count == 0)
		examine_as_user(doctor, "python3");
	return all;
}

static void doctor_deinit(struct doctor *doctor)
{
	invoker_deinit(&doctor->invoker);
	free(doctor->path);
}

static struct error *fix(const struct doctor *doctor,
			 const struct doctor_settings *settings)
{
	_cleanup_(fix_deinit) struct fix plan = {};
	struct error *error = fix_plan(doctor, settings->group, &plan);

	if (error)
		return error;
	if (strcmp(settings->fix, "run") != 0) {
		fix_print(&plan);
		return NULL;
	}
	error = fix_may_run(&plan);
	if (error)
		return error;
	if (plan.kind == FIX_DONE || plan.kind == FIX_NOTHING) {
		fix_print(&plan);
		return fix_run(&plan);
	}
	error = fix_run(&plan);
	fix_print_ran(&plan);
	return error;
}

static struct error *check_words(const struct doctor_settings *settings,
				 const struct arguments *args)
{
	if (settings->group && !settings->fix)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--group needs --fix");
	if (settings->fix && (args->count || settings->pids.count))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--fix is about the file of kaa; name no Python with it");
	return check_pids(&settings->pids);
}

static struct error *run(void *data, const struct arguments *args,
			 int *exit_code)
{
	const struct doctor_settings *settings = data;
	_cleanup_(doctor_deinit) struct doctor doctor = {};
	struct error *error = check_words(settings, args);

	if (error)
		return error;
	error = invoker_detect(&doctor.invoker);
	if (error)
		return error;
	error = invoker_path(&doctor.invoker, &doctor.path);
	if (error)
		return error;
	machine_probe("", &doctor.machine);
	if (settings->fix)
		return fix(&doctor, settings);
	printf("kaa %s\n", KAA_VERSION);
	if (!examine_all(&doctor, &settings->pids, args))
		*exit_code = EXIT_CODE_NOT_EXAMINED;
	return NULL;
}

static void deinit(void *data)
{
	struct doctor_settings *settings = data;

	vec_deinit(&settings->pids);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "show what kaa can do on this machine and with your Python",
	.usage = (const char *const[]){ "[<python>...]", "-p <pid>",
					"--fix[=run] [--group <group>]", NULL },
	.description =
		"Prints first what kaa record shows here, and then one fact a line, marked ok, no, warn or - (for information). "
		"The first section is about the machine: perf events, capabilities and BPF. "
		"The second says how kaa record can get Python frames. "
		"Then follow the perf and samply on the PATH, and each Python that you name. "
		"A Python is named by a path or by a name on the PATH; the default is python3.\n"
		"\n"
		"kaa runs a named Python to ask for its build settings. "
		"Of a shim (of pyenv, asdf or mise) it shows the Python that the shim starts, "
		"or, if the shim starts none, the Pythons that it stands for. "
		"It runs nothing in a process given with -p. "
		"If one of those that are named cannot be examined, the exit code is 2.\n"
		"\n"
		"--fix is about recording without root. "
		"It prints the commands that allow it, what else they allow, and how to undo them. "
		"--fix=run, as root, also runs these commands and tries whether they helped. "
		"It runs no others.",
	.options = doctor_options,
	.examples =
		(const char *const[]){
			"kaa doctor",
			"kaa doctor python3.12 ./venv/bin/python\tcompare two builds",
			"sudo kaa doctor -p 4711\texamine a running service as root",
			"kaa doctor --fix --group profilers\tprint how a group can record without root",
			NULL },
	.environment = (const char *const[]){ MANUAL_PATH,
		MANUAL_SUDO, NULL },
	.settings_size = sizeof(struct doctor_settings),
	.run = run,
	.deinit = deinit,
};

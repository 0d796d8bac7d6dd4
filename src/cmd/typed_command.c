// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/typed_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/program.h"
#include "cmd/message.h"
#include "collect/launch.h"

void typed_command_deinit(struct typed_command *command)
{
	vec_deinit(&command->words);
	free(command->file);
	free(command->shell_file);
	free(command->interpreter);
	free(command->argument);
	*command = (struct typed_command){};
}

int typed_command_exit_code(const struct error *error)
{
	return error->code == ERROR_NOT_FOUND ? 127 : 126;
}

/* --- scripts --- */

static bool is_named_py(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".py");
}

/* A file that cannot be executed, as Python would see it. */
struct script {
	bool has_line;
	struct agent_program line;
	/* The Python that its first line names, or "". */
	char python[AGENT_PROGRAM_LINE_MAX];
};

/* "python3" of "/usr/bin/env -S A=b python3 -u": its word, and how long it is. */
static const char *word_of_env(const char *words, size_t *len)
{
	*len = strcspn(words, " \t");
	while (*len && (*words == '-' || memchr(words, '=', *len))) {
		words += *len + strspn(words + *len, " \t");
		*len = strcspn(words, " \t");
	}
	return words;
}

static void find_python_of_line(struct script *script)
{
	const char *word = script->line.interpreter;
	size_t len = strlen(word);

	if (!strcmp(agent_program_name(word), "env"))
		word = word_of_env(script->line.argument, &len);
	memcpy(script->python, word, len);
	script->python[len] = '\0';
	if (!agent_program_is_python_name(agent_program_name(script->python)))
		*script->python = '\0';
}

/* False: it is none, or nobody can tell. */
static bool is_python_script(const char *name, struct script *script)
{
	script->python[0] = '\0';
	script->has_line = agent_program_read_line(name, &script->line);
	if (!script->has_line)
		return script->line.kind == AGENT_PROGRAM_NO_ELF &&
		       is_named_py(name);
	find_python_of_line(script);
	return *script->python || is_named_py(name);
}

static struct error *take_line(struct typed_command *command, const char *name,
			       const struct script *script, const char *path)
{
	const struct agent_program *line = &script->line;
	_cleanup_free_ char *file = NULL;
	struct error *error = launch_find(script->python, path, &file);

	if (!error)
		error = launch_find(line->interpreter, path, &command->file);
	if (error) {
		error_destroy(error);
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' asks in its first line for '%s', which cannot be run: type 'python3 %s' to choose another Python",
			name, script->python, name);
	}
	command->interpreter = strdup(line->interpreter);
	command->argument = *line->argument ? strdup(line->argument) : NULL;
	if (!command->interpreter || (*line->argument && !command->argument))
		return error_no_memory();
	return NULL;
}

static struct error *take_python(struct typed_command *command,
				 const char *name, const char *path)
{
	const char *python = "python3";
	struct error *error = launch_find(python, path, &command->file);

	if (error) {
		error_destroy(error);
		python = "python";
		error = launch_find(python, path, &command->file);
	}
	if (error) {
		error_destroy(error);
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' is a Python script, but there is no python3 on the PATH: put the path of a Python in front of it",
			name);
	}
	command->interpreter = strdup(python);
	return command->interpreter ? NULL : error_no_memory();
}

/*
 * name is no command, and `why` says why not; that is given back if it is no
 * Python script either. Nothing that might be something else is run.
 */
static struct error *take_script(struct typed_command *command,
				 const char *name, const char *path,
				 struct error *why)
{
	bool missing = why->code == ERROR_NOT_FOUND;
	struct script script;

	if (*name == '-' || (!missing && why->errnum != EACCES) ||
	    !is_python_script(name, &script))
		return why;
	error_destroy(why);
	if (!script.has_line)
		return take_python(command, name, path);
	if (*script.python)
		return take_line(command, name, &script, path);
	return error_create(
		missing ? ERROR_NOT_FOUND : ERROR_PERMISSION,
		"'%s' is no command by itself, and its first line names '%s', which is no Python: type 'python3 %s' to run it with Python",
		name, script.line.interpreter, name);
}

static void say_script(const struct typed_command *command, const char *name)
{
	message_note("'%s' is no command by itself: running '%s%s%s %s'", name,
		     command->interpreter, command->argument ? " " : "",
		     command->argument ? command->argument : "", name);
}

/* --- the command --- */

static struct error *take_words(struct typed_command *command,
				const struct arguments *args)
{
	bool ok = true;

	if (command->interpreter)
		ok = vec_push(&command->words, command->interpreter);
	if (ok && command->argument)
		ok = vec_push(&command->words, command->argument);
	for (size_t i = 0; ok && i < args->count; i++)
		ok = vec_push(&command->words, args->values[i]);
	if (!ok || !vec_reserve(&command->words, 1))
		return error_no_memory();
	command->words.data[command->words.count] = NULL;
	return NULL;
}

/* One entry of one folder; a link, as those of virtual environments, is itself. */
static bool are_one(const char *a, const char *b)
{
	struct stat first, second;

	return !lstat(a, &first) && !lstat(b, &second) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static void find_in_shell(struct typed_command *command,
			  const struct invoker *invoker, const char *name)
{
	_cleanup_free_ char *file = NULL;
	struct error *error;

	if (!invoker->typed.shell_path || strchr(name, '/'))
		return;
	error = launch_find(name, invoker->typed.shell_path, &file);
	if (!error && !are_one(file, command->file))
		command->shell_file = take_ptr(file);
	error_destroy(error);
}

static struct error *find(struct typed_command *command,
			  const struct arguments *args,
			  const struct invoker *invoker, const char *path)
{
	struct error *error = launch_find(args->values[0], path,
					  &command->file);

	if (error)
		error = take_script(command, args->values[0], path, error);
	if (!error)
		error = take_words(command, args);
	if (!error)
		find_in_shell(command, invoker, command->words.data[0]);
	return error;
}

static struct error *find_as_user(struct typed_command *command,
				  const struct arguments *args,
				  const struct invoker *invoker,
				  const char *path)
{
	struct invoker_rights rights;
	int err = invoker_enter_files(invoker, &rights);
	struct error *error = NULL;

	if (!err) {
		error = find(command, args, invoker, path);
		err = invoker_leave_files(invoker, &rights);
	}
	if (err && !error)
		error = error_os(-err, args->values[0],
				 "cannot look for the command as user %s",
				 invoker->user);
	return error;
}

struct error *typed_command_find(const struct arguments *args,
				 const struct invoker *invoker,
				 const char *path, struct typed_command *ret)
{
	struct typed_command command = {};
	struct error *error = find_as_user(&command, args, invoker, path);

	if (error) {
		typed_command_deinit(&command);
		return error;
	}
	if (command.interpreter)
		say_script(&command, args->values[0]);
	*ret = command;
	return NULL;
}

void typed_command_tell(const struct typed_command *command,
			const struct invoker *invoker)
{
	const char *name = command->words.data[0];

	if (command->shell_file)
		message_note("running '%s'; in the shell before %s '%s' is '%s'",
			     command->file, invoker->tool, name,
			     command->shell_file);
	else if (invoker->present && !strchr(name, '/') &&
		 invoker->typed.where == TYPED_UNKNOWN)
		message_note("running '%s': the PATH of the shell before %s is not known; name another program by its path",
			     command->file, invoker->tool);
}

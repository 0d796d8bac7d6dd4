// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/typed_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/program.h"
#include "base/python_command.h"
#include "cmd/framework/message.h"
#include "collect/launch.h"
#include "sys/privilege.h"
#include "view/shell_word.h"

void typed_command_deinit(struct typed_command *command)
{
	vec_deinit(&command->words);
	free(command->file);
	free(command->program);
	free(command->searched.name);
	free(command->searched.file);
	free(command->searched.shell_file);
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
	/* What that runs: the interpreter, or the first word that env is to run. */
	char program[AGENT_PROGRAM_LINE_MAX];
	bool is_python;
	/* Cut from the program's name, which it is a part of for the kernel. */
	bool carriage_return;
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

static void find_program_of_line(struct script *script)
{
	const char *word = script->line.interpreter;
	size_t len = strlen(word);

	if (!strcmp(agent_program_name(word), "env"))
		word = word_of_env(script->line.argument, &len);
	script->carriage_return = len && word[len - 1] == '\r';
	len -= script->carriage_return;
	memcpy(script->program, word, len);
	script->program[len] = '\0';
	script->is_python = python_is_name(
		agent_program_name(script->program));
}

/* False: the file has no first line that says what runs it. */
static bool read_script(const char *name, struct script *script)
{
	*script = (struct script){};
	script->has_line = agent_program_read_line(name, &script->line);
	if (script->has_line)
		find_program_of_line(script);
	return script->has_line;
}

/* False: it is none, or nobody can tell. */
static bool is_python_script(const char *name, struct script *script)
{
	if (!read_script(name, script))
		return script->line.kind == AGENT_PROGRAM_NO_ELF &&
		       is_named_py(name);
	return script->is_python || is_named_py(name);
}

static struct error *take_line(struct typed_command *command, const char *name,
			       const struct script *script, const char *path)
{
	const struct agent_program *line = &script->line;
	_cleanup_free_ char *file = NULL;
	struct error *error = launch_find(script->program, path, &file);

	if (!error)
		error = launch_find(line->interpreter, path, &command->file);
	if (error) {
		error_destroy(error);
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' asks in its first line for '%s', which cannot be run: type 'python3 %s' to choose another Python",
			name, script->program, name);
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

static struct error *refuse_line(const struct typed_command *command,
				 const char *name, const struct script *script,
				 enum error_code code)
{
	const char *program = *script->program ? script->program :
						 script->line.interpreter;

	return error_create(
		code,
		"'%s' %s, and its first line asks for '%s'%s: type 'python3 %s' to run it with Python",
		name, command->why, program,
		script->is_python ? " followed by a carriage return" :
				    ", which is not a Python",
		name);
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
	/* What may not be run on the PATH may be another file of that name. */
	command->why = faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) && !missing ?
			       "is not executable" :
			       "is not on the PATH";
	if (!script.has_line)
		return take_python(command, name, path);
	if (script.is_python && !script.carriage_return)
		return take_line(command, name, &script, path);
	return refuse_line(command, name, &script,
			   missing ? ERROR_NOT_FOUND : ERROR_PERMISSION);
}

/* The kernel cannot run such a file, and execvp() would have a shell read it. */
static bool is_python_for_shells(const char *name)
{
	struct script script;

	return strchr(name, '/') && is_named_py(name) &&
	       !read_script(name, &script) &&
	       script.line.kind == AGENT_PROGRAM_NO_ELF;
}

static struct error *take_unmarked(struct typed_command *command,
				   const char *name, const char *path)
{
	free(command->file);
	command->file = NULL;
	command->why = "has no first line (#!)";
	return take_python(command, name, path);
}

static void say_script(const struct typed_command *command,
		       const struct arguments *args)
{
	/* Bytes of a command that are worth a look. */
	enum { SAID_MAX = 120 };
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	for (size_t i = 0; i < args->count && words.len <= SAID_MAX; i++) {
		strbuf_putc(&words, ' ');
		shell_word(args->values[i], &words);
	}
	if (words.len > SAID_MAX) {
		strbuf_truncate(&words, SAID_MAX);
		strbuf_puts(&words, "...");
	}
	message_note("running '%s%s%s%s', since '%s' %s", command->interpreter,
		     command->argument ? " " : "",
		     command->argument ? command->argument : "", words.data,
		     args->values[0], command->why);
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

/* The name stands for the file; for what does it in the shell before sudo? */
static struct error *compare_with_shell(struct typed_command *command,
					const struct invoker *invoker,
					const char *name, const char *file)
{
	struct typed_search searched = { strdup(name), strdup(file), NULL };
	_cleanup_free_ char *other = NULL;
	struct error *error = NULL;

	free(command->searched.name);
	free(command->searched.file);
	command->searched = searched;
	if (!searched.name || !searched.file)
		return error_no_memory();
	if (!invoker->typed.shell_path)
		return NULL;
	error = launch_find(name, invoker->typed.shell_path, &other);
	if (!error && !are_one(other, file))
		command->searched.shell_file = take_ptr(other);
	error_destroy(error);
	return NULL;
}

/* The file that may have a first line which says what runs it. */
static const char *script_of(const struct typed_command *command,
			     const char *name)
{
	return command->interpreter ? name : command->file;
}

/* The Python that env finds for the first line of a script. */
static struct error *compare_python_of_line(struct typed_command *command,
					    const struct invoker *invoker,
					    const char *name)
{
	struct script script;

	/* What is not found is env's to say. */
	if (!read_script(script_of(command, name), &script) ||
	    !script.is_python || script.carriage_return ||
	    strchr(script.program, '/') || !command->program)
		return NULL;
	return compare_with_shell(command, invoker, script.program,
				  command->program);
}

static struct error *compare(struct typed_command *command,
			     const struct invoker *invoker, const char *name)
{
	const char *first = command->words.data[0];
	struct error *error = NULL;

	if (!invoker->tool)
		return NULL;
	if (!strchr(first, '/'))
		error = compare_with_shell(command, invoker, first,
					   command->file);
	if (error || command->searched.shell_file ||
	    (command->searched.name && !invoker->typed.shell_path))
		return error;
	return compare_python_of_line(command, invoker, name);
}

static struct error *find_program(struct typed_command *command,
				  const char *name, const char *path)
{
	struct script script;

	if (read_script(script_of(command, name), &script))
		error_destroy(launch_find(script.program, path,
					  &command->program));
	else if (!(command->program = strdup(command->file)))
		return error_no_memory();
	return NULL;
}

/* Debian has python3, and no python unless a package makes it one. */
static struct error *name_python3(const char *name, const char *path,
				  struct error *why)
{
	_cleanup_error_ struct error *none = NULL;
	_cleanup_free_ char *file = NULL;

	if (why->code != ERROR_NOT_FOUND || strcmp(name, "python") != 0)
		return why;
	none = launch_find("python3", path, &file);
	if (none)
		return why;
	error_destroy(why);
	return error_create(ERROR_NOT_FOUND,
			    "'%s': command not found; type 'python3' instead",
			    name);
}

static struct error *find(struct typed_command *command,
			  const struct arguments *args,
			  const struct invoker *invoker, const char *path)
{
	const char *name = args->values[0];
	struct error *error = launch_find(name, path, &command->file);

	if (error)
		error = take_script(command, name, path,
				    name_python3(name, path, error));
	else if (is_python_for_shells(name))
		error = take_unmarked(command, name, path);
	if (!error)
		error = take_words(command, args);
	if (!error)
		error = find_program(command, name, path);
	if (!error)
		error = compare(command, invoker, name);
	return error;
}

static struct error *find_as_user(struct typed_command *command,
				  const struct arguments *args,
				  const struct invoker *invoker,
				  const char *path)
{
	struct privilege_rights rights;
	int err = privilege_enter_files(invoker, &rights);
	struct error *error = NULL;

	if (!err) {
		error = find(command, args, invoker, path);
		err = privilege_leave_files(invoker, &rights);
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
		say_script(&command, args);
	*ret = command;
	return NULL;
}

void typed_command_tell(const struct typed_command *command,
			const struct invoker *invoker)
{
	const struct typed_search *searched = &command->searched;

	if (searched->shell_file)
		message_note("running '%s'; in the shell before %s '%s' is '%s'",
			     searched->file, invoker->tool, searched->name,
			     searched->shell_file);
	else if (invoker->present && searched->name &&
		 invoker->typed.where == TYPED_UNKNOWN)
		message_note("running '%s': the PATH of the shell before %s is not known; name another program by its path",
			     searched->file, invoker->tool);
}

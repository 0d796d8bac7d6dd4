// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/typed_command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/message.h"
#include "collect/launch.h"

void typed_command_deinit(struct typed_command *command)
{
	vec_deinit(&command->words);
	free(command->file);
	free(command->shell_file);
	*command = (struct typed_command){};
}

int typed_command_exit_code(const struct error *error)
{
	return error->code == ERROR_NOT_FOUND ? 127 : 126;
}

/* --- the command --- */

static struct error *take_words(struct typed_command *command,
				const struct arguments *args)
{
	bool ok = true;

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
	int err = invoker_enter_files(invoker);
	struct error *error = NULL;

	if (!err) {
		error = find(command, args, invoker, path);
		err = invoker_leave_files(invoker);
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

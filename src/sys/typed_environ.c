// SPDX-License-Identifier: GPL-2.0-only
#include "sys/typed_environ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path_name.h"
#include "base/strbuf.h"
#include "sys/command_words.h"
#include "sys/proc.h"

enum {
	/* From kaa up to sudo. */
	MAX_ANCESTORS = 16,
	/* Of an environ or a command line: the kernel's own limit is 6 MiB. */
	WORDS_MAX = 8 << 20,
};

void typed_environ_deinit(struct typed_environ *typed)
{
	name_list_deinit(&typed->variables);
	free(typed->shell_path);
	*typed = (struct typed_environ){};
}

/* --- words --- */

static struct error *add_word(struct name_list *list, const char *word)
{
	char *copy = strdup(word);

	if (copy && vec_push(list, copy))
		return NULL;
	free(copy);
	return error_no_memory();
}

/* Appends the words of an environ or cmdline file; none if it is unreadable. */
static struct error *read_words(const char *root, const char *file,
				struct name_list *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = file_read(root, file, WORDS_MAX, &text);

	if (error && error->code != ERROR_NO_MEMORY) {
		error_destroy(error);
		return NULL;
	}
	for (size_t at = 0; !error && at < text.len;) {
		const char *word = text.data + at;

		error = add_word(ret, word);
		at += strlen(word) + 1;
	}
	return error;
}

static struct error *read_words_of(const char *root, pid_t pid,
				   const char *name, struct name_list *ret)
{
	char file[64];

	snprintf(file, sizeof(file), "/proc/%d/%s", (int)pid, name);
	return read_words(root, file, ret);
}

/* Length of the name in "NAME=value", 0 for another word. */
static size_t name_length(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals ? (size_t)(equals - word) : 0;
}

static char **find_variable(const struct name_list *list, const char *name,
			    size_t len)
{
	vec_for_each(word, list)
		if (!strncmp(*word, name, len) && (*word)[len] == '=')
			return word;
	return NULL;
}

const char *typed_environ_get(const struct typed_environ *typed,
			      const char *name)
{
	size_t len = strlen(name);
	char **word = find_variable(&typed->variables, name, len);

	return word ? *word + len + 1 : NULL;
}

/* --- where it was typed --- */

/* sudo says what it ran, and with -i and -s that is a shell; doas does not. */
static bool ran_that(const char *tool, const char *word)
{
	const char *command = getenv("SUDO_COMMAND");
	const char *name = command;
	size_t len = strlen(word);

	if (strcmp(tool, "sudo") != 0 || !command)
		return true;
	/* As it was typed, which may have blanks in it. */
	if (!strncmp(command, word, len) &&
	    (!command[len] || command[len] == ' '))
		return true;
	len = strcspn(command, " ");
	for (const char *p = command; p < command + len; p++)
		if (*p == '/')
			name = p + 1;
	len -= (size_t)(name - command);
	word = path_name(word);
	return strlen(word) == len && !strncmp(word, name, len);
}

/*
 * Are kaa's words the last of sudo's? *before: how many are before them. The
 * first may be a path in one and a name in the other.
 */
static bool ends_with(const struct name_list *sudo, const struct name_list *own,
		      size_t *before)
{
	char **tail;

	if (!own->count || sudo->count <= own->count)
		return false;
	*before = sudo->count - own->count;
	tail = sudo->data + *before;
	if (strcmp(path_name(tail[0]),
		   path_name(own->data[0])) != 0)
		return false;
	for (size_t i = 1; i < own->count; i++)
		if (strcmp(tail[i], own->data[i]) != 0)
			return false;
	return true;
}

static bool typed_before(const char *tool, const struct name_list *sudo,
			 const struct name_list *own, size_t *before)
{
	size_t first;

	return ends_with(sudo, own, before) &&
	       command_words_only_launch(tool, sudo, *before, &first) &&
	       ran_that(tool, sudo->data[first]);
}

/* --- the variables --- */

static struct error *set_variable(struct name_list *list, const char *word)
{
	char **old = find_variable(list, word, name_length(word));
	char *copy;

	if (!old)
		return add_word(list, word);
	copy = strdup(word);
	if (!copy)
		return error_no_memory();
	free(*old);
	*old = copy;
	return NULL;
}

/* NAME=value, of sudo's words, that did reach kaa. */
static bool is_in_force(const char *word)
{
	_cleanup_free_ char *name = strndup(word, name_length(word));
	const char *own = name && *name ? getenv(name) : NULL;

	return own && !strcmp(own, word + strlen(name) + 1);
}

static struct error *set_assigned(struct typed_environ *typed,
				  const struct name_list *words, size_t before)
{
	struct error *error = NULL;

	for (size_t i = 1; !error && i < before; i++)
		if (is_in_force(words->data[i]))
			error = set_variable(&typed->variables,
					     words->data[i]);
	if (!error && !vec_reserve(&typed->variables, 1))
		error = error_no_memory();
	if (!error)
		typed->variables.data[typed->variables.count] = NULL;
	return error;
}

static struct error *keep_path(struct typed_environ *typed)
{
	const char *path = typed_environ_get(typed, "PATH");

	if (!path)
		return NULL;
	typed->shell_path = strdup(path);
	return typed->shell_path ? NULL : error_no_memory();
}

static struct error *read_from(const char *root, const char *tool, pid_t sudo,
			       struct typed_environ *typed)
{
	struct name_list words = {}, own = {};
	size_t before = 0;
	struct error *error;

	error = read_words_of(root, sudo, "environ", &typed->variables);
	if (!error)
		error = read_words_of(root, sudo, "cmdline", &words);
	if (!error)
		error = read_words(root, "/proc/self/cmdline", &own);
	if (!error)
		error = keep_path(typed);
	if (!error && !typed_before(tool, &words, &own, &before)) {
		name_list_deinit(&typed->variables);
		typed->where = TYPED_BEHIND;
	} else if (!error && typed->variables.count) {
		error = set_assigned(typed, &words, before);
		typed->where = TYPED_BEFORE;
	}
	name_list_deinit(&words);
	name_list_deinit(&own);
	return error;
}

/* --- the process --- */

/*
 * sudo since 1.9.4 keeps the user's id as its real one; earlier ones are root
 * altogether. The nearest process of sudo is the one that set SUDO_UID, unless
 * its id is a third one.
 */
static bool may_be_of(uid_t uid, const struct proc_status *status)
{
	return status->uid == uid || status->uid == 0;
}

/*
 * The nearest process of sudo above, 0 if there is none. On a terminal there
 * are two, with one environ.
 */
static pid_t find_tool(const char *root, const char *tool, uid_t uid)
{
	struct proc_status status;
	pid_t pid = getppid();

	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		struct error *error = proc_status_read(root, pid, &status);

		if (error) {
			error_destroy(error);
			return 0;
		}
		if (!strcmp(status.comm, tool) && may_be_of(uid, &status))
			return pid;
		pid = status.ppid;
	}
	return 0;
}

/*
 * Without a sudo above: a shell of root, as in `sudo tmux`? Or was kaa started
 * by the service manager, by sudo in another PID namespace, or by a sudo that
 * became kaa?
 */
static enum typed_where where_without_tool(const char *root, uid_t uid)
{
	struct proc_status status;
	struct error *error;

	if (getppid() <= 1)
		return TYPED_UNKNOWN;
	error = proc_status_read(root, getppid(), &status);
	if (error) {
		error_destroy(error);
		return TYPED_UNKNOWN;
	}
	return status.uid == uid ? TYPED_UNKNOWN : TYPED_BEHIND;
}

struct error *typed_environ_read(const char *root, const char *tool, uid_t uid,
				 struct typed_environ *ret)
{
	struct typed_environ typed = {};
	pid_t pid = find_tool(root, tool, uid);
	struct error *error = NULL;

	if (pid)
		error = read_from(root, tool, pid, &typed);
	else
		typed.where = where_without_tool(root, uid);
	if (error) {
		typed_environ_deinit(&typed);
		return error;
	}
	*ret = typed;
	return NULL;
}

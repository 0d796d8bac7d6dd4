// SPDX-License-Identifier: GPL-2.0-only
#include "view/own_command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/search_path.h"
#include "view/shell_word.h"

static const char sudo[] = "sudo ";

/*
 * The kernel lets it become root. Whether its rules let this user only sudo can
 * tell, who notes down each attempt.
 */
static bool gives_root(const char *file)
{
	struct statvfs fs;
	struct stat st;

	return !access(file, X_OK) && !stat(file, &st) && !st.st_uid &&
	       st.st_mode & S_ISUID && !statvfs(file, &fs) &&
	       !(fs.f_flag & ST_NOSUID) &&
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* As a shell looks for it. */
static bool find_program(const char *name, char file[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (path = path ? path : SEARCH_PATH_DEFAULT;
	     search_path_next(&path, name, file, PATH_MAX);)
		if (!access(file, X_OK))
			return true;
	return false;
}

static bool has_sudo(void)
{
	char file[PATH_MAX];

	return find_program("sudo", file) && gives_root(file);
}

enum own_command_root own_command_root(void)
{
	/* Who has typed sudo or doas is no root yet. */
	if (!geteuid() && !getenv("SUDO_UID") && !getenv("DOAS_USER"))
		return OWN_COMMAND_IS_ROOT;
	return has_sudo() ? OWN_COMMAND_SUDO : OWN_COMMAND_ASKS_ROOT;
}

/* The word sudo at the beginning of a command, behind its quotation mark. */
static const char *put_sudo(struct strbuf *out, const char *text,
			    enum own_command_root root)
{
	if (strncmp(text, sudo, sizeof(sudo) - 1) != 0)
		return text;
	if (root == OWN_COMMAND_SUDO) {
		strbuf_puts(out, sudo);
	} else if (root == OWN_COMMAND_ASKS_ROOT) {
		strbuf_truncate(out, out->len - 1);
		strbuf_puts(out, "as root: '");
	}
	return text + sizeof(sudo) - 1;
}

/* What stands between quoted commands. */
static void put_prose(struct strbuf *out, const char *text, size_t n,
		      enum own_command_root root)
{
	static const char under_sudo[] = "kaa under sudo";
	const size_t length = sizeof(under_sudo) - 1;
	const char *found;

	while (root != OWN_COMMAND_SUDO &&
	       (found = memmem(text, n, under_sudo, length)) != NULL) {
		strbuf_append(out, text, (size_t)(found - text));
		strbuf_puts(out, "kaa as root");
		n -= (size_t)(found - text) + length;
		text = found + length;
	}
	strbuf_append(out, text, n);
}

void own_command_puts_for(struct strbuf *out, const char *text,
			  enum own_command_root root)
{
	static const char name[] = "kaa ";
	const char *quote;

	for (; (quote = strchr(text, '\'')) != NULL;) {
		put_prose(out, text, (size_t)(quote + 1 - text), root);
		text = put_sudo(out, quote + 1, root);
		if (strncmp(text, name, sizeof(name) - 1) != 0)
			continue;
		shell_word(program_invocation_name, out);
		text += sizeof(name) - 2;
	}
	put_prose(out, text, strlen(text), root);
}

void own_command_puts(struct strbuf *out, const char *text)
{
	own_command_puts_for(out, text, own_command_root());
}

/* "kaa", "$(kaa" */
static bool is_own_name(const char *word, size_t n)
{
	return n >= 3 && !memcmp(word + n - 3, "kaa", 3) &&
	       (n == 3 || word[n - 4] == '(');
}

void own_command_example(struct strbuf *out, const char *text, size_t n,
			 enum own_command_root root)
{
	if (root != OWN_COMMAND_SUDO && !strncmp(text, sudo, sizeof(sudo) - 1)) {
		text += sizeof(sudo) - 1;
		n -= sizeof(sudo) - 1;
	}
	while (n) {
		const char *space = memchr(text, ' ', n);
		size_t word = space ? (size_t)(space - text) : n;
		size_t whole = word + (space != NULL);

		if (is_own_name(text, word)) {
			strbuf_append(out, text, word - 3);
			shell_word(program_invocation_name, out);
		} else {
			strbuf_append(out, text, word);
		}
		strbuf_puts(out, space ? " " : "");
		text += whole;
		n -= whole;
	}
}

const char *own_command_list_pythons(void)
{
	char file[PATH_MAX];

	return find_program("pgrep", file) ? "pgrep -af python" :
					     "grep python /proc/*/comm";
}

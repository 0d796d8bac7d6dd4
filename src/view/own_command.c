// SPDX-License-Identifier: GPL-2.0-only
#include "view/own_command.h"

#include <errno.h>
#include <string.h>

#include "view/shell_word.h"

/* Where the next such command has the program's name, or NULL. */
static const char *next_name(const char *text)
{
	static const char sudo[] = "sudo ", name[] = "kaa ";

	while ((text = strchr(text, '\'')) != NULL) {
		text++;
		if (!strncmp(text, sudo, sizeof(sudo) - 1))
			text += sizeof(sudo) - 1;
		if (!strncmp(text, name, sizeof(name) - 1))
			return text;
	}
	return NULL;
}

void own_command_puts(struct strbuf *out, const char *text)
{
	const char *name;

	for (; (name = next_name(text)) != NULL; text = name + 3) {
		strbuf_append(out, text, (size_t)(name - text));
		shell_word(program_invocation_name, out);
	}
	strbuf_puts(out, text);
}

/* "kaa", "$(kaa" */
static bool is_own_name(const char *word, size_t n)
{
	return n >= 3 && !memcmp(word + n - 3, "kaa", 3) &&
	       (n == 3 || word[n - 4] == '(');
}

void own_command_example(struct strbuf *out, const char *text, size_t n)
{
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

// SPDX-License-Identifier: GPL-2.0-only
#include "base/python_command.h"

#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"

bool python_is_name(const char *name)
{
	if (strncmp(name, "python", 6) != 0)
		return false;
	name += 6;
	name += strspn(name, "0123456789.");
	name += strspn(name, "dmtu");
	return !*name || *name == '-';
}

/* Of a word that begins with '-': what the words behind it are. */
enum next {
	/* Other switches, or the script. */
	NEXT_ANY,
	/* The argument of its last letter. */
	NEXT_ARGUMENT,
	NEXT_SCRIPT,
	NEXT_MODULE,
	/* Arguments of what it runs, which is no script. */
	NEXT_NOTHING,
};

/* module: of "-mjson.tool" the module, or else NULL. */
static enum next read_switches(const char *word, const char **module)
{
	/* Of Python 2: -Q. */
	static const char with_argument[] = "WXQ";

	*module = NULL;
	if (!strcmp(word, "--"))
		return NEXT_SCRIPT;
	if (!strcmp(word, "--check-hash-based-pycs"))
		return NEXT_ARGUMENT;
	if (!strncmp(word, "--", 2))
		return NEXT_ANY;
	/* It reads its standard input. */
	if (!word[1])
		return NEXT_NOTHING;
	for (const char *letter = word + 1; *letter; letter++) {
		if (*letter == 'c')
			return NEXT_NOTHING;
		if (*letter == 'm') {
			*module = letter[1] ? letter + 1 : NULL;
			return NEXT_MODULE;
		}
		if (strchr(with_argument, *letter))
			return letter[1] ? NEXT_ANY : NEXT_ARGUMENT;
	}
	return NEXT_ANY;
}

/* The words behind Python's own name. */
static const char *script_of_python(const char *const *words, size_t count)
{
	enum next next = NEXT_ANY;

	for (size_t i = 0; i < count; i++) {
		const char *module;

		if (next == NEXT_ARGUMENT) {
			next = NEXT_ANY;
			continue;
		}
		if (next != NEXT_ANY || words[i][0] != '-')
			return words[i];
		next = read_switches(words[i], &module);
		if (module || next == NEXT_NOTHING)
			return module;
	}
	return NULL;
}

const char *python_script(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (python_is_name(path_name(words[i])))
			return script_of_python(words + i + 1, count - i - 1);
		if (name_ends_with(words[i], ".py"))
			return words[i];
	}
	return NULL;
}

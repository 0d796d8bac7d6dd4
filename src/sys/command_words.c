// SPDX-License-Identifier: GPL-2.0-only
#include "sys/command_words.h"

#include <fnmatch.h>
#include <string.h>

#include "base/path_name.h"

/* A program that becomes another, or waits for it, and changes no variable. */
struct launcher {
	/* A pattern. */
	const char *name;
	/* Options that take their value from the next word: letters, and words. */
	const char *letters;
	const char *options;
	/* Patterns, one of which matches what stands before the command. */
	const char *operand;
};

static const struct launcher tools[] = {
	{ "sudo", "aCcDghpRrTtUu",
	  "--auth-type --close-from --login-class --chdir --group --host --prompt --chroot --role --command-timeout --type --other-user --user",
	  "" },
	{ "doas", "aCu", "", "" },
};

static const struct launcher launchers[] = {
	{ "chrt", "TPD", "--sched-runtime --sched-period --sched-deadline",
	  "[0-9]*" },
	{ "env", "", "", "" },
	{ "ionice", "cn", "--class --classdata", "" },
	{ "nice", "n", "--adjustment", "" },
	{ "nohup", "", "", "" },
	{ "numactl", "iwpPmcNC",
	  "--interleave --weighted-interleave --preferred --preferred-many --membind --cpubind --cpunodebind --physcpubind",
	  "" },
	{ "prlimit", "", "", "" },
	/* python -m kaa */
	{ "python", "", "", "" },
	{ "python3", "", "", "" },
	{ "python3.[0-9]", "", "", "" },
	{ "python3.[0-9][0-9]", "", "", "" },
	{ "setarch", "", "",
	  "linux32 linux64 x86_64 i386 i486 i586 i686 aarch64 armv7l armv8l uname26" },
	{ "setsid", "", "", "" },
	{ "stdbuf", "ioe", "--input --output --error", "" },
	{ "taskset", "", "", "[0-9a-fA-F]*" },
	{ "time", "fo", "--format --output", "" },
	{ "timeout", "ks", "--kill-after --signal", "[0-9.]*" },
};

static const struct launcher *find(const struct launcher *list, size_t count,
				   const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(list[i].name, name, 0))
			return &list[i];
	return NULL;
}

/* Does the word match one of these patterns, which blanks separate? */
static bool matches(const char *patterns, const char *word)
{
	char pattern[32];

	while (*patterns) {
		size_t len = strcspn(patterns, " ");

		if (len < sizeof(pattern)) {
			memcpy(pattern, patterns, len);
			pattern[len] = '\0';
			if (!fnmatch(pattern, word, 0))
				return true;
		}
		patterns += len + strspn(patterns + len, " ");
	}
	return false;
}

/* "-n", "-En" and "--user", but neither "-n5" nor "--user=root". */
static bool takes_next_word(const struct launcher *launcher, const char *option)
{
	size_t flags;

	if (option[1] == '-')
		return matches(launcher->options, option);
	flags = strcspn(option + 1, launcher->letters);
	return option[1 + flags] && !option[2 + flags];
}

static bool takes_assignments(const struct launcher *launcher)
{
	return !strcmp(launcher->name, "sudo") ||
	       !strcmp(launcher->name, "env");
}

/* The word of the program that the one at `at` starts; `end` at most. */
static size_t next_command(const struct launcher *launcher,
			   const struct name_list *words, size_t at, size_t end)
{
	const char *operand = launcher->operand;
	bool options = true;

	for (at++; at < end; at++) {
		const char *word = words->data[at];

		if (options && !strcmp(word, "--")) {
			options = false;
		} else if (options && word[0] == '-') {
			at += takes_next_word(launcher, word);
		} else if (matches(operand, word)) {
			operand = "";
		} else if (!takes_assignments(launcher) || !strchr(word, '=')) {
			break;
		}
	}
	return at;
}

/* With options, env does more than its words NAME=value say. */
static bool changes_more(const struct launcher *launcher, const char *next)
{
	return !strcmp(launcher->name, "env") && next[0] == '-';
}

bool command_words_only_launch(const char *tool, const struct name_list *words,
			       size_t end, size_t *first)
{
	const struct launcher *launcher =
		find(tools, sizeof(tools) / sizeof(*tools), tool);
	size_t at = 0;

	*first = end;
	while (launcher && at < end && end < words->count) {
		if (changes_more(launcher, words->data[at + 1]))
			return false;
		at = next_command(launcher, words, at, end);
		if (*first == end)
			*first = at;
		if (at >= end)
			return at == end;
		launcher = find(launchers,
				sizeof(launchers) / sizeof(*launchers),
				path_name(words->data[at]));
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "profile/metadata.h"

#include <string.h>

void metadata_deinit(struct metadata *metadata)
{
	vec_deinit(&metadata->command);
	vec_deinit(&metadata->pythons);
	vec_deinit(&metadata->order);
	vec_deinit(&metadata->missing);
	arena_deinit(&metadata->memory);
}

struct error *metadata_copy(struct metadata *metadata, const char *s,
			    const char **ret)
{
	const char *copy =
		s ? arena_strndup(&metadata->memory, s, strlen(s)) : NULL;

	if (s && !copy)
		return error_no_memory();
	*ret = copy;
	return NULL;
}

struct error *metadata_add(struct metadata *metadata, enum metadata_what what)
{
	return metadata_add_text(metadata, what, NULL, NULL);
}

struct error *metadata_add_text(struct metadata *metadata,
				enum metadata_what what, const char *text,
				const char *value)
{
	struct metadata_item item = { .what = what };
	struct error *error = metadata_copy(metadata, text, &item.text);

	if (!error)
		error = metadata_copy(metadata, value, &item.value);
	if (error)
		return error;
	return vec_push(&metadata->order, item) ? NULL : error_no_memory();
}

/* Letters of options that take no argument; nor does 'a'. */
static const char flags[] = "BNPRTWbdginqsv";

/* "-p", "-p12", "-ag": letters up to one that takes an argument. */
static enum recording_subject subject_of_letters(const char *word)
{
	if (*word++ != '-')
		return SUBJECT_COMMAND;
	word += strspn(word, flags);
	if (*word == 'a')
		return SUBJECT_MACHINE;
	return *word == 'p' || *word == 't' ? SUBJECT_RUNNING : SUBJECT_COMMAND;
}

static enum recording_subject subject_of_word(const char *word)
{
	if (!strcmp(word, "--all-cpus"))
		return SUBJECT_MACHINE;
	if (!strcmp(word, "--pid") || !strncmp(word, "--pid=", 6) ||
	    !strcmp(word, "--tid") || !strncmp(word, "--tid=", 6))
		return SUBJECT_RUNNING;
	return subject_of_letters(word);
}

/* *at: the word that says so. */
static enum recording_subject find_subject(const struct metadata *metadata,
					   size_t *at)
{
	bool is_value = false;

	for (size_t i = 2; i < metadata->command.count; i++) {
		const char *word = metadata->command.data[i];
		enum recording_subject subject;

		if (!strcmp(word, "--") || (word[0] != '-' && !is_value))
			break;
		subject = subject_of_word(word);
		*at = i;
		if (subject != SUBJECT_COMMAND)
			return subject;
		/* The next word may be this option's. */
		is_value = word[0] == '-' && word[1 + strspn(word + 1, flags)];
	}
	return SUBJECT_COMMAND;
}

enum recording_subject metadata_subject(const struct metadata *metadata)
{
	size_t at;

	return find_subject(metadata, &at);
}

const char *metadata_running(const struct metadata *metadata, char *option)
{
	const char *word, *numbers;
	size_t at;

	if (find_subject(metadata, &at) != SUBJECT_RUNNING)
		return NULL;
	word = metadata->command.data[at] + 1;
	/* "--pid" or "--pid=12"; "-p" or "-gp12". */
	if (*word == '-') {
		*option = *++word;
		numbers = word + strcspn(word, "=");
		numbers += *numbers != '\0';
	} else {
		word += strspn(word, flags);
		*option = *word;
		numbers = word + 1;
	}
	if (!*numbers && at + 1 < metadata->command.count)
		numbers = metadata->command.data[at + 1];
	return *numbers && !numbers[strspn(numbers, "0123456789,")] ? numbers :
								      NULL;
}

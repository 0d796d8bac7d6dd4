// SPDX-License-Identifier: GPL-2.0-only
#include "profile/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_match.h"

void metadata_deinit(struct metadata *metadata)
{
	vec_deinit(&metadata->command);
	vec_deinit(&metadata->pythons);
	vec_deinit(&metadata->scripts);
	vec_deinit(&metadata->sources);
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

static int compare_sources(const void *a, const void *b)
{
	const struct metadata_source *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void metadata_sort_sources(struct metadata *metadata)
{
	if (metadata->sources.count)
		qsort(metadata->sources.data, metadata->sources.count,
		      sizeof(*metadata->sources.data), compare_sources);
}

const struct metadata_source *
metadata_find_source(const struct metadata *metadata, const char *path)
{
	const struct metadata_source wanted = { .path = path };

	if (!metadata->sources.count)
		return NULL;
	return bsearch(&wanted, metadata->sources.data, metadata->sources.count,
		       sizeof(wanted), compare_sources);
}

/* --- the words of the recorder --- */

/* Letters of options that take no argument; nor does 'a'. */
static const char flags[] = "BNPRTWbdginqsv";
/* Letters of options that take one, behind the letter or as the next word. */
static const char valued[] = "CDFcekoz";

/* How many words an option takes; 0: one, or two. */
static size_t option_words(const char *word)
{
	static const struct {
		const char *name;
		size_t words;
	} known[] = {
		{ "--off-cpu", 1 },  { "--native", 1 },	  { "--async", 1 },
		{ "--view", 1 },     { "--mode", 2 },	  { "--duration", 2 },
		{ "--output", 2 },   { "--freq", 2 },	  { "--count", 2 },
		{ "--event", 2 },    { "--clock", 2 },	  { "--clockid", 2 },
		{ "--delay", 2 },    { "--cpu", 2 },	  { "--python", 2 },
		{ "--call-graph", 2 },
	};

	if (word[1] == '-') {
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (!strcmp(word, known[i].name))
				return known[i].words;
		return strchr(word, '=') != NULL;
	}
	word += 1 + strspn(word + 1, flags);
	if (!*word)
		return 1;
	return !strchr(valued, *word) ? 0 : word[1] ? 1 : 2;
}

/* Zero-initialise; the first step goes to the first option. */
struct option_walk {
	/* An option; behind the last one the program. */
	size_t at;
	/* What was taken for an option's value may be the program. */
	bool is_guess;
};

/* False: there are no more options. */
static bool next_option(const struct metadata *metadata,
			struct option_walk *walk)
{
	const char *const *words = metadata->command.data;
	const size_t count = metadata->command.count;
	size_t taken = walk->at ? option_words(words[walk->at]) : 2;

	walk->at += taken ? taken : 1;
	if (!taken) {
		walk->is_guess = true;
		walk->at += walk->at < count && words[walk->at][0] != '-';
	}
	if (walk->at >= count || words[walk->at][0] != '-')
		return false;
	if (strcmp(words[walk->at], "--") != 0)
		return true;
	walk->at++;
	return false;
}

size_t metadata_program(const struct metadata *metadata)
{
	struct option_walk walk = {};

	while (next_option(metadata, &walk))
		;
	return walk.is_guess || walk.at >= metadata->command.count ? 0 : walk.at;
}

/* --- what was recorded --- */

/* "-p", "-p12", "-ag": letters up to one that takes an argument. */
static enum recording_subject subject_of_letters(const char *word)
{
	word += 1 + strspn(word + 1, flags);
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

/* *at: the option that says so. */
static enum recording_subject find_subject(const struct metadata *metadata,
					   size_t *at)
{
	struct option_walk walk = {};
	enum recording_subject subject = SUBJECT_COMMAND;

	while (subject == SUBJECT_COMMAND && next_option(metadata, &walk))
		subject = subject_of_word(metadata->command.data[walk.at]);
	*at = walk.at;
	return subject;
}

enum recording_subject metadata_subject(const struct metadata *metadata)
{
	size_t at;

	return find_subject(metadata, &at);
}

bool metadata_keeps_raw_stacks(const struct metadata *metadata)
{
	const char *const *words = metadata->command.data;
	struct option_walk walk = {};

	while (next_option(metadata, &walk)) {
		bool has_value = walk.at + 1 < metadata->command.count;

		if (name_begins_with(words[walk.at], "--call-graph=dwarf") ||
		    (has_value && !strcmp(words[walk.at], "--call-graph") &&
		     name_begins_with(words[walk.at + 1], "dwarf")))
			return true;
	}
	return false;
}

bool metadata_is_of_itself(const struct metadata *metadata)
{
	/* What the package kaa waits with: INNER in python/kaa/_profile.py. */
	static const char *const waits[] = { "sh", "-c", "echo; read end; true" };
	const size_t count = sizeof(waits) / sizeof(*waits);
	const char *const *words = metadata->command.data;
	size_t words_count = metadata->command.count;

	if (words_count < count ||
	    metadata_subject(metadata) != SUBJECT_RUNNING)
		return false;
	words += words_count - count;
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], waits[i]) != 0)
			return false;
	return true;
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

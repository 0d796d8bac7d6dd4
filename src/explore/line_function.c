// SPDX-License-Identifier: GPL-2.0-only
#include "explore/line_function.h"

#include <string.h>

#include "explore/python_block.h"
#include "profile/frame_line.h"
#include "profile/symbol_word.h"

/* The one file of the word, if none of its frames has a line; or PROFILE_NONE. */
static uint32_t file_without_lines(const struct profile *profile,
				   const struct symbol_word *word)
{
	uint32_t file = PROFILE_NONE;

	vec_for_each(frame, &profile->frames) {
		const struct profile_symbol *symbol =
			profile_symbol(profile, frame->symbol);

		if (frame->kind != PROFILE_FRAME_PYTHON || !symbol ||
		    !symbol_word_has_line_in(word, profile_string(profile,
								  symbol->name, "")))
			continue;
		if (frame_has_line(profile, frame) ||
		    (file != PROFILE_NONE && file != frame->file))
			return PROFILE_NONE;
		file = frame->file;
	}
	return file;
}

struct definition {
	size_t line;
	const char *name;
	size_t length;
};

/* "    async def name(": the name; NULL: no def stands there. */
static const char *name_of_def(const char *text, size_t n, size_t *length)
{
	static const char letters[] =
		" \t\n\f\r()[]{}:,;#'\"\\.=+-*/%&|^~<>!?@`$";
	static const char *const words[] = { "async ", "def " };
	const char *end = text + n;

	for (size_t i = 0; i < 2; i++) {
		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if ((size_t)(end - text) > strlen(words[i]) &&
		    !strncmp(text, words[i], strlen(words[i])))
			text += strlen(words[i]);
		else if (i)
			return NULL;
	}
	while (text < end && *text == ' ')
		text++;
	for (*length = 0; text + *length < end; ++*length)
		if (strchr(letters, text[*length]))
			break;
	return *length ? text : NULL;
}

/* The innermost def around a line. */
static bool find_definition(const struct source *source, size_t line,
			    struct definition *ret)
{
	for (size_t at = line; at; at--) {
		size_t n, length;
		const char *text = source_line(source, at, &n);
		const char *name = name_of_def(text, n, &length);

		if (!name || python_block_find(source, at).last < line)
			continue;
		*ret = (struct definition){ at, name, length };
		return true;
	}
	return false;
}

/* The last part of its qualified name is that name. */
static bool is_called(const char *symbol, const struct definition *def)
{
	struct python_symbol python;

	if (!python_symbol_parse(symbol, &python))
		return false;
	python_symbol_keep_last(&python);
	return python.qualname_length == def->length &&
	       !strncmp(python.qualname, def->name, def->length);
}

/* The line of a def may be that of its first decorator. */
static bool is_there(uint32_t line, const struct source *source,
		     const struct definition *def)
{
	struct python_block block;

	if (!line || line == def->line)
		return true;
	block = python_block_find(source, line);
	return line < def->line && block.header_last >= def->line;
}

static bool find_function(const struct weights *weights, uint32_t file,
			  const struct source *source,
			  const struct definition *def, struct annotate_part *ret)
{
	size_t found = 0;

	vec_for_each(entry, &weights->events.data[0].own->functions) {
		const char *name = profile_string(weights->profile, entry->name, "");

		if (!entry->is_python || entry->file != file ||
		    !entry->total.samples || !is_called(name, def) ||
		    !is_there(entry->line, source, def))
			continue;
		*ret = (struct annotate_part){ .kind = ANNOTATE_FUNCTION,
					       .name = entry->name,
					       .def = entry->line,
					       .file = file };
		found++;
	}
	return found == 1;
}

bool line_function_find(const struct weights *weights, struct sources *sources,
			const char *text, struct annotate_part *ret)
{
	const struct profile *profile = weights->profile;
	struct symbol_word word = symbol_word_init(text, false);
	const struct sources_file *file;
	struct definition def;
	uint32_t path;

	if (!word.line)
		return false;
	path = file_without_lines(profile, &word);
	if (path == PROFILE_NONE)
		return false;
	file = sources_find(sources, profile_string(profile, path, ""));
	return file && !file->error && !sources_has_changed(sources, file) &&
	       find_definition(&file->source, word.line, &def) &&
	       find_function(weights, path, &file->source, &def, ret);
}

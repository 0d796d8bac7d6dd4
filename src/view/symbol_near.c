// SPDX-License-Identifier: GPL-2.0-only
#include "view/symbol_near.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/frame_line.h"
#include "view/text.h"

/* The part of a word that a mistake is looked for in. */
static char *typed_part(const struct symbol_word *word)
{
	const char *end = word->name + word->length;
	const char *colon = memchr(word->name, ':', word->length);
	const char *slash = memrchr(word->name, '/', word->length);

	if (word->exact)
		return strdup(word->text);
	if (colon && colon > word->name && colon + 1 < end && colon[1] != ':')
		return strndup(word->name, (size_t)(colon - word->name));
	if (slash && slash + 1 < end)
		return strndup(slash + 1, (size_t)(end - slash - 1));
	return strndup(word->name, word->length);
}

struct error *symbol_near_init(struct symbol_near *near, const char *word,
			       bool exact)
{
	*near = (struct symbol_near){ .word = symbol_word_init(word, exact),
				      .scratch = STRBUF_INIT };
	near->typed = typed_part(&near->word);
	near->nearest.word = near->typed;
	return near->typed ? NULL : error_no_memory();
}

void symbol_near_deinit(struct symbol_near *near)
{
	free(near->typed);
	arena_deinit(&near->names);
	strbuf_deinit(&near->scratch);
}

/* Offers the name in scratch, which is copied if it is among the nearest. */
static void add_name(struct symbol_near *near, const char *typed)
{
	struct nearest *nearest = &near->nearest;
	const char *name = near->scratch.data;
	size_t i = 0;

	nearest_add_typed(nearest, name, typed);
	while (i < nearest->count && nearest->names[i] != name)
		i++;
	if (i == nearest->count)
		return;
	nearest->names[i] =
		arena_strndup(&near->names, name, near->scratch.len);
	if (!nearest->names[i])
		nearest->count = i;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "Orders.dedupe:orders.py", which finds it if it is typed so. */
static void put_name(struct symbol_near *near, const char *symbol,
		     const struct python_symbol *python)
{
	strbuf_clear(&near->scratch);
	if (near->word.exact) {
		text_append(&near->scratch, symbol, strlen(symbol));
		return;
	}
	text_append(&near->scratch, python->qualname, python->qualname_length);
	strbuf_putc(&near->scratch, ':');
	text_append(&near->scratch, file_name(python->file),
		    strlen(file_name(python->file)));
}

/* "json.loads", of json/__init__.py and of json.py; NULL without memory. */
static char *module_name(const struct python_symbol *python)
{
	const char *end = python->file + strlen(python->file);
	const char *begin = file_name(python->file);
	char *name;

	if (!strcmp(begin, "__init__.py") && begin > python->file) {
		end = begin - 1;
		for (begin = end; begin > python->file && begin[-1] != '/';)
			begin--;
	} else if (end - begin > 3 && !strcmp(end - 3, ".py")) {
		end -= 3;
	}
	if (asprintf(&name, "%.*s.%.*s", (int)(end - begin), begin,
		     (int)python->qualname_length, python->qualname) < 0)
		return NULL;
	return name;
}

static void add_python(struct symbol_near *near, const char *symbol,
		       const struct python_symbol *python)
{
	_cleanup_free_ char *qualname =
		strndup(python->qualname, python->qualname_length);
	_cleanup_free_ char *module = module_name(python);
	const char *dot = qualname ? strrchr(qualname, '.') : NULL;

	if (!qualname || !module)
		return;
	put_name(near, symbol, python);
	add_name(near, qualname);
	if (dot)
		add_name(near, dot + 1);
	if (near->word.exact)
		return;
	add_name(near, module);
	strbuf_clear(&near->scratch);
	text_append(&near->scratch, file_name(python->file),
		    strlen(file_name(python->file)));
	add_name(near, near->scratch.data);
}

static void see_line(struct symbol_near *near, uint32_t line)
{
	if (line && line < near->word.line && line > near->line_before)
		near->line_before = line;
	if (line > near->word.line &&
	    (!near->line_behind || line < near->line_behind))
		near->line_behind = line;
}

void symbol_near_offer(struct symbol_near *near, const char *symbol,
		       const struct symbol_lines *lines,
		       enum symbol_place place)
{
	struct python_symbol python;

	if (!symbol)
		return;
	if (symbol_word_calls(&near->word, symbol, lines)) {
		if (place > near->place)
			near->place = place;
		return;
	}
	if (symbol_word_has_line_in(&near->word, symbol))
		see_line(near, lines->line);
	if (near->place > SYMBOL_NOWHERE)
		return;
	if (python_symbol_parse(symbol, &python)) {
		add_python(near, symbol, &python);
		return;
	}
	strbuf_clear(&near->scratch);
	text_append(&near->scratch, symbol, strlen(symbol));
	add_name(near, near->scratch.data);
}

/* --- Of a profile ------------------------------------------------------- */

struct walk {
	struct symbol_near *near;
	const struct profile *profile;
	bool interpreter_frames;
	/* By stack: it has a Python frame; what was walked of either kind. */
	bool *has_python;
	bool *walked[2];
	/* By frame: enum symbol_place, one more, as far as it was offered. */
	uint8_t *offered;
};

static void offer_frame(struct walk *w, uint32_t id, enum symbol_place place)
{
	const struct profile_frame *frame = profile_frame(w->profile, id);
	const struct profile_symbol *symbol =
		profile_symbol(w->profile, frame->symbol);
	struct symbol_lines lines;

	if (!symbol || w->offered[id] > place)
		return;
	w->offered[id] = (uint8_t)(place + 1);
	if (symbol_word_has_line_in(&w->near->word,
				    profile_string(w->profile, symbol->name, "")))
		*(frame_has_line(w->profile, frame) ? &w->near->with_lines :
						      &w->near->without_lines) = true;
	lines = frame_lines(w->profile, frame);
	symbol_near_offer(w->near,
			  profile_string(w->profile, symbol->name, NULL),
			  &lines, place);
}

/* The frames of a sample, leaf first, up to those that are known already. */
static void walk_stack(struct walk *w, uint32_t leaf)
{
	const struct profile *p = w->profile;
	bool folds = !w->interpreter_frames && w->has_python[leaf];
	enum symbol_place shown = SYMBOL_HIT;

	for (uint32_t s = leaf; s != PROFILE_NONE;
	     s = p->stack_parents.data[s]) {
		uint32_t frame = p->stack_frames.data[s];
		bool folded = folds && (profile_frame(p, frame)->flags &
					PROFILE_FRAME_INTERPRETER);

		if (shown == SYMBOL_CALLS && w->walked[folds][s])
			break;
		offer_frame(w, frame, folded ? SYMBOL_FOLDED : shown);
		if (shown == SYMBOL_CALLS)
			w->walked[folds][s] = true;
		if (!folded)
			shown = SYMBOL_CALLS;
	}
}

struct error *symbol_near_offer_profile(struct symbol_near *near,
					const struct profile *profile,
					bool interpreter_frames)
{
	size_t stacks = profile->stack_parents.count;
	_cleanup_free_ bool *flags = calloc(3 * stacks + 1, sizeof(*flags));
	_cleanup_free_ uint8_t *offered = calloc(profile->frames.count + 1, 1);
	struct walk w = { .near = near,
			  .profile = profile,
			  .interpreter_frames = interpreter_frames,
			  .has_python = flags,
			  .offered = offered };

	if (!flags || !offered)
		return error_no_memory();
	w.walked[0] = flags + stacks;
	w.walked[1] = flags + 2 * stacks;
	profile_find_python(profile, w.has_python);
	for (size_t i = 0; i < profile->samples.rows; i++)
		if (profile->samples.stack[i] != PROFILE_NONE)
			walk_stack(&w, profile->samples.stack[i]);
	return NULL;
}

/* --- Text --------------------------------------------------------------- */

static void put_lines(const struct symbol_near *near, struct strbuf *out)
{
	if (near->line_before && near->line_behind)
		strbuf_printf(out,
			      "; the nearest lines with samples are %" PRIu32
			      " and %" PRIu32,
			      near->line_before, near->line_behind);
	else
		strbuf_printf(out,
			      "; the nearest line with samples is %" PRIu32,
			      near->line_before + near->line_behind);
}

static void put_word(const struct symbol_near *near, const char *behind,
		     struct strbuf *out)
{
	strbuf_putc(out, '\'');
	text_append(out, near->word.text, strlen(near->word.text));
	strbuf_putc(out, '\'');
	strbuf_puts(out, behind);
}

void symbol_near_format(const struct symbol_near *near, const char *none,
			struct strbuf *out)
{
	if (near->place == SYMBOL_FOLDED) {
		put_word(near,
			 " is a function of the interpreter, which only --interpreter-frames shows",
			 out);
		return;
	}
	if (near->place == SYMBOL_CALLS) {
		strbuf_puts(out, "no sample hit ");
		put_word(near, " itself, only functions that it called", out);
		return;
	}
	strbuf_printf(out, "%s ", near->word.line ? "no sample is at" : none);
	put_word(near, "", out);
	if (near->without_lines && !near->with_lines) {
		strbuf_puts(out,
			    "; of this file the recording knows functions, and not their lines: name a function");
	} else if (near->line_before || near->line_behind) {
		put_lines(near, out);
	} else if (near->nearest.count) {
		nearest_format(&near->nearest, out);
	}
}

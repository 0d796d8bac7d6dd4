// SPDX-License-Identifier: GPL-2.0-only
#include "flame/flame_function.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_match.h"
#include "base/strbuf.h"
#include "profile/spent.h"
#include "profile/symbol_word.h"

/* --- Each function once ------------------------------------------------- */

static bool function_equal(const void *column, uint32_t handle, const void *key)
{
	const struct flame_function *a =
		(const struct flame_function *)column + handle;
	const struct flame_function *b = key;

	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->kind == b->kind;
}

static struct error *intern(struct flame_tree *tree,
			    const struct flame_function *function,
			    uint32_t *ret)
{
	uint64_t hash = hash_combine(hash_combine(function->name,
						  function->file),
				     hash_combine(function->line,
						  function->kind));

	*ret = index_find(&tree->function_index, hash, function_equal,
			  tree->functions.data, function);
	if (*ret != UINT32_MAX)
		return NULL;
	*ret = (uint32_t)tree->functions.count;
	return vec_push(&tree->functions, *function) &&
			       index_add(&tree->function_index, hash, *ret) ?
		       NULL :
		       error_no_memory();
}

struct error *flame_other_function(struct flame_tree *tree,
				   enum flame_kind kind, const char *name,
				   const char *place, uint32_t *ret)
{
	struct flame_function function = { .kind = kind };
	struct error *error = texts_intern(&tree->texts, name, &function.name);

	if (!error)
		error = texts_intern(&tree->texts, place, &function.place);
	/* Two threads of one name are two. */
	function.file = function.place;
	return error ? error : intern(tree, &function, ret);
}

struct error *flame_function_below(struct flame_tree *tree, uint32_t caller,
				   uint32_t handle, uint32_t *ret)
{
	struct flame_function function = tree->functions.data[handle];
	uint32_t above = tree->functions.data[caller].kind;

	*ret = handle;
	if ((above != FLAME_COLLECTOR && above != FLAME_GIL) ||
	    (function.kind != FLAME_NATIVE && function.kind != FLAME_ALLOCATION))
		return NULL;
	function.kind = above;
	return intern(tree, &function, ret);
}

/* --- Frames ------------------------------------------------------------- */

static struct error *intern_part(struct flame_tree *tree, const char *text,
				 size_t n, uint32_t *ret)
{
	_cleanup_free_ char *copy = strndup(text, n);

	return copy ? texts_intern(&tree->texts, copy, ret) : error_no_memory();
}

static enum flame_kind kind_of_file(const char *file)
{
	switch (place_kind(file)) {
	case PLACE_PACKAGE:
		return FLAME_PACKAGE;
	case PLACE_STANDARD:
		return FLAME_STANDARD;
	case PLACE_PROGRAM:
		break;
	}
	return FLAME_PROGRAM;
}

static uint32_t same_file(const struct flame_options *o, uint32_t file)
{
	const uint64_t *same = o->same_files ? map_find(o->same_files, file) :
					       NULL;

	return same ? (uint32_t)*same : file;
}

static struct error *make_python(struct flame_frames *f,
				 const struct profile_frame *frame,
				 const struct profile_symbol *symbol,
				 uint32_t *ret)
{
	const struct flame_options *o = &f->tree->options;
	const char *name =
		symbol ? profile_string(f->profile, symbol->name, "") : "";
	struct python_symbol python = { "[unknown]", 9, "" };
	struct flame_function function = {};
	uint32_t source = same_file(o, frame->file);
	const char *file, *place;
	struct error *error;

	python_symbol_parse(name, &python);
	file = profile_string(f->profile, source, python.file);
	place = source == PROFILE_NONE ? file : place_name(f->places, source);
	function.kind = kind_of_file(file);
	if (symbol && !o->compare)
		function.line = symbol->line;
	if (o->lines && frame->line)
		function.line = frame->line;
	error = intern_part(f->tree, python.qualname, python.qualname_length,
			    &function.name);
	if (!error)
		error = texts_intern(&f->tree->texts, file, &function.file);
	if (!error)
		error = texts_intern(&f->tree->texts, place, &function.place);
	return error ? error : intern(f->tree, &function, ret);
}

static enum flame_kind kind_of_native(const struct profile_frame *frame,
				      const char *name)
{
	if (frame->kind == PROFILE_FRAME_KERNEL)
		return FLAME_KERNEL;
	if (frame->kind == PROFILE_FRAME_MARKER)
		return FLAME_MARKER;
	if (frame->flags & PROFILE_FRAME_INTERPRETER)
		return FLAME_INTERPRETER;
	switch (spent_kind_of_function(
		name, frame->flags & PROFILE_FRAME_IN_CPYTHON)) {
	case SPENT_GC:
		return FLAME_COLLECTOR;
	case SPENT_GIL:
		return FLAME_GIL;
	case SPENT_ALLOCATION:
		return FLAME_ALLOCATION;
	default:
		return FLAME_NATIVE;
	}
}

/* Without a symbol a file, as a whole, in brackets. */
static void name_unknown(const char *file, struct strbuf *out)
{
	if (*file == '[')
		strbuf_puts(out, file);
	else
		strbuf_printf(out, "[%s]", *file ? file : "unknown");
}

static struct error *make_native(struct flame_frames *f,
				 const struct profile_frame *frame,
				 const struct profile_symbol *symbol,
				 uint32_t *ret)
{
	const struct profile_dso *dso = profile_dso(f->profile, frame->dso);
	const char *file =
		dso ? profile_string(f->profile, dso->short_name, "") : "";
	const char *name =
		symbol ? profile_string(f->profile, symbol->name, "") : NULL;
	struct flame_function function = {
		.kind = kind_of_native(
			frame, symbol && symbol->is_nameless ? NULL : name),
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;

	if (frame->kind == PROFILE_FRAME_MARKER)
		file = "";
	if (name)
		strbuf_puts(&text, name);
	else
		name_unknown(file, &text);
	error = strbuf_error(&text);
	if (!error)
		error = texts_intern(&f->tree->texts, text.data, &function.name);
	if (!error)
		error = texts_intern(&f->tree->texts, file, &function.file);
	function.place = function.file;
	return error ? error : intern(f->tree, &function, ret);
}

struct error *flame_frame_function(struct flame_frames *f, uint32_t handle,
				   uint32_t *ret)
{
	const struct profile_frame *frame = profile_frame(f->profile, handle);
	const struct profile_symbol *symbol =
		profile_symbol(f->profile, frame->symbol);
	uint32_t *function = &f->functions[handle];
	struct error *error = NULL;

	if (*function == FLAME_NONE)
		error = frame->kind == PROFILE_FRAME_PYTHON ?
				make_python(f, frame, symbol, function) :
				make_native(f, frame, symbol, function);
	if (!error)
		*ret = *function;
	return error;
}

struct error *flame_frames_init(struct flame_frames *f)
{
	size_t count = f->profile->frames.count;

	f->functions = malloc((count + 1) * sizeof(*f->functions));
	if (!f->functions)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		f->functions[i] = FLAME_NONE;
	return place_names_create(f->profile, f->tree->options.folder,
				  &f->places);
}

void flame_frames_deinit(struct flame_frames *f)
{
	free(f->functions);
	place_names_destroy(f->places);
}

bool flame_frame_is_starter(const struct profile *profile,
			    const struct profile_frame *frame)
{
	const char *file = profile_string(profile, frame->file, "");

	return frame->kind == PROFILE_FRAME_PYTHON &&
	       (!strcmp(file, "<frozen runpy>") ||
		(place_kind(file) == PLACE_STANDARD &&
		 name_ends_with(file, "/runpy.py")));
}

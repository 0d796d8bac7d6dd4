// SPDX-License-Identifier: GPL-2.0-only
#include "export/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/symbol_word.h"

/* --- columns whose rows are told apart by all they have --- */

static bool function_equal(const void *column, uint32_t handle, const void *key)
{
	const struct export_function *a =
		(const struct export_function *)column + handle;
	const struct export_function *b = key;

	return a->name == b->name && a->file == b->file &&
	       a->object == b->object && a->line == b->line &&
	       a->kind == b->kind;
}

static struct error *intern_function(struct export_stacks *s,
				     const struct export_function *function,
				     uint32_t *ret)
{
	uint64_t hash = hash_combine(
		hash_combine(function->name, function->file),
		(uint64_t)function->object << 32 | function->line);

	*ret = index_find(&s->function_index, hash, function_equal,
			  s->functions.data, function);
	if (*ret != PROFILE_NONE)
		return NULL;
	*ret = (uint32_t)s->functions.count;
	return vec_push(&s->functions, *function) &&
			       index_add(&s->function_index, hash, *ret) ?
		       NULL :
		       error_no_memory();
}

static bool place_equal(const void *column, uint32_t handle, const void *key)
{
	const struct export_place *a =
		(const struct export_place *)column + handle;
	const struct export_place *b = key;

	return a->function == b->function && a->line == b->line;
}

static struct error *intern_place(struct export_stacks *s,
				  struct export_place place, uint32_t *ret)
{
	uint64_t hash = hash_combine(place.function, place.line);

	*ret = index_find(&s->place_index, hash, place_equal, s->places.data,
			  &place);
	if (*ret != PROFILE_NONE)
		return NULL;
	*ret = (uint32_t)s->places.count;
	return vec_push(&s->places, place) &&
			       index_add(&s->place_index, hash, *ret) ?
		       NULL :
		       error_no_memory();
}

static bool node_equal(const void *column, uint32_t handle, const void *key)
{
	const struct export_node *a =
		(const struct export_node *)column + handle;
	const struct export_node *b = key;

	return a->parent == b->parent && a->place == b->place;
}

static struct error *intern_node(struct export_stacks *s,
				 struct export_node node, uint32_t *ret)
{
	uint64_t hash = hash_combine(node.parent, node.place);

	*ret = index_find(&s->node_index, hash, node_equal, s->nodes.data,
			  &node);
	if (*ret != PROFILE_NONE)
		return NULL;
	*ret = (uint32_t)s->nodes.count;
	return vec_push(&s->nodes, node) &&
			       index_add(&s->node_index, hash, *ret) ?
		       NULL :
		       error_no_memory();
}

/* --- what a frame is --- */

/* What has no name is called by its file, in brackets. */
static void name_object(struct export_stacks *s, uint32_t handle)
{
	const struct profile_dso *dso = profile_dso(s->profile, handle);
	const char *name = dso ? profile_string(s->profile, dso->short_name, "") :
				 "unknown";
	bool bare = *name == '[';

	strbuf_puts(&s->text, bare ? "" : "[");
	strbuf_puts(&s->text, name);
	strbuf_puts(&s->text, bare ? "" : "]");
}

/* The name to s->text; *file: the source file, or "". */
static void describe(struct export_stacks *s, const struct profile_frame *frame,
		     const struct profile_symbol *symbol, const char **file)
{
	const char *name =
		symbol ? profile_string(s->profile, symbol->name, "") : "";
	struct python_symbol python;

	*file = "";
	strbuf_clear(&s->text);
	if (!symbol) {
		name_object(s, frame->dso);
	} else if (python_symbol_parse(name, &python)) {
		strbuf_append(&s->text, python.qualname,
			      python.qualname_length);
		*file = python.file;
	} else {
		strbuf_puts(&s->text, name);
	}
}

/* Python's code and marks are in no file that a tool could open. */
static uint32_t object_of(const struct export_stacks *s,
			  const struct profile_frame *frame)
{
	const struct profile_dso *dso = profile_dso(s->profile, frame->dso);

	return !dso || dso->kind == PROFILE_DSO_PYTHON ||
			       frame->kind == PROFILE_FRAME_PYTHON ||
			       frame->kind == PROFILE_FRAME_MARKER ?
		       PROFILE_NONE :
		       frame->dso;
}

static struct error *function_of(struct export_stacks *s,
				 const struct profile_frame *frame,
				 uint32_t *ret)
{
	const struct profile_symbol *symbol =
		profile_symbol(s->profile, frame->symbol);
	struct export_function function = { .file = PROFILE_NONE,
					    .object = object_of(s, frame),
					    .line = symbol ? symbol->line : 0,
					    .kind = frame->kind };
	struct error *error;
	const char *file;

	describe(s, frame, symbol, &file);
	error = strbuf_error(&s->text);
	if (!error)
		error = texts_intern(&s->names, s->text.data, &function.name);
	if (!error && *file)
		error = texts_intern(&s->files, file, &function.file);
	return error ? error : intern_function(s, &function, ret);
}

/* handle is PROFILE_NONE where nothing is known. */
static struct error *place_of(struct export_stacks *s, uint32_t handle,
			      uint32_t *ret)
{
	const struct profile_frame nothing = { .symbol = PROFILE_NONE,
					       .dso = PROFILE_NONE };
	const struct profile_frame *frame =
		handle == PROFILE_NONE ? &nothing :
					 profile_frame(s->profile, handle);
	struct export_place place;
	struct error *error = function_of(s, frame, &place.function);

	if (error)
		return error;
	place.line = s->functions.data[place.function].line;
	if (s->options.lines && frame->line &&
	    frame->kind == PROFILE_FRAME_PYTHON)
		place.line = frame->line;
	return intern_place(s, place, ret);
}

/* --- all of them --- */

static struct error *make_places(struct export_stacks *s)
{
	struct error *error;
	uint32_t place;

	vec_for_each(location, &s->locations->all) {
		error = place_of(s, location->frame, &place);
		if (error)
			return error;
		if (!vec_push(&s->place_of, place))
			return error_no_memory();
	}
	return NULL;
}

static struct error *make_nodes(struct export_stacks *s)
{
	const struct locations *l = s->locations;
	struct error *error;
	uint32_t made;

	for (size_t i = 0; i < l->parents.count; i++) {
		uint32_t parent = l->parents.data[i];
		struct export_node node = {
			.parent = parent == PROFILE_NONE ?
					  PROFILE_NONE :
					  s->node_of.data[parent],
			.place = s->place_of.data[l->steps.data[i]],
		};

		error = intern_node(s, node, &made);
		if (error)
			return error;
		if (!vec_push(&s->node_of, made))
			return error_no_memory();
	}
	return NULL;
}

struct error *export_stacks_create(const struct profile *profile,
				   const struct export_stacks_options *options,
				   struct export_stacks **ret)
{
	/* Functions of one name are told apart by their lines alone. */
	struct location_options wanted = {
		.chain_key = CHAIN_KEY_SRCLINE,
		.interpreter_frames = options->interpreter_frames,
		.python_only = options->python_only,
		.compares = options->compares,
	};
	_cleanup_export_stacks_ struct export_stacks *s =
		calloc(1, sizeof(*s));
	struct error *error;

	if (!s)
		return error_no_memory();
	s->profile = profile;
	s->options = *options;
	s->text = (struct strbuf)STRBUF_INIT;
	error = locations_create(profile, &wanted, &s->locations);
	if (!error)
		error = make_places(s);
	if (!error)
		error = make_nodes(s);
	if (!error)
		*ret = take_ptr(s);
	return error;
}

void export_stacks_destroy(struct export_stacks *s)
{
	if (!s)
		return;
	texts_deinit(&s->names);
	texts_deinit(&s->files);
	vec_deinit(&s->functions);
	vec_deinit(&s->places);
	vec_deinit(&s->nodes);
	locations_destroy(s->locations);
	index_deinit(&s->function_index);
	index_deinit(&s->place_index);
	index_deinit(&s->node_index);
	vec_deinit(&s->place_of);
	vec_deinit(&s->node_of);
	strbuf_deinit(&s->text);
	free(s);
}

struct error *export_stacks_frames(const struct export_stacks *s,
				   uint32_t **ret)
{
	uint32_t *frames = calloc(s->places.count + 1, sizeof(*frames));

	if (!frames)
		return error_no_memory();
	for (size_t i = 0; i < s->places.count; i++)
		frames[i] = PROFILE_NONE;
	for (size_t i = 0; i < s->locations->all.count; i++)
		frames[s->place_of.data[i]] = s->locations->all.data[i].frame;
	*ret = frames;
	return NULL;
}

const char *export_function_object(const struct export_stacks *s,
				   const struct export_function *function)
{
	const struct profile_dso *dso =
		profile_dso(s->profile, function->object);

	return dso ? profile_string(s->profile, dso->long_name, "") : "";
}

const char *export_function_file(const struct export_stacks *s,
				 const struct export_function *function)
{
	return function->file == PROFILE_NONE ?
		       export_function_object(s, function) :
		       export_function_source(s, function);
}

const char *export_function_kind(const struct export_function *function)
{
	switch ((enum profile_frame_kind)function->kind) {
	case PROFILE_FRAME_PYTHON:
		return "python";
	case PROFILE_FRAME_NATIVE:
		return "native";
	case PROFILE_FRAME_KERNEL:
		return "kernel";
	case PROFILE_FRAME_MARKER:
		break;
	}
	return "mark";
}

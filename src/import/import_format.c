// SPDX-License-Identifier: GPL-2.0-only
#include "import/import_format.h"

#include <string.h>

#include "base/path_name.h"
#include "base/strbuf.h"
#include "import/gunzip.h"
#include "import/json_in.h"
#include "import/written_only.h"

#define ROW(name, help) { #name, import_is_##name, import_##name },
const struct import_row import_formats[] = { IMPORT_FORMATS(ROW) {} };
#undef ROW

DEFINE_CLEANUP(json, json_t *, json_decref);

/* What no byte order and no blank can be: these formats begin with a bracket. */
static bool begins_like_json(const struct import_input *input)
{
	size_t blank = strspn(input->data, " \t\r\n");

	/* '(' or ')' behind it, with a bit or without, is what cProfile and kaa write. */
	return blank < input->size && input->data[blank] == '{' &&
	       (input->data[blank + 1] & 0x7e) != '(';
}

static struct error *parse_json(const struct import_input *input, json_t **ret)
{
	json_error_t at;

	if (json_in_memory(input->data, input->size) > JSON_IN_MEMORY_MAX)
		return error_create(ERROR_LIMIT,
				    "its JSON would take more than 8 GiB of memory");
	*ret = json_loadb(input->data, input->size, 0, &at);
	if (*ret)
		return NULL;
	if (json_error_code(&at) == json_error_out_of_memory)
		return error_no_memory();
	return error_create(ERROR_FORMAT,
			    "'%s', line %d, column %d: this is no JSON: %s",
			    input->path, at.line, at.column, at.text);
}

static const struct import_row *detect(const struct import_input *input)
{
	for (const struct import_row *row = import_formats; row->name; row++)
		if (row->is(input))
			return row;
	return NULL;
}

static struct error *refuse_written(const char *path, const char *name)
{
	_cleanup_strbuf_ struct strbuf readable = STRBUF_INIT;

	for (const struct import_row *row = import_formats; row->name; row++)
		strbuf_printf(&readable, "%s%s",
			      row == import_formats ? "" :
			      row[1].name	    ? ", " :
						      " and ",
			      row->name);
	return error_create(ERROR_UNSUPPORTED,
			    "'%s' is a file of %s, which kaa writes but does not read; it reads %s",
			    path, name, readable.data);
}

static struct error *read_input(const struct import_input *input,
				const struct import_row *format,
				struct import_model *model,
				const struct import_row **found)
{
	const char *written = format ? NULL : written_only(input);
	struct error *error;

	if (written)
		return refuse_written(input->path, written);
	if (!format)
		format = detect(input);
	if (!format && input->size >= 8 && !memcmp(input->data, "PERFILE2", 8))
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is a recording already: the other commands read it with '-i'",
				    input->path);
	if (!format)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is in no format that kaa knows; '--format' names one",
				    input->path);
	error = format->read(input, model);
	if (!error && !model->samples.count)
		error = error_create(ERROR_NOT_FOUND,
				     "'%s' has no samples (read as %s)",
				     input->path, format->name);
	if (!error && !model->says_python_only)
		import_guess_python_only(model);
	if (!error)
		*found = format;
	return error;
}

/* A bound that the model sets names no file. */
static struct error *with_path(struct error *error, const char *path)
{
	_cleanup_error_ struct error *old = NULL;

	if (!error || error->code != ERROR_LIMIT || error->path ||
	    error->message[0] == '\'')
		return error;
	old = error;
	return error_create(ERROR_LIMIT, "'%s' is too large: %s", path,
			    old->message);
}

struct error *import_read(const char *path, const char *data, size_t size,
			  const struct import_row *format,
			  struct import_model *model,
			  const struct import_row **found)
{
	_cleanup_strbuf_ struct strbuf unpacked = STRBUF_INIT;
	_cleanup_(cleanup_json_) json_t *json = NULL;
	struct import_input input = { .path = path, .data = data, .size = size };
	struct error *error = NULL;

	error = texts_intern(&model->texts, path_name(path), &model->title);
	if (!error && gunzip_is(data, size)) {
		error = gunzip(path, data, size, &unpacked);
		input.data = unpacked.data;
		input.size = unpacked.len;
	}
	if (!error && begins_like_json(&input))
		error = parse_json(&input, &json);
	input.json = json;
	if (!error)
		error = read_input(&input, format, model, found);
	return with_path(error, path);
}

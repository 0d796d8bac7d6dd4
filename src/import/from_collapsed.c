// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collapsed stacks: a line for each stack, its frames from the outermost one to the
 * leaf with ';' between them, then a blank and a number, which may stand alone: py-spy
 * has samples without frames. What kaa, py-spy and
 * inferno write of Python is "function (file)" or "function (file:line)".
 *
 * The first step of a line is no function where tools put something else there:
 * "process 12:"command"" and "thread (0x7f...): name" of py-spy, and the name of
 * the thread, which kaa writes. The latter looks like a function; it is one unless
 * each line begins with a step without a file, and steps with files are among those
 * behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/name_match.h"
#include "base/path_name.h"
#include "base/strbuf.h"
#include "import/lines_in.h"

struct collapsed {
	struct lines_in lines;
	struct import_model *model;
	uint32_t event;
	/* First steps are names of threads. */
	bool has_threads;
	/* Process and name to the number of the thread. */
	struct map numbers;
	struct strbuf name;
	struct strbuf file;
};

/* Where the number begins, and what it is; 0: there is none. */
static size_t find_number(const struct line *line, uint64_t *ret)
{
	size_t at = line->size;

	while (at && line->text[at - 1] != ' ' && line->text[at - 1] != '\t')
		at--;
	return at && lines_in_number(line->text + at, line->size - at, ret) ?
		       at :
		       0;
}

/* Of the next step, without the ';' behind it. */
static size_t step_size(const char *text, size_t size)
{
	const char *end = memchr(text, ';', size);

	return end ? (size_t)(end - text) : size;
}

/* "name (file:line)": where the bracket opens, 0: there is none. */
static size_t find_bracket(const char *text, size_t size)
{
	size_t at = size;

	if (!size || text[size - 1] != ')')
		return 0;
	/* Files may have brackets in their names. */
	for (size_t depth = 0; at > 1; at--) {
		if (text[at - 1] == ')')
			depth++;
		if (text[at - 1] == '(' && !--depth)
			break;
	}
	return at > 2 && text[at - 2] == ' ' ? at - 1 : 0;
}

/* Into c->file; the line behind it, or 0. */
static uint32_t split_file(struct collapsed *c, const char *text, size_t size)
{
	size_t colon = size;
	uint64_t line = 0;

	while (colon && text[colon - 1] != ':')
		colon--;
	if (colon < 2 || !lines_in_number(text + colon, size - colon, &line) ||
	    line > INT32_MAX)
		colon = size + 1;
	strbuf_append(&c->file, text, colon - 1);
	return colon <= size ? (uint32_t)line : 0;
}

/* What stands in the bracket of Python code, and not "f(int)" of C++. */
static bool is_file(const char *text, size_t size)
{
	return memchr(text, '.', size) || memchr(text, '/', size) ||
	       memchr(text, '<', size) || memchr(text, ':', size);
}

/* A path without a suffix: a script. Native code is in "libc.so.6". */
static bool is_script(const char *file)
{
	return strchr(file, '/') && !strchr(path_name(file), '.');
}

/* Of what compilers make native code of; py-spy has lines of that, too. Or that code itself. */
static bool is_native(const char *file)
{
	static const char *const ends[] = {
		".c",	".cc",	".cpp", ".cxx", ".c++", ".C",  ".cu",  ".h",
		".hh",	".hpp", ".hxx", ".inl", ".rs",	".go", ".s",   ".S",
		".asm", ".f",	".for", ".f90", ".m",	".mm", ".zig", ".so",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (name_ends_with(file, ends[i]))
			return true;
	return strstr(path_name(file), ".so.") != NULL;
}

static struct error *read_step(struct collapsed *c, const char *text, size_t size,
			       uint32_t *ret)
{
	size_t bracket = find_bracket(text, size);
	struct import_step step = { .kind = IMPORT_GUESS };

	strbuf_clear(&c->name);
	strbuf_clear(&c->file);
	if (bracket && is_file(text + bracket + 1, size - bracket - 2)) {
		step.line = split_file(c, text + bracket + 1,
				       size - bracket - 2);
		strbuf_append(&c->name, text, bracket - 1);
	} else {
		strbuf_append(&c->name, text, size);
	}
	if (c->name.failed || c->file.failed)
		return error_no_memory();
	step.name = c->name.data;
	step.file = c->file.data;
	/* Whatever a template is called: "root (page.html:50)". */
	if (is_script(step.file) || (step.line && !is_native(step.file)))
		step.kind = PROFILE_FRAME_PYTHON;
	return import_place(c->model, &step, ret);
}

/* --- threads --- */

/* What the first steps of a line say of its thread. */
struct owner {
	int64_t pid;
	/* 0: not known. */
	int64_t tid;
	struct line name;
	struct line process;
};

/* Takes py-spy's steps for processes and threads, and a thread's name. */
static struct owner read_owner(const struct collapsed *c, const char **text,
			       size_t *size)
{
	struct owner owner = { .pid = 1 };

	while (*size) {
		size_t n = step_size(*text, *size);

		if (!lines_in_process(*text, n, &owner.pid, &owner.process) &&
		    !lines_in_thread(*text, n, &owner.tid, &owner.name)) {
			if (!c->has_threads || owner.name.text)
				break;
			owner.name = (struct line){ *text, n };
		}
		n += n < *size;
		*text += n;
		*size -= n;
	}
	return owner;
}

/* Threads without numbers are told by their names; the first is the main one. */
static struct error *number_thread(struct collapsed *c, struct owner *owner,
				   const char *name)
{
	uint32_t text = 0;
	struct error *error = texts_intern(&c->model->texts, name, &text);
	uint64_t *number;

	if (error || owner->tid)
		return error;
	number = map_insert(&c->numbers,
			    (uint64_t)(uint32_t)owner->pid << 32 | text,
			    c->numbers.count, NULL);
	if (!number)
		return error_no_memory();
	owner->tid = owner->pid + (int64_t)*number;
	return NULL;
}

static struct error *read_thread(struct collapsed *c, const char **text,
				 size_t *size, uint32_t *ret)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf process = STRBUF_INIT;
	struct owner owner = read_owner(c, text, size);
	struct error *error;

	strbuf_append(&name, owner.name.text, owner.name.size);
	strbuf_append(&process, owner.process.text, owner.process.size);
	if (name.failed || process.failed)
		return error_no_memory();
	error = number_thread(c, &owner, name.data);
	return error ? error :
		       import_thread(c->model,
				     owner.pid, owner.tid, name.data, process.data, ret);
}

/* Has one of the steps a file? */
static bool has_file(const char *text, size_t size)
{
	for (size_t n; size; text += n, size -= n) {
		n = step_size(text, size);
		if (find_bracket(text, n))
			return true;
		n += n < size;
	}
	return false;
}

/* Do all lines begin with a thread's name? */
static bool find_threads(const struct import_input *input)
{
	struct lines_in lines = lines_in_init(input);
	bool has_files = false;
	struct line line;
	uint64_t number;

	while (lines_in_next(&lines, &line)) {
		size_t end = find_number(&line, &number), n;

		if (!end)
			continue;
		n = step_size(line.text, end - 1);
		if (find_bracket(line.text, n))
			return false;
		has_files = has_files || has_file(line.text, end - 1);
	}
	return has_files;
}

/* --- lines --- */

static struct error *read_line(struct collapsed *c, const struct line *line)
{
	const char *text = line->text;
	struct import_sample sample = { .node = PROFILE_NONE,
					.event = c->event };
	size_t end = find_number(line, &sample.weight), size, n, steps = 0;
	struct error *error;
	uint32_t place;

	if (!end)
		return lines_in_error(&c->lines,
				      "a stack ends in a blank and a number");
	size = end - 1;
	sample.count = sample.weight;
	error = read_thread(c, &text, &size, &sample.thread);
	for (; !error && size; text += n, size -= n) {
		n = step_size(text, size);
		if (++steps > IMPORT_DEPTH_MAX)
			return lines_in_error(&c->lines, "the stack is too deep");
		error = read_step(c, text, n, &place);
		if (!error)
			error = import_node(c->model, sample.node, place,
					    &sample.node);
		n += n < size;
	}
	return error ? error : import_sample(c->model, &sample);
}

bool import_is_collapsed(const struct import_input *input)
{
	struct lines_in lines = lines_in_init(input);
	struct line line = {};
	uint64_t number;

	while (lines_in_next(&lines, &line) &&
	       (!line.size || line.text[0] == '#'))
		continue;
	return line.size && find_number(&line, &number) &&
	       !memchr(line.text, '\0', line.size);
}

struct error *import_collapsed(const struct import_input *input,
			       struct import_model *ret)
{
	struct collapsed c = { .lines = lines_in_init(input),
			       .model = ret,
			       .has_threads = find_threads(input),
			       .name = STRBUF_INIT,
			       .file = STRBUF_INIT };
	struct error *error = import_event(ret, "samples", EVENT_COUNT, &c.event);
	struct line line;

	while (!error && lines_in_next(&c.lines, &line))
		if (line.size && line.text[0] != '#')
			error = read_line(&c, &line);
	map_deinit(&c.numbers);
	strbuf_deinit(&c.name);
	strbuf_deinit(&c.file);
	return error;
}

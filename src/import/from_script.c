// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of `perf script` and `kaa script`: a line for each sample, its stack on
 * the lines below, the leaf first, and an empty line.
 *
 *	comm  pid/tid [cpu] seconds: period event: address symbol+0x1 (file)
 *		address symbol+0x1 (file)
 *	  source.py:12
 *
 * The process, the CPU and the period may be missing; a stack stands in the line of
 * the sample where it is one frame. A source line follows its frame.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path_name.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "import/lines_in.h"

struct script {
	struct lines_in lines;
	struct import_model *model;
	/* A sample was begun, and its places, the leaf first. */
	bool is_open;
	struct import_sample sample;
	VEC(uint32_t) places;
	/* The frame that was read last waits for its source line. */
	bool has_frame;
	struct import_step step;
	struct strbuf name;
	struct strbuf file;
	struct strbuf text;
	/* The time of the first sample. */
	uint64_t first;
};

/* The line of a sample, in parts. */
struct head {
	struct line comm;
	int64_t pid;
	int64_t tid;
	uint64_t time;
	uint64_t period;
	struct line event;
	/* What stands behind the event: a frame, or nothing. */
	struct line rest;
};

/* --- words --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct line *line)
{
	while (line->size && is_blank(*line->text)) {
		line->text++;
		line->size--;
	}
}

/* The next word of *line, which is then what stands behind it. */
static struct line next_word(struct line *line)
{
	size_t begin = 0, end;

	while (begin < line->size && is_blank(line->text[begin]))
		begin++;
	end = begin;
	while (end < line->size && !is_blank(line->text[end]))
		end++;
	*line = (struct line){ line->text + end, line->size - end };
	return (struct line){ line->text - (end - begin), end - begin };
}

/* "12345.678901:" in ns */
static bool parse_time(struct line word, uint64_t *ret)
{
	const char *dot = memchr(word.text, '.', word.size);
	uint64_t seconds, part, scale = 1000000000;
	size_t digits;

	if (word.size < 2 || word.text[word.size - 1] != ':' || !dot)
		return false;
	digits = word.size - 1 - (size_t)(dot + 1 - word.text);
	if (digits > 9 ||
	    !lines_in_number(word.text, (size_t)(dot - word.text), &seconds) ||
	    !lines_in_number(dot + 1, digits, &part) ||
	    seconds > IMPORT_SUM_MAX / 1000000000 / 2)
		return false;
	for (size_t i = 0; i < digits; i++)
		scale /= 10;
	*ret = seconds * 1000000000 + part * scale;
	return true;
}

/* A thread that is ending is -1. */
static bool parse_task_number(const char *text, size_t size, int64_t *ret)
{
	bool is_negative = size && *text == '-';
	uint64_t number;

	if (!lines_in_number(text + is_negative, size - is_negative, &number))
		return false;
	*ret = is_negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* "4243" or "4242/4243" */
static bool parse_task(struct line word, int64_t *pid, int64_t *tid)
{
	const char *slash = memchr(word.text, '/', word.size);
	size_t first = slash ? (size_t)(slash - word.text) : word.size;

	if (!parse_task_number(word.text, first, pid))
		return false;
	*tid = *pid;
	return !slash ||
	       parse_task_number(slash + 1, word.size - first - 1, tid);
}

static bool is_cpu(struct line word)
{
	return word.size > 2 && word.text[0] == '[' &&
	       word.text[word.size - 1] == ']';
}

/* What stands behind the task: "[cpu] time: period event: rest". */
static bool parse_behind(struct line line, struct head *ret)
{
	struct line word = next_word(&line);
	uint64_t period;

	if (is_cpu(word))
		word = next_word(&line);
	if (!parse_time(word, &ret->time))
		return false;
	word = next_word(&line);
	ret->period = 1;
	if (lines_in_number(word.text, word.size, &period)) {
		ret->period = period;
		word = next_word(&line);
	}
	if (word.size < 2 || word.text[word.size - 1] != ':')
		return false;
	ret->event = (struct line){ word.text, word.size - 1 };
	ret->rest = line;
	return true;
}

/* A name may have blanks in it, so it ends where the rest is right. */
static bool parse_head(struct line line, struct head *ret)
{
	struct line word, rest = line;

	next_word(&rest);
	while (rest.size) {
		const char *end = rest.text;

		word = next_word(&rest);
		if (!parse_task(word, &ret->pid, &ret->tid) ||
		    !parse_behind(rest, ret))
			continue;
		ret->comm = line;
		skip_blanks(&ret->comm);
		ret->comm.size = (size_t)(end - ret->comm.text);
		return true;
	}
	return false;
}

/* --- frames --- */

static struct error *end_frame(struct script *s)
{
	uint32_t place;
	struct error *error;

	if (!s->has_frame)
		return NULL;
	s->has_frame = false;
	if (s->name.failed || s->file.failed)
		return error_no_memory();
	s->step.name = s->name.data;
	s->step.file = s->file.data;
	error = import_place(s->model, &s->step, &place);
	return error || vec_push(&s->places, place) ? error : error_no_memory();
}

/* Where "+0x1f" begins that ends there; the end, if none does. */
static size_t find_offset(struct line symbol, size_t end)
{
	size_t at = end;

	while (at && symbol.text[at - 1] &&
	       strchr("0123456789abcdef", symbol.text[at - 1]))
		at--;
	return at > 2 && at < end && !memcmp(symbol.text + at - 3, "+0x", 3) ?
		       at - 3 :
		       end;
}

/*
 * Where " (file)" begins. A file and a function may have brackets in their names:
 * it is behind an offset, or behind a function that is not known, or the last one.
 */
static size_t find_object(struct line symbol)
{
	static const char unknown[] = "[unknown] (";
	size_t last = 0;

	if (symbol.size > sizeof(unknown) &&
	    !memcmp(symbol.text, unknown, sizeof(unknown) - 1))
		return sizeof(unknown) - 3;
	for (size_t at = symbol.size - 1; at > 1; at--) {
		if (symbol.text[at] != '(' || symbol.text[at - 1] != ' ')
			continue;
		if (find_offset(symbol, at - 1) < at - 1)
			return at - 1;
		last = last ? last : at - 1;
	}
	return last;
}

/* Takes the file, and the offset, from the symbol. */
static struct line split_object(struct line *symbol)
{
	struct line file = {};
	size_t at;

	skip_blanks(symbol);
	if (symbol->size && symbol->text[symbol->size - 1] == ')') {
		at = find_object(*symbol);
		if (at) {
			file = (struct line){ symbol->text + at + 2,
					      symbol->size - at - 3 };
			symbol->size = at;
		}
	}
	symbol->size = find_offset(*symbol, symbol->size);
	return file;
}

/* "py::name:file" */
static bool split_python(struct script *s, struct line symbol)
{
	const char *colon;

	if (symbol.size < 5 || memcmp(symbol.text, "py::", 4))
		return false;
	colon = memchr(symbol.text + 4, ':', symbol.size - 4);
	if (!colon)
		return false;
	strbuf_append(&s->name, symbol.text + 4,
		      (size_t)(colon - symbol.text) - 4);
	strbuf_append(&s->file, colon + 1,
		      symbol.size - (size_t)(colon + 1 - symbol.text));
	s->step.kind = PROFILE_FRAME_PYTHON;
	return true;
}

static bool is_unknown(struct line text)
{
	return text.size == 9 && !memcmp(text.text, "[unknown]", 9);
}

/* A symbol that is not known is called as kaa's exports call it: "[libc.so.6]". */
static void name_native(struct script *s, struct line symbol, struct line object)
{
	const char *name;
	size_t n = object.size;

	if (!is_unknown(object) && !(n == 7 && !memcmp(object.text, "inlined", 7)))
		strbuf_append(&s->file, object.text, n);
	if (!is_unknown(symbol) || !s->file.len) {
		strbuf_append(&s->name, symbol.text, symbol.size);
		return;
	}
	name = path_name(s->file.data);
	strbuf_printf(&s->name, *name == '[' ? "%s" : "[%s]", name);
}

/* Markers stand in the range of Python's code, which no library is in. */
static uint32_t kind_at(uint64_t address)
{
	if (address >> 63)
		return PROFILE_FRAME_KERNEL;
	return address >> 32 == 0x6b61 ? IMPORT_GUESS : PROFILE_FRAME_NATIVE;
}

static struct error *read_frame(struct script *s, struct line line)
{
	struct line word = next_word(&line), object;
	struct error *error = end_frame(s);
	uint64_t address;
	char *end;

	if (error)
		return error;
	strbuf_clear(&s->text);
	strbuf_append(&s->text, word.text, word.size);
	address = strtoull(s->text.data, &end, 16);
	if (*end || !word.size)
		return lines_in_error(&s->lines,
				      "a frame begins with an address");
	if (s->places.count >= IMPORT_DEPTH_MAX)
		return lines_in_error(&s->lines, "the stack is too deep");
	object = split_object(&line);
	strbuf_clear(&s->name);
	strbuf_clear(&s->file);
	s->step = (struct import_step){ .kind = kind_at(address) };
	if (!split_python(s, line))
		name_native(s, line, object);
	if (s->step.kind == IMPORT_GUESS)
		strbuf_clear(&s->file);
	s->has_frame = true;
	return NULL;
}

/* "  file.py:12" behind a frame; others are of no use. */
static void read_source(struct script *s, struct line line)
{
	size_t colon = line.size;
	uint64_t number;

	while (colon && line.text[colon - 1] != ':')
		colon--;
	if (colon && s->has_frame &&
	    lines_in_number(line.text + colon, line.size - colon, &number) &&
	    number <= INT32_MAX)
		s->step.line = (uint32_t)number;
}

/* --- samples --- */

static struct error *end_sample(struct script *s)
{
	struct error *error = end_frame(s);

	if (error || !s->is_open)
		return error;
	s->is_open = false;
	s->sample.node = PROFILE_NONE;
	for (size_t i = s->places.count; !error && i-- > 0;)
		error = import_node(s->model, s->sample.node, s->places.data[i],
				    &s->sample.node);
	return error ? error : import_sample(s->model, &s->sample);
}

/* Software clocks and kaa's waits count ns (perfdata/event_meaning.h). */
static enum event_unit unit_of(const char *event)
{
	static const char *const timed[] = { "cpu-clock", "task-clock",
					     "wall-clock", "gil-clock",
					     "async-clock", "off-cpu" };
	size_t n = strcspn(event, ":");

	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (strlen(timed[i]) == n && !memcmp(timed[i], event, n))
			return EVENT_NANOSECONDS;
	return strncmp(event, "sched:sched_stat_", 17) ? EVENT_COUNT :
							  EVENT_NANOSECONDS;
}

static struct error *begin_sample(struct script *s, const struct head *head)
{
	struct error *error;

	if (!s->model->samples.count && !s->first)
		s->first = head->time;
	s->sample = (struct import_sample){
		.time = head->time > s->first ? head->time - s->first : 0,
		.weight = head->period,
		.count = 1,
	};
	s->is_open = true;
	vec_clear(&s->places);
	strbuf_clear(&s->text);
	strbuf_append(&s->text, head->event.text, head->event.size);
	strbuf_clear(&s->name);
	strbuf_append(&s->name, head->comm.text, head->comm.size);
	if (s->text.failed || s->name.failed)
		return error_no_memory();
	error = import_event(s->model, s->text.data, unit_of(s->text.data),
			     &s->sample.event);
	return error ? error :
		       import_thread(s->model, head->pid, head->tid, NULL,
				     s->name.data, &s->sample.thread);
}

static struct error *read_line(struct script *s, struct line line)
{
	struct head head;
	struct error *error;

	if (!line.size)
		return end_sample(s);
	if (*line.text == '\t')
		return read_frame(s, line);
	if (parse_head(line, &head)) {
		error = end_sample(s);
		if (!error)
			error = begin_sample(s, &head);
		skip_blanks(&head.rest);
		return error || !head.rest.size ? error :
						  read_frame(s, head.rest);
	}
	if (*line.text == ' ') {
		read_source(s, line);
		return NULL;
	}
	return *line.text == '#' ?
		       NULL :
		       lines_in_error(&s->lines,
				      "this is neither a sample nor a frame");
}

/* The first line that is no comment is a sample's. */
bool import_is_script(const struct import_input *input)
{
	struct lines_in lines = lines_in_init(input);
	struct line line;
	struct head head;

	while (lines_in_next(&lines, &line))
		if (line.size && *line.text != '#')
			return parse_head(line, &head);
	return false;
}

struct error *import_script(const struct import_input *input,
			    struct import_model *ret)
{
	struct script s = { .lines = lines_in_init(input),
			    .model = ret,
			    .name = STRBUF_INIT,
			    .file = STRBUF_INIT,
			    .text = STRBUF_INIT };
	struct error *error = NULL;
	struct line line;

	ret->has_times = true;
	while (!error && lines_in_next(&s.lines, &line))
		error = read_line(&s, line);
	if (!error)
		error = end_sample(&s);
	vec_deinit(&s.places);
	strbuf_deinit(&s.name);
	strbuf_deinit(&s.file);
	strbuf_deinit(&s.text);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile: a message Profile of
 * https://github.com/google/pprof/blob/main/proto/profile.proto. Tables may stand
 * in any order, so they are found first, and samples are read when all are known.
 */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/path_name.h"
#include "base/pprof_fields.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "import/import_format.h"
#include "import/protobuf_in.h"

/* What a row of a message has, as numbers by its fields. */
enum { ROW_FIELDS = 8 };

/* What a number has as text, and more. */
enum { NUMBER_MAX = 32 };

struct row {
	uint64_t field[ROW_FIELDS];
};

/* Which values of a sample are an event: how many samples, and what they weigh. */
struct value {
	uint32_t event;
	size_t weight;
	/* SIZE_MAX: each sample counts once. */
	size_t count;
};

/* Functions of a location, the innermost first: some of p->places. */
struct location {
	size_t first;
	size_t count;
};

struct pprof {
	const char *path;
	struct import_model *model;
	struct reader file;
	VEC(struct bytes) strings;
	VEC(struct row) types;
	VEC(struct row) mappings;
	VEC(struct row) functions;
	VEC(struct location) locations;
	VEC(uint32_t) places;
	/* Ids to rows. */
	struct map mapping_of;
	struct map function_of;
	struct map location_of;
	VEC(struct value) values;
	/* Of a sample: locations, values, and what its labels say. */
	VEC(uint64_t) steps;
	VEC(uint64_t) numbers;
	uint32_t thread_name;
	uint32_t process_name;
	int64_t pid;
	int64_t tid;
	struct strbuf name;
	struct strbuf other;
};

/* Small numbers stand near the beginning, and never in text. */
static bool is_binary(const struct import_input *input)
{
	for (size_t i = 0; i < 16 && i < input->size; i++)
		if ((unsigned char)input->data[i] < '\t')
			return true;
	return false;
}

bool import_is_pprof(const struct import_input *input)
{
	struct reader reader = reader_init(input->data, input->size);
	struct protobuf_field field;
	bool has_types = false;

	for (int i = 0; i < 64 && protobuf_in_next(&reader, &field); i++) {
		if (!field.number || field.number > 15)
			return false;
		has_types |= field.number == PROFILE_SAMPLE_TYPE;
	}
	return has_types && !reader.failed && is_binary(input);
}

static struct error *broken(const struct pprof *p, const struct reader *at,
			    const char *what)
{
	return error_at(ERROR_FORMAT, p->path, reader_offset(at),
			"the pprof profile %s", what);
}

static struct bytes string(const struct pprof *p, uint64_t number)
{
	return number < p->strings.count ? p->strings.data[number] :
					   (struct bytes){ (const uint8_t *)"", 0 };
}

/* At most `most` bytes of it, up to the first NUL. */
static const char *text_up_to(const struct pprof *p, uint64_t number, size_t most,
			      struct strbuf *out)
{
	struct bytes bytes = string(p, number);
	const char *data = (const char *)bytes.data;

	strbuf_clear(out);
	strbuf_append(out, data,
		      strnlen(data, bytes.size < most ? bytes.size : most));
	return out->data;
}

static const char *text(const struct pprof *p, uint64_t number,
			struct strbuf *out)
{
	return text_up_to(p, number, IMPORT_TEXT_MAX, out);
}

static bool is(const struct pprof *p, uint64_t number, const char *word)
{
	struct bytes bytes = string(p, number);

	return bytes.size == strlen(word) && !memcmp(bytes.data, word, bytes.size);
}

/* --- tables --- */

/* Numbers of a message, and of a list the last one. */
static bool read_row(struct reader message, struct row *ret)
{
	struct protobuf_field field;

	*ret = (struct row){};
	while (protobuf_in_next(&message, &field))
		if (field.number < ROW_FIELDS && !field.is_bytes)
			ret->field[field.number] = field.value;
	return !message.failed;
}

/* As other readers of protobuf: a string that is written as a number is skipped. */
static struct error *add_string(struct pprof *p, const struct protobuf_field *field)
{
	if (!field->is_bytes)
		return NULL;

	struct bytes bytes = { field->bytes.pos, reader_left(&field->bytes) };

	return vec_push(&p->strings, bytes) ? NULL : error_no_memory();
}

static struct error *note_period(struct pprof *p,
				 const struct protobuf_field *field)
{
	if (field->number == PROFILE_TIME_NANOS && field->value < IMPORT_SUM_MAX)
		p->model->start = field->value;
	return NULL;
}

#define ADD_ROW(p, table, ids, message)                                        \
	({                                                                     \
		struct row row_;                                               \
		struct error *error_ = NULL;                                   \
		if (!read_row(message, &row_))                                 \
			error_ = broken(p, &(p)->file, "is damaged");          \
		else if (!vec_push(&(p)->table, row_) ||                       \
			 !map_insert(ids, row_.field[1],                       \
				     (p)->table.count - 1, NULL))              \
			error_ = error_no_memory();                            \
		error_;                                                        \
	})

static struct error *read_table(struct pprof *p, const struct protobuf_field *field)
{
	struct row row;

	switch ((enum profile_field)field->number) {
	case PROFILE_STRING_TABLE:
		return add_string(p, field);
	case PROFILE_SAMPLE_TYPE:
		if (!read_row(field->bytes, &row))
			return broken(p, &p->file, "is damaged");
		return vec_push(&p->types, row) ? NULL : error_no_memory();
	case PROFILE_MAPPING:
		return ADD_ROW(p, mappings, &p->mapping_of, field->bytes);
	case PROFILE_FUNCTION:
		return ADD_ROW(p, functions, &p->function_of, field->bytes);
	case PROFILE_TIME_NANOS:
	case PROFILE_PERIOD:
	case PROFILE_COMMENT:
		return note_period(p, field);
	case PROFILE_SAMPLE:
	case PROFILE_LOCATION:
	case PROFILE_DURATION_NANOS:
	case PROFILE_PERIOD_TYPE:
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		break;
	}
	return NULL;
}

typedef struct error *field_fn(struct pprof *p,
			       const struct protobuf_field *field);

static struct error *each_field(struct pprof *p, field_fn *read)
{
	struct protobuf_field field;
	struct error *error = NULL;

	p->file.pos = p->file.start;
	while (!error && protobuf_in_next(&p->file, &field))
		error = read(p, &field);
	if (!error && p->file.failed)
		error = error_at(ERROR_TRUNCATED, p->path,
				 reader_offset(&p->file),
				 "the pprof profile ends too soon, or is none");
	return error;
}

/* --- locations --- */

static const struct row *row_of(const struct map *ids, const struct row *rows,
				uint64_t id)
{
	const uint64_t *number = map_find(ids, id);

	return number ? &rows[*number] : NULL;
}

/* mapping: NULL if there is none. */
static struct error *add_place(struct pprof *p, const struct row *line,
			       const struct row *mapping)
{
	static const struct row nothing;
	const struct row *function = row_of(&p->function_of, p->functions.data,
					    line->field[LINE_FUNCTION]);
	struct import_step step = { .kind = IMPORT_GUESS,
				    .line = (uint32_t)line->field[LINE_LINE] };
	uint32_t place;
	struct error *error;

	function = function ? function : &nothing;
	step.name = text(p, function->field[FUNCTION_NAME], &p->name);
	step.def_line = (uint32_t)function->field[FUNCTION_START_LINE];
	step.file = text(p, function->field[FUNCTION_FILENAME], &p->other);
	/* A script, which has no suffix; what is not Python is mapped. */
	if (!mapping && strchr(step.file, '/') &&
	    !strchr(path_name(step.file), '.'))
		step.kind = PROFILE_FRAME_PYTHON;
	if (mapping && !*step.file)
		step.file = text(p, mapping->field[MAPPING_FILENAME], &p->other);
	if (p->name.failed || p->other.failed)
		return error_no_memory();
	error = import_place(p->model, &step, &place);
	return error || vec_push(&p->places, place) ? error : error_no_memory();
}

/* 1 id, 2 mapping_id, 4 line*: 1 function_id, 2 line */
static struct error *read_location(struct pprof *p,
				   const struct protobuf_field *table)
{
	struct location location = { .first = p->places.count };
	struct reader message = table->bytes;
	struct protobuf_field field;
	struct error *error = NULL;
	const struct row *mapping;
	struct row row, line;

	if (table->number != PROFILE_LOCATION)
		return NULL;
	if (!read_row(message, &row))
		return broken(p, &p->file, "is damaged");
	mapping = row_of(&p->mapping_of, p->mappings.data,
			 row.field[LOCATION_MAPPING]);
	while (!error && protobuf_in_next(&message, &field))
		if (field.number == LOCATION_LINE &&
		    read_row(field.bytes, &line))
			error = add_place(p, &line, mapping);
	/* Nobody has named it: a place without a function. */
	if (!error && p->places.count == location.first)
		error = add_place(p, &(struct row){}, mapping);
	location.count = p->places.count - location.first;
	if (error)
		return error;
	return vec_push(&p->locations, location) &&
			       map_insert(&p->location_of, row.field[LOCATION_ID],
					  p->locations.count - 1, NULL) ?
		       NULL :
		       error_no_memory();
}

/* --- what values are --- */

/* "samples" or "samples:NAME" of kaa, before what those weigh. */
static bool is_count(const struct pprof *p, size_t type)
{
	struct bytes name = string(p, p->types.data[type].field[VALUE_TYPE_TYPE]);

	return is(p, p->types.data[type].field[VALUE_TYPE_UNIT], "count") &&
	       type + 1 < p->types.count && name.size >= 7 &&
	       !memcmp(name.data, "samples", 7) &&
	       (name.size == 7 || name.data[7] == ':');
}

static enum event_unit unit_of(const struct pprof *p, size_t type)
{
	uint64_t unit = p->types.data[type].field[VALUE_TYPE_UNIT];

	return is(p, unit, "nanoseconds") ? EVENT_NANOSECONDS :
	       is(p, unit, "bytes")	  ? EVENT_BYTES :
					    EVENT_COUNT;
}

static struct error *read_types(struct pprof *p)
{
	struct error *error = NULL;
	size_t count = SIZE_MAX;

	for (size_t i = 0; !error && i < p->types.count; i++) {
		struct value value = { .weight = i, .count = count };

		count = SIZE_MAX;
		if (is_count(p, i)) {
			count = i;
			continue;
		}
		error = import_event(p->model,
				     text(p, p->types.data[i].field[VALUE_TYPE_TYPE],
					  &p->name),
				     unit_of(p, i), &value.event);
		if (!error && !vec_push(&p->values, value))
			error = error_no_memory();
	}
	return error;
}

/* --- samples --- */

static struct error *read_numbers(struct pprof *p,
				  const struct protobuf_field *field, bool steps)
{
	struct reader list = field->bytes;
	uint64_t value = field->value;
	bool is_one = !field->is_bytes;

	while (is_one || (reader_left(&list) && reader_uleb128(&list, &value))) {
		if (!(steps ? vec_push(&p->steps, value) :
			      vec_push(&p->numbers, value)))
			return error_no_memory();
		if (is_one)
			break;
	}
	return list.failed ? broken(p, &list, "has a damaged list") : NULL;
}

/* A number as such, or as text. */
static int64_t label_number(struct pprof *p, const struct row *label)
{
	if (label->field[LABEL_NUM])
		return (int64_t)label->field[LABEL_NUM];
	return strtoll(text_up_to(p, label->field[LABEL_STR], NUMBER_MAX,
				  &p->other),
		       NULL, 10);
}

/* As kaa and others call them: 1 key, 2 str, 3 num */
static struct error *read_label(struct pprof *p, const struct row *label)
{
	uint64_t key = label->field[LABEL_KEY];
	bool is_thread = is(p, key, "thread") || is(p, key, "thread_name") ||
			 is(p, key, "thread name");
	struct bytes value = string(p, label->field[LABEL_STR]);

	if (is(p, key, "pid") || is(p, key, "process_id"))
		p->pid = label_number(p, label);
	else if (is(p, key, "tid") || is(p, key, "thread_id") ||
		 is(p, key, "thread id"))
		p->tid = label_number(p, label);
	else if (is_thread || is(p, key, "process"))
		return import_text(p->model, (const char *)value.data,
				   value.size,
				   is_thread ? &p->thread_name :
					       &p->process_name);
	return NULL;
}

static struct error *read_sample_fields(struct pprof *p, struct reader message)
{
	struct protobuf_field field;
	struct error *error = NULL;
	struct row label;

	vec_clear(&p->steps);
	vec_clear(&p->numbers);
	p->thread_name = p->process_name = PROFILE_NONE;
	p->pid = p->tid = 0;
	while (!error && protobuf_in_next(&message, &field)) {
		if (field.number == SAMPLE_LOCATION ||
		    field.number == SAMPLE_VALUE)
			error = read_numbers(p, &field,
					     field.number == SAMPLE_LOCATION);
		else if (field.number == SAMPLE_LABEL && field.is_bytes &&
			 read_row(field.bytes, &label))
			error = read_label(p, &label);
	}
	return !error && message.failed ? broken(p, &message, "is damaged") :
					  error;
}

static struct error *find_stack(struct pprof *p, uint32_t *ret)
{
	struct error *error = NULL;
	size_t depth = 0;

	*ret = PROFILE_NONE;
	for (size_t i = p->steps.count; !error && i-- > 0;) {
		const uint64_t *number =
			map_find(&p->location_of, p->steps.data[i]);
		const struct location *location;

		if (!number)
			return broken(p, &p->file,
				      "has a sample whose location is missing");
		location = &p->locations.data[*number];
		depth += location->count;
		if (depth > IMPORT_DEPTH_MAX)
			return error_create(ERROR_LIMIT,
					    "it has a stack that is too deep");
		for (size_t n = location->count; !error && n-- > 0;)
			error = import_node(p->model, *ret,
					    p->places.data[location->first + n],
					    ret);
	}
	return error;
}

static const char *name_of(const struct pprof *p, uint32_t number)
{
	return number == PROFILE_NONE ? NULL : p->model->texts.all.data[number];
}

static struct error *find_thread(struct pprof *p, uint32_t *ret)
{
	uint64_t name = p->thread_name == PROFILE_NONE ? 0 : p->thread_name + 1;

	/* Threads without numbers differ by their names. */
	if (!p->tid && !p->pid)
		p->tid = (int64_t)name + 1;
	return import_thread(p->model, p->pid ? p->pid : 1,
			     p->tid ? p->tid : p->pid, name_of(p, p->thread_name),
			     name_of(p, p->process_name), ret);
}

static uint64_t positive(uint64_t value)
{
	return (int64_t)value < 0 ? 0 : value;
}

static struct error *read_sample(struct pprof *p,
				 const struct protobuf_field *table)
{
	struct import_sample sample = {};
	struct error *error;

	if (table->number != PROFILE_SAMPLE)
		return NULL;
	error = read_sample_fields(p, table->bytes);
	if (!error && p->numbers.count != p->types.count)
		error = broken(p, &p->file,
			       "has a sample with too many or too few values");
	if (!error)
		error = find_stack(p, &sample.node);
	if (!error)
		error = find_thread(p, &sample.thread);
	for (size_t i = 0; !error && i < p->values.count; i++) {
		const struct value *value = &p->values.data[i];

		sample.event = value->event;
		sample.weight = positive(p->numbers.data[value->weight]);
		sample.count =
			value->count == SIZE_MAX ?
				1 :
				positive(p->numbers.data[value->count]);
		error = import_sample(p->model, &sample);
	}
	return error;
}

/* --- the file --- */

static void pprof_deinit(struct pprof *p)
{
	vec_deinit(&p->strings);
	vec_deinit(&p->types);
	vec_deinit(&p->mappings);
	vec_deinit(&p->functions);
	vec_deinit(&p->locations);
	vec_deinit(&p->places);
	map_deinit(&p->mapping_of);
	map_deinit(&p->function_of);
	map_deinit(&p->location_of);
	vec_deinit(&p->values);
	vec_deinit(&p->steps);
	vec_deinit(&p->numbers);
	strbuf_deinit(&p->name);
	strbuf_deinit(&p->other);
}

struct error *import_pprof(const struct import_input *input,
			   struct import_model *ret)
{
	struct pprof p = { .path = input->path,
			   .model = ret,
			   .file = reader_init(input->data, input->size),
			   .name = STRBUF_INIT,
			   .other = STRBUF_INIT };
	struct error *error = each_field(&p, read_table);

	if (!error)
		error = each_field(&p, read_location);
	if (!error)
		error = read_types(&p);
	if (!error)
		error = each_field(&p, read_sample);
	pprof_deinit(&p);
	return error;
}

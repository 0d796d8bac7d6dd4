// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_error.h"
#include "view/script/field_table.h"
#include "view/script/places.h"
#include "view/script/values.h"

enum {
	/* Bytes of text that are written at once. */
	FLUSH_SIZE = 1 << 16,
	/* Bytes of a date with a time. */
	LOCAL_TIME_SIZE = 96,
};

/* --- Output ------------------------------------------------------------- */

static struct error *flush(struct script_output *output)
{
	struct error *error = strbuf_error(&output->text);
	const char *where = output->path ? output->path : "standard output";

	if (error)
		return error;
	if (output->text.len &&
	    fwrite(output->text.data, output->text.len, 1, output->file) != 1)
		return error_os(errno, where, "cannot write");
	strbuf_clear(&output->text);
	return NULL;
}

static struct error *flush_if_full(struct script_output *output)
{
	return output->text.len < FLUSH_SIZE ? NULL : flush(output);
}

static struct error *open_output(struct script_output *output,
				 const char *recording,
				 const struct event *event)
{
	const char *name = event->name;

	/* An event's name may hold what leads elsewhere: a/b/. */
	if (asprintf(&output->path, "%s.%s.dump", recording, name) < 0) {
		output->path = NULL;
		return error_no_memory();
	}
	for (char *c = output->path + strlen(recording); *c; c++)
		if (*c == '/')
			*c = '_';
	output->file = fopen(output->path, "we");
	return output->file ? NULL :
			      output_error(errno, output->path);
}

static struct error *add_output(struct script_printer *p,
				const struct event *event)
{
	struct script_output *output = calloc(1, sizeof(*output));

	if (!output || !vec_push(&p->outputs, output)) {
		free(output);
		return error_no_memory();
	}
	output->text = (struct strbuf)STRBUF_INIT;
	if (event->meaning.kind == EVENT_STREAM)
		return NULL;
	return open_output(output, p->per_event, event);
}

static struct script_output *output_of(struct script_printer *p,
				       const struct event *event)
{
	return p->per_event && event->index < p->outputs.count
		       ? p->outputs.data[event->index]
		       : &p->standard;
}

static struct error *close_output(struct script_printer *p,
				  struct script_output *output)
{
	struct script_file written;
	struct error *error;

	if (!output->file)
		return NULL;
	error = flush(output);
	if (error)
		return error;
	written = (struct script_file){ output->path, ftell(output->file),
					output->samples };
	if (fclose(take_ptr(output->file)))
		return error_os(errno, output->path, "cannot write");
	p->say.file(&written, p->say.arg);
	return NULL;
}

/* --- What the recording says -------------------------------------------- */

/* Events come while a pipe is read. */
static struct error *see_events(struct script_printer *p)
{
	struct perfdata_reader *reader = converter_reader(p->converter);
	const struct events *events = perfdata_reader_events(reader);
	struct error *error = NULL;

	if (p->name_count == events->list.count)
		return NULL;
	for (; p->name_count < events->list.count && !error; p->name_count++) {
		const struct event *event = events->list.data[p->name_count];
		int width = (int)strlen(event->name);

		if (width > p->name_width)
			p->name_width = width;
		if (p->per_event)
			error = add_output(p, event);
	}
	if (error)
		return error;
	return script_fields_see(&p->fields, events, script_features(p),
				 perfdata_reader_is_pipe(reader));
}

static struct error *see_cgroup(struct script_printer *p,
				const struct record_cgroup *cgroup)
{
	char *path = strdup(cgroup->path);

	if (!path || !vec_push(&p->cgroup_paths, path)) {
		free(path);
		return error_no_memory();
	}
	return map_insert(&p->cgroups, cgroup->id, p->cgroup_paths.count - 1,
			  NULL)
		       ? NULL
		       : error_no_memory();
}

/* --- The start of a line ------------------------------------------------ */

static uint64_t shown_time(struct script_printer *p, uint64_t time)
{
	uint64_t from = 0;

	if (p->from_first) {
		if (!p->first_time)
			p->first_time = time;
		from = p->first_time;
	} else if (p->from_last) {
		from = p->last_time ? p->last_time : time;
		p->last_time = time;
	}
	return time - from;
}

static void put_start(struct script_printer *p, const struct record *record,
		      uint64_t fields, struct script_start *start,
		      struct strbuf *out)
{
	char tod[LOCAL_TIME_SIZE], misc[16];

	start->fields = fields;
	start->ns = p->ns;
	start->latency = p->latency;
	if (fields & SCRIPT_MISC) {
		script_misc_letters(record, misc);
		start->misc = misc;
	}
	if (fields & SCRIPT_TOD) {
		script_time_of_day(script_features(p), start->time, p->ns, tod,
				   sizeof(tod));
		start->tod = *tod ? tod : NULL;
	}
	if (fields & SCRIPT_TIME)
		start->time = shown_time(p, start->time);
	script_put_start(out, start);
}

/* perf's name for a thread that no record named. */
static const char *name_of(const char *comm, int32_t tid, char unnamed[16])
{
	if (comm)
		return comm;
	snprintf(unnamed, 16, ":%" PRId32, tid);
	return unnamed;
}

/* --- Samples and records ------------------------------------------------ */

static struct error *is_wanted(struct script_printer *p,
			       const struct convert_sample *sample, bool *ret)
{
	struct convert_frame *frame;
	struct error *error;

	script_filter_see(&p->filter, sample->stack);
	if (script_filter_needs_place(&p->filter)) {
		error = converter_frame(p->converter, sample->ip,
					record_cpumode(sample->record), &frame);
		if (!error)
			error = script_filter_place(
				&p->filter, frame->real ? frame->real : frame,
				sample->stack, ret);
		if (error || !*ret)
			return error;
	}
	*ret = script_filter_event(&p->filter, sample->event);
	return NULL;
}

static struct error *put_part(struct script_printer *p,
			      const struct convert_sample *sample,
			      uint64_t fields, enum script_part part,
			      struct strbuf *out)
{
	const struct script_field *field;
	struct error *error = NULL;

	for (field = script_field_table; field->name && !error; field++)
		if (field->part == part && (fields & field->bit))
			error = field->put(p, sample, fields, out);
	return error;
}

static struct error *print_sample(struct script_printer *p,
				  const struct convert_sample *sample,
				  uint64_t fields, struct strbuf *out)
{
	char unnamed[16];
	struct script_start start = {
		.comm = name_of(sample->comm, sample->tid, unnamed),
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.time = sample->time,
		.has_chain = script_has_chain(p, sample->event),
	};
	struct error *error;

	p->time = sample->time;
	put_start(p, sample->record, fields, &start, out);
	script_put_event(out, fields, sample->period, sample->event->name,
			 p->name_width);
	error = put_part(p, sample, fields, SCRIPT_BEFORE_PLACE, out);
	if (error)
		return error;
	error = script_print_place(p, sample, fields, out);
	if (error)
		return error;
	error = put_part(p, sample, fields, SCRIPT_AFTER_PLACE, out);
	strbuf_putc(out, '\n');
	return error;
}

struct error *script_print_sample(const struct convert_sample *sample,
				  void *arg)
{
	struct script_printer *p = arg;
	struct script_output *output;
	struct error *error = see_events(p);
	bool wanted = false;
	uint64_t fields;

	if (!error)
		error = is_wanted(p, sample, &wanted);
	if (error || !wanted)
		return error;
	fields = script_fields_of_event(&p->fields, sample->event);
	if (!fields)
		return NULL;
	if (p->fields.flags)
		fields |= SCRIPT_FLAGS;
	output = output_of(p, sample->event);
	output->samples++;
	error = print_sample(p, sample, fields, &output->text);
	return error ? error : flush_if_full(output);
}

static void put_record_start(struct script_printer *p,
			     const struct record *record, struct strbuf *out)
{
	struct script_start start = {
		.pid = (int32_t)record->pid,
		.tid = (int32_t)record->tid,
		.cpu = record->has & PERF_SAMPLE_CPU ? (int32_t)record->cpu
						     : -1,
		.time = record->time,
		.has_chain = script_has_chain(p, record->event),
	};
	uint32_t pid, tid;
	const char *comm;
	char unnamed[16];

	script_record_task(record, &pid, &tid);
	/* A thread that has gone is -1; the kernel's own maps are thread 0's. */
	comm = tid == UINT32_MAX ? NULL :
				   converter_comm(p->converter, tid ? pid : 0,
						  tid, record->time);
	start.comm = name_of(comm, (int32_t)tid, unnamed);
	if (!record->event->attr.sample_id_all) {
		start.cpu = 0;
		start.pid = (int32_t)pid;
		start.tid = (int32_t)tid;
	}
	put_start(p, record, script_fields_of_event(&p->fields, record->event),
		  &start, out);
}

static bool is_on_cpus(const struct script_printer *p,
		       const struct record *record)
{
	return !(record->has & PERF_SAMPLE_CPU) ||
	       id_list_passes(p->cpus, record->cpu);
}

static struct error *print_record(const struct record *record, void *arg)
{
	struct script_printer *p = arg;
	struct error *error = see_events(p);

	if (!error && record->type == PERF_RECORD_CGROUP)
		error = see_cgroup(p, &record->cgroup);
	if (error || !script_shows(&p->shown, record->type) ||
	    !is_on_cpus(p, record))
		return error;
	if (record->event)
		put_record_start(p, record, &p->standard.text);
	script_put_record(&p->standard.text, record);
	return flush_if_full(&p->standard);
}

/* --- All of it ---------------------------------------------------------- */

static struct error *check_cpus(const struct script_printer *p,
				const struct events *events)
{
	if (!p->cpus->count)
		return NULL;
	vec_for_each(event, &events->list)
		if (!((*event)->attr.sample_type & PERF_SAMPLE_CPU) &&
		    (*event)->meaning.kind != EVENT_STREAM)
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"the samples of '%s' were recorded without their CPU; leave out --cpu",
				(*event)->name);
	return NULL;
}

struct error *script_printer_start(struct script_printer *p,
				   struct converter *converter)
{
	struct perfdata_reader *reader = converter_reader(converter);
	struct error *error;

	p->converter = converter;
	p->standard.file = p->file;
	p->standard.text = (struct strbuf)STRBUF_INIT;
	converter_on_record(converter, print_record, p);
	if (perfdata_reader_is_pipe(reader))
		return NULL;
	error = see_events(p);
	if (!error)
		error = check_cpus(p, perfdata_reader_events(reader));
	return error ? error :
		       script_filter_check(&p->filter,
					   perfdata_reader_events(reader));
}

struct error *script_printer_end(struct script_printer *p)
{
	struct error *error = flush(&p->standard);

	vec_for_each(output, &p->outputs)
		if (!error)
			error = close_output(p, *output);
	return error;
}

static void output_destroy(struct script_output *output)
{
	strbuf_deinit(&output->text);
	if (output->file)
		fclose(output->file);
	free(output->path);
	free(output);
}

void script_printer_deinit(struct script_printer *p)
{
	strbuf_deinit(&p->standard.text);
	vec_for_each(output, &p->outputs)
		output_destroy(*output);
	vec_deinit(&p->outputs);
	vec_for_each(path, &p->cgroup_paths)
		free(*path);
	vec_deinit(&p->cgroup_paths);
	map_deinit(&p->cgroups);
	script_trace_end(p->trace);
	script_filter_deinit(&p->filter);
}

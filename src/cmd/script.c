// SPDX-License-Identifier: GPL-2.0-only
/* `kaa script`: every sample as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "cmd/missing.h"
#include "cmd/pager.h"
#include "view/script.h"

struct script_settings {
	struct input input;
	const char *fields;
	bool ns;
};

struct script {
	const struct script_settings *settings;
	struct converter *converter;
	unsigned int extra_fields;
	/* Events seen when event_width was computed. */
	size_t event_count;
	int event_width;
	struct strbuf out;
	VEC(struct script_frame) frames;
};

enum {
	/* Bytes of text that are written at once. */
	FLUSH_SIZE = 1 << 16,
};

static struct error *flush(struct script *script)
{
	struct error *error = strbuf_error(&script->out);

	if (error)
		return error;
	if (script->out.len &&
	    fwrite(script->out.data, script->out.len, 1, stdout) != 1)
		return error_os(errno, "standard output", "cannot write");
	strbuf_clear(&script->out);
	return NULL;
}

static int event_width(struct script *script)
{
	const struct events *events =
		perfdata_reader_events(converter_reader(script->converter));

	if (script->event_count == events->list.count)
		return script->event_width;
	script->event_count = events->list.count;
	vec_for_each(event, &events->list) {
		int n = (int)strlen((*event)->name);

		if (n > script->event_width)
			script->event_width = n;
	}
	return script->event_width;
}

static unsigned int fields_of(const struct event *event)
{
	uint64_t type = event->attr.sample_type;
	/* With a fixed period samples do not carry it; perf prints it all the same. */
	unsigned int fields = SCRIPT_PERIOD;

	if (type & PERF_SAMPLE_TID)
		fields |= SCRIPT_TID;
	if (type & PERF_SAMPLE_CPU)
		fields |= SCRIPT_CPU;
	if (type & PERF_SAMPLE_TIME)
		fields |= SCRIPT_TIME;
	/* Without a chain a tracepoint's place says nothing. */
	if ((type & PERF_SAMPLE_CALLCHAIN) ||
	    ((type & PERF_SAMPLE_IP) &&
	     event->attr.type != PERF_TYPE_TRACEPOINT))
		fields |= SCRIPT_IP;
	return fields;
}

static bool add_frames(struct script *script, const struct convert_stack *stack)
{
	if (!vec_reserve(&script->frames, stack->count))
		return false;
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct convert_frame *f = stack->steps[i].frame;
		bool marker = f->kind == PROFILE_FRAME_MARKER;

		script->frames.data[script->frames.count++] =
			(struct script_frame){
				.address = f->address,
				.name = f->name,
				.offset = f->offset,
				.dso = f->dso ? f->dso->path : NULL,
				/* In the image, but of no line: as addr2line has it. */
				.file = marker ? "??" : f->file,
				.line = f->line,
				.rel = f->rel,
			};
	}
	return true;
}

static struct error *on_sample(const struct convert_sample *sample, void *arg)
{
	struct script *script = arg;
	struct script_sample s = {
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.time = sample->time,
		.period = sample->period,
		.event = sample->event->name,
		.event_width = event_width(script),
		.fields = fields_of(sample->event) | script->extra_fields,
		.has_chain = sample->has_chain,
	};
	char unnamed[16];

	/* perf prints nothing of such a chain. */
	vec_clear(&script->frames);
	if ((!script->settings->input.options.like_perf ||
	     !(sample->flags & PROFILE_SAMPLE_DAMAGED)) &&
	    !add_frames(script, sample->stack))
		return error_no_memory();
	snprintf(unnamed, sizeof(unnamed), ":%d", sample->tid);
	s.comm = sample->comm ? sample->comm : unnamed;
	s.frames = script->frames.data;
	s.count = script->frames.count;
	script_format(&s, &script->out);
	return script->out.len < FLUSH_SIZE ? NULL : flush(script);
}

/* "+srcline,+pid" */
static struct error *parse_fields(struct script_settings *settings,
				  unsigned int *ret)
{
	struct input_words words = {};
	struct error *error =
		input_split(&settings->input, settings->fields, &words);

	*ret = settings->ns ? SCRIPT_NS : 0;
	vec_for_each(word, &words) {
		if (error)
			break;
		if (!strcmp(*word, "+srcline"))
			*ret |= SCRIPT_SRCLINE;
		else if (!strcmp(*word, "+pid"))
			*ret |= SCRIPT_PID;
		else
			error = error_create(
				ERROR_INVALID_ARGUMENT,
				"-F knows +srcline and +pid, not '%s'", *word);
	}
	vec_deinit(&words);
	return error;
}

static struct error *print_samples(struct script *script)
{
	struct error *error;

	error = converter_run(script->converter, on_sample, script);
	return error ? error : flush(script);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct script_settings *settings = arg;
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	struct script script = { .settings = settings, .out = STRBUF_INIT };
	struct pager pager = {};
	struct error *error;

	(void)exit_code;
	if (args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "takes no argument, not even '%s'",
				    args->values[0]);
	error = parse_fields(settings, &script.extra_fields);
	if (error)
		return error;
	settings->input.options.lines = script.extra_fields & SCRIPT_SRCLINE;
	error = input_prepare(&settings->input);
	if (!error)
		error = input_open(&settings->input, &converter);
	if (error)
		return error;
	script.converter = converter;
	pager_start(&pager);
	error = print_samples(&script);
	strbuf_deinit(&script.out);
	vec_deinit(&script.frames);
	pager_end(&pager);
	if (!error)
		missing_report(converter, settings->input.verbose > 0);
	return error;
}

static void set_defaults(void *arg)
{
	struct script_settings *settings = arg;

	input_set_defaults(&settings->input);
}

static void deinit(void *arg)
{
	struct script_settings *settings = arg;

	input_deinit(&settings->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct script_settings),
	OPT_GROUP("Samples"),
	OPT_STRING('c', "comms", struct script_settings, input.comms,
		   "<name,...>", "samples of threads with these names only"),
	INPUT_FILTER_OPTIONS(struct script_settings),
	OPT_GROUP("Output"),
	OPT_STRING('F', "fields", struct script_settings, fields,
		   "<+field,...>",
		   "print +srcline (file and line of each frame), +pid, too"),
	OPT_BOOL(0, "ns", struct script_settings, ns, "times in nanoseconds"),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct script_settings),
	OPT_END(),
};

const struct command command_script = {
	.name = "script",
	.summary = "print every sample of a recording",
	.usage = (const char *const[]){ "[<options>]", NULL },
	.description =
		"Prints the samples in time order, each with its call chain, in the\n"
		"layout of perf script. A return address is named by the call before\n"
		"it, and a chain of frame pointers ends where the stack does.",
	.options = options,
	.examples = (const char *const[]){
		"kaa script",
		"kaa script -i perf.data --comms python3 -F +srcline\t"
		"with the lines of Python frames",
		NULL },
	.settings_size = sizeof(struct script_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};

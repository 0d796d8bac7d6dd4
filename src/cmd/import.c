// SPDX-License-Identifier: GPL-2.0-only
/* `kaa import`: a file of another profiler as a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/record_before.h"
#include "import/import_format.h"
#include "import/gunzip.h"
#include "import/recording.h"

/* What standard input is called in messages. */
#define STDIN_NAME "standard input"

enum { STEP = 1 << 16 };

struct import_settings {
	/* NULL: as the file looks. */
	const struct import_row *format;
	const char *output;
	bool quiet;
};

static void format_words(struct strbuf *out)
{
	for (const struct import_row *row = import_formats; row->name; row++)
		strbuf_printf(out, "%s ", row->name);
}

static struct error *parse_format(void *arg, const struct option *option,
				  const char *text, bool negated)
{
	struct import_settings *settings = arg;
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = text };

	(void)option;
	settings->format = NULL;
	for (const struct import_row *row = import_formats; row->name; row++) {
		if (negated)
			return NULL;
		if (!strcmp(row->name, text)) {
			settings->format = row;
			return NULL;
		}
		nearest_add(&nearest, row->name);
	}
	nearest_format(&nearest, &near);
	if (!nearest.count) {
		strbuf_puts(&near, ": there are ");
		format_words(&near);
		strbuf_trim_end(&near);
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "there is no format '%s' to import%s", text,
			    near.data);
}

static struct error *check_arguments(const struct import_settings *s,
				     const struct arguments *args)
{
	if (!args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "name the file to import");
	if (args->count > 1)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unexpected argument '%s': one file is imported at a time",
				    args->values[1]);
	if (!strcmp(s->output, "-") && isatty(STDOUT_FILENO))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "a recording cannot be written to a terminal: add '-o FILE'");
	return NULL;
}

/* What there is, and what became of it. */
static void tell(const struct import_settings *s, const char *path,
		 const struct import_row *format,
		 const struct import_model *model,
		 const struct import_written *written)
{
	message_note("wrote '%s': %" PRIu64 " sample%s of %zu thread%s, from '%s' (%s)",
		     s->output, written->samples, plural(written->samples),
		     model->threads.count, plural(model->threads.count), path,
		     format->name);
	if (written->is_summed)
		message_note("'%s' counts %" PRIu64 ", which are too many samples to write: one stands for several, and weighs as much",
			     path, model->count);
	if (!model->has_times)
		message_note("'%s' has no times: the samples have an order alone",
			     path);
	if (written->cut)
		message_warn("%" PRIu64 " stack%s too deep: the outer frames are left out",
			     written->cut, written->cut == 1 ? " is" : "s are");
}

/* A pipe, too. */
static struct error *read_stream(FILE *in, const char *name, struct strbuf *out)
{
	size_t n;

	do {
		if (!strbuf_reserve(out, STEP))
			return error_no_memory();
		n = fread(out->data + out->len, 1, STEP, in);
		out->len += n;
		out->data[out->len] = '\0';
		if (out->len > IMPORT_BYTES_MAX)
			return error_create(ERROR_LIMIT,
					    "'%s' has more than 1 GiB", name);
	} while (n);
	return ferror(in) ? error_os(errno, name, "cannot read the file") : NULL;
}

static struct error *read_file(const char *path, struct strbuf *out)
{
	struct error *error;
	FILE *in;

	if (!strcmp(path, "-"))
		return read_stream(stdin, STDIN_NAME, out);
	in = fopen(path, "re");
	if (!in)
		return error_os(errno, path, "cannot open the file");
	error = read_stream(in, path, out);
	fclose(in);
	return error;
}

/* The recording of that name becomes the older one, as `kaa record` has it. */
static struct error *write_recording(const struct import_settings *s,
				     struct import_model *model,
				     struct import_written *written)
{
	struct record_before before;
	struct error *error;

	record_before_keep(&before, s->output, -1);
	error = import_write(model, s->output, -1, -1, written);
	if (error)
		record_before_restore(&before);
	else
		record_before_drop(&before);
	if (!error && record_before_kept(&before))
		message_note("the recording that was there is kept as '%s'",
			     record_before_kept(&before));
	record_before_deinit(&before);
	return error;
}

static struct error *import(const struct import_settings *s, const char *path,
			    struct import_model *model)
{
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	const char *name = strcmp(path, "-") ? path : STDIN_NAME;
	const struct import_row *format;
	struct import_written written;
	struct error *error = read_file(path, &data);

	if (!error)
		error = import_read(name, data.data, data.len, s->format, model,
				    &format);
	if (!error)
		error = write_recording(s, model, &written);
	if (!error)
		tell(s, name, format, model, &written);
	return error;
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct import_settings *settings = arg;
	struct import_model model = IMPORT_MODEL_INIT;
	struct error *error = check_arguments(settings, args);

	(void)exit_code;
	message_set_quiet(settings->quiet);
	if (!error)
		error = import(settings, args->values[0], &model);
	import_model_deinit(&model);
	return error;
}

static void set_defaults(void *arg)
{
	struct import_settings *settings = arg;

	settings->output = "perf.data";
}

static const struct option options[] = {
	OPT_CALL(0, "format", parse_format, "<format>",
		 "read this format: %s (default: what the file looks like)",
		 .values = format_words),
	OPT_STRING('o', "output", struct import_settings, output, "<file>",
		   "write the recording to this file (default: perf.data)"),
	OPT_BOOL('q', "quiet", struct import_settings, quiet,
		 "print no notes, such as what was written"),
	OPT_END(),
};

#define FORMAT_HELP(name, help) "\n--format " #name " reads " help "\n"

const struct command command_import = {
	.name = "import",
	.summary = "write a recording of another profiler's file",
	.usage = (const char *const[]){ "[<options>] <file>", NULL },
	.description =
		"Reads a file that another profiler has written, and writes a recording. "
		"report, annotate, diff, flamegraph, script and export read that as any other. "
		"'-' reads standard input. "
		"It has what the file had: functions, lines of Python code, threads, events and times as far as the format holds them.\n"
		IMPORT_FORMATS(FORMAT_HELP),
	.options = options,
	.examples = (const char *const[]){
		"kaa import profile.json\twrite perf.data, for kaa report",
		"kaa import raw.txt -o spy.data\timport what py-spy has written with '-f raw'",
		"kaa report -i spy.data\tshow what was imported",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING, NULL },
	.settings_size = sizeof(struct import_settings),
	.set_defaults = set_defaults,
	.run = run,
};

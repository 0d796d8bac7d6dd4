// SPDX-License-Identifier: GPL-2.0-only
/* `kaa view`: a recording as a page in the browser, with all views. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/compared.h"
#include "cmd/reading/input.h"
#include "cmd/reading/one_event.h"
#include "cmd/reading/recorded_code.h"
#include "cmd/reading/show.h"
#include "cmd/view_browser.h"
#include "cmd/view_user.h"
#include "export/html.h"
#include "export/page_data.h"
#include "serve/server.h"
#include "sys/event_parse.h"

struct view_settings {
	struct input input;
	struct compared compared;
	uint64_t port;
	bool no_browser;
	struct export_options options;
	struct progress progress;
	/* What is served. */
	struct strbuf data;
	char *page;
	size_t page_size;
};

/* --- What is read ------------------------------------------------------- */

static struct error *make_texts(struct view_settings *s,
				const struct profile *profile)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	_cleanup_fclose_ FILE *out = NULL;
	struct error *error;

	s->options.symfs = s->input.symfs;
	s->options.is_filtered = input_is_filtered(&s->input);
	error = page_data_put(profile, &s->options, &s->data, &title);
	if (error)
		return error;
	out = open_memstream(&s->page, &s->page_size);
	error = out ? html_put(&title, NULL, out) : error_no_memory();
	if (!error && fflush(out))
		error = error_no_memory();
	return error;
}

static struct error *show_one(void *arg, struct converter *converter)
{
	const struct code_places code = recorded_code(converter);
	struct view_settings *s = arg;
	_cleanup_profile_ struct profile *profile = NULL;
	const struct profile_options options = {};
	struct error *error = convert_to_profile(converter, &options, &profile);

	progress_end(&s->progress);
	s->options.event = PROFILE_NONE;
	if (!error && s->compared.event)
		error = one_event_choose(profile, s->compared.event,
					 PROFILE_NONE, "shown",
					 &s->options.event);
	if (error)
		return error;
	s->options.code = &code;
	error = make_texts(s, profile);
	s->options.code = NULL;
	return error;
}

static struct error *compare(struct view_settings *s, int *exit_code)
{
	struct compared *c = &s->compared;
	struct page_compare page;
	struct error *error = input_prepare(&s->input);

	if (!error)
		error = compared_read(c, exit_code);
	if (!error)
		error = compared_measure(c);
	if (error)
		return error;
	page = compared_page(c);
	s->options.compare = &page;
	s->options.event = c->event ? c->events.data[PAGE_AFTER] : PROFILE_NONE;
	error = make_texts(s, c->profile);
	s->options.compare = NULL;
	return error;
}

static struct error *read_input(struct view_settings *s, int *exit_code)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	struct error *error;

	s->options.folder = folder;
	error = s->compared.paths.count ?
			compare(s, exit_code) :
			show_input(&s->input, &s->progress, show_one, s,
				   exit_code);
	s->options.folder = NULL;
	return error;
}

/* --- Serving ------------------------------------------------------------ */

static void put_link(const struct server *server, size_t token,
		     struct strbuf *out)
{
	strbuf_printf(out, "http://127.0.0.1:%u" SERVER_ENTER "?token=%s",
		      server_port(server), server_token(server, token));
}

/* Of the main thread, and of those that it starts: they come to sigwait(). */
static void hold_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
	pthread_sigmask(SIG_BLOCK, ret, NULL);
}

static struct error *serve(const struct view_settings *s)
{
	const struct server_document documents[] = {
		{ "/", "text/html; charset=utf-8", s->page, s->page_size },
		{ "/data", "application/octet-stream", s->data.data,
		  s->data.len },
	};
	const struct server_options options = {
		.documents = documents,
		.count = sizeof(documents) / sizeof(*documents),
		.policy = html_served_policy,
		.port = (uint16_t)s->port,
	};
	_cleanup_(view_browser_deinit) struct view_browser browser = {};
	_cleanup_server_ struct server *server = NULL;
	_cleanup_strbuf_ struct strbuf link = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf other = STRBUF_INIT;
	sigset_t ending;
	int number;
	struct error *error;

	hold_signals(&ending);
	error = server_create(&options, &server);
	if (error)
		return error;
	put_link(server, 0, &link);
	put_link(server, 1, &other);
	if (!s->no_browser && view_browser_open(&browser, other.data))
		printf("The page opens in your browser. Another link to it, which works once:\n");
	else
		printf("Open this link in a browser on this machine. It works once:\n");
	printf("  %s\nCtrl-C ends kaa view.\n", link.data);
	fflush(stdout);
	sigwait(&ending, &number);
	return NULL;
}

/* --- The command -------------------------------------------------------- */

static struct error *check(struct view_settings *s, const struct arguments *args)
{
	if (args->count > 2 || (args->count > 1 && s->input.path))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unexpected argument '%s': one recording is shown, or what changed from one to another",
				    args->values[args->count - 1]);
	if (s->port > UINT16_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "there is no port above %u", UINT16_MAX);
	if (args->count > 1)
		return compared_take(&s->compared, args);
	return args->count ? input_name(&s->input, args->values[0]) : NULL;
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct view_settings *s = arg;
	struct error *error;

	s->compared.input = &s->input;
	s->compared.progress = &s->progress;
	error = check(s, args);
	if (!error)
		error = view_user_become();
	if (!error)
		error = read_input(s, exit_code);
	if (!error)
		error = view_user_leave_root();
	return error ? error : serve(s);
}

static void set_defaults(void *arg)
{
	struct view_settings *s = arg;

	input_set_defaults(&s->input);
	s->data = (struct strbuf)STRBUF_INIT;
}

static void deinit(void *arg)
{
	struct view_settings *s = arg;

	compared_deinit(&s->compared);
	input_deinit(&s->input);
	strbuf_deinit(&s->data);
	free(s->page);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct view_settings),
	OPT_GROUP("Page"),
	OPT_U64(0, "port", struct view_settings, port, "<n>",
		"use this port of 127.0.0.1 (default: any that is free)"),
	OPT_BOOL(0, "no-browser", struct view_settings, no_browser,
		 "print the link, and open no browser"),
	OPT_STRING(0, "by", struct view_settings, compared.by_text,
		   "<time|share>", "compare two recordings by what they took, or by shares (default: as kaa diff)"),
	OPT_GROUP("Samples"),
	OPT_STRING(0, "event", struct view_settings, compared.event, "<event>",
		   "use only samples of this event (default: all, to choose from)",
		   .values = event_words),
	INPUT_COMMS_OPTION(struct view_settings),
	INPUT_FILTER_OPTIONS(struct view_settings),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct view_settings),
	OPT_END(),
};

const struct command command_view = {
	.name = "view",
	.summary = "open a recording in the browser",
	.usage = (const char *const[]){ "[<options>] [<file>]",
					"[<options>] <before> <after>",
					NULL },
	.description =
		"Serves a page with all views of a recording: functions and lines, flame graph, call tree, source, and threads over time, to search and to filter. "
		"It begins with what 'kaa report' prints. "
		"Of two recordings it shows the second, and what changed since the first, as 'kaa diff' measures it. "
		"The browser of the desktop opens it, if there is one; a link to it is printed.\n"
		"\n"
		"Only this machine reaches the page, and only who has the link, which works once. "
		"The page asks nothing of other machines. "
		"Under sudo it is served by the user who typed sudo; as root, by the user nobody.\n"
		"\n"
		"'kaa export --format html' writes the same page as a file, to keep or to send.\n",
	.options = options,
	.examples = (const char *const[]){
		"kaa view\topen perf.data",
		"kaa view old.data\topen another recording",
		"kaa view old.data new.data\tshow what changed",
		"kaa view --no-browser --port 8000\tprint the link: for 'ssh -L 8000:127.0.0.1:8000'",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_HOME, NULL },
	.settings_size = sizeof(struct view_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};

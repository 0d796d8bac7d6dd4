// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_answer.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/framework/message.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/answer_print.h"
#include "cmd/reading/input.h"
#include "view/answer.h"

enum {
	/* About a million samples: seconds. */
	SIZE_MAX_READ = 128 << 20,
};

/* The recorder took Ctrl-C as its own end; one more ends the process. */
static void let_interrupts_in(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	/* One that waits was meant for the recording. */
	signal(SIGINT, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static struct error *print(struct input *input, const char *recording)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	_cleanup_profile_ struct profile *profile = NULL;
	const struct profile_options options = { .aggregate = true };
	struct answer_input answer = {
		.recording = recording,
		.columns = answer_columns(STDERR_FILENO),
		.columns_given = answer_columns_given(STDERR_FILENO),
		.is_brief = true,
	};
	struct progress progress = {};
	struct error *error = input_prepare(input);

	/* As `kaa report` names functions. */
	input->options.inlines = input->inlines;
	progress_start(&progress, &input->options);
	if (!error)
		error = input_open(input, &converter);
	if (!error)
		error = convert_to_profile(converter, &options, &profile);
	progress_end(&progress);
	if (error)
		return error;
	answer.event = answer_event(profile);
	return answer.event == PROFILE_NONE ?
		       NULL :
		       answer_print(profile, &answer, stderr);
}

void record_answer(const char *path)
{
	struct input input = { .path = path };
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;
	struct error *error;
	struct stat st;

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	input_put_words(&input, &recording);
	if (st.st_size > SIZE_MAX_READ) {
		answer_print_next(recording.data,
				  answer_columns_given(STDERR_FILENO), stderr);
		return;
	}
	let_interrupts_in();
	input_set_defaults(&input);
	input.path = path;
	error = print(&input, recording.data);
	if (error)
		message_warn_error(error);
	error_destroy(error);
	input_deinit(&input);
}

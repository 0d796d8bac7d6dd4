// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/show.h"

#include "cmd/reading/missing.h"
#include "cmd/reading/unmatched_tasks.h"

static struct error *open_input(struct input *input, struct progress *progress,
				struct converter **ret)
{
	struct error *error = input_prepare(input);

	if (error)
		return error;
	input->options.inlines = input->inlines;
	progress_start(progress, &input->options);
	return input_open(input, ret);
}

struct error *show_input(struct input *input, struct progress *progress,
			 show_recording *show, void *arg, int *exit_code)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	_cleanup_error_ struct error *failed = NULL;
	struct error *error = open_input(input, progress, &converter);

	if (!error)
		failed = show(arg, converter);
	progress_end(progress);
	if (error)
		return error;
	error = missing_report(converter, input->verbose > 0, NULL,
			       exit_code);
	if (!error)
		error = unmatched_tell(&input->options, converter);
	return failed ? take_ptr(failed) : error;
}

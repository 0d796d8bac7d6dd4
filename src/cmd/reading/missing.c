// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/missing.h"

#include <string.h>

#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/message.h"

/* path: in front of each line, or NULL. */
static void say(const struct faults *faults, enum fault_lines which,
		const char *path, void (*message)(const char *format, ...))
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *line;

	fault_lines(faults, which, &text);
	for (line = text.data; *line;) {
		size_t n = strcspn(line, "\n");

		message("%s%s%.*s", path ? path : "", path ? ": " : "",
			(int)n, line);
		line += n + (line[n] == '\n');
	}
}

void missing_warn(const struct faults *faults, enum fault_lines which)
{
	say(faults, which, NULL, message_warn);
}

void missing_warn_of(const char *path, const struct faults *faults,
		     enum fault_lines which)
{
	say(faults, which, path, message_warn);
}

static struct error *first_error(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_destroy(second);
	return first;
}

void missing_set_exit_code(const struct faults *faults, int *exit_code)
{
	if (faults_count(faults, FAULT_MISSING_BYTES))
		*exit_code = EXIT_CODE_FAILED;
}

struct error *missing_report_damage(struct converter *converter,
				    struct error *failed, int *exit_code)
{
	_cleanup_faults_ struct faults faults = {};
	struct error *error = converter_faults(converter, &faults);

	if (!error) {
		missing_warn(&faults, FAULT_LINES_DAMAGE);
		missing_set_exit_code(&faults, exit_code);
	}
	return first_error(failed, error);
}

struct error *missing_report(struct converter *converter, bool all,
			     struct error *failed, int *exit_code)
{
	_cleanup_faults_ struct faults faults = {};
	struct error *error = converter_faults(converter, &faults);

	if (!error)
		error = converter_stack_faults(converter, &faults);
	if (!error) {
		missing_warn(&faults, FAULT_LINES_DAMAGE);
		missing_warn(&faults, FAULT_LINES_FILE);
		if (all)
			say(&faults, FAULT_LINES_STACKS, NULL, message_note);
		missing_set_exit_code(&faults, exit_code);
	}
	return first_error(failed, error);
}

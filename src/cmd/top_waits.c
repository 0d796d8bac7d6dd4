// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_waits.h"

#include "collect/sampler_options.h"
#include "dump/dump.h"
#include "dump/subject.h"
#include "view/fit.h"
#include "view/own_command.h"

/* Returns the lines. *is_no_python: it is none, as far as this user may see. */
static size_t put_process(pid_t pid, size_t lines, size_t columns,
			  bool *is_no_python, struct strbuf *out)
{
	const struct dump_words words = { .width = columns };
	const struct dump_options options = {};
	_cleanup_(cleanup_dump_) struct dump *dump = NULL;
	struct subject *subject = NULL;
	struct error *error = subject_open_live(pid, &subject);
	bool opened = !error;
	size_t used = 0;

	if (opened)
		error = subject_find_python(subject);
	*is_no_python = opened && error && error->code == ERROR_NOT_FOUND;
	if (!error && lines)
		error = dump_create(subject, &options, &dump);
	if (dump)
		used = dump_text_brief(dump, &words, lines, out);
	subject_destroy(subject);
	error_destroy(error);
	return used;
}

bool top_waits_put(const struct pid_vec *pids, size_t lines, size_t columns,
		   struct strbuf *out)
{
	bool no_python = pids->count > 0;
	size_t used = 0;

	vec_for_each(pid, pids) {
		bool is_no_python;

		if (used >= lines && !no_python)
			break;
		used += put_process((pid_t)*pid, lines - used, columns,
				    &is_no_python, out);
		no_python &= is_no_python;
	}
	return no_python;
}

void top_waits_put_no_python(const struct pid_vec *pids, size_t columns,
			     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (pids->count == 1)
		strbuf_printf(&text, "process %d is no Python program",
			      (int)pids->data[0]);
	else
		strbuf_puts(&text, "these processes are no Python programs");
	strbuf_printf(&text, ": '%s' lists Pythons\n",
		      own_command_list_pythons());
	fit_lines(out, text.data, columns);
}

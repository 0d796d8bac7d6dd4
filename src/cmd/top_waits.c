// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_waits.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/path_name.h"
#include "collect/sampler_options.h"
#include "dump/dump.h"
#include "dump/subject.h"
#include "sys/own_program.h"
#include "sys/proc.h"
#include "view/fit.h"
#include "view/own_command.h"
#include "view/text.h"

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

/* Whatever it is, it may start a Python. */
static void put_no_python_of(const char *command, struct strbuf *out)
{
	const char *name = path_name(command);

	strbuf_puts(out, "neither '");
	text_append(out, name, strlen(name));
	strbuf_puts(out,
		    "' nor what it started runs Python now: kaa waits until one does\n");
}

static void put_no_python(const struct pid_vec *pids, struct strbuf *out)
{
	if (pids->count == 1)
		strbuf_printf(out, "process %d is no Python program",
			      (int)pids->data[0]);
	else
		strbuf_puts(out, "these processes are no Python programs");
	strbuf_printf(out, ": '%s' lists Pythons\n",
		      own_command_list_pythons());
}

void top_waits_put_no_python(const struct pid_vec *pids, const char *command,
			     size_t columns, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (command)
		put_no_python_of(command, &text);
	else
		put_no_python(pids, &text);
	fit_lines(out, text.data, columns);
}

static bool runs_kaa(pid_t pid, const struct strbuf *own)
{
	_cleanup_free_ char *exe = NULL;
	struct error *error = proc_link("", pid, "exe", &exe);
	bool is_own = !error && !strcmp(exe, own->data);

	error_destroy(error);
	return is_own;
}

struct error *top_waits_find(pid_t recorder, struct pid_vec *ret)
{
	_cleanup_strbuf_ struct strbuf own = STRBUF_INIT;
	struct pid_list below = {};
	struct error *error = own_program_path(&own);

	if (!error)
		error = proc_descendants("", recorder, &below);
	for (size_t i = 0; i < below.count && !error; i++)
		if (!runs_kaa(below.data[i], &own) &&
		    !vec_push(ret, below.data[i]))
			error = error_no_memory();
	vec_deinit(&below);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_waits.h"

#include "collect/sampler_options.h"
#include "dump/dump.h"
#include "dump/subject.h"

/* Returns the lines. */
static size_t put_process(pid_t pid, size_t lines, size_t columns,
			  struct strbuf *out)
{
	const struct dump_words words = { .width = columns };
	const struct dump_options options = {};
	_cleanup_(cleanup_dump_) struct dump *dump = NULL;
	struct subject *subject = NULL;
	struct error *error = subject_open_live(pid, &subject);
	size_t used = 0;

	if (!error)
		error = subject_find_python(subject);
	if (!error)
		error = dump_create(subject, &options, &dump);
	if (!error)
		used = dump_text_brief(dump, &words, lines, out);
	subject_destroy(subject);
	error_destroy(error);
	return used;
}

void top_waits_put(const struct pid_vec *pids, size_t lines,
		   size_t columns, struct strbuf *out)
{
	size_t used = 0;

	vec_for_each(pid, pids)
		if (used < lines)
			used += put_process((pid_t)*pid, lines - used, columns,
					    out);
}

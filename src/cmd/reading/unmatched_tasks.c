// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/unmatched_tasks.h"

#include <string.h>

#include "base/plural.h"
#include "base/thread_match.h"
#include "base/vec.h"
#include "cmd/framework/message.h"
#include "view/unmatched.h"

enum {
	/* Lines that are printed. */
	LINES_MAX = 10,
};

enum task_part {
	TASK_COMM,
	TASK_PID,
	TASK_TID,
};

static struct error *list_tasks(const struct seen_tasks *seen,
				enum task_part part, unmatched_thing_vec *ret)
{
	vec_for_each(task, &seen->all) {
		struct unmatched_thing thing = { .name = task->comm,
						 .weight = task->samples };

		/* Its thread has counted the sample. */
		if (part != TASK_COMM && task->is_asyncio)
			continue;
		if (part != TASK_COMM)
			thing.id = part == TASK_PID ? task->pid : task->tid;
		if (!vec_push(ret, thing))
			return error_no_memory();
		thing.name = task->name;
		if (part == TASK_COMM && thing.name && !vec_push(ret, thing))
			return error_no_memory();
	}
	return NULL;
}

typedef VEC(const char *) word_vec;

/* The words that no name fits, as the samples' own threads were asked. */
static struct error *find_unmatched(const struct name_list *comms,
				    const unmatched_thing_vec *things,
				    word_vec *ret)
{
	for (size_t i = 0; i < comms->count; i++) {
		bool fits = false;

		vec_for_each(thing, things)
			fits |= thing->name &&
				thread_name_fits(comms->values[i], thing->name);
		if (!fits && !vec_push(ret, comms->values[i]))
			return error_no_memory();
	}
	return NULL;
}

static struct error *put_names(const struct name_list *comms,
			       const struct seen_tasks *seen,
			       struct strbuf *out)
{
	unmatched_thing_vec things = {};
	word_vec words = {};
	struct error *error;

	if (!comms->count)
		return NULL;
	error = list_tasks(seen, TASK_COMM, &things);
	if (!error)
		error = find_unmatched(comms, &things, &words);
	if (!error && words.count)
		unmatched_names("no sample is of a thread called",
				&(struct name_list){ words.data, words.count },
				&things, out);
	vec_deinit(&words);
	vec_deinit(&things);
	return error;
}

static struct error *put_ids(const char *none, const struct id_list *ids,
			     const struct seen_tasks *seen,
			     enum task_part part, struct strbuf *out)
{
	unmatched_thing_vec things = {};
	struct error *error;

	if (!ids->count)
		return NULL;
	error = list_tasks(seen, part, &things);
	if (!error)
		unmatched_ids(none, ids, &things, out);
	vec_deinit(&things);
	return error;
}

struct error *unmatched_tasks(const struct seen_tasks *seen,
			      const struct name_list *comms,
			      const struct id_list *pids,
			      const struct id_list *tids, struct strbuf *out)
{
	struct error *error = put_names(comms, seen, out);

	if (error)
		return error;
	error = put_ids("no sample is of process", pids, seen, TASK_PID, out);
	if (error)
		return error;
	return put_ids("no sample is of thread", tids, seen, TASK_TID, out);
}

void unmatched_print(const struct strbuf *lines)
{
	size_t count = 0;

	for (const char *line = lines->data; *line; count++) {
		size_t n = strcspn(line, "\n");

		if (count < LINES_MAX)
			message_note("%.*s", (int)n, line);
		line += n + (line[n] == '\n');
	}
	if (count > LINES_MAX)
		message_note("%zu other filter%s matched nothing",
			     count - LINES_MAX, plural(count - LINES_MAX));
}

struct error *unmatched_tell(const struct convert_options *options,
			     struct converter *converter)
{
	_cleanup_strbuf_ struct strbuf unmatched = STRBUF_INIT;
	struct error *error =
		unmatched_tasks(converter_seen_tasks(converter),
				&options->comms, &options->pids, &options->tids,
				&unmatched);

	if (!error)
		unmatched_print(&unmatched);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "view/process_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"
#include "view/answer_screen.h"
#include "view/text.h"

struct error *process_words_init(struct process_words *words,
				 const struct profile *profile, uint32_t event)
{
	struct error *error;

	*words = (struct process_words){ .profile = profile };
	error = answer_find_scripts(profile, event, &words->scripts);
	return error ? error :
		       answer_find_workers(profile, event, &words->workers);
}

void process_words_deinit(struct process_words *words)
{
	map_deinit(&words->scripts);
	map_deinit(&words->workers);
}

static uint32_t own_script_of(const struct process_words *words, int32_t pid)
{
	const uint64_t *script = map_find(&words->scripts, (uint32_t)pid);

	return script ? (uint32_t)*script : PROFILE_NONE;
}

uint32_t process_words_script(const struct process_words *words, int32_t pid)
{
	enum { LEVELS_MAX = 4 };
	struct answer_process process = answer_process(&words->workers, pid);
	uint32_t script = own_script_of(words, pid);

	for (int i = 0; script == PROFILE_NONE && process.is_worker && i < LEVELS_MAX;
	     i++) {
		script = own_script_of(words, process.parent);
		process.parent =
			answer_process(&words->workers, process.parent).parent;
	}
	return script;
}

void process_words_put_script(const struct process_words *words,
			      const struct place_names *names,
			      const struct profile_task *task,
			      struct strbuf *out)
{
	const char *comm = profile_string(words->profile, task->comm, "");
	const char *name =
		place_name(names, process_words_script(words, task->pid));

	if (!*name || (*comm && name_begins_with(path_name(name), comm)))
		return;
	strbuf_puts(out, " (");
	text_append(out, name, strlen(name));
	strbuf_putc(out, ')');
}

void process_words_put_parent(const struct process_words *words, int32_t pid,
			      struct strbuf *out)
{
	struct answer_process process = answer_process(&words->workers, pid);

	if (process.parent)
		strbuf_printf(out, ", %s of %" PRId32,
			      process.is_worker ? "worker" : "child",
			      process.parent);
	else if (process.is_worker)
		strbuf_puts(out, ", worker");
}

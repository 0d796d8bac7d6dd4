// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/subject_word.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/program.h"
#include "base/name_match.h"
#include "cmd/reading/input.h"
#include "view/shell_word.h"

static bool is_file(const char *name)
{
	struct stat st;

	return !stat(name, &st) && S_ISREG(st.st_mode);
}

static bool can_run(const char *name)
{
	char file[PATH_MAX];

	return agent_program_search(name, file, sizeof(file)) &&
	       is_file(file) && !access(file, X_OK);
}

/* NULL: it cannot be recorded. */
static const char *record_as(const char *word, const char *here)
{
	if (is_file(word) && name_ends_with(word, ".py"))
		return "python3 ";
	if (can_run(word))
		return "";
	return is_file(word) && can_run(here) ? "./" : NULL;
}

bool subject_word_command(const char *word, bool more, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf typed = STRBUF_INIT, here = STRBUF_INIT;
	const char *as;

	shell_word(word, &typed);
	strbuf_printf(&here, "./%s", word);
	if (typed.failed || here.failed || strcmp(typed.data, word) != 0)
		return false;
	if (input_is_recording(word)) {
		strbuf_printf(out, "kaa report %s", word);
		return true;
	}
	as = record_as(word, here.data);
	if (as)
		strbuf_printf(out, "kaa record %s%s%s", as, word,
			      more ? " ..." : "");
	return as != NULL;
}

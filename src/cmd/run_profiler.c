// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/run_profiler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	/* Launchers between perf and kaa are few. */
	ANCESTORS_MAX = 8,
	CMDLINE_MAX = 64 << 10,
};

/* -g, or letters before it that take no argument, as in -ag. */
static bool has_g(const char *word)
{
	if (word[0] != '-' || word[1] == '-')
		return false;
	return word[1 + strspn(word + 1, "aABdiINnqRsTvW")] == 'g';
}

/* What --call-graph says, or NULL if this word is another. */
static const char *call_graph_of(const char *word, const char *next)
{
	static const char option[] = "--call-graph";
	size_t length = sizeof(option) - 1;

	if (strncmp(word, option, length) != 0)
		return NULL;
	if (word[length] == '=')
		return word + length + 1;
	return word[length] ? NULL : next;
}

bool run_profiler_is_frame_pointers(const char *cmdline, size_t size)
{
	const char *end = cmdline + size;
	bool record = false, g = false, other = false;

	if (!size || end[-1])
		return false;
	for (const char *word = cmdline; word < end;) {
		const char *next = word + strlen(word) + 1;
		const char *how = call_graph_of(word, next < end ? next : "");

		/* What follows is kaa's own. */
		if (strcmp(word, "run") == 0)
			break;
		record |= strcmp(word, "record") == 0;
		g |= has_g(word) || (how && strncmp(how, "fp", 2) == 0);
		other |= how && strncmp(how, "fp", 2) != 0;
		word = next;
	}
	return record && g && !other;
}

static bool ask(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;
	char file[64];

	snprintf(file, sizeof(file), "/proc/%d/cmdline", (int)pid);
	error = file_read("", file, CMDLINE_MAX, &text);
	if (error) {
		error_destroy(error);
		return false;
	}
	return run_profiler_is_frame_pointers(text.data, text.len);
}

bool run_profiler_follows_frame_pointers(void)
{
	struct proc_status status;
	pid_t pid = getppid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct error *error = proc_status_read("", pid, &status);

		if (error) {
			error_destroy(error);
			return false;
		}
		/* perf, perf_6.1 */
		if (strncmp(status.comm, "perf", 4) == 0)
			return ask(pid);
		pid = status.ppid;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_left.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/framework/message.h"
#include "sys/proc.h"
#include "view/text.h"

enum {
	/* More are not counted; more than so many are not named. */
	LEFT_MAX = 100,
	NAMED_MAX = 3,
	/* Helpers, such as multiprocessing's, end when they see that their program has. */
	PATIENCE_MS = 500,
	STEP_MS = 20,
};

/* Those that do not end in a moment. */
static size_t find_left(const struct recorder *recorder, pid_t command,
			pid_t *ret)
{
	size_t count = recorder_running(recorder, command, ret, LEFT_MAX);

	for (int ms = 0; count && ms < PATIENCE_MS; ms += STEP_MS) {
		usleep(STEP_MS * 1000);
		count = recorder_running(recorder, command, ret, LEFT_MAX);
	}
	return count;
}

/* "4711 (python3)" */
static void put_process(pid_t pid, struct strbuf *out)
{
	_cleanup_error_ struct error *error = NULL;
	char comm[PROC_COMM_MAX];

	strbuf_printf(out, "%d", (int)pid);
	error = proc_comm(NULL, pid, comm);
	if (error)
		return;
	strbuf_puts(out, " (");
	text_append(out, comm, strlen(comm));
	strbuf_putc(out, ')');
}

static void say_several(const pid_t *left, size_t count)
{
	size_t named = count < NAMED_MAX ? count : NAMED_MAX;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, pids = STRBUF_INIT;

	for (size_t i = 0; i < named; i++) {
		strbuf_puts(&text, i ? ", " : "");
		put_process(left[i], &text);
		strbuf_printf(&pids, "%s%d", i ? "," : "", (int)left[i]);
	}
	message_note("%zu%s processes that the command started run on and are not recorded any more%s%s: 'kaa record -p %s' records these",
		     count, count == LEFT_MAX ? " or more" : "",
		     named < count ? ", such as " : ", ", text.data, pids.data);
}

void record_say_left(const struct recorder *recorder,
		     const struct record_setup *setup)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	pid_t left[LEFT_MAX];
	size_t count;

	if (!setup->options.records_launch || setup->launch.pid <= 0)
		return;
	count = find_left(recorder, setup->launch.pid, left);
	if (count > 1)
		say_several(left, count);
	if (count != 1)
		return;
	put_process(left[0], &text);
	message_note("process %s, which the command started, runs on and is not recorded any more: 'kaa record -p %d' records it",
		     text.data, (int)left[0]);
}

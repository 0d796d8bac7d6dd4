// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_say.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/framework/command.h"
#include "cmd/framework/message.h"
#include "cmd/run.h"
#include "sys/capability.h"
#include "sys/own_program.h"
#include "sys/perf_event.h"
#include "sys/proc.h"

/* A second. A sample takes up to 50 us of the program's time (README). */
#define MANY_SAMPLES 20000

/* Why the best source is not taken, and what would let it be. */
static void say_refusal(const struct source_refusal *refusal)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!refusal)
		return;
	error_format(refusal->why, &text);
	message_note("%s cannot be used: %s", refusal->source->title,
		     text.data);
}

/* A user who has no rights asks what takes them, not what the kernel calls them. */
static bool lacks_rights(const struct source_refusal *refusal)
{
	return refusal && refusal->why->code == ERROR_PERMISSION &&
	       !(capability_have(CAP_BPF) && capability_have(CAP_PERFMON));
}

/* One sentence: what gives more, to be typed. 'kaa doctor' has the reasons. */
static void say_way_out(const char *command, const char *gives)
{
	_cleanup_strbuf_ struct strbuf kaa = STRBUF_INIT;

	own_program_word(&kaa);
	message_note("'sudo %s %s ...' has %s, and costs less; 'kaa doctor --fix' says how to do without sudo",
		     kaa.data, command, gives);
}

/* Without BPF: what is there instead, and what it costs. */
static void say_trampolines(const struct record_setup *setup)
{
	if (recorder_gives_trampolines(&setup->options))
		message_note("Python frames by trampolines: functions have only the line of their def, and calls take longer");
	else
		message_note("Python frames by trampolines: only programs that were started with them (kaa run --perf, python3 -X perf) have any");
}

/* Then only Pythons with support of their own have trampolines. */
static void say_no_agent(const struct record_setup *setup)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	struct error *error;

	if (!recorder_gives_trampolines(&setup->options))
		return;
	error = run_find_agent(&path);
	if (error) {
		error_format(error, &text);
		message_note("CPython before 3.12 gets no trampolines: %s",
			     text.data);
	}
	error_destroy(error);
}

/* What it gives, and what the other ways would. */
static void say_polling(const struct source_refusal *refusal,
			const struct record_setup *setup, const char *command)
{
	static const char *const words[] = {
		[TIME_ON_CPU] = "CPU time",
		[TIME_BY_CLOCK] = "wall time",
		[TIME_WITH_GIL] = "time with the GIL",
	};
	bool on_cpu = setup->options.sampler.time == TIME_ON_CPU;
	bool native = setup->options.sampler.polls_native;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (setup->options.sampler.time == TIME_OF_TASKS) {
		message_note("Python frames by polling: functions and lines of tasks of asyncio, and of threads that run none");
		return;
	}
	strbuf_printf(&text,
		      "Python frames by polling: functions and lines of %s, %s",
		      words[setup->options.sampler.time],
		      native ? "and native functions" :
			       "no native functions ('--native' adds them)");
	if (!lacks_rights(refusal))
		say_refusal(refusal);
	message_note("%s", text.data);
	if (on_cpu && !native && lacks_rights(refusal))
		say_way_out(command, "them");
}

void record_say_source(const struct recorder *recorder,
		       const struct record_setup *setup, const char *command,
		       int verbose)
{
	const struct python_source *source = recorder_python(recorder);
	const struct source_refusal *refusal = recorder_refusal(recorder);

	if (source->polls) {
		say_polling(refusal, setup, command);
	} else if (source->gives_trampolines) {
		if (!lacks_rights(refusal))
			say_refusal(refusal);
		say_trampolines(setup);
		if (lacks_rights(refusal))
			say_way_out(command, "lines and kernel frames");
		say_no_agent(setup);
	} else if (verbose) {
		message_note("%s%s: each sample copies up to %u bytes of stack%s",
			     source->walks ? "Python frames by " :
					     "no Python frames",
			     source->walks ? source->title : "",
			     setup->options.sampler.stack_size,
			     recorder_clocks_by_cpu(recorder) ?
				     "; the clock ticks for each CPU" :
				     "");
	}
}

void record_say_rate(const struct recorder *recorder,
		     const struct record_setup *setup)
{
	uint64_t rate = setup->options.sampler.frequency;

	if (rate > MANY_SAMPLES && !recorder_python(recorder)->polls)
		message_note("each sample stops the program: at %" PRIu64 " a second they may take more time than it does; -F 9999 is enough for most",
			     rate);
}

/* The rights that Python frames by BPF take give kernel frames, too. They were said. */
void record_say_user_only(const struct source_refusal *refusal)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (lacks_rights(refusal))
		return;
	strbuf_printf(&text,
		      "the recording has no kernel frames, because kernel.perf_event_paranoid is %d",
		      perf_event_paranoid(""));
	if (!refusal || refusal->why->code != ERROR_PERMISSION) {
		strbuf_puts(&text, "; run 'sudo ");
		own_program_word(&text);
		strbuf_puts(&text,
			    " record ...', or run 'sudo sysctl kernel.perf_event_paranoid=1' first");
	}
	message_note("%s", text.data);
}

/* --- children --- */

/* So many are named. */
#define CHILDREN_NAMED 8

static bool is_recorded(const struct pid_vec *processes, pid_t pid)
{
	vec_for_each(process, processes)
		if (*process == pid)
			return true;
	return false;
}

/* What this process itself was started by is no service: it has no children that are missing. */
static void add_children(pid_t process, struct pid_list *ret)
{
	size_t before = ret->count;

	error_destroy(proc_descendants("", process, ret));
	for (size_t i = before; i < ret->count; i++)
		if (ret->data[i] == getpid())
			ret->count = before;
}

/* Those that are recorded are left out. */
static void find_children(const struct pid_vec *processes, struct pid_list *ret)
{
	size_t kept = 0;

	vec_for_each(process, processes)
		add_children((pid_t)*process, ret);
	for (size_t i = 0; i < ret->count; i++)
		if (!is_recorded(processes, ret->data[i]))
			ret->data[kept++] = ret->data[i];
	ret->count = kept;
}

static void put_numbers(const struct pid_vec *processes,
			const struct pid_list *children, struct strbuf *out)
{
	const char *before = "'-p ";

	vec_for_each(process, processes) {
		strbuf_printf(out, "%s%d", before, (int)*process);
		before = ",";
	}
	vec_for_each(child, children)
		strbuf_printf(out, ",%d", (int)*child);
	strbuf_putc(out, '\'');
}

static void put_children(const struct pid_vec *processes,
			 const struct pid_list *children, bool shows,
			 struct strbuf *out)
{
	bool one = children->count == 1;

	strbuf_printf(out, "%zu child process%s that run%s already %s not %s; ",
		      children->count, one ? "" : "es", one ? "s" : "",
		      one ? "is" : "are", shows ? "shown" : "recorded");
	if (children->count > CHILDREN_NAMED) {
		strbuf_puts(out, "name them with -p, too");
		return;
	}
	put_numbers(processes, children, out);
	strbuf_printf(out, " %s %s, too", shows ? "shows" : "records",
		      one ? "it" : "them");
}

void record_say_children(const struct recorder *recorder,
			 const struct record_setup *setup, bool shows)
{
	const struct pid_vec *processes = &setup->options.processes;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct pid_list children = {};

	if (!recorder_python(recorder)->polls)
		find_children(processes, &children);
	if (children.count) {
		put_children(processes, &children, shows, &text);
		message_note("%s", text.data);
	}
	vec_deinit(&children);
}

int record_exit_code(int status)
{
	if (status < 0)
		return 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		return EXIT_CODE_INTERRUPTED;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

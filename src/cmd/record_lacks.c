// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_lacks.h"

#include <string.h>
#include <unistd.h>

#include "base/path_name.h"
#include "base/python_command.h"
#include "cmd/framework/message.h"

/* The command that is recorded, or NULL. */
static const char *command_of(const struct record_setup *setup)
{
	return setup->options.records_launch && setup->command.words.count ?
		       path_name(setup->command.words.data[0]) :
		       NULL;
}

/* What it starts runs as root, which a user can neither record nor read. */
static bool is_other_user(const char *command)
{
	static const char *const programs[] = { "sudo", "doas", "su", "pkexec" };

	if (!command || !geteuid())
		return false;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(command, programs[i]))
			return true;
	return false;
}

/* As far as is known: who polls may see nothing of a Python that ends, or sleeps. */
static bool no_python_ran(const struct recorder *recorder,
			  const struct recorder_result *result)
{
	return !result->python_ran &&
	       (result->samples || !recorder_python(recorder)->polls);
}

/* Where Python frames could have been had, it is worth a line. */
static bool is_worth_saying(const struct recorder *recorder,
			    const struct recorder_result *result)
{
	return no_python_ran(recorder, result) &&
	       recorder_python(recorder)->grade != SOURCE_NO_FRAMES;
}

static void put_no_python(const struct record_setup *setup,
			  const char *command, struct strbuf *out)
{
	const struct recorder_options *options = &setup->options;

	if (command)
		strbuf_printf(out,
			      "'%s' is no Python program, and started none",
			      command);
	else if (!options->system_wide && options->processes.count == 1)
		strbuf_printf(out, "process %d is no Python program",
			      (int)options->processes.data[0]);
	else
		strbuf_puts(out, "no Python program ran");
}

/* What the samples have instead. */
static const char *what_is_there(const struct recorder *recorder,
				 const struct record_setup *setup)
{
	bool native = setup->options.sampler.polls_native;

	if (recorder_python(recorder)->polls && !native)
		return "time, but no functions ('--native' adds them)";
	return native || recorder_user_only(recorder) ?
		       "native functions only" :
		       "native and kernel functions only";
}

bool record_say_no_python(const struct recorder *recorder,
			  const struct record_setup *setup,
			  const struct recorder_result *result)
{
	const char *command = command_of(setup);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!result->stacks.with_python && is_other_user(command)) {
		message_note("no sample has Python frames, for what %s starts is another user's: 'sudo kaa record ...' records it",
			     setup->command.words.data[0]);
		return true;
	}
	if (!is_worth_saying(recorder, result))
		return false;
	put_no_python(setup, command, &text);
	if (result->samples)
		strbuf_printf(&text, ": the recording has %s",
			      what_is_there(recorder, setup));
	message_note("%s", text.data);
	return true;
}

void record_say_raw_stacks(const struct recorder *recorder,
			   const struct record_setup *setup,
			   const struct recorder_result *result)
{
	/* Trampolines are frames in raw stacks, too, which their reader names. */
	if (setup->options.sampler.callchain == CALLCHAIN_DWARF &&
	    !recorder_python(recorder)->gives_trampolines &&
	    result->python_ran && result->samples)
		message_note("no sample has Python frames: '--call-graph dwarf' keeps raw stacks for other tools, and '-g' has Python frames");
}

void record_say_ran_no_python(const struct recorder *recorder,
			      const struct record_setup *setup,
			      const struct recorder_result *result)
{
	const char *command = command_of(setup);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!is_worth_saying(recorder, result) || is_other_user(command))
		return;
	put_no_python(setup, command, &text);
	message_note("%s", text.data);
}

static const char *why_no_samples(const struct recorder *recorder,
				  const struct record_setup *setup,
				  const struct recorder_result *result)
{
	const char *command = command_of(setup);

	switch (setup->options.sampler.time) {
	case TIME_BY_CLOCK:
	case TIME_OF_TASKS:
		return "the program ended at once, or kaa had no CPU while it ran";
	case TIME_WITH_GIL:
		return "no thread was seen with the GIL";
	default:
		break;
	}
	if (!setup->options.only_time)
		return "hardly any CPU time was used, or the event did not occur";
	if (no_python_ran(recorder, result))
		return "the program used hardly any CPU time";
	/* Who polls has missed one that ended at once. */
	return !result->python_ran && (!command || !python_is_name(command)) ?
		       "no Python program was seen, and what ran used hardly any CPU time" :
		       "the program used hardly any CPU time; '--mode wall' records the time in which it waits, too";
}

void record_say_no_samples(const struct recorder *recorder,
			   const struct record_setup *setup,
			   const struct recorder_result *result,
			   const struct record_before *before)
{
	const char *why = why_no_samples(recorder, setup, result);

	if (before)
		message_warn("no samples were taken, so nothing was written, and '%s' is the recording before: %s",
			     before->path, why);
	else
		message_note("no samples were taken: %s", why);
}

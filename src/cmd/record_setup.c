// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_setup.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/framework/message.h"
#include "cmd/run.h"
#include "collect/clocks.h"
#include "perfdata/kaa_stream.h"
#include "sys/capability.h"
#include "sys/file.h"
#include "sys/invoker_path.h"
#include "sys/perf_event.h"
#include "sys/proc.h"
#include "view/own_command.h"

enum {
	DEFAULT_FREQUENCY = 4000,
	/* perf's default for --call-graph dwarf. */
	STACK_SIZE_DWARF = 8192,
	/* Without more locked memory than a user has by default. */
	STACK_SIZE_USER = 16384,
	CMDLINE_MAX = 1 << 20,
};

/* --- settings --- */

void record_settings_init(struct record_settings *s)
{
	s->output = "perf.data";
	s->callchain = CALLCHAIN_UNWIND;
	s->python = "auto";
}

void record_settings_deinit(struct record_settings *s)
{
	vec_deinit(&s->events);
	vec_deinit(&s->pids);
	vec_deinit(&s->tids);
}

/* The first name of a clock is the one that help and completion show. */
static const struct clock_name {
	const char *name;
	int clock;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "mono", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "raw", CLOCK_MONOTONIC_RAW },
	{ "realtime", CLOCK_REALTIME },
	{ "real", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
};

void record_clock_words(struct strbuf *out)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (i == 0 || clocks[i].clock != clocks[i - 1].clock)
			strbuf_printf(out, "%s ", clocks[i].name);
}

struct error *record_parse_positive(const char *text, uint64_t *ret)
{
	uint64_t number;
	struct error *error = option_parse_u64(text, &number);

	if (error)
		return error;
	if (!number)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a positive number", text);
	*ret = number;
	return NULL;
}

/* Seconds, maybe with a fraction. */
struct error *record_parse_duration(void *settings,
				    const struct option *option,
				    const char *arg, bool negated)
{
	struct record_settings *s = settings;
	double seconds;
	char *end;

	(void)option;
	s->duration = 0;
	if (negated)
		return NULL;
	seconds = strtod(arg, &end);
	if (end == arg || *end || !(seconds >= 0.001 && seconds <= 1e9))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a number of seconds such as 10 or 2.5",
				    arg);
	s->duration = (uint64_t)(seconds * 1000 + 0.5);
	return NULL;
}

struct error *record_parse_frequency(void *settings,
				     const struct option *option,
				     const char *arg, bool negated)
{
	struct record_settings *s = settings;

	(void)option;
	if (negated)
		s->frequency = 0;
	else if (!strcasecmp(arg, "max"))
		s->frequency = UINT64_MAX;
	else
		return record_parse_positive(arg, &s->frequency);
	return NULL;
}


void record_setup_deinit(struct record_setup *setup)
{
	launch_deinit(&setup->launch);
	typed_command_deinit(&setup->command);
	event_list_deinit(&setup->choices);
	vec_deinit(&setup->events);
	vec_deinit(&setup->options.sampler.threads);
	vec_deinit(&setup->options.sampler.whole);
	vec_deinit(&setup->options.sampler.cpus);
	vec_deinit(&setup->options.processes);
	invoker_deinit(&setup->invoker);
	free(setup->path);
	strbuf_deinit(&setup->cmdline);
	vec_deinit(&setup->words);
}

static struct error *is_no_number(const char *text, const char *what)
{
	if (strcmp(what, "pid") != 0)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a %s", text, what);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is not a pid; '%s' lists them", text,
			    own_command_list_pythons());
}

static struct error *take_numbers(const char *text, const char *what,
				  struct pid_vec *ret)
{
	const char *p = text;

	while (*p) {
		char *end;
		long number = strtol(p, &end, 10);

		if (end == p || number <= 0 || number > INT32_MAX ||
		    (*end && *end != ','))
			return is_no_number(text, what);
		if (!vec_push(ret, (pid_t)number))
			return error_no_memory();
		p = *end ? end + 1 : end;
	}
	return NULL;
}

static struct error *take_process(struct record_setup *setup, pid_t pid)
{
	struct pid_list threads = {};
	struct error *error = proc_threads("", pid, &threads);

	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return error_create(ERROR_NOT_FOUND, "no process has pid %d",
				    (int)pid);
	}
	for (size_t i = 0; !error && i < threads.count; i++)
		if (!vec_push(&setup->options.sampler.threads,
			      threads.data[i]))
			error = error_no_memory();
	vec_deinit(&threads);
	if (!error && (!vec_push(&setup->options.processes, pid) ||
		       !vec_push(&setup->options.sampler.whole, pid)))
		error = error_no_memory();
	return error;
}

static struct error *take_thread(struct record_setup *setup, pid_t tid)
{
	struct proc_status status;
	struct error *error = proc_status_read("", tid, &status);

	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return error_create(ERROR_NOT_FOUND, "no thread has tid %d",
				    (int)tid);
	}
	if (error)
		return error;
	if (!vec_push(&setup->options.sampler.threads, tid) ||
	    !vec_push(&setup->options.processes, status.tgid))
		return error_no_memory();
	return NULL;
}

static struct error *take_targets(struct record_setup *setup,
				  const struct record_settings *s)
{
	struct pid_vec pids = {}, tids = {};
	struct error *error = NULL;

	vec_for_each(text, &s->pids)
		if (!error)
			error = take_numbers(*text, "pid", &pids);
	vec_for_each(text, &s->tids)
		if (!error)
			error = take_numbers(*text, "tid", &tids);
	for (size_t i = 0; !error && i < pids.count; i++)
		error = take_process(setup, pids.data[i]);
	for (size_t i = 0; !error && i < tids.count; i++)
		error = take_thread(setup, tids.data[i]);
	vec_deinit(&pids);
	vec_deinit(&tids);
	return error;
}

/* "0-3,5" */
static struct error *take_cpus(struct record_setup *setup, const char *text)
{
	const char *p = text;

	while (p && *p) {
		char *end;
		long first = strtol(p, &end, 10), last = first;

		if (end != p && *end == '-')
			last = strtol(end + 1, &end, 10);
		if (end == p || first < 0 || last < first || last > 65535 ||
		    (*end && *end != ','))
			return error_create(ERROR_INVALID_ARGUMENT,
					    "'%s' is not a list of CPUs such as 0-3,5", text);
		for (long cpu = first; cpu <= last; cpu++)
			if (!vec_push(&setup->options.sampler.cpus, (int)cpu))
				return error_no_memory();
		p = *end ? end + 1 : end;
	}
	return NULL;
}

static struct error *take_events(struct record_setup *setup,
				 const struct record_settings *s)
{
	bool fell_back = false;
	struct error *error = NULL;

	vec_for_each(text, &s->events)
		if (!error)
			error = events_parse("", *text, &setup->choices);
	if (!error && !s->events.count)
		error = events_default("", &setup->choices, &fell_back);
	if (!error && s->off_cpu)
		error = events_parse("", KAA_OFF_CPU, &setup->choices);
	if (error)
		return error;
	if (fell_back && s->verbose)
		message_note("this machine has no hardware counters: to see CPU time, kaa samples cpu-clock");
	vec_for_each(choice, &setup->choices) {
		struct sampler_event event = { .name = choice->name };

		event_apply(choice, &event.attr);
		event.joins_group =
			choice->group_leader >= 0 &&
			(size_t)choice->group_leader < setup->events.count;
		event.has_period = choice->period || choice->freq;
		if (!event.has_period && choice->default_period &&
		    !s->frequency && !s->count) {
			event.attr.sample_period = choice->default_period;
			event.has_period = true;
		}
		if (!vec_push(&setup->events, event))
			return error_no_memory();
	}
	setup->options.sampler.events = setup->events.data;
	setup->options.sampler.event_count = setup->events.count;
	return NULL;
}

static struct error *take_frequency(struct record_setup *setup,
				    const struct record_settings *s)
{
	struct sampler_options *sampler = &setup->options.sampler;
	int64_t max;
	struct error *error;

	if (s->count) {
		if (s->frequency)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "use either -c or -F, not both");
		sampler->period = s->count;
		return NULL;
	}
	sampler->frequency = s->frequency ? s->frequency : DEFAULT_FREQUENCY;
	sampler->rate_by_default = !s->frequency;
	error = kernel_setting("", "perf_event_max_sample_rate", &max);
	if (error) {
		error_destroy(error);
		return NULL;
	}
	if (s->frequency == UINT64_MAX || (!s->frequency &&
					   sampler->frequency > (uint64_t)max))
		sampler->frequency = (uint64_t)max;
	if (sampler->frequency > (uint64_t)max)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "%" PRIu64 " samples a second are more than this machine allows (%" PRId64 "); use a lower -F, or raise kernel.perf_event_max_sample_rate",
				    sampler->frequency, max);
	return NULL;
}

static struct error *take_clock(struct record_setup *setup, const char *text)
{
	uint64_t number;
	struct error *error;

	setup->options.sampler.clockid = -1;
	if (!text)
		return NULL;
	if (!strncasecmp(text, "CLOCK_", 6))
		text += 6;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!strcasecmp(text, clocks[i].name)) {
			setup->options.sampler.clockid = clocks[i].clock;
			return NULL;
		}
	}
	error = option_parse_u64(text, &number);
	if (error || number > CLOCK_TAI) {
		error_destroy(error);
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unknown clock '%s'; use monotonic, monotonic_raw, realtime, boottime, tai or a number", text);
	}
	setup->options.sampler.clockid = (int)number;
	return NULL;
}

static struct error *unknown_source(const char *text)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; python_sources[i]; i++)
		strbuf_printf(&names, "%s%s", python_sources[i + 1] ? ", " : " or ",
			      python_sources[i]->name);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "Python frames cannot come from '%s'; use --python=auto%s",
			    text,
			    names.data);
}

static struct error *take_python(struct record_setup *setup, const char *text)
{
	const struct python_source *source =
		text ? python_source_named(text) : &python_source_none;

	if (!source && strcmp(text, "auto") != 0)
		return unknown_source(text);
	setup->options.python = source;
	return NULL;
}

static void take_stacks(struct record_setup *setup, const struct record_settings *s)
{
	struct sampler_options *sampler = &setup->options.sampler;

	sampler->callchain = s->callchain;
	if (s->callchain != CALLCHAIN_UNWIND &&
	    s->callchain != CALLCHAIN_DWARF)
		return;
	if (s->stack_size)
		sampler->stack_size = (uint32_t)s->stack_size;
	else if (s->callchain == CALLCHAIN_DWARF)
		sampler->stack_size = STACK_SIZE_DWARF;
	else
		sampler->stack_size = capability_have(CAP_IPC_LOCK) ?
					      RECORD_STACK_SIZE_MAX :
					      STACK_SIZE_USER;
}

/* The command line that is recorded in the file. */
static struct error *take_cmdline(struct record_setup *setup)
{
	struct error *error = file_read("", "/proc/self/cmdline", CMDLINE_MAX,
					&setup->cmdline);
	size_t at = 0;

	if (error)
		return error;
	while (at < setup->cmdline.len) {
		if (!vec_push(&setup->words, setup->cmdline.data + at))
			return error_no_memory();
		at += strlen(setup->cmdline.data + at) + 1;
	}
	setup->options.argc = (int)setup->words.count;
	setup->options.argv = setup->words.data;
	return NULL;
}

bool record_has_targets(const struct record_settings *s)
{
	return s->pids.count || s->tids.count || s->system_wide;
}

/* As the words of -p "$(pgrep python)" are, and a time as perf's `sleep 5` has it. */
static struct error *is_number(const char *word)
{
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"'%s' is no command: several processes stand behind -p with commas ('-p 1,2'), and seconds behind --duration",
		word);
}

static bool has_digits_alone(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* A number without -p. */
static struct error *name_process(const char *word, struct error *why)
{
	if (why->code != ERROR_NOT_FOUND || !has_digits_alone(word))
		return why;
	error_destroy(why);
	return error_create(ERROR_NOT_FOUND,
			    "'%s': command not found; type '-p %s' for the process of that number",
			    word, word);
}

struct error *record_find_command(struct record_setup *setup,
				  const struct record_settings *s,
				  const struct arguments *args, int *exit_code)
{
	struct error *error;

	if (!args->count)
		return NULL;
	if (record_has_targets(s) && has_digits_alone(args->values[0]))
		return is_number(args->values[0]);
	error = typed_command_find(args, &setup->invoker, setup->path,
				   &setup->command);
	if (error) {
		*exit_code = typed_command_exit_code(error);
		return name_process(args->values[0], error);
	}
	if (!record_has_targets(s))
		typed_command_tell(&setup->command, &setup->invoker);
	return NULL;
}

struct error *record_take_invoker(struct record_setup *setup)
{
	struct error *error = invoker_detect(&setup->invoker);

	if (error)
		return error;
	setup->options.uid = setup->options.gid = -1;
	if (setup->invoker.present) {
		setup->options.uid = setup->invoker.uid;
		setup->options.gid = setup->invoker.gid;
	}
	if (!setup->invoker.tool)
		return NULL;
	return invoker_path(&setup->invoker, &setup->path);
}

static struct error *take_ticks(struct record_setup *setup, const char *clock)
{
	bool by_cpu = !clock || !strcmp(clock, "cpu");

	if (!by_cpu && strcmp(clock, "thread"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "no clock '%s' for --clock: only thread and cpu",
				    clock);
	setup->options.sampler.cpu_clocks = by_cpu;
	return NULL;
}

/* Only polling looks at a thread that sleeps, and at the GIL. */
static struct error *take_mode(struct record_setup *setup,
			       const struct record_settings *s)
{
	struct recorder_options *options = &setup->options;
	bool gil = s->mode && !strcmp(s->mode, "gil");

	if (!s->mode || !strcmp(s->mode, "cpu"))
		return NULL;
	if (!gil && strcmp(s->mode, "wall"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "no mode '%s' for --mode: only cpu, wall and gil",
				    s->mode);
	if (s->events.count || (options->python && !options->python->polls))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--mode %s takes --python=poll, and no event",
				    s->mode);
	options->python = &python_source_poll;
	options->sampler.time = gil ? TIME_WITH_GIL : TIME_BY_CLOCK;
	return NULL;
}

/* Only polling reads tasks, which takes wall time, and no native functions. */
static struct error *take_async(struct record_setup *setup,
				const struct record_settings *s)
{
	struct recorder_options *options = &setup->options;
	const char *other =
		s->mode && strcmp(s->mode, "wall") != 0 ? "--mode" :
		s->native				? "--native" :
		s->off_cpu				? "--off-cpu" :
		s->events.count				? "--event" :
		options->python && !options->python->polls ? "--python" :
							     NULL;

	if (!s->of_tasks)
		return NULL;
	if (other)
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"--async polls, and records the time of tasks alone: leave out %s",
			other);
	options->python = &python_source_poll;
	options->sampler.time = TIME_OF_TASKS;
	return NULL;
}

static struct error *off_cpu_refused(const char *why)
{
	return error_create(ERROR_INVALID_ARGUMENT, "event '%s' %s", KAA_OFF_CPU,
			    why);
}

/* The walker makes these samples, with kaa's own stacks, of threads that it follows. */
static struct error *take_off_cpu(struct record_setup *setup,
				  const struct record_settings *s)
{
	struct recorder_options *options = &setup->options;
	const char *why = s->no_inherit ? "follows what a thread starts: leave out --no-inherit" :
			  s->cpus	 ? "is of all CPUs: leave out --cpu" :
			  s->callchain != CALLCHAIN_UNWIND ?
					   "takes kaa's own stacks: leave out --call-graph" :
			  options->python == &python_source_poll && s->mode ?
					   "does not go with --mode, which polls: record twice" :
			  options->python && options->python != &python_source_bpf ?
					   "takes --python=bpf" :
					   NULL;

	if (!clocks_has_off_cpu(&options->sampler))
		return NULL;
	for (size_t i = 0; !why && i < options->sampler.event_count; i++) {
		const struct sampler_event *event = &options->sampler.events[i];

		if (clocks_is_off_cpu(event) &&
		    (event->joins_group || strcmp(event->name, KAA_OFF_CPU) != 0))
			why = "is in no group and takes no modifiers";
	}
	if (why)
		return off_cpu_refused(why);
	options->python = &python_source_bpf;
	return NULL;
}

/* Time, and nothing that only the kernel's events have. */
static bool asks_for_time(const struct record_setup *setup,
			  const struct record_settings *s)
{
	const struct sampler_options *sampler = &setup->options.sampler;

	return !s->system_wide && !s->tids.count && !s->cpus && !s->count &&
	       !s->stack_size && s->callchain == CALLCHAIN_UNWIND &&
	       (!s->events.count || (sampler->event_count == 1 &&
				     clocks_is_clock(sampler, 0) &&
				     !sampler->events[0].attr.exclude_user &&
				     !sampler->events[0].has_period));
}

struct error *record_take_settings(struct record_setup *setup,
				   const struct record_settings *s)
{
	struct recorder_options *options = &setup->options;
	struct error *error;

	options->sampler.root = "";
	options->sampler.inherit = !s->no_inherit;
	options->output = s->output;
	options->system_wide = s->system_wide;
	options->delay_ms = s->delay;
	options->duration_ms = s->duration;
	options->compression = (int)s->compression;
	options->version = KAA_VERSION;
	take_stacks(setup, s);
	error = take_targets(setup, s);
	if (!error)
		error = take_cpus(setup, s->cpus);
	if (!error)
		error = take_events(setup, s);
	if (!error)
		error = take_frequency(setup, s);
	if (!error)
		error = take_clock(setup, s->clockid);
	if (!error)
		error = take_ticks(setup, s->clock);
	if (!error)
		error = take_python(setup, s->python);
	if (!error)
		error = take_mode(setup, s);
	if (!error)
		error = take_async(setup, s);
	if (!error)
		error = take_off_cpu(setup, s);
	options->sampler.polls_native = s->native;
	options->only_time = asks_for_time(setup, s);
	if (!error)
		error = take_cmdline(setup);
	return error;
}

struct error *record_take_command(struct record_setup *setup,
				  const struct record_settings *s,
				  const struct arguments *args)
{
	struct recorder_options *options = &setup->options;
	bool others = record_has_targets(s);
	struct error *error;

	if (!args->count)
		return NULL;
	error = launch_prepare(&setup->launch, setup->command.words.data,
			       &setup->invoker, setup->path,
			       !strcmp(s->output, "-"), run_with_trampolines);
	if (error)
		return error;
	options->launch = &setup->launch;
	options->program = setup->command.program;
	options->records_launch = !others;
	if (others)
		return NULL;
	options->sampler.enable_on_exec = !options->delay_ms;
	if (!vec_push(&options->sampler.threads, setup->launch.pid))
		return error_no_memory();
	return NULL;
}

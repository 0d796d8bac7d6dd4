// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source `poll`: a thread of kaa's (collect/poller.h) reads the frames from
 * outside, and fills the rings of samples, which no kernel does then.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/poller.h"
#include "collect/python_source.h"
#include "python/gil_held.h"
#include "python/releases.h"
#include "sys/probe_machine.h"
#include "sys/remote_memory.h"

struct poll_source {
	struct source_state state;
	struct poller *poller;
	struct sampler_producer producer;
	struct code_table *codes;
	/* Asked for is the time with the GIL. */
	bool with_gil;
	/* Or the time of tasks. */
	bool of_tasks;
	/* The records that wait for their sample. */
	struct python_stack stack;
	/* The walker's record at hand: in a sample it is not aligned. */
	struct walker_copy copy;
};

static struct poll_source *poll_source(struct source_state *state)
{
	return (struct poll_source *)state;
}

/*
 * From 6.6 on a program keeps the CPU for its slice, whoever wakes up; from 6.12 on
 * the poller may ask for less than that.
 */
static bool is_in_time(const struct machine *m)
{
	return !machine_kernel_at_least(m, 6, 6) ||
	       machine_kernel_at_least(m, 6, 12);
}

/* Where it is late, whoever has events has more by them. */
static bool probe(const struct machine *m, struct strbuf *why)
{
	if (strcmp(m->arch, "x86_64") != 0)
		return false;
	if (is_in_time(m) || m->try_user_event != 0)
		return true;
	strbuf_puts(why, "Linux 6.6 to 6.11 lets kaa have the CPU too late for most samples; --python=poll takes those that are left");
	return false;
}

static void close_poll(struct source_state *state)
{
	struct poll_source *source = poll_source(state);

	poller_destroy(source->poller);
	python_stack_deinit(&source->stack);
	free(source);
}

static struct error *check_kernel(void)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct machine machine;

	machine_probe("", &machine);
	if (probe(&machine, &why))
		return NULL;
	return error_create(ERROR_UNSUPPORTED, "%s", why.data);
}

/* A page that no process has: what is said of it is who may read. */
static struct error *check_memory(const struct sampler_options *options)
{
	const struct pid_vec *pids = options->whole.count ? &options->whole :
							    &options->threads;
	struct error *error = NULL;
	char byte;

	for (size_t i = 0; !error && i < pids->count; i++) {
		struct remote_memory memory = remote_memory_init(pids->data[i]);

		error = remote_memory_read_exact(&memory, 0, &byte, 1);
		remote_memory_deinit(&memory);
		if (error && error->code != ERROR_PERMISSION) {
			error_destroy(error);
			error = NULL;
		}
	}
	return error;
}

static struct error *check_setup(const struct source_setup *setup)
{
	struct error *error;

	if (!setup->only_time)
		return error_create(
			ERROR_UNSUPPORTED,
			"polling records time of a command or of whole processes (-p), and only Python functions and lines: no other event, no -a, -t, -C, -c or --call-graph");
	error = check_memory(setup->sampler);
	return error || !setup->left_to_kaa ? error : check_kernel();
}

static struct error *open_poll(const struct source_setup *setup,
			       struct source_state **ret)
{
	struct poll_source *source;
	struct error *error = check_setup(setup);

	if (error)
		return error;
	source = calloc(1, sizeof(*source));
	if (!source)
		return error_no_memory();
	source->codes = setup->codes;
	source->with_gil = setup->sampler->time == TIME_WITH_GIL;
	source->of_tasks = setup->sampler->time == TIME_OF_TASKS;
	error = poller_create(&source->poller);
	if (error) {
		close_poll(&source->state);
		return error;
	}
	source->producer = (struct sampler_producer){
		.enable = poller_enable,
		.disable = poller_disable,
		.lost = poller_lost,
		.arg = source->poller,
	};
	*ret = &source->state;
	return NULL;
}

static const struct sampler_producer *producer(struct source_state *state)
{
	return &poll_source(state)->producer;
}

static struct error *attach(struct source_state *state, struct sampler *sampler)
{
	return poller_attach(poll_source(state)->poller, sampler);
}

static void counts(struct source_state *state, struct poll_counts *ret)
{
	poller_counts(poll_source(state)->poller, ret);
}

/* --- processes --- */

/* Of one that is gone by now nothing is known, and nothing is asked. */
static struct error *check_gil(const struct target *target)
{
	struct remote_memory remote = remote_memory_init((pid_t)target->pid);
	const struct py_memory memory = { remote_memory_callback, &remote };
	struct error *error = py_gil_validate(&target->python, &memory);

	remote_memory_deinit(&remote);
	if (error && error->code == ERROR_FAULT) {
		error_destroy(error);
		error = NULL;
	}
	return error;
}

static struct error *check_tasks(const struct target *target)
{
	uint32_t version = target->python.layout.version;

	if (py_release_of(&target->python.layout)->tasks.type_base)
		return NULL;
	return error_create(
		ERROR_UNSUPPORTED,
		"tasks of asyncio can be read from CPython 3.8 on; this is %u.%u",
		version >> 24, PY_MINOR(version));
}

static struct error *process_found(struct source_state *state,
				   struct target *target)
{
	struct error *error =
		poll_source(state)->with_gil ? check_gil(target) :
		poll_source(state)->of_tasks ? check_tasks(target) :
					       NULL;

	return error ? error :
		       poller_set_python(poll_source(state)->poller,
					 (pid_t)target->pid, target->since,
					 &target->python);
}

/* --- its records --- */

static struct error *take(struct source_state *state, const void *raw,
			  size_t size)
{
	struct poll_source *source = poll_source(state);
	const struct walker_header *record =
		walker_copy_record(&source->copy, raw, size);

	return record ? code_table_record(source->codes, record, size) : NULL;
}

static struct error *add(struct source_state *state, size_t cpu,
			 const void *raw, size_t size)
{
	struct poll_source *source = poll_source(state);
	const struct walker_header *record =
		walker_copy_record(&source->copy, raw, size);

	(void)cpu;
	if (!record || record->type != WALKER_STACK)
		return NULL;
	return python_stack_add(&source->stack, record, size);
}

static void broken(struct source_state *state, size_t cpu)
{
	(void)cpu;
	python_stack_clear(&poll_source(state)->stack);
}

static struct error *stack(struct source_state *state, size_t cpu,
			   struct target *target, const struct record *sample,
			   const struct python_stack **ret)
{
	(void)cpu;
	(void)target;
	*ret = python_stack_of(&poll_source(state)->stack, sample->pid,
			       sample->tid, false);
	return NULL;
}

static const struct source_poll polls = {
	.producer = producer,
	.attach = attach,
	.counts = counts,
};

static const struct source_ring ring = {
	.take = take,
	.add = add,
	.broken = broken,
};

const struct python_source python_source_poll = {
	.name = "poll",
	.title = "polling",
	.summary =
		"functions and lines of a command or of your own processes, CPU time or wall time; native functions with --native",
	.grade = SOURCE_LIMITED,
	.needs_chains = true,
	.walks = true,
	.probe = probe,
	.open = open_poll,
	.close = close_poll,
	.process_found = process_found,
	.ring = &ring,
	.polls = &polls,
	.stack = stack,
};

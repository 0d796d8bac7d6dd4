// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source `bpf`: the walker (collect/walker.h) reads the frames in the
 * kernel when a sample is taken. It needs to know every Python process.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/clocks.h"
#include "collect/python_source.h"
#include "collect/walker.h"
#include "sys/own_program.h"
#include "sys/proc.h"

/* A sample takes some 10 us of the CPU that has it, and 50 KB of its ring. */
enum { OFF_CPU_RATE = 999 };

struct bpf_source {
	struct source_state state;
	struct walker *walker;
	struct code_table *codes;
	/* By index of sampler.cpus: the records that wait for their sample. */
	VEC(struct python_stack) stacks;
	VEC(struct stack_memory) memories;
	VEC(struct stack_memory) lefts;
	struct page_store pages;
	/* Those that are sampled. */
	struct cpu_vec cpus;
	/* Samples of waits a second and CPU, at most; 0: none are asked for. */
	uint64_t off_cpu_rate;
	/* Waits of the whole system: each Python is followed once it is found. */
	bool follows_pythons;
	/* Goes before /proc. */
	const char *root;
	/* The walker's record at hand: in a sample it is not aligned. */
	struct walker_copy copy;
};

static struct bpf_source *bpf_source(struct source_state *state)
{
	return (struct bpf_source *)state;
}

/* --- whether it can be used --- */

static void add_reason(struct strbuf *why, const char *reason)
{
	strbuf_printf(why, "%s%s", why->len ? "; " : "", reason);
}

static void add_no_rights(const struct machine *m, struct strbuf *why)
{
	_cleanup_strbuf_ struct strbuf kaa = STRBUF_INIT, reason = STRBUF_INIT;

	if (!m->euid) {
		add_reason(why, "root has no CAP_BPF and CAP_PERFMON here, as in a container");
		return;
	}
	own_program_word(&kaa);
	strbuf_printf(
		&reason,
		"kaa needs CAP_BPF and CAP_PERFMON (run 'sudo %s record ...'; 'kaa doctor --fix' prints what makes that unnecessary)",
		kaa.data);
	add_reason(why, reason.data);
}

static bool probe(const struct machine *m, struct strbuf *why)
{
	size_t before = why->len;

	if (strcmp(m->arch, "x86_64") != 0)
		add_reason(why, "kaa supports only x86_64");
	if (!machine_kernel_at_least(m, 5, 17))
		add_reason(why, "the kernel is older than 5.17");
	if (m->try_bpf == EPERM || m->try_bpf == EACCES)
		add_no_rights(m, why);
	else if (m->try_bpf != 0)
		add_reason(why, "this kernel or container forbids BPF");
	if (m->try_bpf == 0 && m->try_user_event != 0)
		add_reason(why, "perf events cannot be opened");
	if (!m->btf)
		add_reason(why,
			   "the kernel was built without CONFIG_DEBUG_INFO_BTF");
	return why->len == before;
}

static void close_bpf(struct source_state *state)
{
	struct bpf_source *bpf = bpf_source(state);

	walker_destroy(bpf->walker);
	vec_for_each(stack, &bpf->stacks)
		python_stack_deinit(stack);
	vec_deinit(&bpf->stacks);
	vec_for_each(memory, &bpf->memories)
		stack_memory_deinit(memory);
	vec_deinit(&bpf->memories);
	vec_for_each(left, &bpf->lefts)
		stack_memory_deinit(left);
	vec_deinit(&bpf->lefts);
	page_store_deinit(&bpf->pages);
	vec_deinit(&bpf->cpus);
	free(bpf);
}

static struct error *open_bpf(const struct source_setup *setup,
			      struct source_state **ret)
{
	struct bpf_source *bpf = calloc(1, sizeof(*bpf));
	struct walker_parts parts = { .cpu_clocks = setup->cpu_clocks,
				      .off_cpu = setup->off_cpu,
				      .tracepoints = setup->tracepoints };
	struct error *error;

	if (!bpf)
		return error_no_memory();
	bpf->codes = setup->codes;
	bpf->root = setup->sampler->root;
	bpf->follows_pythons = setup->off_cpu && !setup->sampler->threads.count;
	error = walker_create(parts, &bpf->walker);
	/* Then it cannot follow(). */
	if (error && parts.cpu_clocks && !parts.off_cpu) {
		parts.cpu_clocks = false;
		error_destroy(error);
		error = walker_create(parts, &bpf->walker);
	}
	if (error) {
		close_bpf(&bpf->state);
		return error;
	}
	*ret = &bpf->state;
	return NULL;
}

/* --- events --- */

static bool is_tracepoint(const struct sampler_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

/* True if an event before this one is of the same tracepoint. */
static bool is_attached(const struct sampler_options *options, size_t index)
{
	const struct sampler_event *events = options->events;

	for (size_t i = 0; i < index; i++)
		if (is_tracepoint(&events[i]) &&
		    events[i].attr.config == events[index].attr.config)
			return true;
	return false;
}

/*
 * A tracepoint runs its programs once, for all events that listen to it; other
 * events run theirs each.
 */
static struct error *event_opened(struct source_state *state,
				  const struct perf_event_attr *attr,
				  bool by_cpu, int fd)
{
	struct walker *walker = bpf_source(state)->walker;

	/* It is the walker that makes its samples. */
	if (attr->type == PERF_TYPE_TRACEPOINT ||
	    attr->config == PERF_COUNT_SW_BPF_OUTPUT)
		return NULL;
	return by_cpu ? walker_attach_clock(walker, fd) :
			walker_attach(walker, fd);
}

/* A kernel that cannot do it has a clock for each thread, as perf does. */
static bool follow(struct source_state *state, const struct pid_vec *threads,
		   bool on_exec)
{
	struct walker *walker = bpf_source(state)->walker;
	struct error *error = walker_follow(walker);

	for (size_t i = 0; !error && i < threads->count; i++)
		error = walker_follow_thread(walker, threads->data[i], on_exec);
	if (!error)
		return true;
	error_destroy(error);
	walker_unfollow(walker);
	return false;
}

static struct followed_time cpu_time(struct source_state *state)
{
	struct bpf_source *bpf = bpf_source(state);
	struct walker_clock sum;

	walker_clocks(bpf->walker, bpf->cpus.data, bpf->cpus.count, &sum);
	return (struct followed_time){ .ran = sum.counted,
				       .missed = sum.missed };
}

static struct error *attach_tracepoints(struct walker *walker,
					const struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < options->event_count; i++)
		if (is_tracepoint(&options->events[i]) && !is_attached(options, i))
			error = walker_attach_tracepoint(
				walker, options->events[i].attr.config);
	return error;
}

static struct error *take_waits(struct bpf_source *bpf,
				const struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	struct error *error = NULL;

	vec_for_each(fd, &sampler->fds) {
		if (error || fd->event >= options->event_count ||
		    !clocks_is_off_cpu(&options->events[fd->event]))
			continue;
		error = walker_set_off_cpu_output(bpf->walker, fd->cpu, fd->fd);
		bpf->off_cpu_rate = options->rate_by_default ||
						    !options->frequency ?
					    OFF_CPU_RATE :
					    options->frequency;
	}
	return error;
}

static void begin(struct source_state *state)
{
	struct bpf_source *bpf = bpf_source(state);

	if (bpf->off_cpu_rate)
		walker_begin_off_cpu(bpf->walker, bpf->off_cpu_rate);
}

static struct error *attach(struct source_state *state,
			    const struct sampler *sampler)
{
	struct bpf_source *bpf = bpf_source(state);
	struct error *error = NULL;

	vec_for_each(cpu, &sampler->cpus) {
		if (!vec_push(&bpf->stacks, (struct python_stack){}) ||
		    !vec_push(&bpf->memories,
			      (struct stack_memory){ .pages = &bpf->pages }) ||
		    !vec_push(&bpf->lefts,
			      (struct stack_memory){ .pages = &bpf->pages }))
			return error_no_memory();
		if (cpu->walker_fd < 0)
			continue;
		if (!vec_push(&bpf->cpus, cpu->cpu))
			return error_no_memory();
		if (!error)
			error = walker_set_output(bpf->walker, cpu->cpu,
						  cpu->walker_fd);
	}
	if (sampler->options.callchain == CALLCHAIN_UNWIND)
		walker_read_stacks(bpf->walker, sampler->options.stack_size,
				   sampler->options.ring_size);
	if (!error)
		error = attach_tracepoints(bpf->walker, sampler);
	if (!error)
		error = take_waits(bpf, sampler);
	return error ? error : walker_watch_exits(bpf->walker);
}

static uint64_t waits(struct source_state *state, pid_t tid, uint64_t *since)
{
	return walker_off_cpu_now(bpf_source(state)->walker, tid, since);
}

static void stop(struct source_state *state)
{
	walker_detach_tracepoints(bpf_source(state)->walker);
}

/* --- processes --- */

/*
 * All its threads. Those that begin meanwhile are of one that is followed by then, or
 * are listed the next time.
 */
static struct error *follow_process(struct bpf_source *bpf, uint32_t pid)
{
	struct pid_list tids = {};
	struct error *error = NULL;
	size_t known;

	do {
		known = tids.count;
		vec_clear(&tids);
		/* One that has ended has no threads. */
		error_destroy(proc_threads(bpf->root, (pid_t)pid, &tids));
		for (size_t i = 0; i < tids.count && !error; i++)
			error = walker_follow_thread(bpf->walker, tids.data[i],
						     false);
	} while (!error && tids.count > known);
	vec_deinit(&tids);
	return error;
}

static struct error *process_found(struct source_state *state,
				   struct target *target)
{
	struct bpf_source *bpf = bpf_source(state);
	struct error *error = walker_add_process(bpf->walker, target->pid,
						 &target->python);

	return error || !bpf->follows_pythons ?
		       error :
		       follow_process(bpf, target->pid);
}

/*
 * The walker's own programs see an exec or an end at once; but then the recorder
 * may not have told it of that Python yet, and told it afterwards.
 */
static void process_ended(struct source_state *state, struct target *target)
{
	if (target->state == PYTHON_FOUND)
		walker_remove_process(bpf_source(state)->walker, target->pid);
}

static struct error *process_replaced(struct source_state *state,
				      struct target *target)
{
	process_ended(state, target);
	return NULL;
}

/* --- its records --- */

static struct error *take(struct source_state *state, const void *raw,
			  size_t size)
{
	struct bpf_source *bpf = bpf_source(state);
	const struct walker_header *record =
		walker_copy_record(&bpf->copy, raw, size);

	if (!record)
		return NULL;
	if (record->type == WALKER_BYTES)
		return page_store_add(&bpf->pages, record, size);
	return code_table_record(bpf->codes, record, size);
}

static struct error *add(struct source_state *state, size_t cpu,
			 const void *raw, size_t size)
{
	struct bpf_source *bpf = bpf_source(state);
	const struct walker_header *record =
		walker_copy_record(&bpf->copy, raw, size);

	if (!record)
		return NULL;
	if (record->type == WALKER_MEMORY)
		return stack_memory_set(&bpf->memories.data[cpu], record,
					size);
	if (record->type == WALKER_LEFT)
		return stack_memory_set(&bpf->lefts.data[cpu], record, size);
	if (record->type != WALKER_STACK)
		return NULL;
	return python_stack_add(&bpf->stacks.data[cpu], record, size);
}

/* No sample waits but those that are still in the rings. */
static void begin_round(struct source_state *state)
{
	struct bpf_source *bpf = bpf_source(state);

	if (!page_store_is_full(&bpf->pages))
		return;
	page_store_turn(&bpf->pages, clock_ms());
	walker_next_epoch(bpf->walker);
}

static void broken(struct source_state *state, size_t cpu)
{
	struct bpf_source *bpf = bpf_source(state);

	python_stack_clear(&bpf->stacks.data[cpu]);
	stack_memory_clear(&bpf->memories.data[cpu]);
	stack_memory_clear(&bpf->lefts.data[cpu]);
}

/* A sample whose Python stack found no room was dropped by the walker. */
static uint64_t lost(struct source_state *state)
{
	struct walker_counters counters;

	walker_counters(bpf_source(state)->walker, &counters);
	return counters.lost;
}

/*
 * The kernel tells of a program's mappings while exec is still at work, and the
 * walker forgets the process at the end of exec. In between, which takes long
 * where the program has to be read from disk, the recorder may have told it of
 * the new program. Until a stack came it is told again.
 */
static void tell_again(struct bpf_source *bpf, const struct target *target)
{
	if (target->state != PYTHON_FOUND || target->walked ||
	    target->replaced || process_is_over(target->process))
		return;
	error_destroy(walker_add_process(bpf->walker, target->pid,
					 &target->python));
}

/* There may be several samples of one walk: of a tracepoint, or of a wait. */
static bool is_of_hit(const struct record *sample)
{
	enum event_data data = sample->event->meaning.data;

	return data == EVENT_DATA_FIELDS || data == EVENT_DATA_WAIT;
}

static struct error *stack(struct source_state *state, size_t cpu,
			   struct target *target, const struct record *sample,
			   const struct python_stack **ret)
{
	struct bpf_source *bpf = bpf_source(state);

	*ret = python_stack_of(&bpf->stacks.data[cpu], sample->pid,
			       sample->tid, is_of_hit(sample));
	if (!*ret)
		tell_again(bpf, target);
	return NULL;
}

static void memory(struct source_state *state, size_t cpu,
		   const struct record *sample, struct sample_memory *ret)
{
	const struct record_regs *regs = &sample->sample.regs_user;
	struct bpf_source *bpf = bpf_source(state);
	bool is_tracepoint = is_of_hit(sample);
	struct unwind_regs user = {};
	uint64_t sp;

	*ret = (struct sample_memory){};
	if (!regs->abi || !regs->count)
		return;
	unwind_regs_from_perf(regs->mask, regs->values, &user);
	sp = user.value[UNWIND_RSP];
	ret->beyond = stack_memory_of(&bpf->memories.data[cpu], sample->pid,
				      sample->tid, sp, is_tracepoint);
	ret->left = stack_memory_left(&bpf->lefts.data[cpu], sample->pid,
				      sample->tid, sp, is_tracepoint);
}

/* Greenlet's module was met in a stack: the walker has to know of it. */
static void sampled(struct source_state *state, struct target *target)
{
	if (!target->python.switches.module || target->switches_told ||
	    target->replaced)
		return;
	walker_tell_switches(bpf_source(state)->walker, target->pid,
			     &target->python.switches);
	target->switches_told = true;
}

static const struct source_ring ring = {
	.event_opened = event_opened,
	.follow = follow,
	.attach = attach,
	.begin = begin,
	.stop = stop,
	.take = take,
	.add = add,
	.broken = broken,
	.lost = lost,
	.waits = waits,
	.cpu_time = cpu_time,
};

const struct python_source python_source_bpf = {
	.name = "bpf",
	.title = "BPF",
	.summary = "exact at each sample; the program is not changed",
	.grade = SOURCE_EXACT,
	.needs_chains = true,
	.walks = true,
	.probe = probe,
	.open = open_bpf,
	.close = close_bpf,
	.begin_round = begin_round,
	.process_found = process_found,
	.process_replaced = process_replaced,
	.process_ended = process_ended,
	.ring = &ring,
	.stack = stack,
	.memory = memory,
	.sampled = sampled,
};

// SPDX-License-Identifier: GPL-2.0-only
#include "convert/jit.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "obj/jit_image.h"

enum {
	/* Forks of forks that are followed to the code of the first. */
	PARENTS_MAX = 64,
	/* Dumps of one process, and of all: more are left out. */
	DUMPS_MAX = 16,
	DUMPS_TOTAL = 65536,
	/* FORK records that perf makes up for running processes. */
	MISC_FORK_EXEC = 1 << 13,
};

/* Bytes of all dumps. */
#define SIZE_TOTAL (8ull << 30)

struct jit_process {
	/* The latest last. */
	VEC(struct jit_dump *) dumps;
	/* What it was forked from, and when; NULL: nothing is known. */
	struct jit_process *parent;
	uint64_t forked;
};

void jits_deinit(struct jits *jits)
{
	vec_for_each(process, &jits->processes) {
		vec_for_each(dump, &(*process)->dumps)
			jit_dump_destroy(*dump);
		vec_deinit(&(*process)->dumps);
		free(*process);
	}
	vec_deinit(&jits->processes);
	map_deinit(&jits->by_pid);
	error_destroy(jits->failure);
	jits->failure = NULL;
}

/* --- Processes ---------------------------------------------------------- */

static struct jit_process *find_process(const struct jits *jits, uint32_t pid)
{
	uint64_t *index = map_find(&jits->by_pid, pid);

	return index && *index ? jits->processes.data[*index - 1] : NULL;
}

static void forget_process(struct jits *jits, uint32_t pid)
{
	uint64_t *index = map_find(&jits->by_pid, pid);

	/* Its children may still need it. */
	if (index)
		*index = 0;
}

static struct error *new_process(struct jits *jits, uint32_t pid,
				 struct jit_process **ret)
{
	struct jit_process *process = calloc(1, sizeof(*process));
	uint64_t *index;

	if (!process || !vec_push(&jits->processes, process)) {
		free(process);
		return error_no_memory();
	}
	index = map_insert(&jits->by_pid, pid, 0, NULL);
	if (!index)
		return error_no_memory();
	*index = jits->processes.count;
	*ret = process;
	return NULL;
}

static struct error *see_fork(struct jits *jits, const struct record *record)
{
	const struct record_task *task = &record->task;
	struct jit_process *parent = find_process(jits, task->ppid);
	struct jit_process *child;
	struct error *error;

	if (task->pid == task->ppid || (record->misc & MISC_FORK_EXEC))
		return NULL;
	forget_process(jits, task->pid);
	if (!parent)
		return NULL;
	error = new_process(jits, task->pid, &child);
	if (error)
		return error;
	child->parent = parent;
	child->forked = record->time;
	return NULL;
}

/* --- Dumps -------------------------------------------------------------- */

static bool is_monotonic(const struct events *events)
{
	vec_for_each(event, &events->list)
		if (!(*event)->attr.use_clockid ||
		    (*event)->attr.clockid != CLOCK_MONOTONIC)
			return false;
	return events->list.count;
}

static struct error *see_conversion(struct jits *jits,
				    const struct record *record)
{
	struct reader r = reader_init(record->raw, record->size);

	reader_skip(&r, sizeof(*record->raw));
	jits->conversion.is_counter = true;
	reader_u64(&r, &jits->conversion.shift);
	reader_u64(&r, &jits->conversion.mult);
	reader_u64(&r, &jits->conversion.zero);
	jits->has_conversion = !r.failed && jits->conversion.mult;
	return NULL;
}

/* The two moments are the same, told by two clocks. */
static void align(struct jits *jits, const struct jit_marker *marker,
		  const struct jit_dump *dump, struct jit_clock *ret)
{
	if (marker->time) {
		jits->offset =
			(int64_t)(marker->time - dump->begun);
		jits->has_offset = true;
	}
	*ret = (struct jit_clock){ .offset = jits->offset,
				   .drifts = true,
				   .aligned = dump->begun };
	jits->stats.aligned++;
}

static struct error *find_clock(struct jits *jits,
				const struct jit_marker *marker,
				const struct jit_dump *dump,
				struct jit_clock *ret)
{
	if (dump->header.arch_timestamp && !jits->has_conversion)
		return error_at(ERROR_UNSUPPORTED, dump->path, 32,
				"the times in the jitdump are CPU cycles, and the "
				"recording lacks the information to convert them");
	if (dump->header.arch_timestamp)
		*ret = jits->conversion;
	else if (marker->monotonic)
		*ret = (struct jit_clock){};
	else
		align(jits, marker, dump, ret);
	return NULL;
}

static bool is_marker(const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	uint32_t pid;

	return m->is_exec && jitdump_name(m->filename, &pid) &&
	       record_cpumode(record) == PERF_RECORD_MISC_USER;
}

static bool is_known(const struct jit_process *process, const char *path)
{
	if (!process)
		return false;
	vec_for_each(dump, &process->dumps)
		if (!strcmp((*dump)->path, path))
			return true;
	return process->dumps.count >= DUMPS_MAX;
}

static struct error *open_dump(struct jits *jits,
			       const struct jit_marker *marker,
			       struct jit_dump **ret)
{
	_cleanup_(cleanup_jit_dump_) struct jit_dump *dump = NULL;
	struct jit_dump_options options = jits->options;
	struct jit_clock clock;
	struct error *error;

	options.room = SIZE_TOTAL - jits->held;
	error = jit_dump_open(&options, marker, &dump);
	if (!error && dump->header.big_endian)
		error = error_at(ERROR_UNSUPPORTED, dump->path, 0,
				 "the jitdump was written on a big-endian machine");
	if (!error)
		error = find_clock(jits, marker, dump, &clock);
	if (!error)
		error = jit_dump_fill(dump, &clock);
	if (error)
		return error;
	*ret = take_ptr(dump);
	return NULL;
}

static void count_dump(struct jits *jits, const struct jit_dump *dump)
{
	jits->held += dump->size;
	jits->stats.dumps++;
	jits->stats.codes += dump->codes.count;
	jits->stats.broken_records += dump->header.broken + dump->left_out;
	jits->stats.truncated += !!dump->header.truncated_bytes;
}

/* Takes the error over; gives it back only if memory ran out. */
static struct error *note_missing(struct jits *jits, struct error *error)
{
	if (error->code == ERROR_NO_MEMORY)
		return error;
	jits->stats.missing++;
	if (!jits->failure)
		jits->failure = error;
	else
		error_destroy(error);
	return NULL;
}

static struct error *add_dump(struct jits *jits, uint32_t pid,
			      struct jit_dump *dump)
{
	struct jit_process *process = find_process(jits, pid);
	struct error *error = NULL;

	if (!process)
		error = new_process(jits, pid, &process);
	if (!error && !vec_push(&process->dumps, dump))
		error = error_no_memory();
	if (error)
		jit_dump_destroy(dump);
	return error;
}

static struct error *see_marker(struct jits *jits, const struct events *events,
				const struct record *record,
				struct jit_dump **loaded)
{
	const struct record_mmap *m = &record->mmap;
	const struct jit_marker marker = {
		.path = m->filename,
		.pid = m->pid,
		.time = record->time,
		.inode = m->ino,
		.major = m->maj,
		.minor = m->min,
		.monotonic = is_monotonic(events),
	};
	struct jit_dump *dump;
	struct error *error;

	if (is_known(find_process(jits, m->pid), m->filename) ||
	    jits->stats.dumps >= DUMPS_TOTAL)
		return NULL;
	error = open_dump(jits, &marker, &dump);
	if (error)
		return note_missing(jits, error);
	error = add_dump(jits, m->pid, dump);
	if (error)
		return error;
	count_dump(jits, dump);
	if (loaded)
		*loaded = dump;
	return NULL;
}

struct error *jits_see(struct jits *jits, const struct events *events,
		       const struct record *record, struct jit_dump **loaded)
{
	if (loaded)
		*loaded = NULL;
	if (jits->off)
		return NULL;
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return is_marker(record) ?
			       see_marker(jits, events, record, loaded) :
			       NULL;
	case PERF_RECORD_FORK:
		return see_fork(jits, record);
	case PERF_RECORD_COMM:
		if (record->comm.is_exec)
			forget_process(jits, record->comm.pid);
		return NULL;
	case PERFDATA_TIME_CONV:
		return see_conversion(jits, record);
	default:
		return NULL;
	}
}

/* --- Looking up --------------------------------------------------------- */

struct error *jits_faults(const struct jits *jits, struct faults *ret)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct error *error;

	if (jits->failure)
		error_format(jits->failure, &why);
	error = strbuf_error(&why);
	if (!error)
		error = faults_add(ret, FAULT_MISSING_JITDUMPS,
				   jits->stats.missing, why.data);
	return error ? error : faults_add(ret, FAULT_BROKEN_JIT_RECORDS,
					  jits->stats.broken_records, NULL);
}

bool jits_has(const struct jits *jits, uint32_t pid)
{
	return jits->stats.dumps && find_process(jits, pid);
}

bool jits_has_dump(const struct jits *jits, uint32_t pid)
{
	const struct jit_process *process = find_process(jits, pid);

	return process && process->dumps.count;
}

bool jits_has_code(const struct jits *jits, uint32_t pid, uint64_t start,
		   uint64_t end)
{
	const struct jit_process *process = find_process(jits, pid);

	if (!process)
		return false;
	vec_for_each(dump, &process->dumps)
		if (jit_dump_has_code(*dump, start, end))
			return true;
	return false;
}

/* Narrows [*from, *to) to what holds in [other_from, other_to), too. */
static void narrow(uint64_t *from, uint64_t *to, uint64_t other_from,
		   uint64_t other_to)
{
	*from = other_from > *from ? other_from : *from;
	*to = other_to < *to ? other_to : *to;
}

static struct jit_code *find_in(const struct jit_process *process,
				uint64_t address, uint64_t time,
				struct jit_dump **dump, uint64_t *valid_from,
				uint64_t *valid_to)
{
	uint64_t from, to;

	for (size_t i = process->dumps.count; i--;) {
		struct jit_dump *d = process->dumps.data[i];
		struct jit_code *code =
			jit_dump_find(d, address, time, &from, &to);

		narrow(valid_from, valid_to, from, to);
		if (code) {
			*dump = d;
			return code;
		}
	}
	return NULL;
}

struct jit_code *jits_find(struct jits *jits, uint32_t pid, uint64_t address,
			   uint64_t time, struct jit_dump **dump,
			   uint64_t *valid_from, uint64_t *valid_to)
{
	const struct jit_process *process = find_process(jits, pid);
	uint64_t ignored_from = 0, ignored_to = 0;
	uint64_t *from = valid_from, *to = valid_to;

	*valid_from = 0;
	*valid_to = UINT64_MAX;
	for (int i = 0; process && i < PARENTS_MAX; i++) {
		struct jit_code *code =
			find_in(process, address, time, dump, from, to);

		if (code)
			return code;
		/* What the parent had at the fork holds for ever. */
		if (process->forked < time)
			time = process->forked;
		process = process->parent;
		from = &ignored_from;
		to = &ignored_to;
	}
	return NULL;
}

static const struct jit_code *code_of_span(const struct jit_dump *dump,
					   uint64_t start, uint64_t end,
					   const char *name)
{
	const struct jit_code *found = NULL;

	/* By start, then by time. */
	vec_for_each(code, &dump->codes)
		if (code->start == start && code->end == end &&
		    (!found || strcmp(found->name, name) ||
		     !strcmp(code->name, name)))
			found = code;
	return found;
}

const struct jit_code *jits_code(const struct jits *jits, const char *path,
				 uint64_t start, uint64_t end,
				 const char *name,
				 const struct jit_dump **dump)
{
	vec_for_each(process, &jits->processes)
		vec_for_each(each, &(*process)->dumps) {
			const struct jit_code *code =
				strcmp((*each)->path, path)
					? NULL
					: code_of_span(*each, start, end,
							       name);

			if (!code)
				continue;
			*dump = *each;
			return code;
		}
	return NULL;
}

/* --- Unwinding ---------------------------------------------------------- */

uint64_t jits_generation(const struct jits *jits, uint32_t pid, uint64_t time)
{
	const struct jit_process *process = find_process(jits, pid);
	uint64_t generation = 0;

	for (int i = 0; process && i < PARENTS_MAX; i++) {
		vec_for_each(dump, &process->dumps)
			generation = hash_combine(
				generation, jit_dump_count_at(*dump, time));
		if (process->forked < time)
			time = process->forked;
		process = process->parent;
	}
	return generation;
}

bool jits_unwind_map(struct jits *jits, uint32_t pid, uint64_t address,
		     uint64_t time, struct unwind_map *ret)
{
	uint64_t from, to;
	struct jit_dump *dump;
	struct jit_code *code =
		jits_find(jits, pid, address, time, &dump, &from, &to);

	if (!code)
		return false;
	*ret = (struct unwind_map){ .start = code->start,
				    .end = code->end,
				    .cfi = jit_code_cfi(code),
				    .bias = code->start - JIT_IMAGE_TEXT };
	return true;
}

bool jits_read(struct jits *jits, uint32_t pid, uint64_t address,
	       uint64_t time, void *buf, size_t size)
{
	uint64_t from, to;
	struct jit_dump *dump;
	struct jit_code *code =
		jits_find(jits, pid, address, time, &dump, &from, &to);

	if (!code || size > code->end - address)
		return false;
	memcpy(buf, code->code.data + (address - code->start), size);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/python_threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "perfdata/kaa_stream.h"
#include "python/threads.h"
#include "sys/proc.h"

enum {
	/* Names may change: looks at a thread are so far apart, in ms. */
	LOOK_AGAIN_MS = 1000,
	/* Its Thread may be just about to begin: the first times sooner. */
	LOOK_SOON_MS = 100,
	SOON_TIMES = 3,
	/* Of each ms that passes looks may take so many us, and at once at most: */
	CREDIT_US_A_MS = 10,
	CREDIT_US_MAX = 100000,
	/* The most reads of a look, for each thread that is looked for, in all. */
	LOOK_READS = 20000,
	LOOK_READS_A_THREAD = 300,
	LOOK_READS_MAX = 200000,
};

static void clear_thread(struct python_thread *thread)
{
	free(thread->name);
	free(thread->found);
	*thread = (struct python_thread){};
}

void python_threads_deinit(struct python_threads *threads)
{
	vec_for_each(thread, &threads->list)
		clear_thread(thread);
	vec_deinit(&threads->list);
	vec_deinit(&threads->free);
	vec_deinit(&threads->wanted);
	map_deinit(&threads->by_tid);
	map_deinit(&threads->by_ident);
	map_deinit(&threads->by_native_id);
}

/* --- Threads ------------------------------------------------------------ */

static struct python_thread *find_thread(const struct python_threads *threads,
					 uint32_t pid, uint32_t tid)
{
	const uint64_t *place = map_find(&threads->by_tid, tid);
	struct python_thread *thread;

	if (!place || !*place)
		return NULL;
	thread = &threads->list.data[*place - 1];
	return thread->target->pid == pid ? thread : NULL;
}

/* The number that the thread itself has for it, in its own namespace. */
static int64_t native_id(const struct python_threads *threads,
			 struct target *target, uint32_t tid)
{
	struct proc_status status;
	struct error *error;

	if (target->pid_namespace == PID_NAMESPACE_UNKNOWN) {
		error = proc_status_read(threads->root, (pid_t)target->pid,
					 &status);
		target->pid_namespace = !error && status.nstgid_count > 1 ?
						PID_NAMESPACE_NESTED :
						PID_NAMESPACE_OWN;
		error_destroy(error);
	}
	if (target->pid_namespace == PID_NAMESPACE_OWN)
		return tid;
	error = proc_status_read(threads->root, (pid_t)tid, &status);
	error_destroy(error);
	return error ? -1 : status.nspid;
}

static struct error *add_thread(struct python_threads *threads,
				struct target *target, uint32_t tid,
				uint64_t since, struct python_thread **ret)
{
	uint64_t *place = map_insert(&threads->by_tid, tid, 0, NULL);
	struct python_thread *thread;

	if (!place)
		return error_no_memory();
	if (*place) {
		/* Another process's, whose end was lost. */
		clear_thread(&threads->list.data[*place - 1]);
	} else if (threads->free.count) {
		*place = threads->free.data[--threads->free.count] + 1;
	} else {
		if (!vec_push(&threads->list, (struct python_thread){}))
			return error_no_memory();
		*place = threads->list.count;
	}
	thread = &threads->list.data[*place - 1];
	*thread = (struct python_thread){
		.target = target,
		.tid = tid,
		.since = since,
	};
	*ret = thread;
	return NULL;
}

static bool has_names(const struct target *target)
{
	const struct py_release *release =
		target->state == PYTHON_FOUND && !target->replaced ?
			py_release_of(&target->python.layout) :
			NULL;

	return release;
}

static struct error *want(struct python_threads *threads,
			  struct python_thread *thread)
{
	if (thread->wanted || threads->now < thread->next_look)
		return NULL;
	if (!thread->native_id)
		thread->native_id =
			native_id(threads, thread->target, thread->tid);
	thread->wanted = true;
	return vec_push(&threads->wanted,
			(uint32_t)(thread - threads->list.data)) ?
		       NULL :
		       error_no_memory();
}

struct error *python_threads_sampled(struct python_threads *threads,
				     struct target *target,
				     const struct record *sample,
				     uint64_t ident)
{
	struct python_thread *thread =
		find_thread(threads, target->pid, sample->tid);
	struct error *error;

	if (!thread) {
		/* The last samples of a thread come after its end. */
		if (!has_names(target) ||
		    process_table_has_ended(threads->processes, sample->pid,
					    sample->tid, UINT64_MAX - 1))
			return NULL;
		error = add_thread(threads, target, sample->tid, sample->time,
				   &thread);
		if (error)
			return error;
	}
	/* From before an exec, and late. */
	if (thread->target != target)
		return NULL;
	if (sample->time < thread->since)
		thread->since = sample->time;
	if (ident)
		thread->ident = ident;
	thread->sampled = true;
	return want(threads, thread);
}

struct error *python_threads_began(struct python_threads *threads,
				   struct target *target, uint32_t tid,
				   uint64_t time)
{
	struct python_thread *thread;

	if (!threads->from_beginning || find_thread(threads, target->pid, tid))
		return NULL;
	return add_thread(threads, target, tid, time, &thread);
}

/* It has just begun; after a few looks in vain its samples count. */
static bool is_new(const struct python_threads *threads,
		   const struct python_thread *thread)
{
	return threads->from_beginning && !thread->name &&
	       thread->in_vain <= SOON_TIMES;
}

/* Those that are new, and those whose last samples came too soon after a look. */
static struct error *want_due(struct python_threads *threads)
{
	struct error *error = NULL;

	if (!threads->from_beginning && threads->now < threads->next_due)
		return NULL;
	threads->next_due = threads->now + LOOK_SOON_MS;
	for (size_t i = 0; i < threads->list.count && !error; i++) {
		struct python_thread *thread = &threads->list.data[i];

		if (thread->target &&
		    (thread->sampled || is_new(threads, thread)) &&
		    has_names(thread->target))
			error = want(threads, thread);
	}
	return error;
}

/* --- Records ------------------------------------------------------------ */

/* name "": it has none from then on. */
static struct error *put_name(struct python_threads *threads,
			      const struct python_thread *thread,
			      uint64_t from, uint64_t time, const char *name)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	const struct kaa_thread record = {
		.pid = thread->target->pid,
		.tid = thread->tid,
		.valid_from = from,
		.name = { name, strlen(name) },
	};
	struct error *error = kaa_encode_thread(&record, &payload);

	return error ? error :
		       output_payload(threads->output, time, record.pid,
				      payload.data, payload.len);
}

static void forget_thread(struct python_threads *threads,
			  struct python_thread *thread)
{
	uint32_t index = (uint32_t)(thread - threads->list.data);

	*map_find(&threads->by_tid, thread->tid) = 0;
	clear_thread(thread);
	/* Without memory its place is not used again. */
	(void)!vec_push(&threads->free, index);
}

struct error *python_threads_replaced(struct python_threads *threads,
				      uint32_t pid, uint64_t time)
{
	struct python_thread *thread = find_thread(threads, pid, pid);
	struct error *error = NULL;

	if (!thread)
		return NULL;
	if (thread->name)
		error = put_name(threads, thread, time, time, "");
	forget_thread(threads, thread);
	return error;
}

void python_threads_forget_one(struct python_threads *threads, uint32_t pid,
			       uint32_t tid)
{
	struct python_thread *thread = find_thread(threads, pid, tid);

	if (thread)
		forget_thread(threads, thread);
}

void python_threads_forget(struct python_threads *threads,
			   const struct target *target)
{
	for (size_t i = 0; i < threads->list.count; i++) {
		struct python_thread *thread = &threads->list.data[i];

		if (thread->target == target)
			forget_thread(threads, thread);
	}
}

/*
 * The first name of a thread. Of a process's first thread it holds from when the
 * program began; before that the number was another program's, or a shell's.
 */
static struct error *put_first(struct python_threads *threads,
			       const struct python_thread *thread,
			       uint64_t time)
{
	uint64_t began = thread->tid == thread->target->pid ?
				 thread->target->since :
				 0;
	struct error *error =
		began ? put_name(threads, thread, 0, time, "") : NULL;

	return error ? error :
		       put_name(threads, thread, began ? began : thread->since,
				time, thread->found);
}

/*
 * Takes over what was found. A thread keeps the name that it had when it has none
 * any more: so it is once Python ends.
 */
static struct error *keep_found(struct python_threads *threads,
				struct python_thread *thread)
{
	const struct output *output = threads->output;
	const char *before = thread->name ? thread->name : "";
	uint64_t time = output->round_earliest ?
				output_time_before(output,
						   output->round_earliest) :
				output_time_last(output);
	struct error *error = NULL;

	if (!thread->name && *thread->found)
		error = put_first(threads, thread, time);
	else if (*thread->found && strcmp(before, thread->found))
		error = put_name(threads, thread, output->last_sample + 1, time,
				 thread->found);
	if (*thread->found) {
		free(thread->name);
		thread->name = thread->found;
	} else {
		free(thread->found);
	}
	thread->found = NULL;
	return error;
}

/* --- A look at a process ------------------------------------------------ */

/* Memory of which a look may read so often, lest a hostile process delays us. */
struct look_memory {
	struct remote_memory *memory;
	size_t reads_left;
};

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct look_memory *memory = arg;

	if (!memory->reads_left)
		return false;
	memory->reads_left--;
	return remote_memory_read_all(memory->memory, address, buf, size);
}

static size_t read_words(void *arg, const uint64_t *addresses, size_t count,
			 uint64_t *words)
{
	struct look_memory *memory = arg;

	if (memory->reads_left < count || count > REMOTE_MEMORY_WORDS_MAX)
		return 0;
	memory->reads_left -= count;
	return remote_memory_read_words(memory->memory, addresses, count, words);
}

static bool is_wanted(void *arg, uint64_t ident)
{
	const struct python_threads *threads = arg;

	return threads->by_native_id.count ||
	       map_find(&threads->by_ident, ident);
}

/* The one that it is of, by what is known of that; NULL: none. */
static struct python_thread *match(const struct python_threads *threads,
				   const struct py_thread *found)
{
	const uint64_t *index = map_find(&threads->by_ident, found->ident);
	struct python_thread *thread;

	if (!index) {
		index = map_find(&threads->by_native_id,
				 (uint64_t)found->native_id);
		return index ? &threads->list.data[*index] : NULL;
	}
	thread = &threads->list.data[*index];
	/*
	 * Another thread may have its place on the stack by now, but for that
	 * of the first; which after a fork has the number from before.
	 */
	if (found->native_id != thread->native_id &&
	    thread->tid != thread->target->pid)
		return NULL;
	return thread;
}

/* What cannot be kept is found again at the next look. */
static void take_name(void *arg, const struct py_thread *found)
{
	struct python_threads *threads = arg;
	struct python_thread *thread = match(threads, found);
	char *name = thread ? strndup(found->name, found->size) : NULL;

	if (!name)
		return;
	free(thread->found);
	thread->found = name;
}

static void look(struct python_threads *threads, struct target *target)
{
	size_t reads = LOOK_READS + threads->wanted.count * LOOK_READS_A_THREAD;
	struct look_memory bounded = {
		&target->memory, reads < LOOK_READS_MAX ? reads : LOOK_READS_MAX
	};
	const struct py_memory memory = { read_memory, &bounded, read_words };
	const struct py_threads_visit visit = { is_wanted, take_name, threads };
	const struct py_layout *layout = &target->python.layout;
	struct py_objects_reader reader = PY_OBJECTS_INIT(
		layout, &py_release_of(layout)->objects, &memory);

	py_threads_each(&reader, target->python.runtime, &target->thread_hints,
			&visit);
}

/* Puts the wanted threads of a process into the maps of the look. */
static struct error *gather(struct python_threads *threads,
			    const struct target *target)
{
	map_clear(&threads->by_ident);
	map_clear(&threads->by_native_id);
	vec_for_each(index, &threads->wanted) {
		const struct python_thread *thread =
			&threads->list.data[*index];
		struct map *map = thread->ident ? &threads->by_ident :
						  &threads->by_native_id;
		uint64_t key = thread->ident ? thread->ident :
					       (uint64_t)thread->native_id;

		if (thread->target == target &&
		    !map_insert(map, key, *index, NULL))
			return error_no_memory();
	}
	return NULL;
}

static struct error *settle_thread(struct python_threads *threads,
				   struct python_thread *thread)
{
	thread->wanted = false;
	thread->sampled = false;
	if (thread->found) {
		thread->in_vain = 0;
		thread->next_look = threads->now + LOOK_AGAIN_MS;
		return keep_found(threads, thread);
	}
	thread->next_look = threads->now + (thread->in_vain < SOON_TIMES ?
						    LOOK_SOON_MS :
						    LOOK_AGAIN_MS);
	thread->in_vain++;
	return NULL;
}

/* The threads of the process are wanted no more; nor are those that ended. */
static struct error *settle(struct python_threads *threads,
			    const struct target *target)
{
	struct error *error = NULL;
	size_t left = 0;

	vec_for_each(index, &threads->wanted) {
		struct python_thread *thread = &threads->list.data[*index];

		if (thread->target && thread->target != target)
			threads->wanted.data[left++] = *index;
		else if (thread->target && !error)
			error = settle_thread(threads, thread);
	}
	threads->wanted.count = left;
	return error;
}

static int64_t cpu_time_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void earn_credit(struct python_threads *threads)
{
	int64_t now = clock_ms();

	threads->credit += threads->now ?
				   (now - threads->now) * CREDIT_US_A_MS :
				   CREDIT_US_MAX;
	if (threads->credit > CREDIT_US_MAX)
		threads->credit = CREDIT_US_MAX;
	threads->now = now;
}

struct error *python_threads_end_round(struct python_threads *threads)
{
	struct error *error;

	earn_credit(threads);
	error = want_due(threads);
	while (!error && threads->wanted.count && threads->credit > 0) {
		struct target *target =
			threads->list.data[threads->wanted.data[0]].target;
		int64_t start = cpu_time_us();

		if (target)
			error = gather(threads, target);
		if (!error && target)
			look(threads, target);
		if (!error)
			error = settle(threads, target);
		threads->credit -= cpu_time_us() - start;
	}
	return error;
}

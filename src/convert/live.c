// SPDX-License-Identifier: GPL-2.0-only
#include "convert/live.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "convert/model.h"
#include "profile/profile_window.h"

enum {
	ROWS_MAX = 500000,
	STACKS_MAX = 2000000,
	/* One part of so many of the rows goes when there are too many. */
	FORGET_PART = 4,
	/* Samples between two looks at what is lost. */
	LOOK_EVERY = 64,
};

/* Samples of so many ns are one row if they agree in everything else. */
#define SLICE_NS 500000000u
/* The recorder writes every 100 ms, and readers are one round behind it. */
#define BEHIND_NS 300000000u

/* How many samples were lost until then. */
struct loss {
	uint64_t time;
	uint64_t lost;
};

struct live {
	int fd;
	struct live_options options;
	pthread_t thread;
	/* Of all below. */
	pthread_mutex_t lock;
	struct profile *profile;
	struct live_state state;
	/* Its last words are for the state alone. */
	struct error *failure;
	VEC(struct metadata_python) pythons;
	struct metadata names;
	VEC(struct loss) losses;
	/* The reader's own. */
	struct converter *converter;
	struct model model;
	uint64_t looked;
};

/* --- The reader's thread ------------------------------------------------- */

static uint64_t lost_so_far(const struct live *live)
{
	const struct perfdata_stats *stats = perfdata_reader_stats(
		converter_reader(live->converter));

	return stats->lost > stats->lost_samples ? stats->lost :
						   stats->lost_samples;
}

/* One for each slice at most. */
static struct error *note_losses(struct live *live, uint64_t time)
{
	uint64_t lost = lost_so_far(live);
	struct loss *last = live->losses.count ? vec_last(&live->losses) :
						 NULL;

	if (lost == (last ? last->lost : 0))
		return NULL;
	if (last && last->time / SLICE_NS == time / SLICE_NS) {
		last->lost = lost;
		return NULL;
	}
	return vec_push(&live->losses, (struct loss){ time, lost }) ?
		       NULL :
		       error_no_memory();
}

/* Pythons are few, and seldom new. */
static struct error *note_pythons(struct live *live)
{
	_cleanup_metadata_ struct metadata now = {};
	struct error *error = converter_metadata(live->converter, &now);

	for (size_t i = live->pythons.count; !error && i < now.pythons.count;
	     i++) {
		struct metadata_python python = now.pythons.data[i];

		error = metadata_copy(&live->names, python.path, &python.path);
		if (!error && !vec_push(&live->pythons, python))
			error = error_no_memory();
	}
	return error;
}

static struct error *look(struct live *live, uint64_t time)
{
	struct error *error;

	if (live->looked++ % LOOK_EVERY)
		return NULL;
	error = note_losses(live, time);
	return error ? error : note_pythons(live);
}

static struct error *forget_oldest(struct live *live)
{
	struct profile *profile = live->profile;
	struct error *error;

	if (profile->samples.rows < live->options.rows_max &&
	    profile->stack_parents.count < live->options.stacks_max)
		return NULL;
	error = profile_forget(profile, profile->samples.rows / FORGET_PART + 1);
	if (error)
		return error;
	live->state.kept_from = profile->samples.rows ?
					profile->samples.time[0] :
					live->state.kept_from;
	model_forget_stacks(&live->model);
	return NULL;
}

static struct error *add_sample(struct live *live,
				const struct convert_sample *sample)
{
	struct error *error = model_add_sample(sample, &live->model);

	if (!live->state.began)
		live->state.began = live->state.kept_from = sample->time;
	live->state.samples++;
	if (!error)
		error = look(live, sample->time);
	return error ? error : forget_oldest(live);
}

static struct error *on_sample(const struct convert_sample *sample, void *arg)
{
	struct live *live = arg;
	struct error *error;

	pthread_mutex_lock(&live->lock);
	error = add_sample(live, sample);
	pthread_mutex_unlock(&live->lock);
	return error;
}

static struct error *read_all(struct live *live)
{
	int fd = live->fd;
	struct error *error;

	live->fd = -1;
	error = converter_open_fd(fd, "the recording", live->options.convert,
				  &live->converter);
	if (error)
		return error;
	live->model = (struct model)MODEL_INIT(live->converter, live->profile);
	pthread_mutex_lock(&live->lock);
	error = model_begin(&live->model);
	live->state.has_begun = true;
	pthread_mutex_unlock(&live->lock);
	return error ? error :
		       converter_run(live->converter, on_sample, live);
}

static void *reader(void *arg)
{
	struct live *live = arg;
	struct error *error = read_all(live);

	/* Nobody reads on: let who writes know. */
	if (error) {
		converter_destroy(live->converter);
		live->converter = NULL;
	}
	pthread_mutex_lock(&live->lock);
	live->failure = error;
	live->state.failure = error;
	live->state.has_ended = true;
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

/* Signals are for the thread that shows it. */
static int start_thread(struct live *live)
{
	sigset_t all, before;
	int errnum;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(&live->thread, NULL, reader, live);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}

/* --- Its life ------------------------------------------------------------ */

static void live_destroy(struct live *live)
{
	model_deinit(&live->model);
	converter_destroy(live->converter);
	profile_destroy(live->profile);
	error_destroy(live->failure);
	vec_deinit(&live->pythons);
	vec_deinit(&live->losses);
	metadata_deinit(&live->names);
	pthread_mutex_destroy(&live->lock);
	if (live->fd >= 0)
		close(live->fd);
	free(live);
}

struct error *live_start(int fd, const struct live_options *options,
			 struct live **ret)
{
	const struct profile_options profile = { .slice_ns = SLICE_NS };
	struct live *live = calloc(1, sizeof(*live));
	struct error *error;
	int errnum;

	if (!live) {
		close(fd);
		return error_no_memory();
	}
	live->fd = fd;
	live->options = *options;
	if (!live->options.rows_max)
		live->options.rows_max = ROWS_MAX;
	if (!live->options.stacks_max)
		live->options.stacks_max = STACKS_MAX;
	pthread_mutex_init(&live->lock, NULL);
	error = profile_create(&profile, &live->profile);
	errnum = error ? 0 : start_thread(live);
	if (errnum)
		error = error_os(errnum, NULL, "cannot start a thread");
	if (error) {
		live_destroy(live);
		return error;
	}
	*ret = live;
	return NULL;
}

void live_stop(struct live *live)
{
	if (!live)
		return;
	pthread_join(live->thread, NULL);
	live_destroy(live);
}

struct live_state live_state(struct live *live)
{
	struct live_state state;

	pthread_mutex_lock(&live->lock);
	state = live->state;
	pthread_mutex_unlock(&live->lock);
	return state;
}

/* --- Snapshots ----------------------------------------------------------- */

static uint64_t lost_since(const struct live *live, uint64_t from)
{
	uint64_t before = 0, all = 0;

	vec_for_each(loss, &live->losses) {
		if (loss->time < from)
			before = loss->lost;
		all = loss->lost;
	}
	return all - before;
}

/* Who lost them is not told apart. */
static void set_lost(struct profile *window, uint64_t lost)
{
	vec_for_each(event, &window->events)
		event->lost = lost;
}

static struct error *describe(const struct live *live, struct profile *window,
			      uint64_t from, uint64_t to)
{
	struct metadata *metadata;

	if (!window->recordings.count)
		return NULL;
	metadata = &window->recordings.data[0].metadata;
	metadata->has_python_frames = true;
	metadata->first_sample_time = from;
	metadata->last_sample_time = to;
	vec_for_each(python, &live->pythons)
		if (!vec_push(&metadata->pythons, *python))
			return error_no_memory();
	for (size_t i = 0; live->options.command && live->options.command[i];
	     i++)
		if (!vec_push(&metadata->command, live->options.command[i]))
			return error_no_memory();
	return NULL;
}

/* Until when what was recorded is in: while nothing comes, time goes on. */
static uint64_t recorded_until(const struct live *live)
{
	uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC) - BEHIND_NS;
	size_t rows = live->profile->samples.rows;
	uint64_t last = rows ? live->profile->samples.time[rows - 1] : 0;

	if (live->state.has_ended)
		return last;
	return now > last ? now : last;
}

static struct error *snapshot(struct live *live, uint64_t length,
			      struct profile **ret)
{
	_cleanup_profile_ struct profile *window = NULL;
	uint64_t to = recorded_until(live), from = live->state.kept_from;
	struct error *error;

	if (length && to > length && to - length > from)
		from = to - length;
	error = profile_window(live->profile,
			       profile_first_row(live->profile, from), &window);
	if (!error)
		error = describe(live, window, from, to);
	if (error)
		return error;
	set_lost(window, lost_since(live, from));
	*ret = take_ptr(window);
	return NULL;
}

struct error *live_snapshot(struct live *live, uint64_t window,
			    struct profile **ret)
{
	struct error *error;

	pthread_mutex_lock(&live->lock);
	error = snapshot(live, window, ret);
	pthread_mutex_unlock(&live->lock);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_end.h"

#include "collect/recorder_internal.h"
#include "collect/recorder_names.h"

/*
 * The kernel writes LOST records only before the next record of the same ring,
 * and counts per event only for the threads that were there at the start: the
 * larger number is nearer to the truth.
 */
uint64_t recorder_lost_samples(const struct recorder *recorder)
{
	const struct source_ring *ring = recorder->source->source->ring;
	uint64_t counted = sampler_lost(&recorder->sampler);

	if (ring)
		counted += ring->lost(recorder->source);
	if (counted < recorder->lost)
		counted = recorder->lost;
	return counted + recorder->mixed_up;
}

static struct error *put_summary(struct recorder *recorder)
{
	const struct stack_stats *s = &recorder->stacks.stats;
	const struct kaa_counter counters[] = {
		{ { "samples", 7 }, s->samples },
		{ { "lost", 4 }, recorder_lost_samples(recorder) },
		{ { "truncated", 9 }, s->truncated },
		{ { "unreadable", 10 }, s->unreadable },
		{ { "not aligned", 11 }, s->not_aligned },
	};
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_summary(
		counters, sizeof(counters) / sizeof(counters[0]), &payload);

	if (error)
		return error;
	return output_payload(&recorder->output,
			      output_time_last(&recorder->output), 0,
			      payload.data, payload.len);
}

/* Which events are of one group, so that they are shown together. */
static struct error *add_groups(const struct sampler_options *options,
				struct features *features)
{
	VEC(struct feature_group) groups = {};
	struct error *error = NULL;

	for (size_t i = 0; i < options->event_count && !error; i++) {
		const struct feature_group group = { "{anon_group}",
						     (uint32_t)i - 1, 1 };

		if (!options->events[i].joins_group)
			continue;
		if (!options->events[i - 1].joins_group &&
		    !vec_push(&groups, group))
			error = error_no_memory();
		else
			vec_last(&groups)->members++;
	}
	if (!error && groups.count)
		error = features_set_groups(features, groups.data,
					    groups.count);
	vec_deinit(&groups);
	return error;
}

static struct error *fill_features(struct recorder *recorder,
				   struct features *features)
{
	const struct recorder_options *options = &recorder->options;
	struct error *error =
		features_fill_host(features, options->sampler.root);

	if (!error)
		error = features_set_string(features, FEATURE_VERSION,
					    options->version);
	for (int i = 0; !error && i < options->argc; i++)
		error = features_add_cmdline(features, options->argv[i]);
	if (!error)
		error = add_groups(&options->sampler, features);
	if (error)
		return error;
	features_mark(features, FEATURE_CMDLINE);
	features->first_sample_time = recorder->output.first_sample;
	features->last_sample_time = recorder->output.last_sample;
	features_mark(features, FEATURE_SAMPLE_TIME);
	return NULL;
}

struct error *recorder_finish_file(struct recorder *recorder)
{
	struct error *error = recorder_name_all(recorder);

	if (!error)
		error = put_summary(recorder);
	if (!error)
		error = output_round(&recorder->output);
	if (!error)
		error = fill_features(recorder, &recorder->features);
	if (!error)
		error = perfdata_writer_finish(recorder->output.writer,
					       &recorder->features);
	return error;
}

/* What kaa itself does not need does not make a recording fail. */
void recorder_write_image(struct recorder *recorder, bool report)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = output_image(
		&recorder->output, &recorder->codes, &recorder->image_written);

	if (error && report) {
		error_format(error, &text);
		notes_tell(&recorder->notes,
			      "other tools will not show the names of Python functions: %s",
			      text.data);
	}
	error_destroy(error);
}

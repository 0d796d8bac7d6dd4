// SPDX-License-Identifier: GPL-2.0-only
#include "collect/file_features.h"

#include "base/vec.h"

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

struct error *file_features_fill(struct features *features,
				 const struct recording_program *program,
				 const struct sampler_options *options,
				 const struct output *output)
{
	struct error *error = features_fill_host(features, options->root);

	if (!error)
		error = features_set_string(features, FEATURE_VERSION,
					    program->version);
	for (int i = 0; !error && i < program->argc; i++)
		error = features_add_cmdline(features, program->argv[i]);
	if (!error)
		error = add_groups(options, features);
	if (error)
		return error;
	features_mark(features, FEATURE_CMDLINE);
	features->first_sample_time = output->first_sample;
	features->last_sample_time = output->last_sample;
	features_mark(features, FEATURE_SAMPLE_TIME);
	return NULL;
}
